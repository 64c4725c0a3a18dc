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
	src     io.Reader // nil after ResetBytes
	srcErr  error     // came with bytes; due when these are used up
	err     error     // comes with every call, or if once is set with the next
	once    bool
	at      uint64 // where the latest token starts
	payload payload
	bulk    bulk   // what AppendString, Payload and ReadPacked go on with
	skip    int    // the depth an interrupted SkipValue or CopyValue goes on to, plus one
	unsent  unsent // what an interrupted CopyValue still has to write

	leave     int    // the depth of the outermost container that a loop has left, 0 for none
	keys      []byte // of the loops under way
	partial   []byte // what an interrupted ReadString or ReadNodePath has read
	partialAt uint64 // the token that it began with

	origin uint64 // where offset 0 is
	stop   uint64 // where the input ends, if its length was given
	begin  uint64 // where the top-level value begins
	until  uint64 // where it ends at the latest, by Limits.Bytes or stop
	values uint64 // announced so far in it
	seen   seen   // what Strict has seen in it

	options  DecoderOptions
	bounds   bounds
	rows     *[64]row
	idMask   uint32
	maxDepth int
	size     int    // of the window
	whole    int    // strings up to here are one chunk and within Limits
	short    uint32 // the same, of those that take the straight road
	buffer   *bytebufferpool.ByteBuffer
	saved    []savedKey
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
	d.stop = d.base + uint64(max(n, 0))
}

// ResetBytes is ResetN for bytes in memory. They are not copied: what tokens
// hold are parts of b.
func (d *Decoder) ResetBytes(b []byte) {
	d.reset()
	d.buf, d.end, d.lim = b, len(b), len(b)
	d.stop = d.base + uint64(len(b))
}

func (d *Decoder) reset() {
	if d.rows == nil {
		d.settle()
	}
	d.state.reset()
	d.forget()
	d.base += uint64(d.end) + 1
	d.origin, d.begin, d.at, d.stop = d.base, d.base, d.base, math.MaxUint64
	d.r, d.lim, d.end = 0, 0, 0
	d.buf, d.src, d.srcErr, d.err = nil, nil, nil, nil
}

// settle works out what the options come to.
func (d *Decoder) settle() {
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
	d.idMask = o.Format.idMask
	d.maxDepth = int(min(d.bounds[limitDepth], math.MaxInt))
	d.whole = int(min(int64(d.size), d.bounds[limitString]))
	if o.Strict { // looks at every header and every string
		d.maxDepth, d.whole = -1, -1
	}
	d.short = uint32(max(min(d.whole, 8), 0))
}

// Release gives the window back to the pool. Until the next Reset every call
// returns [ErrReleased], and tokens that were not cloned are void.
func (d *Decoder) Release() {
	d.forget()
	d.shut()
	d.saved = nil
	d.err, d.once = ErrReleased, false
	d.base += uint64(d.end) + 1
	d.origin = d.base
	d.r, d.lim, d.end = 0, 0, 0
	d.buf, d.src, d.srcErr = nil, nil, nil
	if d.buffer != nil {
		putBuffer(d.buffer)
		d.buffer = nil
	}
}

// forget makes everything void that was said of the latest token.
func (d *Decoder) forget() {
	d.live = 0
	d.bulk.kind = 0
	d.skip, d.leave = 0, 0
	d.keys = d.keys[:0]
	d.partial, d.partialAt = nil, 0
}

// ReadToken returns the next token: io.EOF between two values if there is none,
// and inside one io.ErrUnexpectedEOF in an [Error].
//
// It returns as soon as the token's bytes are there, and asks the reader for no
// byte it does not need. DictKey and End read nothing.
func (d *Decoder) ReadToken() (Token, error) {
	d.skip = 0
	if d.leave > 0 {
		if err := d.leaveLoop(); err != nil {
			return Token{}, err
		}
	}
	return d.next()
}

// next is ReadToken but for an interrupted skip, which it goes on with.
//
// What stands whole in the window needs no asking: how much of the window may be
// read is bounded by the input's length and Limits.Bytes already. So words,
// components and short strings, most of all tokens, take the straight road here;
// everything else is found out step by step.
func (d *Decoder) next() (Token, error) {
	d.live = 0
	d.bulk.kind = 0
	if d.err != nil {
		return Token{}, d.failed()
	}
	f := d.current()
	switch f.want {
	case wantElem, wantKey, wantValue, wantField:
		if d.lim-d.r < straightSize || d.depth > d.maxDepth {
			return d.value()
		}
		b := (*[straightSize]byte)(d.buf[d.r : d.r+straightSize : d.r+straightSize])
		h := le.Uint32(b[:])
		if h&d.idMask >= uint32(len(d.rows)) {
			return d.value()
		}
		form := &d.rows[h&63][h>>16&1]
		pos := d.pos()
		switch form.shape {
		case shapeText:
			n := le.Uint32(b[4:])
			if n-1 < d.short && plainText(le.Uint64(b[8:]), n) {
				d.r += 8 + int(padded(n))
				d.step()
				d.at, d.live = pos, pos+8
				d.bulk.kind, d.bulk.left = KindStringChunk, int(n)
				return Token{head: form.head | uint64(n)<<32, bits: uint64(n), win: &d.window, pos: pos + 8}, nil
			}
		case shapeWord:
			d.r += 4 + int(form.size)
			d.step()
			d.at = pos
			return Token{head: form.head, bits: le.Uint64(b[4:]) & form.mask}, nil
		case shapeMaths:
			if end := d.r + 4 + int(form.size); end <= d.lim {
				d.r = end
				d.step()
				d.at, d.live = pos, pos+4
				return Token{head: form.head, win: &d.window, pos: pos + 4}, nil
			}
		case shapeArray, shapeDict:
			return d.container(form, h>>16&uint32(form.flags))
		case shapePacked, shapePackedStrings:
			return d.packed(form)
		case shapePath:
			return d.path()
		}
		return d.value()
	case wantDictKey:
		d.at = d.pos()
		f.mark = d.at
		f.want = wantKey
		return Token{head: uint64(KindDictKey) | uint64(TypeDictionary)<<8}, nil
	case wantEnd:
		d.at = d.pos()
		d.pop()
		return Token{head: uint64(KindEnd) | uint64(f.typ)<<8}, nil
	case wantTop:
		if err := d.beginValue(); err != nil {
			return Token{}, err
		}
		return d.value()
	case wantName:
		if d.lim-d.r >= straightSize {
			b := (*[straightSize]byte)(d.buf[d.r : d.r+straightSize : d.r+straightSize])
			if n := le.Uint32(b[:]); n-1 < d.short && plainText(le.Uint64(b[4:]), n) {
				pos := d.pos()
				d.r += 4 + int(padded(n))
				d.step()
				d.at, d.live = pos, pos+4
				if f.typ == TypePackedStringArray {
					n -= d.trailingNUL(b[4 : 4+n])
				}
				d.bulk.kind, d.bulk.left = KindStringChunk, int(n)
				const head = uint64(KindStringChunk) | uint64(flagLast)<<16
				return Token{head: head | uint64(f.typ)<<8 | uint64(n)<<32, bits: uint64(n), win: &d.window, pos: pos + 4}, nil
			}
		}
		return d.text(f.typ, 0)
	case wantProperty:
		return d.property()
	case wantText:
		return d.textChunk(d.top.typ, 0, d.top.left, d.top.count)
	case wantChunk:
		return d.chunk(math.MaxInt)
	}
	return Token{}, ErrReleased
}

