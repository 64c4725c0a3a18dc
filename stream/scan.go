package stream

import (
	"io"

	"github.com/gdwire/gdwire/internal/options"
)

// ScanComplete reads r to the end and returns the number of bytes at the start that are complete
// packets. If other bytes follow, from a packet written in part, ScanComplete returns
// [io.ErrUnexpectedEOF]. The packets are not decoded.
//
// To append to a file, truncate the file to this number of bytes, and write from there. Lengths in the
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
