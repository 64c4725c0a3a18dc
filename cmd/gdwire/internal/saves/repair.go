package saves

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/savefile"
)

// lengths contains the Lengths of package savefile for each frame.
var lengths = map[save.Frame]savefile.Lengths{
	save.Bare: savefile.NoLengths, save.U32: savefile.LittleEndian, save.U32BE: savefile.BigEndian,
}

// Repair defines the flags of repair.
func Repair(f *shell.Flags) shell.Action {
	var o open.Flags
	o.WriteFlags(f, true)
	o.HeaderFlags(f)
	f.OutputFlag()
	return shell.Action{
		Check: func() error {
			if f.Output == "" {
				return errors.New("repair writes another file: use -o NEW")
			}
			return nil
		},
		Run: func(s *shell.Stdio) error { return repair(s, &o, f.File()) },
	}
}

// repair writes the part of a damaged save before the damage, and says where the rest begins.
func repair(s *shell.Stdio, o *open.Flags, name string) error {
	in, err := open.File(s, name, false)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	f, size, err := openDamaged(s, o, in)
	unknown := (*save.UnknownError)(nil)
	switch {
	case size == 0 && err != nil:
		return fmt.Errorf("%s is empty", in.Name)
	case errors.As(err, &unknown) && !unknown.Final:
		return fmt.Errorf("%s %w; to repair it anyway, choose -format and -frame", in.Name, unknown)
	case err != nil:
		return err
	}
	defer func() { _ = f.Close() }()
	if f.Info.Damage == nil {
		s.Unchanged = true
		for _, p := range f.Info.Around {
			if p.Wrong {
				s.Infof("the %s at offset %d is not that of its values, which are whole; set writes it with others", p.What, p.Offset)
			}
		}
		s.Infof("%s is not damaged; nothing was written", in.Name)
		return nil
	}
	n, err := f.WriteTo(s.Out)
	if err != nil {
		return open.WithChoice(err)
	}
	s.NoteAtEnd("%s is %v", in.Name, f.Info)
	s.NoteAtEnd("lost: everything from offset %s on; %s", humanize.Comma(f.Info.Damage.Offset), strings.TrimPrefix(f.Info.Damage.Err.Error(), "gdwire: "))
	s.NoteAtEnd("wrote %s bytes of %s", humanize.Comma(n), humanize.Comma(size))
	return nil
}

// openDamaged opens a save up to the damage, and returns the size of the file. A pipe is read into memory.
func openDamaged(s *shell.Stdio, o *open.Flags, in *save.Input) (f *savefile.File, size int64, err error) {
	reading := o.Reading(math.MaxInt64) // no memory depends on limits, and too large a count is damage
	so := &savefile.Options{Decoder: reading.Decoder, Repair: true, Container: o.Container(s, in), Skip: o.Skip, Keep: o.Keep, Derive: o.Derive}
	if o.Known().Frame {
		so.Lengths = lengths[o.Frame]
	}
	if in.Info != nil && in.Path != "" {
		f, err = savefile.Open(in.Path, so)
		return f, in.Size, err
	}
	data, err := in.ReadAll()
	if err == nil {
		if f, err = savefile.Read(bytes.NewReader(data), int64(len(data)), so); err != nil {
			err = shell.Prefixed(in.Name, err)
		}
	}
	return f, int64(len(data)), err
}