// failed returns the error that was kept. It is not inlined, which would cost next
// two loads a token.
//
//go:noinline
func (d *Decoder) failed() error {
	err := d.err
	if d.once {
		d.err, d.once = nil, false
	}
	return err
}

// ready returns the error that was kept, if there is one.
func (d *Decoder) ready() error {
	switch {
	case d.err != nil:
		return d.failed()
	case d.current().want == wantNothing:
		return ErrReleased
	}
	return nil
}

// PeekKind returns the kind of the next token, and 0 where there is none: the
// error comes with the next ReadToken. A value's kind stands in its first four
// bytes, and no more are waited for.
func (d *Decoder) PeekKind() Kind {
	if err := d.leaveLoop(); err != nil {
		d.keep(err)
	}
	d.live = 0
	d.bulk.kind = 0
	if d.err != nil {
		return 0
	}
	switch w := d.current().want; {
	case w == wantNothing:
		return 0
	case w > lastValue:
		return d.top.nextKind()
	}
	k, err := d.peekValue()
	if err != nil {
		d.keep(err)
	}
	return k
}

// keep keeps an error for the next call. Errors of the reader are not kept
// otherwise.
func (d *Decoder) keep(err error) {
	if d.err == nil {
		d.err, d.once = err, true
	}
}

// peekValue returns the kind of the next value's first token.
func (d *Decoder) peekValue() (Kind, error) {
	if err := d.beginValue(); err != nil {
		return 0, err
	}
	b, err := d.need(4)
	if err != nil {
		return 0, err
	}
	h := le.Uint32(b)
	row, err := d.row(h)
	if err != nil {
		return 0, err
	}
	return row[h>>16&1].kind, nil
}

// nextKind is what comes next where that is no value.
func (f *frame) nextKind() Kind {
	return [...]Kind{
		wantDictKey: KindDictKey, wantProperty: KindProperty, wantName: KindStringChunk,
		wantText: KindStringChunk, wantChunk: KindChunk, wantEnd: KindEnd,
	}[f.want]
}

// Tokens ranges over the tokens of the next value, or of what
// [Decoder.SkipValue] would skip in its place. After an error it stops; bulk
// reads and skips in the loop's body are fine.
func (d *Decoder) Tokens() iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		if err := d.leaveLoop(); err != nil {
			yield(Token{}, err)
			return
		}
		depth := d.Depth()
		for {
			t, err := d.ReadToken()
			if !yield(t, err) || err != nil {
				return
			}
			if d.Depth() <= depth && t.Kind() != KindDictKey {
				return
			}
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
	return d.appendPath(dst, false, d.keyText)
}

// WrapError returns an [Error] for the caller's own objection to the latest
// token, with that token's offset and path.
func (d *Decoder) WrapError(err error) error {
	return &Error{Offset: int64(d.at - d.origin), Path: string(d.AppendPath(nil)), Err: err}
}

// pos is the position of the first byte not consumed.
func (d *Decoder) pos() uint64 { return d.base + uint64(d.r) }

// fail makes an Error that stays. The fault is at bytes behind pos, in the token
// under way.
func (d *Decoder) fail(at int, err error) error {
	d.err = &Error{
		Offset: int64(d.pos()-d.origin) + int64(at),
		Path:   string(d.appendPath(nil, true, d.keyText)),
		Err:    err,
	}
	return d.err
}

// beginValue is called where a top-level value may begin, and again if it was
// not there yet.
func (d *Decoder) beginValue() error {
	if d.top.want != wantTop {
		return nil
	}
	d.begin, d.values, d.seen = d.pos(), 1, 0
	d.until = min(d.stop, d.begin+uint64(d.bounds[limitBytes]))
	d.limitWindow()
	if d.options.Strict && d.begin > d.origin && d.stop != math.MaxUint64 && d.begin < d.stop {
		return d.strict(0, "bytes behind the value")
	}
	if d.options.OneValue && d.begin > d.origin {
		return io.EOF
	}
	return nil
}
