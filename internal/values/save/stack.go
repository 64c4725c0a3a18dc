package save

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
)

// A layer is a step from bytes to values.
type layer interface {
	// content returns the bytes in the layer.
	content() *Bytes
	// write writes the layer around the bytes that fill writes.
	write(w io.Writer, fill func(io.Writer) error) error
}

// kinds returns a function for each kind of layer, in the order of their costs. Each returns the layer around all bytes
// of a place, or nil.
func kinds() []func(*search, *place) (*found, error) {
	return []func(*search, *place) (*found, error){
		(*search).container, (*search).skip, (*search).values, (*search).around, (*search).base64, (*search).fastlz, (*search).converted,
	}
}

// A found is a layer, or the values at the bottom of a Stack, with the evidence in bits.
type found struct {
	layer
	values  *Stack                  // nil for a layer
	bits    float64                 // of evidence, less the assumptions of the layer
	all     bool                    // bits weigh the content, too
	settled bool                    // nothing else explains these bytes
	records bool                    // the content is records after lengths of 32 bits
	broken  bool                    // the content is one value that is damaged
	format  *gdwire.Format          // of the values, or nil if not known
	accepts func(inner *Stack) bool // nil accepts all
}

// A Stack is an opened save: the values, and the layers around them.
type Stack struct {
	*Bytes  // of the values
	Reading // of the values
	Values  *Recognition
	*Input

	layers  []layer // the outermost first
	bits    float64 // of evidence
	settled bool
	known   bool // the caller chose format and frame
	filled  bool // values fill the bytes, by their lengths and counts
	narrow  bool // no real component has 64 bits, as far as is known
}

const (
	noValues   = -1 << 20 // bits of evidence for bytes that are no values, less than for any values
	nearTie    = 4        // bits by which a Stack must be better than one found at lower costs
	headerBits = 24       // of evidence in a signature
	maxLayers  = 6
	maxAround  = 64 << 20 // bytes of a content searched for other bytes around values
)

// OpenOptions configures Input.Open.
type OpenOptions struct {
	Container fileaccess.Options
	Skip      int64 // bytes of a header of the game: in the container, or before it
	Whole     bool  // bytes after a container are an error
	Packets   bool  // packets compressed by a script are opened, to edit their values
	// Keep and Derive contain offsets of numbers to keep, or to rewrite, that are doubtful as sizes.
	Keep, Derive []int64
	Reading      Reading // its known parts
	Known        Known
}

// A search is one call of Open.
type search struct {
	OpenOptions
	name   string
	key    *fileaccess.Key // once known
	budget *explain.Budget // of all layers
}

// A place is the bytes at a depth of the search.
type place struct {
	*Bytes
	depth   int
	skip    int64          // bytes still to skip
	forced  bool           // the container is given by the options
	perhaps bool           // a layer around the bytes is not sure, so an error only means that it is none
	records bool           // the bytes are records after lengths
	broken  bool           // they are one value that is damaged
	packed  bool           // they are what a stream of FastLZ contains, if it is one
	format  *gdwire.Format // of the values, or nil
	best    *Stack         // so far
}

// Open opens a save: it finds the layers around the values, and how the values are read. Errors of a container contain
// the name of the input, and the key is asked for once. Open reads no more of a pipe than needed to recognize it. It holds
// up to MaxHeld bytes of a file or a container, but not of a pipe or of plain memory.
func (in *Input) Open(o *OpenOptions) (*Stack, error) {
	s := &search{OpenOptions: *o, name: in.Name, key: o.Container.Key, budget: new(explain.Budget)}
	if ask := o.Container.AskKey; ask != nil || s.key != nil {
		s.Container.AskKey = func(i fileaccess.Info) (key *fileaccess.Key, err error) {
			if s.key == nil {
				s.key, err = ask(i)
			}
			return s.key, err
		}
	}
	p := place{Bytes: in.Bytes, skip: max(o.Skip, 0), forced: o.Container.Raw || o.Container.Base64}
	if in.file != nil {
		p.Bytes = in.hold()
	}
	st, err := s.best(&p)
	if err != nil {
		return nil, err
	}
	st.Input, st.known = in, o.Known.Format && o.Known.Frame
	s.explain(st)
	return st, nil
}

// best returns the stack at a place with the most evidence.
func (s *search) best(p *place) (*Stack, error) {
	for _, find := range kinds() {
		f, err := find(s, p)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		st := f.values
		if st == nil {
			if st, err = s.inside(p, f); err != nil {
				return nil, err
			}
		}
		if st != nil && (p.best == nil || st.bits > p.best.bits+nearTie) {
			p.best = st
		}
		if p.best != nil && p.best.settled {
			break
		}
	}
	return p.best, nil
}

