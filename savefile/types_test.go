package savefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/gdwire/gdwire/variant"
)

// typed contains a value of each type, by the name of the type. Lists contain 1 and 2, "a" or a vector.
var typed = []struct {
	name  string
	value any
	group string // values of one group become the type of another
}{
	{"Nil", nil, ""}, {"bool", true, ""}, {"int", 7, "number"}, {"float", 8.0, "number"},
	{"String", "a", "text"}, {"StringName", variant.StringName("n"), ""}, {"NodePath", variant.NodePath("p"), ""},
	{"Vector2", variant.Vector2{X: 1, Y: 2}, "2"}, {"Vector2i", variant.Vector2i{X: 3, Y: 4}, "2"},
	{"Vector3", variant.Vector3{X: 1}, "3"}, {"Vector3i", variant.Vector3i{X: 3}, "3"},
	{"Vector4", variant.Vector4{X: 1}, "4"}, {"Vector4i", variant.Vector4i{X: 3}, "4"},
	{"Rect2", variant.Rect2{}, "rect"}, {"Rect2i", variant.Rect2i{Position: variant.Vector2i{X: 3}}, "rect"},
	{"Transform2D", variant.Transform2D{}, ""}, {"Plane", variant.Plane{}, ""}, {"Quaternion", variant.Quaternion{W: 1}, ""},
	{"AABB", variant.AABB{}, ""}, {"Basis", variant.Basis{}, ""}, {"Transform3D", variant.Transform3D{}, ""},
	{"Projection", variant.Projection{}, ""}, {"Color", variant.Color{R: 0.5}, ""},
	{"RID", variant.RID(5), ""}, {"Object", variant.ObjectID(6), ""}, {"Callable", variant.Callable{}, ""},
	{"Signal", variant.Signal{Name: "s", Object: 5}, ""},
	{"Dictionary", map[string]any{"k": 1}, "dictionary"},
	{"Dictionary[String, float]", &variant.Dictionary{Key: gdwire.Elem{Type: gdwire.TypeString}, Value: gdwire.Elem{Type: gdwire.TypeFloat}}, "dictionary"},
	{"Array", []any{1, 2.0}, "numbers"}, {"Array[int]", &variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeInt}, Values: []any{2, 1}}, "numbers"},
	{"PackedByteArray", []byte{1, 2}, "numbers"}, {"PackedInt32Array", []int32{1, 3}, "numbers"},
	{"PackedInt64Array", []int64{1, 4}, "numbers"}, {"PackedFloat32Array", []float32{1, 5}, "numbers"},
	{"PackedFloat64Array", []float64{1, 6}, "numbers"}, {"PackedStringArray", []string{"a"}, "strings"},
	{"PackedVector2Array", []variant.Vector2{{X: 1}}, "vectors2"}, {"PackedVector3Array", []variant.Vector3{{X: 1}}, "vectors3"},
	{"PackedColorArray", []variant.Color{{R: 1}}, "colors"}, {"PackedVector4Array", []variant.Vector4{{X: 1}}, "vectors4"},
}

// isSet reports whether a value of type i replaces one of type j.
func isSet(i, j int) bool {
	now, old := &typed[i], &typed[j]
	switch {
	case now.name == old.name, old.name == "Nil", now.name == "Nil" && old.name == "Object":
		return true
	case now.name == "String" && (old.name == "StringName" || old.name == "NodePath"):
		return true
	case old.name == "Array" && now.group != "dictionary" && strings.HasSuffix(now.name, "Array"):
		return true // of any elements
	case old.group == "2" && strings.HasPrefix(now.name, "Array"):
		return true // of two numbers
	}
	return now.group != "" && now.group == old.group
}

// textOf returns a value as the text of a line, a vector with all digits.
func textOf(t *testing.T, v any) string {
	switch v.(type) {
	case variant.Vector2, variant.Vector3:
		return digits(t, v).String()
	}
	text := (&variant.Array{Values: []any{v}}).String()
	return text[1 : len(text)-1]
}

// setText sets the value at a path to that of a text, as the command does.
func setText(f *File, path, value string) error { return editText(f, edit.Set, path, value) }

func editText(f *File, op edit.Op, path, value string) error {
	p, err := text.Parse(path)
	if err != nil {
		return err
	}
	var tree text.Tree
	if _, err = tree.Add(p, value); err != nil {
		return err
	}
	plan, err := edit.Edit(f.content, op, &tree, false)
	if err == nil {
		f.content = plan.Content()
	}
	return err
}

