// Package envelope finds the bytes that a game itself writes around the values of a save: a header, a trailer, and the
// bytes between records. Parts equal to a fact of the values, such as their size or a checksum, are rewritten with
// other values.
package envelope

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire/fileaccess"
)

// An Envelope consists of bodies, and the gaps around them.
type Envelope struct {
	Gaps   [][]byte // one before each body, and one after the last
	Bodies []Body
	Fields []Field // in the order of their offsets; for records, the fields of the first
	Bits   float64 // of evidence, less the assumptions of the envelope
	Small  float64 // the evidence in zeros and small numbers, if they are values
	Err    error   // a CutError if the last record is cut; Write writes the whole records then

	whole   []byte // all bytes
	was     []Body // before these were written
	starts  []int  // the offsets of the bodies
	content []byte // of several bodies
	merged  bool   // the body is several values
	cut     bool   // the start of one more body follows the bodies
}

// A Body is one or several values.
type Body struct {
	Info    fileaccess.Info // describes compression and base64
	Packed  []byte          // as they are in the envelope
	Content []byte          // of the container, or Packed
	Inner   *Envelope       // of Content, or nil

	bits, small float64
}

// lengthSize is the size of the lengths before packets.
const lengthSize = 4

// Content returns the values: of one body, or as packets after lengths of 32 bits, whatever lengths records have.
func (e *Envelope) Content() []byte {
	if len(e.Bodies) == 1 {
		return e.Bodies[0].values()
	}
	if e.content == nil {
		for i := range e.Bodies {
			v := e.Bodies[i].values()
			e.content = append(binary.LittleEndian.AppendUint32(e.content, uint32(len(v))), v...)
		}
	}
	return e.content
}

// values returns the innermost content.
func (b *Body) values() []byte {
	if b.Inner != nil {
		return b.Inner.Content()
	}
	return b.Content
}

// Write returns the envelope around another content. content may share memory with e. The bytes of gaps stay, except
// the fields: sizes, and then checksums. With the original content, Write returns the original bytes. Changed bodies
// are packed anew.
func (e *Envelope) Write(content []byte) ([]byte, error) {
	if e.Err == nil && bytes.Equal(content, e.Content()) {
		return e.whole, nil
	}
	next := &Envelope{Gaps: e.Gaps, Bodies: slices.Clone(e.Bodies), Fields: e.Fields, was: e.Bodies}
	values := [][]byte{content}
	if len(e.Bodies) > 1 {
		var err error
		if values, err = e.packets(content); err != nil {
			return nil, err
		}
	}
	for i := range values {
		if err := next.Bodies[i].set(values[i]); err != nil {
			return nil, fmt.Errorf("record %d: %w", i, err)
		}
	}
	next.join()
	if err := next.derive(); err != nil {
		return nil, err
	}
	return next.whole, nil
}

// packets returns the packets of a content, as many as there are bodies.
func (e *Envelope) packets(content []byte) (values [][]byte, err error) {
	for len(content) > 0 {
		n := lengthSize
		if len(content) >= n {
			n += int(binary.LittleEndian.Uint32(content))
		}
		if n > len(content) {
			return nil, fmt.Errorf("record %d is cut", len(values))
		}
		values, content = append(values, content[lengthSize:n]), content[n:]
	}
	if len(values) != len(e.Bodies) {
		return nil, fmt.Errorf("the file contains %d records, and cannot be written with %d", len(e.Bodies), len(values))
	}
	return values, nil
}

// set replaces the values of a body.
func (b *Body) set(values []byte) (err error) {
	if bytes.Equal(values, b.values()) {
		return nil
	}
	if b.Inner != nil {
		if values, err = b.Inner.Write(values); err != nil {
			return err
		}
	}
	b.Content, b.Packed, b.Inner = values, values, nil
	if b.Info.IsPlain() {
		return nil
	}
	var out bytes.Buffer
	w, err := fileaccess.NewWriter(&out, b.Info, nil)
	if err != nil {
		return err
	}
	_, err = w.Write(values)
	err = cmp.Or(err, w.Close())
	b.Packed = out.Bytes()
	return err
}

// join concatenates the bytes of gaps and bodies.
func (e *Envelope) join() {
	n, at := len(e.Bodies), 0
	all := make([][]byte, 0, 2*n+1)
	e.starts = make([]int, n)
	for i := range e.Bodies {
		gap, body := e.Gaps[i], e.Bodies[i].Packed
		all, e.starts[i] = append(all, gap, body), at+len(gap)
		at = e.starts[i] + len(body)
	}
	e.whole = slices.Concat(append(all, e.Gaps[n])...)
}

// derive writes the fields: sizes, and then checksums, each after the fields covered by the checksum, and fields of
// records first.
func (e *Envelope) derive() error {
	var err error // of the first field that cannot be written
	done := make([]bool, len(e.Fields))
	var write func(i int)
	write = func(i int) {
		f := &e.Fields[i]
		if done[i] {
			return
		}
		done[i] = true
		for j := range e.Fields {
			if f.Sum != Size && e.covers(f, &e.Fields[j]) {
				write(j)
			}
		}
		records := 1
		if f.Each {
			records = len(e.Bodies)
		}
		for r := 0; r < records && err == nil; r++ {
			err = e.put(f, r)
		}
	}
	for _, is := range []func(*Field) bool{
		func(f *Field) bool { return f.Sum == Size },
		func(f *Field) bool { return f.Each },
		func(*Field) bool { return true },
	} {
		for i := range e.Fields {
			if is(&e.Fields[i]) {
				write(i)
			}
		}
	}
	return err
}

// ArePackets reports whether the records are packets: nothing but a length of 32 bits precedes each, and at most the
// start of another follows the last.
func (e *Envelope) ArePackets() bool {
	n := len(e.Bodies)
	if n < 2 || len(e.Gaps[0]) != lengthSize || len(e.Fields) == 0 {
		return false
	}
	f := &e.Fields[0]
	return len(e.Fields) == 1 && f.Each && f.Sum == Size && f.Width == lengthSize && !f.Of.Content && !f.At.End &&
		e.Bodies[0].Info.IsPlain() && !slices.ContainsFunc(e.Gaps[1:n], func(g []byte) bool { return len(g) != lengthSize })
}
