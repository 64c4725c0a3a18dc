package gdwire

import (
	"io"
	"iter"
	"math"

	"github.com/valyala/bytebufferpool"
)

// DefaultWindowSize is how many bytes of text or elements one token holds at
// most, unless [DecoderOptions] say otherwise: a little less than 16 KiB, which
// is what the whole window then takes.
const DefaultWindowSize = 16<<10 - 128

const (
	// windowBuffer is a power of two, as the pool has them.
	windowBuffer = DefaultWindowSize + history + headroom

	minWindow = 16
	maxWindow = 1 << 30
	// history is how many consumed bytes the window keeps: enough for a key that
	// has just been read to be quoted in a path.
	history = 64
	// headroom is what a token may need beside text: headers, padding, a NUL.
	headroom = 64
)

// DecoderOptions say how to read. The zero value is [Godot4] with default
// [Limits], as lenient as the engines are.
type DecoderOptions struct {
	// Format is what the bytes are in. nil: Godot4.
	Format *Format
	// Limits on what is believed.
	Limits Limits
	// WindowSize is how many bytes of text or elements one token holds at most.
	// A string that fits is one chunk; chunk borders depend on nothing else.
	// 0: DefaultWindowSize. Less than 16 counts as 16, more than 1 GiB as that.
	WindowSize int
	// AllowObjects lets objects in full pass. They name classes and scripts that
	// an engine would create, so whoever hands them on should trust the sender.
	AllowObjects bool
	// Strict refuses what engines read but never write; the package's
	// documentation lists it.
	Strict bool
	// AnyUTF8 hands out text without asking whether it is UTF-8.
	AnyUTF8 bool
	// DoubleReals: in the manuals' formats every component of maths types and of
	// packed vectors and colours has 64 bits. Godot 4 marks them itself.
	DoubleReals bool
	// OneValue: there is io.EOF behind the first value, whatever follows it, as
	// there is to engines behind the value of a packet.
	OneValue bool

	wholePadding bool // missing padding is never let pass
}

// A Decoder reads values as tokens. It is made by NewDecoder, or a zero one made
// ready by Reset, ResetN or ResetBytes; one goroutine may use it at a time.
//
// Values stand back to back. A read error is handed on as it is, nothing is lost
// by it, and the call can be made again. An [Error] stays until Reset.
//
// Beside the window, which comes from a pool, it keeps a frame of 32 bytes for
// each thing that is open, and the start of its latest key, 35 bytes, once that
// has left the window. It allocates nothing for a count that it read.
type Decoder struct {
	window
	state

	// The rest of the read buffer, see reader_buffer.go.
	win         []byte // buf[:lim] while the fast path may read values, otherwise nil; setWin
	names       []byte // the same for names and packed strings
	r, lim, end int
	src         io.Reader // nil after ResetBytes
	srcErr      error     // came with bytes; due when they are consumed
	buffer      *bytebufferpool.ByteBuffer

	// Positions in the input, see window.
	origin     uint64 // offset 0
	inputEnd   uint64 // the end of the input, if its length was given
	valueStart uint64 // the start of the top-level value
	valueEnd   uint64 // its end at the latest, by Limits.Bytes or inputEnd

	// What calls leave for the next.
	err     error // returned by every call, or if once is set by the next
	once    bool
	payload payload
	skip    extent // what an interrupted SkipValue or CopyValue continues
	leave   int    // the depth of the outermost container that a loop has left, 0 for none
	rare    *rare

	// The top-level value.
	values     uint64 // declared so far, itself included
	strictSeen strictSeen

	// What the options come to, see init.
	rows     *[64]row
	maxShort uint32 // strings of up to so many bytes, 8 at most, are one chunk and within Limits
	maxWhole int    // the same without the 8
	size     int    // of a chunk
	maxDepth int
	bounds   bounds
	options  DecoderOptions

	saved []savedKey
}

// rare is what few Decoders need.
type rare struct {
	unsent    unsent        // what an interrupted CopyValue still has to write
	reader    payloadReader // what Payload returns
	keys      []byte        // of the loops under way
	partial   []byte        // what an interrupted ReadString or ReadNodePath has read
	partialAt uint64        // the token that it began with
}

// NewDecoder returns a Decoder that reads from r. Options of nil are defaults.
func NewDecoder(r io.Reader, o *DecoderOptions) *Decoder {
	d := new(Decoder)
	if o != nil {
		d.options = *o
	}
	d.Reset(r)
	return d
}

// Options returns the options that NewDecoder was given. Format is never nil.
func (d *Decoder) Options() DecoderOptions {
	o := d.options
	if o.Format == nil {
		o.Format = Godot4
	}
	return o
}

