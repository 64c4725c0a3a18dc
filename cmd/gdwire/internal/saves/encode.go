package saves

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/reals"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/stream"
)

// Encode defines the flags of encode.
func Encode(f *shell.Flags) shell.Action {
	e := &jsonEncoder{open: open.Flags{Writes: true}}
	e.open.WriteFlags(f, false)
	f.SaveFlag()
	e.to.flag(f)
	f.StringVar(&e.like, "like", "", "write the same format, frame, container and number of values as in `FILE`")
	f.BoolVar(&e.json.Plain, "plain", false, "the input is plain JSON")
	f.BoolVar(&e.json.Lenient, "lenient", false, "read what the engine's JSON.to_native reads")
	return shell.Action{Check: e.check, Run: func(s *shell.Stdio) error { return e.run(s, f.File()) }}
}

// A jsonEncoder makes values of JSON.
type jsonEncoder struct {
	open open.Flags
	to   target
	like string
	json gdjson.Options

	liked *open.Input   // the file of -like, or nil
	all   *save.Content // the content of liked
	old   [][]byte      // the values of liked
	output
}

func (e *jsonEncoder) check() error {
	switch {
	case e.like != "" && e.json.Plain:
		return errors.New("-plain does not go with -like: plain JSON has lost the types")
	case e.like != "" && e.to != target{}:
		return errors.New("-like and -to both select the format, frame or container: choose one")
	}
	return nil
}

// hasFrame reports whether flags select the frame of the values.
func (e *jsonEncoder) hasFrame() bool { return e.open.Known().Frame || e.to.frame != nil }

// run converts JSON to values.
func (e *jsonEncoder) run(s *shell.Stdio, name string) error {
	if e.like != "" {
		if err := e.loadLike(s); err != nil {
			return err
		}
	} else {
		e.output = e.to.apply(output{Reading: e.open.Reading(-1), stack: new(save.Stack)})
		e.Decoder.Format = cmp.Or(e.Decoder.Format, gdwire.Godot4)
	}
	values, err := e.values(s, name)
	if err != nil {
		return err
	}
	switch n := len(values); {
	case n == 0:
		return errEmpty
	case e.like != "" && n != len(e.old):
		return fmt.Errorf("not the same number of values: %s has %d, the input %d; nothing was written", e.like, len(e.old), n)
	case e.like == "" && n > 1 && !e.hasFrame():
		return shell.Choicef("the input has %d values; with -frame u32 each follows its length, as store_var and put_var write them", n)
	}
	if e.like != "" {
		e.showChanges(s, values)
	} else if !e.Framed() && !e.hasFrame() {
		s.Infof("this is what bytes_to_var reads; get_var needs -frame u32")
	}
	return e.open.Rewrite(s, e.stack, e.container, e.key, func(w io.Writer) error { return e.write(w, values) })
}

// loadLike reads the values of the file of -like, and sets the output to its format, frame
// and container. Bytes lost in JSON are an error.
func (e *jsonEncoder) loadLike(s *shell.Stdio) error {
	in, err := e.open.Open(s, e.like)
	if err != nil {
		return err
	}
	data, err := in.ReadAll()
	if err = errors.Join(err, in.Close()); err != nil {
		return err
	}
	as := in.Reading
	as.Decoder.AllowObjects = true
	c := save.NewContent(bytes.NewReader(data), int64(len(data)), &as)
	used := int64(0)
	if err := in.CheckZeros(c); err != nil {
		return err
	}
	err = c.Packets(save.Every, func(p *save.Packet) (bool, error) {
		width, err := reals.Read(p.Decoder)
		if err == nil {
			err = p.SkipTo(0)
		}
		if err != nil && err != io.EOF {
			return false, err
		}
		end := p.InputOffset()
		if in.Framed() && end < p.Limit() {
			return false, fmt.Errorf("%d bytes follow the value of packet %d, which JSON would lose", p.Limit()-end, p.Index)
		}
		used = end
		in.Decoder.DoubleReals = in.Decoder.DoubleReals || width == reals.Double
		e.old = append(e.old, data[p.Offset:end])
		return true, nil
	})
	if err != nil {
		return shell.Prefixed(e.like, err)
	}
	if used < c.Size {
		return fmt.Errorf("%s: %d bytes follow the last packet", e.like, c.Size-used)
	}
	e.output = output{Reading: in.Reading, container: in.Container(), key: in.Key(), stack: in.Stack}
	e.liked, e.all = in, c
	return nil
}

