package recognize

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"math"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
)

// export contains the calls of package gdwire for this module.
var export = gdwire.Internal.Export(&internal.AllowInternalUse)

// A trial is the result of one reading of the head.
type trial struct {
	Reading
	manner
	content
	in      *Input
	decoder *gdwire.Decoder

	ending   ending
	end      int64   // the earliest end of the input according to the reading, or 0 if unknown
	trailing bool    // bytes follow a single value without a length
	open     bool    // the end of the value in a file is unknown, and the file can be packets
	refused  bool    // a value is invalid in this manner
	good     int     // packets consisting of one value
	unpacked int     // bytes of the content of compressed packets
	evidence float64 // see weigh

	all  bool          // all tokens are counted
	hash *maphash.Hash // of all tokens, or nil
}

// A manner tells how an input is read in a format and frame.
type manner struct {
	strict  bool // only values as engines write them
	several bool // consecutive values without lengths
}

// A content counts the values read.
type content struct {
	bits     float64 // of evidence in the values
	nullKeys int     // the most keys null in a Dictionary, at most 2
	values   int     // at the top level
	nulls    int     // of these, nulls at the end
	first    int     // and nulls at the start
}

// An ending is how a reading ends.
type ending uint8

const (
	damaged ending = iota // at an error
	zeroed                // with zeros after a value
	cut                   // the input ends inside a packet or value
	whole                 // with the input, or after the head as expected
)

// Evidence is counted in bits: n bits mean that a game is 2^n times as likely as chance to have written the
// bytes as read. The assumptions of a reading count against it.
const (
	headerBits = 24 // a header of 4 bytes, of which one byte can be one of many types
	smallBits  = 8  // a null, because zeros are common, or the length of a name
	lengthBits = 32 // a length filled by a value, and an end at the end of the input

	oddHeader  = 48 // bits in a header that engines do not write
	improbable = 12 // a number unlikely in any game, or a text with control characters
	hasNUL     = 48 // a text with NUL, never written by engines
	denormal   = 20 // a denormal number, because all small integers are denormal
	nullKey    = 24 // a key null, because zeros are common, or a second one

	godot2   = 32 // few games use this format, and any padding is accepted
	lenient  = 16 // padding or numbers that engines do not write
	unframed = 60 // several values without lengths

	nearTie  = 4  // a rival is worse by fewer bits
	sureBits = 40 // enough for Sure: one value up to the end of the input, even an improbable value
)

// assumed is the evidence against each ending. Damage explains any bytes.
var assumed = [...]float64{damaged: 76, zeroed: 24, cut: 52, whole: 0}

// weigh returns the evidence for the reading.
func (t *trial) weigh() float64 {
	bits := t.bits + lengthBits*float64(t.good) - nullKey*float64(t.nullKeys) - assumed[t.ending]
	if t.isOld() {
		bits -= godot2
	}
	if !t.strict {
		bits -= lenient
	}
	if t.several {
		bits -= unframed
	}
	switch known := t.in.known(); {
	case t.end > known: // a cut leaves one n-th with the probability 1/n
		bits -= math.Log2(float64(t.end) / float64(known))
	case t.end == t.in.Size:
		bits += lengthBits
	}
	return bits
}

// orBetter returns the trial with more evidence. Several values must be all of the input, and no zeros.
func (t *trial) orBetter(other *trial) *trial {
	if other.evidence <= t.evidence || other.several && (other.ending != whole || NullsFollow(other.values, other.nulls) || other.first > 1) {
		return t
	}
	return other
}

// rivals reports whether there is about as much evidence for t as for the best trial, or damage hides which
// lengths are right, or the best trial is a value with an unknown end and t is whole packets before a cut
// packet.
func (t *trial) rivals(best *trial) bool {
	return t.evidence > best.evidence-nearTie || best.open && t.ending == cut && t.good > 0 || t.evidence > 0 && best.isAstray() && t.Frame != Bare && t.Format == best.Format
}

// isAstray reports whether nothing confirms the lengths of a damaged input: they are not filled, and end far
// after the end of the input.
func (t *trial) isAstray() bool {
	return t.ending == damaged && t.good == 0 && t.end>>nearTie > t.in.known()
}

