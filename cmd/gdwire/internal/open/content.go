package open

import (
	"cmp"
	"errors"
	"io"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/envelope"
)

// OpenContent opens an input that is read several times.
func (o *Flags) OpenContent(s *shell.Stdio, name string) (*Input, *save.Content, error) {
	in, err := o.Open(s, name)
	if err != nil {
		return nil, nil, err
	}
	c, err := in.Content(&in.Reading)
	if err = cmp.Or(err, in.Err); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, c, nil
}

// Rewrite is WriteContainer for an input that is written again, with the header that was skipped.
func (o *Flags) Rewrite(s *shell.Stdio, in *Input, info fileaccess.Info, key *fileaccess.Key, write func(io.Writer) error) error {
	inside := in.Header
	if !in.Inside {
		if _, err := s.Out.Write(in.Header); err != nil {
			return err
		}
		if err := s.Out.Flush(); err != nil { // WriteContainer can write to OutFile without this buffer
			return err
		}
		inside = nil
	}
	return o.WriteContainer(s, in.Envelope, info, key, func(w io.Writer) error {
		if _, err := w.Write(inside); err != nil {
			return err
		}
		return write(w)
	})
}

// WriteContainer calls write with a Writer for the content of the output, in an envelope, if there is one, and a container. key
// is that of an encrypted input, or nil.
func (o *Flags) WriteContainer(s *shell.Stdio, e *envelope.Envelope, info fileaccess.Info, key *fileaccess.Key, write func(io.Writer) error) error {
	if info.IsPlain() && e == nil {
		return write(s.Out)
	}
	if info.Container == fileaccess.Encrypted && key == nil {
		var err error
		if key, err = o.Keys.Key(s, "the output"); err != nil {
			return err
		}
	}
	var out io.Writer = s.Out
	if s.OutFile != nil { // writing to a file needs constant memory
		out = s.OutFile
	}
	err := save.WriteContainer(out, e, info, key, write)
	if doubt := (*envelope.DoubtError)(nil); errors.As(err, &doubt) {
		return shell.Choicef("%w; -keep %d keeps it, and -derive %[2]d writes it anew", doubt, doubt.Offset)
	}
	return err
}
