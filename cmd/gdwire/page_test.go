//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/gdwire/gdwire/variant"
)

// fetch returns what a page answers.
func fetch(t *testing.T, url string) string {
	answer := must(http.DefaultClient.Do(must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)))(t)
	defer answer.Body.Close()
	return string(must(io.ReadAll(answer.Body))(t))
}

// pageOf returns the address in a line of standard error.
func pageOf(t *testing.T, line string) string {
	url, ok := strings.CutPrefix(line, "gdwire: ")
	require.True(t, ok && strings.HasPrefix(url, "http://127.0.0.1:"), line)
	return url
}

// view shows a plain file where it is, and the content of a pipe, until it is interrupted.
func TestCommandView(t *testing.T) {
	content := framed(wire(27, 1, 4, "hp", 2, 10), wire(2, 5))
	name := filepath.Join(t.TempDir(), "save.bin")
	require.NoError(t, os.WriteFile(name, content, 0o600))
	for _, c := range []struct {
		name  string
		args  []string
		stdin io.Reader
	}{
		{"save.bin", []string{name}, nil},
		{"standard input", nil, strings.NewReader(string(content))},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w := io.Pipe()
			status := make(chan int, 1)
			go func() {
				status <- run(append([]string{"view", "-no-open", "-q"}, c.args...), c.stdin, io.Discard, w)
				w.Close()
			}()
			lines := bufio.NewScanner(r)
			require.True(t, lines.Scan())
			page := pageOf(t, lines.Text())
			require.Contains(t, fetch(t, page+"info"), `"name":"`+c.name+`"`)
			require.Contains(t, fetch(t, page+"info"), `"frame":"u32"`)
			require.Contains(t, fetch(t, page+"children?at=-1"), `{hp: 10}`)
			interrupt(t)
			require.Zero(t, <-status)
		})
	}
	r := runWith(nil, "view", "-no-open", filepath.Join(t.TempDir(), "missing"))
	require.Equal(t, statusBad, r.status)
}

// An openView is a page of the command.
type openView struct {
	url     string
	stderr  *bufio.Scanner
	status  chan int
	version int
}

// viewOf runs view until it is interrupted by end.
func viewOf(t *testing.T, args ...string) *openView {
	r, w := io.Pipe()
	v := &openView{status: make(chan int, 1), stderr: bufio.NewScanner(r), version: 1}
	go func() {
		v.status <- run(append([]string{"view", "-no-open", "-q"}, args...), nil, io.Discard, w)
		w.Close()
	}()
	require.True(t, v.stderr.Scan())
	v.url = pageOf(t, v.stderr.Text())
	return v
}

// end ends the command, and returns the rest of standard error.
func (v *openView) end(t *testing.T) (rest string) {
	interrupt(t)
	for v.stderr.Scan() {
		rest += v.stderr.Text() + "\n"
	}
	<-v.status
	return rest
}

// An edited is the answer to an edit.
type edited struct {
	Version  int
	Question string
	Error    struct{ Text string }
}

// post requests an edit.
func (v *openView) post(t *testing.T, edit map[string]any) (answer edited) {
	edit["version"] = v.version
	r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, v.url+"edit", bytes.NewReader(must(json.Marshal(edit))(t))))(t)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "http://"+r.Host)
	got := must(http.DefaultClient.Do(r))(t)
	require.NoError(t, json.NewDecoder(got.Body).Decode(&answer))
	require.NoError(t, got.Body.Close())
	if answer.Error.Text == "" && answer.Question == "" {
		v.version = answer.Version
	}
	return answer
}

// edit makes edits, and returns the error of the last answer.
func (v *openView) edit(t *testing.T, edits ...string) (failed string) {
	for _, e := range edits {
		op, line, _ := strings.Cut(e, " ")
		at, value, _ := strings.Cut(line, " = ")
		failed = v.post(t, map[string]any{"op": op, "at": at, "text": value}).Error.Text
	}
	return failed
}

