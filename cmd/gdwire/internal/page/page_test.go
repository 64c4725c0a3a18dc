package page

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/gdwire/gdwire/variant"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

func must2[V, W any](v V, w W, err error) func(testing.TB) (V, W) { return testenv.Must2(v, w, err) }

// source returns a Source of values in Godot 4's format.
func source(frame save.Frame, packets ...[]byte) *Source {
	var b []byte
	for _, p := range packets {
		switch frame {
		case save.U32:
			b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
		case save.U32BE:
			b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
		}
		b = append(b, p...)
	}
	s := &Source{Store: save.InMemory(b)}
	s.Name, s.Format, s.Frame = "save.bin", gdwire.Godot4, frame
	return s
}

// onDisk returns the same Source in a file, which is read where it is.
func onDisk(t testing.TB, s *Source) *Source {
	name := filepath.Join(t.TempDir(), "save.bin")
	require.NoError(t, os.WriteFile(name, append([]byte("head"), s.Data...), 0o600))
	in := must(save.OpenInput(name, nil))(t)
	t.Cleanup(func() { _ = in.Close() })
	store := must(must(in.Open(&save.OpenOptions{Skip: 4}))(t).Store(0))(t)
	require.Nil(t, store.Data)
	disk := &Source{Store: store, Path: name}
	disk.Name, disk.Format, disk.Frame, disk.Options = s.Name, s.Format, s.Frame, s.Options
	return disk
}

// list returns all children of a row, or of the source for nil.
func list(t testing.TB, s *Source, parent *row) []row {
	at, end := int64(root), int64(0)
	if parent != nil {
		at, end = parent.At, parent.End
	}
	var rows []row
	for next := int64(0); next >= 0; {
		l := must(s.children(t.Context().Done(), at, end, next))(t)
		rows = append(rows, l.Rows...)
		require.Nil(t, l.Error)
		if l.Next < 0 {
			require.EqualValues(t, len(rows), l.Count)
		}
		next = l.Next
	}
	return rows
}

// texts returns step, type and text of rows.
func texts(rows []row) (lines []string) {
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%s %s %s", r.Step, r.Type, r.Text))
	}
	return lines
}

var identity = variant.Basis{X: variant.Vector3{X: 1}, Y: variant.Vector3{Y: 1}, Z: variant.Vector3{Z: 1}}

// sample contains a value of each kind of row.
func sample() *variant.Dictionary {
	var d variant.Dictionary
	for _, p := range []struct{ key, value any }{
		{"name", "Ada"}, {"a key", 1}, {variant.StringName("sn"), variant.StringName("x")},
		{variant.Vector2i{X: 1, Y: 2}, variant.Color{R: 1, G: 0.5, A: 1}}, {7, variant.NodePath("/root/A:b")},
		{nil, true}, {[]any{1}, 0.5}, {"list", []any{1, "two", []any{}, map[string]int{"x": 3}}},
		{"ints", []int32{1, -2}}, {"longs", []int64{1 << 40}}, {"floats", []float32{0.1}}, {"doubles", []float64{0.1}},
		{"strings", []string{"a", ""}}, {"bytes", []byte{1, 2, 3}}, {"vectors", []variant.Vector2{{X: 1, Y: 2}}},
		{"colors", []variant.Color{{B: 1}}}, {"rid", variant.RID(5)}, {"object", variant.ObjectID(6)},
		{"signal", variant.Signal{Name: "hit", Object: 7}}, {"basis", identity}, {"bad\n\u202e", "\x01\u202e"},
	} {
		d.Set(p.key, p.value)
	}
	return &d
}

