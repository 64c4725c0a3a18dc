package explain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gdwire/gdwire/fileaccess"
)

// A Region is a header, trailer or records, or a field in these.
type Region struct {
	Offset, Size             int
	What                     string
	Derived, Doubtful, Wrong bool
	Record                   int // with the wrong field
}

// Fault returns a text about a wrong region.
func (r *Region) Fault() string {
	return fmt.Sprintf("offset %d: the %s in record %d is not that of its values", r.Offset, r.What, r.Record)
}

// frame returns the offsets of the first body, of the first and last record, and the end of the last body. Without
// records, these are those of the body.
func (p *Parse) frame() (body, first, last, end int) {
	starts := p.starts()
	var gaps []gapSpan
	after, at, before, own := 0, 0, -1, -1
	for i := range p.Parts {
		part := &p.Parts[i]
		switch {
		case part.isBody():
			gaps, at = append(gaps, gapSpan{at, starts[i]}), starts[i+1]
		case len(gaps) == 1 && part.Kind == Fact && part.Field.Each && part.Field.After:
			after = starts[i+1] - at
		case len(gaps) == 0 && part.Kind == Fact && part.Field.Each && before < 0:
			before = starts[i]
		}
	}
	body, end = gaps[0].to, at
	if first = body; before >= 0 {
		first = before
	}
	if len(gaps) == 1 {
		return body, body, end, end
	}
	for _, g := range gaps[1:] {
		if own < 0 || own == g.to-g.from {
			own = g.to - g.from
		} else {
			own = 0
			break
		}
	}
	if after == 0 && own > 0 {
		after = p.sameAfter(gaps[1].from, end)
	}
	if own > after && own-after <= body {
		first = min(first, body-own+after)
	}
	return body, first, min(end+after, starts[len(p.Parts)]), end
}

// sameAfter returns the number of bytes of the game's own at an offset that are repeated at the end.
func (p *Parse) sameAfter(at, end int) int {
	whole := p.join()
	for i, start := range p.starts() {
		if start == at && p.Parts[i].Kind == Own && bytes.Equal(whole[end:], p.Parts[i].Bytes) {
			return len(p.Parts[i].Bytes)
		}
	}
	return 0
}

// Regions iterates over the header, the records and the trailer, with their fields: of records, those of the first, and
// wrong ones.
func (p *Parse) Regions(yield func(Region) bool) {
	starts := p.starts()
	size := starts[len(p.Parts)]
	n := p.bodies()
	body, first, last, end := p.frame()
	all := []Region{{Size: first, What: "header"}, {Offset: last, Size: size - last, What: "trailer"}}
	if n > 1 {
		all = slices.Insert(all, 1, Region{Offset: first, Size: last - first, What: "records"})
	}
	doubtful := p.doubts()
	record := 0
	seen := map[int]bool{}
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.isBody() {
			record++
			continue
		}
		if f := part.Field; f != nil {
			of := record
			if f.After {
				of--
			}
			r := Region{Offset: starts[i], Size: len(part.Bytes), What: f.Name(), Derived: true, Doubtful: doubtful[starts[i]], Wrong: f.Wrong}
			if isFirst := !f.Each || of == 0; isFirst || f.Wrong {
				if f.Wrong {
					r.Record = of
				}
				seen[starts[i]] = true
				all = append(all, r)
			}
		}
	}
	for _, r := range p.Rivals {
		at := r.starts()
		for i := range r.Parts {
			if f := r.Parts[i].Field; f != nil && doubtful[at[i]] && !seen[at[i]] && (at[i] < body || at[i] >= end) {
				seen[at[i]] = true
				all = append(all, Region{Offset: at[i], Size: len(r.Parts[i].Bytes), What: f.Name(), Derived: true, Doubtful: true})
			}
		}
	}
	if at, size := p.Secret(); size > 0 {
		all = append(all, Region{Offset: at, Size: size, What: "checksum with a secret", Doubtful: true})
	}
	slices.SortStableFunc(all, func(a, b Region) int { return a.Offset - b.Offset })
	for _, r := range all {
		if r.Size > 0 && !yield(r) {
			return
		}
	}
}

// doubts returns the offsets of the fields that are none, or others, in a rival.
func (p *Parse) doubts() map[int]bool {
	doubtful := map[int]bool{}
	for _, r := range p.Rivals {
		mine, theirs := p.names(), r.names()
		for len(mine) > 0 || len(theirs) > 0 {
			switch {
			case len(theirs) == 0 || len(mine) > 0 && mine[0].at < theirs[0].at:
				doubtful[mine[0].at], mine = true, mine[1:]
			case len(mine) == 0 || theirs[0].at < mine[0].at:
				doubtful[theirs[0].at], theirs = true, theirs[1:]
			default:
				if mine[0].name != theirs[0].name {
					doubtful[mine[0].at] = true
				}
				mine, theirs = mine[1:], theirs[1:]
			}
		}
	}
	return doubtful
}

// A named is a field with its name.
type named struct {
	at   int
	name string
}

// names returns the fields without counts, which stay, and offsets, which mostly do.
func (p *Parse) names() (all []named) {
	starts := p.starts()
	for i := range p.Parts {
		if f := p.Parts[i].Field; f != nil && !f.Rule.Count && !f.Rule.Start {
			all = append(all, named{starts[i], f.Name()})
		}
	}
	return all
}

// Faults returns the wrong fields.
func (p *Parse) Faults() (all []Region) {
	for r := range p.Regions {
		if r.Wrong {
			all = append(all, r)
		}
	}
	return all
}

// String describes the bytes around the values, such as "after a header of 8 bytes (size at 4, which is written
// anew)".
func (p *Parse) String() string {
	var texts []string
	starts := p.starts()
	n, size := p.bodies(), starts[len(p.Parts)]
	body, first, last, end := p.frame()
	var header, records, trailer []Region
	for r := range p.Regions {
		switch {
		case !r.Derived || r.Wrong && n > 1:
		case r.Offset < first:
			header = append(header, r)
		case n == 1 && r.Offset < body:
			header = append(header, r)
		case r.Offset >= last:
			trailer = append(trailer, r)
		case n > 1:
			r.Offset -= first
			records = append(records, r)
		}
	}
	if n > 1 {
		texts = append(texts, fmt.Sprintf("in %d records%s", n, fieldsText(records)))
	} else {
		first, last = body, end
	}
	if first > 0 {
		texts = append(texts, fmt.Sprintf("after a header of %s%s", bytesText(first), fieldsText(header)))
	}
	if last < size {
		texts = append(texts, fmt.Sprintf("before a trailer of %s%s", bytesText(size-last), fieldsText(trailer)))
	}
	i := slices.IndexFunc(p.Parts, func(x Part) bool { return x.isBody() })
	if s := p.Parts[i].Stream; s != nil {
		if s.Info.Container != fileaccess.Plain {
			texts = append(texts, "compressed with "+s.Info.Mode.String())
		}
		if s.Info.Base64.Text {
			texts = append(texts, "in base64")
		}
		if len(s.Inner.Parts) > 1 {
			texts = append(texts, "and in it "+s.Inner.String())
		}
	}
	return strings.Join(texts, ", ")
}

// fieldsText describes fields, in parentheses.
func fieldsText(fields []Region) string {
	var names []string
	for i := range fields {
		text := fmt.Sprintf("%s at %d", fields[i].What, fields[i].Offset)
		if fields[i].Doubtful {
			text = "perhaps " + text
		}
		names = append(names, text)
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
