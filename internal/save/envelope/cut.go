package envelope

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/gdwire/gdwire/fileaccess"
)

const (
	maxClaim = 64 << 20 // the maximum size of a cut record
	maxCount = 1 << 20  // the maximum of a doubtful number of records
)

// A CutError reports that the last record of a file is cut.
type CutError struct {
	Record  int
	Offset  int // of the first byte lost with the record
	Missing int // bytes, or 0 if not known
}

func (e *CutError) Error() string {
	if e.Missing == 0 {
		return fmt.Sprintf("offset %d: record %d is cut", e.Offset, e.Record)
	}
	return fmt.Sprintf("offset %d: record %d is cut: it lacks %s", e.Offset, e.Record, bytesText(e.Missing))
}

func (e *CutError) Unwrap() error { return io.ErrUnexpectedEOF }

// isCut reports whether b begins like the bodies of e, and ends inside this body.
func (f *finder) isCut(e *Envelope, b []byte) bool {
	const signature = 2
	like := &e.Bodies[len(e.Bodies)-1]
	same := len(b) > 0 && bytes.HasPrefix(b, like.Packed[:min(signature, len(b))])
	switch {
	case like.Info.Base64.Text:
		return same && !slices.ContainsFunc(b, func(c byte) bool { return !isDigit(c) && c != '=' })
	case like.Info.IsPlain():
		return f.scanner.IsCut(b)
	case like.Info.Container == fileaccess.Raw && like.Info.Mode == fileaccess.FastLZ:
		const least = 9 // bytes needed to copy a header
		return copiesHeader(b) || same && len(b) > signature && len(b) < least
	}
	return same && len(b) >= signature
}

// explain returns the envelope with its fields. If the last record is cut, the envelope is that of the other records:
// the declared length of the cut record shows which numbers are of all records.
func (f *finder) explain(e *Envelope) *Envelope {
	n := len(e.Bodies)
	c := cutter{finder: f, e: e, n: n, tail: e.Gaps[n], atBody: e.cut}
	if n < 2 || e.merged || len(e.Gaps[1]) == 0 || !e.isRegular(len(e.Gaps[1])) {
		f.derive(e)
		return e
	}
	c.gap = len(e.Gaps[1])
	if c.atBody {
		if !c.learn() {
			return nil
		}
		return c.whole()
	}
	all := *e
	f.derive(&all)
	const digest = 4 // bytes at least
	own := all.split(all.Gaps[1:n], c.gap, c.gap)
	isShort := len(c.tail) < own || len(c.tail) < c.gap+minValue && slices.Contains(all.explained(n, true)[own:], false)
	if (len(c.tail) > 0 && isShort || len(c.tail) == 0 && all.unknown(1) >= digest) && c.learn() && (len(c.tail) <= c.after || slices.Contains(all.explained(n, true)[c.after:], false)) {
		return c.whole()
	}
	return &all
}

// A cutter drops the cut record at the end of a file.
type cutter struct {
	*finder
	e      *Envelope
	n      int    // bodies
	gap    int    // bytes between these
	tail   []byte // after the last
	atBody bool   // the start of a body is in the tail
	after  int    // bytes of a record after its body
	size   int    // of the cut body, as far as known
	all    *Envelope
}

// learn finds the fields of records as if the last record was whole, and reports whether the last
// record is cut.
func (c *cutter) learn() bool {
	e, n := c.e, c.n
	last := append(bytes.Clone(c.tail[:min(len(c.tail), c.gap)]), make([]byte, max(c.gap-len(c.tail), 0))...)
	c.all = &Envelope{Gaps: append(slices.Clone(e.Gaps[:n]), last, make([]byte, c.gap)), Bodies: append(slices.Clone(e.Bodies), Body{}), Bits: e.Bits, Small: e.Small}
	c.all.join()
	d := newDeriver(c.finder, c.all, true)
	if d.n = n; len(c.tail) < c.gap {
		d.n--
	}
	if d.n < 2 {
		return false
	}
	d.run()
	if !c.split() {
		return false
	}
	isDerived := slices.ContainsFunc(c.all.Fields, func(f Field) bool { return f.At.End && f.Sum != Size })
	switch {
	case len(c.tail) == c.after, len(c.tail) == 0 && !isDerived: // the record is whole, or constant bytes separate records
		return false
	case len(c.tail) < c.after:
		return true
	}
	rest := c.tail[c.after:]
	size, isKnown := c.claim()
	c.size = max(len(c.tail)-c.gap, 0)
	switch {
	case isKnown && (size <= len(c.tail)-c.gap || size > maxClaim):
		return false
	case !isKnown && !c.atBody && (isPrintable(bytes.TrimSpace(rest)) && len(rest) > 2 || len(bytes.Trim(rest, "\x00")) == 0): // a trailer
		return e.Bodies[0].Info.Base64.Text && c.isCut(e, c.tail[min(c.gap, len(c.tail)):])
	case isKnown && size <= len(c.b)+maxCount: // memory follows the input, not a declared size
		c.size = size
	}
	return true
}

