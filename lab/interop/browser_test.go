package interop

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdscript"
	"github.com/gdwire/gdwire/variant"
	"github.com/stretchr/testify/require"
)

// All tests share a browser and a folder with programs that they build.
var (
	browser  *Browser
	programs string
)

func TestMain(m *testing.M) {
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	code := func() int {
		defer cancel()
		begin := time.Now()
		b, err := Open(ctx)
		if errors.Is(err, ErrUnavailable) {
			fmt.Println("skipped:", err)
			return 0
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer b.Close()
		browser = b
		if programs, err = os.MkdirTemp("", "gdwire-interop"); err != nil {
			fmt.Println(err)
			return 1
		}
		defer func() { _ = os.RemoveAll(programs) }()
		fmt.Println("browser started in", time.Since(begin).Round(time.Millisecond))
		return m.Run()
	}()
	os.Exit(code)
}

// scripts returns the files of a program: testdata/name as main.gd, and link.gd.
func scripts(t *testing.T, name string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for packed, name := range map[string]string{"main.gd": name, "link.gd": "link.gd"} {
		files[packed] = string(must(os.ReadFile(filepath.Join("testdata", name)))(t))
	}
	return files
}

func TestRun(t *testing.T) {
	begin := time.Now()
	out, err := browser.Run(t.Context(), Program{Files: scripts(t, "hello.gd"), Args: []string{"a b", `"c"`},
		Socket: func(ctx context.Context, ws *websocket.Conn) error {
			for _, text := range []string{"", "hello"} {
				if err := ws.Write(ctx, websocket.MessageBinary, []byte(text)); err != nil {
					return err
				}
				if _, b, err := ws.Read(ctx); err != nil || string(b) != text {
					return fmt.Errorf("read %q: %w", b, err)
				}
			}
			return nil
		}})
	require.NoError(t, err, "%+v", out)
	t.Log(time.Since(begin).Round(time.Millisecond), out.Lines)
	require.Contains(t, out.Lines[len(out.Lines)-2], "4.6-stable (official)")
	require.Equal(t, `["a b", "\"c\""]`, out.Lines[len(out.Lines)-1])
	require.Contains(t, fmt.Sprint(out.Errors), "an error")
}

// TestRunFails tests programs that fail.
func TestRunFails(t *testing.T) {
	out, err := browser.Run(t.Context(), Program{Files: scripts(t, "hello.gd"), Args: []string{"quit"}})
	require.ErrorContains(t, err, "exit code 3")
	require.ErrorContains(t, err, "an error")
	require.NotEmpty(t, out.Lines)

	own := errors.New("own")
	_, err = browser.Run(t.Context(), Program{Files: scripts(t, "hello.gd"), Args: []string{"x"},
		Socket: func(context.Context, *websocket.Conn) error { return own }})
	require.ErrorIs(t, err, own)

	ctx, cancel := context.WithCancel(t.Context())
	_, err = browser.Run(ctx, Program{Files: scripts(t, "hello.gd"), Args: []string{"x"},
		Socket: func(ctx context.Context, ws *websocket.Conn) error {
			cancel()
			_, _, err := ws.Read(ctx)
			return err
		}})
	require.Equal(t, context.Canceled, err)
}

// fileModes are the ways in which the engine writes a file.
func fileModes() map[any]struct {
	info fileaccess.Info
	key  *fileaccess.Key
} {
	key := new(fileaccess.Key)
	for i := range key {
		key[i] = byte(i)
	}
	compressed := func(m fileaccess.Mode) fileaccess.Info {
		return fileaccess.Info{Container: fileaccess.Compressed, Mode: m, BlockSize: 4096}
	}
	encrypted := fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot4}
	return map[any]struct {
		info fileaccess.Info
		key  *fileaccess.Key
	}{
		int64(0):  {compressed(fileaccess.FastLZ), nil},
		int64(1):  {compressed(fileaccess.Deflate), nil},
		int64(2):  {compressed(fileaccess.Zstd), nil},
		int64(3):  {compressed(fileaccess.Gzip), nil},
		"key":     {encrypted, key},
		"hunter2": {encrypted, fileaccess.PasswordKey("hunter2")},
	}
}

// fileContents returns contents of lengths just below, at and above multiples of a
// block.
func fileContents(r *rand.Rand) map[string][]byte {
	all := map[string][]byte{"text": []byte(strings.Repeat("the same text, ", 10_000))}
	for _, n := range []int{1, 15, 16, 17, 4095, 4096, 4097, 8192, 100_000} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(16)) // compresses a little
		}
		all[fmt.Sprintf("%d bytes", n)] = b
	}
	return all
}

