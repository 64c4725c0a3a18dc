package saves

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/values/compare"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/text"
)

// Diff defines the flags of diff.
func Diff(f *shell.Flags) shell.Action {
	v := &differ{}
	v.open.ReadFlags(f, true)
	f.OutputFlag()
	f.BoolVar(&v.lines, "json", false, "a line of JSON for each difference")
	f.BoolVar(&v.stat, "stat", false, "show how many values differ in each value at the top")
	f.Func("ignore", "show no difference at `PATH` or in it, such as '$*.players[*].seen', or at several, separated by commas; a name such as time, or a pattern such as '*_at', is a key anywhere, and '$.time' the one at the top; may be given several times", func(s string) error {
		all := []string{s}
		if _, err := text.Parse(s); err != nil {
			all = strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
		}
		for _, one := range all {
			one = strings.TrimSpace(one)
			at, err := edit.WholePath(text.Parse(one))
			_, invalid := path.Match(one, "")
			if isPattern := invalid == nil && strings.Contains(one, "*") && !strings.ContainsAny(one, "$.["); err != nil && !isPattern {
				return err
			}
			hide := &ignored{Path: at}
			if err != nil || len(at.Steps) == 1 && at.Steps[0].Key.Text == one {
				hide.name = one
			}
			v.ignored = append(v.ignored, hide)
		}
		return nil
	})
	f.Size("max-memory", "at most `N` bytes of memory for the values of each file; larger files are compared by position [256 MiB]", func(n int64) { v.maxMemory = n })
	return shell.Action{
		Check: func() error {
			switch {
			case save.IsStdin(f.Operands[0]) && save.IsStdin(f.Operands[1]):
				return errors.New("standard input is only one file: name the other")
			case v.stat && v.lines:
				return errors.New("-stat counts differences, and -json shows them: choose one")
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
	stat      bool
	ignored   []*ignored
	maxMemory int64

	*shell.Stdio
	json     *json.Encoder
	progress func(io.Reader) io.Reader // of both files, if not nil
	found    bool
	counts   map[string]*counts // of -stat, by path
	tops     []string           // its keys, in order
}

// An ignored is a path of -ignore.
type ignored struct {
	text.Path
	name  string // of keys anywhere, with * for any characters, or ""
	hides bool   // a difference
}

// matches reports whether a path is ignored.
func (p *ignored) matches(at *text.Path) bool {
	if p.name == "" {
		return p.Contains(at)
	}
	return slices.ContainsFunc(at.Steps, func(s text.Step) bool {
		is, _ := path.Match(p.name, s.Key.Text)
		return is && s.Op == text.Child
	})
}

// counts are the numbers of differences: of values that are changed, added and removed.
type counts [3]int64

// run shows the differences between two files.
func (v *differ) run(s *shell.Stdio, names []string) error {
	v.Stdio, v.json = s, json.NewEncoder(s.Out)
	v.json.SetEscapeHTML(false)
	var files [2]*compare.File
	var contents [2]*save.Content
	for i, name := range names {
		in, content, err := v.open.OpenContent(s, name)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		if err := in.CheckZeros(content); err != nil {
			return err
		}
		files[i], contents[i] = v.file(in, content), content
		v.open.Keys.Use(in.Key()) // probably also the key of the second file
	}
	defer s.Clear()
	c := compare.Comparer{Show: (*compare.File).Text, Differ: v.show, Start: func() { v.progress = s.ProgressOf(files[0].Size + files[1].Size) }}
	c.ByPosition = func(limit int64) {
		s.Logf("the values need more memory than %s: from here on they are compared by position, without aligning elements; -max-memory raises the limit",
			humanize.IBytes(uint64(limit)))
	}
	if v.lines {
		c.Show = showJSON
	}
	v.counts = map[string]*counts{}
	err := c.Compare(files[0], files[1])
	for _, p := range v.ignored {
		if p.hides || edit.Find(contents[0], p.Path) == nil {
			continue
		}
		missing := edit.Find(contents[1], p.Path)
		hint := edit.Hint(contents[1], missing, "")
		if isThere := missing == nil || p.name != "" && hint != ""; !isThere {
			s.Infof("-ignore hides nothing: %v%s", missing, hint)
		}
	}
	for _, at := range v.tops {
		fmt.Fprintln(v.Out, shell.Printable(at)+":", v.counts[at])
	}
	if err == nil && v.found {
		err = shell.ErrBad
	}
	return err
}

// file returns one of the compared files.
func (v *differ) file(in *open.Input, content *save.Content) *compare.File {
	f := &compare.File{ReaderAt: content, Name: in.Name, Size: content.Size, Reading: &in.Reading, MaxMemory: v.maxMemory}
	f.Packets = func(yield func(*save.Packet) bool) {
		var r io.Reader = io.NewSectionReader(content, 0, content.Size)
		if v.progress != nil {
			r = v.progress(r)
		}
		open.Packets(&in.Reading, r)(yield)
	}
	return f
}

// showJSON returns a value in a tree of a file as Godot's native JSON.
func showJSON(f *compare.File, v any) ([]byte, error) {
	var value bytes.Buffer
	err := f.DecodeTree(v, func(d *gdwire.Decoder) error {
		return gdjson.ToJSON(&value, d, gdjson.Options{EscapeForTerminal: true})
	})
	return value.Bytes(), err
}

// isIgnored reports whether a path is one of -ignore, or in one.
func (v *differ) isIgnored(at string) bool {
	path, err := text.Parse(at)
	return err == nil && at != "" && slices.ContainsFunc(v.ignored, func(p *ignored) bool {
		isHidden := p.matches(&path)
		p.hides = p.hides || isHidden
		return isHidden
	})
}

// count counts a difference for the value at the top that it is in. Elements at the top, and packets after the first, are one.
func (v *differ) count(line *compare.Difference) {
	path, _ := text.Parse(line.Path)
	if path.Steps = path.Steps[:min(1, len(path.Steps))]; path.Packet > 0 {
		path.Packet = text.AllPackets
	}
	if len(path.Steps) > 0 && path.Steps[0].Key.Type == gdwire.TypeInt {
		path.Steps[0] = text.Step{Op: text.All}
	}
	at := path.String()
	n := v.counts[at]
	if n == nil {
		n = new(counts)
		v.counts[at], v.tops = n, append(v.tops, at)
	}
	switch {
	case line.Old == nil:
		n[1]++
	case line.New == nil:
		n[2]++
	default:
		n[0]++
	}
}

func (n *counts) String() string {
	var all []string
	for i, what := range []string{"changed", "added", "removed"} {
		if n[i] > 0 {
			all = append(all, humanize.Comma(n[i])+" "+what)
		}
	}
	return strings.Join(all, ", ")
}

// show shows a difference.
func (v *differ) show(line *compare.Difference) (err error) {
	if v.isIgnored(line.Path) || v.isIgnored(line.OldPath) {
		return nil
	}
	if v.found = true; v.stat {
		v.count(line)
		return nil
	}
	if v.lines {
		for _, one := range []*json.RawMessage{&line.Old, &line.New} {
			if line.Leaf && *one != nil && err == nil {
				*one, err = json.Marshal(string(*one))
			}
		}
		return cmp.Or(err, v.json.Encode(line))
	}
	path := line.Path
	if line.OldPath != "" {
		path = line.OldPath + " -> " + path
	}
	text := func(value []byte) string { return shell.Cut(cmp.Or(string(value), "not there"), shell.PlainWidth) }
	_, err = fmt.Fprintf(v.Out, "%s: %s -> %s\n", shell.Printable(path), v.Colors.Bad.Sprint(text(line.Old)), v.Colors.Good.Sprint(text(line.New)))
	return err
}