func TestChildren(t *testing.T) {
	node := &variant.Object{Class: "Node", Properties: []variant.Property{{Name: "hp", Value: 5}, {Name: "metadata/x", Value: []any{1}}}}
	for _, frame := range []save.Frame{save.Bare, save.U32, save.U32BE} {
		s := source(frame, gdwiretest.Encode(t, sample()), gdwiretest.Encode(t, node), gdwiretest.Encode(t, 5))
		for name, s := range map[string]*Source{"memory": s, "file": onDisk(t, s)} {
			t.Run(fmt.Sprint(frame, " in ", name), func(t *testing.T) {
				rows := list(t, s, nil)
				require.Len(t, rows, 3)
				require.Equal(t, "$", rows[0].Step)
				require.True(t, strings.HasPrefix(rows[0].Text, `{name: "Ada", a key: 1, sn: &"x", Vector2i(1, 2): Color(1.0, 0.5, 0.0, 1.0), 7: ^"/root/A:b", null: true, [1]: 0.5, list: [`), rows[0].Text)
				require.LessOrEqual(t, len(rows[0].Text), maxPreview+len("…"))
				require.Equal(t, []string{`$1 Object Node {hp: 5, metadata/x: [1]}`, `$2 int 5`}, texts(rows[1:]))
				require.EqualValues(t, 2, rows[1].Count)

				inside := list(t, s, &rows[0])
				require.Equal(t, []string{
					`.name String "Ada"`, `["a key"] int 1`, `[&"sn"] StringName &"x"`, `[Vector2i(1, 2)] Color Color(1.0, 0.5, 0.0, 1.0)`,
					`[7] NodePath ^"/root/A:b"`, `[null] bool true`, `.value(6) float 0.5`, `.list Array [1, "two", [], {x: 3}]`,
					`.ints PackedInt32Array PackedInt32Array([1, -2])`, `.longs PackedInt64Array PackedInt64Array([1099511627776])`,
					`.floats PackedFloat32Array PackedFloat32Array([0.1])`, `.doubles PackedFloat64Array PackedFloat64Array([0.1])`,
					`.strings PackedStringArray PackedStringArray(["a", ""])`, `.bytes PackedByteArray PackedByteArray("010203")`,
					`.vectors PackedVector2Array PackedVector2Array([Vector2(1.0, 2.0)])`,
					`.colors PackedColorArray PackedColorArray([Color(0.0, 0.0, 1.0, 0.0)])`,
					`.rid RID RID(5)`, `.object Object ObjectID(6)`, `.signal Signal Signal("hit", 7)`,
					`.basis Basis Basis(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)`, `["bad\n\u202e"] String "\u0001\u202e"`,
				}, texts(inside))
				require.Equal(t, "#ff8000ff", inside[3].Color)

				require.Equal(t, []string{`[0] int 1`, `[1] String "two"`, `[2] Array []`, `[3] Dictionary {x: 3}`}, texts(list(t, s, &inside[7])))
				require.Equal(t, []string{`[0] int 1`, `[1] int -2`}, texts(list(t, s, &inside[8])))
				require.Equal(t, []string{`[0] float 0.1`}, texts(list(t, s, &inside[10])))
				require.Equal(t, []string{`[0] String "a"`, `[1] String ""`}, texts(list(t, s, &inside[12])))
				require.Equal(t, []string{`[0] Vector2 Vector2(1.0, 2.0)`}, texts(list(t, s, &inside[14])))
				require.Equal(t, "#0000ff00", list(t, s, &inside[15])[0].Color)
				require.Equal(t, []string{`.hp int 5`, `["metadata/x"] Array [1]`}, texts(list(t, s, &rows[1])))
			})
		}
	}
}

