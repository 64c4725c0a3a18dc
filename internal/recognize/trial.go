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
	input   *Input
	strict  bool
	decoder *gdwire.Decoder

	whole       bool   // all bytes of the head were read
	cut         bool   // whole, but the input ends inside a packet or value
	implausible bool   // it contains improbable numbers or texts
	plainHeader bool   // the first header has only bits that engines write
	values      uint64 // a hash of all tokens
	leaves      int    // values other than containers that were read
	used        int    // bytes up to the first error; with a frame, bytes in valid packets
	trailing    int    // bytes after values
	good        int    // packets that are one value
	declared    int64  // the greatest declared length of a packet

	hash maphash.Hash
}

// seed is the seed of all hashes, which are compared with each other.
var seed = maphash.MakeSeed()

// read reads the head of the input.
func (in *Input) read(r Reading, strict, several bool) *trial {
	t := &trial{Reading: r, input: in, strict: strict}
	t.hash.SetSeed(seed)
	o := in.Decoder
	o.Format, o.Strict, o.AllowObjects = r.Format, strict, true
	o.Limits = gdwire.Limits{Depth: -1, Elements: -1, Values: -1, StringBytes: -1, NameBytes: -1, PackedBytes: -1, Bytes: -1}
	o.OneValue = false
	t.decoder = gdwire.NewDecoder(nil, &o)
	defer t.decoder.Release()
	if r.Frame == Bare {
		t.bare(several)
	} else {
		t.framed()
	}
	t.values = t.hash.Sum64()
	return t
}

// bare reads one or several values without lengths.
func (t *trial) bare(several bool) {
	in := t.input
	t.plainHeader = plainHeader(in.Head)
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
		if t.trailing == 0 || t.used == len(in.Head) && several {
			t.whole = true
			return
		}
		if !several {
			t.whole = !t.strict
			return
		}
	}
}

// framed reads length-prefixed packets.
func (t *trial) framed() {
	in := t.input
	good := true // so far
	offset := int64(0)
	for first := true; first || offset < int64(len(in.Head)); first = false {
		head := in.Head[offset:]
		if len(head) < 4 {
			t.cut = in.whole() && good
			t.whole = !in.whole() && good && !first
			return
		}
		n := int64(t.length(head))
		t.declared = max(t.declared, n)
		head = head[4:]
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
		switch {
		case complete && err == nil:
			t.trailing += len(head) - used
			if len(head) == used {
				t.good++
			} else if t.strict {
				good = false
			}
		case complete || err != io.ErrUnexpectedEOF && len(head) > 0:
			good = false
		}
		if good || err == nil {
			t.used += 4 + used
		}
		offset += 4 + n
	}
	t.whole = good && t.follow(offset)
	t.cut = good && !t.whole
}

// maxFollowed is the maximum number of lengths that are followed beyond the head.
const maxFollowed = 1 << 20

// follow reports whether the lengths of the packets from offset on end at the end of the
// input.
func (t *trial) follow(offset int64) bool {
	in := t.input
	if in.Size < 0 {
		return true
	}
	var b [4]byte
	for range maxFollowed {
		if offset == in.Size || in.At == nil && offset < in.Size {
			return true
		}
		if offset > in.Size-4 {
			return false
		}
		if _, err := in.At.ReadAt(b[:], offset); err != nil {
			return false
		}
		offset += 4 + int64(t.length(b[:]))
	}
	return true
}

func (t *trial) length(b []byte) uint32 {
	if t.Frame == U32BE {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// plainHeader reports whether the header at the start of b has only bits that engines
// write.
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
	for token, err := range d.Tokens() {
		switch {
		case err == nil:
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
	case gdwire.KindDictKey, gdwire.KindEnd, gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindPackedStart, gdwire.KindNodePathStart:
		return
	case gdwire.KindStringChunk, gdwire.KindProperty, gdwire.KindSignal, gdwire.KindObjectStart:
		t.check(!hasControl(b))
	case gdwire.KindFloat32, gdwire.KindFloat64:
		t.check(plausible(token.Float()))
	case gdwire.KindChunk:
		t.chunk(token)
	default:
		for i := range token.Components() {
			t.check(plausible(token.Real(i)))
		}
	}
	t.leaves++
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

func plausible(x float64) bool {
	a := math.Abs(x)
	implausible := a < tiny && a > 0 || a > huge && !math.IsInf(a, 1) // NaN is not
	return !implausible
}

// hasControl reports whether a text has control characters other than line
// breaks and tabs.
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
	return t.cut && (t.good > 0 || t.leaves >= minLeaves) && t.declared < maxCut
}
