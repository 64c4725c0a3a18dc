package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/variant"
)

// An edited is a page whose file is edited.
type edited struct {
	*Page
	t    *testing.T
	get  func(what string) (mediaType, text string)
	name string
	made int // backups
}

var errWrittenOver = errors.New("another program has changed it")

// editPage serves a page for a file with a value. Its file is read into memory, or is where it is.
func editPage(t *testing.T, v any, onDisk bool) *edited {
	p := &edited{t: t, name: filepath.Join(t.TempDir(), "save.bin")}
	require.NoError(t, os.WriteFile(p.name, gdwiretest.Encode(t, v), 0o600))
	open := func() (*Source, error) {
		stat, err := os.Stat(p.name)
		if err != nil {
			return nil, err
		}
		in := must(save.OpenInput(p.name, nil))(t)
		t.Cleanup(func() { _ = in.Close() })
		file := must(in.Open(&save.OpenOptions{}))(t)
		most := int64(save.MaxVersion)
		if onDisk {
			most = 0
		}
		store := must(file.Store(most))(t)
		s := source(save.Bare)
		return &Source{Store: store, Name: s.Name, Path: p.name, Stat: stat, Format: s.Format}, nil
	}
	file := must(open())(t)
	p.Page = &Page{File: file, Reopen: open}
	p.Save = func(file *Source, c *save.Content, backup bool) (saved Saved, err error) {
		if stat, err := os.Stat(file.Path); err != nil || !os.SameFile(stat, file.Stat) || stat.Size() != file.Stat.Size() || !stat.ModTime().Equal(file.Stat.ModTime()) {
			return saved, errors.Join(err, errWrittenOver)
		}
		if backup {
			p.made++
			saved.Backup = file.Path + ".bak"
		}
		b := must(io.ReadAll(io.NewSectionReader(c, 0, c.Size)))(t)
		beside := file.Path + ".new"
		require.NoError(t, os.WriteFile(beside, b, 0o600))
		saved.Stat = must(os.Stat(beside))(t)
		return saved, os.Rename(beside, file.Path)
	}
	p.get = start(t, p.Page)
	return p
}

// do asks for an edit of the latest version, and returns the error in the answer.
func (p *edited) do(op, line string) string {
	_, version := p.versions.latest()
	at, value, _ := strings.Cut(line, " = ")
	body := must(json.Marshal(request{Op: op, At: at, Text: value, Version: version}))(p.t)
	_, text := ask(p.t, p.Page, "edit", string(body))
	var got struct {
		Version int
		Error   *fault
	}
	require.NoError(p.t, json.Unmarshal([]byte(text), &got), text)
	if got.Error != nil {
		return got.Error.Text
	}
	return ""
}

// good makes edits that succeed.
func (p *edited) good(edits ...string) {
	p.t.Helper()
	for _, e := range edits {
		op, line, _ := strings.Cut(e, " ")
		require.Empty(p.t, p.do(op, line), e)
	}
}

// shown returns the bytes that are shown, and file those of the file.
func (p *edited) shown() []byte {
	s, _ := p.versions.latest()
	return must(s.Bytes(0, int(s.Size)))(p.t)
}

func (p *edited) file() []byte {
	return must(os.ReadFile(p.name))(p.t)
}

// edits returns what the page knows of the edits.
func (p *edited) about() (about struct {
	ReadOnly, Backup, Note string
	Waiting                []string
	Undo, Redo             int
	Unsaved                bool
}) {
	_, body := p.get("info")
	var info struct {
		File struct{ Edits json.RawMessage }
	}
	require.NoError(p.t, json.Unmarshal([]byte(body), &info), body)
	require.NoError(p.t, json.Unmarshal(info.File.Edits, &about), body)
	return about
}

func hero() map[string]any {
	return map[string]any{"gold": 5, "hp": 10, "items": []any{"sword", "bow"}, "name": "Ada"}
}