// inside returns the stack with a layer and what is best in it, or nil if the layer is none.
func (s *search) inside(p *place, f *found) (*Stack, error) {
	if p.depth == maxLayers {
		return nil, nil
	}
	in := place{Bytes: f.content(), depth: p.depth + 1, skip: p.skip, forced: p.forced, perhaps: p.perhaps || !f.settled, records: f.records, broken: f.broken, format: f.format}
	switch l := f.layer.(type) {
	case *container:
		in.forced, in.packed = false, !f.settled && l.info.Mode == fileaccess.FastLZ && !l.info.Base64.Text
	case *skipped:
		in.skip = 0
	}
	st, err := s.best(&in)
	switch {
	case err != nil && f.settled:
		return nil, err
	case err != nil, f.accepts != nil && !f.accepts(st):
		return nil, nil
	}
	if f.all && st.bits > noValues/2 {
		st.bits = 0
	}
	if a, ok := f.layer.(*around); ok && !a.Sure() {
		st.Values.Certainty = min(st.Values.Certainty, recognize.Probably)
	}
	st.layers, st.settled, st.bits = append([]layer{f.layer}, st.layers...), f.settled, st.bits+f.bits
	return st, nil
}

// values reads the bytes of a place as values.
func (s *search) values(p *place) (*found, error) {
	known := s.Known
	known.Frame = known.Frame || p.records || p.broken
	st := &Stack{Bytes: p.Bytes, Reading: s.Reading, Values: &Recognition{}}
	switch {
	case p.records:
		st.Frame = U32
	case p.broken:
		st.Frame = Bare
	}
	if p.format != nil {
		st.Decoder.Format, known.Format = *p.format, true
	}
	isKnown := known.Format && known.Frame
	if isKnown && p.at == nil { // nobody waits for a pipe
		st.settled = true
		return &found{values: st}, nil
	}
	if s.Known.Format && s.Known.Frame && !p.perhaps && st.fills() {
		st.Values.Certainty, st.Values.Readings = recognize.Sure, []recognize.Reading{{Format: st.Decoder.Format, Frame: st.Frame}}
		st.settled = true
		return &found{values: st}, nil
	}
	if err := s.recognize(st, known); err != nil {
		return nil, err
	}
	p.Bytes = st.Bytes
	v := st.Values
	switch {
	case v.fits() && st.turnsOdd(): // after the head
		v.Certainty = recognize.Damaged
	case p.broken && v.Certainty == recognize.Unknown:
		v.Certainty, v.Readings = recognize.Damaged, []recognize.Reading{{Format: st.Decoder.Format, Frame: Bare}}
	case p.broken && v.fits() && st.runsOut(): // after the head
		v.Certainty = recognize.CutShort
	case p.broken && v.fits():
		v.Certainty = recognize.Damaged
	}
	switch hidden := s.hidesStreams(st); {
	case v.Unknown() != nil && v.Certainty != recognize.Ambiguous:
		st.bits = noValues
	case !hidden:
		st.bits = v.Evidence
	}
	switch {
	case v.Certainty == recognize.Empty, v.Certainty == recognize.Converted, v.Certainty == recognize.Foreign && !v.mayHold():
		st.settled = true
	case v.Sure():
		st.settled = s.endsRight(st)
	}
	return &found{values: st}, nil
}

// maxMeasured is the maximum number of values measured one by one.
const maxMeasured = 1 << 10

// turnsOdd reports whether the first packet is a value that is longer than the head, and what follows it begins like none.
func (st *Stack) turnsOdd() bool {
	head := st.Values.Head
	if !st.Framed() || st.at == nil || st.Values.Whole || !recognize.PlainHeader(head[lengthSize:]) {
		return false
	}
	for p, err := range NewContent(st.at, st.Size, &st.Reading).extents {
		if err != nil || p.index > 0 || p.end < int64(len(head)) {
			return p.index > 0 && p.odd
		}
	}
	return false
}

// fills sets and returns filled, and then narrow. More values than maxMeasured do not fill the bytes.
func (st *Stack) fills() bool {
	d := st.NewDecoder()
	defer d.Release()
	w := newWindow(st.at, st.Size)
	narrow, end := true, int64(0)
	for p, err := range NewContent(st.at, st.Size, &st.Reading).extents {
		if err != nil || p.odd || p.end > st.Size || p.index == maxMeasured || !endsWithValue(d, w, p, &narrow) {
			return false
		}
		end = p.end
	}
	st.narrow, st.filled = narrow, end > 0 && end == st.Size && st.Err == nil
	return st.filled
}

