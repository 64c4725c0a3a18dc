package gdwire

import (
	"cmp"
	"io"
	"iter"
	"math"

	"github.com/gdwire/gdwire/internal/wire"
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
// consume bytes, r is increased. Before it reads more, fetch moves the bytes from the history on to
// the start of the buffer.
//
// A Decoder reads on two paths, which have the same bytes, nesting and limits in a fastPath. The
// fast path reads values inside Arrays, Dictionaries, NodePaths and PackedStringArrays, if they are
// completely in the buffer and have a header that engines write, and opens Arrays, Dictionaries and
// packed arrays at the top level. Its methods find a value or return nil, false or 0; the methods of
// the Decoder then turn to the slow path, which reads everything else, by a lookahead.
//
// The fast path does not check Limits.Bytes, because limit includes it, nor errors, options, bulk
// reads or loops that have been left, because updateFastPath and startFast set fastValues and
// fastNames to nil where any of these must be checked.
//
// On both paths, a token is consumed only after all of it is in the buffer. Therefore a call that a
// temporary error of the Reader interrupts changes nothing, except for bytes read ahead, and can be
// repeated. Of calls that read many tokens, bulk reads into the caller's memory continue with
// payload, and the leaving of a loop with abandoned.
//
// countAt counts a value, push and pop open and close containers. Only ReadToken
// and the typed reads, SkipValue and SkipTo, CopyValue and the bulk reads call them;
// PeekKind and the methods that describe the position do not.
//
// The files, in the order in which they explain each other:
//
//	window.go         the buffered bytes, and the positions of tokens
//	input.go          the Reader, and how it fills the window
//	state.go          the open containers, as in an Encoder
//	format.go         the tables of types, for both
//	reader.go         Reset, ReadToken and PeekKind
//	pending.go        what earlier calls have left
//	reader_slow.go    the slow path: its door, faults and errors, waiting for the fields of a token
//	reader_values.go  these fields: each kind of value, strings and packed data
//	reader_fast.go, reader_skip.go, nodepath.go  the fast path
//	reader_typed.go, reader_loops.go, reader_bulk.go, copy.go  calls that use both
//	path.go           where an error is

// DefaultMaxChunk is the default of [DecoderOptions].MaxChunk. With it, the read buffer is 16 KiB
// long.
const DefaultMaxChunk = 16<<10 - 128

const (
	// smallestChunk and largestChunk bound DecoderOptions.MaxChunk; the sum of its maximum, history
	// and headroom fits an int on all machines.
	smallestChunk = 16
	largestChunk  = 1 << 30
	// history is the number of consumed bytes that the read buffer keeps, so that
	// a path can quote the latest key.
	history = 64
	// headroom is the space in the read buffer for the headers, padding and NUL
	// of a token, in addition to MaxChunk.
	headroom = 64
)

// DecoderOptions configures a Decoder. The zero value selects [Godot4] with the default
// [Limits], as lenient as the engines.
type DecoderOptions struct {
	// Format is the format of the input. nil selects Godot4.
	Format *Format
	// Limits bounds the input.
	Limits Limits
	// MaxChunk is the maximum number of bytes of text or elements in one token.
	// A string of up to MaxChunk bytes is one chunk, and the boundaries of
	// chunks depend only on MaxChunk. 0 selects DefaultMaxChunk. The minimum is
	// 16 and the maximum 1 GiB; other values are adjusted.
	MaxChunk int
	// AllowObjects permits serialized objects. They name classes and scripts that
	// an engine would create, so forward them only from trusted senders.
	AllowObjects bool
	// Strict refuses input that engines accept but never write. The package
	// documentation lists it.
	Strict bool
	// AllowInvalidUTF8 accepts text that is not UTF-8.
	AllowInvalidUTF8 bool
	// DoubleReals selects 64 bits for the components of math types and of packed
	// vectors and colors in the formats of manuals. The header of a value in
	// Godot4 contains the width.
	DoubleReals bool
	// OneValue makes the Decoder return io.EOF after the first value, as engines
	// do for a packet.
	OneValue bool

	wholePadding bool // missing padding is an error
}

// A Decoder reads values that follow each other, as tokens or by typed calls. Create
// it with NewDecoder, or call Reset, ResetN or ResetBytes on a zero Decoder. It must
// not be used by several goroutines at the same time.
//
// An error of the Reader is returned unchanged, and most calls can be repeated after it; see the
// table in the package documentation. An [Error] in the input stays until Reset: all later calls
// return it.
//
// A Decoder holds a read buffer from a pool, and 32 bytes for each open container, with
// up to 35 bytes of its latest key if that left the buffer. It allocates nothing by a
// declared count.
type Decoder struct {
	slowPath
	pending
	cold *cold
}

// cold holds the state that few Decoders need. It is allocated on first use.
type cold struct {
	reader payloadReader // the result of Payload
	keys   []byte        // the keys of active loops
	err    error         // for LastError
}

// getCold returns d.cold and allocates it for the first error, loop or Payload.
func (d *Decoder) getCold() *cold {
	if d.cold == nil {
		d.cold = new(cold)
	}
	return d.cold
}

// NewDecoder returns a Decoder that reads from r. If o is nil, it uses the zero
// DecoderOptions.
func NewDecoder(r io.Reader, o *DecoderOptions) *Decoder {
	d := new(Decoder)
	d.setOptions(o)
	d.Reset(r)
	return d
}

// Options returns the options of d. Format is never nil.
func (d *Decoder) Options() DecoderOptions {
	o := d.options
	o.Format = cmp.Or(o.Format, Godot4)
	return o
}

// Reset discards the state of d and makes it read from r, starting at offset 0, with
// the same options.
func (d *Decoder) Reset(r io.Reader) {
	d.reset(r, nil, 0)
	d.stopFast()
}

// ResetN discards the state of d and makes it read an input of n bytes from r. The Decoder reads no
// more than n bytes and refuses counts that cannot fit in them at once. With Strict, bytes
// after the first value are an error.
func (d *Decoder) ResetN(r io.Reader, n int64) {
	d.Reset(r)
	d.endAt(d.origin + uint64(max(n, 0)))
}

// ResetBytes discards the state of d and makes it read the bytes in b, as ResetN does for a Reader.
// They are not copied: the payloads of tokens are parts of b, so b must not change while the Decoder
// reads it.
func (d *Decoder) ResetBytes(b []byte) {
	// Without its spare capacity: what follows b in memory can belong to another goroutine, and a
	// slice of b must not reach it.
	d.reset(nil, b[:len(b):len(b)], len(b))
	d.endAt(d.origin + uint64(len(b)))
	// The limits of the first value are set now, because all bytes are there. Calls can then read
	// the start of a packet on the fast path, without a call of look.
	d.limitValue()
	d.startTop()
}

// reset discards the input and the state of earlier calls. The next input is buf[:end] and then
// what r returns. The caller then switches the fast path on or off. The first reset derives fields
// from the options, which do not change after it.
func (d *Decoder) reset(r io.Reader, buf []byte, end int) {
	d.restart(r, buf, end)
	d.pending.reset()
	if r := d.cold; r != nil {
		*r = cold{keys: r.keys[:0], reader: r.reader} // a stale Reader returns an error
	}
	d.state.init()
	if d.forms != nil {
		return
	}
	d.configure()
}

// Release returns the read buffer to the pool. Until the next Reset, calls return
// [ErrReleased]. Tokens that were not cloned become invalid.
func (d *Decoder) Release() {
	d.reset(nil, nil, 0) // new positions, so that old tokens and loops are found to be stale
	d.stopFast()
	d.state.close()
	d.cold = nil // LastError then returns ErrReleased
	d.dropKeys()
	d.setErr(ErrReleased, false)
	d.release() // last: nothing refers to the buffer any longer
}

// ReadToken returns the next token. At the end of the input it returns io.EOF after a
// complete value, and an [Error] with io.ErrUnexpectedEOF inside a value.
//
// It returns as soon as the bytes of the token have been received, and never waits for
// more. DictKey and End read nothing.
func (d *Decoder) ReadToken() (Token, error) {
	buf, r, left := d.fastValues, d.r, d.remaining
	if r > len(buf)-fastSize { // also if the fast path of values is off, because buf is nil then
		return d.readLast()
	}
	if left == 0 {
		return d.readEnd(), nil
	}
	pos := d.base + uint64(r)
	if ^left&d.pairs != 0 { // atKey, in one expression
		if d.marked != left {
			return d.readDictKey(), nil
		}
		d.setKey(pos)
	}
	b := (*[fastSize]byte)(buf[r:])
	head := stringHead
	if h := le.Uint32(b[:]); h != stringHeader { // as most values are: -6 % of tokens
		form, ok := d.forms.find(h)
		if !ok {
			return d.readSlow()
		}
		switch form.shape {
		case shapeWord:
			d.passEmpty(r+4+int(form.size), pos)
			d.setRemaining(left - 1)
			return Token{head: form.head, bits: le.Uint64(b[4:]) & form.mask}, nil
		case shapeMath:
			end := r + 4 + int(form.size)
			if end > len(buf) {
				return d.readSlow()
			}
			d.pass(end, pos)
			d.setRemaining(left - 1)
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
	d.setRemaining(left - 1)
	return Token{head: head | uint64(n)<<32, bits: uint64(n), src: &d.tokenSource, pos: markAt(pos)}, nil
}

// readText reads a String or StringName of n bytes, which is not short ASCII, for ReadToken. head is
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
		d.payload.stop()
		return d.readEnd(), nil
	case d.fastValues != nil:
		if d.atKey() && d.marked != d.remaining {
			return d.readDictKey(), nil
		}
		var b [fastSize]byte
		if form := d.lastForm(&b); form != nil {
			return d.takeLast(form, &b), nil
		}
	case d.fastNames != nil:
		if text, ok := d.fastName(); ok {
			d.keep() // fastName marked the token as empty, for typed reads
			const head = uint64(KindStringChunk) | uint64(flagLast|1<<offsetShift)<<16
			n := uint64(len(text))
			return Token{head: head | uint64(d.top().typ)<<8 | n<<32, bits: n, src: &d.tokenSource, pos: d.mark}, nil
		}
	case d.pos() == d.inputEnd && d.depth == 0 && d.remaining > 0 && d.err == nil && d.srcErr == nil && d.abandoned == 0 &&
		!d.payload.active:
		// The end of a packet, and nothing is pending: -5 % of the tokens of 64 bytes.
		d.drop()
		return Token{}, io.EOF
	}
	return d.readSlow()
}

// PeekKind returns the kind of the next token without consuming it. It returns 0 at the
// end of the input and after an error, which the next ReadToken returns. It waits for at
// most 4 bytes, because these contain the kind.
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

// Tokens iterates over the tokens that [Decoder.SkipValue] would skip: those of the next
// value, or of the rest of a value that was read in part. If an End is next, it yields
// [ErrCount]. It ends after an error. The loop's body can call bulk reads and skips. After
// a temporary error of the Reader, another loop covers only the value that comes next then,
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

// InputOffset returns the number of bytes consumed since Reset. It is the offset of the
// first byte after the latest token and its padding.
func (d *Decoder) InputOffset() int64 { return int64(d.pos() - d.origin) }

// UnreadBuffer returns the bytes that have been read from the Reader but not consumed. The
// slice is valid until the next call on d that reads.
func (d *Decoder) UnreadBuffer() []byte { return d.buf[d.r:d.end:d.end] }

// AppendPath appends the location of the latest token to dst, such as
// $.player.inventory[3]. $ is the top-level value, and [3] is an element, name or packed
// string. The value of a key or property is .name, ["a key"], [&"a StringName"], [7],
// [1.5], [true], [null] or [Vector2i(1, 2)]. For other keys, .value(3) is the value of the
// fourth pair; .key(3) is the key itself. The text of a key is cut after 32 bytes and then
// ends in …; the location is cut after 200 bytes. The command gdwire accepts the same paths.
func (d *Decoder) AppendPath(dst []byte) []byte {
	return d.appendPath(dst, false, d.key)
}

// WrapError returns err in an [Error] with the offset and path of the latest token, for
// values that the caller finds invalid. Only [Decoder.LastError] shows that it was called.
func (d *Decoder) WrapError(err error) error {
	return d.latest(&Error{Offset: int64(d.tokenPos() - d.origin), Path: string(d.AppendPath(nil)), Err: err})
}

// Depth returns the number of open containers, including NodePaths, packed arrays,
// Images, and a string between its chunks. It is 0 after a complete value. A container whose loop
// was left is not open, although its rest is still to be skipped.
func (d *Decoder) Depth() int {
	if d.abandoned > 0 {
		return int(d.abandoned) - 1
	}
	return d.depth
}

// StackIndex describes the open container at level i, from 1, the outermost, to Depth().
// It returns the kind of its first token, the index of the latest element, pair, property
// or name, or -1 before the first, and the declared count. The index of packed data and
// of strings is -1.
//
// Level 0 contains all values: its kind is 0, its index belongs to the latest top-level
// value, and its count is -1. For a level that is not open, StackIndex returns 0, -1, -1.
func (d *Decoder) StackIndex(i int) (kind Kind, index, count int64) {
	if i > d.Depth() { // open in the state, until the next call skips the rest
		return 0, -1, -1
	}
	return d.stackIndex(i)
}