// Reset starts afresh with r and the same options, at offset 0.
func (d *Decoder) Reset(r io.Reader) {
	d.reset()
	d.src = r
	if d.buffer != nil {
		d.buf = d.buffer.B
	}
}

// ResetN is Reset for input of n bytes: no more are ever asked of r, and counts
// that cannot be true in so few are refused at once. With Strict they are one
// packet: bytes behind the value in it are an error.
func (d *Decoder) ResetN(r io.Reader, n int64) {
	d.Reset(r)
	d.inputEnd = d.base + uint64(max(n, 0))
}

// ResetBytes is ResetN for bytes in memory. They are not copied: what tokens
// hold are parts of b.
func (d *Decoder) ResetBytes(b []byte) {
	d.reset()
	d.buf, d.end, d.lim = b, len(b), len(b)
	d.inputEnd = d.base + uint64(len(b))
}

func (d *Decoder) reset() {
	if d.rows == nil {
		d.initOptions()
	}
	d.state.init()
	d.forget()
	d.valueStart, d.inputEnd = d.base, math.MaxUint64
	d.err, d.once = nil, false
}

// forget gives up the input and all that calls have left.
func (d *Decoder) forget() {
	d.base += uint64(d.end) + 1
	d.origin = d.base
	d.token = 2*d.base + 1
	d.r, d.lim, d.end = 0, 0, 0
	d.buf, d.win, d.names, d.src, d.srcErr = nil, nil, nil, nil, nil
	d.payload, d.skip, d.leave = payload{}, extent{}, 0
	if r := d.rare; r != nil {
		*r = rare{keys: r.keys[:0]}
	}
}

// initOptions works out what the options come to.
func (d *Decoder) initOptions() {
	o := &d.options
	if o.Format == nil {
		o.Format = Godot4
	}
	if o.WindowSize == 0 {
		o.WindowSize = DefaultWindowSize
	}
	double := 0
	if o.DoubleReals {
		double = 1
	}
	d.size = min(max(o.WindowSize, minWindow), maxWindow)
	d.bounds = o.Limits.bounds()
	d.rows = &o.Format.rows[double]
	d.maxDepth = int(min(d.bounds[limitDepth], math.MaxInt))
	d.maxWhole = int(min(int64(d.size), d.bounds[limitString]))
	d.maxShort = uint32(min(d.maxWhole, 8))
}

// Release gives the window back to the pool. Until the next Reset every call
// returns [ErrReleased], and tokens that were not cloned are void.
func (d *Decoder) Release() {
	d.forget()
	d.state.close()
	d.saved, d.rare = nil, nil
	d.err, d.once = ErrReleased, false
	if d.buffer != nil {
		putBuffer(d.buffer)
		d.buffer = nil
	}
}

// ReadToken returns the next token: io.EOF between two values if there is none,
// and inside one io.ErrUnexpectedEOF in an [Error].
//
// It returns as soon as the token's bytes are there, and asks the reader for no
// byte it does not need. DictKey and End read nothing.
func (d *Decoder) ReadToken() (Token, error) {
	win, r, left := d.win, d.r, d.left
	if r > len(win)-fastSize {
		return d.readName()
	}
	if left == 0 {
		return d.readEnd(), nil
	}
	pos := d.base + uint64(r)
	if ^left&d.pairs != 0 {
		if d.marked != left {
			return d.readDictKey(), nil
		}
		d.keyPos = pos
	}
	b := (*[fastSize]byte)(win[r:])
	h := le.Uint32(b[:])
	form := &d.rows[h&63][h>>16&1]
	if h != form.header {
		return d.readSlow()
	}
	switch form.shape {
	case shapeWord:
		d.r, d.left, d.token = r+4+int(form.size), left-1, 2*pos
		return Token{head: form.head, bits: le.Uint64(b[4:]) & form.mask}, nil
	case shapeText:
		n := le.Uint32(b[4:])
		if n-1 >= d.maxShort || !plainText(le.Uint64(b[8:]), n) {
			return d.readText(form, n)
		}
		d.r, d.left, d.token = r+8+int(padded(n)), left-1, 2*pos
		return Token{head: form.head | uint64(n)<<32, bits: uint64(n), win: &d.window, pos: 2 * pos}, nil
	case shapeMaths:
		end := r + 4 + int(form.size)
		if end > len(win) {
			return d.readSlow()
		}
		d.r, d.left, d.token = end, left-1, 2*pos
		return Token{head: form.head, win: &d.window, pos: 2 * pos}, nil
	}
	return d.readStart(form, b)
}

