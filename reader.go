package gdwire

import (
	"cmp"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// How a Decoder reads.
//
// The read buffer holds a part of the input:
//
//	offset 0                                                               the reader's next byte
//	|                                                                      |
//	…  [ history | latest token | bytes to be read … | beyond Limits.Bytes | free ]
//	   |         |              |                    |                     |
//	   buf[0]    tokenPos       pos                  limit                 end
//
// base is the position of buf[0], tokenPos the position of the latest token, and keyPos the
// position of the latest key in the innermost container; the history keeps short keys for paths. To
// consume bytes, r is increased. Before reading more, fetch moves the bytes from the history on to
// the start of the buffer.
//
// A Decoder reads on two paths. They share the bytes, nesting and limits in a fastPath. The fast
// path reads values inside Arrays, Dictionaries, NodePaths and PackedStringArrays, if they are
// completely in the buffer and have a header as engines write it, and opens Arrays, Dictionaries and
// packed arrays at the top level. Its methods find a value or return nil, false or 0; the methods of
// the Decoder then turn to the slow path, to read everything else by a lookahead.
//
// The fast path does not check Limits.Bytes, already included in limit, nor errors, options, bulk
// reads or abandoned loops, because updateFastPath and startFast set fastValues and fastNames to
// nil where any of these must be checked.
//
// On both paths, a token is consumed only after all of its bytes are in the buffer. Therefore a
// call interrupted by a temporary error of the Reader changes nothing, except for bytes read ahead,
// and can be repeated. Of calls that read many tokens, bulk reads into the caller's memory continue
// with payload, and the leaving of a loop with abandoned.
//
// countAt counts a value, push and pop open and close containers. Only ReadToken
// and the typed reads, SkipValue and SkipTo, CopyValue and the bulk reads call them;
// PeekKind and the methods about the position do not.
//
// The files, in the order in which they explain each other:
//
//	format.go         the tables of types, for both
//	state.go          the open containers, as in an Encoder, and where an error is
//	window.go         the buffered bytes, and the state that earlier calls have left
//	reader_fast.go    the fast path
//	input.go          the Reader, and how it fills the window
//	reader_slow.go    the slow path: waiting for the fields of a token, checking them, and the tokens of each kind
//	reader.go         Reset, the door of the slow path, ReadToken and PeekKind
//	reader_bulk.go, reader_typed.go, copy.go  calls that use both

// A Decoder reads a sequence of values, as tokens or by typed calls. Create it with
// NewDecoder, or call Reset, ResetN or ResetBytes on a zero Decoder. It must not be
// used by several goroutines at the same time.
//
// An error of the Reader is returned unchanged, and most calls can be repeated after it; see the
// table in the package documentation. An [Error] in the input stays until Reset: all later calls
// return it.
//
// A Decoder holds a read buffer from a pool, and 32 bytes for each open container, with
// up to 35 bytes of its latest key once the key leaves the buffer. No allocation is
// sized by a declared count.
type Decoder struct {
	slowPath
	pending
	cold *cold
}

// cold holds the state needed by few Decoders, allocated on first use.
type cold struct {
	reader payloadReader // the result of Payload
	keys   []byte        // the keys of active loops
	err    error         // for lastError
	value  int64         // the number at the start of paths, or 0 for none
}

// place is [export.Place].
func (d *Decoder) place(offset, value int64) {
	d.raiseOffsets(offset)
	if value > 0 || d.cold != nil {
		d.getCold().value = value
	}
}

// getCold returns d.cold and allocates it for the first error, loop or Payload.
func (d *Decoder) getCold() *cold {
	if d.cold == nil {
		d.cold = new(cold)
	}
	return d.cold
}

// NewDecoder returns a Decoder reading from r, with the zero DecoderOptions if
// o is nil.
func NewDecoder(r io.Reader, o *DecoderOptions) *Decoder {
	d := new(Decoder)
	d.setOptions(o)
	d.Reset(r)
	return d
}

// Options returns the options of d. Format is never 0.
func (d *Decoder) Options() DecoderOptions {
	o := d.options
	o.Format = cmp.Or(o.Format, Godot4)
	return o
}

// Reset discards the state of d and makes d read from r, starting at offset 0, with
// the same options.
func (d *Decoder) Reset(r io.Reader) {
	d.reset(r, nil, 0)
	d.stopFast()
}

// ResetN discards the state of d and makes d read an input of n bytes from r. The Decoder reads no
// more than n bytes and refuses at once counts too large for them. With Strict, bytes after the
// first value are an error.
func (d *Decoder) ResetN(r io.Reader, n int64) {
	d.Reset(r)
	d.endAt(d.origin + uint64(max(n, 0)))
}

// ResetBytes discards the state of d and makes d read the bytes in b, as ResetN does for a Reader.
// They are not copied: the payloads of tokens are parts of b, so b must not change while the Decoder
// reads from it, and memory filled by calls must not overlap b.
func (d *Decoder) ResetBytes(b []byte) {
	// Without spare capacity: the memory after b can belong to another goroutine, so
	// slices of b must not reach there.
	d.reset(nil, b[:len(b):len(b)], len(b))
	d.endAt(d.origin + uint64(len(b)))
	// The limits of the first value are set now, because all bytes are there. Calls can then read
	// the start of a packet on the fast path, without a call of look.
	d.limitValue()
	d.startTop()
}

// resetStart is [export.ResetStart].
func (d *Decoder) resetStart(b []byte) {
	d.ResetBytes(b)
	d.endAt(math.MaxUint64)
	d.limitValue()
}

// reset discards the input and the state of earlier calls. The next input is buf[:end] and then
// the bytes of r. The caller then switches the fast path on or off. The first reset derives fields
// from the options; they do not change later.
func (d *Decoder) reset(r io.Reader, buf []byte, end int) {
	d.restart(r, buf, end)
	d.pending.reset()
	if r := d.cold; r != nil {
		*r = cold{keys: r.keys[:0], reader: r.reader} // a stale Reader returns an error
		d.setFound(false)
	}
	d.state.init()
	if d.configured {
		return
	}
	d.configure()
	if !d.configured {
		d.setErr(d.errorAt(0, unknownFormatError(d.options.Format)), false)
	}
}

// Release returns the read buffer to the pool. Until the next Reset, calls return
// [ErrClosed]. Tokens that were not cloned become invalid.
func (d *Decoder) Release() {
	d.reset(nil, nil, 0) // new positions, so that old tokens and loops are found to be stale
	d.stopFast()
	d.state.close()
	d.cold = nil // lastError then returns ErrClosed
	d.dropKeys()
	d.setErr(ErrClosed, false)
	d.release() // last: nothing refers to the buffer any longer
}

// look begins each call on the slow path: it invalidates the latest token, ends a bulk read, skips
// the rest of a container left by a loop, and returns a lookahead at the next token, or the error
// of an earlier call.
func (d *Decoder) look() (lookahead, error) {
	d.drop()              // also if the call fails: a token is valid until the next call
	if d.payload.active { // a bulk read keeps the fast path off, so that its end is noticed here
		d.payload.deactivate()
		d.updateFastPath()
	}
	if d.err != nil {
		return lookahead{}, d.earlier()
	}
	if d.abandoned > 0 { // here, because leaving a loop must not wait for a slow sender
		if err := d.leaveLoop(); err != nil {
			return lookahead{}, err
		}
	}
	if d.depth == 0 {
		d.stopFast() // the fast path does not begin a top-level value, because each sets limits of its own
		if d.remaining == 0 {
			return lookahead{}, errNotReset // Release leaves an error
		}
	} else if d.strict {
		d.startFast() // for the calls after this one: all checked values are read
	}
	return d.ahead(), nil
}

// leaveLoop skips the rest of a container left by a Fields or Elements loop, for look.
func (d *Decoder) leaveLoop() error {
	depth := int(d.abandoned)
	d.abandon(0) // before skip, because abandoned keeps the fast path off, as a bulk read does
	d.startFast()
	l := d.ahead()
	l.skip(span{open: depth})
	err := d.failure()
	if err != nil { // the next call goes on after an error of the Reader
		d.abandon(depth)
		d.stopFast()
	}
	return err
}

// earlier returns d.err, the error of an earlier call.
func (d *Decoder) earlier() error {
	err := d.err
	if d.errOnce { // an error of the Reader, met by PeekKind and now returned
		d.setErr(nil, false)
		d.updateFastPath()
	}
	return err
}

// updateFastPath switches the fast path off if there is something for look to do before the next
// token, and otherwise on if it can read the innermost container. Call updateFastPath after the
// end of an error, a bulk read or a loop, and stopFast where one begins.
func (d *Decoder) updateFastPath() {
	if d.any() {
		d.stopFast()
		return
	}
	d.startFast()
}

// result returns the token t, or the error of a call for the fault of the lookahead.
func (d *Decoder) result(t Token) (Token, error) {
	if d.fault.kind != noFault {
		return Token{}, d.failure()
	}
	switch t.Kind() {
	case KindStringChunk:
		d.payload.set(d.mark, KindStringChunk, d.tokenPos()+t.offset(), t.payloadLen())
	case KindChunk:
		d.payload.set(d.mark, d.top().kind, d.tokenPos(), t.payloadLen())
	case KindProperty: // bulk reads do not return names of properties
		d.payload.set(d.mark, 0, 0, 0)
	}
	return t, nil
}

// followed contains the kinds of tokens for which result stores the position of the payload,
// because the encoding does not show it: chunks, and the names of properties. Of other tokens,
// bulk.start finds the payload, if there is a bulk read.
var followed = [128]bool{KindStringChunk: true, KindChunk: true, KindProperty: true}

// failure returns the error of a call for the fault of its lookahead, or nil, and clears the fault: a
// Decoder in a pool refers to no error of a Reader.
func (d *Decoder) failure() error {
	f := d.fault
	if f.kind == noFault {
		return nil
	}
	d.setFault(fault{})
	switch f.kind {
	case ofReader:
		return d.latest(f.err)
	case atEnd:
		return io.EOF
	case inInput: // the rest cannot be read; the fast path is off, so that later calls come to look
		d.setErr(d.errorAt(f.at, f.err), false)
		d.stopFast()
		return d.err
	default:
		return d.errorAt(f.at, f.err)
	}
}

// errorAt returns an Error for the next token, with an offset of at bytes after r. The Error is
// not sticky: typed reads return such errors after consuming nothing. The path is that of the
// next token, with a key already read, while WrapError uses the path of the latest.
func (d *Decoder) errorAt(at int, err error) error {
	d.drop() // look was not called for a number on the fast path that does not fit
	return d.latest(&Error{
		Offset: int64(d.pos()-d.origin) + int64(at),
		Path:   string(d.pathFrom(nil, true)),
		Err:    err,
	})
}

// latest returns err and makes it the result of lastError.
func (d *Decoder) latest(err error) error {
	d.getCold().err = err
	d.setFound(true)
	return err
}

// Err returns the error of all calls until Reset: nil, an [Error], or [ErrClosed]. It reads
// nothing.
func (d *Decoder) Err() error {
	if d.errOnce {
		return nil
	}
	return d.err
}

// lastError is [export.LastError].
func (d *Decoder) lastError() error {
	if d.cold == nil { // no error since Reset, or Release; the io.EOF kept by PeekKind is no error
		return d.Err()
	}
	return d.cold.err
}

// ReadToken returns the next token. At the end of the input, ReadToken returns io.EOF
// after a complete value, and an [Error] with io.ErrUnexpectedEOF inside a value.
//
// ReadToken returns as soon as the bytes of the token have been received, and never
// waits for more. DictKey and End read nothing.
func (d *Decoder) ReadToken() (Token, error) {
	buf, r, remaining := d.fastValues, d.r, d.remaining
	if r > len(buf)-fastSize { // also if the fast path of values is off, because buf is nil then
		return d.readLast()
	}
	if remaining == 0 {
		return d.readEnd(), nil
	}
	pos := d.base + uint64(r)
	if ^remaining&d.pairs != 0 { // atKey, in one expression
		if d.marked != remaining {
			return d.readDictKey(), nil
		}
		d.setKey(pos)
	}
	b := (*[fastSize]byte)(buf[r:])
	head := stringHead
	if h := le.Uint32(b[:]); h != stringHeader { // as most values are: -5 % of tokens
		form, ok := d.forms.find(h)
		if !ok {
			return d.readSlow()
		}
		switch form.shape {
		case shapeWord:
			d.passEmpty(r+4+int(form.size), pos)
			d.setRemaining(remaining - 1)
			return Token{head: form.head, bits: le.Uint64(b[4:]) & form.mask}, nil
		case shapeMath:
			end := r + 4 + int(form.size)
			if end > len(buf) {
				return d.readSlow()
			}
			d.pass(end, pos)
			d.setRemaining(remaining - 1)
			return Token{head: form.head, src: &d.tokenSource, pos: markAt(pos)}, nil
		case shapeArray, shapeDict, shapePackedStrings:
			n := le.Uint32(b[4:])
			if !d.openFast(form, n) {
				return d.readSlow()
			}
			return Token{head: form.head, bits: uint64(n)}, nil
		case shapeText: // a StringName
			head = form.head
		default:
			return d.readStart(form, b)
		}
	}
	n := le.Uint32(b[4:])
	size := wire.ShortText(n, le.Uint64(b[8:]))
	if size == 0 {
		return d.readText(head, n)
	}
	d.pass(r+4+size, pos)
	d.setRemaining(remaining - 1)
	return Token{head: head | uint64(n)<<32, bits: uint64(n), src: &d.tokenSource, pos: markAt(pos)}, nil
}

// readText reads a String or StringName of n bytes, other than short ASCII, for ReadToken. head is
// the head of its token.
func (d *Decoder) readText(head uint64, n uint32) (Token, error) {
	if d.textAt(d.r+8, n) == nil {
		return d.readSlow()
	}
	d.count(1)
	d.pass(d.r+8+int(wire.Padded(n)), d.pos())
	return Token{head: head | uint64(n)<<32, bits: uint64(n), src: &d.tokenSource, pos: d.mark}, nil
}

// readStart reads the Start token of a NodePath or packed array for ReadToken, and passes all other
// values to the slow path.
func (d *Decoder) readStart(form *form, b *[fastSize]byte) (Token, error) {
	switch form.shape {
	case shapeNodePath:
		if d.openNodePath(form, b) {
			f := d.top()
			return newToken(KindNodePathStart, TypeNodePath, f.flags, uint64(f.names)|uint64(f.count-f.names)<<32), nil
		}
	case shapePacked:
		if n := le.Uint32(b[4:]); d.openPacked(form, n) {
			return Token{head: form.head, bits: uint64(n)}, nil
		}
	}
	return d.readSlow()
}

// readLast reads a token for ReadToken where fewer than fastSize bytes of fastValues are left: a
// name or packed string, the last values of the buffer, an End, or whatever the slow path reads.
func (d *Decoder) readLast() (Token, error) {
	switch {
	case d.remaining == 0 && d.depth > 0 && d.abandoned == 0 && d.err == nil:
		// An End needs no bytes, so it is returned even where the fast path is off.
		d.payload.deactivate()
		return d.readEnd(), nil
	case d.fastValues != nil:
		if d.atKey() && d.marked != d.remaining {
			return d.readDictKey(), nil
		}
		var b [fastSize]byte
		if form := d.lastForm(&b); form != nil {
			n := le.Uint32(b[4:])
			if form.shape <= shapeText {
				return d.takeLast(form, &b), nil
			} else if d.openFast(form, n) {
				return Token{head: form.head, bits: uint64(n)}, nil
			}
		} else if d.src != nil && d.await() {
			return d.ReadToken()
		}
	case d.fastNames != nil:
		if text := d.fastName(); text != nil {
			d.keepPayload() // fastName marked the token as empty, for typed reads
			const head = uint64(KindStringChunk) | uint64(flagLast|1<<offsetShift)<<16
			n := uint64(len(text))
			return Token{head: head | uint64(d.top().typ)<<8 | n<<32, bits: n, src: &d.tokenSource, pos: d.mark}, nil
		}
	case d.atPacketEnd(): // -11 % of tokens of 64 bytes in memory
		d.drop()
		return Token{}, io.EOF
	}
	return d.readSlow()
}

// atPacketEnd reports whether the input ends here, after a value, and nothing is pending.
func (d *Decoder) atPacketEnd() bool {
	return d.pos() == d.inputEnd && d.depth == 0 && d.remaining > 0 && d.err == nil && d.srcErr == nil && d.abandoned == 0 && !d.payload.active
}

// readSlow reads the next token on the slow path.
func (d *Decoder) readSlow() (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	var t Token
	if d.depth == 0 { // as token, but cheaper: -4 % of tokens of 64 bytes from a Reader
		t = l.topValue()
	} else {
		t = l.token()
	}
	if l.failed() || followed[t.Kind()&127] {
		return d.result(t)
	}
	return t, nil // as result: -0.9 % of the same
}

// readForm reads the first token of the next value, if accepts reports true for its form. want
// names the wanted value in the error.
func (d *Decoder) readForm(want any, accepts func(*form) bool) (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	l.expect(want, accepts)
	return d.result(l.value())
}

// readPart is readForm for a text. The names of a NodePath and the strings of a PackedStringArray,
// without a form, are also accepted.
func (d *Decoder) readPart(want any, accepts func(*form) bool) (Token, error) {
	l, err := d.look()
	if err != nil {
		return Token{}, err
	}
	if d.want() == wantName {
		return d.result(l.text(d.top().typ))
	}
	l.expect(want, accepts)
	return d.result(l.value())
}

// PeekKind returns the kind of the next token without consuming it. It returns 0 at the
// end of the input and for an error; the next ReadToken returns the error. PeekKind
// waits for at most 4 bytes, because these contain the kind.
func (d *Decoder) PeekKind() Kind {
	d.drop()
	buf, r := d.fastValues, d.r&math.MaxInt
	switch {
	case d.remaining == 0 && (buf != nil || d.fastNames != nil):
		return KindEnd
	case r > len(buf)-fastSize: // or the fast path reads no values
		if d.fastNames != nil {
			return KindStringChunk
		}
		return d.peekSlow()
	case d.atKey() && d.marked != d.remaining:
		return KindDictKey
	}
	if form, ok := d.forms.find(le.Uint32((*[fastSize]byte)(buf[r:])[:])); ok {
		return form.kind
	}
	return d.peekSlow()
}

// peekSlow returns the kind of the next token for PeekKind, on the slow path. It leaves an error of
// an earlier call to the next call, because it cannot return one.
func (d *Decoder) peekSlow() Kind {
	if d.err != nil { // left to the next call; also an error of the Reader kept by an earlier PeekKind
		d.payload.deactivate()
		return 0
	}
	k := Kind(0)
	l, err := d.look()
	if err == nil {
		if k = wantKinds[d.want()]; k == 0 {
			if l.readHeader(); !l.failed() {
				k = l.form.kind
			}
			err = d.failure()
		}
	}
	if err != nil && d.err == nil { // an error of the Reader, to be returned by the next call
		d.setErr(err, true)
	}
	d.updateFastPath()
	return k
}

// wantKinds contains the kinds of tokens other than starts of values.
var wantKinds = [...]Kind{
	wantDictKey: KindDictKey, wantProperty: KindProperty, wantName: KindStringChunk,
	wantText: KindStringChunk, wantChunk: KindChunk, wantEnd: KindEnd,
}

// Tokens iterates over the tokens that [Decoder.SkipValue] would skip: those of the next
// value, or of the rest of a value read in part. If an End is next, Tokens yields
// [ErrCount]. The loop ends after an error. Its body can call bulk reads and skips. After a
// temporary error of the Reader, another loop covers only the value that comes next then,
// inside the first.
func (d *Decoder) Tokens() iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		if _, err := d.look(); err != nil {
			yield(Token{}, err)
			return
		}
		if d.want() == wantEnd {
			yield(Token{}, d.WrapError(wrapf(ErrCount, "Tokens at an End")))
			return
		}
		rest := d.span()
		for {
			t, err := d.ReadToken()
			if t.Kind() == KindDictKey && d.depth < rest.open {
				pos := d.pos()
				if !yield(t, err) || d.pos() != pos { // the body read the key
					return
				}
				continue
			}
			if !yield(t, err) || err != nil || d.isOver(rest) {
				return
			}
		}
	}
}

