package recognize

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"math"

	"github.com/gdwire/gdwire"
)

// A trial is the result of one reading of the head.
type trial struct {
	Reading
	manner
	content
	in      *Input
	decoder *gdwire.Decoder

	ending   ending
	end      int64   // the offset at which the reading says that the input ends, or 0 if it does not say
	trailing int     // bytes after a single value without a length
	good     int     // packets that are one value
	sum      uint64  // a hash of all tokens
	evidence float64 // see weigh

	hash maphash.Hash
}

// A manner is how an input is read in a format and frame.
type manner struct {
	strict  bool // only what engines write
	several bool // values that follow each other without lengths
}

// A content tells what was read.
type content struct {
	bits        float64 // of evidence in the headers of values
	headers     int     // of values
	implausible bool    // there are improbable numbers or texts
	denormal    bool    // there is a component that is denormal
	nullKeys    bool    // a Dictionary contains the key null twice
	values      int     // at the top level
	nulls       int     // of these, nulls at the end
}

// An ending is how a reading ends.
type ending uint8

const (
	damaged ending = iota // at an error
	zeroed                // with zeros after a value
	cut                   // the input ends inside a packet or value
	whole                 // with the input, or after the head as it should
)

// Evidence is counted in bits: n bits say that a game is 2^n times as likely to have written the bytes as they
// are read as chance is. What a reading has to assume is counted against it.
const (
	headerBits = 24 // a header of 4 bytes, of which one byte can be one of many types
	smallBits  = 8  // a null, because zeros are common, or the length of a name
	lengthBits = 32 // a length that a value fills, and an end that is the end of the input

	oddHeader    = 48 // bits in a header that engines do not write
	godot2       = 32 // few games use it, and it accepts any padding
	lenient      = 16 // padding or numbers that engines do not write
	unframed     = 60 // several values without lengths
	improbable   = 20 // improbable numbers or texts
	denormalOnly = 12 // any bytes can be read as a math type, but then some components are often denormal
	doubleKey    = 24 // a key null twice

	nearTie = 4 // the evidence of a rival is less by fewer bits
)

// assumed is the evidence against each ending. Damage explains any bytes.
var assumed = [...]float64{damaged: 76, zeroed: 24, cut: 52, whole: 0}

