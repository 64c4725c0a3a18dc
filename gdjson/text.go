package gdjson

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/checked"
)

// A text is the JSON of one value, in memory, and an index of what is in it. With
// the index, counts are known before content is read, and a member that comes
// last, such as "type", is found without reading those before it: reading takes
// time in proportion to the text however deep and in whatever order it is.
type text struct {
	json  []byte
	nodes []node
}

// A node is an object or array. Nodes are in the order in which they begin.
type node struct {
	end   uint32 // offset after its last byte; its offset while it is open
	next  uint32 // index of the first node that begins after it; the node around it while it is open
	count uint32 // elements or members
}

const (
	// maxText is the longest text whose offsets a node holds.
	maxText = math.MaxUint32 - 1
	// noNode is the index of the node around a value that is in none.
	noNode = math.MaxUint32
	// maxDepth is how many nodes may be around a value, as in jsontext.
	maxDepth = 10_000
)

// read reads src to its end: one value, in at most so many bytes. Two members of an
// object may have the same name if duplicates is set.
func (t *text) read(src io.Reader, most int64, duplicates bool) error {
	if err := t.readAll(src, min(most, maxText)); err != nil {
		return err
	}
	if t.scan() && duplicates {
		return nil
	}
	return t.check(duplicates)
}

// readAll reads src to its end, but no more than a byte beyond most bytes.
func (t *text) readAll(src io.Reader, most int64) error {
	b := t.json[:0]
	for {
		b = slices.Grow(b, 512)
		n, err := checked.Read(src, b[len(b):min(int64(cap(b)), most+1)])
		b = b[:len(b)+n]
		t.json = b
		switch {
		case int64(len(b)) > most:
			return &Error{Offset: most, Err: &gdwire.LimitError{Name: "Buffered", Got: int64(len(b)), Max: most}}
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// check returns what jsontext finds wrong with the text.
func (t *text) check(duplicates bool) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(t.json), jsontext.AllowDuplicateNames(duplicates))
	if _, err := d.ReadValue(); err == io.EOF {
		return &Error{Offset: int64(len(t.json)), Err: io.ErrUnexpectedEOF}
	} else if err != nil {
		return syntaxError(t.json, err)
	}
	end := d.InputOffset()
	if _, err := d.ReadToken(); err == nil {
		return &Error{Offset: end, Err: errSecondValue}
	} else if err != io.EOF {
		return syntaxError(t.json, err)
	}
	if !duplicates && t.scan() {
		return nil
	}
	return &Error{Err: errInvalid}
}

var (
	errSecondValue = wrapf(gdwire.ErrCount, "text after the value")
	errInvalid     = errors.New("invalid JSON") // never seen: scan and jsontext agree
)

// release keeps the memory for the next value, unless it is much.
func (t *text) release() {
	const most = 4 << 20
	if cap(t.json) > most {
		t.json = nil
	}
	if cap(t.nodes) > most/16 {
		t.nodes = nil
	}
}

// pointer returns the JSON pointer of the value at offset.
func (t *text) pointer(offset int64) jsontext.Pointer {
	d := jsontext.NewDecoder(bytes.NewBuffer(t.json), jsontext.AllowDuplicateNames(true))
	for d.InputOffset() <= offset {
		if _, err := d.ReadToken(); err != nil {
			break
		}
	}
	return d.StackPointer()
}
