package stream

import "io"

// Scan reads the packets in r to their end and returns how many bytes are whole
// packets. It is [io.ErrUnexpectedEOF] if something stands behind these: a packet
// whose writing was interrupted. What is in the packets it does not look at.
//
// To append to a file, Scan it, cut off what is not whole if there is any, and
// write on from there. But a file whose lengths are of the other byte order looks
// cut, too.
func Scan(r io.Reader, o *Options) (whole int64, err error) {
	p := NewReader(r, o)
	for err == nil || Skippable(err) {
		_, err = p.Next()
	}
	if err == io.EOF {
		err = nil
	}
	return p.Whole(), err
}
