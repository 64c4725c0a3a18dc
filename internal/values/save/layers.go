package save

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
)

// The layers around values: containers, and what games write.

// A container is a file of FileAccess, a stream of PackedByteArray.compress, or base64 text.
type container struct {
	info    fileaccess.Info
	key     *fileaccess.Key // of an encrypted file
	inside  *Bytes
	outside *Bytes
	options *fileaccess.Options // to open it again
}

func (c *container) content() *Bytes { return c.inside }

// writeBuffer is the number of bytes written to a container at once.
const writeBuffer = 64 << 10

func (c *container) write(w io.Writer, fill func(io.Writer) error) error {
	out, err := fileaccess.NewWriter(w, c.info, c.key)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(out, writeBuffer)
	if err := fill(b); err != nil {
		return err
	}
	return cmp.Or(b.Flush(), out.Close())
}

// container finds the container with a signature at the start, or the one given by the options.
func (s *search) container(p *place) (*found, error) {
	co := s.Container
	if p.records || p.skip > 0 && (co.Raw || p.depth > 0) {
		return nil, nil
	}
	if !p.forced {
		info := detect(p.peek(4), p.start)
		if info.IsPlain() {
			return nil, nil
		}
		co.Base64, co.Raw, co.Mode = false, info.Container == fileaccess.Raw, info.Mode
	}
	c, err := s.openContainer(p.Bytes, &co)
	if err != nil && p.perhaps {
		return nil, nil
	}
	if err != nil || c.inside != nil && c.inside.Err != nil {
		if f := s.restored(p); f != nil {
			return f, nil
		}
	}
	if err != nil {
		c, err = s.unproved(p.Bytes, co, err)
	}
	if err != nil || c.info.IsPlain() {
		return nil, err
	}
	if co.Raw && !p.forced && c.inside.Err != nil {
		if all := p.upTo(maxAround); all != nil && explain.EndsEarly(all) {
			return nil, nil // other bytes follow, so the bytes are no container
		}
	}
	return &found{layer: c, bits: headerBits, settled: true}, nil
}

// ContainerText describes a container, after a comma.
func ContainerText(info fileaccess.Info) (text string) {
	switch info.Container {
	case fileaccess.Compressed:
		text = ", compressed with " + info.Mode.String()
	case fileaccess.Raw:
		text = ", compressed with " + info.Mode.String() + " as by a script"
	case fileaccess.Encrypted:
		text = ", encrypted as by " + info.Layout.String()
		if info.Layout == fileaccess.LayoutGodot3 {
			text = ", encrypted as by godot2 and godot3"
		}
	}
	if info.Base64.Text {
		text += ", in base64"
	}
	return text
}

// openContainer opens a container, or returns a plain one.
func (s *search) openContainer(b *Bytes, co *fileaccess.Options) (*container, error) {
	c := &container{outside: b, options: co}
	open := func(r io.Reader) (io.Reader, error) {
		content, err := newContentReader(s.name, r, co, s.Whole)
		if err != nil {
			return nil, err
		}
		c.info = content.info
		return content, nil
	}
	r, err := open(b.Reader())
	if err != nil || c.info.IsPlain() {
		return c, err
	}
	if c.info.Container == fileaccess.Encrypted {
		c.key = s.key
	}
	if c.inside = (&Bytes{Size: c.info.Size, name: s.name}); b.Live() {
		c.inside.once = r
		return c, nil
	}
	c.inside.open = func() io.Reader {
		r, err := open(b.Reader())
		if err != nil {
			return checked.Failed{Err: err}
		}
		return r
	}
	if c.inside.Size < 0 { // the container does not tell; holding first would take four times as much memory
		c.inside.Size, c.inside.Err = io.Copy(io.Discard, r)
	}
	c.inside = c.inside.hold()
	return c, nil
}