// values returns the encoded values of the input.
func (e *jsonEncoder) values(s *shell.Stdio, name string) (all []*encoded, err error) {
	in, err := open.File(s, name, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	jo := e.json
	jo.AllowObjects = e.Decoder.AllowObjects
	input := bufio.NewReader(shell.DecodeText(in.Reader()))
	if head, _ := input.Peek(4); bytes.IndexByte(head, 0) >= 0 { // a length or header
		return nil, fmt.Errorf("%s is not JSON", in.Name)
	}
	values, end := bufio.NewScanner(input), int64(0)
	values.Buffer(nil, save.MaxInMemory)
	split := gdjson.SplitValues(jo)
	values.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, value, err := split(data, atEOF)
		if end += int64(n); end > save.MaxInMemory {
			err = bufio.ErrTooLong
		}
		return n, value, err
	})
	for values.Scan() {
		v := values.Bytes()
		start := end - int64(len(v))
		if len(v) > largeText {
			runtime.GC() // values moved the text to larger and larger memory; the encoded value can use the old
		}
		b, err := e.encode(v, &jo)
		if err == nil && e.like != "" {
			if err := e.all.Agree(func(c *save.Content, w io.Writer) error { return e.encodeAs(c, w, v, &jo) }); err != nil {
				return nil, e.liked.Choice(err)
			}
		}
		if err != nil {
			return nil, shell.Prefixed(in.Name, explainScript(e.explainPlain(shiftedJSON(err, start)), v, start))
		}
		all = append(all, b)
	}
	if err := values.Err(); err == bufio.ErrTooLong {
		return nil, fmt.Errorf("%s is longer than 1 GiB", in.Name)
	} else if err != nil {
		return nil, shell.Prefixed(in.Name, err)
	}
	return all, nil
}

// explainPlain adds the flag for plain JSON to an error typical of plain JSON read as native JSON.
func (e *jsonEncoder) explainPlain(err error) error {
	if e.json.Plain || e.like != "" || !errors.Is(err, gdwire.ErrType) && !errors.Is(err, gdwire.ErrMisplacedKey) {
		return err
	}
	return fmt.Errorf("%w; for plain JSON, choose -plain", err)
}

// script matches the start of a value of GDScript that is no JSON, as var_to_str writes.
var script = regexp.MustCompile(`^([A-Z]\w*[(\[]|[&^]")`)

// explainScript adds what the text is to an error at a value of GDScript. The text starts at an offset of the input.
func explainScript(err error, text []byte, start int64) error {
	at := (*gdjson.Error)(nil)
	if !errors.As(err, &at) || at.Offset < start || at.Offset-start > int64(len(text)) || !script.Match(text[at.Offset-start:]) {
		return err
	}
	return fmt.Errorf("%w; this is no JSON but text as var_to_str writes: read it with str_to_var in Godot and save it with store_var, or let Godot write JSON with JSON.from_native", err)
}

// shiftedJSON makes the offset of an error relative to the start of the input.
func shiftedJSON(err error, by int64) error {
	if e := (*gdjson.Error)(nil); errors.As(err, &e) {
		return &gdjson.Error{Offset: e.Offset + by, Pointer: e.Pointer, Err: e.Err}
	}
	return err
}

// largeText is the minimum length in bytes of text worth a garbage collection.
const largeText = 4 << 20

// An encoded value is in pieces, so that a large value is never copied into larger memory.
type encoded struct {
	pieces [][]byte
	size   int64
}

// maxPiece is the size in bytes of the pieces of a large value.
const maxPiece = 1 << 20

