package explain

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire/fileaccess"
)

// What an explanation says in words, and where a file is cut or a part damaged.

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

// gaps returns the gaps before the bodies and after the last one, and the size of the fields at the start of each that are of the
// body before it.
func (p *Parse) gaps() (all []gapSpan, after []int) {
	starts := p.starts()
	at, fields := 0, 0
	for i := range p.Parts {
		switch part := &p.Parts[i]; {
		case part.isBody():
			all, after = append(all, gapSpan{at, starts[i]}), append(after, fields)
			at, fields = starts[i+1], 0
		case part.Kind == Fact && part.Field.Each && part.Field.After:
			fields = starts[i+1] - at
		}
	}
	return append(all, gapSpan{at, starts[len(p.Parts)]}), append(after, fields)
}

// frame returns the offsets of the first body, of the first and last record, and the end of the last body. Without
// records, these are those of the body.
func (p *Parse) frame() (body, first, last, end int) {
	gaps, after := p.gaps()
	n := len(gaps) - 1
	body, end = gaps[0].to, gaps[n].from
	if n == 1 {
		return body, body, end, end
	}
	i := slices.IndexFunc(p.Parts, func(x Part) bool { return x.isBody() || x.Kind == Fact && x.Field.Each })
	first = p.starts()[i]
	own, fields := gaps[1].to-gaps[1].from, after[1]
	if slices.ContainsFunc(gaps[2:n], func(g gapSpan) bool { return g.to-g.from != own }) {
		own = 0
	}
	if fields == 0 && own > 0 {
		fields = p.sameAfter(gaps[1].from, end)
	}
	if own > fields && own-fields <= body {
		first = min(first, body-own+fields)
	}
	return body, first, min(end+fields, gaps[n].to), end
}

// sameAfter returns the number of bytes of the game's own at an offset that are repeated at the end.
func (p *Parse) sameAfter(at, end int) int {
	whole := p.Bytes()
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
	if len(p.Parts) == 0 {
		return
	}
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
	mine := p.names()
	for _, r := range p.Rivals {
		theirs := r.names()
		for at, name := range mine {
			if theirs[at] != name {
				doubtful[at] = true
			}
		}
		for at := range theirs {
			if mine[at] == "" {
				doubtful[at] = true
			}
		}
	}
	return doubtful
}