// Every key and value that the page accepts is the one that add and set write for the same text.
func TestViewTyped(t *testing.T) {
	name, want := filepath.Join(t.TempDir(), "a.sav"), filepath.Join(t.TempDir(), "want.sav")
	odd := new(variant.Dictionary)
	odd.Set("x", 1)
	odd.Set(2, 1)
	odd.Set([]any{10}, "ten")
	before := gdwiretest.Encode(t, map[string]any{
		"any": new(variant.Dictionary), "ints": map[int]any{1: true, 7: false}, "names": map[variant.StringName]any{"a": 1}, "odd": odd,
		"a": "text", "b": 5, "c": variant.StringName("n"), "d": []string{"s"}, "e": nil, "f": 1.5,
	})
	require.NoError(t, os.WriteFile(name, before, 0o600))
	v := viewOf(t, name)
	shown := func() []byte { // what the page would save
		require.Empty(t, v.edit(t, "save"))
		b := must(os.ReadFile(name))(t)
		require.Empty(t, v.edit(t, "undo", "save"))
		require.Equal(t, before, must(os.ReadFile(name))(t))
		return b
	}
	written := func(op, line string) []byte { // by the command
		if r := runWith(nil, op, "-q", line, name, "-o", want); r.status != 0 {
			return nil
		}
		return must(os.ReadFile(want))(t)
	}
	types := map[string][]gdwire.Type{ // of the keys of each Dictionary
		"$.any": nil, "$.ints": {gdwire.TypeInt}, "$.names": {gdwire.TypeStringName}, "$.odd": {gdwire.TypeString, gdwire.TypeInt, gdwire.TypeArray}, "$.d": nil,
	}
	for typed, key := range map[string]string{ // no key twice: a question is asked once
		`"title" = "Sir"`: `["title"] = "Sir"`, `rank: "Sir"`: `.rank = "Sir"`, `9 = true`: `[9] = true`, `8: 5`: `[8] = 5`, `&"sn" = 5`: `[&"sn"] = 5`,
		`Vector2i(1, 2) = 5`: `[Vector2i(1, 2)] = 5`, `[[10, "a"]] = 5`: `[[10, "a"]] = 5`, `{"a": 1}: {"b": [2]}`: `[{"a": 1}] = {"b": [2]}`, `["9"] = 5`: `["9"] = 5`,
		`true = 5`: `[true] = 5`, `lucky number = i:7`: `["lucky number"] = i:7`, `null: null`: `[null] = null`, `1.5 = 2`: `[1.5] = 2`, `^"a/b" = 5`: `[^"a/b"] = 5`,
		`[[10]] = 5`: `[[10]] = 5`, `x: 5`: `.x = 5`, `a += 5`: `.a += 5`, `"a"`: `.a`, `2 = Vector2(1, 2)`: `[2] = Vector2(1, 2)`,
	} {
		for in := range types {
			edit := map[string]any{"op": "add", "at": in, "text": typed, "pair": true}
			answer := v.post(t, edit)
			if others := types[in]; answer.Error.Text == "" {
				p, _, err := text.CutLine(key, nil)
				require.NoError(t, err)
				isAsked := others != nil && !slices.Contains(others, p.Steps[0].Key.Type)
				require.Equal(t, isAsked, answer.Question != "", "%s in %s: %v", typed, in, answer)
			}
			if answer.Question != "" {
				require.Equal(t, before, must(os.ReadFile(name))(t))
				edit["sure"] = true
				answer = v.post(t, edit)
			}
			line := written("add", in+key)
			require.Equal(t, line == nil, answer.Error.Text != "", "%s in %s: %v", typed, in, answer)
			if line != nil {
				require.Equal(t, line, shown(), "%s in %s", typed, in)
			}
		}
	}
	for _, typed := range []string{
		`Ada`, `"Ada"`, `'Ada'`, `&"n2"`, `5`, `"5"`, `5.5`, `true`, `null`, `i:6`, `s:Bo`, `sn:x`, `f:2`, `"Ada`, `it's`, `= 5`, ``, `[1, 2]`, `["a"]`, `Color(1, 0, 0, 1)`, "two\nlines", `C:\new`,
	} {
		for _, at := range []string{"$.a", "$.b", "$.c", "$.d[0]", "$.e", "$.f"} {
			isText := at == "$.a" || at == "$.c" || at == "$.d[0]"
			old := v.version
			answer := v.post(t, map[string]any{"op": "set", "at": at, "text": typed, "raw": isText})
			text := typed
			if isText {
				text = strconv.Quote(typed)
			}
			line := written("set", at+" = "+text)
			require.Equal(t, line == nil, answer.Error.Text != "", "%s = %s: %v", at, typed, answer)
			if line != nil && v.version > old {
				require.Equal(t, line, shown(), "%s = %s", at, typed)
			}
		}
	}
	require.Contains(t, v.post(t, map[string]any{"op": "add", "at": "$.ints", "text": `"10": 1`, "pair": true}).Question, `The other keys are of type int, and "10" is of type String.`)
	v.end(t)

	require.NoError(t, os.WriteFile(name, wire(27, 2, 4, "hash", 2, 2044471099, 4, "name", 4, "Ada"), 0o600))
	v = viewOf(t, name)
	edit := map[string]any{"op": "set", "at": "$.name", "text": "Eve", "raw": true}
	require.Contains(t, v.post(t, edit).Question, "the number 2044471099 at $.hash looks like a checksum")
	edit["sure"] = true
	require.Empty(t, v.post(t, edit).Question)
	require.Empty(t, v.post(t, map[string]any{"op": "set", "at": "$.name", "text": `"Bo"`}).Question, "asked once")
	v.end(t)
}