// recognize sets the Values of a stack. A pipe that ended is then in memory.
func (s *search) recognize(st *Stack, known Known) error {
	b := st.Bytes
	ri := known.input(&st.Reading)
	ri.Size, ri.At = b.Size, b.at
	read := recognize.ReadHead
	if b.Live() {
		read = recognize.ReadPipe
	}
	switch err := read(b.start(), ri); {
	case err == nil:
	case len(ri.Head) > 0 && (IsContainerError(err) || err == b.Err):
		b.Err, ri.Size = err, int64(len(ri.Head)) // read the head, and then this error
	case len(ri.Head) == 0 && errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the file is cut before any of its content can be read", err)
	default:
		return err
	}
	st.Values = st.choose(ri)
	if b.Live() && st.Values.Whole {
		st.Bytes = memory(ri.Head, b.Err)
	}
	return nil
}

// hidesStreams reports whether packets compressed by a script are to be opened.
func (s *search) hidesStreams(st *Stack) bool {
	head := st.Values.Head
	return s.Packets && len(st.Values.Readings) > 0 && st.Framed() && len(head) > lengthSize+minPacket && !recognize.PlainHeader(head[lengthSize:])
}

// endsRight reports whether values that seem to be sure cannot contain other values, as a text with NULs can, which no
// game writes, or one value before other bytes.
func (s *search) endsRight(st *Stack) bool {
	if st.Framed() {
		return !s.hidesStreams(st)
	}
	const kindAndLength, text, stringName = 8, 4, 21
	head := st.Values.Head
	if isText := len(head) > kindAndLength && (head[0] == text || head[0] == stringName); isText {
		letters := head[kindAndLength:]
		return bytes.IndexByte(letters[:min(len(letters), int(U32.Order().Uint32(head[4:])))], 0) < 0
	}
	if st.at == nil || st.Size > maxAround || st.fills() || st.Values.Whole {
		return true
	}
	n, err := Skip(st.Decoder, st.at, 0, st.Size)
	return err != nil || n >= st.Size
}

// explain sets the reason why nothing is recognized, as the values after an unknown header.
func (s *search) explain(st *Stack) {
	v := st.Values
	if v.fits() {
		return
	}
	for _, n := range []int{v.part - lengthSize, v.part} {
		if n <= 0 || st.Live() {
			continue
		}
		other := *s
		other.Skip = int64(n)
		after, err := other.best(&place{Bytes: st.Bytes, depth: 1, skip: int64(n), perhaps: true})
		if err == nil && after.Values.fits() && after.check(after.Reading) == nil {
			v.Header, v.reason = n, fmt.Sprintf("contains no values of Godot in its first %d bytes", n)
			return
		}
	}
	if rest := bytes.TrimLeft(v.Head, " \t\ufeff"); v.Certainty == recognize.Foreign && len(rest) < len(v.Head) && isBase64(rest) {
		v.Header, v.Name = len(v.Head)-len(rest), "perhaps base64 text after other bytes"
	}
}

// check returns an error if the bytes contain anything else than whole values.
func (st *Stack) check(o Reading) error {
	r, size, err := st.readerAt()
	if err != nil {
		return err
	}
	o.Decoder.Limits = gdwire.NoLimits
	return NewContent(r, size, &o).checkValues()
}

// Content returns the values for reading several times: in memory, in their file, or in the container in a file, opened
// again each time. Only a pipe is first read into memory. The content is used until Close.
func (st *Stack) Content() (*Content, error) {
	r, size, err := st.readerAt()
	return st.ContentOf(r, size), err
}

// ContentOf returns size bytes of r as the values.
func (st *Stack) ContentOf(r io.ReaderAt, size int64) *Content {
	c := NewContent(r, size, &st.Reading)
	c.check, c.narrow = st.checkEdit, st.narrow
	if n := len(st.layers); n > 0 {
		if l, ok := st.layers[n-1].(*around); ok {
			c.around = l.Parse
		}
	}
	return c
}

// ReadEnd reads the bytes up to their end, for the error there.
func (st *Stack) ReadEnd() {
	if b := st.Bytes; !b.Held && b.open != nil {
		b.Size, b.Err = io.Copy(io.Discard, b.open())
	}
}