// SkipValue skips the next value, with the same errors as reading the value. If a
// DictKey is next, SkipValue skips this token and the key; if a Property is next, the
// name; and inside a string or packed data the remaining chunks. If an End is next,
// SkipValue returns [ErrCount].
//
// After an error of the Reader, if Depth is as before the call, SkipValue can be repeated:
// nothing was consumed, or whole chunks. If Depth is larger, call SkipTo with the Depth before the
// call.
func (d *Decoder) SkipValue() error {
	if depth := d.depth; d.fastValues != nil { // at the top level only after ResetBytes, for the first value
		switch {
		case d.skipFastValue():
			return nil
		case d.depth > depth:
			return d.SkipTo(depth)
		}
	}
	l, err := d.look()
	if err != nil {
		return err
	}
	rest := d.span() // before the first token, because it can open a container
	switch d.want() {
	case wantEnd:
		return d.WrapError(wrapf(ErrCount, "SkipValue at an End"))
	case wantDictKey:
		l.value() // the key
	default:
		l.token() // a value's first token, a name, or the next chunk
	}
	if !l.failed() {
		l.skip(rest)
	}
	return d.failure()
}

// SkipTo skips tokens until Depth is at most depth, with the same errors as reading them.
// It can be called after any token, and again after an error of the Reader.
func (d *Decoder) SkipTo(depth int) error {
	l, err := d.look()
	if err != nil {
		return err
	}
	l.skip(span{open: max(depth, 0) + 1})
	return d.failure()
}

