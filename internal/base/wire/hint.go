package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Hint describes, for messages, an input with the four bytes of first in place of a header, or
// returns "". No other bytes are needed, so the text of an error does not depend on how the bytes
// arrive. [Guess.Hint] uses more of the input.
func Hint(first uint32) string {
	if hint := foreign(le.AppendUint32(nil, first)); hint != "" {
		return hint
	}
	if first <= 1<<24 && first%4 == 0 { // as nearly all lengths are
		return "; perhaps the input begins with its length: see packages savefile and stream"
	}
	return ""
}

// foreign returns the hint for an input beginning with head, if that is no Variant, or "".
func foreign(head []byte) string {
	switch string(head) {
	case "GCPF":
		return "; GCPF: a compressed file, see package savefile"
	case "GDEC":
		return "; GDEC: an encrypted file, see package savefile"
	case "RSRC":
		return "; RSRC: a resource, not a value"
	case "RSCC":
		return "; RSCC: a compressed resource, not a value"
	}
	for _, c := range head {
		if (c < ' ' || c > '~') && c != '\n' && c != '\r' && c != '\t' {
			return ""
		}
	}
	if len(head) == 0 {
		return ""
	}
	return "; the input is text: for JSON, see package gdjson"
}

// LengthHint describes, for messages, a false length of more than most bytes: text, or a shorter length in the other
// byte order. Otherwise it returns "".
func LengthHint(length, most int64) string {
	if uint64(length) > math.MaxUint32 {
		return ""
	}
	if foreign(le.AppendUint32(nil, uint32(length))) != "" {
		return "; the length is text"
	}
	if other := bits.ReverseBytes32(uint32(length)); int64(other) <= most && other >= headerSize {
		return fmt.Sprintf("; in the other byte order, the length is %d bytes", other)
	}
	return ""
}

// A Guess identifies an input other than one value. The input is written in pieces of any size,
// in a time proportional to the number of lengths in the input. The zero value is ready.
type Guess struct {
	head        [headerSize]byte
	size        int64
	little, big packets
}

const headerSize = 4

// GuessOf returns the Guess for all of an input.
func GuessOf(input []byte) *Guess {
	g := new(Guess)
	_, _ = g.Write(input)
	return g
}

// Write adds the next bytes of the input. It returns no error.
func (g *Guess) Write(b []byte) (int, error) {
	if g.size < headerSize {
		copy(g.head[g.size:], b)
	}
	g.size += int64(len(b))
	g.little.follow(b, binary.LittleEndian)
	g.big.follow(b, binary.BigEndian)
	return len(b), nil
}

// Missing returns the minimum number of bytes still to come if the input consists of packets
// with lengths and goes on, or math.MaxInt64 if it does not consist of packets.
func (g *Guess) Missing() int64 { return min(g.little.missing(), g.big.missing()) }

// Size returns the number of bytes written.
func (g *Guess) Size() int64 { return g.size }

// Hint returns the hint at another package if the input begins like another kind of file, or,
// if all of it was written, consists of packets with lengths. Otherwise it returns "".
func (g *Guess) Hint(all bool) string {
	if hint := foreign(g.head[:min(g.size, headerSize)]); hint != "" || !all {
		return hint
	}
	if n := g.little.complete(); n > 0 {
		return lengthsHint(n, "length")
	}
	if n := g.big.complete(); n > 0 {
		return lengthsHint(n, "big-endian length")
	}
	return ""
}

// First returns the first four bytes as Hint takes them.
func (g *Guess) First() uint32 { return le.Uint32(g.head[:]) }

// lengthsHint returns the hint for n values after their lengths.
func lengthsHint(n int, length string) string {
	if n == 1 {
		return fmt.Sprintf("; the data is 1 value after its %s: read it with package savefile", length)
	}
	return fmt.Sprintf("; the data is %d values after their %ss: read them with package savefile", n, length)
}

// packets follows the lengths of packets through an input.
type packets struct {
	count     int              // that have begun
	remaining int64            // unseen bytes of the latest packet
	length    [headerSize]byte // of the next packet, as far as it was seen
	seen      int              // bytes of length
	wrong     bool             // a length is less than that of any value
}

// follow reads the lengths in b, the next bytes of the input.
func (p *packets) follow(b []byte, order binary.ByteOrder) {
	for len(b) > 0 && !p.wrong {
		if p.remaining > 0 {
			n := min(p.remaining, int64(len(b)))
			p.remaining -= n
			b = b[n:]
			continue
		}
		n := copy(p.length[p.seen:], b)
		p.seen += n
		b = b[n:]
		if p.seen == headerSize {
			p.count, p.seen, p.remaining = p.count+1, 0, int64(order.Uint32(p.length[:]))
			p.wrong = p.remaining < headerSize // too short for a header
		}
	}
}

// missing returns the number of bytes that complete the latest packet, or the next length.
func (p *packets) missing() int64 {
	switch {
	case p.wrong:
		return math.MaxInt64
	case p.remaining > 0:
		return p.remaining
	}
	return int64(headerSize - p.seen)
}

// complete returns the number of packets if they are the input from its first to its last byte, or 0.
func (p *packets) complete() int {
	if p.wrong || p.remaining > 0 || p.seen > 0 {
		return 0
	}
	return p.count
}
