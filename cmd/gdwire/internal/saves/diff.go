package saves

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/variant"
)

// Diff defines the flags of diff.
func Diff(f *shell.Flags) shell.Action {
	v := &differ{}
	v.open.ReadFlags(f, true)
	f.OutputFlag()
	f.BoolVar(&v.lines, "json", false, "a line of JSON for each difference")
	f.Size("max-memory", "at most `N` bytes of memory for the values of each file; larger files are compared by position [256 MiB]", func(n int64) { v.maxMemory = n })
	return shell.Action{
		Check: func() error {
			if save.IsStdin(f.Operands[0]) && save.IsStdin(f.Operands[1]) {
				return errors.New("standard input is only one file: name the other")
			}
			return nil
		},
		Run: func(s *shell.Stdio) error { return v.run(s, f.Operands) },
	}
}

// A differ shows the differences between two files.
type differ struct {
	open      open.Flags
	lines     bool // -json
	maxMemory int64

	*shell.Stdio
	json       *json.Encoder
	old, value *side
	found      bool
}

// run shows the differences between two files.
func (v *differ) run(s *shell.Stdio, names []string) error {
	v.Stdio, v.json = s, json.NewEncoder(s.Out)
	v.json.SetEscapeHTML(false)
	var sides [2]*side
	for i, name := range names {
		in, content, err := v.open.OpenContent(s, name)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		if err := in.CheckZeros(content); err != nil {
			return err
		}
		sides[i] = &side{name: in.Name, r: content, size: content.Size, reading: in.Reading, maxMemory: v.maxMemory}
		v.open.Keys.Use(in.Key()) // probably also the key of the second file
	}
	v.old, v.value = sides[0], sides[1]
	v.showProgress(1)
	defer s.Clear()
	c := comparer{tree: v.change, leaf: v.leaf, byPosition: func(limit int64) {
		s.Logf("the values need more memory than %s: from here on they are compared by position, without aligning elements; -max-memory raises the limit",
			humanize.IBytes(uint64(limit)))
		v.showProgress(2) // from the start of both files
	}}
	err := c.compare(sides[0], sides[1])
	if err == nil && v.found {
		err = shell.ErrBad
	}
	return err
}

// showProgress shows the progress of reading both files from here on, the given number of times.
func (v *differ) showProgress(times int64) {
	progress := v.ProgressOf(times * (v.old.size + v.value.size))
	v.old.progress, v.value.progress = progress, progress
}

// A changeLine is a difference, and a line of diff -json. The values are JSON, or text without -json.
type changeLine struct {
	Path    string          `json:"path"`              // in the second file, or in the first if the value was removed
	OldPath string          `json:"oldPath,omitempty"` // in the first file, if different
	Old     json.RawMessage `json:"old,omitempty"`
	New     json.RawMessage `json:"new,omitempty"`
	Leaf    bool            `json:"leaf,omitempty"` // old and new are text, as in flat
}

// change shows a difference between two trees.
func (v *differ) change(c variant.Change) (err error) {
	line := changeLine{Path: c.NewPath}
	switch {
	case c.Removed:
		line.Path = c.OldPath
	case !c.Added && c.OldPath != c.NewPath:
		line.OldPath = c.OldPath
	}
	show := (*side).text
	if v.lines {
		show = (*side).json
	}
	if !c.Added {
		line.Old, err = show(v.old, c.Old)
	}
	if !c.Removed && err == nil {
		line.New, err = show(v.value, c.New)
	}
	return cmp.Or(err, v.show(&line))
}

// leaf shows a difference between two leaves.
func (v *differ) leaf(old, value *leaf) (err error) {
	line := changeLine{Leaf: true}
	for i, l := range []*leaf{old, value} {
		if l == nil {
			continue
		}
		line.Path = l.path
		shown := []byte(l.text)
		if v.lines {
			if shown, err = json.Marshal(l.text); err != nil {
				return err
			}
		}
		*[]*json.RawMessage{&line.Old, &line.New}[i] = shown
	}
	return v.show(&line)
}

// show shows a difference.
func (v *differ) show(line *changeLine) error {
	v.found = true
	if v.lines {
		return v.json.Encode(line)
	}
	path := line.Path
	if line.OldPath != "" {
		path = line.OldPath + " -> " + path
	}
	text := func(value []byte) string { return shell.Cut(cmp.Or(string(value), "not there"), shell.PlainWidth) }
	_, err := fmt.Fprintf(v.Out, "%s: %s -> %s\n", shell.Printable(path), v.Colors.Bad.Sprint(text(line.Old)), v.Colors.Good.Sprint(text(line.New)))
	return err
}
