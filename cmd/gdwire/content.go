package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/reals"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/edit"
	"github.com/gdwire/gdwire/internal/save/outfile"
	"github.com/gdwire/gdwire/internal/text"
)

// This file is the only one that imports packages edit and outfile.

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

// A zeros watches values for zeros in place of their end, which minZeros are at least.
type zeros = save.Zeros

const minZeros = save.MinZeros

// zerosError returns an error that says that the end of a file became zeros, or nil.
func zerosError(err error, name string) error {
	if zeros := (*save.ZerosError)(nil); errors.As(err, &zeros) {
		return fmt.Errorf("%s is damaged: %w; gdwire repair keeps what comes before, and -format and -frame take the zeros for values", name, zeros)
	}
	return err
}

// isTypeError reports whether a new value is of another type than the old one.
func isTypeError(err error) bool { return errors.As(err, new(*edit.TypeError)) }

// plan returns the plan of the edits in a tree.
func (e *editing) plan(c *save.Content, tree *text.Tree) (*editPlan, error) {
	if e.op == opPut {
		return edit.Copy(c, e.from, tree)
	}
	return edit.Edit(c, e.op, tree, e.exact)
}

// resolve replaces the keys of a tree that can mean another key by the key that they mean.
func resolve(c *save.Content, tree *text.Tree) { edit.Resolve(c, tree) }

// openContent opens an input that is read several times. The caller closes it.
func (s *stdio) openContent(name string, o *options) (*save.Content, io.Closer, error) {
	in, err := s.open(name, o)
	if err != nil {
		return nil, nil, err
	}
	c, err := in.Content(&o.Reading)
	if err = cmp.Or(err, in.Err); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return c, in, nil
}

// checkZeros returns an error if the end of a content became zeros. Its start, by which it was recognized,
// does not show that.
func checkZeros(name string, c *save.Content, o *options) error {
	if !o.recognized {
		return nil
	}
	return zerosError(c.CheckZeros(false), name)
}

// checkEnd returns an error if the end of a file became zeros. What comes from a pipe can be read only once, so
// that is not checked.
func checkEnd(in *save.Source, o *options) error {
	if in.Live {
		return nil
	}
	c, err := in.Content(&o.Reading)
	if err != nil {
		return err
	}
	return checkZeros(in.Name, c, o)
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
	return save.WriteContainer(out, *o.container, o.key, write)
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
	c := &save.Content{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Order: lo.Frame.Order(), Decoder: lo.Decoder}
	c.Decoder.AllowObjects = true
	var all [][]byte
	used := int64(0)
	if err := checkZeros(save.DisplayName(o.like), c, &lo); err != nil {
		return nil, err
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
		if lo.Framed() && end < p.Limit() {
			return false, fmt.Errorf("%d bytes follow the value of packet %d, which JSON would lose", p.Limit()-end, p.Index)
		}
		used = end
		lo.Decoder.DoubleReals = lo.Decoder.DoubleReals || width == reals.Double
		all = append(all, data[p.Offset:end])
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
