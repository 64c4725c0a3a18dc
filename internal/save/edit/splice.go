package edit

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"sort"

	"github.com/gdwire/gdwire/internal/checked"
)

// lengthSize is the size of the length of a packet.
const lengthSize = 4

// A splice replaces bytes of the content.
type splice struct {
	start, end int64
	bytes      []byte
	from, size int64 // of bytes of the content to use, after bytes
}

// grow returns the number of bytes added by the splice.
func (s *splice) grow() int64 { return int64(len(s.bytes)) + s.size - (s.end - s.start) }

// sortSplices sorts splices by offset. Those at the same offset stay in order.
func sortSplices(all []splice) {
	slices.SortStableFunc(all, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
}

// A table is an edited content: pieces of the content before all edits, and new bytes.
type table struct {
	r    io.ReaderAt // before all edits
	all  []piece
	size int64
}

// A piece is a part of a table.
type piece struct {
	at, size int64  // in the table
	bytes    []byte // if nil:
	from     int64  // the offset of its bytes in r
}

// newTable returns the table of a content without edits, or r if r is a table.
func newTable(r io.ReaderAt, size int64) *table {
	if t, ok := r.(*table); ok {
		return t
	}
	return &table{r: r, all: []piece{{size: size}}, size: size}
}

// splice returns the table with sorted splices. t does not change.
func (t *table) splice(all []splice) *table {
	n := &table{r: t.r, all: make([]piece, 0, len(t.all)+2*len(all))}
	at := int64(0)
	for i := range all {
		s := &all[i]
		n.addFrom(t, at, s.start)
		n.add(piece{bytes: s.bytes, size: int64(len(s.bytes))})
		n.addFrom(t, s.from, s.from+s.size)
		at = s.end
	}
	n.addFrom(t, at, t.size)
	return n
}

// add adds a piece at the end, unless it is empty.
func (t *table) add(p piece) {
	if p.size > 0 {
		p.at = t.size
		t.all = append(t.all, p)
		t.size += p.size
	}
}

// addFrom adds the bytes of another table from start to end.
func (t *table) addFrom(other *table, start, end int64) {
	for i := other.find(start); start < end; i++ {
		p := other.all[i]
		skipped := start - p.at
		p.size = min(p.size-skipped, end-start)
		if p.bytes != nil {
			p.bytes = p.bytes[skipped:][:p.size]
		}
		p.from += skipped
		start += p.size
		t.add(p)
	}
}

// find returns the index of the piece with the byte at an offset.
func (t *table) find(at int64) int {
	return sort.Search(len(t.all), func(i int) bool { return at < t.all[i].at+t.all[i].size })
}

// ReadAt reads bytes of the edited content.
func (t *table) ReadAt(b []byte, at int64) (n int, err error) {
	for i := t.find(at); n < len(b); i++ {
		if i == len(t.all) {
			return n, io.EOF
		}
		p := &t.all[i]
		skipped := at - p.at
		part := b[n:][:min(int64(len(b)-n), p.size-skipped)]
		if p.bytes != nil {
			copy(part, p.bytes[skipped:])
		} else if read, err := t.r.ReadAt(part, p.from+skipped); read < len(part) {
			return n + read, checked.NoEOF(err) // the file can have become shorter
		}
		n += len(part)
		at += int64(len(part))
	}
	return n, nil
}

// countBytes returns the bytes that change a count from old to n.
func countBytes(old, n int64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(n))
	if high := b[3]; high == 0 && old>>24 == 0 {
		b = b[:3] // the high bit may mark a shared container
	}
	return b
}
