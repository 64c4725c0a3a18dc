// Package checked contains checks shared by packages. It calls Read, ReadAt and Write methods
// and checks their counts: a method violating the contract of package io causes an error
// instead of a panic. It also ends a function at the first error, wherever that is found.
package checked

import (
	"errors"
	"io"
)

// Errors for a Reader or Writer violating the contract of its interface.
var (
	ErrRead  = errors.New("gdwire: reader returned an impossible count")
	ErrWrite = errors.New("gdwire: writer returned an impossible count")
)

// ErrLimit is the error wrapped by the LimitErrors of gdwire and fileaccess: one value, so that
// programs reading files and their content test for one error.
var ErrLimit = errors.New("limit exceeded")

// MaxPacket is the limit of a packet in bytes unless options say otherwise, of stream and of packets in files.
const MaxPacket = 8 << 20

// maxEmptyReads is the number of consecutive calls that may return no bytes and no
// error.
const maxEmptyReads = 100

// Read calls r.Read until it returns bytes, an error or both. After 100 calls
// with neither, Read returns [io.ErrNoProgress]. p must not be empty.
func Read(r io.Reader, p []byte) (int, error) {
	for range maxEmptyReads {
		n, err := r.Read(p)
		if n < 0 || n > len(p) {
			return 0, ErrRead
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// NoEOF returns err, but io.ErrUnexpectedEOF instead of io.EOF, for an input that must not end.
func NoEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A Reader is a Reader with checked counts, for functions of other packages.
type Reader struct{ R io.Reader }

// Read is [Read] of r.R.
func (r Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return Read(r.R, p)
}

// A Failed is a Reader that returns an error.
type Failed struct{ Err error }

// Read returns f.Err.
func (f Failed) Read([]byte) (int, error) { return 0, f.Err }

// A ReaderAt is a ReaderAt with checked counts, for functions of other packages.
type ReaderAt struct{ R io.ReaderAt }

// ReadAt calls r.R.ReadAt. Fewer bytes than requested without an error are an impossible count.
func (r ReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.R.ReadAt(p, off)
	if n < 0 || n > len(p) || n < len(p) && err == nil {
		return 0, ErrRead
	}
	return n, err
}

// Write calls w.Write, and returns [io.ErrShortWrite] if w wrote less than p
// and returned no error.
func Write(w io.Writer, p []byte) (int, error) {
	n, err := w.Write(p)
	if n < 0 || n > len(p) {
		return 0, ErrWrite
	}
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

// A failure is the panic of Check.
type failure struct{ error }

// Check ends the function that Try runs if err is not nil.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Must is Check for calls that return a value.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Try runs f, and returns the error at which Check ended it.
func Try(f func()) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case failure:
			err = x.error
		default:
			panic(x)
		}
	}()
	f()
	return nil
}
