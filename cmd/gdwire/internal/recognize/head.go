package recognize

import (
	"io"
)

// ReadHead reads the start of r into in.Head: HeadSize bytes. Of a pipe, whose sender may wait for an answer, it reads until packets are
// recognized or PipeSize bytes have arrived. It sets in.Size if r ends before.
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

// framed reports whether the head is recognized as packets, whatever their
// format.
func (in *Input) framed() bool {
	r := Recognize(in)
	return (r.Certainty >= Probably || r.Certainty == Ambiguous) && r.Readings[0].Frame != Bare
}