// Edits show at once, are undone to the same bytes, and replace the file only when they are saved.
func TestPageEdits(t *testing.T) {
	for _, onDisk := range []bool{false, true} {
		t.Run(fmt.Sprint("on disk ", onDisk), func(t *testing.T) {
			p := editPage(t, hero(), onDisk)
			before := p.file()
			p.good("set $.hp = 7", "add $.items[+] = axe", "delete $.gold", "set $.name = \"Grace Hopper\"")
			want := map[string]any{"hp": 7, "items": []any{"sword", "bow", "axe"}, "name": "Grace Hopper"}
			require.Equal(t, gdwiretest.Encode(t, want), p.shown())
			require.Equal(t, before, p.file())
			_, body := p.get("children?at=0")
			require.Contains(t, body, `"text":"\"Grace Hopper\""`)
			require.Len(t, p.Unsaved(), 4)

			p.good("undo", "undo", "undo", "undo")
			require.Equal(t, before, p.shown())
			require.Equal(t, "there is nothing to undo", p.do("undo", ""))
			require.Equal(t, "nothing has changed", p.do("save", ""))
			p.good("redo", "redo", "redo")
			require.Equal(t, 3, p.about().Undo)
			require.Equal(t, 1, p.about().Redo)
			p.good("set $.name = \"Grace Hopper\"") // in place of the edit that was undone
			require.Equal(t, "there is nothing to redo", p.do("redo", ""))

			p.good("save")
			require.Equal(t, gdwiretest.Encode(t, want), p.file())
			require.Equal(t, p.name+".bak", p.about().Backup)
			require.False(t, p.about().Unsaved)
			require.Empty(t, p.Unsaved())

			p.good("undo", "undo", "undo", "undo", "save") // also what is saved
			require.Equal(t, before, p.file())
			require.Equal(t, 1, p.made, "backups")
			p.good("redo", "set $.hp = 8", "save")
			require.Equal(t, "nothing has changed", p.do("save", ""))
		})
	}
}

// A Save that fails makes no backup, so that the next one does.
func TestFailedSave(t *testing.T) {
	p := editPage(t, hero(), false)
	works := p.Save
	p.Save = func(*Source, *save.Content, bool) (Saved, error) { return Saved{Backup: "a.bak"}, errWrittenOver }
	p.good("set $.hp = 7")
	require.Equal(t, errWrittenOver.Error(), p.do("save", ""))
	require.Empty(t, p.about().Backup)
	require.True(t, p.about().Unsaved)
	p.Save = works
	p.good("save")
	require.Equal(t, p.name+".bak", p.about().Backup)
	require.Equal(t, 1, p.made)
}

// The whole text of a value, which an edit starts with, is a value that changes nothing.
func TestPageEditText(t *testing.T) {
	long := strings.Repeat("x\n", 1000)
	p := editPage(t, map[string]any{"long": long, "list": []string{"a", long}, "d": map[string]any{"k": []any{1, 2.5}}, "large": make([]byte, maxEditedText+1)}, false)
	rows := list(t, p.File, &list(t, p.File, nil)[0])
	rows = append(rows, list(t, p.File, &rows[2])[1])
	paths := []string{"$.d", "$.large", "$.list", "$.long", "$.list[1]"}
	for i, row := range rows {
		_, body := p.get(fmt.Sprintf("text?at=%d&end=%d&width=%d", row.At, row.End, row.Width))
		var got struct {
			Text  string
			Error *fault
		}
		require.NoError(t, json.Unmarshal([]byte(body), &got), body)
		if paths[i] == "$.large" {
			require.Contains(t, got.Error.Text, "too long")
			continue
		}
		p.good("set " + paths[i] + " = " + got.Text)
		require.Equal(t, p.file(), p.shown(), paths[i])
	}
}

// An edit that fails changes nothing. One that changes nothing is none.
func TestPageEditErrors(t *testing.T) {
	p := editPage(t, hero(), false)
	before := p.shown()
	for line, want := range map[string]string{
		`set $.hp = "x"`: "$.hp is of type int and not String", "set $.hp = 5 6": `unexpected "6"`, "set $.mp = 1": "there is no $.mp",
		"delete $.items[7]": "there is no $.items[7]", "add $.hp = 1": "there is a value at $.hp", "set $.hp": "want a value", "erase $": `there is no "erase"`,
	} {
		op, line, _ := strings.Cut(line, " ")
		require.Contains(t, p.do(op, line), want)
	}
	p.good("set $.hp = 10")
	require.Zero(t, p.about().Undo)
	require.Equal(t, before, p.shown())

	// The page shows another version.
	_, body := ask(t, p.Page, "edit", `{"op": "set", "at": "$.hp", "text": "1", "version": 7}`)
	require.Contains(t, body, "no longer what the page shows")
	for _, body := range []string{"", "[]", `{"op": 1}`, `{"op": "set", "text": "` + strings.Repeat("x", maxEdit) + `"}`} {
		_, text := ask(t, p.Page, "edit", body)
		require.Contains(t, text, "the request cannot be read")
	}
	require.Equal(t, before, p.shown())
}