// Save in the page writes what set, add and delete do, in any container, and keeps the old file.
func TestViewSaves(t *testing.T) {
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(password, []byte("secret"), 0o600))
	save := wire(27, 3, 4, "hp", 2, 10, 4, "list", 28, 2, 2, 1, 2, 2, 4, "name", 4, "Ada")
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, framed(save, save), 0o600))
	for _, to := range []string{"plain", "none", "u32be", "zstd", "fastlz", "gzip", "deflate", "raw-gzip", "raw-zstd", "encrypted"} {
		t.Run(to, func(t *testing.T) {
			dir := t.TempDir()
			name, want := filepath.Join(dir, "a.sav"), filepath.Join(dir, "want.sav")
			r := runWith(nil, "recode", "-format", "godot4", "-frame", "u32", "-to", to, "-password-file", password, plain, "-o", name)
			require.Zero(t, r.status, r.err)
			before := must(os.ReadFile(name))(t)
			flags := []string{"-password-file", password, "-format", "godot4", "-frame", "u32"}
			if to == "none" || to == "u32be" {
				flags[5] = to
			}
			for i, args := range [][]string{{"set", "$.hp = 7", "$1.name = \"Grace\"", name}, {"add", "$.list[+] = 3", want}, {"delete", "$1.list[0]", want}} {
				r := runWith(nil, slices.Concat(args, flags, []string{"-q", "-o", want})...)
				require.Zero(t, r.status, "%d: %s", i, r.err)
			}

			v := viewOf(t, append(flags, name)...)
			require.Equal(t, `$.hp is of type int, such as 10: want a value and not "ten"`, v.edit(t, "set $.hp = ten"))
			require.Empty(t, v.edit(t, "set $.hp = 7", "set $1.name = \"Grace\"", "add $.list[+] = 3", "delete $1.list[0]", "save"))
			require.NoFileExists(t, name+".2.bak")
			require.Equal(t, before, must(os.ReadFile(name+".bak"))(t))
			content := func(name string) string {
				if r := runWith(nil, "unwrap", "-password-file", password, name); r.out != "" {
					return r.out
				}
				return string(must(os.ReadFile(name))(t))
			}
			require.Equal(t, content(want), content(name))
			container := func(name string) []string { // and format
				r := runWith(nil, slices.Concat([]string{"check", "-json", name}, flags)...)
				require.Zero(t, r.status, r.err)
				return regexp.MustCompile(`"(container|format|frame)":"[^"]*"`).FindAllString(r.out, 3)
			}
			require.Equal(t, container(name+".bak"), container(name))

			require.Empty(t, v.edit(t, "undo", "undo", "undo", "undo", "save"))
			require.Equal(t, content(name+".bak"), content(name))
			require.Empty(t, v.edit(t, "redo"))
			require.Equal(t, "gdwire: not saved: set $.hp = 7\n", v.end(t))
			require.Empty(t, must(filepath.Glob(filepath.Join(dir, ".*")))(t))
		})
	}
}

// Nothing may follow the container of a file that is edited.
func TestViewSavesNoRest(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.sav")
	r := runWith(wire(27, 1, 4, "hp", 2, 10), "recode", "-q", "-format", "godot4", "-frame", "none", "-to", "zstd", "-o", name)
	require.Zero(t, r.status, r.err)
	b := must(os.ReadFile(name))(t)
	b = append(b, "rest"...)
	require.NoError(t, os.WriteFile(name, b, 0o600))
	v := viewOf(t, "-format", "godot4", "-frame", "none", name)
	require.Contains(t, v.edit(t, "set $.hp = 7"), "follow")
	require.Equal(t, b, must(os.ReadFile(name))(t))
	require.NoFileExists(t, name+".bak")
	v.end(t)
}