// contentOf returns the bytes of the content.
func contentOf(t *testing.T, f *File) []byte {
	t.Helper()
	b := must(io.ReadAll(io.NewSectionReader(f.content, 0, f.content.Size)))(t)
	return b
}

// tokenType returns the type of the value of a packet at a path, with its declared types.
func tokenType(t *testing.T, f *File, path string) string {
	t.Helper()
	var r variant.Raw
	require.NoError(t, f.Get(path, &r))
	d := gdwire.NewDecoder(bytes.NewReader(r.Data), &gdwire.DecoderOptions{Format: f.Info.Format, AllowObjects: true})
	defer d.Release()
	token := must(d.ReadToken())(t)
	key, elem := token.KeyElem(), token.Elem()
	switch {
	case key != (gdwire.Elem{}):
		return fmt.Sprintf("%v[%v, %v]", token.Type(), key, elem)
	case elem != (gdwire.Elem{}):
		return fmt.Sprintf("%v[%v]", token.Type(), elem)
	}
	return token.Type().String()
}

// TestSetTypes sets a value of each type in place of one of each type, in all kinds of files and of both
// widths, by a text and by a Go value: it is stored, converted to the old type, or refused, and all other
// bytes are as they were.
func TestSetTypes(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(31, 32))}
	done := map[string]int{}
	for i := range 2 * len(kinds) {
		kind := kinds[i/2]
		kind.DoubleReals = i%2 == 1
		isPlain := kind.Container.Container == fileaccess.Plain
		var known []int
		d := new(variant.Dictionary)
		d.Set("real", variant.Vector2{X: 0.1}) // tells the width
		for j := range typed {
			one, err := New(Info{Format: kind.Format}, typed[j].value)
			if err == nil && tokenType(t, one, "$") == typed[j].name { // Godot 3 writes an Array for a PackedInt64Array
				known = append(known, j)
				d.Set(fmt.Sprint("t", j), typed[j].value)
			}
		}
		d.Set("end", "text")
		b, _ := file(t, kind, d)
		o := given(kind)
		f := must(read(b, o))(t)
		original, content := f.content, contentOf(t, f)
		for _, old := range known {
			for _, now := range known {
				if !isPlain && m.IntN(40) > 0 || !testenv.Full() && m.IntN(10) > 0 {
					continue
				}
				path := fmt.Sprint("t", old)
				name := fmt.Sprintf("%v: %s for %s", kind, typed[now].name, typed[old].name)
				f.content = original
				goErr := f.Edit(Set(path, typed[now].value))
				got := contentOf(t, f)
				wanted := typed[old].name
				if goErr == nil && (old == 0 || now == 0) {
					wanted = typed[now].name
				}
				if goErr == nil {
					require.Equal(t, wanted, tokenType(t, f, path), name)
					require.Equal(t, "Vector2", tokenType(t, f, "real"))
					require.Equal(t, "String", tokenType(t, f, "end"))
				}
				f.content = original
				textErr := setText(f, path, textOf(t, typed[now].value))
				require.Equal(t, got, contentOf(t, f), name)
				if !isSet(now, old) {
					require.Equal(t, content, got, name)
					for _, err := range []error{goErr, textErr} {
						require.ErrorIs(t, err, gdwire.ErrType, name)
						require.ErrorContains(t, err, typed[old].name+" and not "+typed[now].name)
					}
					done["refused"]++
					continue
				}
				require.NoError(t, goErr, name)
				require.NoError(t, textErr, name)
				if typed[now].name == wanted {
					done["stored"]++
				} else {
					done["converted"]++
				}
			}
		}
		f.content = original
		require.NoError(t, f.Edit(Set("t2", 9)))
		again := must(read(written(t, f), o))(t)
		require.Equal(t, contentOf(t, f), contentOf(t, again))
	}
	t.Log(done)
	for _, n := range []string{"refused", "stored", "converted"} {
		require.Greater(t, done[n], 100, n)
	}
}

// A target is a value of a random save, which an edit can replace.
type target struct {
	path string
	old  any
	put  func(any) // in the model
}

// targets adds all values in v.
func targets(all []target, path string, v any) []target {
	switch v := v.(type) {
	case *variant.Dictionary:
		for key, value := range v.All() {
			step := fmt.Sprintf("[%v]", key)
			if text, ok := key.(string); ok {
				step = fmt.Sprintf("[%q]", text)
			}
			all = append(all, target{path + step, value, func(now any) { v.Set(key, now) }})
			all = targets(all, path+step, value)
		}
	case *variant.Array:
		for i, value := range v.Values {
			step := fmt.Sprintf("[%d]", i)
			all = append(all, target{path + step, value, func(now any) { v.Values[i] = now }})
			all = targets(all, path+step, value)
		}
	}
	return all
}