// isOld reports whether the format is used by few games and not chosen by the user.
func (t *trial) isOld() bool { return t.Format == gdwire.Godot2 && t.in.Formats == nil }

// certainty returns how reliable the reading is as the best reading.
func (t *trial) certainty() Certainty {
	switch {
	case t.ending == cut && t.strict:
		return CutShort
	case t.ending != whole || t.nullKeys > 1:
		return Damaged
	case t.strict && !t.several && !t.isOld() && (t.evidence >= sureBits || t.in.Size < 0) && t.in.known() >= minSure:
		return Sure
	}
	return Probably
}

// seed is the seed of all hashes, so that they can be compared.
var seed = maphash.MakeSeed()

// sum returns a hash of all tokens.
func (t *trial) sum() uint64 {
	again := &trial{Reading: t.Reading, manner: t.manner, in: t.in, end: t.end, hash: new(maphash.Hash)}
	again.hash.SetSeed(seed)
	again.read()
	return again.hash.Sum64()
}

// try reads the head. end is the offset after the lengths of the frame.
func (in *Input) try(r Reading, end int64, m manner) *trial {
	t := &trial{Reading: r, manner: m, in: in, end: end}
	t.read()
	t.evidence = t.weigh()
	return t
}

// read reads the head.
func (t *trial) read() {
	o := t.in.Decoder
	o.Format, o.Strict, o.AllowObjects = t.Format, t.strict, true
	o.Limits = gdwire.NoLimits
	o.OneValue = false
	t.decoder = gdwire.NewDecoder(nil, &o)
	defer t.decoder.Release()
	if t.Frame == Bare {
		t.readBare()
	} else {
		t.readFramed()
	}
}

// readBare reads a value without a length, or several if the manner allows it.
func (t *trial) readBare() {
	in := t.in
	for used := 0; ; {
		v := t.value(in.Head[used:])
		start := int64(used)
		used += v.size
		switch left := in.known() - int64(used); {
		case errors.Is(v.err, io.ErrUnexpectedEOF) && (in.whole() || in.Size >= 0 && start+v.least > in.Size):
			t.ending, t.end = cut, max(start+v.least, in.known()+1)
		case errors.Is(v.err, io.ErrUnexpectedEOF) && v.exact && in.Size >= 0:
			t.end = start + v.least
			if t.trailing = t.end < in.Size; !t.trailing {
				t.ending = whole
			}
		case errors.Is(v.err, io.ErrUnexpectedEOF) && len(in.Head) >= PipeSize:
			t.ending = whole // the value can end anywhere after the head
			t.open = in.Size >= 0 && (in.startsWith(U32) || in.startsWith(U32BE))
		case v.err != nil:
		case left == 0:
			t.ending, t.end = whole, in.known()
		case used == len(in.Head) && t.several:
			t.ending = whole
		case t.several:
			continue
		default:
			t.trailing = true
			if len(bytes.Trim(in.Head[used:], "\x00")) == 0 { // as after a power failure
				t.ending = zeroed
			}
		}
		return
	}
}

// readFramed reads length-prefixed packets. Each value must fill its packet, because engines write
// no other bytes.
func (t *trial) readFramed() {
	in := t.in
	good, invalid := true, 0 // so far
	offset := int64(0)
	for offset+lengthSize <= int64(len(in.Head)) && t.unpacked <= maxUnpacked && invalid <= maxInvalid {
		head := in.Head[offset:]
		n := int64(t.Frame.length(head))
		if n < minPacket { // and all later lengths are none
			good = false
			break
		}
		head = head[lengthSize:]
		complete := n <= int64(len(head))
		if complete {
			head = head[:n]
		}
		if offset == 0 && !complete && !in.whole() && len(in.Head) < PipeSize {
			return // wait for the rest of the packet
		}
		before := t.content
		switch fills, reads := t.packet(int(offset)+lengthSize, head, n); {
		case complete && fills:
			t.good++
		case good && !complete && reads:
		case in.sure:
			return // this trial cannot be sure
		default:
			if invalid++; !good { // another format can read much in invalid packets
				t.content = before
			}
			good = false
		}
		offset += lengthSize + n
	}
	switch {
	case !good || offset == 0:
	case offset < in.Size && offset > in.Size-lengthSize && in.whole() && len(bytes.Trim(in.Head[offset:], "\x00")) == 0:
		// less than a length, of zeros: damaged as after more of them
	case in.Size < 0 || t.end == in.Size:
		t.ending = whole
	default:
		t.ending = cut
	}
}