// unproved returns an encrypted container that is cut, or whose content has another MD5, if the content begins like values, which
// a wrong key does not give. Otherwise it returns err.
func (s *search) unproved(b *Bytes, co fileaccess.Options, err error) (*container, error) {
	isCut := errors.Is(err, io.ErrUnexpectedEOF)
	if s.key == nil || b.Live() || !isCut && !errors.Is(err, fileaccess.ErrPassword) {
		return nil, err
	}
	co.MaxBuffered = 1
	c := &container{key: s.key, outside: b, options: &co}
	open := func() io.Reader {
		r, err := newContentReader(s.name, struct{ io.Reader }{b.Reader()}, &co, false) // read once, so before the MD5
		if err != nil {
			return checked.Failed{Err: err}
		}
		c.info = r.info
		return r
	}
	c.inside = &Bytes{open: open, name: s.name}
	in := s.Known.input(&s.Reading)
	in.Head, in.Size = c.inside.peek(recognize.HeadSize), c.info.Size
	if n := len(in.Head); n < recognize.HeadSize {
		in.Size = int64(n)
	}
	var lost []byte
	if recognize.Recognize(in).Certainty < recognize.Damaged { // before the rest is decrypted
		if lost = lostStart(in, c.info.Size); lost == nil {
			return nil, err
		}
	}
	size, after := io.Copy(io.Discard, open())
	if after == nil {
		return nil, err
	}
	if at := (*fileaccess.Error)(nil); !isCut && errors.As(after, &at) {
		why := "the MD5 is not that of the content"
		if lost != nil {
			why += fmt.Sprintf(", and its first %d bytes are lost", len(lost))
		}
		after = named(s.name, &fileaccess.Error{Offset: at.Offset, Err: fmt.Errorf("%w: %s", fileaccess.ErrDamaged, why)})
	}
	c.inside.Size, c.inside.Err = size, after
	c.inside.open = func() io.Reader {
		rest := io.LimitReader(open(), size)
		_, _ = io.CopyN(io.Discard, rest, int64(len(lost)))
		return io.MultiReader(bytes.NewReader(lost), rest, checked.Failed{Err: after})
	}
	c.inside = c.inside.hold()
	return c, nil
}

// lostStart returns what the first block of a content was, which a damaged initialization vector hides, if strings as keys follow: the
// length, the header of a Dictionary, a count that is too large, and the header of the first key. Otherwise it returns nil.
func lostStart(in *recognize.Input, size int64) []byte {
	const block, pair = 16, 8
	if len(in.Head) <= block {
		return nil
	}
	for _, dictionary := range [...]uint32{27, 18} { // of Godot 4 and 3
		start := make([]byte, 0, block)
		for _, word := range [...]uint32{uint32(size - lengthSize), dictionary, uint32(size-block) / pair, 4} {
			start = U32.Order().AppendUint32(start, word)
		}
		guess := *in
		guess.Head = append(start, in.Head[block:]...)
		if recognize.Recognize(&guess).Certainty >= recognize.Damaged {
			return guess.Head[:block]
		}
	}
	return nil
}

// base64 finds base64 text.
func (s *search) base64(p *place) (*found, error) {
	const sure = 64 // digits before damage
	if head := p.best.Values.Head; p.best.bits > noValues/2 || p.records || !isBase64(head[:min(len(head), sure)]) {
		return nil, nil
	}
	if p.Live() {
		all, err := p.ReadAll()
		if p.Bytes = memory(all, err); err != nil {
			return nil, nil
		}
		p.best.Bytes = p.Bytes
	}
	co := s.Container
	co.Raw, co.Base64 = false, true
	c, err := s.openContainer(p.Bytes, &co)
	const minCut = 24 // bytes of a cut or damaged text
	if err != nil || c.inside.Err != nil && c.inside.Size < minCut {
		return nil, nil
	}
	return &found{layer: c, bits: headerBits, accepts: func(inner *Stack) bool {
		isForeign := inner.Values.Certainty == recognize.Foreign && c.inside.Size >= minCut
		return inner.Values.Unknown() == nil || !inner.Container().IsPlain() || c.info.Container != fileaccess.Plain || isForeign
	}}, nil
}

// isBase64 reports whether text begins like base64.
func isBase64(head []byte) bool {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n"
	return len(head) >= 8 && len(bytes.Trim(bytes.TrimRight(head, " \t\r\n"), digits)) == 0
}

// fastlz finds a stream of FastLZ, which has no signature: any bytes can be one, so all of its content must be values.
func (s *search) fastlz(p *place) (*found, error) {
	plain := p.best.Values
	const mostTwice = 256 << 10 // bytes of a stream in a stream, both of which can be any bytes
	if p.Live() && plain.Unknown() == nil || p.records || p.packed && p.Size > mostTwice || !s.isFastLZ(p) {
		return nil, nil // a pipe can be read only once
	}
	if s.Known.Format && s.Known.Frame { // Sure says nothing then
		written := s.Reading
		written.Decoder.Strict = true // to a lenient Decoder, many streams are values, too
		if (&Stack{Bytes: p.Bytes}).check(written) == nil {
			return nil, nil
		}
	}
	co := s.Container
	co.Raw, co.Mode, co.Base64 = true, fileaccess.FastLZ, false
	c, err := s.openContainer(p.Bytes, &co)
	if err != nil || c.inside.Err != nil || plain.Head[0]>>5 > 0 && c.inside.Size >= 0 && c.inside.Size < explain.FastLZLevel2 {
		return nil, nil
	}
	return &found{layer: c, accepts: func(inner *Stack) bool {
		return inner.Values.fits() && (!plain.fits() || inner.Values.Sure()) && !inner.Explained().HasTail() && (p.Live() || inner.check(inner.Reading) == nil)
	}}, nil
}

