// Package explain finds the cheapest explanation of all bytes of a save: values, and what a game writes around them.
//
// An explanation is a row of parts from the first byte to the last: values, their lengths, streams, sizes, checksums and
// bytes of the game's own. Each part has a price in bits, for what must be said to know its bytes, and the prices are
// in price.go. The parse of a file is the cheapest explanation; explanations within Margin are its rivals, and a file
// is written only if the parse and its rivals write the same bytes.
package explain

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
)

// A Kind is a kind of part.
type Kind uint8

// The kinds.
const (
	Own    Kind = iota // bytes of the game's own, which stay
	Value              // a value as engines write it
	Cut                // damage: the start of a value at the end or up to the next body, or a value with damage in it
	Packed             // a compressed stream, an encrypted file, or base64 text
	Fact               // a number or checksum that follows from other parts
	Blob               // a file of another format, such as an image, which stays
)

// A Part is a part of a file.
type Part struct {
	Kind   Kind
	Bytes  []byte
	Stream *Stream // of Packed
	Field  *Field  // of Fact
}

// A Stream describes a part that is decompressed or decoded.
type Stream struct {
	Info  fileaccess.Info
	Inner *Parse // of the content

	encoding *base64.Encoding // of text
	key      *fileaccess.Key
	latest   *packed // the latest bytes of a changed content: those of an encrypted one are others each time
}

// A Field is a number or checksum.
type Field struct {
	Form  Form
	Rule  Rule
	Wrong bool // damage: the field does not fit, and stays until what it is of changes
	Each  bool // records have the field in the same place
	After bool // of the body before it

	right []byte // of a wrong field
}

// A Rule is a meaning of a field.
type Rule struct {
	Sum      *sum // nil for the size in bytes
	From, To int  // the parts from From to before To
	Content  bool // the content of the part From
	Count    bool // the number of bodies
	Start    bool // the offset of the part From
	Add      int
	Zeroed   bool // the field itself counts as zeros
}

// A Parse is an explanation of all bytes.
type Parse struct {
	Format gdwire.Format
	Parts  []Part
	Saving float64  // in bits, against no values at all
	Rivals []*Parse // within Margin, or more with one more size
	Err    error    // a CutError or a LengthError; the parse is of the whole records, or with the right length, then

	doubtful bool // other values are within Doubt
	// unsearched doubts bytes that can be a checksum, if the search of checksums reached its bound.
	unsearched *DoubtError
	count      *DoubtError // perhaps the number of records of a cut file, or its size, or nil
	isOther    bool        // a rival with values in other places
	content    []byte
}

// Values returns the values in their order, and damaged ones as they are.
func (p *Parse) Values() (all [][]byte) {
	for i := range p.Parts {
		switch part := &p.Parts[i]; part.Kind {
		case Value, Cut:
			all = append(all, part.Bytes)
		case Packed:
			all = append(all, part.Stream.Inner.Values()...)
		}
	}
	return all
}

// lengthSize is the size of the lengths before packets.
const lengthSize = 4

// Content returns the value, or several values as packets after lengths of 32 bits.
func (p *Parse) Content() []byte {
	if p.content == nil {
		values := p.Values()
		if len(values) == 1 {
			p.content = values[0]
			return p.content
		}
		for _, v := range values {
			p.content = append(binary.LittleEndian.AppendUint32(p.content, uint32(len(v))), v...)
		}
	}
	return p.content
}

// Sure reports whether no other values explain the bytes about equally well.
func (p *Parse) Sure() bool {
	return !p.doubtful && !slices.ContainsFunc(p.Rivals, func(r *Parse) bool { return r.isOther })
}

