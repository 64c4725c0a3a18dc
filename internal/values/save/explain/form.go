package explain

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
)

// A Form is how a field is written.
type Form struct {
	Width int // in bytes
	Big   bool
	Text  byte // 0, or 'd' for decimal digits, 'x' and 'X' for hexadecimal digits
}

// read returns the number in b.
func (f Form) read(b []byte) uint64 {
	if f.Width == 4 && !f.Big { // most are
		return uint64(binary.LittleEndian.Uint32(b))
	}
	var all [8]byte
	if f.Big {
		copy(all[8-f.Width:], b[:f.Width])
		return binary.BigEndian.Uint64(all[:])
	}
	copy(all[:], b[:f.Width])
	return binary.LittleEndian.Uint64(all[:])
}

// number returns a number in the form.
func (f Form) number(n uint64) ([]byte, error) {
	if f.Text == 'd' {
		return strconv.AppendUint(nil, n, 10), nil
	}
	if f.Width < 8 && n>>(8*f.Width) > 0 {
		return nil, fmt.Errorf("the size %d does not fit in the %d bits", n, 8*f.Width)
	}
	b := binary.LittleEndian.AppendUint64(nil, n)[:f.Width]
	if f.Big {
		slices.Reverse(b)
	}
	return b, nil
}

// digest returns a big-endian digest in the form.
func (f Form) digest(d []byte) []byte {
	if f.Text != 0 {
		h := hex.AppendEncode(nil, d)
		if f.Text == 'X' {
			h = bytes.ToUpper(h)
		}
		return h
	}
	d = append(make([]byte, max(f.Width-len(d), 0)), d...)
	if !f.Big {
		slices.Reverse(d)
	}
	return d
}

// A sum is a kind of checksum. of returns it in big-endian order.
type sum struct {
	name string
	size int
	bits float64 // of its price
	work float64 // of a byte, in instructions of processors that hash
	of   func(b []byte) []byte
}

// sums are the checksums: digests, and then numbers, the most frequent first.
var sums = slices.Concat([]*sum{
	{"SHA-256", 32, 2, 4, func(b []byte) []byte { d := sha256.Sum256(b); return d[:] }},
	{"MD5", 16, 2, 4, func(b []byte) []byte { d := md5.Sum(b); return d[:] }},
	{"SHA-1", 20, 3, 4, func(b []byte) []byte { d := sha1.Sum(b); return d[:] }},
	crc,
}, numberSums[:])

// crc is the most frequent number, and computed by instructions of the processor.
var crc = &sum{"CRC-32", 4, 2, 0.5, func(b []byte) []byte { return be32(crc32.ChecksumIEEE(b)) }}

// numberSums are the numbers that numbers computes in one pass.
var numberSums = [...]*sum{
	numberSum(0, "hash()", 4, 3),
	numberSum(1, "Adler-32", 4, 4),
	numberSum(2, "FNV-1a", 4, 3),
	numberSum(3, "FNV-1a of 64 bits", 8, 4),
	numberSum(4, "djb2", 4, 4),
	numberSum(5, "sum times 31", 4, 5),
	plainSum,
}

// plainSum is a small number, unlike the other checksums.
var plainSum = numberSum(6, "sum of bytes", 4, 10)

func numberSum(i int, name string, size int, bits float64) *sum {
	const work = 24 // of all
	return &sum{name, size, bits, work, func(b []byte) []byte { all := numbers(b); return all[i][8-size:] }}
}

// numbers returns the numberSums of b in big-endian order, in their last bytes.
func numbers(b []byte) (all [len(numberSums)][8]byte) {
	const prime, chunk = 65521, 5552 // of Adler-32, and bytes before its sums overflow
	low, high, plain := uint32(1), uint32(0), uint32(0)
	fnv, fnv64, djb2, times31 := uint32(2166136261), uint64(14695981039346656037), uint32(5381), uint32(0)
	for rest := b; len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
		for _, c := range rest[:min(chunk, len(rest))] {
			x := uint32(c)
			low += x
			high += low
			plain += x
			fnv = (fnv ^ x) * 16777619
			fnv64 = (fnv64 ^ uint64(c)) * 1099511628211
			djb2 = djb2*33 + x
			times31 = times31*31 + x
		}
		low, high = low%prime, high%prime
	}
	for i, n := range [...]uint64{uint64(murmur(b)), uint64(high<<16 | low), uint64(fnv), fnv64, uint64(djb2), uint64(times31 & math.MaxInt32), uint64(plain)} {
		binary.BigEndian.PutUint64(all[i][:], n)
	}
	return all
}