// readText is ReadToken for the String or StringName of n bytes that is next on
// the fast path.
func (d *Decoder) readText(form *form, n uint32) (Token, error) {
	if !d.wholeText(d.r+8, n) {
		return d.readSlow()
	}
	d.left--
	d.token = 2 * d.pos()
	d.r += 8 + int(padded(n))
	return Token{head: form.head | uint64(n)<<32, bits: uint64(n), win: &d.window, pos: d.token}, nil
}

// readStart is ReadToken for a Start token that is next on the fast path.
func (d *Decoder) readStart(form *form, b *[fastSize]byte) (Token, error) {
	switch form.shape {
	case shapeArray, shapeDict, shapePackedStrings:
		if n := le.Uint32(b[4:]); d.openFast(form, n) {
			return Token{head: form.head, bits: uint64(n)}, nil
		}
	case shapePath:
		if d.openPath(b) {
			f := d.top()
			return newToken(KindNodePathStart, TypeNodePath, f.flags, uint64(f.names)|uint64(f.count-f.names)<<32), nil
		}
	case shapePacked:
		return d.packed(form)
	}
	return d.readSlow()
}

// readName is ReadToken for names and packed strings.
func (d *Decoder) readName() (Token, error) {
	names, r := d.names, d.r
	if r > len(names)-fastSize {
		return d.readSlow()
	}
	if d.left == 0 {
		return d.readEnd(), nil
	}
	n, size := d.fastName((*[fastSize]byte)(names[r:]))
	if size == 0 {
		return d.readSlow()
	}
	d.left--
	d.token = 2 * d.pos()
	d.r += size
	const head = uint64(KindStringChunk) | uint64(flagLast|1<<offsetShift)<<16
	return Token{head: head | uint64(d.top().typ)<<8 | uint64(n)<<32, bits: uint64(n), win: &d.window, pos: d.token}, nil
}

// fastName returns the length of the name or packed string that starts with b, and
// how many bytes it takes; 0 if it is not whole in the buffer.
func (d *Decoder) fastName(b *[fastSize]byte) (n uint32, size int) {
	n = le.Uint32(b[:])
	if (n-1 >= d.maxShort || !plainText(le.Uint64(b[4:]), n)) && !d.wholeText(d.r+4, n) {
		return 0, 0
	}
	size = 4 + int(padded(n))
	if d.top().typ == TypePackedStringArray {
		n -= d.trailingNUL(d.buf[d.r+4 : d.r+4+int(n)])
	}
	return n, size
}

// fastSize is a header and what follows it of a number or a short string, which is
// its length and up to eight bytes.
const fastSize = 16

// openFast consumes the start of an Array, Dictionary or PackedStringArray of n
// elements or pairs. It reports false for what the slow path has to see.
func (d *Decoder) openFast(form *form, n uint32) bool {
	pairs := hasPairs[form.kind&127]
	pos, values := d.pos(), uint64(n)<<pairs
	total, end := d.values+values, pos+8+4*values
	if int64(n) > d.bounds[limitElements] || n >= sharedBit || total > uint64(d.bounds[limitValues]) || end > d.valueEnd {
		return false
	}
	d.values = total
	if d.atKey() {
		d.keyPos = pos
	}
	d.push(form.kind, form.typ, n)
	d.keyPos, d.token = pos, 2*pos
	d.r += 8
	if form.shape == shapePackedStrings {
		d.payload = payload{token: d.token}
		d.setWin()
	} else if d.depth > d.maxDepth {
		d.setWin()
	}
	return true
}

// pathCount returns the number of names and sub-names of the NodePath that starts
// with b. It reports false for what the slow path has to see.
func (d *Decoder) pathCount(b *[fastSize]byte) (uint32, bool) {
	names, subnames, bits := le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	n := uint64(names&^newPathBit) + uint64(subnames)
	ok := names >= newPathBit && bits <= pathAbsolute && n <= math.MaxInt32 && int64(n) <= d.bounds[limitElements] &&
		d.values+n <= uint64(d.bounds[limitValues]) && d.pos()+16+4*n <= d.valueEnd
	return uint32(n), ok
}

// openPath consumes the start of the NodePath that starts with b, as openFast does.
func (d *Decoder) openPath(b *[fastSize]byte) bool {
	n, ok := d.pathCount(b)
	if !ok {
		return false
	}
	pos := d.pos()
	d.values += uint64(n)
	if d.atKey() {
		d.keyPos = pos
	}
	f := d.push(KindNodePathStart, TypeNodePath, n)
	f.names, f.flags = le.Uint32(b[4:])&^newPathBit, tokenFlags(le.Uint32(b[12:]))*flagAbsolute
	d.keyPos, d.token = pos, 2*pos
	d.payload = payload{token: d.token, kind: KindNodePathStart}
	d.r += 16
	d.setWin()
	return true
}

