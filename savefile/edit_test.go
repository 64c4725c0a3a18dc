package savefile

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/variant"
)

// content returns the content of the saves that tests edit.
func content() *variant.Dictionary {
	d := new(variant.Dictionary)
	d.Set("hp", 42)
	d.Set("speed", 1.5)
	d.Set("name", variant.StringName("Ada"))
	d.Set("pos", variant.Vector2{X: 1, Y: 2})
	d.Set("items", &variant.Array{Values: []any{"map", 1, nil}})
	d.Set("bytes", []byte{1, 2, 3})
	d.Set("floats", &variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeFloat}, Values: []any{1.5}})
	return d
}

// TestSaveEdits: edits apply in order, and values take the types of those they replace.
func TestSaveEdits(t *testing.T) {
	raw := gdwiretest.Encode(t, "text")
	list := variant.Raw{Data: gdwiretest.Encode(t, []any{1})}
	dict := gdwiretest.Encode(t, map[string]int{"x": 1})
	for _, c := range []struct {
		name  string
		edits []Edit
		want  string // the text of the save, or
		err   string
	}{
		{"types", []Edit{Set("hp", 7.0), Set("speed", 2), Set("name", "Eva"), Set("pos.x", 3), Set("bytes[1]", 9), Set("floats[0]", 4)},
			`{"hp": 7, "speed": 2.0, "name": &"Eva", "pos": Vector2(3.0, 2.0), "items": ["map", 1, null], "bytes": PackedByteArray("010903"), "floats": Array[float]([4.0])}`, ""},
		{"raw", []Edit{Set("hp", variant.Raw{Data: raw}), Delete("bytes"), Delete("items"), Delete("floats"), Delete("pos")},
			`{"hp": "text", "speed": 1.5, "name": &"Ada"}`, ""},
		{"in order", []Edit{Delete("items[0]"), Set("items[0]", 2), Delete("items[1]"), Set("items[+]", "x"), Set("items[2]", "y"), Set("items[+]", "z"),
			Set("hp", 1), Set("hp", 2), Delete("bytes"), Set("bytes", nil), Delete("floats"), Delete("pos"), Delete("name")},
			`{"hp": 2, "speed": 1.5, "items": [2, "x", "y", "z"], "bytes": null}`, ""},
		{"new keys and what is in them", []Edit{Delete("items"), Delete("floats"), Delete("bytes"), Delete("pos"), Set("a", map[string]int{"b": 1}), Set("a.b", 2), Set("a.c", "x"), Set(`["…"]`, 1)},
			`{"hp": 42, "speed": 1.5, "name": &"Ada", "a": {"b": 2, "c": "x"}, "…": 1}`, ""},
		{"typed array", []Edit{Set("floats[+]", 2), Delete("items"), Delete("bytes"), Delete("pos"), Set(".value(0)", 1), Delete("name")},
			`{"hp": 1, "speed": 1.5, "floats": Array[float]([1.5, 2.0])}`, ""},
		{"from the end", []Edit{Set("$", list), Set("[+]", 6), Set("[-1]", 5), Set("[+]", map[string]int{"x": 1}), Set("[-1].x", 2)}, `[1, 5, {"x": 2}]`, ""},
		{"NodePath", []Edit{Set("$", map[string]any{}), Set(`[^"a//b"]`, 1), Set(`[^"a/b"]`, 2), Set(`[^"a/b:"]`, 3)}, `{^"a/b": 3}`, ""},
		{"every", []Edit{Set("$", list), Set("[0]", variant.Raw{Data: dict}), Set("[+]", variant.Raw{Data: dict}), Delete("[1].x"), Delete("[*].x")}, `[{}, {}]`, ""},
		{"whole", []Edit{Set("$", list), Set("[1]", 2), Set("[2]", 3)}, `[1, 2, 3]`, ""},

		{"type", []Edit{Set("hp", "text")}, "", "savefile: $.hp is of type int and not String; a variant.Raw sets another type"},
		{"container", []Edit{Set("hp", map[string]int{})}, "", "savefile: $.hp is of type int and not Dictionary; a variant.Raw sets another type"},
		{"fraction", []Edit{Set("hp", 1.5)}, "", "savefile: $.hp is of type int and not float; a variant.Raw sets another type"},
		{"missing", []Edit{Set("speed", 2), Set("itms[0]", 1)}, "", "savefile: there is no $.itms[0]; did you mean '$.items'?"},
		{"missing element", []Edit{Set("items[4]", 1)}, "", "savefile: there is no $.items[4]"},
		{"all", []Edit{Set("items", []any{[]int{}, []int{1, 2}}), Set("items[*][0]", 3), Set("bytes[1:]", 9), Delete("items[*][1:]"), Set("$*.hp", 1)},
			`{"hp": 1, "speed": 1.5, "name": &"Ada", "pos": Vector2(1.0, 2.0), "items": [[3], [3]], "bytes": PackedByteArray("010909"), "floats": Array[float]([1.5])}`, ""},
		{"none of all", []Edit{Set("items[*].x[0]", 1)}, "", "savefile: there is no $.items[*].x[0]"},
		{"missing packet", []Edit{Delete("$3.x")}, "", "savefile: there is no $3.x"},
		{"delete a packet", []Edit{Delete("$")}, "", "savefile: $ is a whole packet, which cannot be deleted"},
		{"path", []Edit{Set("a b", 1)}, "", `savefile: "a b", column 2: unexpected " b"`},
		{"Go value", []Edit{Set("hp", make(chan int))}, "", "savefile: variant: chan int has no Variant type"},
		{"too large", []Edit{Set("bytes[0]", 256)}, "", "savefile: $.bytes[0]: 256 does not fit a PackedByteArray"},
		{"declared type", []Edit{Set("floats[0]", variant.Raw{Data: raw})}, "", "savefile: engines would not read the edited packet: $.floats[0]: String in a container of float"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, _ := file(t, Info{}, content())
			f := must(read(b, nil))(t)
			err := f.Edit(c.edits...)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				require.Equal(t, b, written(t, f))
				return
			}
			require.NoError(t, err)
			var got any
			require.NoError(t, f.Unmarshal(&got))
			require.Equal(t, c.want, fmt.Sprint(got))

			one, err := read(b, nil) // the same, one after the other
			require.NoError(t, err)
			for _, e := range c.edits {
				require.NoError(t, one.Edit(e))
			}
			require.Equal(t, written(t, one), written(t, f))
		})
	}
}

