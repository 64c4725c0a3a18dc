package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/stream"
)

func encodeFlags(fs *flag.FlagSet, o *options) {
	saveFlag(fs, o)
	toFlag(fs, o)
	fs.StringVar(&o.like, "like", "", "write the file that `FILE` would be after an edit: its format, frame, container and number of values")
	fs.BoolVar(&o.json.Plain, "plain", false, "the input is plain JSON")
	fs.BoolVar(&o.json.Lenient, "lenient", false, "read what the engine's JSON.to_native reads")
}

func encodeCheck(o *options) error {
	switch {
	case o.like != "" && o.json.Plain:
		return errors.New("-plain does not go with -like: plain JSON has lost the types")
	case o.like != "" && o.to != target{}:
		return errors.New("-like takes format, frame and container from its file, and -to says otherwise")
	}
	o.writes = true
	return nil
}

// encode converts JSON to values.
func encode(s *stdio, o *options) error {
	var old [][]byte
	if o.like != "" {
		var err error
		if old, err = s.loadLike(o); err != nil {
			return err
		}
	} else {
		w := o.writer()
		o.Decoder.Format, o.Frame, o.container = cmp.Or(w.Decoder.Format, gdwire.Godot4), w.Frame, w.container
	}
	values, err := s.encodeFile(o, old)
	if err != nil {
		return err
	}
	switch n := len(values); {
	case n == 0:
		return errEmpty
	case o.like != "" && n != len(old):
		return fmt.Errorf("not the same number of values: %s has %d, the input %d; nothing was written", o.like, len(old), n)
	case o.like == "" && n > 1 && !o.given["frame"] && o.to.frame == nil:
		return choiceError{fmt.Errorf("the input has %d values; with -frame u32 each follows its length, as store_var and put_var write them", n)}
	}
	if o.like != "" {
		s.showChanges(o, old, values)
	} else if !o.Framed() && !o.given["frame"] && o.to.frame == nil {
		s.infof(o, "this is what bytes_to_var reads; get_var needs -frame u32")
	}
	return s.writeContainer(o, func(w io.Writer) error { return writePackets(w, o, values) })
}

// encodeFile returns the encoded values of the input. old holds the values of the file of -like.
func (s *stdio) encodeFile(o *options, old [][]byte) (all []*encoded, err error) {
	in, err := s.openFile(o.file(), false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	jo := o.json
	jo.AllowObjects = o.Decoder.AllowObjects
	values, end := bufio.NewScanner(decodeText(in)), int64(0)
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
		if len(all) < len(old) {
			var n int
			if v, n = restoreInfinity(v, old[len(all)], o); n > 0 {
				s.infof(o, "%d numbers are infinity again, as in %s, which jq had made 1.797e308", n, o.like)
			}
		} else if !jo.Plain {
			s.noteLargest(v, jo.Lenient)
		}
		if len(v) > largeText {
			runtime.GC() // values moved the text to larger and larger memory; the value can use the old
		}
		b, err := encodeValue(v, o, &jo)
		if err != nil {
			return nil, prefixed(in.Name, explainLargest(shiftedJSON(err, start), v, jo.Lenient))
		}
		all = append(all, b)
	}
	if err := values.Err(); err == bufio.ErrTooLong {
		return nil, fmt.Errorf("%s is longer than 1 GiB", in.Name)
	} else if err != nil {
		return nil, prefixed(in.Name, err)
	}
	return all, nil
}

// shiftedJSON makes the offset of an error relative to the start of the input.
func shiftedJSON(err error, by int64) error {
	if e := (*gdjson.Error)(nil); errors.As(err, &e) {
		return &gdjson.Error{Offset: e.Offset + by, Pointer: e.Pointer, Err: e.Err}
	}
	return err
}

// largeText is the length in bytes of text that is worth a collection of garbage.
const largeText = 4 << 20

// An encoded value is in pieces, so that a large one is never copied into larger memory.
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

func encodeValue(text []byte, o *options, jo *gdjson.Options) (*encoded, error) {
	v := &encoded{}
	eo := o.Encoder()
	eo.MaxBuffered = save.MaxInMemory
	e := gdwire.NewEncoder(v, &eo)
	err := cmp.Or(gdjson.FromJSON(e, bytes.NewBuffer(text), *jo), e.Close())
	return v, err
}

// writePackets writes values, with their lengths if the output is framed.
func writePackets(w io.Writer, o *options, values []*encoded) error {
	for _, v := range values {
		pieces := v.pieces
		if o.Framed() {
			if v.size > math.MaxUint32 {
				return &stream.PacketTooLongError{Size: v.size, Max: math.MaxUint32}
			}
			length := make([]byte, 4)
			o.Frame.Order().PutUint32(length, uint32(v.size))
			pieces = append([][]byte{length}, pieces...)
		}
		for _, piece := range pieces {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
	}
	return nil
}

// showChanges shows the paths of the values that differ.
func (s *stdio) showChanges(o *options, old [][]byte, values []*encoded) {
	if o.quiet {
		return
	}
	const most = 20 // lines
	shown, more := 0, 0
	for i := range values {
		value := values[i].bytes()
		if bytes.Equal(old[i], value) {
			continue
		}
		for _, line := range changes(flatLines(old[i], int64(i), o), flatLines(value, int64(i), o)) {
			if shown == most {
				more++
				continue
			}
			shown++
			s.logf("%s", line)
		}
	}
	switch {
	case more > 0:
		s.logf("and %d more", more)
	case shown == 0:
		s.logf("no value changed")
	}
}

// flatLines returns the lines that flat shows for a value.
func flatLines(value []byte, index int64, o *options) []string {
	var out bytes.Buffer
	quiet := newStdio(nil, &out, io.Discard)
	do := o.Decoder
	do.AllowObjects = true
	d := gdwire.NewDecoder(nil, &do)
	defer d.Release()
	d.ResetBytes(value)
	_ = newFlatPrinter(quiet, o).show(&save.Packet{Decoder: d, Index: index}) // read without an error before
	_ = quiet.out.Flush()
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// changes returns the differences between the lines of two values.
func changes(old, values []string) (all []string) {
	before := make(map[string]string, len(old))
	for _, line := range old {
		p, v := splitLine(line)
		before[p] = v
	}
	for _, line := range values {
		p, v := splitLine(line)
		was, ok := before[p]
		delete(before, p)
		switch {
		case !ok:
			all = append(all, cut(p+": "+v+", was not there", plainWidth))
		case was != v:
			all = append(all, p+": "+cut(v, plainWidth)+", was "+cut(was, plainWidth))
		}
	}
	for _, line := range old {
		if p, v := splitLine(line); before[p] == v && v != "" {
			delete(before, p)
			all = append(all, p+": was "+cut(v, plainWidth)+", is not there")
		}
	}
	return all
}

// splitLine splits a line into path and value. The separator is the first " = " outside
// of quotes.
func splitLine(line string) (path, value string) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && c == ' ' && len(line) >= i+3 && line[i:i+3] == " = ":
			return line[:i], line[i+3:]
		}
	}
	return line, ""
}

// reason returns the cause of an encoding error, without offset and path.
func reason(err error) error {
	if e := (*gdwire.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