// packet reads the packet of n bytes at an offset, or the start b of an incomplete packet. It reports whether a value
// fills the packet, and whether the rest of the packet may complete the value.
func (t *trial) packet(offset int, b []byte, n int64) (fills, reads bool) {
	var c *Decompressed
	if t.strict { // any bytes can be lenient values of FastLZ
		c = t.in.decompress(offset, b, int64(len(b)) < n)
	}
	if c == nil {
		v := t.value(b)
		mayFill := v.least == n || v.least < n && !v.exact
		return v.err == nil && v.size == len(b), errors.Is(v.err, io.ErrUnexpectedEOF) && mayFill || len(b) == 0
	}
	t.unpacked += len(c.Content)
	if c.Cut && c.Sure && len(c.Content) < minPacket {
		t.bits += headerBits
		return true, true
	}
	v := t.value(c.Content)
	rest := c.Content[v.size:]
	whole := v.err == nil && (len(rest) == 0 || c.Zeros && len(bytes.Trim(rest, "\x00")) == 0)
	if c.Cut {
		reads = errors.Is(v.err, io.ErrUnexpectedEOF)
		return reads, reads || whole // a checksum follows
	}
	return whole, false
}

const (
	// lengthSize is the size of the length before a packet.
	lengthSize = 4
	// minPacket is the size of a header, the start of each value.
	minPacket = 4
	// maxUnpacked is the maximum number of bytes to read in the content of compressed packets. Later packets are taken
	// to be good.
	maxUnpacked = 1 << 20
	// maxInvalid is the maximum number of invalid packets. What follows more of them is not read.
	maxInvalid = 1 << 6
	// maxFollowed is the maximum number of lengths to follow. If there are more, they are taken to be
	// good.
	maxFollowed = 1 << 17
	// followBlock is the number of bytes read at once for lengths after the head.
	followBlock = 4 << 10
)

// lengthsEnd returns the offset of the end of packets by their lengths, as far as known.
func (in *Input) lengthsEnd(f Frame) int64 {
	if f == Bare {
		return 0
	}
	block, start, offset := in.Head, int64(0), int64(0)
	var after []byte // the head
	zeros := false
	for range maxFollowed {
		switch outside := offset+lengthSize > start+int64(len(block)); {
		case in.Size >= 0 && offset >= in.Size:
			return offset
		case in.Size >= 0 && offset > in.Size-lengthSize:
			return offset + lengthSize
		case outside && in.At == nil:
			return max(offset, in.Size)
		case outside:
			if after == nil {
				after = make([]byte, followBlock)
			}
			n, _ := in.At.ReadAt(after, offset)
			if block, start = after[:n], offset; n < lengthSize {
				return in.Size + lengthSize // the input is shorter now
			}
		}
		length := int64(f.length(block[offset-start:]))
		if zeros = zeros || length < minPacket; zeros && length > 0 {
			return in.Size + lengthSize // only zeros can follow packets
		}
		offset += lengthSize + length
	}
	return in.Size
}

// length returns the length at the start of b.
func (f Frame) length(b []byte) uint32 { return f.Order().Uint32(b) }

// PlainHeader reports whether the header at the start of b contains only bits that engines write.
func PlainHeader(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	h := binary.LittleEndian.Uint32(b)
	flags := uint32(1)
	switch h & 0xff {
	case 28: // Array of Godot 4
		flags = 3
	case 27: // Dictionary of Godot 4
		flags = 15
	}
	return h&^(0xff|flags<<16) == 0
}

// A value is the result of reading a value.
type value struct {
	size  int   // bytes read
	err   error // io.ErrUnexpectedEOF if the value does not end in these bytes
	least int64 // then the minimum size of the value
	exact bool  // least is the size of the value
}

// enough is the evidence in the start of a value after which the rest is checked and not counted: a third of the
// instructions. Zeros at the end of b are counted, because they can be null keys.
const enough = 1 << 10

// mostTypes is more than the types of any format.
const mostTypes = 64

