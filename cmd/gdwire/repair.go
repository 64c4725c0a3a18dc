package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/savefile"
)

// lengths contains the Lengths of package savefile for each frame.
var lengths = map[save.Frame]savefile.Lengths{
	save.Bare: savefile.NoLengths, save.U32: savefile.LittleEndian, save.U32BE: savefile.BigEndian,
}

func repairCheck(o *options) error {
	if o.output == "" {
		return errors.New("repair writes another file: use -o NEW")
	}
	return nil
}

// repair writes the part of a damaged save before the damage, and says what is lost.
func repair(s *stdio, o *options) error {
	in, err := s.openFile(o.file(), false)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	f, size, err := s.openDamaged(in, o)
	unknown := (*save.UnknownError)(nil)
	switch {
	case size == 0 && err != nil:
		return fmt.Errorf("%s is empty", in.Name)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s %w; to repair it anyway, choose -format and -frame", in.Name, unknown)
	case err != nil:
		return err
	}
	defer func() { _ = f.Close() }()
	if f.Info.Damage == nil {
		s.unchanged = true
		s.infof(o, "%s is not damaged; nothing was written", in.Name)
		return nil
	}
	n, err := f.WriteTo(s.out)
	if err != nil {
		return err
	}
	s.noteAtEnd("%s is %v", in.Name, f.Info)
	s.noteAtEnd("lost: everything from offset %s on; %s", humanize.Comma(f.Info.Damage.Offset), strings.TrimPrefix(f.Info.Damage.Err.Error(), "gdwire: "))
	s.noteAtEnd("wrote %s bytes of %s", humanize.Comma(n), humanize.Comma(size))
	return nil
}

// openDamaged opens a save up to its damage, and returns the size of its file. A pipe is read into memory.
func (s *stdio) openDamaged(in *save.Input, o *options) (f *savefile.File, size int64, err error) {
	o.raiseLimits(math.MaxInt64) // no memory depends on them, and a count that is too large is damage
	so := &savefile.Options{Decoder: o.Decoder, Repair: true, Container: s.containerOptions(in, o)}
	if o.given["frame"] {
		so.Lengths = lengths[o.Frame]
	}
	if in.Info != nil && in.Path != "" {
		f, err = savefile.Open(in.Path, so)
		return f, in.Size, err
	}
	data, err := in.ReadAll()
	if err == nil {
		if f, err = savefile.Read(bytes.NewReader(data), int64(len(data)), so); err != nil {
			err = prefixed(in.Name, err)
		}
	}
	return f, int64(len(data)), err
}
