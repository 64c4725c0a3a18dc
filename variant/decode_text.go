package variant

import (
	"bufio"
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// makeScalarDecoder returns the function decoding a t, a bool or number, with read. The function
// captures a single variable, and makeScalarDecoder must not be inlined, because the compiler
// inlines no calls in the closures of inlined functions: both are -2 % of Unmarshal into structs.
//
//go:noinline
func makeScalarDecoder[T any](t reflect.Type, read func(*gdwire.Decoder) (T, error)) decodeFunc {
	c := &scalarDecoder[T]{t, read}
	return func(s *decoder, x variable) error {
		if s.peekFirst && s.decodeNil(valueOf(x, c.typ)) {
			return nil
		}
		v, err := c.read(s.d)
		if err != nil {
			return s.nilOrTypeError(valueOf(x, c.typ), err)
		}
		set(x, v)
		return nil
	}
}

// A scalarDecoder holds the variables of the function of makeScalarDecoder.
type scalarDecoder[T any] struct {
	typ  reflect.Type
	read func(*gdwire.Decoder) (T, error)
}

// readInt reads an int on machines whose ints have 64 bits and hold every int64.
func readInt(d *gdwire.Decoder) (int, error) {
	x, err := d.ReadInt()
	return int(x), err
}

// makeStringDecoder returns the function decoding a t, a string kind, from text. See
// makeScalarDecoder for noinline.
//
//go:noinline
func makeStringDecoder(t reflect.Type) decodeFunc {
	return func(s *decoder, x variable) error {
		text, err := s.readText(x, t)
		if err == nil {
			set(x, text)
		}
		return err
	}
}

// makeNodePathDecoder returns the function decoding a t, a string kind with type=NodePath, from
// text, and trying a NodePath first. See makeScalarDecoder for noinline.
//
//go:noinline
func makeNodePathDecoder(t reflect.Type) decodeFunc {
	return func(s *decoder, x variable) error {
		text, err := s.readNodePath(x, t)
		if err == nil {
			set(x, text)
		}
		return err
	}
}

// readText returns the next text, of any type, for x, a variable of type t, and tries the fast
// path for strings first. A nil makes x zero, and readText returns "".
func (s *decoder) readText(x variable, t reflect.Type) (string, error) {
	b, ok, err := export.ReadText(s.d)
	if !ok {
		if err != nil && err != bufio.ErrBufferFull {
			return "", err
		}
		return s.readAnyText(x, t)
	}
	if err := s.charge(t, int64(len(b))); err != nil {
		return "", err
	}
	return s.newText(b), nil
}

// readNodePath reads text like readText, but first tries the fast path for NodePaths.
func (s *decoder) readNodePath(x variable, t reflect.Type) (string, error) {
	b := export.ReadNodePath(s.d, &s.pathText)
	if b == nil {
		return s.readAnyText(x, t)
	}
	if err := s.charge(t, int64(len(b))); err != nil {
		return "", err
	}
	return s.newText(b), nil
}

// readAnyText reads text like readText, without a fast path.
func (s *decoder) readAnyText(x variable, t reflect.Type) (string, error) {
	typ, err := s.d.PeekType()
	switch {
	case err != nil:
		return "", err
	case !isTextType(typ):
		return "", s.nilOrTypeError(valueOf(x, t), nil)
	}
	tok, err := s.token()
	if err != nil {
		return "", err
	}
	if typ == gdwire.TypeNodePath {
		return s.nodePathText(tok, t)
	}
	return s.text(tok, t)
}

// isTextType reports whether values of type t are text.
func isTextType(t gdwire.Type) bool {
	return t == gdwire.TypeString || t == gdwire.TypeStringName || t == gdwire.TypeNodePath
}

// text returns the text starting with chunk t.
func (s *decoder) text(t gdwire.Token, g reflect.Type) (string, error) {
	if err := s.charge(g, t.Len()); err != nil {
		return "", err
	}
	if t.Last() {
		return s.newText(t.Bytes()), nil
	}
	b, err := s.payload(countOf(t))
	return wire.String(b), err // no copy: b is not written again
}

// longText returns the next key of a struct or name of a NodePath, longer than a chunk, for a variable of type g.
func (s *decoder) longText(g reflect.Type) ([]byte, error) {
	chunk, err := s.d.ReadToken()
	if err != nil {
		return nil, err
	}
	if chunk.Len() > s.memoryLeft {
		return nil, s.charge(g, chunk.Len())
	}
	return s.d.AppendString(nil)
}

// maxScratch is the maximum capacity in bytes of a scratch kept for the next value.
const maxScratch = 1 << 12

// nodePathText returns the NodePath starting with t as text. A name that cannot be read back
// from the text is an error.
func (s *decoder) nodePathText(t gdwire.Token, g reflect.Type) (string, error) {
	names, n := namesOf(t)
	b := append(s.scratch[:0], names.Start()...)
	for range n {
		name, _, err := export.ReadText(s.d)
		if err == bufio.ErrBufferFull {
			name, err = s.longText(g)
		}
		if err != nil {
			return "", err
		}
		if err := s.charge(g, int64(len(name))); err != nil {
			return "", err
		}
		separator, err := names.Next(name, true)
		if err != nil {
			return "", s.fail(gdwire.TypeNodePath, g, nameError(name))
		}
		if separator != 0 {
			b = append(b, separator)
		}
		b = append(b, name...)
	}
	if s.scratch = b; cap(b) > maxScratch {
		s.scratch = nil
	}
	return s.newText(b), s.d.ReadEnd()
}

// namesOf returns the names of the NodePath starting with t, and their number.
func namesOf(t gdwire.Token) (names wire.NodePathNames, n int64) {
	n, subnames, absolute := t.NodePath()
	return wire.NamesOf(n, absolute, export.IsOneString(t)), n + subnames
}

// nameError returns the error for a name of a NodePath that cannot be read back from its text.
func nameError(name []byte) error {
	return fmt.Errorf("%w: name %s", gdwire.ErrRange, quoted(string(name)))
}
