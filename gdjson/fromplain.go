package gdjson

import (
	"bytes"
	"strconv"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// plain converts the next value. An object becomes a Dictionary with String keys.
func (r *reader) plain() error {
	at := r.at.pos
	switch c := r.peek(); c {
	case 'n', 't', 'f':
		return r.scalar()
	case '"':
		return r.wrote(at, r.e.WriteString(wire.String(r.string())))
	case '{', '[':
		n := r.enter()
		begin := r.e.BeginArray
		if c == '{' {
			begin = r.e.BeginDict
		}
		if err := r.wrote(at, begin(int(n.count))); err != nil {
			return err
		}
		for range n.count {
			if c == '{' {
				key := r.at.pos
				if err := r.wrote(key, r.e.WriteString(wire.String(r.name()))); err != nil {
					return err
				}
			}
			if err := r.plain(); err != nil {
				return err
			}
			r.separate()
		}
		return r.end(at, n)
	default:
		return r.plainNumber()
	}
}

// plainNumber converts a number: to an int if it is written without point and
// exponent and is not -0, otherwise to a float.
func (r *reader) plainNumber() error {
	at := r.at.pos
	b := r.literal()
	if bytes.ContainsAny(b, ".eE") || string(b) == "-0" {
		x, err := parseReal(b)
		if err != nil && !r.o.Lenient {
			return r.errorAt(at, err)
		}
		return r.wrote(at, r.e.WriteFloat(x))
	}
	x, err := strconv.ParseInt(string(b), 10, 64)
	if err == nil {
		return r.wrote(at, r.e.WriteInt(x))
	}
	if !r.o.Lenient {
		return r.failf(at, gdwire.ErrRange, "%s does not fit an int", cut(b, 40))
	}
	f, _ := parseReal(b) // the engine's numbers are all floats
	return r.wrote(at, r.e.WriteFloat(f))
}
