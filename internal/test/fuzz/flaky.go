package fuzz

import (
	"errors"
	"io"
)

// ErrTemporary is the error of a FlakyReader.
var ErrTemporary = errors.New("try again")

// A FlakyReader fails before every read from R.
type FlakyReader struct {
	R      io.Reader
	failed bool
}

func (r *FlakyReader) Read(p []byte) (int, error) {
	if r.failed = !r.failed; r.failed {
		return 0, ErrTemporary
	}
	return r.R.Read(p)
}

// ErrorText returns the text of err, or "" for nil.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