// GetAll finds what Get finds at each path, and reads a large file once for all of them.
func TestGetAll(t *testing.T) {
	inner := map[string]any{"hp": 5, "name": "Ada", "pos": variant.Vector2{X: 1, Y: 2}}
	f := must(New(Info{}, 4, map[string]any{"player": inner, "list": []any{1, 2, 3}, "bytes": []byte{7, 8}, "hp": 6}, 9))(t)
	require.NoError(t, f.GetAll(nil))
	paths := []string{"$", "$2", "$1.player", "$1.player.hp", "$1.player.pos", "$1.player.pos.y", "$1.list[2]", "$1.list[-3]", "$1.bytes[1]", "$1.hp", "$1.list"}
	all := map[string]any{}
	for _, path := range paths {
		all[path] = new(any)
	}
	require.NoError(t, f.GetAll(all))
	for _, path := range paths {
		var want any
		require.NoError(t, f.Get(path, &want))
		require.Equal(t, &want, all[path], path)
	}

	var hp, other int
	err := f.GetAll(map[string]any{"$1.player.hp": &hp, "$1.player.nme": &other, "$1.missing": &other})
	require.ErrorIs(t, err, variant.ErrNotFound)
	require.EqualError(t, err, "savefile: there is no $1.missing")
	require.ErrorContains(t, f.GetAll(map[string]any{"$1.player.nme": &other, "$1.hp": &hp}), "did you mean name?")
	require.ErrorIs(t, f.GetAll(map[string]any{"$1.player.hp": &hp, "$1.player.name": &other}), gdwire.ErrType)
	require.ErrorContains(t, f.GetAll(map[string]any{"$1.hp": &hp, `$1["hp"]`: &other}), "occurs twice")
	require.ErrorContains(t, f.GetAll(map[string]any{"$1.hp…": &hp}), "only the start of a path")
	require.NoError(t, f.GetAll(map[string]any{"$1.list[2]": &hp, "$1.list[-1]": &other}))
	require.Equal(t, [2]int{3, 3}, [2]int{hp, other})

	large := make([]any, 100)
	for i := range large {
		large[i] = map[string]any{"n": i, "data": make([]byte, 100_000)}
	}
	f = must(New(Info{}, large))(t)
	b := written(t, f)
	r := &countingReader{ReaderAt: bytes.NewReader(b)}
	f = must(Read(r, int64(len(b)), nil))(t)
	several, numbers := map[string]any{}, make([]int, len(large))
	for i := range numbers {
		several[fmt.Sprintf("[%d].n", i)] = &numbers[i]
	}
	r.n = 0
	require.NoError(t, f.GetAll(several))
	require.Less(t, r.n, int64(len(b))*11/10, "once, and the lengths")
	for i, n := range numbers {
		require.Equal(t, i, n)
	}
}