// isFastLZ reports whether the bytes of a place begin like a stream of FastLZ that contains values, or a layer around some. Of zeros
// and many other bytes a stream can consist, so all of it is decompressed only then.
func (s *search) isFastLZ(p *place) bool {
	v := p.best.Values
	r, err := fileaccess.NewReader(bytes.NewReader(v.Head), &fileaccess.Options{
		Raw: true, Mode: fileaccess.FastLZ, Limits: fileaccess.Limits{Size: recognize.HeadSize},
	})
	if err != nil {
		return false
	}
	in := s.Known.input(&s.Reading)
	in.Head, err = io.ReadAll(r)
	in.Size = int64(len(in.Head))
	if !v.Whole && errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, fileaccess.ErrLimit) {
		in.Size, err = -1, nil
	}
	const small = 1 << 10 // bytes, which cost nothing
	if err != nil || in.Size >= 0 && in.Size < small {
		return err == nil && in.Size >= fastlzFilled
	}
	_, _, first := explain.First(in.Head, in.Size >= 0)
	return first > 0 || !fileaccess.Detect(in.Head).IsPlain() || recognize.Recognize(in).Certainty != recognize.Unknown
}

// A contentReader reads the content of a container. Its errors stay.
type contentReader struct {
	r     io.Reader
	name  string // of the input
	file  io.Reader
	info  fileaccess.Info
	whole bool
	left  int64 // bytes of the content; negative for a plain content
	err   error
}

// newContentReader opens the container in r, if r is a container. If whole is set, bytes after a container are an
// error.
func newContentReader(name string, r io.Reader, o *fileaccess.Options, whole bool) (*contentReader, error) {
	content, err := fileaccess.NewReader(r, o)
	if err != nil {
		return nil, named(name, err)
	}
	info := content.Info()
	plain := io.Reader(content)
	if info.Container == fileaccess.Raw && info.Mode == fileaccess.FastLZ {
		plain = withoutFill(content)
	}
	return &contentReader{r: plain, name: name, file: r, info: info, whole: whole, left: info.Size}, nil
}

func (c *contentReader) Read(p []byte) (n int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err = c.r.Read(p)
	if c.left -= int64(n); c.left == 0 && c.whole && (err == nil || err == io.EOF) {
		c.left = -1
		err = c.end()
	}
	c.err = named(c.name, err)
	return n, c.err
}

// errFollowed is the error of a whole container before other bytes.
var errFollowed = fmt.Errorf("%w: bytes follow the content", fileaccess.ErrDamaged)

// end returns an error if bytes follow the container.
func (c *contentReader) end() error {
	var b [1]byte
	if _, err := io.ReadFull(c.r, b[:]); err != io.EOF {
		return err
	}
	at := int64(0)
	if file, ok := c.file.(io.Seeker); ok {
		at, _ = file.Seek(0, io.SeekCurrent)
	}
	if _, err := io.ReadFull(c.file, b[:]); err != io.EOF {
		after := fmt.Errorf("%w that is %v, and would be lost", errFollowed, c.info.Container)
		return cmp.Or(err, error(&fileaccess.Error{Offset: at, Err: after}))
	}
	return nil
}