// readDictKey returns the marker before a key.
func (d *Decoder) readDictKey() Token {
	d.marked, d.token = d.left, 2*d.pos()+1
	return Token{head: uint64(KindDictKey) | uint64(TypeDictionary)<<8}
}

// readEnd closes the innermost container.
func (d *Decoder) readEnd() Token {
	t := Token{head: uint64(KindEnd) | uint64(d.top().typ)<<8}
	d.token = 2*d.pos() + 1
	d.pop()
	if k := d.top().kind; d.win == nil || k != KindArrayStart && k != KindDictStart {
		d.setWin()
	}
	return t
}

// setWin switches the fast path on or off, and nothing else does. It is on in
// Arrays and Dictionaries, in NodePaths and PackedStringArrays, unless something has
// to be looked at in every call.
func (d *Decoder) setWin() {
	d.win, d.names = nil, nil
	if d.depth == 0 || d.depth > d.maxDepth || d.err != nil || d.skip.open > 0 || d.leave > 0 || d.payload.active || d.options.Strict {
		return
	}
	switch f := d.top(); {
	case f.kind == KindArrayStart || f.kind == KindDictStart:
		d.win = d.buf[:d.lim]
	case f.kind == KindNodePathStart || f.typ == TypePackedStringArray && f.kind == KindPackedStart:
		d.names = d.buf[:d.lim]
	}
}

// readSlow is ReadToken where the fast path ends.
func (d *Decoder) readSlow() (Token, error) {
	if err := d.start(); err != nil {
		return Token{}, err
	}
	return d.next()
}

// start is what every call does first that reads on, but for the fast path: it
// gives up what an interrupted call has left, skips what a loop has left and returns
// an error that was kept.
func (d *Decoder) start() error {
	d.token |= 1
	d.payload.active, d.skip = false, extent{}
	if d.err != nil {
		return d.failed()
	}
	if err := d.leaveLoop(); err != nil {
		return err
	}
	if d.left == 0 && d.depth == 0 {
		return errNotReset // Release leaves an error
	}
	d.setWin()
	return nil
}

// failed returns the error that was kept.
func (d *Decoder) failed() error {
	err := d.err
	if d.once {
		d.err, d.once = nil, false
	}
	return err
}

// next reads a token step by step. start came before it.
func (d *Decoder) next() (Token, error) {
	switch d.want() {
	case wantElem, wantKey, wantValue, wantField:
		return d.value()
	case wantTop:
		if err := d.beginValue(); err != nil {
			return Token{}, err
		}
		return d.value()
	case wantDictKey:
		return d.readDictKey(), nil
	case wantEnd:
		return d.readEnd(), nil
	case wantName:
		return d.text(d.top().typ, 0)
	case wantProperty:
		return d.property()
	case wantText:
		return d.textChunk()
	default:
		return d.chunk()
	}
}

// PeekKind returns the kind of the next token, and 0 where there is none: the
// error comes with the next ReadToken. A value's kind stands in its first four
// bytes, and no more are waited for.
func (d *Decoder) PeekKind() Kind {
	win, r := d.win, d.r
	if r > len(win)-fastSize {
		return d.peekSlow()
	}
	if d.left == 0 {
		d.token |= 1
		return KindEnd
	}
	if d.atKey() && d.marked != d.left {
		d.token |= 1
		return KindDictKey
	}
	h := le.Uint32(win[r:])
	form := &d.rows[h&63][h>>16&1]
	if h != form.header {
		return d.peekSlow()
	}
	d.token |= 1
	return form.kind
}

func (d *Decoder) peekSlow() Kind {
	d.token |= 1
	d.payload.active = false
	if d.err != nil {
		return 0
	}
	k, err := d.peekKind()
	if err != nil && d.err == nil { // errors of the reader are not kept otherwise
		d.err, d.once = err, true
	}
	d.setWin()
	return k
}

func (d *Decoder) peekKind() (Kind, error) {
	if err := d.leaveLoop(); err != nil {
		return 0, err
	}
	switch w := d.want(); {
	case w == wantNothing:
		return 0, nil
	case w > lastValue:
		return d.nextKind(w), nil
	}
	form, err := d.peekForm()
	if err != nil {
		return 0, err
	}
	return form.kind, nil
}