// TestNotFound: errors of missing paths wrap variant.ErrNotFound.
func TestNotFound(t *testing.T) {
	f := must(New(Info{}, content()))(t)
	var v any
	for _, path := range []string{"x", "hp.x", "items[3]", "$1", "pos.z"} {
		require.ErrorIs(t, f.Get(path, &v), variant.ErrNotFound, path)
		require.ErrorIs(t, f.Edit(Delete(path)), variant.ErrNotFound, path)
	}
	require.EqualError(t, f.Get("hp…", &v), "savefile: hp… is only the start of a path")
	require.EqualError(t, f.Edit(Set("hp…", 1)), "savefile: hp… is only the start of a path")
	require.EqualError(t, f.Edit(Set("items.3", 1)), "savefile: items.3: an index or int key is in brackets")
	require.Error(t, f.Get("name", new(int)))
	require.Error(t, f.Get("hp", new(string)))
	var x float64
	require.NoError(t, f.Get("pos.y", &x))
	require.Equal(t, 2.0, x)
}

// A countingReader counts the bytes that are read.
type countingReader struct {
	io.ReaderAt
	n int64
}

func (c *countingReader) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.n += int64(n)
	return n, err
}

// TestManyEdits: 1,000 edits in one call read a file no more often than one.
func TestManyEdits(t *testing.T) {
	all := new(variant.Dictionary)
	for i := range 20_000 {
		all.Set(fmt.Sprintf("key_%d", i), map[string]int{"hp": i})
	}
	b, _ := file(t, Info{}, all)
	reads := func(n int) int64 {
		r := &countingReader{ReaderAt: bytes.NewReader(b)}
		f := must(Read(r, int64(len(b)), nil))(t)
		r.n = 0
		var edits []Edit
		for i := range n {
			edits = append(edits, Set(fmt.Sprintf("key_%d.hp", i*7), i+1))
		}
		require.NoError(t, f.Edit(edits...))
		return r.n
	}
	require.InEpsilon(t, reads(1), reads(1000), 0.1)
}

// TestSave replaces the file that was opened, once more after another edit, and not if another program
// has changed it.
func TestSave(t *testing.T) {
	for _, size := range []int{10, save.MaxHeld} {
		name := filepath.Join(t.TempDir(), "file")
		b, _ := file(t, Info{}, map[string]any{"hp": 1, "bytes": make([]byte, size), "end": "text"})
		require.NoError(t, os.WriteFile(name, b, 0o640))
		f := must(Open(name, nil))(t)
		require.Equal(t, size == 10, f.file == nil, "a file whose content is held is closed")
		for hp := range 3 {
			require.NoError(t, f.Edit(Set("hp", hp+2)))
			require.NoError(t, f.Save(name))
		}
		other := filepath.Join(t.TempDir(), "other")
		require.NoError(t, f.Save(other))
		a := must(os.ReadFile(name))(t)
		c := must(os.ReadFile(other))(t)
		require.True(t, bytes.Equal(a, c))
		want, _ := file(t, Info{}, map[string]any{"hp": 4, "bytes": make([]byte, size), "end": "text"})
		require.True(t, bytes.Equal(want, a))

		require.NoError(t, os.WriteFile(name, []byte("another program"), 0o640))
		require.ErrorIs(t, f.Save(name), ErrChanged)
		a = must(os.ReadFile(name))(t)
		require.Equal(t, "another program", string(a))
		require.NoError(t, f.Save(other))
		require.NoError(t, f.Close())
		entries := must(os.ReadDir(filepath.Dir(name)))(t)
		require.Len(t, entries, 1)
	}
}

// TestSaveNoName: Save without a name is an error, and leaves nothing in the working folder.
func TestSaveNoName(t *testing.T) {
	t.Chdir(t.TempDir())
	f := must(New(Info{}, content()))(t)
	require.Error(t, f.Save(""))
	entries := must(os.ReadDir("."))(t)
	require.Empty(t, entries)
}

// TestSaveFailed: Save that fails leaves nothing but the old file.
func TestSaveFailed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "save")
	require.NoError(t, os.WriteFile(name, []byte("old"), 0o600))
	f := must(New(Info{}, variant.Vector4{X: 1}))(t)
	f.Info.Format = gdwire.Godot3
	require.ErrorIs(t, f.Save(name), gdwire.ErrType)
	b := must(os.ReadFile(name))(t)
	require.Equal(t, "old", string(b))
	entries := must(os.ReadDir(filepath.Dir(name)))(t)
	require.Len(t, entries, 1)
}

// TestValuesBreak: a loop over Values can end early, and another one starts again.
func TestValuesBreak(t *testing.T) {
	for _, l := range []Lengths{NoLengths, LittleEndian} {
		b, _ := file(t, Info{Lengths: l}, "one", "two", "three")
		o := given(Info{Format: gdwire.Godot4, Lengths: l})
		o.Decoder.OneValue = true // is of no use for a file, and ignored
		f := must(read(b, o))(t)
		for range 2 {
			var got []string
			for d, err := range f.Values() {
				require.NoError(t, err)
				text := must(d.ReadString())(t)
				if got = append(got, text); len(got) == 2 {
					break
				}
			}
			require.Equal(t, []string{"one", "two"}, got)
		}
		all := must(values(f))(t)
		require.Len(t, all, 3)
	}
}