// What set would not write is not edited in the page, and it says why.
func TestViewReadOnly(t *testing.T) {
	dir := t.TempDir()
	good := framed(wire(27, 1, 4, "hp", 2, 10))
	long := framed(wire(27, 3, 4, "hp", 2, 10, 4, "name", 4, "Ada", 4, "list", 28, 3, 2, 1, 2, 2, 2, 3))
	for name, c := range map[string]struct {
		content []byte
		flags   string
		want    string
	}{
		"flag":      {good, "-read-only", "as -read-only says"},
		"header":    {append([]byte("HEAD"), good...), "-skip 4", "a header, which -skip skips"},
		"either":    {framed(wire(0)), "", "choose one: -format godot4 -frame u32 or -format godot3 -frame u32"},
		"cut":       {long[:len(long)-3], "", "cut short"},
		"read-only": {good, "", "the file is read-only"},
		"zeros":     {append(bytes.Clone(long[4:]), make([]byte, 4096)...), "", "is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			mode := os.FileMode(0o600)
			if name == "read-only" {
				mode = 0o400
			}
			require.NoError(t, os.WriteFile(file, c.content, mode))
			v := viewOf(t, append(strings.Fields(c.flags), file)...)
			require.Contains(t, v.edit(t, "set $ = {}"), c.want)
			if name != "either" {
				require.Contains(t, fetch(t, v.url+"info"), c.want)
			}
			v.end(t)
			require.Equal(t, c.content, must(os.ReadFile(file))(t))
			require.NoFileExists(t, file+".bak")
		})
	}
}

// A file that another program has changed is not replaced, and no backup is replaced.
func TestViewChangedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.sav")
	require.NoError(t, os.WriteFile(name, framed(wire(27, 1, 4, "hp", 2, 10)), 0o600))
	require.NoError(t, os.WriteFile(name+".bak", []byte("mine"), 0o600))
	v := viewOf(t, name)
	require.Empty(t, v.edit(t, "set $.hp = 7"))
	other := framed(wire(27, 2, 4, "hp", 2, 11, 4, "gold", 2, 5))
	require.NoError(t, os.WriteFile(name, other, 0o600))
	if failed := v.edit(t, "save"); !strings.Contains(failed, "no longer what the page shows") { // unless the page has seen it before
		require.Contains(t, failed, "the file has changed since it was opened")
	}
	after := must(os.ReadFile(name))(t)
	require.Equal(t, other, after)
	require.NoFileExists(t, name+".2.bak", "nothing was saved")
	require.Equal(t, "mine", string(must(os.ReadFile(name+".bak"))(t)))

	require.Contains(t, fetch(t, v.url+"watch?version=2"), `"version":3`)
	require.Contains(t, fetch(t, v.url+"info"), "1 of your 1 edits")
	v.version = 3
	require.Empty(t, v.edit(t, "save"))
	after = must(os.ReadFile(name))(t)
	require.Equal(t, framed(wire(27, 2, 4, "hp", 2, 7, 4, "gold", 2, 5)), after)
	require.Equal(t, other, must(os.ReadFile(name+".2.bak"))(t))
	require.Empty(t, v.end(t))
}

// TestMemoryView: view holds the content of a compressed file once, within the limit.
func TestMemoryView(t *testing.T) {
	const elements = 64
	name := filepath.Join(t.TempDir(), "a.sav")
	b := compressed(t, elements)
	require.NoError(t, os.WriteFile(name, b, 0o600))
	c, peak := measured(t, "view", "-no-open", "-q", name)
	out := must(c.StderrPipe())(t)
	require.NoError(t, c.Start())
	_, err := io.ReadFull(out, make([]byte, 1)) // the address: the file was read
	require.NoError(t, err)
	require.NoError(t, c.Process.Signal(os.Interrupt))
	require.NoError(t, c.Wait())
	require.Less(t, peak(), elements<<10+maxPeak)

	binary.LittleEndian.PutUint32(b[12:], 256<<20+1) // of the content
	require.NoError(t, os.WriteFile(name, b, 0o600))
	r := runWith(nil, "view", "-no-open", name)
	require.Equal(t, statusBad, r.status)
	require.Contains(t, r.err, "content of 268435457 bytes exceeds limit Size (268435456); raise it with -max-content")
}

// proxy -view shows the packets in a page, too.
func TestProxyView(t *testing.T) {
	p := startProxy(t, serve(t, echo), "-view", "-no-open")
	page := pageOf(t, p.line(t))
	packets := framed(wire(28, 2, 4, "move", 5, float32(1), float32(2.5)), wire(28, 1, 99))
	require.Equal(t, packets, p.exchange(t, packets))
	var shown string
	for strings.Count(shown, `"number"`) < 4 { // each answer waits for the next packet
		shown = fetch(t, page+"live?from=0")
	}
	require.Contains(t, shown, `"toServer":true,"size":32,"text":"[\"move\",[1.0,2.5]]"`)
	require.Contains(t, shown, `unknown godot4 type id 99`)
	require.Contains(t, fetch(t, page+"children?at=-1&packet=0"), `Array`)
	r := p.end(t, 1)
	require.Zero(t, r.status)
	require.Equal(t, 4, strings.Count(r.out, "#1"), "the lines stay")
}
