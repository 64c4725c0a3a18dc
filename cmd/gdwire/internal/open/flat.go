package open

import (
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// A flatPrinter shows a line for each leaf: path = value. Containers have a line of their
// own if they are empty, typed, packed or objects. The printer holds only the path and one
// token in memory.
type flatPrinter struct {
	*shell.Stdio
	p       *save.Packet
	path    []byte       // of the current value
	long    int64        // the sum of the lengths of all long paths in the output
	omitted int64        // the number of values of the packet that were left out
	text    text.Printer // of the current line
	numbers [16]float64
}

// The lengths of paths, in bytes. Without a limit, each value in a container with a long
// path would repeat that path, and the output would grow with the square of the input.
const (
	MaxPath = 64 << 10 // of any path

	shortPath = 256      // of a path that is always shown
	longPaths = 64 << 20 // of all paths longer than shortPath together, and
	longPerIn = 16       // so much more for each byte of the input
)

// NewFlatPrinter returns a Printer that shows a line for each leaf.
func NewFlatPrinter(s *shell.Stdio, _ *Input) Printer {
	v := &flatPrinter{Stdio: s}
	v.text.Flush = v.flush
	return Printer{Show: v.show}
}

// show shows the lines of a packet.
func (v *flatPrinter) show(p *save.Packet) error {
	v.p, v.text.Decoder = p, p.Decoder
	v.path = text.AppendPacket(v.path[:0], p.Index)
	v.omitted = 0
	err := p.Err
	if err == nil {
		err = p.Finish(v.value())
	}
	if err == nil && v.omitted > 0 {
		err = &omission{p.Index, v.omitted}
	}
	return err
}

// omit reports whether the value at the path is left out because the path is too long, and
// counts it.
func (v *flatPrinter) omit() bool {
	n := len(v.path)
	if n > MaxPath || n > shortPath && v.long > longPaths+longPerIn*v.p.ReadOffset() {
		v.omitted++
		return true
	}
	return false
}

// value shows the next value.
func (v *flatPrinter) value() error {
	if v.omit() {
		return v.p.SkipValue()
	}
	t, err := v.p.ReadToken()
	if err != nil {
		return err
	}
	return v.token(t)
}

// token shows the value that starts with t.
func (v *flatPrinter) token(t gdwire.Token) error {
	switch t.Kind() {
	case gdwire.KindArrayStart:
		return v.array(t)
	case gdwire.KindDictStart:
		return v.dictionary(t)
	case gdwire.KindObjectStart:
		return v.object(t)
	case gdwire.KindPackedStart:
		if t.Type() != gdwire.TypePackedByteArray {
			return v.packed(t)
		}
	}
	return v.line(t)
}

// line shows a value without values in it, or the declared types in a Start token.
func (v *flatPrinter) line(t gdwire.Token) error {
	v.startLine()
	return v.endLine(v.text.Leaf(t))
}

// startLine appends the path and = to the buffer.
func (v *flatPrinter) startLine() {
	if len(v.path) > shortPath {
		v.long += int64(len(v.path))
	}
	v.text.Buf = append(append(v.text.Buf[:0], v.path...), " = "...)
}

// flush writes the buffer.
func (v *flatPrinter) flush() error {
	_, err := v.Out.Write(v.text.Buf)
	v.text.Buf = v.text.Buf[:0]
	return err
}

// child shows the next value, at the path that step appends to.
func (v *flatPrinter) child(step func(dst []byte) []byte) error {
	n := len(v.path)
	v.path = step(v.path)
	err := v.value()
	v.path = v.path[:n]
	return err
}

// endLine ends a line, and returns err or the error of the output.
func (v *flatPrinter) endLine(err error) error {
	v.text.Buf = append(v.text.Buf, '\n')
	if failed := v.flush(); failed != nil {
		return failed
	}
	return err
}

// array shows the elements of an Array.
func (v *flatPrinter) array(t gdwire.Token) error {
	n := t.Len()
	if n == 0 || t.Elem() != (gdwire.Elem{}) {
		if err := v.line(t); err != nil {
			return err
		}
	}
	for i := range n {
		if err := v.child(func(dst []byte) []byte { return text.AppendIndex(dst, i) }); err != nil {
			return err
		}
	}
	return v.end()
}

// end reads the End of a container.
func (v *flatPrinter) end() error {
	_, err := v.p.ReadToken()
	return err
}

// object shows the properties of an Object.
func (v *flatPrinter) object(t gdwire.Token) error {
	n := t.Len()
	if err := v.line(t); err != nil {
		return err
	}
	for range n {
		name, err := v.p.ReadToken()
		if err != nil {
			return err
		}
		step := text.Step{Key: text.FromToken(name, nil)}
		if err := v.child(step.Append); err != nil {
			return err
		}
	}
	return v.end()
}

// dictionary shows the pairs of a Dictionary.
func (v *flatPrinter) dictionary(t gdwire.Token) error {
	n := t.Len()
	if n == 0 || t.KeyElem() != (gdwire.Elem{}) || t.Elem() != (gdwire.Elem{}) {
		if err := v.line(t); err != nil {
			return err
		}
	}
	for i := range n {
		if _, err := v.p.ReadToken(); err != nil { // DictKey
			return err
		}
		if err := v.pair(i); err != nil {
			return err
		}
	}
	return v.end()
}

// pair shows pair i of a Dictionary. A key that cannot be part of a path is shown on its
// own line.
func (v *flatPrinter) pair(i int64) error {
	t, err := v.p.ReadToken()
	if err != nil {
		return err
	}
	step, ok, err := text.KeyStep(v.p.Decoder, t, v.numbers[:0], func(r *text.NodePathReader, value []byte) error {
		return v.longKey(i, t, r, value)
	})
	if err != nil {
		return err
	}
	if !ok {
		return v.child(func(dst []byte) []byte { return text.AppendValueAt(dst, i) })
	}
	return v.child(step.Append)
}

// longKey shows a key that starts with t. text is the part of it that was read.
func (v *flatPrinter) longKey(i int64, t gdwire.Token, r *text.NodePathReader, value []byte) error {
	n := len(v.path)
	v.path = text.AppendKeyAt(v.path, i)
	defer func() { v.path = v.path[:n] }()
	if r != nil {
		v.startLine()
		return v.endLine(v.text.NodePath(r, value))
	}
	return v.token(t)
}

// packed shows a packed array.
func (v *flatPrinter) packed(t gdwire.Token) error {
	if err := v.line(t); err != nil {
		return err
	}
	base, depth := len(v.path), v.p.Depth()-1
	defer func() { v.path = v.path[:base] }()
	for i := int64(0); ; {
		if v.path = v.path[:base]; v.omit() {
			return v.p.SkipTo(depth)
		}
		t, err := v.p.ReadToken()
		switch {
		case err != nil:
			return err
		case t.Kind() == gdwire.KindEnd:
			return nil
		case t.Kind() == gdwire.KindStringChunk:
			v.path = text.AppendIndex(v.path, i)
			if err := v.line(t); err != nil {
				return err
			}
			i++
			continue
		}
		size := int(int64(len(t.Bytes())) / max(t.Len(), 1))
		for b := t.Bytes(); len(b) > 0; b = b[size:] {
			if v.path = text.AppendIndex(v.path[:base], i); v.omit() {
				return v.p.SkipTo(depth)
			}
			value := text.Element(t, b[:size], v.numbers[:0])
			v.startLine()
			v.text.Buf = append(value.Append(v.text.Buf), '\n')
			if err := v.flush(); err != nil {
				return err
			}
			i++
		}
	}
}