// TestSetPart: a part of a packed array keeps its type.
func TestSetPart(t *testing.T) {
	f := must(New(Info{}, map[string]any{"names": []string{"a", "b"}, "points": []variant.Vector2{{X: 1}}}))(t)
	before := written(t, f)
	for _, path := range []string{"names[0]", "names[+]", "points[0]", "points[0].x"} {
		require.Error(t, f.Edit(Set(path, true)), path)
	}
	require.Error(t, f.Edit(Set("names[0]", strings.Repeat("long", 1<<20))), "more than an editor keeps")
	require.Equal(t, before, written(t, f))
}

// TestLongNames: a file whose limits the caller has raised can be edited.
func TestLongNames(t *testing.T) {
	long := variant.StringName(strings.Repeat("n", 100_000))
	b, _ := file(t, Info{}, map[string]any{"hp": 1, "name": long, "signal": variant.Signal{Name: string(long)}})
	for _, limits := range []gdwire.Limits{gdwire.NoLimits, {NameBytes: 1 << 20, Bytes: 1 << 20}} {
		o := given(Info{Format: gdwire.Godot4, Lengths: LittleEndian})
		o.Decoder.Limits = limits
		f := must(read(b, o))(t)
		require.NoError(t, f.Edit(Set("hp", 2), Set("new", long)))
		var hp int
		require.NoError(t, f.Get("hp", &hp))
		require.Equal(t, 2, hp)
	}
}

// TestConvert changes the format, lengths, container and password.
func TestConvert(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(13, 14))}
	for i := range testenv.Cases(25, 300) {
		from, to := kinds[m.IntN(len(kinds))], kinds[m.IntN(len(kinds))]
		saved := m.save(from.Lengths)
		if to.Lengths == NoLengths {
			saved = saved[:1]
		}
		b, _ := file(t, from, saved...)
		f := must(read(b, nil))(t)
		f.Info.Format, f.Info.Lengths, f.Info.Container, f.Info.Key = to.Format, to.Lengths, to.Container, to.Key
		want, _ := file(t, to, saved...)
		requireWritten(t, f, want)
		got, err := read(written(t, f), nil)
		require.NoError(t, err, i)
		require.Equal(t, to.String(), got.Info.String())
	}
	f := must(New(Info{}, variant.Vector4{X: 1}))(t)
	f.Info.Format = gdwire.Godot3
	_, err := f.WriteTo(io.Discard)
	require.ErrorIs(t, err, gdwire.ErrType)
	require.NotErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotErrorAs(t, err, new(*DamageError))
	f = must(New(Info{}, 1, map[string]any{"a": []any{variant.Vector4{X: 1}}}))(t)
	for _, l := range []Lengths{NoLengths, LittleEndian} {
		f.Info.Format, f.Info.Lengths = gdwire.Godot3, l
		_, err = f.WriteTo(io.Discard)
		require.ErrorContains(t, err, "$1.a[0]: godot3 has no Vector4")
		require.NotErrorAs(t, err, new(*DamageError))
	}
}

// TestOpenReads: Open reads the start of a good file and little more, and of one whose start is damaged all up
// to the damage.
func TestOpenReads(t *testing.T) {
	pairs := new(variant.Dictionary)
	pairs.Set("v", variant.Vector2{X: 1})
	for i := range 1000 {
		pairs.Set(fmt.Sprint("key", i), i)
	}
	b, _ := file(t, Info{}, pairs, make([]byte, 2*save.MaxHeld), "end")
	r := &countingReader{ReaderAt: bytes.NewReader(b)}
	must(Read(r, int64(len(b)), nil))(t)
	require.Less(t, r.n, int64(1<<20))
	at := bytes.Index(b, []byte("key500")) + len("key500") + 2
	b[at] = 99 // the type of its value
	_, err := read(b, nil)
	var damage *DamageError
	require.ErrorAs(t, err, &damage)
	require.Equal(t, int64(at), damage.Offset)
}

func asDamage(err error) error {
	if d := damaged(err); d != err {
		return d
	}
	return nil
}

