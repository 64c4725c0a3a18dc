package savefile

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/edit"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/variant"
)

// A File is a saved game: one or several values. A File must not be used by several goroutines at
// the same time.
type File struct {
	// Info describes the file. WriteTo and Save write a file of this kind: to convert the file,
	// change Info. Reading does not depend on Info.
	Info Info
	// Lossy is called by WriteTo and Save for each value unknown to Info.Format, in the order of the file, when its
	// counterpart is written; see the section "Godot 4 to Godot 3". If Lossy is nil, such a value is an error.
	Lossy func(Loss)

	opened  Info // describes content
	content *save.Content
	stack   *save.Stack // around content
	name    string      // of the opened file, or ""
	stat    os.FileInfo // of this file when opened
	file    *os.File    // nil if the content is held in memory
}

// A Loss is a value that another format cannot contain.
type Loss struct {
	// Path is the location of the value, such as $.player.class.
	Path string
	// Offset is the offset of the value in the content of the read file, in bytes. In a packed array, Offset can be
	// the offset of a later element.
	Offset int64
	// Value names the type missing in the format, such as "StringName".
	Value string
	// Becomes names the replacement written to the file, such as "a String" or "null".
	Becomes string
}

// String returns a sentence, such as "$.player.class: StringName becomes a String".
func (l Loss) String() string { return l.Path + ": " + l.Value + " becomes " + l.Becomes }

// Close closes the file. f cannot be read afterwards. A File of [Read] or [New] need not be closed.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Values iterates over the values. The Decoder is valid until the next iteration. The next iteration skips the unread
// rest of the value. Errors contain the offset in the content, and the path $2 in value 2; an error ends the iteration.
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

// Unmarshal decodes the values of f, one into each of vs. More or fewer values in f are an error.
// After an error, the variables contain the values and parts decoded before the error.
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

// Get decodes the value at a path into the variable that v points to, and skips everything before the
// value. The path is as in [variant.Get], $2.player.hp in value 2. The error wraps
// [variant.ErrNotFound] if there is no such value.
func (f *File) Get(path string, v any) error { return f.GetAll(map[string]any{path: v}) }

// GetAll decodes the values at several paths into the variables that vs point to, as [File.Get] does,
// reading f once for all values, up to the last:
//
//	err := f.GetAll(map[string]any{"player.hp": &hp, "player.name": &name})
//
// A path to a value containing the value of another path is read by itself, and so is another path to
// the same element, such as [-1] beside [2]. If a value is missing or does not fit its variable, GetAll
// returns the error, and other variables may have been set.
func (f *File) GetAll(vs map[string]any) error {
	g := &getter{file: f, values: map[*text.Node]any{}}
	for _, path := range slices.Sorted(maps.Keys(vs)) { // the error is then always the same
		p, err := parsePath(path)
		if err != nil {
			return err
		}
		target, err := g.tree.Add(p, path)
		if err != nil {
			return fmt.Errorf("savefile: %w", err)
		}
		g.values[target] = vs[path]
	}
	if err := g.get(); err != nil {
		return err
	}
	for _, p := range g.alone {
		if err := f.Get(p.Text, vs[p.Text]); err != nil {
			return err
		}
	}
	return nil
}

// A getter reads the values at the targets of a tree.
type getter struct {
	file   *File
	tree   text.Tree
	values map[*text.Node]any // the variables of the targets not found yet
	alone  []*text.Node       // targets to be read by themselves
	walker text.Walker
}

// get walks until all targets are found.
func (g *getter) get() error {
	targets := g.tree.Targets
	if len(targets) == 0 {
		return nil
	}
	edit.ResolveReals(g.file.content, &g.tree)
	var near text.Nearest
	w := &g.walker
	w.Key, w.Value = near.Key, g.value
	w.Part = func(p *text.Node, part text.Part) error {
		return g.take(p, func(v any) error { return g.file.unmarshalPart(&part, v) })
	}
	if err := edit.Walk(g.file.content, &g.tree, w); err != nil && err != text.ErrFound {
		return damaged(err)
	}
	for _, p := range targets {
		if _, missing := g.values[p]; !missing {
			continue
		}
		if len(targets) == 1 {
			return notFound(near.NotFound(p))
		}
		g.alone = append(g.alone, p)
	}
	return nil
}

// value reads the value at a target.
func (g *getter) value(p *text.Node) (goOn bool, err error) {
	if p.HasInner() {
		g.alone = append(g.alone, p)
		return true, g.take(p, func(any) error { return nil })
	}
	if _, first := g.values[p]; !first { // of equal keys
		return true, nil
	}
	return false, g.take(p, func(v any) error { return variant.UnmarshalDecode(g.walker.Decoder, v) })
}

// take calls read for the variable of a target, once, and returns text.ErrFound after the last
// target.
func (g *getter) take(p *text.Node, read func(v any) error) error {
	v, first := g.values[p]
	if !first {
		return nil
	}
	delete(g.values, p)
	err := read(v)
	if err == nil && len(g.values) == 0 {
		err = text.ErrFound
	}
	return err
}

// parsePath parses a path. A path that was cut is an error.
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