// Write appends b. Pieces grow with the value, up to maxPiece.
func (v *encoded) Write(b []byte) (int, error) {
	n := len(b)
	v.size += int64(n)
	for len(b) > 0 {
		last := len(v.pieces) - 1
		if last < 0 || len(v.pieces[last]) == cap(v.pieces[last]) {
			v.pieces = append(v.pieces, make([]byte, 0, min(max(v.size, int64(n)), maxPiece)))
			last++
		}
		piece := &v.pieces[last]
		part := min(len(b), cap(*piece)-len(*piece))
		*piece = append(*piece, b[:part]...)
		b = b[part:]
	}
	return n, nil
}

// bytes returns the value as one slice.
func (v *encoded) bytes() []byte { return bytes.Join(v.pieces, nil) }

// encode returns a value encoded from JSON.
func (e *jsonEncoder) encode(text []byte, jo *gdjson.Options) (*encoded, error) {
	v := &encoded{}
	eo := e.Encoder()
	eo.MaxBuffered = save.MaxInMemory
	w := gdwire.NewEncoder(v, &eo)
	err := cmp.Or(gdjson.FromJSON(w, bytes.NewBuffer(text), *jo), w.Close())
	return v, err
}

// encodeAs writes a value encoded from JSON, in another reading of the file of -like.
func (e *jsonEncoder) encodeAs(c *save.Content, w io.Writer, text []byte, jo *gdjson.Options) error {
	as := *e
	as.Reading = e.As(c.Reading())
	v, err := as.encode(text, jo)
	return cmp.Or(err, as.write(w, []*encoded{v}))
}

// write writes values, with their lengths if the output is framed.
func (e *jsonEncoder) write(w io.Writer, values []*encoded) error {
	for _, v := range values {
		pieces := v.pieces
		if e.Framed() {
			if v.size > math.MaxUint32 {
				return &stream.PacketTooLongError{Size: v.size, Max: math.MaxUint32}
			}
			pieces = append([][]byte{e.Frame.Order().AppendUint32(nil, uint32(v.size))}, pieces...)
		}
		for _, piece := range pieces {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
	}
	return nil
}

// showChanges shows the paths of changed values.
func (e *jsonEncoder) showChanges(s *shell.Stdio, values []*encoded) {
	if s.IsQuiet() {
		return
	}
	const most = 20 // lines
	shown, more := 0, 0
	for i := range values {
		value := values[i].bytes()
		if bytes.Equal(e.old[i], value) {
			continue
		}
		for _, line := range changes(e.flatLines(e.old[i], int64(i)), e.flatLines(value, int64(i))) {
			if shown == most {
				more++
				continue
			}
			shown++
			s.Logf("%s", line)
		}
	}
	switch {
	case more > 0:
		s.Logf("and %d more", more)
	case shown == 0:
		s.Logf("no value changed")
	}
}

// flatLines returns the lines of flat for a value.
func (e *jsonEncoder) flatLines(value []byte, index int64) []string {
	var out bytes.Buffer
	quiet := shell.Capture(&out)
	do := e.Decoder
	do.AllowObjects = true
	d := gdwire.NewDecoder(nil, &do)
	defer d.Release()
	d.ResetBytes(value)
	_ = open.NewFlatPrinter(quiet, nil).Show(&save.Packet{Decoder: d, Index: index}) // read without an error before
	_ = quiet.Out.Flush()
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// changes returns the differences between the lines of two values.
func changes(old, values []string) (all []string) {
	before := make(map[string]string, len(old))
	for _, line := range old {
		p, v := open.SplitLine(line)
		before[p] = v
	}
	for _, line := range values {
		p, v := open.SplitLine(line)
		was, ok := before[p]
		delete(before, p)
		switch {
		case !ok:
			all = append(all, shell.Cut(p+": "+v+", was not there", shell.PlainWidth))
		case was != v:
			all = append(all, p+": "+shell.Cut(v, shell.PlainWidth)+", was "+shell.Cut(was, shell.PlainWidth))
		}
	}
	for _, line := range old {
		if p, v := open.SplitLine(line); before[p] == v && v != "" {
			delete(before, p)
			all = append(all, p+": was "+shell.Cut(v, shell.PlainWidth)+", is not there")
		}
	}
	return all
}