// The file changes while edits are not saved: they are made again in the new one, and those that
// cannot be are told. What another program has written is never replaced without having been shown.
func TestEditsOfChangedFile(t *testing.T) {
	p := editPage(t, hero(), false)
	p.good("set $.hp = 7", "set $.gold = 6", "delete $.items[1]")
	other := map[string]any{"hp": 11, "items": []any{"sword", "bow", "axe"}, "name": "Ada"}
	require.NoError(t, os.WriteFile(p.name, gdwiretest.Encode(t, other), 0o600))
	require.Equal(t, errWrittenOver.Error(), p.do("save", ""))
	require.Equal(t, gdwiretest.Encode(t, other), p.file())

	file := p.versions.onDisk()
	require.NoError(t, p.Reread(file))
	require.NoError(t, p.Reread(file), "another request")
	other["hp"], other["items"] = 7, []any{"sword", "axe"}
	require.Equal(t, gdwiretest.Encode(t, other), p.shown())
	note := p.about().Note
	require.Contains(t, note, "2 of your 3 edits")
	require.Contains(t, p.about().Waiting[0], "set $.gold = 6 (there is no $.gold")
	p.good("save")
	require.Equal(t, gdwiretest.Encode(t, other), p.file())
	require.Equal(t, 1, p.made, "backups, of what the other program wrote")

	p.good("undo") // of what is saved
	require.NoError(t, os.WriteFile(p.name, gdwiretest.Encode(t, hero()), 0o600))
	require.NoError(t, p.Reread(p.versions.onDisk()))
	other = hero()
	other["gold"] = 6
	require.Equal(t, gdwiretest.Encode(t, other), p.shown())
	require.Contains(t, p.about().Note, "1 of your 2 edits")
	require.Equal(t, []string{"undo delete $.items[1] (it was saved before the file changed)"}, p.about().Waiting)
	require.Equal(t, []Edit{{Op: "undo", Line: "delete $.items[1]"}, {Op: "set", Line: "$.gold = 6"}}, p.Unsaved())
	p.good("drop", "undo", "redo")
	require.Equal(t, []Edit{{Op: "set", Line: "$.gold = 6"}}, p.Unsaved())
}

// Edits that belong together, such as those that move an element, are made, undone and made again as one, or not at all.
func TestEditsTogether(t *testing.T) {
	p := editPage(t, hero(), false)
	before := p.shown()
	move := func(del string) string {
		_, body := ask(t, p.Page, "edit", fmt.Sprintf(`{"op": "add", "at": "$.items[0]", "text": "\"bow\"", "then": {"op": "delete", "at": %q}, "version": %d}`, del, p.Version()))
		return body
	}
	require.Contains(t, move("$.items[9]"), "error")
	require.Equal(t, before, p.shown())
	require.Contains(t, move("$.items[2]"), "version")
	moved := hero()
	moved["items"] = []any{"bow", "sword"}
	require.Equal(t, gdwiretest.Encode(t, moved), p.shown())
	p.good("undo")
	require.Equal(t, before, p.shown())
	p.good("redo")
	require.Equal(t, gdwiretest.Encode(t, moved), p.shown())

	other := hero()
	delete(other, "items")
	require.NoError(t, os.WriteFile(p.name, gdwiretest.Encode(t, other), 0o600))
	require.NoError(t, p.Reread(p.versions.onDisk()))
	require.Len(t, p.about().Waiting, 2)
	require.Equal(t, gdwiretest.Encode(t, other), p.shown())
}

// The edits that are not saved lead from the file to what is shown, also by undoing what was saved.
func TestEditsPending(t *testing.T) {
	set := func(n ...string) (edits []Edit) {
		for _, n := range n {
			op, line, _ := strings.Cut(n, " ")
			edits = append(edits, Edit{Op: op, Line: line})
		}
		return edits
	}
	p := editPage(t, hero(), false)
	for i, c := range []struct {
		do   []string
		want []Edit
	}{
		{[]string{"set $.hp = 1", "set $.hp = 2", "save"}, nil},
		{[]string{"undo", "undo"}, set("undo set $.hp = 2", "undo set $.hp = 1")},
		{[]string{"redo"}, set("undo set $.hp = 2")},
		{[]string{"set $.gold = 3"}, set("undo set $.hp = 2", "set $.gold = 3")},
		{[]string{"undo"}, set("undo set $.hp = 2")},
		{[]string{"undo", "set $.gold = 4"}, set("undo set $.hp = 2", "undo set $.hp = 1", "set $.gold = 4")},
		{[]string{"save"}, nil},
		{[]string{"undo", "redo"}, nil},
		{[]string{"set $.gold = 6", "set $.name = \"Bo\"", "undo"}, set("set $.gold = 6")},
	} {
		p.good(c.do...)
		require.Equal(t, c.want, p.Unsaved(), i)
		require.Equal(t, len(c.want) > 0, p.about().Unsaved, i)
	}
	require.NoError(t, os.WriteFile(p.name, gdwiretest.Encode(t, hero()), 0o600))
	require.NoError(t, p.Reread(p.versions.onDisk()))
	require.Equal(t, set("set $.gold = 6"), p.Unsaved())
	p.good("redo") // what was undone before the file changed
	require.Equal(t, set("set $.gold = 6", "set $.name = \"Bo\""), p.Unsaved())
}