// like returns another value of the type of old, which the model contains after the edit, and a value
// that an edit converts to it.
func (m *maker) like(old any) (now, given any) {
	switch old.(type) {
	case nil:
		now = m.leaf("")
	case int:
		now = int(m.Int64N(min(1<<40, math.MaxInt)))
		if m.IntN(4) == 0 {
			return now, float64(now.(int))
		}
	case float64:
		n := m.IntN(1000)
		now = float64(n) / 8
		if m.IntN(4) == 0 {
			return float64(n), n
		}
	case string:
		now = m.text()
	case bool:
		now = m.IntN(2) == 0
	case variant.Vector2:
		n := m.IntN(100)
		if m.IntN(4) == 0 {
			return variant.Vector2{X: float64(n), Y: 2}, variant.Vector2i{X: int32(n), Y: 2}
		}
		now = variant.Vector2{X: m.randomReal(), Y: m.randomReal()}
	case variant.Vector3:
		now = variant.Vector3{X: m.randomReal(), Y: m.randomReal(), Z: m.randomReal()}
	case variant.NodePath:
		text := "/root/" + m.text()
		if m.IntN(4) == 0 {
			return variant.NodePath(text), text
		}
		now = variant.NodePath(text)
	case []byte:
		now = []byte(m.text())
	case *variant.Array:
		now = m.list()
	case *variant.Dictionary:
		d := new(variant.Dictionary)
		m.fill(d, "", 2)
		now = d
	default:
		now = old
	}
	return now, now
}

// list returns an Array of leaves.
func (m *maker) list() any {
	a := new(variant.Array)
	for range m.IntN(4) {
		a.Values = append(a.Values, m.leaf(""))
	}
	return a
}

// cloned returns a copy of a value of a random save.
func cloned(v any) any {
	switch v := v.(type) {
	case *variant.Dictionary:
		d := new(variant.Dictionary)
		for key, value := range v.All() {
			d.Set(key, cloned(value))
		}
		return d
	case *variant.Array:
		a := new(variant.Array)
		for _, value := range v.Values {
			a.Values = append(a.Values, cloned(value))
		}
		return a
	}
	return v
}

// TestRandomModel edits random saves of all kinds and widths, by Go values and texts: each content is the encoding
// of the changed values, and a value of another type changes nothing.
func TestRandomModel(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(41, 42))}
	saves, perSave := testenv.Cases(40, 2_000), 20
	if n, err := strconv.Atoi(os.Getenv("GDWIRE_SAVES")); err == nil { // such as 100,000, for 2 million edits
		saves = n
	}
	edits, refused := 0, 0
	for i := range saves {
		kind := kinds[i%len(kinds)]
		kind.DoubleReals = i/len(kinds)%2 == 1
		model := m.save(kind.Lengths)
		d := model[0].(*variant.Dictionary)
		d.Set(m.realKey(), "by a key of real numbers")
		d.Set("real", variant.Vector2{X: 0.1, Y: 7})
		b, _ := file(t, kind, model...)
		f := must(read(b, given(kind)))(t)
		require.Equal(t, kind.DoubleReals && kind.Format == gdwire.Godot4, f.Info.DoubleReals)
		for range perSave {
			n := m.IntN(len(model))
			var all []target
			all = targets(all, fmt.Sprint("$", n), model[n])
			at := all[m.IntN(len(all))]
			now, given := m.like(at.old)
			set := func(v any) error {
				if m.IntN(2) == 0 {
					return setText(f, at.path, textOf(t, v))
				}
				return f.Edit(Set(at.path, v))
			}
			switch op := m.IntN(12); op {
			case 0: // another type
				if _, isTransform := at.old.(variant.Transform2D); at.old != nil && !isTransform {
					before := contentOf(t, f)
					require.ErrorIs(t, set(variant.Transform2D{}), gdwire.ErrType)
					require.True(t, bytes.Equal(before, contentOf(t, f)))
					refused++
					continue
				}
				fallthrough
			default:
				require.NoError(t, set(given), "%s: %v for %v", at.path, given, at.old)
				at.put(now)
			case 1:
				key := fmt.Sprint("added", m.Uint32())
				value := m.value("", 2)
				require.NoError(t, f.Edit(Set(fmt.Sprintf("$%d.%s", n, key), value)))
				if d := model[n].(*variant.Dictionary); !has(d, key) {
					d.Set(key, value)
				} else {
					require.NoError(t, errors.New("added before")) // the maker is out of keys
				}
			case 2:
				d := model[n].(*variant.Dictionary)
				for key := range d.All() {
					if text, ok := key.(string); ok && strings.HasPrefix(text, "added") {
						require.NoError(t, f.Edit(Delete(fmt.Sprintf("$%d[%q]", n, text))))
						d.Delete(key)
						break
					}
				}
			case 3, 4: // an element more, or one less
				lists := slices.DeleteFunc(slices.Clone(all), func(l target) bool { _, ok := l.old.(*variant.Array); return !ok })
				if len(lists) == 0 {
					continue
				}
				at = lists[m.IntN(len(lists))]
				a := at.old.(*variant.Array)
				if i := m.IntN(len(a.Values) + 1); op == 3 {
					v := m.leaf("")
					require.NoError(t, editText(f, edit.Add, fmt.Sprintf("%s[%d]", at.path, i), textOf(t, v)))
					a.Values = slices.Insert(a.Values, i, v)
				} else if i < len(a.Values) {
					require.NoError(t, f.Edit(Delete(fmt.Sprintf("%s[%d]", at.path, i))))
					a.Values = slices.Delete(a.Values, i, i+1)
				}
			case 5: // a copy of another value
				from := all[m.IntN(len(all))]
				var tree text.Tree
				must(tree.Add(must(text.Parse(at.path))(t), ""))(t)
				f.content = must(edit.Copy(f.content, must(text.Parse(from.path))(t), &tree, true))(t).Content()
				at.put(cloned(from.old))
			}
			edits++
			kind.Container = fileaccess.Info{}
			_, want := file(t, kind, model...)
			got := contentOf(t, f)
			require.True(t, bytes.Equal(want, got), "%v %s: %v for %v", kind, at.path, given, at.old)
		}
	}
	t.Logf("%d edits, and %d refused", edits, refused)
}