// nextKind returns the kind of the next token where that is no value.
func (d *Decoder) nextKind(w want) Kind {
	return [...]Kind{
		wantDictKey: KindDictKey, wantProperty: KindProperty, wantName: KindStringChunk,
		wantText: KindStringChunk, wantChunk: KindChunk, wantEnd: KindEnd,
	}[w]
}

// peekForm returns the form of the next value. It waits for the header and consumes
// nothing.
func (d *Decoder) peekForm() (*form, error) {
	if err := d.beginValue(); err != nil {
		return nil, err
	}
	b, err := d.peek(4)
	if err != nil {
		return nil, err
	}
	h := le.Uint32(b)
	row, err := d.row(h)
	if err != nil {
		return nil, err
	}
	return &row[h>>16&1], nil
}

// Tokens ranges over the tokens of the next value, or of what
// [Decoder.SkipValue] would skip in its place. After an error it stops; bulk
// reads and skips in the loop's body are fine.
func (d *Decoder) Tokens() iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) { d.eachToken(yield) }
}

func (d *Decoder) eachToken(yield func(Token, error) bool) {
	if err := d.leaveLoop(); err != nil {
		yield(Token{}, err)
		return
	}
	x := d.rest()
	for {
		t, err := d.ReadToken()
		if t.Kind() == KindDictKey && d.depth < x.open {
			left, pos := d.left, d.pos()
			if !yield(t, err) || d.depth != x.open-1 || d.left != left || d.pos() != pos {
				return
			}
			continue
		}
		if !yield(t, err) || err != nil || d.isOver(x) {
			return
		}
	}
}

// InputOffset returns how many bytes have been consumed since Reset: the offset
// right behind the latest token and its padding.
func (d *Decoder) InputOffset() int64 { return int64(d.pos() - d.origin) }

// Buffered returns what has been read and not consumed. It is valid until the
// next call that reads.
func (d *Decoder) Buffered() []byte { return d.buf[d.r:d.end:d.end] }

// AppendPath appends where the latest token stands: $ is the top-level value,
// ["name"] the value of a key or property, [3] an element, name or packed string,
// .value(3) the value of a key that is no string, .key(3) a key itself. Keys are
// quoted as in Go and cut at 32 bytes, the path at 200.
func (d *Decoder) AppendPath(dst []byte) []byte {
	return d.appendPath(dst, false, d.key)
}

// WrapError returns an [Error] for the caller's own objection to the latest
// token, with that token's offset and path.
func (d *Decoder) WrapError(err error) error {
	return &Error{Offset: int64(d.token/2 - d.origin), Path: string(d.AppendPath(nil)), Err: err}
}

// Depth returns how much is open: containers, paths, packed arrays, and a string
// between its chunks. At 0 the value is complete.
func (d *Decoder) Depth() int { return d.depth }

// StackIndex describes what is open at level i, from 1, the outermost, to
// Depth(): the kind of token that opened it, the index of the element, pair,
// property or name that was reached (-1 before the first), and how many were
// announced. Packed data and strings have no elements of their own here: their
// index is -1.
//
// Level 0 is around all values: of kind 0, the index of the latest top-level value
// and a count of -1. So is a level that is not open, with an index of -1.
func (d *Decoder) StackIndex(i int) (kind Kind, index, count int64) { return d.stackIndex(i) }

// pos is the position of the first byte not consumed.
func (d *Decoder) pos() uint64 { return d.base + uint64(d.r) }

// errorAt returns an Error about the next token, at bytes after r.
func (d *Decoder) errorAt(at int, err error) error {
	return &Error{
		Offset: int64(d.pos()-d.origin) + int64(at),
		Path:   string(d.appendPath(nil, true, d.key)),
		Err:    err,
	}
}

// fail returns an Error that stays.
func (d *Decoder) fail(at int, err error) error {
	d.err, d.once = d.errorAt(at, err), false
	d.setWin()
	return d.err
}

// beginValue is called where a top-level value may begin, and again if it was
// not there yet.
func (d *Decoder) beginValue() error {
	if d.depth > 0 {
		return nil
	}
	d.valueStart, d.values, d.strictSeen = d.pos(), 1, 0
	d.valueEnd = min(d.inputEnd, d.valueStart+uint64(d.bounds[limitBytes]))
	d.setLim()
	first := d.valueStart == d.origin
	if d.options.Strict && !first && d.inputEnd != math.MaxUint64 && d.valueStart < d.inputEnd {
		return d.strict(0, "bytes after the value")
	}
	if d.options.OneValue && !first {
		return io.EOF
	}
	return nil
}