// TestUnknown: files that are not recognized, or not sure.
func TestUnknown(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "savefile: not recognized: the file is empty",
		"\x89PNG rest of an image": "the file is a PNG image, not values of Godot",
		`{"json": 1}`:              "the file is text, perhaps JSON, not values of Godot",
		"\x01\x00\xff\x04\x05":     "no values of Godot",
	} {
		_, err := read([]byte(text), nil)
		require.ErrorIs(t, err, ErrUnknown)
		require.ErrorContains(t, err, want)
		require.Nil(t, asDamage(err))
	}
	b, _ := file(t, Info{}, []any{"a save of", "Godot 4"}, variant.Vector4{X: 1})
	_, err := read(b, &Options{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot3}})
	require.ErrorContains(t, err, "savefile: not recognized: the file contains no values of godot3, but of godot4")
	b, _ = file(t, Info{}, 5)
	f := must(read(b, nil))(t)
	require.False(t, f.Info.Sure, "an int of any format")
	require.NoError(t, f.Edit(Set("$", 6)), "the same in all of them")
	want, _ := file(t, Info{}, 6)
	require.Equal(t, want, written(t, f))
	edits := []Edit{Set("$", variant.Raw{Data: gdwiretest.Encode(t, nil)}), Set("$", map[string]int{"a": 1})}
	err = f.Edit(edits...)
	require.EqualError(t, err, "savefile: the file can be godot4, lengths or godot3, lengths, in which the edit would write other bytes: set Format and Lengths in the Options of Open")
	require.Equal(t, want, written(t, f))
	ambiguous := new(AmbiguousError)
	require.ErrorAs(t, err, &ambiguous)
	for _, i := range ambiguous.Readings {
		f = must(read(b, given(i)))(t)
		require.NoError(t, f.Edit(edits...))
		want, _ = file(t, i, map[string]int{"a": 1})
		require.Equal(t, want, written(t, f))
	}
	b, _ = file(t, Info{}, []any{1, 2, "a text", 3, 4})
	f = must(read(b[:len(b)-4], &Options{Repair: true}))(t)
	require.ErrorContains(t, f.Edit(Set("[0]", 2)), "it is only probable that the file, which is damaged, is godot4, lengths: to edit it")

	require.ErrorIs(t, errOf(Open(filepath.Join(t.TempDir(), "none"), nil)), os.ErrNotExist)
	require.Error(t, errOf(Open(t.TempDir(), nil)))
	require.ErrorContains(t, errOf(New(Info{Lengths: 9}, 1)), "unknown Lengths(9)")
	require.ErrorContains(t, errOf(read(b, &Options{Lengths: 9})), "unknown Lengths(9)")
}

// TestLoad: options are those of Open, and every error names the file once.
func TestLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	good, _ := file(t, Info{}, map[string]any{"hp": 7})
	two, _ := file(t, Info{}, 7, "text")
	for name, b := range map[string][]byte{"good": good, "two": two, "cut": good[:len(good)-3], "other": []byte("\x89PNG")} {
		require.NoError(t, os.WriteFile(name, b, 0o600))
	}
	var player struct{ HP int }
	require.NoError(t, Load("good", &player))
	require.Equal(t, 7, player.HP)
	for _, c := range []struct {
		name string
		v    any
		want string
	}{
		{"none", &player, "stat none: "},
		{"other", &player, "other: savefile: not recognized: the file is a PNG image, not values of Godot"},
		{"cut", &player, "cut: savefile: damaged at offset "},
		{"two", new(int), "two: savefile: more than 1 value"},
		{"good", new(string), "good: gdwire: offset 4, $: Dictionary into Go string"},
	} {
		err := Load(c.name, c.v)
		require.ErrorContains(t, err, c.want)
		require.Equal(t, 1, strings.Count(err.Error(), c.name), err)
	}
	require.ErrorIs(t, Load("other", &player), ErrUnknown)
	godot3 := *given(Info{Format: gdwire.Godot3, Lengths: LittleEndian})
	require.Error(t, Load("good", &player, godot3))
	require.NoError(t, Load("good", &player, godot3, Options{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}}))
}

// TestKeys: a container whose content is not held is opened several times, and the password asked for once.
func TestKeys(t *testing.T) {
	b, _ := file(t, Info{Container: fileaccess.Info{Container: fileaccess.Encrypted}, Key: password}, make([]byte, 2*save.MaxHeld), 7, "text")
	asked := 0
	o := &Options{Container: fileaccess.Options{AskKey: func(fileaccess.Info) (*fileaccess.Key, error) {
		asked++
		return password, nil
	}}}
	f := must(Read(bytes.NewReader(b), int64(len(b)), o))(t)
	var n int
	for range 2 {
		require.NoError(t, f.Get("$1", &n))
	}
	require.Equal(t, 7, n)
	require.Equal(t, 1, asked)
	require.Equal(t, password, f.Info.Key)
	require.NotContains(t, f.Info.String(), string(password[:]))
	require.ErrorIs(t, errOf(Read(bytes.NewReader(b), int64(len(b)), nil)), fileaccess.ErrNoKey)
	_, err := Read(bytes.NewReader(b), int64(len(b)), &Options{Container: fileaccess.Options{Key: fileaccess.PasswordKey("x")}})
	require.ErrorIs(t, err, fileaccess.ErrPassword)
}