// valueSum is of a value in a Dictionary, and not of bytes.
var valueSum = &sum{name: "hash()", size: 4, of: valueHash}

const mostDigest = 8 // bytes of a checksum that is a number

// A sumClass is a class of checksums by what it takes to search them.
type sumClass uint8

const (
	digest sumClass = iota // in few places
	quick                  // CRC-32
	slow                   // other numbers
	least                  // the sum of bytes, which is a small number
)

func (s *sum) class() sumClass {
	switch {
	case s.size > mostDigest:
		return digest
	case s == crc:
		return quick
	case s == plainSum:
		return least
	}
	return slow
}

// isLikely reports whether bytes can be the checksum.
func (s *sum) isLikely(b []byte) bool {
	return isRandom(b) || s == plainSum && bytes.Count(b, []byte{0}) == 2
}

// isRandom reports whether bytes can be a digest.
func isRandom(b []byte) bool {
	zeros, low := 0, 0
	for _, c := range b {
		if c == 0 {
			zeros++
		}
		if c < 0x80 {
			low++
		}
	}
	return zeros <= len(b)/8+1 && (low < len(b) || len(b) == 4)
}

// forms are the ways to write a checksum, by its size.
var forms = [...][]Form{
	4:  {{4, true, 0}, {8, false, 'x'}, {8, false, 'X'}, {4, false, 0}, {8, false, 0}},
	8:  {{8, true, 0}, {16, false, 'x'}, {16, false, 'X'}, {8, false, 0}},
	16: {{16, true, 0}, {32, false, 'x'}, {32, false, 'X'}},
	20: {{20, true, 0}, {40, false, 'x'}, {40, false, 'X'}},
	32: {{32, true, 0}, {64, false, 'x'}, {64, false, 'X'}},
}

// isDigest reports whether b is the digest d in the form.
func (f Form) isDigest(d, b []byte) bool {
	if f.Text == 0 && f.Width == len(d) { // most are none by their first byte
		first := d[0]
		if !f.Big {
			first = d[len(d)-1]
		}
		if b[0] != first {
			return false
		}
	}
	return bytes.Equal(f.digest(d), b)
}

// Rehash returns the digest of the bytes in now if digest is the one of the same bytes in was, in the same form: as bytes or
// hexadecimal digits. It returns nil for any other text or bytes.
func Rehash(digest []byte, was, now [][]byte) []byte {
	for _, s := range append(slices.Clone(sums), valueSum) {
		for _, f := range forms[s.size] {
			for i := 0; s != plainSum && f.Width == len(digest) && i < min(len(was), len(now)); i++ {
				if d := s.of(was[i]); d != nil && bytes.Equal(f.digest(d), digest) {
					return f.digest(s.of(now[i]))
				}
			}
		}
	}
	return nil
}

// digests computes checksums of spans of b, each once, within a budget.
type digests struct {
	*Budget
	b        []byte
	known    map[digestKey][]byte
	zeroed   []byte // b, for the checksums of files in which they are zeros
	unhashed bool   // a checksum was not computed
	needed   bool   // without the checksums, the search ends
}

type digestKey struct {
	sum      *sum
	from, to int    // of b, or of a content: -1 and its body
	zeroed   [2]int // from and to of the field, with zeros in its place
}

// hash reports whether n more bytes may be hashed by s. Those that are needed end the search otherwise.
func (d *digests) hash(s *sum, n int) bool {
	work := int64(float64(n) * s.work)
	if d.needed {
		return d.take(int(work))
	}
	if d.hashed+work > d.mostHashed() {
		d.unhashed = d.unhashed || s != plainSum
		return false
	}
	d.hashed += work
	return true
}

// of returns the checksum of content, which key identifies, or nil if too many bytes were hashed.
func (d *digests) of(key digestKey, content []byte) []byte {
	if sum := d.known[key]; sum != nil {
		return sum
	}
	if !d.hash(key.sum, len(content)) {
		return nil
	}
	if key.sum.class() < slow {
		d.known[key] = key.sum.of(content)
		return d.known[key]
	}
	all := numbers(content)
	for i, s := range numberSums {
		other := key
		other.sum = s
		d.known[other] = all[i][8-s.size:]
	}
	return d.known[key]
}
