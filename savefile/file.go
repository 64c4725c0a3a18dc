package savefile

import (
	"fmt"
	"iter"
	"os"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/edit"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/variant"
)

// A File is a saved game: one or several values. It must not be used by several goroutines at the
// same time.
type File struct {
	// Info describes the file. WriteTo and Save write a file of this kind: to convert the
	// file, change Info. Reading does not depend on it.
	Info Info

	opened  Info // describes content
	content *save.Content
	name    string      // by which it was opened, or ""
	stat    os.FileInfo // of this file when it was opened
	file    *os.File    // nil if the content is held in memory
}

// Close closes the file. f cannot be read after that.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Values iterates over the values. The Decoder is valid until the next iteration, which skips
// the rest of the value that the body has not read. Errors contain the offset in the content, and the path $2 in value 2; an
// error ends the iteration.
func (f *File) Values() iter.Seq2[*gdwire.Decoder, error] {
	return func(yield func(*gdwire.Decoder, error) bool) {
		err := f.content.Packets(save.Every, func(p *save.Packet) (bool, error) {
			if !yield(p.Decoder, nil) {
				return false, nil
			}
			return true, p.Finish(nil)
		})
		if err != nil {
			yield(nil, damaged(err))
		}
	}
}

// Unmarshal decodes the values of f, one into each of vs. It is an error if f contains more or fewer.
// After an error, the variables contain the values and parts decoded before it.
func (f *File) Unmarshal(vs ...any) error {
	n := 0
	for d, err := range f.Values() {
		if err == nil && n == len(vs) {
			err = fmt.Errorf("savefile: more than %d %s", n, plural(n, "value"))
		} else if err == nil {
			err = variant.UnmarshalDecode(d, vs[n])
		}
		if err != nil {
			return damaged(err)
		}
		n++
	}
	if n < len(vs) {
		return fmt.Errorf("savefile: %d %s instead of %d", n, plural(n, "value"), len(vs))
	}
	return nil
}

// plural returns a noun, with an s unless n is 1.
func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Get decodes the value at a path into the variable that v points to, and skips everything before it.
// The path is that of [variant.Get], $2.player.hp in value 2. The error wraps [variant.ErrNotFound] if
// there is no such value.
func (f *File) Get(path string, v any) error {
	p, err := parsePath(path)
	if err != nil {
		return err
	}
	var tree text.Tree
	target, err := tree.Add(p, "")
	if err != nil {
		return err
	}
	edit.ResolveReals(f.content, &tree)
	var near text.Nearest
	w := &text.Walker{Key: near.Key}
	w.Value = func(*text.Node) (bool, error) { return false, found(variant.UnmarshalDecode(w.Decoder, v)) }
	w.Part = func(_ *text.Node, part text.Part) error { return found(f.unmarshalPart(&part, v)) }
	wanted := func(index int64) bool { return index == p.Packet }
	err = f.content.Packets(wanted, func(packet *save.Packet) (bool, error) {
		w.Decoder = packet.Decoder
		return false, w.Walk(tree.Root(p.Packet))
	})
	switch err {
	case text.ErrFound:
		return nil
	case nil:
		return notFound(near.NotFound(target))
	}
	return damaged(err)
}

// parsePath parses a path, which must be whole.
func parsePath(path string) (text.Path, error) {
	p, err := text.Parse(path)
	if err == nil && p.Cut {
		err = fmt.Errorf("%s is only the start of a path", path)
	}
	if err != nil {
		err = fmt.Errorf("savefile: %w", err)
	}
	return p, err
}

// found returns text.ErrFound, unless there is another error.
func found(err error) error {
	if err == nil {
		err = text.ErrFound
	}
	return err
}

// unmarshalPart decodes an element of a packed array or a component.
func (f *File) unmarshalPart(part *text.Part, v any) error {
	double := part.Bits == 64
	e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{DoubleReals: double, AllowInvalidUTF8: true})
	defer func() { _ = e.Close() }()
	e.ResetBytes(nil)
	if err := part.Value.Write(e, double); err != nil {
		return err
	}
	return variant.Unmarshal(e.Bytes(), v, variant.Options{Decoder: gdwire.DecoderOptions{AllowInvalidUTF8: true}})
}