// TestSavePaths: errors of calls on a Decoder of Values have the offset in the content and the number of
// the value.
func TestSavePaths(t *testing.T) {
	for _, l := range []Lengths{NoLengths, LittleEndian} {
		f := must(New(Info{Lengths: l}, 1, map[string]string{"a": "text"}))(t)
		n := 0
		for d, err := range f.Values() {
			require.NoError(t, err)
			if n++; n == 2 {
				err = variant.UnmarshalDecode(d, new(map[string]int))
				require.ErrorContains(t, err, "$1.a: String into Go int")
				var at *gdwire.Error
				require.ErrorAs(t, err, &at)
				require.Equal(t, f.content.Size-12, at.Offset)
			}
		}
		require.Equal(t, 2, n)
		require.EqualError(t, f.Unmarshal(new(int), new(any), new(any)), "savefile: 2 values instead of 3")
	}
}

// TestSaveDoubleReals: math types that an edit adds have the width of the others in the file.
func TestSaveDoubleReals(t *testing.T) {
	for _, double := range []bool{false, true} {
		b, _ := file(t, Info{DoubleReals: double}, content())
		f := must(read(b, nil))(t)
		require.Equal(t, double, f.Info.DoubleReals)
		require.NoError(t, f.Edit(Set("new", variant.Vector3{X: 0.1}), Delete("pos")))
		var v variant.Vector3
		require.NoError(t, f.Get("new", &v))
		require.Equal(t, double, v.X == 0.1)
	}
}

// TestDamageError: its cause is that of the reader.
func TestDamageError(t *testing.T) {
	b, _ := file(t, Info{}, content())
	_, err := read(b[:len(b)-3], nil)
	var damage *DamageError
	require.ErrorAs(t, err, &damage)
	require.EqualValues(t, len(b)-3, damage.Offset)
	require.ErrorIs(t, damage.Unwrap(), io.ErrUnexpectedEOF)
}

// TestSaveElsewhere: the file that was opened by a relative name is known by it also in another
// working folder.
func TestSaveElsewhere(t *testing.T) {
	b, _ := file(t, Info{}, map[string]any{"hp": 1})
	one, two := t.TempDir(), t.TempDir()
	t.Chdir(one)
	require.NoError(t, os.WriteFile("save", b, 0o600))
	f := must(Open("save", nil))(t)
	defer func() { require.NoError(t, f.Close()) }()
	require.NoError(t, f.Edit(Set("hp", 2)))
	t.Chdir(two)
	require.NoError(t, os.WriteFile("save", []byte("another file"), 0o600))
	require.NoError(t, f.Save("save"))

	other := filepath.Join(one, "other")
	require.NoError(t, os.WriteFile(other, []byte("another program"), 0o600))
	require.NoError(t, os.Rename(other, filepath.Join(one, "save")))
	require.ErrorIs(t, f.Save(filepath.Join(one, "save")), ErrChanged)
}

// TestSkip: a header of the game is skipped in any container, and before one, and written again. A damaged file after it is
// repaired.
func TestSkip(t *testing.T) {
	const header = "HEAD\x07"
	for _, kind := range kinds {
		b, content := file(t, kind, map[string]any{"hp": 42, "name": "a name that is long enough to be sure"})
		for _, inside := range []bool{true, false} {
			all := append([]byte(header), b...)
			switch {
			case inside && kind.Container.Container == fileaccess.Raw, !inside && kind.Container.Base64.Text:
				continue // Options.Container.Raw is about what follows the header, and Base64 about the file
			case inside:
				var out bytes.Buffer
				require.NoError(t, new(save.Stack).Contain(kind.Container, kind.Key).Write(&out, func(w io.Writer) error {
					_, err := w.Write(append([]byte(header), content...))
					return err
				}))
				all = out.Bytes()
			}
			o := given(kind)
			o.Skip = int64(len(header))
			f, err := read(all, o)
			require.NoError(t, err, "%v", kind)
			require.NoError(t, f.Edit(Set("hp", 43)))
			f = must(read(written(t, f), o))(t)
			require.NoError(t, f.Edit(Set("hp", 42)))
			if kind.Container.Container == fileaccess.Encrypted {
				continue // with another IV
			}
			require.True(t, bytes.Equal(all, written(t, f)), "%v", kind)
			o.Skip = int64(len(all))
			require.Error(t, errOf(read(all[:3], o)))
		}
	}
	b, whole := file(t, Info{}, []any{1, 2, 3}, "text")
	f := must(read(append([]byte(header), b[:len(b)-4]...), &Options{Skip: 5, Repair: true, Lengths: LittleEndian}))(t)
	require.NotNil(t, f.Info.Damage)
	require.Equal(t, append([]byte(header), whole[:28+8]...), written(t, f)[:len(header)+36])
	require.EqualError(t, errOf(read([]byte("HEA"), &Options{Skip: 5})), "savefile: the file has 3 bytes, and 5 are to be skipped")
}

