package saves

import (
	"bytes"
	"cmp"
	"io"
	"iter"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
)

// A side is one of two files.
type side struct {
	name string
	r    io.ReaderAt
	size int64

	reading   save.Reading
	maxMemory int64                     // in bytes, for the values
	progress  func(io.Reader) io.Reader // shows how much was read, if not nil
	equal     []span                    // to the other file, and not compared leaf by leaf
}

// reader returns a Reader of the file.
func (f *side) reader() io.Reader {
	var r io.Reader = io.NewSectionReader(f.r, 0, f.size)
	if f.progress != nil {
		r = f.progress(r)
	}
	return r
}

// packets returns a function returning the next packet, or nil after the last.
func (f *side) packets() (next func() *save.Packet, stop func()) {
	pull, stop := iter.Pull(f.reading.Packets(f.reader()))
	return func() *save.Packet {
		p, _ := pull()
		return p
	}, stop
}

// A span is a part of a file with values equal to the values at the same paths in another file.
type span struct{ start, end int64 }

// maxSpans is the maximum number of spans of a file. Other values are compared leaf by leaf.
const maxSpans = 1 << 16

// skipSpans returns a function that reports whether the value at an offset is in one of the spans. Spans and offsets ascend.
func skipSpans(all []span) func(offset int64) bool {
	return func(offset int64) bool {
		for len(all) > 0 && all[0].end <= offset {
			all = all[1:]
		}
		return len(all) > 0 && all[0].start <= offset
	}
}

// equalSpans returns the spans of two files from a packet on, up to the first error, found again by reading the leaves.
func equalSpans(a, b *side, packet int64) (x, y []span) {
	nextA, stopA := a.packets()
	defer stopA()
	nextB, stopB := b.packets()
	defer stopB()
	m := &matcher{}
	for m.p, m.q = nextA(), nextB(); m.p != nil && m.q != nil; m.p, m.q = nextA(), nextB() {
		switch err := cmp.Or(m.p.Err, m.q.Err); {
		case err != nil:
			m.err = err
		case m.p.Index < packet || m.p.Packed != nil || m.q.Packed != nil:
			m.err = cmp.Or(m.p.SkipValue(), m.q.SkipValue())
		default:
			m.value(false)
		}
		if cmp.Or(m.p.Finish(m.err), m.q.Finish(m.err)) != nil {
			break
		}
	}
	return m.x, m.y
}

// A matcher reads a packet of each file token by token.
type matcher struct {
	p, q *save.Packet
	x, y []span
	full bool
	err  error
}

// next reads a token of each packet, and reports whether the tokens are the same.
func (m *matcher) next() (t, u gdwire.Token, same bool) {
	if t, m.err = m.p.ReadToken(); m.err == nil {
		u, m.err = m.q.ReadToken()
	}
	return t, u, m.err == nil && sameToken(t, u)
}

// value reads the next value of each packet, and reports whether the values are equal. Equal values become a span, or
// extend the latest span if follows is set.
func (m *matcher) value(follows bool) bool {
	n, depth, other := len(m.x), m.p.Depth(), m.q.Depth()
	start, otherStart := m.p.ReadOffset(), m.q.ReadOffset()
	t, u, same := m.next()
	if m.err == nil && t.Kind() == u.Kind() {
		switch t.Kind() {
		case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
			same = m.inside(t, u) && same
		default:
			for same && (m.p.Depth() > depth || t.Kind() == gdwire.KindStringChunk && !t.Last()) {
				t, _, same = m.next()
			}
		}
	}
	if m.err == nil {
		m.err = cmp.Or(m.p.SkipTo(depth), m.q.SkipTo(other))
	}
	if !same || m.err != nil {
		return false
	}
	m.x, m.y = m.x[:n], m.y[:n]
	switch end, otherEnd := m.p.ReadOffset(), m.q.ReadOffset(); {
	case follows && !m.full:
		m.x[n-1].end, m.y[n-1].end = end, otherEnd
	case n < maxSpans:
		m.x, m.y = append(m.x, span{start, end}), append(m.y, span{otherStart, otherEnd})
	default:
		m.full = true // later values are not part of the latest span
	}
	return true
}

// inside compares the values in the containers starting with t and u, up to the first values at different paths.
func (m *matcher) inside(t, u gdwire.Token) bool {
	same, follows := t.Len() == u.Len(), false
	for range min(t.Len(), u.Len()) {
		switch t.Kind() {
		case gdwire.KindDictStart:
			_, _, ok := m.next() // DictKey
			n := len(m.x)
			if ok = ok && m.value(false); !ok {
				return false
			}
			m.x, m.y = m.x[:n], m.y[:n] // the key
		case gdwire.KindObjectStart:
			if _, _, ok := m.next(); !ok {
				return false
			}
		}
		follows = m.value(follows)
		if same = same && follows; m.err != nil {
			return false
		}
	}
	return same
}

// sameToken reports whether two tokens are the same, as far as they are in memory.
func sameToken(t, u gdwire.Token) bool {
	if t.Kind() != u.Kind() || t.Type() != u.Type() || t.Len() != u.Len() {
		return false
	}
	switch t.Kind() {
	case gdwire.KindBool:
		return t.Bool() == u.Bool()
	case gdwire.KindInt32, gdwire.KindInt64:
		return t.Int() == u.Int()
	case gdwire.KindArrayStart, gdwire.KindDictStart:
		return t.KeyElem() == u.KeyElem() && t.Elem() == u.Elem()
	case gdwire.KindStringChunk:
		return t.Last() == u.Last() && bytes.Equal(t.Bytes(), u.Bytes())
	case gdwire.KindNil, gdwire.KindDictKey, gdwire.KindEnd:
		return true
	}
	if t.Components() > 0 || t.Kind() == gdwire.KindChunk {
		return t.Width() == u.Width() && bytes.Equal(t.Bytes(), u.Bytes())
	}
	return t.String() == u.String() && bytes.Equal(t.Bytes(), u.Bytes())
}
