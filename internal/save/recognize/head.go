package recognize

import (
	"io"
)

// ReadHead reads the first HeadSize bytes of r into in.Head. The sender of a pipe can wait for an
// answer, so ReadHead reads a pipe only until packets are recognized or PipeSize bytes are
// received. If r ends before, ReadHead sets in.Size.
func ReadHead(r io.Reader, in *Input, pipe bool) error {
	size := HeadSize
	if pipe {
		size = PipeSize
	}
	head := make([]byte, size)
	for n := 0; n < size; {
		m, err := r.Read(head[n:])
		n += m
		in.Head = head[:n]
		if err == io.EOF {
			in.Size = int64(n)
			return nil
		}
		if err != nil {
			return err
		}
		if pipe && in.framed() {
			return nil
		}
	}
	return nil
}

// framed reports whether the head is recognized as length-prefixed packets of any format.
func (in *Input) framed() bool {
	r := Recognize(in)
	return (r.Certainty >= Probably || r.Certainty == Ambiguous) && r.Readings[0].Frame != Bare
}
