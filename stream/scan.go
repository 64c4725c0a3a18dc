package stream

import (
	"io"

	"github.com/gdwire/gdwire/internal/options"
)

// ScanComplete reads r to its end and returns the number of bytes at its start that are
// complete packets. It returns [io.ErrUnexpectedEOF] if other bytes follow them: a
// packet that was written in part. It does not decode the packets.
//
// To append to a file, truncate the file to that number of bytes, and write from there. Lengths in the
// other byte order look like an incomplete packet as well.
func ScanComplete(r io.Reader, opts ...Options) (whole int64, err error) {
	p := NewReader(r, options.Merge(opts))
	for err == nil || Skippable(err) {
		_, err = p.Next()
	}
	if err == io.EOF {
		err = nil
	}
	return p.CompleteOffset(), err
}
