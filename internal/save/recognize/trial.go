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
	attempt
	search  *search
	decoder *gdwire.Decoder

	whole       bool   // all bytes of the head were read
	cut         bool   // whole, but the input ends inside a packet or value
	implausible bool   // it contains improbable numbers or texts
	denormal    bool   // it contains a component that is denormal
	nullKeys    bool   // a Dictionary contains the key null twice
	count       int    // values at the top level
	nulls       int    // of these, nulls at the end
	plainHeader bool   // the first header contains only bits that engines write
	values      uint64 // a hash of all tokens
	headers     int    // values
	leaves      int    // values other than containers that were read
	used        int    // bytes up to the first error, and of valid packets after it
	trailing    int    // bytes after the value, without a frame
	good        int    // packets that are one value
	end         int64  // the offset at which the lengths end; without lengths, the known size of the input

	hash maphash.Hash
}

// seed is the seed of all hashes, which are compared with each other.
var seed = maphash.MakeSeed()

// read returns the trial for an attempt. It reads the head once for each attempt.
func (s *search) read(a attempt) *trial {
	t := s.trials[a]
	if t == nil {
		t = s.readNew(a)
		s.trials[a] = t
	}
	return t
}

func (s *search) readNew(a attempt) *trial {
	t := &trial{attempt: a, search: s}
	t.hash.SetSeed(seed)
	o := s.Decoder
	o.Format, o.Strict, o.AllowObjects = a.Format, a.strict, true
	o.Limits = gdwire.NoLimits
	o.OneValue = false
	t.decoder = gdwire.NewDecoder(nil, &o)
	defer t.decoder.Release()
	if a.Frame == Bare {
		t.bare()
	} else {
		t.readFramed()
	}
	t.values = t.hash.Sum64()
	return t
}

// bare reads a value without a length, or several if the attempt allows it.
func (t *trial) bare() {
	in := t.search
	t.plainHeader = plainHeader(in.Head)
	t.end = in.known()
	for {
		n, err := t.value(in.Head[t.used:])
		t.used += n
		if err == io.ErrUnexpectedEOF {
			t.cut = in.whole()
			t.whole = !t.cut && len(in.Head) >= PipeSize
		}
		if err != nil {
			return
		}
		t.trailing = int(in.known()) - t.used
		if t.trailing == 0 || t.used == len(in.Head) && t.several {
			t.whole = true
			return
		}
		if !t.several {
			t.whole = !t.strict
			return
		}
	}
}

// readFramed reads length-prefixed packets. Each value must fill its packet, because engines write
// no other bytes.
func (t *trial) readFramed() {
	in := t.search
	good := true // so far
	offset := int64(0)
	for first := true; first || offset < int64(len(in.Head)); first = false {
		head := in.Head[offset:]
		if len(head) < lengthSize {
			t.end = offset + lengthSize
			t.cut = in.whole() && good
			t.whole = !in.whole() && good && !first
			return
		}
		n := int64(t.Frame.length(head))
		head = head[lengthSize:]
		if first {
			t.plainHeader = plainHeader(head)
		}
		complete := n <= int64(len(head))
		if complete {
			head = head[:n]
		}
		if first && !complete && !in.whole() && len(in.Head) < PipeSize {
			return // wait for the rest of the packet
		}
		used, err := t.value(head)
		valid := complete && err == nil && used == len(head)
		if good || valid {
			t.used += lengthSize + used
		}
		if valid {
			t.good++
		} else {
			good = good && !complete && (err == io.ErrUnexpectedEOF || len(head) == 0)
		}
		offset += lengthSize + n
	}
	t.end = in.follow(t.Frame, offset)
	t.whole = good && (in.Size < 0 || t.end == in.Size)
	t.cut = good && !t.whole
}

// lengthSize is the size of the length that precedes a packet.
const lengthSize = 4

// addUp reports whether the lengths of packets add up to the size of the input.
func (s *search) addUp(f Frame) bool {
	offset := int64(0)
	for offset+lengthSize <= int64(len(s.Head)) {
		n := int64(f.length(s.Head[offset:]))
		if n < minPacket {
			return false
		}
		offset += lengthSize + n
	}
	known := s.At != nil || s.whole()
	return known && s.Size > 0 && s.follow(f, offset) == s.Size
}

// minPacket is the size of a header, with which each value begins.
const minPacket = 4

// follow returns the offset at which the lengths of packets end. The first length after the head is at offset.
func (s *search) follow(f Frame, offset int64) int64 {
	end, known := s.ends[f]
	if !known {
		end = s.Input.follow(f, offset)
		s.ends[f] = end
	}
	return end
}

const (
	// maxFollowed is the maximum number of lengths that are followed after the head. If
	// there are more, they are taken to be good.
	maxFollowed = 1 << 16
	// followBlock is the number of bytes that are read at once for them.
	followBlock = 4 << 10
)

func (in *Input) follow(f Frame, offset int64) int64 {
	if in.Size < 0 {
		return offset
	}
	block := make([]byte, followBlock)
	start, n := int64(0), 0 // of the bytes in block
	zeros := false
	for range maxFollowed {
		switch {
		case offset >= in.Size:
			return offset
		case offset > in.Size-lengthSize:
			return offset + lengthSize
		case in.At == nil:
			return in.Size
		}
		if offset+lengthSize > start+int64(n) {
			start = offset
			if n, _ = in.At.ReadAt(block, offset); n < lengthSize {
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

// plainHeader reports whether the header at the start of b contains only bits that engines write.
func plainHeader(b []byte) bool {
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
	t.count++
	var keys NullKeys
	for token, err := range d.Tokens() {
		switch {
		case err == nil:
			t.nullKeys = t.nullKeys || keys.Twice(d, token)
			if t.nulls++; token.Kind() != gdwire.KindNil || d.Depth() > 0 {
				t.nulls = 0
			}
			t.token(token)
		case errors.Is(err, io.ErrUnexpectedEOF):
			return len(b), io.ErrUnexpectedEOF
		default:
			return int(d.InputOffset()), err
		}
	}
	return int(d.InputOffset()), nil
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
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindPackedStart, gdwire.KindNodePathStart:
		t.headers++
		return
	case gdwire.KindDictKey, gdwire.KindEnd:
		return
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
	t.leaves++
	if token.Kind() != gdwire.KindChunk {
		t.headers++
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

// nullsFollow reports whether there are several values, and all after the first or several at the
// end are null, as zeros are read.
func (t *trial) nullsFollow() bool { return NullsFollow(t.count, t.nulls) }

// hasControl reports whether a text contains control characters other than line breaks and tabs.
func hasControl(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// cutShort reports whether the input ends inside a packet and enough values were read
// before its end.
func (t *trial) cutShort() bool {
	return t.cut && (t.good > 0 || t.leaves >= minLeaves)
}