// InputOffset returns the number of bytes consumed since Reset: the offset of the first
// byte after the latest token and its padding.
func (d *Decoder) InputOffset() int64 { return int64(d.pos() - d.origin) }

// bytesLeft is [export.BytesLeft].
func (d *Decoder) bytesLeft() int64 {
	if d.inputEnd == math.MaxUint64 {
		return 0
	}
	return int64(d.inputEnd - d.pos())
}

// UnreadBuffer returns the bytes read from the Reader but not consumed. The slice is valid
// until the next call on d that reads.
func (d *Decoder) UnreadBuffer() []byte { return d.buf[d.r:d.end:d.end] }

// AppendPath appends the location of the latest token to dst, such as
// $.player.inventory[3]. $ is the top-level value, and [3] is an element, name or packed
// string. The value of a key or property is .name, ["a key"], [&"a StringName"], [7],
// [1.5], [true], [null] or [Vector2i(1, 2)]. For other keys, .value(3) is the value of the
// fourth pair; .key(3) is the key itself. The text of a key is cut after 32 bytes and then
// ends in …; the location is cut after 200 bytes. The command gdwire accepts the same paths.
func (d *Decoder) AppendPath(dst []byte) []byte { return d.pathFrom(dst, false) }

// pathFrom appends the path of the latest token, or of the next one if next is set, from the value of
// [export.Place].
func (d *Decoder) pathFrom(dst []byte, next bool) []byte {
	start := len(dst) + 1 // after the $
	dst = d.appendPath(dst, next, d.key)
	if d.cold != nil && d.cold.value > 0 {
		dst = slices.Insert(dst, start, strconv.AppendInt(nil, d.cold.value, 10)...)
		if path := dst[start-1:]; len(path) > maxPath {
			dst = dst[:start-1+wire.WholeRunes(path, maxPath)]
		}
	}
	return dst
}

// WrapError returns err in an [Error] with the offset and path of the latest token, for
// values that the caller finds invalid. The Error is not sticky.
func (d *Decoder) WrapError(err error) error {
	return d.latest(&Error{Offset: int64(d.tokenPos() - d.origin), Path: string(d.AppendPath(nil)), Err: err})
}

// Depth returns the number of open containers, including NodePaths, packed arrays,
// Images, and a string between its chunks. Depth is 0 after a complete value. A container is not
// open after its loop was left, although its rest is still to be skipped.
func (d *Decoder) Depth() int {
	if d.abandoned > 0 {
		return int(d.abandoned) - 1
	}
	return d.depth
}

// StackIndex describes the open container at level i, from 1, the outermost, to Depth():
// the kind of its first token, the index of the latest element, pair, property or name,
// or -1 before the first, and the declared count. The index of packed data and of strings
// is -1.
//
// Level 0 contains all values: its kind is 0, its index belongs to the latest top-level
// value, and its count is -1. For other levels, StackIndex returns 0, -1, -1.
func (d *Decoder) StackIndex(i int) (kind Kind, index, count int64) {
	if i > d.Depth() { // open in the state, until the next call skips the rest
		return 0, -1, -1
	}
	return d.stackIndex(i)
}