// The text of a row is the beginning of the whole text, at most maxPreview bytes and not a part of a rune.
func TestPreview(t *testing.T) {
	long := strings.Repeat("x", 40_000)
	deep := any(1)
	for range 200 {
		deep = []any{deep}
	}
	for i, v := range []any{
		1, "short", strings.Repeat("x", maxPreview-2), strings.Repeat("x", maxPreview-1), long, strings.Repeat("€", 60_000), "a" + strings.Repeat("€", 60_000),
		strings.Repeat("\n", 1000), variant.StringName(long), variant.NodePath(long + "/b"), variant.NodePath(strings.Repeat("ab/", 100)),
		map[string]any{long: 1}, map[string]any{"a key": variant.StringName("b"), "": long}, map[any]any{variant.StringName("name"): 1, variant.NodePath("a/b"): 2},
		deep, make([]any, 1000), make([]int32, 20_000), make([]float64, 20_000), make([]variant.Color, 5000), make([]byte, 1000), make([]byte, maxPreview),
		[]string{"a", long}, strings.Split(strings.Repeat("word ", 3000), " "),
		&variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}, Values: []any{1, 2}},
		&variant.Object{Class: "Node\n", Properties: []variant.Property{{Name: "a name", Value: "x"}, {Name: long[:1000], Value: 1}}},
	} {
		memory := source(save.Bare, gdwiretest.Encode(t, v))
		d := memory.decoder(nil)
		memory.reset(d, 0, memory.Size)
		p := text.Printer{Decoder: d.Decoder, Brief: true}
		require.NoError(t, p.Next(0))
		want := string(p.Buf)
		if len(want) > maxPreview {
			want = strings.ToValidUTF8(want[:maxPreview], "") + "…"
		}
		memory.reset(d, 0, memory.Size)
		p.Buf, p.Most = nil, maxPreview
		_ = p.Next(0)
		require.Less(t, len(p.Buf), 100*maxPreview, "the rest is not printed")
		for _, s := range []*Source{memory, onDisk(t, memory)} {
			l := must(s.children(t.Context().Done(), root, 0, 0))(t)
			require.Equal(t, want, l.Rows[0].Text, i)
			require.Nil(t, l.Rows[0].Error)
		}
	}
}

// The preview of a Dictionary tells the keys "1" and 1 apart.
func TestPreviewKeys(t *testing.T) {
	for want, key := range map[string]any{`{"1": 0}`: "1", "{1: 0}": 1, `{"-1.5e3": 0}`: "-1.5e3", "{a1: 0}": "a1", "{1a: 0}": "1a", "{: 0}": ""} {
		l := must(source(save.Bare, gdwiretest.Encode(t, map[any]any{key: 0})).children(t.Context().Done(), root, 0, 0))(t)
		require.Equal(t, want, l.Rows[0].Text)
	}
}

// The rows up to a large child are listed before its end is found.
func TestLargeChild(t *testing.T) {
	s := source(save.Bare, gdwiretest.Encode(t, []any{1, make([]any, maxChild/4), 2}))
	l, err := s.children(t.Context().Done(), root, 0, 0)
	require.NoError(t, err)
	require.Len(t, l.Rows, 1)
	require.EqualValues(t, 1, l.Next)
	require.EqualValues(t, -1, l.Count)
	l, err = s.children(t.Context().Done(), root, 0, 1)
	require.NoError(t, err)
	require.Empty(t, l.Rows)
	require.EqualValues(t, 1, l.Count)

	l = must(s.children(t.Context().Done(), 0, 0, 0))(t)
	require.Len(t, l.Rows, 2)
	require.EqualValues(t, 2, l.Next)
	l = must(s.children(t.Context().Done(), 0, 0, 2))(t)
	require.Len(t, l.Rows, 1)
	require.Equal(t, "2", l.Rows[0].Text)
	require.EqualValues(t, -1, l.Next)
}

// A leavingClient is a file whose first read makes the client of a request leave.
type leavingClient struct {
	io.ReaderAt
	leave func()
	read  int
}

func (c *leavingClient) ReadAt(p []byte, at int64) (int, error) {
	c.leave()
	n, err := c.ReaderAt.ReadAt(p, at)
	c.read += n
	return n, err
}

// Nobody reads the rest of a large value for a client that left.
func TestClientLeaves(t *testing.T) {
	s := onDisk(t, source(save.Bare, gdwiretest.Encode(t, []any{make([]byte, 2*maxChild), 1})))
	file := s.File
	for name, ask := range map[string]func(ctx context.Context) error{
		"children": func(ctx context.Context) error { _, err := s.children(ctx.Done(), 0, 0, 1); return err },
		"value":    func(ctx context.Context) error { _, err := s.detail(ctx.Done(), 0, 0, 0); return err },
		"search": func(ctx context.Context) error {
			return s.search(ctx, &query{isText: true, text: []byte("x")}, func(progress) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			c := &leavingClient{ReaderAt: file, leave: leave}
			s.File = c
			_ = ask(ctx) // nobody sees the error
			require.Less(t, c.read, 1<<20, "bytes read")
		})
	}
}