// split finds which bytes between records are after a body, and reports whether the bytes after the last body
// agree.
func (c *cutter) split() bool {
	const few = 4 // records with other bytes equal by chance
	gaps, like := c.e.Gaps[1:c.n], c.e.Gaps[1]
	c.after = c.all.split(gaps, c.gap, c.gap)
	if c.n == 2 && c.after > 0 && !c.isField(c.after-1) && c.after > c.gap-len(c.e.Gaps[0]) {
		return false // any bytes are the same in one gap
	}
	same := true
	for k := range min(len(c.tail), c.gap) {
		isSame := !slices.ContainsFunc(gaps, func(g []byte) bool { return g[k] != like[k] })
		if isSame && !c.isField(k) && c.tail[k] != like[k] && (k < c.after || c.n > few) {
			return false
		}
		same = same && isSame && !c.isField(k) && c.tail[k] == like[k]
	}
	return c.atBody || !same || len(c.tail) < c.after
}

// isField reports whether byte k of the bytes between records is of a field.
func (c *cutter) isField(k int) bool {
	return slices.ContainsFunc(c.all.Fields, func(f Field) bool {
		at := f.At.Offset
		if !f.At.End {
			at += c.gap
		}
		return k >= at && k < at+f.Width
	})
}

// claim returns the size of the cut body, if declared by a number before the body.
func (c *cutter) claim() (size int, ok bool) {
	for i := range c.all.Fields {
		f := &c.all.Fields[i]
		at := c.gap + f.At.Offset
		if f.Sum != Size || f.At.End || at+f.Width > len(c.tail) || f.Of.Content && !c.e.Bodies[0].Info.IsPlain() {
			continue
		}
		n := number(c.tail[at:][:f.Width], f.Big)
		return int(min(n, maxClaim+1)) - c.all.size(f, c.n), true
	}
	return 0, false
}

// whole returns the envelope of the whole records.
func (c *cutter) whole() *Envelope {
	n, e, all := c.n, c.e, c.all
	own := c.tail[:min(len(c.tail), c.after)]
	own = append(bytes.Clone(own), e.Gaps[1][len(own):c.after]...)
	isBodyWhole := len(c.tail) < c.after
	if isBodyWhole {
		all.Gaps, all.Bodies = append(all.Gaps[:n], own), all.Bodies[:n]
	} else {
		all.Gaps[n+1] = own
		all.Bodies[n].Packed = make([]byte, c.size)
	}
	all.join()
	d := newDeriver(c.finder, all, false)
	d.own, d.tail = min(c.gap-c.after, len(e.Gaps[0])), c.after
	d.run()
	c.count()
	all.Fields = slices.DeleteFunc(all.Fields, func(f Field) bool { // only the last is the number of records
		return f.Of.Count && slices.ContainsFunc(all.Fields, func(g Field) bool { return g.Of.Count && g.At.Offset > f.At.Offset })
	})
	whole := &Envelope{Gaps: append(slices.Clone(e.Gaps[:n]), own), Bodies: e.Bodies, Fields: all.Fields, Bits: all.Bits, Small: all.Small}
	for i := range whole.Fields {
		f := &whole.Fields[i]
		for _, m := range []*Mark{&f.At, &f.Of.From, &f.Of.To} {
			m.Body = min(m.Body, n-1)
		}
	}
	whole.join()
	slices.SortStableFunc(whole.Fields, func(a, b Field) int { return whole.pos(a.At) - whole.pos(b.At) })
	whole.Err = &CutError{Record: n, Offset: len(e.whole) - len(c.tail) + c.after, Missing: max(c.size-max(len(c.tail)-c.gap, 0), 0)}
	if isBodyWhole {
		whole.Err = &CutError{Record: n - 1, Offset: len(e.whole), Missing: c.after - len(c.tail)}
	}
	return whole
}

// count finds the number of records in the last number of the header. The number is doubtful if more than one counted
// record is lost.
func (c *cutter) count() {
	const width = 4
	at := Mark{Offset: -(c.gap - c.after) - width}
	k := len(c.e.Gaps[0]) + at.Offset
	if k < 0 || slices.Contains(c.all.explained(0, true)[k:][:width], true) {
		return
	}
	for _, big := range orders {
		if n := number(c.e.Gaps[0][k:][:width], big); n >= uint64(len(c.all.Bodies)) && n <= maxCount {
			c.all.Fields = append(c.all.Fields, Field{At: at, Width: width, Big: big, Of: Span{Count: true}, Doubtful: n > uint64(len(c.all.Bodies))})
		}
	}
}