// A large file that is cut starts as a whole one does, and is noticed by an edit.
func TestEditsOfCutFile(t *testing.T) {
	v := hero()
	v["zeros"] = make([]int, 100_000)
	p := openPage(t, v)
	p.good("set $.hp = 7")
	whole := p.file()
	require.NoError(t, os.WriteFile(p.name, whole[:len(whole)-4], 0o600))
	require.ErrorContains(t, p.Reread(p.versions.onDisk()), "unexpected EOF")
	require.Len(t, p.Unsaved(), 1)
	require.Empty(t, p.about().Waiting)
	require.NoError(t, os.WriteFile(p.name, whole, 0o600))
	require.NoError(t, p.Reread(p.versions.onDisk()))
	require.Equal(t, 1, p.about().Undo)
}

// openPage is editPage with a file that is recognized, as by the command.
func openPage(t *testing.T, v any) *edited {
	p := editPage(t, v, false)
	p.Reopen = func() (*Source, error) {
		stat, err := os.Stat(p.name)
		if err != nil {
			return nil, err
		}
		in := must(save.OpenInput(p.name, nil))(t)
		t.Cleanup(func() { _ = in.Close() })
		file := must(in.Open(&save.OpenOptions{}))(t)
		if why := file.Values.Unknown(); why != nil && !file.Values.IsEmpty() {
			return nil, why
		}
		s := must(NewSource(file))(t)
		s.Name, s.Path, s.Stat = "save.bin", p.name, stat
		return s, nil
	}
	file := must(p.Reopen())(t)
	p.versions.set(nil, file)
	p.session.history = newHistory(file)
	return p
}

// No change of the file under a page loses an edit: each is shown, or waits, until it is saved. What a game writes is
// seen while it is not whole.
func TestEditsOfAnyChange(t *testing.T) {
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 60))
		p := openPage(t, hero())
		keys := []string{"gold", "hp", "level", "mp"}
		kept := map[string]bool{} // edits that are not saved, as they are listed
		content := func(format gdwire.Format) []byte {
			v := hero()
			for _, key := range keys {
				if v[key] = random.IntN(100); random.IntN(4) == 0 {
					delete(v, key)
				}
			}
			return gdwiretest.Encode(t, v, variant.Options{Encoder: gdwire.EncoderOptions{Format: format}})
		}
		files := map[string]func() []byte{
			"empty": func() []byte { return nil }, "gone": func() []byte { return nil }, "foreign": func() []byte { return []byte("[section]\nkey=1\n") },
			"cut":    func() []byte { b := content(gdwire.Godot4); return b[:1+random.IntN(len(b)-1)] },
			"damage": func() []byte { b := content(gdwire.Godot4); b[random.IntN(len(b))] ^= 1 << random.IntN(8); return b },
			"other":  func() []byte { return content(gdwire.Godot3) },
			"back":   func() []byte { return gdwiretest.Encode(t, hero()) }, "next": func() []byte { return content(gdwire.Godot4) },
		}
		names := slices.Sorted(maps.Keys(files))
		for step := range 60 {
			h := &p.session.history
			switch op := random.IntN(10); op {
			case 0, 1, 2, 3: // numbers that no edit before had
				edit := Edit{Op: "set", Line: fmt.Sprintf("$.%s = %d", keys[random.IntN(len(keys))], 1000+step)}
				if op == 3 {
					edit = Edit{Op: "add", Line: fmt.Sprintf("$.new%d = %d", step, step)}
				}
				if p.do(edit.Op, edit.Line) == "" {
					kept[fmt.Sprint(edit)] = true
				}
			case 4, 5:
				undone := Edit{}
				if h.applied > 0 {
					undone = h.edits[h.applied-1]
				}
				if again := h.applied <= h.saved; p.do("undo", "") == "" {
					delete(kept, fmt.Sprint(undone))
					if again {
						kept[fmt.Sprint(Edit{Op: opUndo, Line: undone.Op + " " + undone.Line})] = true
					}
				}
			case 6:
				if p.do("redo", "") == "" {
					edit := h.edits[h.applied-1]
					delete(kept, fmt.Sprint(Edit{Op: opUndo, Line: edit.Op + " " + edit.Line}))
					kept[fmt.Sprint(edit)] = h.applied > h.saved
				}
			case 7:
				if p.do("save", "") == "" {
					clear(kept)
					for _, w := range h.waiting {
						kept[fmt.Sprint(w.Edit)] = true
					}
				}
			default:
				name := names[random.IntN(len(names))]
				require.NoError(t, os.RemoveAll(p.name))
				if name != "gone" {
					require.NoError(t, os.WriteFile(p.name, files[name](), 0o600))
					at := time.Unix(int64(1000+step), 0)
					require.NoError(t, os.Chtimes(p.name, at, at))
				}
				before, version := p.versions.latest()
				if err := p.Reread(p.versions.onDisk()); err != nil {
					after, now := p.versions.latest()
					require.Equal(t, version, now)
					require.Equal(t, before.Data, after.Data)
				} else if len(kept) > 0 {
					require.NotContains(t, []string{"empty", "gone", "foreign", "cut"}, name)
				}
			}
			pending := p.Unsaved()
			for edit, is := range kept {
				if is {
					require.Contains(t, fmt.Sprint(pending), edit, "seed %d, step %d", seed, step)
				}
			}
			latest := map[string]string{} // the value of each key after the edits that do not wait
			for _, edit := range pending[len(h.waiting):] {
				if path, value, ok := strings.Cut(edit.Line, " = "); ok && edit.Op != opUndo {
					latest[path] = value
				}
			}
			shown, _ := p.versions.latest()
			for path, value := range latest {
				way, missing := must2(shown.wayTo(nil, path))(t)
				require.Empty(t, missing)
				_, row := must2(shown.tracer(nil).row(way))(t)
				require.Equal(t, value, row.Text, "seed %d, step %d", seed, step)
			}
		}
	}
}