// Any child of a long container is found, and a mark makes that quick the second time.
func TestMarks(t *testing.T) {
	const n = 100_000
	values := make([]any, n)
	for i := range values {
		values[i] = strings.Repeat("x", i%7)
	}
	values[500] = make([]byte, 3<<20)
	s := source(save.Bare, gdwiretest.Encode(t, values))
	for name, s := range map[string]*Source{"memory": s, "file": onDisk(t, s)} {
		rows := list(t, s, nil)
		for _, i := range []int64{n - 1, 0, 501, 500, 77_777, 99_990} {
			l, err := s.children(t.Context().Done(), rows[0].At, rows[0].End, i)
			require.NoError(t, err)
			for l.Next == i && len(l.Rows) == 0 { // it took too long
				l, err = s.children(t.Context().Done(), rows[0].At, rows[0].End, i)
				require.NoError(t, err)
			}
			require.Equal(t, i, l.Rows[0].Index, name)
			require.EqualValues(t, n, l.Count)
			if i != 500 {
				require.Equal(t, fmt.Sprintf("%q", values[i]), l.Rows[0].Text, name)
			}
		}
		m := s.marks[rows[0].At]
		require.Greater(t, len(m.index), n/markEvery-2)
		require.Contains(t, m.index, int64(501), "after the long child")
	}
}

// What decodes is shown, then the error in its place.
func TestPageDamage(t *testing.T) {
	whole := gdwiretest.Encode(t, []any{1, map[string]any{"a": 5, "b": "text", "c": 6}, 3})
	at := bytes.Index(whole, []byte("text"))
	bad := bytes.Clone(whole)
	bad[at] = 0xff
	s := source(save.Bare, bad)
	l, err := s.children(t.Context().Done(), root, 0, 0)
	require.NoError(t, err)
	require.Len(t, l.Rows, 1)
	require.EqualValues(t, at, l.Rows[0].Error.At)
	require.Equal(t, fmt.Sprintf("offset %d: invalid UTF-8", at), l.Rows[0].Error.Text)
	l, err = s.children(t.Context().Done(), l.Rows[0].At, l.Rows[0].End, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"[0] int 1", "[1] Dictionary {a: 5, b: "}, texts(l.Rows))
	l = must(s.children(t.Context().Done(), l.Rows[1].At, l.Rows[1].End, 0))(t)
	require.Equal(t, ".a int 5", texts(l.Rows)[0])
	require.EqualValues(t, at, l.Rows[1].Error.At)

	// With lengths the next packet is found.
	framed := source(save.U32, bad, gdwiretest.Encode(t, 5), whole)
	framed.Data = framed.Data[:len(framed.Data)-3]
	framed.Size -= 3
	l = must(framed.children(t.Context().Done(), root, 0, 0))(t)
	require.NotNil(t, l.Rows[0].Error)
	require.Equal(t, "int 5", l.Rows[1].Type+" "+l.Rows[1].Text)
	require.NotNil(t, l.Rows[2].Error)
	for i := range whole { // never a panic, and always an answer
		s := source(save.Bare, whole[:i])
		must(s.children(t.Context().Done(), root, 0, 0))(t)
	}
}

// The parts of every type cover its bytes.
func TestDetail(t *testing.T) {
	for _, c := range []struct {
		value any
		parts string
	}{
		{nil, "header 0 4"},
		{5, "header 0 4,content 4 8"},
		{variant.Vector3{}, "header 0 4,content 4 16"},
		{"abc", "header 0 4,count 4 8,content 8 11,padding 11 12"},
		{"", "header 0 4,count 4 8"},
		{variant.NodePath("/a:bcde"), "header 0 4,count 4 16,count 16 20,content 20 21,padding 21 24,count 24 28,content 28 32"},
		{[]any{1}, "header 0 4,count 4 8"},
		{&variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}}, "header 0 4,content 4 8,count 8 12"},
		{map[string]any{}, "header 0 4,count 4 8"},
		{[]byte{1, 2, 3}, "header 0 4,count 4 8,content 8 11,padding 11 12"},
		{[]int64{1}, "header 0 4,count 4 8,content 8 16"},
		{variant.Signal{Name: "hit"}, "header 0 4,count 4 8,content 8 12,content 12 20"},
		{&variant.Object{Class: "Node"}, "header 0 4,count 4 8,content 8 12,count 12 16"},
	} {
		b := gdwiretest.Encode(t, c.value)
		s := source(save.Bare, b)
		d := must(s.detail(t.Context().Done(), 0, 0, 0))(t)
		var parts []string
		for _, p := range d.Parts {
			require.NotEmpty(t, p.Name)
			parts = append(parts, fmt.Sprint(p.Kind, " ", p.From, " ", p.To))
		}
		require.Equal(t, c.parts, strings.Join(parts, ","), "%T", c.value)
		require.EqualValues(t, len(b), d.Size)
		require.Nil(t, d.Error)
		require.Equal(t, b, must(base64.StdEncoding.DecodeString(d.Bytes))(t))
	}
	long := source(save.Bare, gdwiretest.Encode(t, strings.Repeat("x", 1<<20)))
	require.Len(t, must(long.detail(t.Context().Done(), 0, 0, 0))(t).Text, textBytes)
}

