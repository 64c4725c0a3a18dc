package open

import (
	"cmp"
	"errors"
	"io"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
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

// WriteContainer calls write with a Writer for the content of the output, in a container. key is that of an
// encrypted input, or nil.
func (o *Flags) WriteContainer(s *shell.Stdio, info fileaccess.Info, key *fileaccess.Key, write func(io.Writer) error) error {
	if info.IsPlain() {
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
	return save.WriteContainer(out, info, key, write)
}