// weigh returns the evidence for the reading.
func (t *trial) weigh() float64 {
	bits := t.bits + lengthBits*float64(t.good) - assumed[t.ending]
	for _, against := range [...]struct {
		applies bool
		bits    float64
	}{
		{t.isOld(), godot2}, {!t.strict, lenient}, {t.several, unframed},
		{t.implausible, improbable}, {t.isDenormal(), denormalOnly}, {t.nullKeys, doubleKey},
	} {
		if against.applies {
			bits -= against.bits
		}
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
	if other.evidence <= t.evidence || other.several && (other.ending != whole || NullsFollow(other.values, other.nulls)) {
		return t
	}
	return other
}

// rivals reports whether there is about as much evidence for t as for the best trial, or damage hides which
// lengths are right.
func (t *trial) rivals(best *trial) bool {
	return t.evidence > best.evidence-nearTie || t.evidence > 0 && best.isAstray() && t.Frame != Bare && t.Format == best.Format
}

// isAstray reports whether nothing confirms the lengths of a damaged input: they are not filled, and end far
// after its end.
func (t *trial) isAstray() bool {
	return t.ending == damaged && t.good == 0 && t.end>>nearTie > t.in.known()
}

// isOld reports whether the format is one that few games use, and that the user has not chosen.
func (t *trial) isOld() bool { return t.Format == gdwire.Godot2 && t.in.Formats == nil }

// isDenormal reports whether there is nothing but a math type with a denormal component. In a container or
// after lengths a game has computed it.
func (t *trial) isDenormal() bool { return t.denormal && t.headers == 1 && t.Frame == Bare }

// certainty returns how reliable the reading is if it is the best.
func (t *trial) certainty() Certainty {
	switch {
	case t.ending == cut && t.strict:
		return CutShort
	case t.ending != whole || t.nullKeys:
		return Damaged
	case t.strict && !t.several && !t.isOld() && !t.isDenormal() && t.in.known() >= minSure:
		return Sure
	}
	return Probably
}

// seed is the seed of all hashes, which are compared with each other.
var seed = maphash.MakeSeed()

// try reads the head. The lengths of the frame end at an offset.
func (in *Input) try(r Reading, end int64, m manner) *trial {
	t := &trial{Reading: r, manner: m, in: in, end: end}
	t.hash.SetSeed(seed)
	o := in.Decoder
	o.Format, o.Strict, o.AllowObjects = r.Format, m.strict, true
	o.Limits = gdwire.NoLimits
	o.OneValue = false
	t.decoder = gdwire.NewDecoder(nil, &o)
	defer t.decoder.Release()
	if r.Frame == Bare {
		t.readBare()
	} else {
		t.readFramed()
	}
	t.sum = t.hash.Sum64()
	t.evidence = t.weigh()
	return t
}

// readBare reads a value without a length, or several if the manner allows it.
func (t *trial) readBare() {
	in := t.in
	for used := 0; ; {
		n, err := t.value(in.Head[used:])
		used += n
		switch left := int(in.known()) - used; {
		case err == io.ErrUnexpectedEOF && in.whole():
			t.ending = cut
		case err == io.ErrUnexpectedEOF && len(in.Head) >= PipeSize:
			t.ending = whole // it can end anywhere after the head
		case err != nil:
		case left == 0:
			t.ending, t.end = whole, in.known()
		case used == len(in.Head) && t.several:
			t.ending = whole
		case t.several:
			continue
		default:
			t.trailing = left
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
	good := true // so far
	offset := int64(0)
	for offset+lengthSize <= int64(len(in.Head)) {
		head := in.Head[offset:]
		n := int64(t.Frame.length(head))
		head = head[lengthSize:]
		complete := n <= int64(len(head))
		if complete {
			head = head[:n]
		}
		if offset == 0 && !complete && !in.whole() && len(in.Head) < PipeSize {
			return // wait for the rest of the packet
		}
		before := t.content
		switch fills, reads := t.packet(int(offset)+lengthSize, head, complete); {
		case complete && fills:
			t.good++
		case good:
			good = !complete && reads
		default: // another format can read much in invalid packets
			t.content = before
		}
		offset += lengthSize + n
	}
	switch {
	case !good || offset == 0:
	case in.Size < 0 || t.end == in.Size:
		t.ending = whole
	default:
		t.ending = cut
	}
}

// packet reads a packet at an offset, or its start if it is not complete. It reports whether a value fills it, and
// whether nothing speaks against more of it.
func (t *trial) packet(offset int, b []byte, complete bool) (fills, reads bool) {
	var c *Decompressed
	if t.strict { // any bytes can be lenient values of FastLZ
		c = t.in.decompress(offset, b, !complete)
	}
	if c == nil {
		used, err := t.value(b)
		return err == nil && used == len(b), err == io.ErrUnexpectedEOF || len(b) == 0
	}
	if c.Cut && c.Sure && len(c.Content) < minPacket {
		t.bits += headerBits
		return true, true
	}
	used, err := t.value(c.Content)
	rest := c.Content[used:]
	whole := err == nil && (len(rest) == 0 || c.Zeros && len(bytes.Trim(rest, "\x00")) == 0)
	if c.Cut {
		reads = err == io.ErrUnexpectedEOF
		return reads, reads || whole // a checksum follows
	}
	return whole, false
}

const (
	// lengthSize is the size of the length that precedes a packet.
	lengthSize = 4
	// minPacket is the size of a header, with which each value begins.
	minPacket = 4
	// maxFollowed is the maximum number of lengths that are followed. If there are more, they are taken to
	// be good.
	maxFollowed = 1 << 17
	// followBlock is the number of bytes that are read at once for those after the head.
	followBlock = 4 << 10
)

// lengthsEnd returns the offset at which the lengths of packets end, as far as they are known.
func (in *Input) lengthsEnd(f Frame) int64 {
	if f == Bare {
		return 0
	}
	block, start, offset := in.Head, int64(0), int64(0)
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
			block, start = make([]byte, followBlock), offset
			n, _ := in.At.ReadAt(block, offset)
			if block = block[:n]; n < lengthSize {
				return in.Size + lengthSize // it is shorter now
			}
		}
		length := int64(f.length(block[offset-start:]))
		if zeros = zeros || length < minPacket; zeros && length > 0 {
			return in.Size + lengthSize // only zeros follow packets, if anything does
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

// value reads the value at the start of b and returns the number of bytes read. If b ends
// inside the value, it returns io.ErrUnexpectedEOF.
func (t *trial) value(b []byte) (int, error) {
	d := t.decoder
	d.Reset(bytes.NewReader(b))
	t.values++
	var keys NullKeys
	at := int64(0) // the offset of the next token
	rest := false  // the rest of a text follows
	for token, err := range d.Tokens() {
		switch {
		case err == nil:
			t.nullKeys = t.nullKeys || keys.Twice(d, token)
			if t.nulls++; token.Kind() != gdwire.KindNil || d.Depth() > 0 {
				t.nulls = 0
			}
			if !rest {
				t.count(d, token, b[at:])
			}
			rest = token.Kind() == gdwire.KindStringChunk && !token.Last()
			t.token(token)
			at = d.InputOffset()
		case errors.Is(err, io.ErrUnexpectedEOF):
			if at == 0 && len(b) > minPacket { // a long text
				t.header(gdwire.KindStringChunk, b)
			}
			return len(b), io.ErrUnexpectedEOF
		default:
			return int(d.InputOffset()), err
		}
	}
	return int(d.InputOffset()), nil
}

// count counts the evidence of t, the latest token of d, which starts with b. Names, and texts in packed arrays,
// have no header.
func (t *trial) count(d *gdwire.Decoder, token gdwire.Token, b []byte) {
	around, _, _ := d.StackIndex(d.Depth())
	switch k := token.Kind(); {
	case k == gdwire.KindDictKey, k == gdwire.KindEnd, k == gdwire.KindChunk:
	case k == gdwire.KindProperty, k == gdwire.KindSignal,
		k == gdwire.KindStringChunk && (around == gdwire.KindNodePathStart || around == gdwire.KindPackedStart):
		t.bits += smallBits
	default:
		t.header(k, b)
	}
}

// header counts the header of a value at the start of b.
func (t *trial) header(k gdwire.Kind, b []byte) {
	t.headers++
	switch {
	case !PlainHeader(b):
		t.bits -= oddHeader
	case k == gdwire.KindNil:
		t.bits += smallBits
	default:
		t.bits += headerBits
	}
}

const (
	tiny, huge = 1e-12, 1e15 // smaller and larger numbers are implausible
)

// token updates the trial for a token.
func (t *trial) token(token gdwire.Token) {
	b := token.Bytes()
	var head [18]byte
	head[0], head[1] = byte(token.Kind()), byte(token.Type())
	number := uint64(token.Int())
	if k := token.Kind(); k == gdwire.KindFloat32 || k == gdwire.KindFloat64 {
		number = math.Float64bits(token.Float())
	}
	binary.LittleEndian.PutUint64(head[2:], number)
	binary.LittleEndian.PutUint64(head[10:], uint64(token.Len())^token.ID())
	_, _ = t.hash.Write(head[:])
	_, _ = t.hash.Write(b)

	switch token.Kind() {
	case gdwire.KindStringChunk, gdwire.KindProperty, gdwire.KindSignal, gdwire.KindObjectStart:
		t.check(!hasControl(b))
	case gdwire.KindFloat32, gdwire.KindFloat64:
		t.check(plausible(token.Float()))
	case gdwire.KindChunk:
		t.chunk(token)
	default:
		var all [16]float64
		for _, x := range token.AppendComponents(all[:0]) {
			t.check(plausible(x))
			t.denormal = t.denormal || isDenormal(x, token.Width())
		}
	}
}

func (t *trial) check(plausible bool) { t.implausible = t.implausible || !plausible }

// chunk updates the trial for packed floats.
func (t *trial) chunk(token gdwire.Token) {
	b := token.Bytes()
	switch token.Type() {
	case gdwire.TypePackedByteArray, gdwire.TypePackedInt32Array, gdwire.TypePackedInt64Array, gdwire.TypeImage:
		return
	}
	switch token.Width() {
	case 32:
		for ; len(b) >= 4; b = b[4:] {
			t.check(plausible(float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))))
		}
	case 64:
		for ; len(b) >= 8; b = b[8:] {
			t.check(plausible(math.Float64frombits(binary.LittleEndian.Uint64(b))))
		}
	}
}

// plausible reports whether a game is likely to have the number x. Bytes that are read as another
// type than they are give very small and very large numbers.
func plausible(x float64) bool {
	a := math.Abs(x)
	implausible := a < tiny && a > 0 || a > huge && !math.IsInf(a, 1) // NaN is not
	return !implausible
}

// isDenormal reports whether x is smaller than the numbers with a full mantissa of 32 or 64 bits, as no
// game computes them.
func isDenormal(x float64, bits int) bool {
	smallest := 0x1p-126
	if bits == 64 {
		smallest = 0x1p-1022
	}
	return x != 0 && math.Abs(x) < smallest
}

// hasControl reports whether a text contains control characters other than line breaks and tabs.
func hasControl(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}