func TestSearch(t *testing.T) {
	words := strings.Repeat("y", 20_000) + "Needle" + strings.Repeat("z", 40_000) // across chunks
	s := source(save.U32, gdwiretest.Encode(t, map[string]any{
		"a": []any{1, "a needle", 2.5, words}, "NEEDLES": 7, "p": []string{"x", "needle"}, "v": variant.Vector2{X: 7},
		"i": []int32{1, 7}, "f": []float32{0.1}, "o": 7.0,
	}), gdwiretest.Encode(t, &variant.Object{Class: "Needle", Properties: []variant.Property{{Name: "needle", Value: 0.1}}}))
	find := func(text string, number bool) (hits []string) {
		q := must(newQuery(text, number))(t)
		done := false
		require.NoError(t, s.search(t.Context(), q, func(p progress) error {
			require.Nil(t, p.Error)
			if p.Hit != nil {
				hits = append(hits, fmt.Sprint(p.Hit.Way))
			}
			done = p.Done
			return nil
		}))
		require.True(t, done)
		return hits
	}
	require.Equal(t, []string{"[0 0]", "[0 1 1]", "[0 1 3]", "[0 5 1]", "[1]", "[1 0]"}, find("nEEdle", false))
	require.Equal(t, []string{"[0 0]", "[0 3]", "[0 4]", "[0 6]"}, find("7", true))
	require.Equal(t, []string{"[0 2]", "[1 0]"}, find("0.1", true))
	require.Empty(t, find("nothing", false))
	many := source(save.Bare, gdwiretest.Encode(t, make([]int, 0)), gdwiretest.Encode(t, strings.Split(strings.Repeat("hit,", 600), ",")))
	q := must(newQuery("hit", false))(t)
	n := 0
	require.NoError(t, many.search(t.Context(), q, func(p progress) error {
		if p.Hit != nil {
			n++
		}
		return nil
	}))
	require.Equal(t, maxHits, n)
	for _, text := range []string{"", strings.Repeat("x", maxQuery+1)} {
		_, err := newQuery(text, false)
		require.Error(t, err)
	}
	_, err := newQuery("text", true)
	require.Error(t, err)

	const before = maxPreview / 4
	x := strings.Repeat("x", 1000)
	require.Equal(t, "…"+x[:before]+"Needle"+x[:maxPreview-before-6]+"…", excerpt([]byte(x+"Needle"+x), 1000))
	require.Equal(t, "…xNeedle"+x[:maxPreview-7]+"…", excerpt([]byte("xNeedle"+x), 1))
	require.Equal(t, "…"+strings.Repeat("€", before/3+1)+"Needle…", excerpt([]byte(strings.Repeat("€", 1000)+"Needle"), 3000))
}

// A recorded is an answer.
type recorded struct {
	strings.Builder
	mediaType string
}

func (r *recorded) SetType(mediaType string) { r.mediaType = mediaType }
func (r *recorded) Flush() error             { return nil }

