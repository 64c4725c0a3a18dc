package gdjson

import (
	"io"

	"github.com/gdwire/gdwire"
)

// Options say how JSON is written and read. The zero value, and nil, is native
// JSON on one line, read exactly.
type Options struct {
	// Plain chooses plain JSON instead of native JSON.
	Plain bool
	// Lenient makes FromJSON read what the engine's JSON.to_native reads, where
	// it would otherwise return an error. The package documentation lists it.
	Lenient bool
	// AllowObjects lets FromJSON write serialized objects. They name classes and
	// scripts that an engine creates when it reads them.
	AllowObjects bool
	// Indent, if not empty, makes ToJSON put each element, pair and property on
	// a line of its own, after one Indent for each level. The numbers of a vector
	// or packed array stay on one line.
	Indent string
	// EscapeForTerminal makes ToJSON write as \uXXXX the characters that a
	// terminal would obey: DEL, the C1 controls, and the controls of
	// bidirectional text.
	EscapeForTerminal bool
}

// ToJSON writes the next value of d to w as JSON, without a newline after it.
// At the end of the input it returns io.EOF and writes nothing.
//
// It holds one token and a few KiB of text, whatever the size of the value. After
// an error of d or w, the JSON written so far is cut off; ToJSON does not resume.
// A NodePath or text that JSON cannot hold is a [gdwire.Error] around
// [gdwire.ErrRange] or [gdwire.ErrUTF8].
func ToJSON(w io.Writer, d *gdwire.Decoder, o *Options) error {
	if err := atValue(d); err != nil {
		return err
	}
	p := getWriter(w, d, o)
	defer p.release()
	write := (*writer).native
	if p.plainJSON {
		write = (*writer).plain
	}
	err := p.value(write)
	if err != nil && len(p.buf) == 0 {
		return err
	}
	p.flush()
	if err == nil {
		err = p.err
	}
	return err
}