// TestRandomEdits makes several edits in one call, by paths of all forms: the result, or the error, is that of the same
// edits one by one.
func TestRandomEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	one := func(all []string) string { return all[r.IntN(len(all))] }
	starts := []string{"", "$", "a", `["a"]`, "l", "l[0]", "l[-1]", "l[*]", "l[+]", "l[1]", "d", `[&"d"]`, ".value(2)", "d.value(0)", "n", "p", "b", "s", "v", "v.x", "o[0]"}
	steps := []string{"[+]", "[-1]", "[-2]", "[*]", "[0]", "[1]", "[2]", "[3]", ".key(0)", ".key(1)", ".value(0)", ".value(1)", ".x", `["x"]`, `[&"x"]`,
		".y", `[&"y"]`, `[^"a/b"]`, `[^"a//b"]`, `[^"a/b:"]`, `["a//b"]`, "[Vector2(0.1, 1)]", "[Vector2(0.100000001, 1)]", "[0.0]", "[-0.0]", ""}
	given := []any{5, 6, 2.5, "text", "a//b", nil, variant.NodePath("a/b:"), variant.StringName("x"), map[string]int{"x": 7}, []int{8}, variant.Vector2{X: 1.5}}
	calls := testenv.Cases(200, 5_000)
	whole := 0
	for i := range calls {
		dict := func(pairs ...any) *variant.Dictionary {
			d := new(variant.Dictionary)
			for i := 0; i < len(pairs); i += 2 {
				d.Set(pairs[i], pairs[i+1])
			}
			return d
		}
		names := dict(variant.NodePath("a/b"), 1)
		format := []gdwire.Format{gdwire.Godot4, gdwire.Godot3}[i%2]
		if format == gdwire.Godot4 {
			names.Key = gdwire.Elem{Type: gdwire.TypeNodePath}
		}
		saved := []any{dict("a", []any{1, 2}[:1+r.IntN(2)], "l", []any{dict("x", 1), dict("x", 2, "y", 3)},
			"d", dict("x", 1, variant.StringName("y"), 2, variant.NodePath("a/b"), 3), "n", names, "p", []int32{1, 2}, "b", []byte{1, 2, 3}[:1+r.IntN(3)],
			"s", []string{"x", "y"}, "v", variant.Vector2{X: 1, Y: 2}, "o", []any{[]any{1}})}
		info := Info{Format: format, Lengths: NoLengths + Lengths(i/2%3)}
		starts := starts
		if info.Lengths != NoLengths {
			saved, starts = append(saved, []any{1, dict("x", 2)}), append(starts, "$1", "$1[0]", "$1[1]", "$1")
		}
		f := must(New(info, saved...))(t)
		packet := contentOf(t, f)
		before := f.content
		var all []Edit
		var failed error
		for n := 2 + r.IntN(4); len(all) < n && failed == nil; {
			edit := Set(one(starts)+one(steps), given[r.IntN(len(given))])
			if r.IntN(5) == 0 {
				edit = Delete(edit.path)
			}
			if err := f.Edit(edit); err != nil {
				if r.IntN(100) > 0 {
					continue // few calls end in an error
				}
				failed = err
			}
			all = append(all, edit)
		}
		want := contentOf(t, f)
		f.content = before
		failedAtOnce := f.Edit(all...)
		got, err := contentOf(t, f), failedAtOnce
		if info.Lengths == NoLengths {
			given := bytes.Clone(packet)
			got, err = EditPacket(given, all, variant.Options{Decoder: gdwire.DecoderOptions{Format: format, AllowObjects: true}})
			require.Equal(t, packet, given)
			require.True(t, err == nil || got == nil)
			clear(given) // the result is the caller's
		}
		if failed != nil {
			require.EqualError(t, err, failed.Error(), "%v", all)
			require.EqualError(t, failedAtOnce, failed.Error(), "%v: %d", all, i)
			continue
		}
		require.NoError(t, err, "%v", all)
		require.NoError(t, failedAtOnce, "%v", all)
		require.True(t, bytes.Equal(want, got), "%v", all)
		require.True(t, bytes.Equal(want, contentOf(t, f)), "%v", all)
		again := must(New(f.Info, must(values(f))(t)...))(t)
		require.True(t, bytes.Equal(want, contentOf(t, again)), "a key twice: %v", all)
		whole++
	}
	require.Greater(t, whole, calls/2)
}