// The list of changes is that from the file, as if made at once.
func TestPageEditChanges(t *testing.T) {
	for _, onDisk := range []bool{false, true} {
		p := editPage(t, hero(), onDisk)
		_, body := p.get("changes")
		require.Contains(t, body, "nothing to compare with")
		p.good("set $.hp = 7", "set $.hp = 8")
		_, body = p.get("changes")
		require.Equal(t, `{"change":{"path":"$.hp","old":"10","new":"8"}}`+"\n"+`{"done":true}`+"\n", body)
	}
}

// Nothing is edited in a file that is read-only, and nothing is saved after the end.
func TestPageReadOnly(t *testing.T) {
	p := editPage(t, hero(), false)
	before := p.file()
	p.File.ReadOnly = errors.New("the page is read-only")
	for _, op := range []string{"set", "add", "delete", "undo", "redo", "save"} {
		require.Equal(t, "the page is read-only", p.do(op, "$.hp = 1"))
	}
	p.File.ReadOnly = nil
	p.good("set $.hp = 1")
	p.End()
	require.Equal(t, "gdwire has ended", p.do("save", ""))
	require.Equal(t, before, p.file())

	_, text := ask(t, &Page{Live: NewLive(nil)}, "edit", `{"op": "set", "at": "$.hp", "text": "1"}`)
	require.Contains(t, text, "there is nothing to edit")
}

// Edits of a hostile file, any lines, in any order: never a panic, and undo leads back to the same bytes.
func FuzzEdits(f *testing.F) {
	f.Add(gdwiretest.Encode(f, hero()), "set $.hp = 5\nadd $.x = [1, {}]\ndelete $.items[0]")
	f.Add(gdwiretest.Encode(f, sample()), "set $.ints[1] = 3\nset $[&\"sn\"] = \"y\"")
	f.Fuzz(func(t *testing.T, data []byte, lines string) {
		file := source(save.Bare)
		file.Store = save.InMemory(bytes.Clone(data))
		s := &Page{File: file}
		s.versions.set(nil, file)
		s.session.history = newHistory(file)
		n := 0
		for line := range strings.SplitSeq(lines, "\n") {
			op, line, _ := strings.Cut(line, " ")
			if op != "set" && op != "add" && op != "delete" || n == 8 {
				continue
			}
			before := s.session.history.applied
			at, value, _ := strings.Cut(line, " = ")
			if err := s.apply(&request{Op: op, At: at, Text: value, Raw: n%2 == 1, Pair: n%3 == 2}); err != nil {
				require.Equal(t, before, s.session.history.applied)
			}
			n++
		}
		for s.session.history.applied > 0 {
			require.NoError(t, s.move(-1))
		}
		shown, _ := s.versions.latest()
		require.True(t, bytes.Equal(data, shown.Data))
	})
}
