package main

import (
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/paths"
)

// keyStep reads the key that starts with t and returns the step to its value. If the key
// cannot be part of a path, it calls long, for a NodePath with its reader and the text that
// has been read, and returns false.
func keyStep(d *gdwire.Decoder, t gdwire.Token, numbers []float64, long func(r *nodePathReader, text []byte) error) (paths.Step, bool, error) {
	switch t.Kind() {
	case gdwire.KindStringChunk:
		if !t.Last() || len(t.Bytes()) > maxKey {
			return paths.Step{}, false, long(nil, nil)
		}
	case gdwire.KindNodePathStart:
		r := newNodePathReader(d, t)
		text, whole, err := r.short()
		if err != nil {
			return paths.Step{}, false, err
		}
		if !whole {
			return paths.Step{}, false, long(r, text)
		}
		return paths.Step{Key: paths.Value{Type: gdwire.TypeNodePath, Text: string(text)}}, true, nil
	}
	key := paths.FromToken(t, numbers)
	if !key.IsKey() {
		return paths.Step{}, false, long(nil, nil)
	}
	return paths.Step{Key: key}, true, nil
}

// A nodePathReader reads the names of a NodePath and their separators.
type nodePathReader struct {
	d        *gdwire.Decoder
	absolute bool
	names    int64
	read     bool // something has been read
	inName   bool // the next chunk continues the latest name
}

func newNodePathReader(d *gdwire.Decoder, start gdwire.Token) *nodePathReader {
	names, _, absolute := start.NodePath()
	return &nodePathReader{d: d, absolute: absolute, names: names}
}

// short reads up to maxKey bytes and reports whether that is the whole NodePath.
func (r *nodePathReader) short() (text []byte, whole bool, err error) {
	for len(text) <= maxKey {
		separator, t, err := r.next()
		text = append(text, separator...)
		if err != nil || t.Kind() == gdwire.KindEnd {
			return text, true, err
		}
		text = append(text, t.Bytes()...)
	}
	return text, false, nil
}

// next returns the next chunk of a name with the separator before it, or reads the End.
func (r *nodePathReader) next() (separator string, t gdwire.Token, err error) {
	t, err = r.d.ReadToken()
	if err != nil {
		return "", t, err
	}
	if t.Kind() == gdwire.KindEnd {
		if r.absolute && !r.read {
			separator = "/"
		}
		return separator, t, nil
	}
	if !r.inName {
		_, i, _ := r.d.StackIndex(r.d.Depth())
		if !t.Last() {
			_, i, _ = r.d.StackIndex(r.d.Depth() - 1)
		}
		switch {
		case i >= r.names:
			separator = ":"
		case i > 0 || r.absolute:
			separator = "/"
		}
	}
	r.read, r.inName = true, !t.Last()
	return separator, t, nil
}