// value reads the value at the start of b, and counts the evidence for it. The value can end after b.
func (t *trial) value(b []byte) value {
	d, before := t.decoder, t.content
	sample := t.strict && !t.all && t.hash == nil && !endsInZeros(b) && !endsInZeros(t.in.Head) // of all readings, or of none
	t.values++
	if len(b) >= minPacket && (b[0] >= mostTypes || t.strict && !PlainHeader(b)) { // most packets of other bytes are refused here
		t.refused = true
		return value{err: gdwire.ErrType}
	}
	export.ResetStart(d, b)
	r := valueReader{content: &t.content, Decoder: d}
	for at := int64(0); ; at = d.InputOffset() {
		token, err := d.ReadToken()
		switch {
		case err == nil:
		case errors.Is(err, io.ErrUnexpectedEOF):
			if at == 0 && len(b) > minPacket { // a long text
				t.bits += headerBits
			}
			return t.cut(b)
		default:
			t.refused = true
			return value{size: int(d.InputOffset()), err: err}
		}
		r.token(token)
		if !t.strict && r.hasHeader && !PlainHeader(b[at:]) {
			t.bits -= headerBits + oddHeader
		}
		if t.hash != nil {
			add(t.hash, token)
		}
		counted, bits := d.InputOffset(), t.bits-before.bits
		if sample && bits > enough && d.Depth() > 0 {
			err := d.SkipTo(0)
			isCut := errors.Is(err, io.ErrUnexpectedEOF) && r.isBetween(b)
			if err != nil && !isCut {
				t.content, t.all = before, true
				return t.value(b)
			}
			t.bits += bits * float64(d.InputOffset()-counted) / float64(counted)
			if isCut {
				return t.cut(b)
			}
		}
		if d.Depth() == 0 {
			if t.nulls == t.values {
				t.first = t.nulls
			}
			return value{size: int(d.InputOffset())}
		}
	}
}

// endsInZeros reports whether b ends in zeros that can be null keys.
func endsInZeros(b []byte) bool { return bytes.HasSuffix(b, make([]byte, 2*minPacket)) }

// A valueReader counts the evidence for a value, token by token.
type valueReader struct {
	*content
	*gdwire.Decoder
	keys NullKeys

	hasHeader bool // the latest token starts with the header of a value
	inText    bool // the rest of a text follows
}

// token counts the latest token.
func (r *valueReader) token(t gdwire.Token) {
	nulls, keys := r.nulls, r.keys.Next(r.Decoder, t)
	r.hasHeader, r.nulls = true, 0
	bits := float64(headerBits)
	switch t.Kind() {
	case gdwire.KindDictKey, gdwire.KindEnd:
		r.hasHeader = false
		return
	case gdwire.KindNil:
		bits = smallBits
		if r.Depth() == 0 {
			r.nulls = nulls + 1
		} else if keys > 0 {
			bits = 0
			r.nullKeys = max(r.nullKeys, keys)
		}
	case gdwire.KindProperty, gdwire.KindSignal: // names have no header
		r.hasHeader, bits = false, smallBits-unlikelyText(t)
	case gdwire.KindStringChunk:
		bits = r.text(t) - unlikelyText(t)
	case gdwire.KindObjectStart:
		bits -= unlikelyText(t)
	case gdwire.KindChunk:
		r.hasHeader, bits = false, -unlikelyReals(t)
	case gdwire.KindFloat32, gdwire.KindFloat64:
		bits -= unlikely(t.Float(), t.Width()/8)
	default:
		if t.Components() > 0 {
			bits -= unlikelyReals(t)
		}
	}
	r.bits += bits
}

// text returns the evidence in the header of a text with the chunk t. Names, and texts in packed arrays, are
// written without a header.
func (r *valueReader) text(t gdwire.Token) float64 {
	first := !r.inText
	r.inText = !t.Last()
	r.hasHeader = first && (t.Type() == gdwire.TypeString || t.Type() == gdwire.TypeStringName)
	switch {
	case r.hasHeader:
		return headerBits
	case first:
		return smallBits
	}
	return 0
}