// named adds the name of the input to an error of a container.
func named(name string, err error) error {
	if name != "" && IsContainerError(err) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

type (
	// A Part is a part of the bytes around values.
	Part = explain.Region
	// A CutError reports a record that is cut.
	CutError = explain.CutError
	// A LengthError reports the wrong length of a whole value.
	LengthError = explain.LengthError
	// A StreamError reports a compressed part that is cut or damaged.
	StreamError = explain.StreamError
	// A DoubtError reports a number to write that is perhaps no size.
	DoubtError = explain.DoubtError
)

// A Damage is an error of what a game wrote around values: a CutError, LengthError, StreamError, ConversionError or LeftError.
type Damage interface {
	error
	At() int // the offset where the damage begins
}

// An around is what a game wrote around values: a header, a trailer, or records.
type around struct {
	*explain.Parse
	inside *Bytes
}

// content returns the values, or the records after lengths of 32 bits.
func (l *around) content() *Bytes { return l.inside }

// write writes the values with their sizes and checksums. The content is kept in memory.
func (l *around) write(w io.Writer, fill func(io.Writer) error) error {
	var content bytes.Buffer
	if err := fill(&content); err != nil {
		return err
	}
	p, err := l.WithContent(content.Bytes())
	if err == nil {
		_, err = w.Write(p.Bytes())
	}
	return err
}

// around finds what a game wrote around values.
func (s *search) around(p *place) (*found, error) {
	v := p.best.Values
	if s.Skip > 0 || p.records || s.Known.Format && s.Known.Frame || v.Other != nil || v.Certainty == recognize.Foreign && !v.mayHold() {
		return nil, nil
	}
	all := v.Head
	if !v.Whole {
		if (v.Certainty == recognize.CutShort || v.Certainty == recognize.Ambiguous) && p.best.runsOut() {
			return nil, nil
		}
		if f := s.longCut(p); f != nil {
			return f, nil
		}
		all = p.upTo(maxAround)
	}
	if all == nil {
		return nil, nil
	}
	eo := s.explainOptions()
	if !p.perhaps { // a guess counts no bytes
		s.budget.Add(len(all))
	}
	eo.Shared = s.budget
	e := explain.Find(all, eo)
	if v.ended = eo.Locked; eo.Ended != nil {
		v.ended = eo.Ended
	}
	isDamaged := v.Certainty >= recognize.Ambiguous && !v.fits()
	isCut := v.Certainty == recognize.CutShort && p.best.runsOut() // and all bytes are the start of one value
	isBroken := e != nil && e.IsDamaged() && e.Err == nil
	switch {
	case e == nil, len(e.Parts) == 1 && !e.Parts[0].IsBase64URL(), e.IsPlain() && v.Unknown() == nil && !errors.As(e.Err, new(*LengthError)):
		return nil, nil
	case isDamaged && !isBroken && (isCut || v.mayFrame(all) && !e.IsProved()):
		return nil, nil // damage explains any bytes
	case len(e.Parts) == 2 && e.Start() == 0 && !e.HasTrailer():
		return nil, nil // zeros in place of bytes after the value
	}
	content, err := e.Content(), e.Err
	isOne := len(e.Values()) == 1
	if isBroken && isOne {
		o := gdwire.DecoderOptions{Format: e.Format, Limits: gdwire.NoLimits, AllowObjects: true}
		if n, failed := Skip(o, Block(content), 0, int64(len(content))); failed == nil && len(bytes.Trim(content[n:], "\x00")) > 0 {
			content, err = content[:n], &LeftError{Offset: e.Start() + int(n), Left: len(content) - int(n), Content: content}
		}
	}
	f := &found{layer: &around{e, memory(content, cmp.Or(p.Err, err))}, bits: e.Saving, all: true, format: &e.Format, records: !isOne, broken: isBroken && isOne}
	if isBroken && v.Certainty != recognize.Ambiguous {
		return f, nil
	}
	if isDamaged || len(v.Readings) > 0 && v.Readings[0].Frame == Bare && e.Sure() && 4*e.Own() <= len(all) { // damage has its price in the explanation
		f.bits = max(f.bits, p.best.bits+nearTie+1)
	}
	return f, nil
}

func (s *search) explainOptions() *explain.Options {
	o := &explain.Options{Keep: offsets(s.Keep), Derive: offsets(s.Derive), AskKey: s.Container.AskKey}
	if s.Known.Format {
		o.Formats = []gdwire.Format{s.Reading.Decoder.Format}
	}
	return o
}

// longCut finds what is before a value that is cut at the end of a large file, by the first bytes alone: nothing else can be in it.
func (s *search) longCut(p *place) *found {
	const first = 256 << 10
	if p.best.Values.part == 0 || p.at == nil || p.Size <= MaxHeld {
		return nil
	}
	o := s.explainOptions()
	o.More = int(p.Size - first)
	e := explain.Find(p.peek(first), o)
	if e == nil || len(e.Values()) != 1 || e.Parts[len(e.Parts)-1].Kind != explain.Cut {
		return nil
	}
	start := int64(e.Start())
	as := gdwire.DecoderOptions{Format: e.Format, Strict: true, AllowObjects: true, Limits: gdwire.NoLimits}
	if _, err := Skip(as, p.at, start, p.Size); !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return &found{layer: &around{e, p.after(start)}, bits: e.Saving, all: true, format: &e.Format, broken: true}
}

// A LeftError reports bytes after a value that are in its length: a length or count in the value is damaged.
type LeftError struct {
	Offset, Left int
	Content      []byte // with these bytes
}

func (e *LeftError) Error() string {
	return fmt.Sprintf("offset %d: the value ends %d bytes before its length says: a length or count in it is damaged", e.Offset, e.Left)
}

// At returns Offset.
func (e *LeftError) At() int { return e.Offset }

// OfValues returns the text of an error in values with other bytes around them: its offset is that in the values.
func OfValues(err error, text string) string {
	at := (*gdwire.Error)(nil)
	if !errors.As(err, &at) {
		return text
	}
	offset := fmt.Sprint("offset ", at.Offset)
	return strings.Replace(text, offset+", ", offset+" of the values, ", 1)
}

// runsOut reports whether the last value ends with the content alone: nothing else can be after it.
func (st *Stack) runsOut() bool {
	if st.at == nil {
		return false
	}
	start := int64(0)
	for p, err := range NewContent(st.at, st.Size, &st.Reading).extents {
		if err != nil {
			return false
		}
		start = p.start
	}
	o := st.Decoder
	o.Limits = gdwire.NoLimits
	_, err := Skip(o, st.at, start, st.Size)
	return errors.Is(err, io.ErrUnexpectedEOF)
}

func offsets(all []int64) (out []int) {
	for _, at := range all {
		out = append(out, int(at))
	}
	return out
}

// mayFrame reports whether a damaged content can be as it is recognized: without lengths, or after a first length that can
// be right, or wrong by a bit or two. Otherwise nothing shows that there are lengths, because a header begins with any number.
func (r *Recognition) mayFrame(all []byte) bool {
	const far = 4 // times the size
	isFirst := func(as recognize.Reading) bool {
		if as.Frame == Bare || len(all) < lengthSize {
			return true
		}
		n := int64(as.Frame.Order().Uint32(all))
		return n >= minPacket && n < far*int64(len(all))
	}
	return isLength(all) || slices.ContainsFunc(r.Readings, isFirst)
}

// isLength reports whether a content begins with the number of all bytes after it, but for a bit or two.
func isLength(all []byte) bool {
	const wrong = 2 // bits
	n := uint32(len(all) - lengthSize)
	return len(all) > lengthSize && (bits.OnesCount32(n^U32.Order().Uint32(all)) <= wrong || bits.OnesCount32(n^U32BE.Order().Uint32(all)) <= wrong)
}

// allAround returns what games wrote around values, the outermost first.
func (st *Stack) allAround() (all []*explain.Parse) {
	for _, l := range st.layers {
		if a, ok := l.(*around); ok {
			all = append(all, a.Parse)
		}
	}
	return all
}

// Around describes what is around the values, apart from containers and a skipped header, or returns "".
func (st *Stack) Around() string {
	var all []string
	for _, e := range st.allAround() {
		all = append(all, e.String())
	}
	return strings.Join(all, ", and there ")
}

// Hidden returns the number of bytes around the values, in layers other than containers and a skipped header.
func (st *Stack) Hidden() (n int64) {
	for _, e := range st.allAround() {
		n += int64(e.Around())
	}
	return n
}

// Explained returns the outermost of what a game wrote around values, or an empty Parse.
func (st *Stack) Explained() *explain.Parse {
	for _, e := range st.allAround() {
		return e
	}
	return new(explain.Parse)
}

// SecretText says what bytes that Secret of a Parse returns are not.
func SecretText(offset, size int) string { return explain.SecretText(offset, size) }

// Records returns the number of records that the values are in, or 0, and reports whether another follows that is cut.
func (st *Stack) Records() (n int, cut bool) {
	e := st.Explained()
	if n = len(e.Values()); n < 2 && e.Err == nil {
		return 0, false
	}
	return n, e.Err != nil
}

// A ConversionError reports whole values in a file that a program took for text, and converted. The values are those before.
type ConversionError struct {
	Offset int // of the first byte that was converted
	What   string
}

func (e *ConversionError) Error() string {
	return fmt.Sprintf("offset %d: a program took the file for text: %s", e.Offset, e.What)
}

// At returns Offset.
func (e *ConversionError) At() int { return e.Offset }

// conversions are those that can be undone: undo returns nil for bytes that are no result of it.
var conversions = []struct {
	what string
	undo func(b []byte) []byte
}{
	{"a carriage return (0d) is before each line feed (0a)", withoutReturns},
	{"each byte from 80 on became two bytes of UTF-8", withoutUTF8},
	{"each byte became two bytes of UTF-16", withoutUTF16},
	{"each + of base64 became a space", withoutSpaces},
}

func withoutReturns(b []byte) []byte {
	if n := bytes.Count(b, []byte("\n")); n == 0 || n != bytes.Count(b, []byte("\r\n")) {
		return nil
	}
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
}

func withoutUTF8(b []byte) []byte {
	if !utf8.Valid(b) {
		return nil
	}
	all := make([]byte, 0, len(b))
	for _, c := range string(bytes.TrimPrefix(b, []byte("\ufeff"))) {
		if c > 0xff {
			return nil
		}
		all = append(all, byte(c))
	}
	if len(all) == len(b) {
		return nil
	}
	return all
}

func withoutUTF16(b []byte) (all []byte) {
	b = bytes.TrimPrefix(b, []byte("\xff\xfe"))
	for i := 0; i+1 < len(b); i += 2 {
		if b[i+1] != 0 {
			return nil
		}
		all = append(all, b[i])
	}
	return all
}

func withoutSpaces(b []byte) []byte {
	if all := bytes.ReplaceAll(b, []byte(" "), []byte("+")); isBase64(all) {
		return all
	}
	return nil
}

// A converted is a conversion of a file as text. To write the values undoes it.
type converted struct {
	inside *Bytes
	err    *ConversionError
}

func (l *converted) content() *Bytes { return l.inside }

func (l *converted) write(w io.Writer, fill func(io.Writer) error) error { return fill(w) }

// converted finds a conversion that hides values: of a file that is damaged otherwise, or of values alone that are explained
// worse as they are, as after a length that became a header.
func (s *search) converted(p *place) (*found, error) {
	v := p.best.Values
	isText := v.Certainty == recognize.Foreign && withoutUTF16(v.Head) == nil && withoutSpaces(v.Head) == nil
	if p.depth > 0 || s.Known.Format && s.Known.Frame || isText {
		return nil, nil
	}
	isDamaged := !v.fits() || p.best.Err != nil
	return s.unconverted(p, p.best.bits+nearTie+1, func(inner *Stack) bool {
		isBetter := len(inner.layers) == 0 && inner.Values.Sure() && inner.bits > p.best.bits+headerBits
		return (isDamaged && inner.Values.fits() || isBetter) && inner.check(inner.Reading) == nil
	})
}

// restored returns the values of a container that was converted, or nil.
func (s *search) restored(p *place) *found {
	if p.depth > 0 {
		return nil
	}
	f, err := s.unconverted(p, 0, func(inner *Stack) bool { return inner.Values.fits() && inner.check(inner.Reading) == nil })
	if f == nil || err != nil {
		return nil
	}
	f.values.settled = true // the container ends before the error
	return f
}

// unconverted returns the values of a file without its conversion, with so many bits more, or nil.
func (s *search) unconverted(p *place, bits float64, accepts func(*Stack) bool) (*found, error) {
	l := s.undone(p)
	if l == nil {
		return nil, nil
	}
	st, err := s.inside(p, &found{layer: l, bits: bits, all: true, accepts: accepts})
	if st == nil || err != nil {
		return nil, err
	}
	inner, b := st.Bytes, *st.Bytes
	if b.Err = l.err; b.at == nil {
		b.open = func() io.Reader { return io.MultiReader(inner.Reader(), checked.Failed{Err: b.Err}) }
	}
	st.Bytes = &b
	return &found{values: st}, nil
}

// undone returns the layer of a conversion, or nil.
func (s *search) undone(p *place) *converted {
	const enough = 4 << 10
	if p.Live() {
		return nil
	}
	head := p.peek(enough)
	for len(head) > 0 && head[len(head)-1] >= utf8.RuneSelf { // perhaps a part of a character
		head = head[:len(head)-1]
	}
	for _, c := range conversions {
		if c.undo(head) == nil {
			continue
		}
		all := p.upTo(maxAround)
		if undone := c.undo(all); undone != nil {
			at := 0
			for at < len(undone) && all[at] == undone[at] {
				at++
			}
			if at == len(all) {
				continue // there was nothing to convert
			}
			s.budget = new(explain.Budget) // of another file
			return &converted{memory(undone, nil), &ConversionError{at, c.what}}
		}
	}
	return nil
}
