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

// A text is the JSON of one value and an index of its objects and arrays. The index
// has the counts that the Encoder needs before the content, and lets the reader skip
// a member in constant time, because "type" may follow "args". Conversion therefore
// takes time proportional to the text for any nesting and any order of members.
type text struct {
	json   []byte // standardized if need be
	shifts []shift
	nodes  []node
}

// A node is an object or array. Nodes are in the order in which they begin.
type node struct {
	end   uint32 // offset after its last byte; while it is open, the offset of its start
	next  uint32 // index of the first node after its end; while it is open, of its parent
	count uint32 // elements or members
}

const (
	// maxText is the greatest length of a text, because nodes have offsets of 32
	// bits.
	maxText = math.MaxUint32 - 1
	// noNode is the parent of the top-level value.
	noNode = math.MaxUint32
	// maxDepth is the greatest number of open nodes, that of jsontext.
	maxDepth = 10_000
)

// read reads src to its end: one value in no more than most bytes. If duplicates is
// set, members of an object may have the same name. If lenient is set, the text may
// deviate from JSON in the ways that the engine accepts.
func (t *text) read(src io.Reader, most int64, duplicates, lenient bool) error {
	t.shifts = nil
	most = min(most, maxText)
	if err := t.readAll(src, most); err != nil {
		return err
	}
	ok := t.scan()
	if !ok {
		t.json, t.shifts = standardize(t.json, lenient)
		if n := int64(len(t.json)); n > maxText {
			return limitError(n, most)
		}
		ok = t.scan()
	}
	if ok && duplicates {
		return nil
	}
	return t.check(duplicates)
}

func limitError(got, most int64) error {
	return &Error{Offset: most, Err: &gdwire.LimitError{Name: "MaxBuffered", Got: got, Max: most}}
}

// readAll reads src to its end. It returns an error as soon as it has read more than
// most bytes.
func (t *text) readAll(src io.Reader, most int64) error {
	b := t.json[:0]
	for {
		b = slices.Grow(b, 512)
		n, err := checked.Read(src, b[len(b):min(int64(cap(b)), most+1)])
		b = b[:len(b)+n]
		t.json = b
		switch {
		case int64(len(b)) > most:
			return limitError(int64(len(b)), most)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// check validates the text with jsontext, whose errors have offset and pointer.
func (t *text) check(duplicates bool) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(t.json), jsontext.AllowDuplicateNames(duplicates))
	_, err := d.ReadValue()
	if err == io.EOF {
		return &Error{Offset: int64(len(t.json)), Err: io.ErrUnexpectedEOF}
	}
	if err == nil {
		end := d.InputOffset()
		if _, err = d.ReadToken(); err == nil {
			return &Error{Offset: end, Err: errSecondValue}
		}
	}
	switch {
	case err != io.EOF:
		return syntaxError(t.json, err)
	case duplicates:
		return &Error{Err: errInvalid}
	}
	return nil
}

var (
	errSecondValue = wrapf(gdwire.ErrCount, "text after the value")
	errInvalid     = errors.New("invalid JSON") // never returned while scan and jsontext agree
)

// release drops the memory of a large text, and keeps a smaller one for reuse.
func (t *text) release() {
	const most = 4 << 20
	if cap(t.json) > most {
		t.json = nil
	}
	if cap(t.nodes) > most/16 {
		t.nodes = nil
	}
}

// located returns err with an offset in the text as it was read.
func (t *text) located(err error) error {
	if fault, ok := err.(*Error); ok {
		fault.Offset = fromStandard(t.shifts, fault.Offset)
	}
	return err
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
