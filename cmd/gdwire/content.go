package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/edit"
	"github.com/gdwire/gdwire/internal/input"
	"github.com/gdwire/gdwire/internal/outfile"
	"github.com/gdwire/gdwire/internal/paths"
	"github.com/gdwire/gdwire/internal/recognize"
)

// This file is the only one that imports packages edit, outfile and recognize.

// An outputFile is the file of -o.
type outputFile = outfile.File

// createOutput creates the file that replaces another. A signal that ends the command removes it.
func createOutput(name string) (*outputFile, error) { return outfile.Create(name, outfile.EndOnSignal) }

// An editOp is a kind of edit, and an editPlan describes what was edited.
type (
	editOp   = edit.Op
	editPlan = edit.Plan
)

const (
	opSet    = edit.Set
	opDelete = edit.Delete
	opAdd    = edit.Add
	opPut    = edit.Put
)

// A nullKeys finds Dictionaries with the key null twice.
type nullKeys = recognize.NullKeys

// nullsFollow reports whether nulls at the end of values can be zeros.
func nullsFollow(values, nulls int) bool { return recognize.NullsFollow(values, nulls) }

// plan returns the plan of the edits in a tree.
func (e *editing) plan(c *edit.Content, tree *paths.Tree) (*editPlan, error) {
	if e.op == opPut {
		return c.Copy(e.from, tree)
	}
	return c.Edit(e.op, tree, e.exact)
}

// openContent opens an input that is read several times. The caller closes it.
func (s *stdio) openContent(name string, o *options) (*edit.Content, io.Closer, error) {
	in, err := s.open(name, o)
	if err != nil {
		return nil, nil, err
	}
	r, size, err := in.Content(func() (*input.Source, error) { return s.openContainer(name, o) })
	if err != nil {
		return nil, nil, err
	}
	c := &edit.Content{ReaderAt: r, Size: size, Decoder: o.Decoder, Encoder: o.Encoder()}
	if o.Framed() {
		c.Order = lengthOrder(o.Frame)
	}
	return c, r, nil
}

// checkZeros returns an error if the end of a content became zeros. Its start, by which it was recognized,
// does not show that.
func checkZeros(c *edit.Content, o *options) error {
	if !o.recognized {
		return nil
	}
	err := c.CheckZeros(false)
	if zeros := (*edit.ZerosError)(nil); errors.As(err, &zeros) {
		return fmt.Errorf("%s is damaged: %w; to edit it anyway, choose -format and -frame", input.DisplayName(o.file()), zeros)
	}
	return err
}

