package envelope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdwire/gdwire/fileaccess"
)

// explained reports which bytes of a gap are part of fields, and if text is set, of text.
func (e *Envelope) explained(gap int, text bool) []bool {
	g := e.Gaps[gap]
	known := make([]bool, len(g))
	if text {
		known = texts(g)
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		if !f.isIn(gap, len(e.Bodies)) {
			continue
		}
		at := f.At.Offset
		if !f.At.End {
			at += len(g)
		}
		for k := range f.Width {
			known[at+k] = true
		}
	}
	return known
}

// unknown returns the number of unexplained bytes of a gap.
func (e *Envelope) unknown(gap int) (n int) {
	for _, known := range e.explained(gap, true) {
		if !known {
			n++
		}
	}
	return n
}

// IsProved reports whether each gap contains a field.
func (e *Envelope) IsProved() bool {
	for i := range e.Gaps {
		if !e.isProved(i) {
			return false
		}
	}
	return true
}

// isProved reports whether a gap contains a field, or nothing. A number after the last body can be the length of a cut
// value, and a number before a body the length of a damaged value: such a gap needs a checksum, or a field and nothing
// else.
func (e *Envelope) isProved(gap int) bool {
	n, start := len(e.Bodies), e.gapStart(gap)
	if gap == n && n > 2 {
		if _, after := e.edges(); after == len(e.Gaps[n]) {
			return true // as after the other records
		}
	}
	return len(e.Gaps[gap]) == 0 || slices.ContainsFunc(e.Fields, func(f Field) bool {
		if f.Sum != Size && !f.Of.Content && e.pos(f.Of.From) <= start && start+len(e.Gaps[gap]) <= e.pos(f.Of.To) {
			return true // the checksum covers the gap, too
		}
		return !f.Doubtful && f.isIn(gap, n) && (f.Sum != Size || gap < n && (f.Of.Content || f.Of.From.Offset == 0) || e.unknown(gap) == 0)
	})
}

// isIn reports whether a field is in a gap of an envelope of n bodies.
func (f *Field) isIn(gap, n int) bool {
	if f.At.End {
		return f.At.Body+1 == gap || f.Each && gap > 0
	}
	return f.At.Body == gap || f.Each && gap < n
}

// Secret returns the offset and size of bytes that look like a checksum but cannot be computed, or 0, 0.
func (e *Envelope) Secret() (offset, size int) {
	for i, g := range e.Gaps {
		fields, all := e.explained(i, false), e.explained(i, true)
		for at := range g {
			for sum := SHA256; sum >= MD5; sum-- {
				for form := Raw; form <= Upper; form++ {
					w, known := sums[sum].size, all
					if form != Raw {
						w, known = 2*w, fields
					}
					if at+w <= len(g) && !slices.Contains(known[at:][:w], true) && mayBeDigest(g[at:][:w], form) && (form != Raw || isRandom(g[at:][:w])) {
						return e.gapStart(i) + at, w
					}
				}
			}
		}
	}
	return 0, 0
}

// isRandom reports whether bytes are neither text nor small numbers.
func isRandom(b []byte) bool {
	high := 0
	for _, c := range b {
		if c >= 0x80 {
			high++
		}
	}
	return high >= len(b)/4
}

// gapStart returns the offset of a gap.
func (e *Envelope) gapStart(gap int) int {
	if gap == len(e.Bodies) {
		return len(e.whole) - len(e.Gaps[gap])
	}
	return e.starts[gap] - len(e.Gaps[gap])
}

// A Part is a gap, or a field in a gap.
type Part struct {
	Offset, Size             int
	What                     string
	Derived, Doubtful, Wrong bool
	Record                   int // with the wrong part
}

// Fault returns a text about a wrong part.
func (p *Part) Fault() string {
	return fmt.Sprintf("offset %d: the %s in record %d is not that of its values", p.Offset, p.What, p.Record)
}

// Parts iterates over the parts of an envelope, without the parts of inner envelopes. All records are one part; the
// fields of the first record follow, and fields that are wrong in their record but right in others.
func (e *Envelope) Parts(yield func(Part) bool) {
	n := len(e.Bodies)
	parts := []Part{{Size: len(e.Gaps[0]), What: "header"}, {Offset: e.gapStart(n), Size: len(e.Gaps[n]), What: "trailer"}}
	if n > 1 {
		before, after := e.edges()
		start, end := e.starts[0]-before, e.gapStart(n)+after
		parts = []Part{{Size: start, What: "header"}, {Offset: start, Size: end - start, What: "records"}, {Offset: end, Size: len(e.whole) - end, What: "trailer"}}
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		parts = append(parts, Part{Offset: e.pos(f.At), Size: f.Width, What: f.Name(), Derived: true, Doubtful: f.Doubtful})
		for _, r := range f.wrong {
			parts = append(parts, Part{Offset: e.pos(f.At.of(r)), Size: f.Width, What: f.Name(), Derived: true, Wrong: true, Record: r})
		}
	}
	if at, size := e.Secret(); size > 0 {
		parts = append(parts, Part{Offset: at, Size: size, What: "checksum with a secret", Doubtful: true})
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return a.Offset - b.Offset })
	for _, p := range parts {
		if p.Size > 0 && !yield(p) {
			return
		}
	}
}

// String describes the bytes around the values, such as "after a header of 8 bytes (size at 4, which is written
// anew)".
func (e *Envelope) String() string {
	var parts []string
	n := len(e.Bodies)
	header, trailer := e.fields(func(f *Field) bool { return !f.Each && !f.At.End }), e.fields(func(f *Field) bool { return !f.Each && f.At.End })
	before, after := len(e.Gaps[0]), len(e.Gaps[n])
	if n > 1 {
		own, tail := e.edges()
		before, after = before-own, after-tail
		parts = append(parts, fmt.Sprintf("in %d records%s", n, e.fields(func(f *Field) bool { return f.Each })))
	}
	if before > 0 {
		parts = append(parts, fmt.Sprintf("after a header of %s%s", bytesText(before), header))
	}
	if after > 0 {
		parts = append(parts, fmt.Sprintf("before a trailer of %s%s", bytesText(after), trailer))
	}
	b := &e.Bodies[0]
	if b.Info.Container != fileaccess.Plain {
		parts = append(parts, "compressed with "+b.Info.Mode.String())
	}
	if b.Info.Base64.Text {
		parts = append(parts, "in base64")
	}
	if b.Inner != nil {
		parts = append(parts, "and in it "+b.Inner.String())
	}
	return strings.Join(parts, ", ")
}

func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprint(n, " bytes")
}

// fields describes some of the fields, in parentheses.
func (e *Envelope) fields(some func(*Field) bool) string {
	var names []string
	for i := range e.Fields {
		if f := &e.Fields[i]; some(f) {
			text := fmt.Sprintf("%s at %d", f.Name(), e.pos(f.At.of(0))-e.base(f))
			if f.Doubtful {
				text = "perhaps " + text
			}
			names = append(names, text)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return " (" + names[0] + ", which is written anew)"
	case 2:
		return " (" + strings.Join(names, ", ") + "; both are written anew)"
	}
	return " (" + strings.Join(names, ", ") + "; all are written anew)"
}

// base returns the offset from which offsets of a field are counted: for a field in each record, the start of the
// record.
func (e *Envelope) base(f *Field) int {
	if !f.Each {
		return 0
	}
	start := e.starts[0]
	for i := range e.Fields {
		if g := &e.Fields[i]; g.Each && !g.At.End {
			start = min(start, e.pos(g.At))
		}
	}
	return start
}