// Container describes the outermost container, with base64 text around it, or is plain.
func (st *Stack) Container() fileaccess.Info {
	_, _, c := st.containers()
	return c.info
}

// Key returns the key of the outermost container, or nil.
func (st *Stack) Key() *fileaccess.Key {
	_, _, c := st.containers()
	return c.key
}

// containers returns the outermost container, described with base64 text around it, and its range in the layers, which is
// empty if there is none.
func (st *Stack) containers() (start, end int, _ *container) {
	out := &container{info: fileaccess.Info{Size: -1}}
	for ; end < len(st.layers); end++ {
		c, ok := st.layers[end].(*container)
		if _, skips := st.layers[end].(*skipped); skips && start == end {
			start++
			continue
		}
		if !ok || end > start && (!out.info.Base64.Text || out.info.Container != fileaccess.Plain || c.info.Base64.Text) {
			break
		}
		text := out.info.Base64
		if out = (&container{info: c.info, key: c.key, outside: c.outside}); text.Text {
			out.info.Base64 = text
		}
	}
	return start, end, out
}

// Contain returns the stack with another outermost container.
func (st *Stack) Contain(info fileaccess.Info, key *fileaccess.Key) *Stack {
	start, end, was := st.containers()
	if was.info == info && was.key == key {
		return st
	}
	out := *st
	out.layers = append(st.layers[:start:start], &container{info: info, key: key})
	out.layers = append(out.layers, st.layers[end:]...)
	return &out
}

// IsPlain reports whether the file is values, perhaps after a skipped header.
func (st *Stack) IsPlain() bool {
	return !slices.ContainsFunc(st.layers, func(l layer) bool {
		_, skips := l.(*skipped)
		return !skips
	})
}

// Unwrapped returns the content of the outermost container, after a skipped header, or without a container the bytes of
// the values.
func (st *Stack) Unwrapped() *Bytes {
	n := st.outside()
	if n == len(st.layers) {
		return st.Bytes
	}
	return st.layers[n-1].content()
}

// Wrapping returns the layers around what Unwrapped returns.
func (st *Stack) Wrapping() *Stack {
	out := *st
	out.layers = st.layers[:st.outside()]
	return &out
}

// outside returns the number of layers around what Unwrapped returns.
func (st *Stack) outside() int {
	start, end, _ := st.containers()
	if start == end {
		return len(st.layers)
	}
	if end < len(st.layers) {
		if _, skips := st.layers[end].(*skipped); skips {
			end++
		}
	}
	return end
}

// Write writes the layers around the values that fill writes.
func (st *Stack) Write(w io.Writer, fill func(io.Writer) error) error {
	for i := len(st.layers) - 1; i >= 0; i-- {
		l, inside := st.layers[i], fill
		fill = func(w io.Writer) error { return l.write(w, inside) }
	}
	return fill(w)
}

// A skipped is a header that the options tell to skip.
type skipped struct {
	header []byte
	rest   *Bytes
}

func (l *skipped) content() *Bytes { return l.rest }

func (l *skipped) write(w io.Writer, fill func(io.Writer) error) error {
	if _, err := w.Write(l.header); err != nil {
		return err
	}
	return fill(w)
}

// A ShortError reports an input shorter than the header to skip.
type ShortError struct {
	name       string
	have, skip int64
}

func (e *ShortError) Error() string {
	return fmt.Sprintf("%s has %d bytes, and %d are to be skipped", e.name, e.have, e.skip)
}

// skip finds the header to skip.
func (s *search) skip(p *place) (*found, error) {
	if p.skip == 0 {
		return nil, nil
	}
	var header bytes.Buffer
	n, err := io.CopyN(&header, p.start(), p.skip)
	if err == io.EOF {
		return nil, &ShortError{cmp.Or(s.name, "the file"), n, p.skip}
	} else if err != nil {
		return nil, err
	}
	return &found{layer: &skipped{header.Bytes(), p.after(p.skip)}, settled: true}, nil
}

// mayHold reports whether a foreign content is searched for values: text, and a stream that is cut or followed by other
// bytes.
func (r *Recognition) mayHold() bool {
	return strings.HasPrefix(r.Name, "text") || strings.HasSuffix(r.Name, " data")
}

