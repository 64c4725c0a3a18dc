package explain

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire/fileaccess"
)

// Write returns the bytes with other values, as many as Values returns, if the rivals write the same; otherwise the error
// is a *DoubtError. Streams whose content changes are packed anew, and all other bytes stay but for the fields.
func (p *Parse) Write(values [][]byte) ([]byte, error) {
	was := p.Values()
	if len(values) != len(was) {
		return nil, fmt.Errorf("the file contains %d records, and cannot be written with %d", len(was), len(values))
	}
	next, _, err := p.with(values)
	if err != nil {
		return nil, err
	}
	out := next.join()
	switch {
	case next == p:
		return out, nil
	case p.unsearched != nil:
		return nil, p.unsearched
	case len(p.Rivals) == 0:
		return out, nil
	}
	names := p.leaves("")
	for _, r := range p.Rivals {
		theirs, others, missing := r.Values(), r.leaves(""), false
		for i, v := range values {
			if !bytes.Equal(v, was[i]) {
				k := slices.Index(others, names[i])
				if missing = missing || k < 0; k >= 0 {
					theirs[k] = v
				}
			}
		}
		if missing {
			continue // no values there
		}
		other, _, err := r.with(theirs)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(out, other.join()) {
			return nil, doubt(p, next, r, other)
		}
	}
	return out, nil
}

// WriteContent is Write for a content like that of Content.
func (p *Parse) WriteContent(content []byte) ([]byte, error) {
	if p.count != nil {
		return nil, p.count
	}
	if bytes.Equal(content, p.Content()) {
		return p.join(), nil
	}
	values := [][]byte{content}
	if len(p.Values()) > 1 {
		values = nil
		for len(content) > 0 {
			n := lengthSize
			if len(content) >= n {
				n += int(binary.LittleEndian.Uint32(content))
			}
			if n > len(content) {
				return nil, fmt.Errorf("record %d is cut", len(values))
			}
			values, content = append(values, content[lengthSize:n]), content[n:]
		}
	}
	return p.Write(values)
}

// doubt names the first part that p writes as a, and r as b, differently.
func doubt(p, a, r, b *Parse) error {
	mine, theirs := p.changed(a), r.changed(b)
	e := &DoubtError{Offset: -1, First: ownWords, Second: ownWords}
	for at, w := range mine {
		if got, ok := theirs[at]; (!ok || !bytes.Equal(got.now, w.now)) && (e.Offset < 0 || at < e.Offset) {
			*e = DoubtError{Offset: at, Was: w.was, First: w.name, Second: ownWords}
			if ok {
				e.Second = got.name
			}
		}
	}
	for at, w := range theirs {
		if _, ok := mine[at]; !ok && (e.Offset < 0 || at < e.Offset) {
			*e = DoubtError{Offset: at, Was: w.was, First: w.name, Second: ownWords}
		}
	}
	if e.Offset < 0 {
		return errors.New("the bytes can be written in two ways")
	}
	return e
}

// A rewritten is a field before and after.
type rewritten struct {
	was, now []byte
	name     string
}

// changed returns the fields that differ in next, by their offsets in p.
func (p *Parse) changed(next *Parse) map[int]rewritten {
	all := map[int]rewritten{}
	for i, at := range p.starts()[:len(p.Parts)] {
		if a, b := &p.Parts[i], &next.Parts[i]; a.Kind == Fact && !bytes.Equal(a.Bytes, b.Bytes) {
			all[at] = rewritten{a.Bytes, b.Bytes, withArticle(a.Field.Name())}
		}
	}
	return all
}

// with returns the parse with other values, and the values that are left.
func (p *Parse) with(values [][]byte) (*Parse, [][]byte, error) {
	next := &Parse{Format: p.Format, Parts: slices.Clone(p.Parts)}
	changed := false
	for i := range next.Parts {
		part := &next.Parts[i]
		was := part.Bytes
		switch part.Kind {
		case Value:
			part.Bytes, values = values[0], values[1:]
		case Packed:
			inner, rest, err := part.Stream.Inner.with(values)
			if err != nil {
				return nil, nil, err
			}
			values = rest
			if inner != part.Stream.Inner {
				s := *part.Stream
				s.Inner = inner
				part.Stream = &s
				if part.Bytes, err = s.pack(); err != nil {
					return nil, nil, err
				}
			}
		}
		changed = changed || !bytes.Equal(was, part.Bytes)
	}
	if !changed {
		return p, values, nil
	}
	return next, values, next.derive()
}

// pack returns the bytes of a stream of its content.
func (s *Stream) pack() ([]byte, error) {
	content := s.Inner.join()
	if s.encoding != nil {
		return s.encoding.AppendEncode(nil, content), nil
	}
	var out bytes.Buffer
	w, err := fileaccess.NewWriter(&out, s.Info, nil)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(content)
	err = cmp.Or(err, w.Close())
	return out.Bytes(), err
}

// derive writes the fields, until none changes any more.
func (p *Parse) derive() error {
	const most = 8
	for range most {
		starts, whole := p.starts(), p.join()
		same := true
		for i := range p.Parts {
			part := &p.Parts[i]
			if part.Kind != Fact {
				continue
			}
			want, err := p.fact(i, starts, whole)
			if err != nil {
				return err
			}
			if part.Field.Wrong && bytes.Equal(want, part.Field.right) {
				continue
			}
			if !bytes.Equal(part.Bytes, want) {
				part.Bytes, same = want, false
			}
		}
		if same {
			return nil
		}
	}
	return errors.New("the checksums contain each other")
}

// fact returns the bytes of a field.
func (p *Parse) fact(i int, starts []int, whole []byte) ([]byte, error) {
	part := &p.Parts[i]
	f, r := part.Field.Form, &part.Field.Rule
	var b []byte
	switch {
	case r.Content:
		b = p.Parts[r.From].Stream.Inner.join()
	case r.Sum != nil && r.Zeroed:
		b = slices.Concat(whole[starts[r.From]:starts[i]], make([]byte, len(part.Bytes)), whole[starts[i+1]:starts[r.To]])
	default:
		b = whole[starts[r.From]:max(starts[r.From], starts[r.To])]
	}
	if r.Sum != nil {
		return f.digest(r.Sum.of(b)), nil
	}
	n := len(b) + r.Add
	switch {
	case r.Count:
		n = p.bodies()
	case r.Start:
		n = starts[r.From]
	}
	number, err := f.number(uint64(n))
	if err != nil {
		err = fmt.Errorf("%w at offset %d", err, starts[i])
	}
	return number, err
}