// names returns the names of fields by their offsets, without counts, which stay, and offsets, which mostly do.
func (p *Parse) names() map[int]string {
	all, starts := map[int]string{}, p.starts()
	for i := range p.Parts {
		if f := p.Parts[i].Field; f != nil && !f.Rule.Count && !f.Rule.Start {
			all[starts[i]] = f.Name()
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
	_, first, last, _ := p.frame()
	var header, records, trailer []Region
	for r := range p.Regions {
		switch {
		case !r.Derived || r.Wrong && n > 1:
		case r.Offset < first:
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
	}
	if first > 0 {
		texts = append(texts, fmt.Sprintf("after a header of %s%s", bytesText(first), fieldsText(header)))
	}
	if last < size {
		texts = append(texts, fmt.Sprintf("before a trailer of %s%s", bytesText(size-last), fieldsText(trailer)))
	}
	i := slices.IndexFunc(p.Parts, func(x Part) bool { return x.isBody() })
	if s := p.Parts[i].Stream; s != nil {
		switch s.Info.Container {
		case fileaccess.Plain:
		case fileaccess.Encrypted:
			texts = append(texts, "encrypted as by "+s.Info.Layout.String())
		default:
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

// Kept describes the bytes that stay: those of the game's own in the header, the first record and the trailer.
func (p *Parse) Kept() (all []string) {
	starts, n := p.starts(), 0
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.isBody() {
			n++
		}
		isRecord := n > 1 && n < p.bodies()
		switch {
		case isRecord:
		case part.Kind == Blob:
			all = append(all, fmt.Sprintf("%s at %d", blobName(part.Bytes), starts[i]))
		case part.Kind == Own:
			for at := 0; at < len(part.Bytes); {
				name, size := describe(part.Bytes[at:])
				all = append(all, fmt.Sprintf("%s at %d", name, starts[i]+at))
				at += size
			}
		}
	}
	return all
}

// describe describes what bytes of the game's own begin with: a text, perhaps after its length, or a number, or all up to a text.
func describe(b []byte) (name string, size int) {
	const width, most = 4, 64
	text := func(b []byte) (size, start int) {
		if len(b) > width {
			if size = pascalSize(b, lengths[0].Form); size > 0 {
				return width + size, width
			}
		}
		for size < len(b) && isText(b[size:size+1]) {
			size++
		}
		return size, 0
	}
	if n, start := text(b); n >= letterRun || n == len(b) && n > 1 {
		return strconv.Quote(string(b[start:n])), n
	}
	for n := 0; n <= letterRun && size < len(b); n, _ = text(b[size:]) { // some bytes are letters by chance
		size++
	}
	first := b[:cmp.Or(size%width, min(size, width))]
	v := (Form{Width: len(first)}).read(first)
	x := math.Abs(float64(math.Float32frombits(uint32(v))))
	v = min(v, (Form{Width: len(first), Big: true}).read(first))
	switch isRow := size <= most && areNumbers(b[size%width:size]); {
	case !isRow && size > 1:
	case x > 1e-3 && x < 1e6 && v >= 1<<12:
		return fmt.Sprint("float ", math.Float32frombits(binary.LittleEndian.Uint32(first))), width
	case v < 1<<24:
		return fmt.Sprint("number ", v), len(first)
	default:
		return bytesText(len(first)), len(first)
	}
	return bytesText(size), size
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
	if len(names) == 0 {
		return ""
	}
	ends := [...]string{", which is", "; both are", "; all are"}
	return fmt.Sprintf(" (%s%s written anew)", strings.Join(names, ", "), ends[min(len(names), len(ends))-1])
}

// dropCut drops the cut record at the end, if there are whole records before it and more than lengths between them: a value
// that is cut, or a size of records that is more than what follows it.
func (p *Parse) dropCut(o *Options) {
	n := p.bodies()
	last := len(p.Parts) - 1
	for last > 0 && !p.Parts[last].isBody() {
		last--
	}
	if n < 2 || p.IsPlain() {
		return
	}
	whole := last // the last whole body
	if p.Parts[last].Kind == Cut {
		n--
		for whole--; !p.Parts[whole].isBody(); {
			whole--
		}
	}
	from := whole + 1
	for from < len(p.Parts) && p.Parts[from].Kind == Fact && p.Parts[from].Field.After {
		from++
	}
	missing := 0
	isCounted := slices.ContainsFunc(p.Parts, func(x Part) bool { return x.Kind == Fact && x.Field.Rule.Count })
	if rest := (Parse{Parts: p.Parts[from:]}); whole < last || !isCounted && !rest.hasSum() && !isLine(rest.Bytes()) { // a checksum or text is no start of a record
		missing = p.missing(whole, from)
	}
	if at, lacks := p.lacks(); lacks > 0 && whole == last {
		p.drop(at, &CutError{Record: n - 1, Offset: at, Missing: lacks}, o)
		return
	}
	if from < len(p.Parts) && (whole < last || missing > 0 && n >= 3) {
		at := p.starts()[from]
		p.drop(at, &CutError{Record: n, Offset: at, Missing: missing}, o)
	}
}

// lacksStream sets Err if a damaged stream is in bytes of the game's own, or is a file of another format: values can be in it.
func (p *Parse) lacksStream(damaged []*StreamError) {
	starts := p.starts()
	for _, e := range damaged {
		i, isStart := slices.BinarySearch(starts, e.Offset)
		if !isStart {
			i--
		}
		if p.Err == nil && i < len(p.Parts) && (p.Parts[i].Kind == Own || p.Parts[i].Kind == Blob && isStart) {
			p.Err = e
		}
	}
}

// correct corrects the lengths of whole values if there is nothing else. A length that counts itself is as wrong if others do not: no
// function of engines writes such a length.
func (p *Parse) correct() {
	var err error
	parts, counts := slices.Clone(p.Parts), len(p.Parts) > 2
	for i := 0; i < len(parts); i += 2 {
		f := parts[i].Field
		if f == nil || f.Form != parts[0].Field.Form || f.Form.Width != lengthSize || f.Form.Text != 0 || f.Rule.Sum != nil || f.Rule.From != i+1 || i+1 == len(parts) || parts[i+1].Kind != Value {
			return
		}
		counts = counts && f.Rule.Add != 0
	}
	for i, at := range p.starts()[:len(parts)] {
		if f := parts[i].Field; f != nil && (f.Wrong || f.Rule.Add != 0 && !counts) {
			err = cmp.Or(err, error(&LengthError{Offset: at, Length: int64(f.Form.read(parts[i].Bytes)), Size: int64(len(parts[i+1].Bytes))}))
			right := *f
			right.Wrong, right.right, right.Rule.Add = false, nil, 0
			parts[i].Field = &right
		}
	}
	if err != nil {
		p.Parts, p.Rivals = parts, nil
		p.Err = cmp.Or(p.derive(), err)
	}
}

// corrected returns the bytes with the right length of the only value, which is whole, and a LengthError, or nil if the number has
// another meaning.
func (p *Parse) corrected() ([]byte, error) {
	starts := p.starts()
	for i := range p.Parts[:len(p.Parts)-1] {
		part, value := &p.Parts[i], &p.Parts[i+1]
		if f := part.Field; f == nil || !f.Wrong || f.Form.Width != lengthSize || f.Rule.Sum != nil || f.Rule.From != i+1 || value.Kind != Value || p.bodies() > 1 || p.Err != nil {
			continue
		}
		if slices.ContainsFunc(p.Rivals, func(r *Parse) bool { return r.isRight(starts[i]) }) {
			continue
		}
		all := p.Bytes()
		copy(all[starts[i]:], part.Field.right)
		return all, &LengthError{Offset: starts[i], Length: int64(part.Field.Form.read(part.Bytes)), Size: int64(len(value.Bytes))}
	}
	return nil, nil
}

// IsTold reports whether a size is that of the only value.
func (p *Parse) IsTold() bool {
	return slices.ContainsFunc(p.Parts, func(x Part) bool {
		if x.Kind != Fact || x.Field.Wrong {
			return false
		}
		r := &x.Field.Rule
		return r.Sum == nil && !r.Count && !r.Start && r.To == r.From+1 && p.Parts[r.From].isBody()
	})
}

// CheckNumbers returns an error for an offset of keep or derive at which no number is kept or written anew.
func (p *Parse) CheckNumbers(keep, derive []int64) error {
	for n, offset := range slices.Concat(keep, derive) {
		starts, kind, isStart := p.starts(), Value, false
		if i, _ := slices.BinarySearch(starts[1:], int(offset)+1); i < len(p.Parts) {
			kind, isStart = p.Parts[i].Kind, starts[i] == int(offset)
		}
		isCount := kind == Own && p.Err != nil // of a file that is cut
		switch isKept := n < len(keep); {
		case isKept && (kind == Value || kind == Cut || kind == Packed && !isStart):
			return fmt.Errorf("offset %d: there is no number of the game's own that could be kept", offset)
		case !isKept && !isCount && (kind != Fact || !isStart):
			return fmt.Errorf("offset %d: there is no size or checksum of the game's own that could be written anew", offset)
		}
	}
	return nil
}

// isRight reports whether a field that is right begins at an offset.
func (p *Parse) isRight(at int) bool {
	i, ok := slices.BinarySearch(p.starts(), at)
	return ok && i < len(p.Parts) && p.Parts[i].Kind == Fact && !p.Parts[i].Field.Wrong
}

// guessCount finds a number in the header that can be the number of records before the file was cut: more than n.
func (p *Parse) guessCount(n int, o *Options) {
	const most = 1 << 20
	for i, at := range p.starts() {
		part := &p.Parts[i]
		if part.isBody() || part.Kind == Fact && part.Field.Rule.Count {
			return
		}
		for k := 0; part.Kind == Own && k+lengthSize <= len(part.Bytes); k += lengthSize {
			v := (Form{Width: lengthSize}).read(part.Bytes[k : k+lengthSize])
			if v <= uint64(n) || v > most || slices.Contains(o.Keep, at+k) {
				continue
			}
			if !slices.Contains(o.Derive, at+k) {
				p.count = &DoubtError{Offset: at + k, Was: part.Bytes[k : k+lengthSize], First: "the number of records", Second: ownWords}
				return
			}
			number, _ := (Form{Width: lengthSize}).number(uint64(n))
			part.Bytes = slices.Concat(part.Bytes[:k], number, part.Bytes[k+lengthSize:])
		}
	}
}

// missing returns how many bytes the record lacks whose parts begin at from, by the size in it, or 0 if there is none. The size
// is where it is in the whole record of the body.
func (p *Parse) missing(body, from int) int {
	starts := p.starts()
	first := body
	for first > 0 && !p.Parts[first-1].isBody() && !(p.Parts[first-1].Kind == Fact && p.Parts[first-1].Field.After) {
		first--
	}
	const more, least = 16, 12 // times the size of the whole record, and bytes of a stream
	isPacked := p.Parts[body].Kind == Packed
	whole := p.Bytes()
	for i := first; i < body; i++ {
		f := p.Parts[i].Field
		if f == nil || !f.Each || f.Rule.Sum != nil || f.Rule.Content || f.Rule.Count || f.Rule.Start || f.Form.Text != 0 || f.Rule.To != body+1 {
			continue
		}
		at := starts[from] + starts[i] - starts[first]
		if at+f.Form.Width > len(whole) {
			return 0
		}
		size := f.Form.read(whole[at : at+f.Form.Width])
		next := whole[min(at+starts[body]-starts[i], len(whole)):]
		if len(next) > 8 && !isHeader(next) && !isStream(next) && !copiesHeader(next) && !isBase64(next[:8]) {
			continue // no body
		}
		if isPacked && size < least || !isPacked && (size-f.Form.read(p.Parts[i].Bytes))%4 != 0 {
			continue // values differ by words
		}
		end := int64(at+starts[f.Rule.From]-starts[i]-f.Rule.Add) + int64(min(size, maxLength))
		if size > 4 && size < uint64(more*(starts[body+1]-starts[first])) {
			return max(0, int(end)-len(whole))
		}
	}
	return 0
}

// lacks returns where the last record begins, and how many bytes it lacks that all other records have after their bodies: a
// field, or more bytes between records than before the first one. Text between records does not end them.
func (p *Parse) lacks() (start, n int) {
	const least = 3 // records
	starts := p.starts()
	gaps, after := p.gaps()
	last := len(gaps) - 1
	if last < least {
		return 0, 0
	}
	at, need := gaps[last].from, slices.Min(after[1:last])
	gaps = gaps[:last]
	whole := p.Bytes()
	first := gaps[0].to - gaps[0].from
	between := whole[gaps[1].from:gaps[1].to]
	isOther := func(g gapSpan) bool { return g.to-g.from != len(between) }
	isText := func(g gapSpan) bool { return isWritten(whole[g.from : g.from+len(between)-first]) }
	own := len(between) - first
	if own > 0 && own <= len(whole)-at { // of equal sizes, those of the next body seem to be of the one before, too
		return 0, 0
	}
	if own > need && !slices.ContainsFunc(gaps[1:], isOther) && slices.ContainsFunc(gaps[1:], func(g gapSpan) bool { return !isText(g) }) {
		need = own
	}
	start = gaps[last-1].from + need
	i, isPart := slices.BinarySearch(starts, start)
	if n = need - (len(whole) - at); n <= 0 || !isPart && p.Parts[i-1].Kind != Own {
		return 0, 0
	}
	return start, n
}

// drop drops the bytes from an offset on. A number that is a size of bytes up to the end of a cut file is one by chance.
func (p *Parse) drop(at int, err *CutError, o *Options) {
	starts := p.starts()
	from, _ := slices.BinarySearch(starts, at)
	p.Parts = slices.Clone(p.Parts[:from])
	last := &p.Parts[from-1]
	last.Bytes = last.Bytes[:min(len(last.Bytes), at-starts[from-1])]
	for i := range p.Parts {
		if f := p.Parts[i].Field; f != nil && f.Rule.To > from {
			if f.Rule.From > from { // of what is dropped
				p.Parts[i].Kind, p.Parts[i].Field = Own, nil
				continue
			}
			field := *f
			field.Rule.To = from
			p.Parts[i].Field = &field
			if f.Rule.Sum == nil && !slices.Contains(o.Derive, starts[i]) {
				p.count = &DoubtError{Offset: starts[i], Was: p.Parts[i].Bytes, First: withArticle(f.Name()), Second: ownWords}
			}
		}
	}
	p.Rivals, p.Err = nil, cmp.Or(p.derive(), error(err))
	p.guessCount(err.Record, o)
}

// IsProved reports whether the parse cannot be a damaged row of packets: each gap between bodies contains nothing but text and
// fields, or a checksum; the bytes between records are as many each time; a header before the first length or stream is a number or two; and
// the bytes after the values cannot be what is left of one more.
func (p *Parse) IsProved() bool {
	const header = 8
	type gap struct {
		unknown    int // bytes
		sum, sized bool
	}
	gaps := []gap{{}}
	for i := range p.Parts {
		part, g := &p.Parts[i], &gaps[len(gaps)-1]
		switch {
		case part.isBody():
			g.sized = g.sized || part.Kind == Packed
			gaps = append(gaps, gap{})
		case part.Kind == Blob:
			g.sum = true
		case part.Kind == Fact:
			r := &part.Field.Rule
			g.sum = g.sum || r.Sum != nil || r.Content
			g.sized = g.sized || !r.Count && !r.Start && r.To == r.From+1 && p.Parts[r.From].isBody()
		case !isWords(part.Bytes):
			g.unknown += len(part.Bytes)
		}
	}
	last := len(gaps) - 1
	for i := range gaps[:last] {
		switch g := &gaps[i]; {
		case i == 0 && (g.unknown == 0 || g.sum || g.sized && g.unknown <= header):
		case i > 0 && (g.sum || g.unknown == gaps[1].unknown && (g.unknown == 0 || last > 2)):
		default:
			return false
		}
	}
	return gaps[last].unknown == 0 || gaps[last].sum || p.HasTrailer()
}

// HasTrailer reports whether the bytes after the values cannot be what is left of one more value, or zeros in place of others.
func (p *Parse) HasTrailer() bool {
	const most, longest, zeros = 256, 1 << 24, 16
	gaps, _ := p.gaps()
	b := p.Bytes()[gaps[len(gaps)-1].from:]
	if end := len(b) - len(bytes.TrimRight(b, "\x00")); end >= zeros || end == len(b) && end > 1 || len(b) > most && isHeader(b[lengthSize:]) && b[lengthSize] > 0 {
		return false
	}
	var start [8]byte
	copy(start[:], b)
	if isLine(b) {
		return true
	}
	first := p.Parts[0].Field
	if first == nil || first.Form.Width != lengthSize || first.Rule.Content { // values alone
		return !isHeader(start[:]) || len(b) >= 4 && start[0] == 0
	}
	switch size := first.Form.read(start[:lengthSize]); {
	case len(b) < lengthSize: // perhaps the start of a length
		return len(b) == 0 || first.Form.Big && b[0] > 0 || !first.Form.Big && b[0]%4 > 0
	case size%4 != 0 || size < uint64(len(b)-lengthSize) || size <= 4 || size >= longest:
		return true
	default:
		return len(b) >= 8 && (!isAlmostHeader(b[lengthSize:]) || b[lengthSize] == 0)
	}
}

// isLine reports whether b is a text.
func isLine(b []byte) bool { return len(b) > letterRun && isWords(b) }

// isWords reports whether b is nothing but text, some of it after its length.
func isWords(b []byte) bool {
	for len(b) > 0 {
		known := false
		for i := range lengths {
			l := &lengths[i]
			if known = len(b) >= l.Width && pascalSize(b, l.Form) > 0; known {
				b = b[l.Width+pascalSize(b, l.Form):]
				break
			}
		}
		if !known && !isWritten(b[:1]) {
			return false
		}
		if !known {
			b = b[1:]
		}
	}
	return true
}

// Start returns the offset of the first value, or -1 if the value is in a stream.
func (p *Parse) Start() int {
	i := slices.IndexFunc(p.Parts, func(x Part) bool { return x.isBody() })
	if p.Parts[i].Kind == Packed {
		return -1
	}
	return p.starts()[i]
}

// isQuoted reports whether base64 is between other text, as in JSON. Where this text begins and ends is not searched, so a
// size or checksum of it is not found.
func (p *Parse) isQuoted() bool {
	for i := 1; i+1 < len(p.Parts); i++ {
		before, after := p.Parts[i-1], p.Parts[i+1]
		if x := &p.Parts[i]; x.Kind == Packed && x.Stream.encoding != nil && before.Kind == Own && after.Kind == Own &&
			isText(before.Bytes[len(before.Bytes)-1:]) && isText(after.Bytes[:1]) {
			return true
		}
	}
	return false
}

// odd returns a DoubtError of the first four bytes of the game's own that are no number, text, float or time and are not at an
// offset of keep, or nil.
func (p *Parse) odd(keep []int) *DoubtError {
	const width = 4
	starts := p.starts()
	for i := range p.Parts {
		for _, x := range p.Parts[i].quiet() {
			for at, b := starts[i]+x.from, p.Parts[i].Bytes[x.from:x.to]; len(b) > 0 && !isUTF8(b); {
				name, size := describe(b)
				isOther := name == bytesText(size) && !areNumbers(b[:size]) && size <= longestSignature
				for k := 0; isOther && k+width <= size; k++ {
					if isOdd(b[k:k+width]) && !slices.ContainsFunc(keep, func(x int) bool { return x > at+k-width && x < at+k+width }) {
						return &DoubtError{Offset: at + k, Was: b[k : k+width], First: "a checksum", Second: ownWords}
					}
				}
				at, b = at+size, b[size:]
			}
		}
	}
	return nil
}

// areNumbers reports whether bytes are words that are not odd. What is between two of these may be.
func areNumbers(b []byte) bool {
	const width = 4
	odd := len(b)%width != 0
	for w := range slices.Chunk(b, width) {
		odd = odd || isOdd(w)
	}
	return !odd
}

// isOdd reports whether four bytes are no number, text, float or time. In big-endian, games write few times and floats, and
// half of all checksums are one.
func isOdd(b []byte) bool {
	const small, first, last = 1 << 24, 900_000_000, 2_200_000_000 // of times
	v, big := binary.LittleEndian.Uint32(b), binary.BigEndian.Uint32(b)
	f := math.Abs(float64(math.Float32frombits(v)))
	isNumber := min(v, -v, big, -big) < small || v >= first && v <= last || f > 1e-6 && f < 1e7
	return !isNumber && !isWritten(b) && !isText(b[:letterRun]) && !isText(b[1:])
}

// Secret returns the offset and size of bytes that look like a checksum but cannot be computed, or 0, 0: of 32, 20 or
// 16 random bytes, twice as many hexadecimal digits, or 4 bytes at the end of a header or trailer that are no number,
// text or time.
func (p *Parse) Secret() (offset, size int) {
	starts := p.starts()
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Kind == Packed {
			if _, n := part.Stream.Inner.Secret(); n > 0 {
				return starts[i], n
			}
		}
		if len(part.Bytes) > 4<<10 {
			continue
		}
		for _, x := range part.quiet() {
			if at, n := secret(part.Bytes[x.from:x.to]); n > 0 {
				return starts[i] + x.from + at, n
			}
		}
	}
	for i := range p.Parts {
		isEnd := i == len(p.Parts)-1 || p.Parts[i+1].Kind != Own
		b := p.Parts[i].Bytes
		n := len(bytes.TrimRight(b, "\x00\x01")) // without flags
		isNumber := len(b) < 4 || !isOdd(b[len(b)-4:]) || n >= 4 && !isOdd(b[n-4:n])
		if p.Parts[i].Kind == Own && isEnd && !isNumber && !isUTF8(b) && (i == 0 || len(b) == 4) {
			return starts[i+1] - 4, 4
		}
	}
	return 0, 0
}

// SecretText says that bytes that Secret returns are none of the checksums of that size, in bytes or hexadecimal digits.
func SecretText(offset, size int) string {
	var tried []string
	for _, s := range sums {
		if (s.size == size || 2*s.size == size) && (s.size > mostDigest || s == crc) {
			tried = append(tried, s.name)
		}
	}
	return fmt.Sprintf("%d bytes at offset %d look like a checksum but are no %s of any bytes here: the game uses a secret, or the file is damaged or edited",
		size, offset, strings.Join(tried, " or "))
}

const longestSignature = 512 // bytes

// quiet returns the parts of bytes of the game's own between those that are too much noise for a digest or signature: pixels, sound
// or heights.
func (p *Part) quiet() (all []gapSpan) {
	const longest, step = longestSignature, 16
	if p.Kind != Own {
		return nil
	}
	b, at := p.Bytes, 0
	for k := 0; k+longest <= len(b); k += step {
		if !isNoise(b[k : k+longest]) {
			continue
		}
		all = append(all, gapSpan{at, k})
		at = k + longest
		for at < len(b) && isNoise(b[at:min(at+step, len(b))]) {
			at = min(at+step, len(b))
		}
		k = at - step
	}
	return append(all, gapSpan{at, len(b)})
}

// isNoise reports whether bytes are as random as a digest: few are zero, and enough 128 or more.
func isNoise(b []byte) bool {
	zeros, high := 0, 0
	for _, c := range b {
		high += int(c >> 7)
		if c == 0 {
			zeros++
		}
	}
	return zeros <= len(b)/8+1 && high >= len(b)/4
}

// secret returns the offset and size of what looks like a digest.
func secret(b []byte) (at, size int) {
	const mostZeros = 2 // of numbers there are more
	isWords := isUTF8(b)
	hex := make([]int, len(b)+1) // in the bytes from each on
	for i := len(b) - 1; i >= 0; i-- {
		if isHex(b[i]) {
			hex[i] = hex[i+1] + 1
		}
	}
	for _, w := range []int{32, 20, 16} {
		for _, step := range []int{4, 1} { // aligned ones first
			for k := 0; k+w <= len(b); k += step {
				switch {
				case !isWords && isNoise(b[k:k+w]) && bytes.Count(b[k:k+w], []byte{0}) <= mostZeros && !isText(b[k:k+letterRun]):
					return k, w
				case hex[k] >= 2*w:
					return k, 2 * w
				}
			}
		}
	}
	return 0, 0
}