// ask returns what a page answers, and its media type.
func ask(t testing.TB, s *Page, what, body string) (mediaType, text string) {
	at := must(url.Parse(what))(t)
	var out recorded
	require.True(t, s.Answer(&Request{Context: t.Context(), Name: at.Path, Query: at.Query(), Body: strings.NewReader(body), Output: &out}), what)
	return out.mediaType, out.String()
}

// start starts a page, and returns a function that requests a part of it.
func start(t testing.TB, s *Page) (get func(what string) (mediaType, text string)) {
	s.Start()
	return func(what string) (mediaType, text string) { return ask(t, s, what, "") }
}

// The answers, as JSON, as lines of JSON, and as a picture.
func TestPageAnswers(t *testing.T) {
	png := []byte("\x89PNG\r\n\x1a\nrest")
	file := source(save.Bare, gdwiretest.Encode(t, []any{png, []byte("<svg onload=alert(1)>"), "text"}))
	get := start(t, &Page{File: file, Command: "save.bin", Live: NewLive(nil)})
	_, body := get("info")
	require.JSONEq(t, fmt.Sprintf(`{"live":true,"recording":"","file":{"name":"save.bin","command":"save.bin","size":%d,"format":"godot4","frame":"none","container":"","version":1,"changes":false,
		"edits":{"readOnly":"there is nothing to edit","undo":0,"redo":0,"unsaved":false,"backup":"","note":"","waiting":[],"pending":null}}}`, file.Size), body)
	_, body = get("children?at=-1")
	require.Contains(t, body, `"type":"Array"`)
	_, body = get("children?at=0")
	var l listing
	require.NoError(t, json.Unmarshal([]byte(body), &l))
	require.Len(t, l.Rows, 3)
	require.Equal(t, []bool{true, false, false}, []bool{l.Rows[0].Picture, l.Rows[1].Picture, l.Rows[2].Picture})
	mediaType, body := get(fmt.Sprintf("picture?at=%d", l.Rows[0].At))
	require.Equal(t, "image/png", mediaType)
	require.Equal(t, string(png), body)
	_, body = get(fmt.Sprintf("picture?at=%d", l.Rows[1].At))
	require.Contains(t, body, "no picture", "an SVG")
	_, body = get("value?at=0")
	require.Contains(t, body, `"type":"Array"`)
	_, body = get("search?at=0&q=tex")
	require.Equal(t, 2, strings.Count(body, "\n"))
	require.Contains(t, body, `"path":"$[2]"`)

	for _, bad := range []string{"children?at=-2", "children?at=x", "children?at=99999", "children?index=-1", "value?at=-1", "value?width=-1", "search?q=", "search?q=x&kind=number", "live?from=x", "children?packet=5"} {
		_, body = get(bad)
		require.Contains(t, body, `"error":{`, bad)
	}
	require.False(t, new(Page).Answer(&Request{Name: "index.html"}))
}

func TestPageLive(t *testing.T) {
	live := NewLive(func(raw []byte, options gdwire.DecoderOptions) string { return fmt.Sprint(len(raw), options.Format) })
	options := gdwire.DecoderOptions{Format: gdwire.Godot4}
	get := start(t, &Page{Live: live})
	add := func(v any) { live.Add(time.Now(), 1, true, &save.Unpacked{Value: gdwiretest.Encode(t, v)}, options) }
	go add("hello")
	_, body := get("live") // waits
	require.Contains(t, body, `"text":"16 godot4"`)
	live.Add(time.Now(), 2, false, &save.Unpacked{Value: []byte{99, 0, 0, 0}, Err: &gdwire.Error{Path: "$", Err: gdwire.ErrType}}, options)
	_, body = get("live?from=1")
	require.Contains(t, body, `"number":1`)
	require.Contains(t, body, `"error":{"at":0`)
	_, body = get("children?at=-1&packet=0")
	require.Contains(t, body, `"text":"\"hello\""`)

	for i := range livePackets + 10 {
		if i == 0 {
			live.Add(time.Now(), 1, true, &save.Unpacked{Value: gdwiretest.Encode(t, 5), Compressed: true, Mode: fileaccess.Zstd}, options)
			_, body = get("live?from=2")
			require.Contains(t, body, `"compressed":"zstd","text":"zstd 8 godot4"`)
			continue
		}
		add(5)
	}
	require.Nil(t, live.packet(5))
	require.NotNil(t, live.packet(livePackets+11))
	live.Miss()
	packets, oldest, missed := live.after(t.Context(), 0, nil)
	require.EqualValues(t, 1, missed)
	require.EqualValues(t, 12, oldest)
	require.Len(t, packets, maxBatch)
	require.EqualValues(t, 12, packets[0].Number)
	for range 40 {
		add(make([]byte, 1<<20))
	}
	packets, _, _ = live.after(t.Context(), 0, nil)
	require.Len(t, packets, 31) // within 32 MiB, with their headers
	_, body = get("children?at=-1&packet=20")
	require.Contains(t, body, "no longer kept")
}