// TestEditReadings edits small files, most of which can be of several formats: an edit writes what it writes if format
// and lengths are known, or is an AmbiguousError.
func TestEditReadings(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	done := map[string]int{}
	for i := range testenv.Cases(400, 1_000) {
		info := Info{Format: []gdwire.Format{gdwire.Godot4, gdwire.Godot3}[i%2], Lengths: NoLengths + Lengths(i/2%3)}
		n := 1
		if info.Lengths != NoLengths {
			n += r.IntN(4)
		}
		var all []any
		for range n {
			all = append(all, typed[r.IntN(8)].value)
		}
		at := r.IntN(n)
		now := typed[r.IntN(len(typed))].value
		if r.IntN(2) == 0 {
			all[at] = nil
		}
		made := must(New(info, all...))(t)
		b := written(t, made)
		f, err := read(b, nil)
		if err != nil {
			require.ErrorIs(t, err, ErrUnknown)
			done["unknown"]++
			continue
		}
		as := must(read(b, given(info)))(t)
		path := fmt.Sprint("$", at)
		err, want := f.Edit(Set(path, now)), as.Edit(Set(path, now))
		switch {
		case errors.As(err, new(*AmbiguousError)):
			done["ambiguous"]++
			require.Equal(t, b, written(t, f))
		case want != nil:
			require.Error(t, err, "%v: %v in %v", info, now, all)
		default:
			done["edited"]++
			require.NoError(t, err, "%v: %v in %v", info, now, all)
			require.Equal(t, written(t, as), written(t, f), "%v: %v in %v", info, now, all)
		}
	}
	t.Log(done)
	for _, kind := range []string{"edited", "ambiguous"} {
		require.Greater(t, done[kind], 40, kind)
	}
}

// has reports whether d contains a key.
func has(d *variant.Dictionary, key any) bool {
	_, ok := d.Get(key)
	return ok
}

// TestSetUnknownType: a value that the format of a file does not know is an error of the edit, and no
// damage; one that becomes the type of the old value is stored.
func TestSetUnknownType(t *testing.T) {
	f, err := New(Info{Format: gdwire.Godot3}, map[string]any{"v": variant.Vector2{X: 1}, "null": nil})
	require.NoError(t, err)
	require.NoError(t, f.Edit(Set("v", variant.Vector2i{X: 7})))
	var v variant.Vector2
	require.NoError(t, f.Get("v", &v))
	require.Equal(t, variant.Vector2{X: 7}, v)
	for _, path := range []string{"null", "new"} {
		err = f.Edit(Set(path, variant.Vector2i{X: 7}))
		require.EqualError(t, err, "savefile: $."+path+": godot3 has no Vector2i")
		require.Nil(t, asDamage(err))
	}
	require.EqualError(t, f.Edit(Set("v", variant.Vector4i{X: 7})), "savefile: $.v is of type Vector2 and not Vector4i; a variant.Raw sets another type")
}