// isBetween reports whether b ends between two values of a container or in the first bytes of a value, and not in the data of a
// packed array or long text, whose evidence is not that of the values before.
func (r *valueReader) isBetween(b []byte) bool {
	const short = 16
	around, _, _ := r.StackIndex(r.Depth())
	return (around == gdwire.KindArrayStart || around == gdwire.KindDictStart) && int64(len(b))-r.InputOffset() < short
}

// cut returns the value of which b is the start, with the size that its lengths and counts give.
func (t *trial) cut(b []byte) value {
	size, rest, _ := export.Measure(t.decoder, b, 1)
	n := int64(len(b))
	return value{size: len(b), err: io.ErrUnexpectedEOF, least: max(size+minPacket*rest, n), exact: rest == 0 && size > n}
}

// add adds a token to a hash.
func add(h *maphash.Hash, t gdwire.Token) {
	var head [18]byte
	head[0], head[1] = byte(t.Kind()), byte(t.Type())
	number := uint64(t.Int())
	if k := t.Kind(); k == gdwire.KindFloat32 || k == gdwire.KindFloat64 {
		number = math.Float64bits(t.Float())
	}
	binary.LittleEndian.PutUint64(head[2:], number)
	binary.LittleEndian.PutUint64(head[10:], uint64(t.Len())^t.ID())
	_, _ = h.Write(head[:])
	_, _ = h.Write(t.Bytes())
}

// unlikelyText returns the evidence against a text, because of control characters.
func unlikelyText(t gdwire.Token) float64 {
	switch b := t.Bytes(); {
	case !slices.ContainsFunc(b, isControl):
		return 0
	case bytes.IndexByte(b, 0) >= 0:
		return hasNUL
	}
	return improbable
}

// isControl reports whether c is a control character other than line breaks and tabs.
func isControl(c byte) bool {
	return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f
}

const (
	tiny, huge = 1e-12, 1e15 // smaller and larger numbers are improbable
)

// unlikely returns the evidence against a number of 4 or 8 bytes. Bytes read as a wrong type give very small and
// very large numbers, and small integers give denormal numbers.
func unlikely(x float64, width int) float64 {
	smallest := 0x1p-126 // with a full mantissa
	if width == 8 {
		smallest = 0x1p-1022
	}
	switch a := math.Abs(x); {
	case a > 0 && a < smallest:
		return denormal
	case a < tiny && a > 0 || a > huge && !math.IsInf(a, 1): // NaN is neither
		return improbable
	}
	return 0
}

// unlikelyReals returns the evidence against a math type or a chunk of a packed array, from the most unlikely of its numbers.
func unlikelyReals(t gdwire.Token) (bits float64) {
	switch _, integers := t.Type().Components(); {
	case integers, t.Type() == gdwire.TypePackedByteArray, t.Type() == gdwire.TypePackedInt32Array, t.Type() == gdwire.TypePackedInt64Array, t.Type() == gdwire.TypeImage:
		return 0
	}
	width := t.Width() / 8
	for b := t.Bytes(); len(b) >= width; b = b[width:] {
		x := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		if width == 8 {
			x = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
		bits = max(bits, unlikely(x, width))
	}
	return bits
}

// NullKeys finds Dictionaries with the key null twice. Zeros in place of the end of a file are read as
// nulls, and no engine writes a key twice. The zero value is ready for use.
type NullKeys struct {
	found []int // by depth, the keys null in the Dictionary there, at most 2
	isKey bool  // the next token starts a key
}

// Next returns the number of keys null so far, at most 2, in the Dictionary of which t, the latest token of d, is one, or 0.
func (n *NullKeys) Next(d *gdwire.Decoder, t gdwire.Token) int {
	k, isKey, depth := t.Kind(), n.isKey, d.Depth()
	n.isKey = k == gdwire.KindDictKey
	switch {
	case k == gdwire.KindDictStart:
		n.found = append(n.found, make([]int, max(depth+1-len(n.found), 0))...)
		n.found[depth] = 0
	case isKey && k == gdwire.KindNil:
		n.found[depth] = min(n.found[depth]+1, 2)
		return n.found[depth]
	}
	return 0
}

// NullsFollow reports whether the nulls at the end of several values without lengths can be zeros in
// place of the end of a file: all values after the first are null, or more than one is.
func NullsFollow(values, nulls int) bool {
	return values > 1 && (nulls >= values-1 || nulls > 1)
}