// TestFiles exchanges files between the engine and fileaccess, in both directions and
// in every mode.
func TestFiles(t *testing.T) {
	t.Logf("-seed %d", *seed)
	contents := fileContents(rand.New(rand.NewPCG(*seed, 1)))
	files := 0
	must(browser.Run(t.Context(), Program{Files: scripts(t, "files.gd"), Socket: func(ctx context.Context, ws *websocket.Conn) error {
		for mode, m := range fileModes() {
			for name, content := range contents {
				files++
				if err := exchangeFile(ctx, ws, mode, m.info, m.key, content); err != nil {
					return fmt.Errorf("mode %v, %s: %w", mode, name, err)
				}
			}
		}
		return nil
	}}))(t)
	t.Log(files, "files each way")
}

// exchangeFile writes a file, lets the engine read it, and reads a file that the engine wrote.
func exchangeFile(ctx context.Context, ws *websocket.Conn, mode any, info fileaccess.Info, key *fileaccess.Key, content []byte) error {
	var file bytes.Buffer
	w, err := fileaccess.NewWriter(&file, info, key)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	message, err := variant.Marshal([]any{mode, content, file.Bytes()})
	if err != nil {
		return err
	}
	if err := ws.Write(ctx, websocket.MessageBinary, message); err != nil {
		return err
	}
	if _, message, err = ws.Read(ctx); err != nil {
		return err
	}
	var answer [][]byte
	if err := variant.Unmarshal(message, &answer); err != nil {
		return err
	}
	if !bytes.Equal(answer[1], content) {
		return fmt.Errorf("the engine read %d bytes, not the %d that were written", len(answer[1]), len(content))
	}
	r, err := fileaccess.NewReader(bytes.NewReader(answer[0]), &fileaccess.Options{Key: key})
	if err != nil {
		return err
	}
	got := r.Info()
	if got.Container != info.Container || got.Mode != info.Mode || got.BlockSize != info.BlockSize || got.Layout != info.Layout {
		return fmt.Errorf("the engine's file is %+v", got)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if !bytes.Equal(b, content) {
		return fmt.Errorf("the engine's file has %d other bytes", len(b))
	}
	return nil
}

// Two versions of messages, with changes of the table in package gdscript's doc.
type (
	oldPacket struct {
		Item *oldItem `gd:",omitzero"`
		Quit *quit    `gd:",omitzero"`
	}
	oldItem struct {
		Name  string
		Pos   []float32
		Count int
		Gone  bool
		Price *int
		Tags  []string
		By    map[string]quit
	}
	newPacket struct {
		Item *newItem `gd:",omitzero"`
		Jump *quit    `gd:",omitzero"`
		Quit *quit    `gd:",omitzero"`
	}
	newItem struct {
		Title string    `gd:",was=name,max=6"`
		Pos   []float64 `gd:",type=Array[float],max=2"`
		Count float64
		Price int
		Tags  []string `gd:",type=Array[StringName]"`
		By    map[string]*quit
		More  variant.Vector2 `gd:",omitzero"`
	}
	quit struct{ Code int8 }
)

// randomMessage returns a message of one of the versions.
func randomMessage(r *rand.Rand) any {
	n := r.IntN(5)
	name, tags, by := []string{"", "I", "Iñ", "Iñt"}[r.IntN(4)], make([]string, n), map[string]quit{}
	for i := range n {
		tags[i], by[fmt.Sprint(i)] = name, quit{int8(i)}
	}
	switch r.IntN(6) {
	case 0:
		return newPacket{Jump: &quit{int8(n)}}
	case 1:
		return oldPacket{Quit: &quit{int8(n)}}
	case 2:
		return newPacket{Item: &newItem{Title: name, Pos: make([]float64, r.IntN(4)), Count: float64(n) / 2, Price: n, Tags: tags, By: map[string]*quit{name: nil}, More: variant.Vector2{X: 1}}}
	case 3:
		return newPacket{Item: &newItem{Count: float64(n), Price: n}}
	}
	return oldPacket{Item: &oldItem{Name: name + name + name, Pos: make([]float32, r.IntN(4)), Count: n, Gone: n > 2, Price: &n, Tags: tags, By: by}}
}

// TestGDScriptVersions plays with an old and a new game at a server with both versions: the games accept what Unmarshal accepts as
// their version, and write the same.
func TestGDScriptVersions(t *testing.T) {
	var script bytes.Buffer
	require.NoError(t, gdscript.Write(&script, oldPacket{}, newPacket{}))
	files := scripts(t, "versions.gd")
	files["messages.gd"], files[classCache] = script.String(), noClasses
	r := rand.New(rand.NewPCG(*seed, 0))
	outcomes := map[bool]int{}
	out := must(browser.Run(t.Context(), Program{Files: files, Socket: func(ctx context.Context, ws *websocket.Conn) error {
		for range 500 {
			packet := must(variant.Marshal(randomMessage(r)))(t)
			if err := ws.Write(ctx, websocket.MessageBinary, packet); err != nil {
				return err
			}
			_, b, err := ws.Read(ctx)
			if err != nil {
				return err
			}
			var answers [2]struct {
				_      struct{} `gd:",array"`
				Wrong  string
				Packet []byte
			}
			if err := variant.Unmarshal(b, &answers); err != nil {
				return err
			}
			for i, typ := range []reflect.Type{reflect.TypeFor[oldPacket](), reflect.TypeFor[newPacket]()} {
				want, got := reflect.New(typ), reflect.New(typ)
				err := variant.Unmarshal(packet, want.Interface())
				outcomes[err == nil]++
				if (err == nil) != (answers[i].Wrong == "") {
					return fmt.Errorf("%v: %x: Unmarshal: %w; script: %s", typ, packet, err, answers[i].Wrong)
				}
				if err != nil {
					continue
				}
				if err = variant.Unmarshal(answers[i].Packet, got.Interface()); err != nil {
					return err
				}
				if a, b := must(variant.Marshal(want.Interface()))(t), must(variant.Marshal(got.Interface()))(t); !bytes.Equal(a, b) {
					return fmt.Errorf("%v: %x: %x, not %x", typ, packet, b, a)
				}
			}
		}
		return ws.Close(websocket.StatusNormalClosure, "")
	}}))(t)
	require.Empty(t, out.Errors)
	require.Greater(t, min(outcomes[true], outcomes[false]), 100)
	t.Log(outcomes)
}

// Types with the names of a global class and an autoload of the game, and of a class of Godot.
type (
	Player struct{ Weapon weapon }
	Game   struct{ Players []Player }
	Timer  struct{ Left float64 }
	weapon uint8
	世界     struct{ A Timer }
)

func (w weapon) String() string { return map[weapon]string{1: "Sword", 2: "世界"}[w] }

// TestGDScriptNames loads scripts with odd names and random types. A class with the name of a global class or an autoload needs an Option.
func TestGDScriptNames(t *testing.T) {
	read := func(name string) string {
		return string(must(os.ReadFile(filepath.Join("..", "..", "gdscript", name)))(t))
	}
	net, named := gdscript.Options{Prefix: "Net"}, gdscript.Options{Names: map[reflect.Type]string{reflect.TypeFor[Player](): "Human", reflect.TypeFor[Game](): "世"}}
	all := map[string][]any{"prefix": {Game{}, net}, "names": {Game{}, named}, "classes": {Timer{}, 世界{}}, "clash1": {Game{}}, "clash2": {Player{}}}
	values := []any{weapon(0), Timer{}, []Timer{}, 0, map[string]Timer{}, new(世界), [3]float32{}, "", []byte{}, [20]weapon{}}
	r := rand.New(rand.NewPCG(*seed, 1))
	for keys := range slices.Chunk(strings.Fields(read("testdata/keys.txt")), 2) {
		var fields []reflect.StructField
		for _, key := range keys {
			for _, i := range r.Perm(len(values))[:4] {
				fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(len(fields)), Type: reflect.TypeOf(values[i]), Tag: reflect.StructTag(fmt.Sprintf("gd:%q", key))})
				key += "_"
			}
		}
		all["keys"+strconv.Itoa(len(all))] = []any{reflect.Zero(reflect.StructOf(fields)).Interface()}
	}
	files := map[string]string{
		"main.gd": read("testdata/loads.gd"), "game.gd": "extends Node\nvar x := 1\n", "player.gd": "class_name Player\nextends Node\n",
		"play.gd": "var game := Game.x\nvar player: Player\n", "names.txt": "a", "engine.txt": read("engine.txt"),
		classCache:      `list=[{"base": &"Node", "class": &"Player", "icon": "", "is_abstract": false, "is_tool": false, "language": &"GDScript", "path": "res://player.gd"}]`,
		"project.godot": project + "[autoload]\nGame=\"*res://game.gd\"\n",
	}
	for name, messages := range all {
		var script bytes.Buffer
		require.NoError(t, gdscript.Write(&script, messages...))
		files[name+".gd"] = script.String()
	}
	out := must(browser.Run(t.Context(), Program{Files: files}))(t)
	lines := strings.Join(out.Lines, "\n")
	require.Equal(t, len(all)-2+3, strings.Count(lines, "LOADS"), "%s\n%s", lines, strings.Join(out.Errors, "\n"))
	require.Equal(t, 2, strings.Count(lines, "FAILS clash"), lines)
	require.Equal(t, 2, strings.Count(lines, "FAILS"), lines)
}
