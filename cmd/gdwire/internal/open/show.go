package open

import (
	"bytes"
	"io"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
)

// ShowFile shows the packets of the file of the given name.
func (o *Flags) ShowFile(s *shell.Stdio, name string, newPrinter NewPrinter) error {
	in, err := o.Open(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	v := newPrinter(s, in)
	var r io.Reader = in
	if quiet := v.end != nil; quiet || !s.IsTerminal {
		r = s.Progress(r, in.Source.Size)
	}
	v.Damage = in.CheckEnd
	if v.zeros != nil && in.Recognized {
		tail := &tailReader{r: r}
		v.Damage = func() error { return tail.zeros(v.zeros, in) }
		r = tail
	}
	return Show(s, in.Packets(r), v, in.Live)
}

// A tailReader finds the zeros at the end of its input.
type tailReader struct {
	r    io.Reader
	n    int64
	from int64 // the offset of the zeros
}

func (t *tailReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if used := len(bytes.TrimRight(p[:n], "\x00")); used > 0 {
		t.from = t.n + int64(used)
	}
	t.n += int64(n)
	return n, err
}

// zeros returns an error if values were made of zeros. It reads the bytes after an invalid value.
func (t *tailReader) zeros(z *save.Zeros, in *Input) error {
	if !in.Live {
		_, _ = io.Copy(io.Discard, t)
	}
	if t.n-t.from < save.MinZeros {
		return nil
	}
	return zerosError(z.End(t.from, in.Framed()), in.Name)
}