// endsWithValue reports whether a packet of w is one value, by its lengths and counts. It sets narrow to false if a real
// component in the value can have 64 bits.
func endsWithValue(d *gdwire.Decoder, w *window, p extent, narrow *bool) bool {
	at, count := p.start, int64(1)
	for count > 0 && at < p.end {
		if _, err := w.bytes(at, int(min(lengthSize+minPacket, p.end-at))); err != nil {
			return false
		}
		b := w.buf[at-w.start:]
		b = b[:min(int64(len(b)), p.end-at)]
		size, rest, wide := export.Measure(d, b, count)
		if size == 0 {
			d.ResetBytes(b)
			if d.SkipValue() != nil {
				ResetAt(d, w.r, at, p.end)
				if d.SkipValue() != nil {
					return false
				}
			}
			size, rest, wide = d.InputOffset(), count-1, true
		}
		at, count, *narrow = at+size, rest, *narrow && !wide
	}
	return count == 0 && at == p.end
}

// A GuessError reports an edit of a damaged content of which the reading is only probable.
type GuessError struct{ Reading recognize.Reading }

func (e *GuessError) Error() string {
	return "it is only probable that the content, which is damaged, is " + e.Reading.String()
}

// IsKnown reports whether the caller chose format and frame.
func (st *Stack) IsKnown() bool { return st.known }

// Guess returns a GuessError for damaged values, unless the caller chose how they are read.
func (st *Stack) Guess() error {
	if c := st.Values.Certainty; st.known || c != recognize.Damaged && c != recognize.CutShort {
		return nil
	}
	return &GuessError{st.Values.Readings[0]}
}

// checkEdit returns an error that tells why a content of the values must not be edited, or nil: the reading of a damaged
// content is a GuessError, and values without lengths that were recognized by their start must continue to the end.
func (st *Stack) checkEdit(c *Content) error {
	if err := st.Guess(); err != nil || st.known || st.filled || st.Values.Whole || c.Frame != Bare {
		return err
	}
	return c.checkValues()
}

// CheckWhole returns an error if bytes follow a container that is whole: to write the save would lose them. A pipe is not checked.
func (st *Stack) CheckWhole() error {
	for _, l := range st.layers {
		c, ok := l.(*container)
		if !ok || c.outside.Live() || c.inside.Err != nil {
			continue
		}
		r, err := newContentReader(st.Input.Name, c.outside.Reader(), c.options, true)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Store returns the content as a Store, after reading a content of up to most bytes into memory, and any
// compressed or encrypted content or pipe. The file is used until Close.
func (st *Stack) Store(most int64) (*Store, error) {
	file, opened := st.Input.file, st.Input.Info
	switch {
	case st.Size > most && st.IsPlain() && file == nil && st.at != nil && !st.Held: // of another system, or a browser
		return &Store{Size: st.Size, File: st.at}, nil
	case st.Size <= most || st.Input.Path == "" || opened == nil || !st.IsPlain():
		return st.inMemory()
	}
	return &Store{Size: st.Size, File: io.NewSectionReader(file, opened.Size()-st.Size, st.Size), changed: func() error {
		now, err := file.Stat()
		if err == nil && (now.Size() != opened.Size() || !now.ModTime().Equal(opened.ModTime())) {
			err = ErrFileChanged
		}
		return err
	}}, nil
}

// inMemory reads the content into memory. The content of a container in a file takes no more memory than its size. A
// compressed content is read twice for this, because the declared size may be wrong.
func (st *Stack) inMemory() (*Store, error) {
	if st.open == nil {
		data, err := st.ReadAll()
		return InMemory(data), err
	}
	size, err := io.Copy(io.Discard, st.open())
	if err = cmp.Or(err, st.checkInMemory(size)); err != nil {
		return nil, err
	}
	data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead)) // the end is found without growing
	_, err = data.ReadFrom(st.open())
	return InMemory(data.Bytes()), err
}

// ZerosAtEnd returns the number of bytes at the end of the values that may be zeros in place of others: those at the end of
// a damaged file compressed with FastLZ, of which no checksum shows that they are wrong.
func (st *Stack) ZerosAtEnd() (int64, error) {
	_, _, c := st.containers()
	isFastLZ := c.info.Mode == fileaccess.FastLZ && (c.info.Container == fileaccess.Compressed || c.info.Container == fileaccess.Raw)
	if st.Err == nil || !isFastLZ || c.outside.at == nil || errors.Is(st.Err, errFollowed) {
		return 0, nil
	}
	from, err := ZerosAtEnd(c.outside.at, c.outside.Size)
	n := c.outside.Size - from
	if c.info.Container == fileaccess.Compressed {
		n = max(n-int64(len("GCPF")), 0)
	}
	return n, err
}