// IsPlain reports whether there is nothing but values, all alone or all after lengths of 32 bits in the same order.
func (p *Parse) IsPlain() bool {
	var form Form
	for i := range p.Parts {
		part := &p.Parts[i]
		switch part.Kind {
		case Fact:
			f := part.Field
			if f.Form.Width != lengthSize || f.Form.Text != 0 || f.Rule.Sum != nil || f.Rule.Add != 0 || f.Rule.From != i+1 || f.Rule.To != i+2 || i > 0 && f.Form != form {
				return false
			}
			form = f.Form
		case Value, Cut:
			if i > 0 && (form.Width > 0) != (p.Parts[i-1].Kind == Fact) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// IsDamaged reports whether a part is damage.
func (p *Parse) IsDamaged() bool {
	return slices.ContainsFunc(p.Parts, func(x Part) bool {
		return x.Kind == Cut || x.Kind == Fact && x.Field.Wrong && x.Field.Rule.Sum == nil || x.Kind == Packed && x.Stream.Inner.IsDamaged()
	})
}

// hasSum reports whether there is a checksum. A sum of bytes is too small to prove anything.
func (p *Parse) hasSum() bool {
	return slices.ContainsFunc(p.Parts, func(x Part) bool { return x.Kind == Fact && x.Field.Rule.Sum != nil && x.Field.Rule.Sum != plainSum })
}

// starts returns the offsets of the parts, and the size of all.
func (p *Parse) starts() []int {
	starts := make([]int, len(p.Parts)+1)
	for i := range p.Parts {
		starts[i+1] = starts[i] + len(p.Parts[i].Bytes)
	}
	return starts
}

// isBody reports whether the part holds values.
func (x *Part) isBody() bool { return x.Kind == Value || x.Kind == Cut || x.Kind == Packed }

// IsBase64URL reports whether the part is text in base64url.
func (x *Part) IsBase64URL() bool {
	return x.Kind == Packed && x.Stream.encoding != nil && bytes.ContainsAny(x.Bytes, "-_")
}

// Own returns the number of bytes of the game's own.
func (p *Parse) Own() (n int) {
	_, n = p.measure(func(x *Part) bool { return x.Kind == Own })
	return n
}

// Around returns the number of bytes that are no values and no streams.
func (p *Parse) Around() (n int) {
	_, n = p.measure(func(x *Part) bool { return !x.isBody() })
	return n
}

// HasTail reports whether bytes of the game's own are the last.
func (p *Parse) HasTail() bool { return len(p.Parts) > 0 && p.Parts[len(p.Parts)-1].Kind == Own }

// bodies returns the number of bodies.
func (p *Parse) bodies() (n int) {
	n, _ = p.measure((*Part).isBody)
	return n
}

// measure returns the number of some parts, and of their bytes.
func (p *Parse) measure(is func(*Part) bool) (n, size int) {
	for i := range p.Parts {
		if x := &p.Parts[i]; is(x) {
			n, size = n+1, size+len(x.Bytes)
		}
	}
	return n, size
}

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

// At returns Offset.
func (e *CutError) At() int { return e.Offset }

// A LengthError reports the wrong length of a value that is whole.
type LengthError struct {
	Offset       int
	Length, Size int64 // what the length says, and the bytes of the value
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("offset %d: the length is %d and the value has %s: get_var reads null", e.Offset, e.Length, bytesText(int(e.Size)))
}

// At returns Offset.
func (e *LengthError) At() int { return e.Offset }

// A leaf is the place of a value: the streams that contain it, and its offset and size in the innermost.
type leaf struct {
	in       string
	at, size int
}

// leaves returns the places of the values.
func (p *Parse) leaves(in string) (all []leaf) {
	at := 0
	for i := range p.Parts {
		part := &p.Parts[i]
		switch x := (leaf{in, at, len(part.Bytes)}); part.Kind {
		case Value, Cut:
			all = append(all, x)
		case Packed:
			all = append(all, part.Stream.Inner.leaves(fmt.Sprint(x))...)
		}
		at += len(part.Bytes)
	}
	return all
}

// Levels returns the bytes, and if they are one stream, its content, and so on.
func (p *Parse) Levels() (all [][]byte) {
	for {
		all = append(all, p.Bytes())
		if len(p.Parts) != 1 || p.Parts[0].Kind != Packed {
			return all
		}
		p = p.Parts[0].Stream.Inner
	}
}

// Streams returns the contents and bytes of the streams around the i-th value, from the innermost.
func (p *Parse) Streams(i int) [][]byte {
	for k := range p.Parts {
		switch part := &p.Parts[k]; part.Kind {
		case Value:
			i--
		case Packed:
			in := part.Stream.Inner
			if n := len(in.Values()); i >= n {
				i -= n
			} else {
				return append(in.Streams(i), in.Bytes(), part.Bytes)
			}
		}
		if i < 0 {
			return nil
		}
	}
	return nil
}

// Bytes returns the bytes of all parts.
func (p *Parse) Bytes() []byte {
	all := make([][]byte, len(p.Parts))
	for i := range p.Parts {
		all[i] = p.Parts[i].Bytes
	}
	return slices.Concat(all...)
}

// Name returns the name of what the field contains, such as "CRC-32".
func (f *Field) Name() string {
	switch r := &f.Rule; {
	case r.Count:
		return "number of records"
	case r.Start:
		return "offset"
	case r.Content && r.Sum == nil:
		return "size of the content"
	case r.Sum == nil:
		return "size"
	default:
		return r.Sum.name
	}
}

func withArticle(name string) string {
	if name == "size" {
		return "a size"
	}
	return "the " + name
}

func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprint(n, " bytes")
}

// A DoubtError reports bytes with two meanings, which would be written differently.
type DoubtError struct {
	Offset        int
	Was           []byte
	First, Second string
}

func (e *DoubtError) Error() string {
	second := e.Second
	if second == ownWords {
		second = "something else such as a version"
	}
	what := fmt.Sprintf("the bytes % x", e.Was)
	if n := len(e.Was); n > 0 && n <= 8 {
		what = fmt.Sprint("the number ", Form{Width: n}.read(e.Was))
	}
	return fmt.Sprintf("%s at offset %d is %s, or %s", what, e.Offset, e.First, second)
}

// at returns the error with the offset of a stream in place of that in it.
func (e *DoubtError) at(offset int) *DoubtError {
	outer := *e
	outer.Offset = offset
	return &outer
}

const ownWords = "bytes of the game's own"

// Write returns the bytes with other values, as many as Values returns, if the rivals write the same; otherwise the error
// is a *DoubtError. Streams whose content changes are packed anew, and all other bytes stay but for the fields.
func (p *Parse) Write(values [][]byte) ([]byte, error) {
	next, err := p.Rewrite(values)
	if err != nil {
		return nil, err
	}
	return next.Bytes(), nil
}

// Rewrite returns the parse of the bytes that Write returns.
func (p *Parse) Rewrite(values [][]byte) (*Parse, error) {
	was := p.Values()
	if len(values) != len(was) {
		return nil, fmt.Errorf("the file contains %d records, and cannot be written with %d", len(was), len(values))
	}
	next, err := p.with(values, (*Parse).Rewrite)
	switch {
	case err != nil:
		return nil, err
	case next == p:
		return p, nil
	case p.unsearched != nil:
		return nil, p.unsearched
	case len(p.Rivals) == 0:
		return next, nil
	}
	out, names := next.Bytes(), p.leaves("")
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
		other, err := r.with(theirs, (*Parse).changedTo)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(out, other.Bytes()) {
			return nil, doubt(p, next, r, other)
		}
	}
	return next, nil
}

// WithContent is Rewrite for a content like that of Content.
func (p *Parse) WithContent(content []byte) (*Parse, error) {
	if p.count != nil {
		return nil, p.count
	}
	if bytes.Equal(content, p.Content()) {
		return p, nil
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
	return p.Rewrite(values)
}

// doubt names the first part that p writes as a, and r as b, differently.
func doubt(p, a, r, b *Parse) error {
	mine, theirs := p.changed(a), r.changed(b)
	e := &DoubtError{Offset: math.MaxInt}
	for _, both := range [][2]map[int]rewritten{{mine, theirs}, {theirs, mine}} {
		for at, w := range both[0] {
			if other := both[1][at]; at < e.Offset && !bytes.Equal(other.now, w.now) {
				*e = DoubtError{Offset: at, Was: w.was, First: w.name, Second: cmp.Or(other.name, ownWords)}
			}
		}
	}
	if e.Was == nil {
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

// changedTo returns the parse with other values, whatever its rivals write.
func (p *Parse) changedTo(values [][]byte) (*Parse, error) { return p.with(values, (*Parse).changedTo) }

// with returns the parse with other values. Those in streams are changed by change.
func (p *Parse) with(values [][]byte, change func(*Parse, [][]byte) (*Parse, error)) (*Parse, error) {
	next := &Parse{Format: p.Format, Parts: slices.Clone(p.Parts)}
	changed := false
	for i := range next.Parts {
		part := &next.Parts[i]
		was := part.Bytes
		switch part.Kind {
		case Value, Cut:
			if part.Bytes, values = values[0], values[1:]; !bytes.Equal(was, part.Bytes) {
				next.mend(i)
			}
		case Packed:
			s := *part.Stream
			n := len(s.Inner.Values())
			inner, err := change(s.Inner, values[:n])
			if e, ok := err.(*DoubtError); ok {
				return nil, e.at(p.starts()[i])
			}
			if values = values[n:]; err == nil && inner != s.Inner {
				s.Inner, part.Stream = inner, &s
				part.Bytes, err = s.pack()
			}
			if err != nil {
				return nil, err
			}
		}
		changed = changed || !bytes.Equal(was, part.Bytes)
	}
	if !changed {
		return p, nil
	}
	return next, next.derive()
}

// mend notes that a value is whole, and so its length.
func (p *Parse) mend(i int) {
	p.Parts[i].Kind = Value
	if i > 0 && p.Parts[i-1].Kind == Fact && p.Parts[i-1].Field.Rule.From == i {
		f := *p.Parts[i-1].Field
		f.Wrong, p.Parts[i-1].Field = f.Wrong && f.Rule.Sum != nil, &f
	}
}

// pack returns the bytes of a stream of its content.
func (s *Stream) pack() ([]byte, error) {
	content := s.Inner.Bytes()
	if s.encoding != nil {
		return s.encoding.AppendEncode(nil, content), nil
	}
	if s.key != nil && s.latest.Packed != nil && bytes.Equal(s.latest.Content, content) {
		return s.latest.Packed, nil
	}
	var out bytes.Buffer
	w, err := fileaccess.NewWriter(&out, s.Info, s.key)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(content)
	err = cmp.Or(err, w.Close())
	if s.key != nil {
		s.latest.Packed, s.latest.Content = out.Bytes(), content
	}
	return out.Bytes(), err
}

// derive writes the fields, until none changes any more.
func (p *Parse) derive() error {
	const most = 8
	for range most {
		starts, whole := p.starts(), p.Bytes()
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
		b = p.Parts[r.From].Stream.Inner.Bytes()
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