// lengthOrder returns the byte order of the lengths in a frame.
func lengthOrder(f recognize.Frame) binary.ByteOrder {
	if f == recognize.U32BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// writeContainer calls write with a Writer for the content of the output. The output uses
// the same container as the input.
func (s *stdio) writeContainer(o *options, write func(io.Writer) error) error {
	if o.container == nil || o.container.Container == fileaccess.Plain {
		return write(s.out)
	}
	if o.container.Container == fileaccess.Encrypted && o.key == nil {
		if _, err := s.key("the output", o); err != nil {
			return err
		}
	}
	var out io.Writer = s.out
	if s.outFile != nil { // writing to a file needs constant memory
		out = s.outFile
	}
	w, err := fileaccess.NewWriter(out, *o.container, o.key)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(w, outBuffer)
	if err := write(buffered); err != nil {
		return err
	}
	return cmp.Or(buffered.Flush(), w.Close())
}

// recognize finds the format and frame of the input, unless flags give both.
func (s *stdio) recognize(in *input.Source, o *options) error {
	if !in.Live {
		o.raiseLimits(in.Size)
	}
	if o.given["format"] && o.given["frame"] {
		return nil
	}
	ri := recognize.Input{Decoder: o.Decoder}
	if o.given["format"] {
		ri.Formats = []gdwire.Format{o.Decoder.Format}
	}
	if o.given["frame"] {
		ri.Frames = []recognize.Frame{o.Frame}
	}
	r, err := in.Recognize(&ri)
	if err != nil {
		return err
	}
	return s.decide(in, o, &ri, r)
}

// decide sets the format and frame as in the best reading, or returns an error that says why no
// reading is good enough.
func (s *stdio) decide(in *input.Source, o *options, ri *recognize.Input, r recognize.Result) error {
	const choose = "to read it anyway, choose -format and -frame"
	switch r.Certainty {
	case recognize.Empty:
		if !o.nonEmpty {
			s.infof(o, "%s is empty", in.Name)
		}
		o.Decoder.Format = cmp.Or(o.Decoder.Format, gdwire.Godot4)
		return nil
	case recognize.Foreign:
		return fmt.Errorf("%s is %s, not values of Godot; %s", in.Name, r.Name, choose)
	case recognize.Unknown:
		return fmt.Errorf("%s was not recognized as values of Godot; %s", in.Name, choose)
	case recognize.Ambiguous:
		return choiceError{s.ambiguous(in, o, ri, r)}
	}
	reading := r.Readings[0]
	o.Decoder.Format, o.Frame, o.recognized = reading.Format, reading.Frame, true
	o.Filled = true // engines write no bytes after a value, so the file is damaged
	if len(r.Readings) > 1 && o.Framed() && int64(len(ri.Head)) != in.Size {
		for _, other := range r.Readings {
			o.Candidates = append(o.Candidates, other.Format)
		}
	}
	how := map[recognize.Certainty]string{
		recognize.Probably: "probably ", recognize.CutShort: "cut short, probably ", recognize.Damaged: "damaged, probably ",
	}[r.Certainty]
	if whole := int64(len(ri.Head)) == ri.Size; whole && len(r.Readings) > 1 && r.Certainty == recognize.Probably {
		how = "" // all readings have the same values, and nothing can follow, as it could in a pipe
	}
	what := fmt.Sprintf("%s%v, %s%s", how, reading.Format, frameText(reading.Frame), containerText(o.container))
	s.damaged = s.damaged || r.Certainty == recognize.Damaged
	if how != "" && o.writes {
		return choiceError{fmt.Errorf("%s is %s; to write it, confirm this with %v", in.Name, what, reading)}
	}
	if _, ok := terminal(s.errs); ok || how != "" {
		s.infof(o, "%s is %s", in.Name, what)
	}
	return nil
}

// ambiguous returns an error that shows each reading.
func (s *stdio) ambiguous(in *input.Source, o *options, ri *recognize.Input, r recognize.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s can be read in %d ways; choose one:", in.Name, len(r.Readings))
	for _, reading := range r.Readings {
		o := *o
		o.Decoder.Format, o.Frame, o.Candidates = reading.Format, reading.Frame, nil
		fmt.Fprintf(&b, "\n  %v: %s", reading, firstLine(ri.Head, &o))
	}
	return errors.New(b.String())
}

// recognizePackets recognizes the length-prefixed packets of a connection, and sets the format and
// frame. It returns a Reader from their start.
func recognizePackets(r io.Reader, o *options) (io.Reader, error) {
	in := &recognize.Input{Size: -1, Decoder: o.Decoder, Frames: []recognize.Frame{recognize.U32, recognize.U32BE}}
	if o.given["format"] {
		in.Formats = []gdwire.Format{o.Decoder.Format}
	}
	if o.given["frame"] {
		in.Frames = []recognize.Frame{o.Frame}
	}
	if err := recognize.ReadHead(r, in, true); err != nil {
		return nil, err
	}
	got := recognize.Recognize(in)
	if len(got.Readings) == 0 {
		return nil, errors.New("no packets of Godot were recognized; -format and -frame say how they are written (ENet and other protocols over UDP are not supported)")
	}
	o.Decoder.Format, o.Frame = got.Readings[0].Format, got.Readings[0].Frame
	if len(got.Readings) > 1 {
		for _, reading := range got.Readings {
			o.Candidates = append(o.Candidates, reading.Format)
		}
	}
	return io.MultiReader(bytes.NewReader(in.Head), r), nil
}

// loadLike returns the values of the file of -like, and sets the options to its format, frame
// and container. Bytes that JSON would lose are an error.
func (s *stdio) loadLike(o *options) ([][]byte, error) {
	lo := *o
	in, err := s.open(o.like, &lo)
	if err != nil {
		return nil, err
	}
	data, err := in.ReadAll()
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, err
	}
	c := &edit.Content{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Decoder: lo.Decoder}
	if lo.Framed() {
		c.Order = lengthOrder(lo.Frame)
	}
	c.Decoder.AllowObjects = true
	var all [][]byte
	used := int64(0)
	err = c.Packets(edit.Every, func(p edit.Packet, d *gdwire.Decoder) (bool, error) {
		double, err := edit.HasDoubleReals(d)
		if err != nil {
			return false, err
		}
		end := d.InputOffset()
		if lo.Framed() && end < p.End {
			return false, fmt.Errorf("%d bytes follow the value of packet %d, which JSON would lose", p.End-end, p.Index)
		}
		used = end
		lo.Decoder.DoubleReals = lo.Decoder.DoubleReals || double
		all = append(all, data[p.Start:end])
		return true, nil
	})
	if err != nil {
		return nil, prefixed(o.like, err)
	}
	if used < c.Size {
		return nil, fmt.Errorf("%s: %d bytes follow the last packet", o.like, c.Size-used)
	}
	o.Decoder, o.Frame, o.container, o.key = lo.Decoder, lo.Frame, lo.container, lo.key
	return all, nil
}
