package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/input"
	"github.com/gdwire/gdwire/savefile"
)

// lengths contains the Lengths of package savefile for each frame.
var lengths = map[input.Frame]savefile.Lengths{
	input.Bare: savefile.NoLengths, input.U32: savefile.LittleEndian, input.U32BE: savefile.BigEndian,
}

func repairCheck(o *options) error {
	if o.output == "" {
		return errors.New("repair writes another file: use -o NEW")
	}
	return nil
}

// repair writes the part of a damaged save before the damage, and says what is lost.
func repair(s *stdio, o *options) error {
	name := o.file()
	so := &savefile.Options{Decoder: o.Decoder, Repair: true, Container: fileaccess.Options{
		AskKey: func(fileaccess.Info) (*fileaccess.Key, error) { return s.key(name, o) },
		Limits: fileaccess.Limits{Size: o.maxContent},
	}}
	if o.given["frame"] {
		so.Lengths = lengths[o.Frame]
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	f, err := savefile.Open(name, so)
	if errors.Is(err, savefile.ErrUnknown) {
		why, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), name+": savefile: "), ";")
		return choiceError{fmt.Errorf("%s: %s; to repair it anyway, choose -format and -frame", name, why)}
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if f.Info.Damage == nil {
		s.unchanged = true
		s.infof(o, "%s is not damaged; nothing was written", name)
		return nil
	}
	n, err := f.WriteTo(s.out)
	if err != nil {
		return err
	}
	s.noteAtEnd("%s is %v", name, f.Info)
	s.noteAtEnd("lost: everything from offset %s on; %s", humanize.Comma(f.Info.Damage.Offset), strings.TrimPrefix(f.Info.Damage.Err.Error(), "gdwire: "))
	s.noteAtEnd("wrote %s bytes of %s", humanize.Comma(n), humanize.Comma(info.Size()))
	return nil
}