// The page knows whether it compares with another file, or with the same one before it changed.
func TestComparedWith(t *testing.T) {
	named := func(name string, v any) *Source {
		s := source(save.Bare, gdwiretest.Encode(t, v))
		s.Name = name
		return s
	}
	s := &Page{File: named("new.sav", 2), Before: named("old.sav", 1)}
	get := start(t, s)
	compared := func() (before string, changed time.Time) {
		_, body := get("info")
		var info struct {
			File struct {
				Before  string
				Changed time.Time
			}
		}
		require.NoError(t, json.Unmarshal([]byte(body), &info), body)
		return info.File.Before, info.File.Changed
	}
	before, changed := compared()
	require.Equal(t, "old.sav", before)
	require.Zero(t, changed)
	start := time.Now()
	file := named("new.sav", 3)
	s.versions.replace(file, file)
	before, changed = compared()
	require.Empty(t, before)
	require.WithinRange(t, changed, start.Truncate(0), time.Now())
}

// A changed file is not read.
func TestChangedFile(t *testing.T) {
	s := onDisk(t, source(save.Bare, gdwiretest.Encode(t, []any{1, 2})))
	must(s.children(t.Context().Done(), root, 0, 0))(t)
	require.NoError(t, os.Truncate(s.Path, 8))
	_, err := s.children(t.Context().Done(), root, 0, 0)
	require.ErrorIs(t, err, save.ErrFileChanged)
	_, err = s.detail(t.Context().Done(), 0, 0, 0)
	require.ErrorIs(t, err, save.ErrFileChanged)
}

// A hostile source takes little time and memory, wherever it is read.
func FuzzSource(f *testing.F) {
	f.Add(gdwiretest.Encode(f, sample()), int64(0), uint8(0))
	f.Add(source(save.U32, gdwiretest.Encode(f, sample())).Data, int64(4), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, at int64, frame uint8) {
		s := source(save.Bare, data)
		s.Frame = save.Frame(frame % 3)
		s.Format = gdwire.Formats()[int(frame/3)%len(gdwire.Formats())]
		if at < root || at > s.Size {
			at = root
		}
		l, err := s.children(t.Context().Done(), at, 0, 0)
		if err == nil {
			require.LessOrEqual(t, len(l.Rows), maxRows)
			for _, r := range l.Rows {
				require.LessOrEqual(t, len(r.Text), 2*maxPreview)
				if r.At >= 0 && r.At <= s.Size {
					_, _ = s.detail(t.Context().Done(), r.At, r.End, r.Width)
					_, _ = s.children(t.Context().Done(), r.At, r.End, 0)
				}
			}
		}
		require.NoError(t, s.search(t.Context(), must(newQuery("a", false))(t), func(progress) error { return nil }))
	})
}

// Text is edited without quotes, unless a field of the browser would change it.
func TestWholeText(t *testing.T) {
	for literal, raw := range map[string]string{`"a \"b\""`: `a "b"`, `&"n"`: "n", `^"a/b"`: "a/b", `"two\nlines\t\u00a0"`: "two\nlines\t\u00a0", `""`: ""} {
		require.Equal(t, map[string]string{"text": literal, "raw": raw}, wholeText(literal))
	}
	for _, literal := range []string{`"a\r\n"`, `"\u0000"`, `"\u202eabc"`, `"\xff"`, `5`, `["a"]`, `PackedStringArray(["a"])`, ``} {
		require.Equal(t, map[string]string{"text": literal}, wholeText(literal))
	}
}
