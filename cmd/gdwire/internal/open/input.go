package open

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/frames"
	"golang.org/x/term"
)

// An Input is an opened input, and the way to read it.
type Input struct {
	*save.Stack
	Operand    string // the name on the command line
	Recognized bool   // the format or frame was recognized
	Unsure     error  // why a command that writes must not use a damaged file, or nil

	infof func(format string, args ...any)
}

// Packets is frames.Packets, followed by a message on how many packets are compressed, if any.
func (in *Input) Packets(r io.Reader) iter.Seq[*save.Packet] {
	return func(yield func(*save.Packet) bool) {
		var all, packed int64
		modes := map[string]int64{}
		for p := range frames.Packets(&in.Reading, r) {
			if all++; p.Packed != nil {
				packed++
				modes[p.Packed.ModeName()]++
			}
			if !yield(p) {
				break
			}
		}
		if packed == 0 {
			return
		}
		var texts []string
		for _, mode := range Modes {
			if n := modes[mode.String()]; n > 0 {
				texts = append(texts, fmt.Sprintf("%s with %v", humanize.Comma(n), mode))
			}
		}
		in.infof("%s: %s of %s packets are compressed as by a script: %s", in.Name, humanize.Comma(packed), humanize.Comma(all), strings.Join(texts, ", "))
	}
}

// zerosError returns an error for a file with zeros in place of the end, or nil.
func zerosError(err error, name string) error {
	if zeros := (*save.ZerosError)(nil); errors.As(err, &zeros) {
		return fmt.Errorf("%s is damaged: %w; gdwire repair keeps the values before the damage; with -format and -frame, the zeros are read as values", name, zeros)
	}
	return err
}

// CheckZeros returns an error if the end of a content became zeros. Recognition reads only the start of the
// content and does not find them.
func (in *Input) CheckZeros(c *save.Content) error {
	if !in.Recognized {
		return nil
	}
	return zerosError(c.CheckZeros(false), in.Name)
}

// Faults returns an error for each wrong checksum of records, and one error for all after the tenth.
func (in *Input) Faults() (errs []error) {
	const most = 10
	for p := range in.Parts {
		if p.Wrong {
			errs = append(errs, fmt.Errorf("%s: %s", in.Name, p.Fault()))
		}
	}
	if more := len(errs) - most; more > 0 {
		errs = append(errs[:most], fmt.Errorf("%s: %d more of these", in.Name, more))
	}
	return errs
}

// CheckEnd returns an error if the end of a file became zeros. A pipe is not checked, because its content can be
// read only once.
func (in *Input) CheckEnd() error {
	if in.Live() {
		return nil
	}
	c, err := in.Content()
	if err != nil {
		return err
	}
	return in.CheckZeros(c)
}

// pipeWait is the time until the message about waiting for the writer of a pipe. Tests change the time.
var pipeWait = time.Second

// noteWaiting says that the command waits for the writer of a pipe, unless stop is called before pipeWait.
func noteWaiting(s *shell.Stdio, name string) (stop func()) {
	info, err := os.Stat(name)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return func() {}
	}
	noted := make(chan struct{})
	wait := time.AfterFunc(pipeWait, func() {
		defer close(noted)
		s.Logf("%s is a pipe; waiting for a program that writes to it", name)
	})
	return func() {
		if !wait.Stop() {
			<-noted
		}
	}
}

// Container returns the options for the container of an input. The content of a regular file is not limited, unless
// held in memory.
func (o *Flags) Container(s *shell.Stdio, in *save.Input) fileaccess.Options {
	fo := fileaccess.Options{AskKey: func(fileaccess.Info) (*fileaccess.Key, error) { return o.Keys.Key(s, in.Name) }}
	if o.raw != nil {
		fo.Raw, fo.Mode = true, *o.raw
	}
	if fo.Limits.Size = o.maxContent; !in.Live() && !o.Held && fo.Limits.Size == 0 {
		fo.Limits.Size = -1
	}
	return fo
}

// File opens the file of the given name, or standard input. The output of an editing command
// may replace a save.
func File(s *shell.Stdio, name string, saved bool) (*save.Input, error) {
	if save.IsStdin(name) {
		s.InputRead = true
		if f, ok := s.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			s.Logf("reading from the terminal; end with Ctrl-D, or Ctrl-Z and Enter on Windows")
		}
	}
	stop := noteWaiting(s, name)
	in, err := save.OpenInput(name, s.In)
	stop()
	if err != nil {
		return nil, err
	}
	if err := s.ReplacedBy(in.Name, in.Path, in.Info, saved); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// OpenStack opens the input of the given name.
func (o *Flags) OpenStack(s *shell.Stdio, name string) (*save.Stack, error) {
	in, err := File(s, name, true)
	if err != nil {
		return nil, err
	}
	stack, err := in.Open(&save.OpenOptions{
		Container: o.Container(s, in), Skip: o.Skip, Whole: s.Edits, Packets: o.Packets, Keep: o.Keep, Derive: o.Derive,
		Known: o.Known(), Reading: o.Reading,
	})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return stack, nil
}
