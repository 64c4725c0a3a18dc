package checked_test

import (
	"errors"
	"io"
	"testing"

	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/stretchr/testify/assert"
)

var errOwn = errors.New("own")

// A result is what one call of Read or Write returns.
type result struct {
	n   int
	err error
}

// script is a Reader and Writer that returns its results in order.
type script []result

func (s *script) next() (int, error) {
	r := (*s)[0]
	if len(*s) > 1 {
		*s = (*s)[1:]
	}
	return r.n, r.err
}

func (s *script) Read([]byte) (int, error)  { return s.next() }
func (s *script) Write([]byte) (int, error) { return s.next() }

func (s *script) ReadAt([]byte, int64) (int, error) { return s.next() }

func TestCheckedRead(t *testing.T) {
	for name, c := range map[string]struct {
		calls script
		want  result
	}{
		"bytes":                 {script{{3, nil}}, result{3, nil}},
		"bytes and an error":    {script{{3, io.EOF}}, result{3, io.EOF}},
		"error":                 {script{{0, errOwn}}, result{0, errOwn}},
		"nothing, then bytes":   {script{{0, nil}, {0, nil}, {1, nil}}, result{1, nil}},
		"nothing, then error":   {script{{0, nil}, {0, errOwn}}, result{0, errOwn}},
		"nothing for ever":      {script{{0, nil}}, result{0, io.ErrNoProgress}},
		"negative count":        {script{{-1, nil}}, result{0, checked.ErrRead}},
		"too large a count":     {script{{5, nil}}, result{0, checked.ErrRead}},
		"too large, with error": {script{{5, errOwn}}, result{0, checked.ErrRead}},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := checked.Read(&c.calls, make([]byte, 4))
			assert.Equal(t, c.want, result{n, err})
		})
	}
}

func TestWrite(t *testing.T) {
	for name, c := range map[string]struct {
		call, want result
	}{
		"all":               {result{4, nil}, result{4, nil}},
		"short":             {result{3, nil}, result{3, io.ErrShortWrite}},
		"short with error":  {result{3, errOwn}, result{3, errOwn}},
		"all with error":    {result{4, errOwn}, result{4, errOwn}},
		"negative count":    {result{-1, nil}, result{0, checked.ErrWrite}},
		"too large a count": {result{5, nil}, result{0, checked.ErrWrite}},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := checked.Write(&script{c.call}, make([]byte, 4))
			assert.Equal(t, c.want, result{n, err})
		})
	}
}

func TestReaderAt(t *testing.T) {
	for name, c := range map[string]struct {
		call, want result
	}{
		"all":               {result{4, nil}, result{4, nil}},
		"all, and the end":  {result{4, io.EOF}, result{4, io.EOF}},
		"short with error":  {result{3, errOwn}, result{3, errOwn}},
		"short":             {result{3, nil}, result{0, checked.ErrRead}},
		"negative count":    {result{-1, io.EOF}, result{0, checked.ErrRead}},
		"too large a count": {result{5, nil}, result{0, checked.ErrRead}},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := checked.ReaderAt{R: &script{c.call}}.ReadAt(make([]byte, 4), 0)
			assert.Equal(t, c.want, result{n, err})
		})
	}
}