// TestStaleChecksum: Save writes edited values beside a value that looks like their checksum only if this is edited, too, or if
// the Options say so.
func TestStaleChecksum(t *testing.T) {
	const hex = "0123456789abcdef0123456789ABCDEF"
	many := []Edit{Set("hp", 2)}
	for i := range 2000 {
		many = append(many, Set(fmt.Sprintf("list[%d]", i), 1))
	}
	for i, c := range []struct {
		checksum any
		key      string
		edits    []Edit
		err      string
	}{
		{hex, "checksum", []Edit{Set("hp", 2)}, "savefile: perhaps a wrong checksum: 32 hexadecimal digits at $.checksum look like a checksum of what is edited: the game may refuse the edited file"},
		{hex + hex, "Data_SHA_256", []Edit{Delete("list[0]")}, "64 hexadecimal digits at $.Data_SHA_256"},
		{hex + hex[:8], "sig", []Edit{Set("new", 2)}, "40 hexadecimal digits at $.sig"},
		{bytes.Repeat([]byte{0x81}, 20), "hmac", []Edit{Set("list[1]", 2)}, "20 bytes at $.hmac"},
		{-100000, "save_hash", []Edit{Set("hp", 2)}, "the number -100000 at $.save_hash looks"},
		{100000, "crc", many, "the number 100000 at $.crc looks"},
		{hex, "checksum", []Edit{Set("hp", 2), Set("checksum", hex)}, ""},
		{hex, "checksum", append(many, Set("checksum", strings.Repeat("a", 32))), ""},
		{hex, "checksum", []Edit{Set("hp", 1)}, ""}, // changes nothing
		{hex, "seed", []Edit{Set("hp", 2)}, ""},
		{hex[:31], "checksum", []Edit{Set("hp", 2)}, ""},
		{100000, "player_hash", []Edit{Set("hp", 2)}, ""},
		{60000, "hash", []Edit{Set("hp", 2)}, ""},
		{make([]byte, 20), "hmac", []Edit{Set("hp", 2)}, ""},
	} {
		f := must(New(Info{}, map[string]any{"hp": 1, "list": make([]int, 2000), c.key: c.checksum}))(t)
		var b bytes.Buffer
		must(f.WriteTo(&b))(t)
		for _, o := range []*Options{nil, {IgnoreChecksums: true}} {
			f = must(Read(bytes.NewReader(b.Bytes()), int64(b.Len()), o))(t)
			for _, e := range c.edits {
				if len(c.edits) < 10 {
					require.NoError(t, f.Edit(e), i)
				}
			}
			if len(c.edits) >= 10 {
				require.NoError(t, f.Edit(c.edits...), i)
			}
			_, err := f.WriteTo(io.Discard)
			if o != nil || c.err == "" {
				require.NoError(t, err, i)
				continue
			}
			require.ErrorIs(t, err, ErrChecksum, i)
			require.ErrorContains(t, err, c.err, i)
		}
	}
}

// TestBesideDigest edits a packet whose MD5 and size are values of another one, under keys of any language.
func TestBesideDigest(t *testing.T) {
	u32 := binary.LittleEndian.AppendUint32
	build := func(name string, other int) []byte {
		value := must(variant.Marshal(map[string]any{"hp": 73, "name": name}))(t)
		sum := md5.Sum(value)
		head := must(variant.Marshal(map[string]any{"ell": hex.EncodeToString(sum[:]), "meret": len(value), "mester": other}))(t)
		b := append(u32(u32([]byte("BIRO"), 3), uint32(len(head))), head...)
		return append(u32(b, uint32(len(value))), value...)
	}
	const long = "Ada Lovelace, Countess of the Northern Reach"
	f := must(read(build("Ada", 12), nil))(t)
	require.NoError(t, f.Edit(Set("$1.name", long)))
	var out bytes.Buffer
	must(f.WriteTo(&out))(t)
	require.Equal(t, build(long, 12), out.Bytes())
}

// TestDoubtful: a version that is equal to the size of the values is not changed until that is chosen.
func TestDoubtful(t *testing.T) {
	value := must(variant.Marshal(map[string]any{"name": strings.Repeat("x", 72)}))(t)
	u32 := binary.LittleEndian.AppendUint32
	b := append(u32(u32(nil, 100), 100), value...)
	for _, c := range []struct {
		options *Options
		want    []byte // at the start, or nil for an error
	}{{nil, nil}, {&Options{Keep: []int64{0}}, u32(u32(nil, 100), 32)}, {&Options{Derive: []int64{0}}, u32(u32(nil, 32), 32)}} {
		f, err := read(b, c.options)
		require.NoError(t, err)
		if c.want == nil {
			require.Equal(t, []Part{{0, 8, "header", false, false, false}, {0, 4, "size", true, true, false}, {4, 4, "size", true, false, false}}, f.Info.Around)
		}
		require.NoError(t, f.Edit(Set("name", "Ada")))
		var out bytes.Buffer
		if _, err = f.WriteTo(&out); c.want == nil {
			require.EqualError(t, err, "savefile: the number 100 at offset 0 is a size, or something else such as a version; Options.Keep or Derive chooses")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, out.Bytes()[:8])
	}
	for _, o := range []*Options{{Keep: []int64{40}}, {Keep: []int64{400}}, {Derive: []int64{2}}, {Derive: []int64{40}}, {Derive: []int64{400}}} {
		require.ErrorContains(t, errOf(read(b, o)), fmt.Sprintf("offset %d: there is no ", slices.Concat(o.Keep, o.Derive)[0]))
	}
	value = must(variant.Marshal(map[string]any{"gold": 5, "items": []string{"bow", "arrow"}, "name": strings.Repeat("x", 72)}))(t)
	b = append(u32(u32([]byte("SAVE"), uint32(len(value)+4)), uint32(len(value))), value...)
	b = written(t, must(read(b[:len(b)-40], &Options{Repair: true, Derive: []int64{4}}))(t)) // both sizes are those of the file before the cut
	require.Equal(t, u32(u32([]byte("SAVE"), uint32(len(b)-8)), uint32(len(b)-12)), b[:12])
}

// decoding returns options for a Decoder.
func decoding(o gdwire.DecoderOptions) variant.Options { return variant.Options{Decoder: o} }

func TestEditPacketBytes(t *testing.T) {
	packet := gdwiretest.Encode(t, content())
	longer := append(bytes.Clone(packet), "after"...)
	got := must(EditPacket(longer, []Edit{Set("hp", 7), Set("name", "Eva")}))(t)
	require.True(t, bytes.HasSuffix(got, []byte("after")), "bytes after the value stay")
	var v any
	require.NoError(t, variant.Unmarshal(got[:len(got)-5], &v))
	require.Contains(t, fmt.Sprint(v), `{"hp": 7, "speed": 1.5, "name": &"Eva", `)

	object := []byte{24, 0, 0, 0, 4, 0, 0, 0, 'N', 'o', 'd', 'e', 1, 0, 0, 0, 2, 0, 0, 0, 'h', 'p', 0, 0, 2, 0, 0, 0, 5, 0, 0, 0}
	changed := must(EditPacket(object, []Edit{Set("hp", 6)}, decoding(gdwire.DecoderOptions{AllowObjects: true})))(t)
	require.Equal(t, append(bytes.Clone(object[:28]), 6, 0, 0, 0), changed)

	for _, c := range []struct {
		packet []byte
		edit   Edit
		want   string
	}{
		{packet, Set("$1.hp", 1), "savefile: $1.hp is in another value, and a packet contains one"},
		{packet, Set("hp", "x"), "savefile: $.hp is of type int and not String"},
		{packet, Delete("mp"), "savefile: there is no $.mp"},
		{packet, Set("a b", 1), "unexpected"},
		{packet[:40], Set("items[0]", 1), "unexpected EOF"},
		{object, Set("hp", 6), "objects are not allowed"},
		{nil, Set("hp", 6), "there is no $"},
	} {
		got, err := EditPacket(c.packet, []Edit{c.edit})
		require.ErrorContains(t, err, c.want)
		require.Nil(t, got)
	}
	require.ErrorIs(t, errOf(EditPacket(packet, []Edit{Delete("mp")})), variant.ErrNotFound)
}

// FuzzEditPacket: an edit of any packet is an error, or gives a packet that the same edit does not change.
func FuzzEditPacket(f *testing.F) {
	addSeeds(f, func(b []byte) { f.Add(b, "hp", int64(7)); f.Add(b, "pos.x", int64(1)); f.Add(b, "items[0]", int64(2)) })
	f.Fuzz(func(t *testing.T, b []byte, path string, n int64) {
		o := decoding(gdwire.DecoderOptions{AllowInvalidUTF8: true})
		before := bytes.Clone(b)
		got, err := EditPacket(b, []Edit{Set(path, n)}, o)
		require.Equal(t, before, b)
		if err != nil || bytes.Contains([]byte(path), []byte("+")) {
			return
		}
		again := must(EditPacket(got, []Edit{Set(path, n)}, o))(t)
		require.Equal(t, got, again)
	})
}
