package interop

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/gdscript"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/variant"
	"github.com/stretchr/testify/require"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

func must2[V, W any](v V, w W, err error) func(testing.TB) (V, W) { return testenv.Must2(v, w, err) }

var seed = flag.Uint64("seed", uint64(rand.Uint32()), "the seed of random values and packets")

// withRandom returns the files of scripts and random.gd.
func withRandom(t *testing.T, name string) map[string]string {
	t.Helper()
	files := scripts(t, name)
	files["random.gd"] = string(must(os.ReadFile(filepath.Join("testdata", "random.gd")))(t))
	return files
}

// A sample is a value that the engine made.
type sample struct {
	Bytes []byte
	JSON  string // the engine's native JSON of the value, or ""
}

// TestValues lets the engine create random values, which gdwire decodes and encodes
// again by tokens, by Go values and by native JSON. The engine compares the results
// with its values.
func TestValues(t *testing.T) {
	count := 2000
	if testing.Short() {
		count = 300
	}
	for _, kind := range []string{"all", "json"} {
		t.Run(kind, func(t *testing.T) {
			t.Logf("-seed %d", *seed)
			out, err := browser.Run(t.Context(), Program{
				Files: withRandom(t, "values.gd"),
				Args:  []string{strconv.FormatUint(*seed, 10), strconv.Itoa(count), kind},
				Socket: func(ctx context.Context, ws *websocket.Conn) error {
					for range (count + 99) / 100 {
						if err := answerValues(ctx, ws); err != nil {
							return err
						}
					}
					return nil
				},
			})
			require.NoError(t, err, strings.Join(out.Lines, "\n"))
			t.Log(out.Lines[len(out.Lines)-1])
			require.Contains(t, out.Lines[len(out.Lines)-1], " 0 differ")
		})
	}
}

// answerValues reads a batch of samples, sends back the result of remake for each, and
// compares the values that the engine reads from the JSON.
func answerValues(ctx context.Context, ws *websocket.Conn) error {
	_, message, err := ws.Read(ctx)
	if err != nil {
		return err
	}
	var samples []sample
	if err := variant.Unmarshal(message, &samples); err != nil {
		return err
	}
	answers := make([]map[string]any, len(samples))
	for i, s := range samples {
		if answers[i], err = remake(s); err != nil {
			return fmt.Errorf("%x: %w", s.Bytes, err)
		}
	}
	if message, err = variant.Marshal(&variant.Array{Values: anys(answers)}); err != nil {
		return err
	}
	if err := ws.Write(ctx, websocket.MessageBinary, message); err != nil {
		return err
	}
	if _, message, err = ws.Read(ctx); err != nil {
		return err
	}
	var read [][]byte
	if err := variant.Unmarshal(message, &read); err != nil {
		return err
	}
	for i, b := range read {
		if err := compare(samples[i].Bytes, b); err != nil {
			return fmt.Errorf("%v\nread by the engine: %w", answers[i]["json"], err)
		}
	}
	return nil
}

// compare returns an error if two encoded values differ by more than the last digits
// of floats.
func compare(a, b []byte) error {
	var x, y any
	if err := errors.Join(variant.Unmarshal(a, &x), variant.Unmarshal(b, &y)); err != nil {
		return err
	}
	if d := difference(reflect.ValueOf(x), reflect.ValueOf(y)); d != "" {
		return fmt.Errorf("%x\nis not %x\nvalue%s", a, b, d)
	}
	return nil
}

func anys[T any](s []T) []any {
	all := make([]any, len(s))
	for i, v := range s {
		all[i] = v
	}
	return all
}

// remake decodes and encodes a value in several ways and returns the bytes, which must
// be those of the engine, and the JSON.
func remake(s sample) (map[string]any, error) {
	made := map[string]any{}
	recoded, err := copyOf(s.Bytes, &gdwire.DecoderOptions{Strict: true})
	if err != nil {
		return nil, err
	}
	made["tokens"] = recoded
	var v any
	if err := variant.Unmarshal(s.Bytes, &v); err != nil {
		return nil, err
	}
	if made["variant"], err = variant.Marshal(v); err != nil {
		return nil, err
	}
	var text strings.Builder
	d := gdwire.NewDecoder(bytes.NewReader(s.Bytes), nil)
	defer d.Release()
	if err := gdjson.ToJSON(&text, d); err != nil {
		return nil, err
	}
	if made["gdjson"], err = fromJSON(text.String()); err != nil {
		return nil, fmt.Errorf("%s: %w", text.String(), err)
	}
	for way, b := range made {
		if !bytes.Equal(recoded, b.([]byte)) {
			return nil, fmt.Errorf("%s made %x", way, b)
		}
	}
	const nodePath = "\x16\x00\x00\x00" // its padding contains memory content
	if !bytes.Equal(recoded, s.Bytes) && !bytes.Contains(s.Bytes, []byte(nodePath)) {
		return nil, fmt.Errorf("recoded as %x", recoded)
	}
	if s.JSON == "" {
		return made, nil
	}
	made["json"] = text.String()
	b, err := fromJSON(s.JSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.JSON, err)
	}
	if err := compare(s.Bytes, b); err != nil {
		return nil, fmt.Errorf("%s: %w", s.JSON, err)
	}
	return made, nil
}

func fromJSON(text string) ([]byte, error) {
	var out bytes.Buffer
	e := gdwire.NewEncoder(&out, nil)
	err := cmp.Or(gdjson.FromJSON(e, strings.NewReader(text)), e.Close())
	return out.Bytes(), err
}

// difference describes the first difference between two values, and returns "" if there
// is none. It ignores the digits of floats that the engine does not write.
func difference(a, b reflect.Value) string {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		if !a.IsValid() && !b.IsValid() {
			return ""
		}
		return fmt.Sprintf(": %v and %v", a, b)
	}
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		x, y := a.Float(), b.Float()
		if x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-13+1e-13*math.Abs(x) ||
			a.Kind() == reflect.Float32 && math.Abs(x-y) <= 1e-6*math.Abs(x) {
			return ""
		}
		return fmt.Sprintf(": %v and %v", x, y)
	case reflect.Pointer, reflect.Interface:
		if d, ok := a.Interface().(*variant.Dictionary); ok && a.Kind() == reflect.Pointer {
			return differentPair(d, b.Interface().(*variant.Dictionary))
		}
		return difference(a.Elem(), b.Elem())
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return fmt.Sprintf(": %d and %d elements", a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := difference(a.Index(i), b.Index(i)); d != "" {
				return fmt.Sprintf("[%d]%s", i, d)
			}
		}
		return ""
	case reflect.Struct:
		for i := range a.NumField() {
			if d := difference(a.Field(i), b.Field(i)); d != "" {
				return fmt.Sprintf(".%s%s", a.Type().Field(i).Name, d)
			}
		}
		return ""
	default:
		if a.Equal(b) {
			return ""
		}
		return fmt.Sprintf(": %v and %v", a, b)
	}
}

// differentPair compares the pairs of two Dictionaries in order.
func differentPair(a, b *variant.Dictionary) string {
	if a.Key != b.Key || a.Value != b.Value {
		return fmt.Sprintf(": types %v, %v and %v, %v", a.Key, a.Value, b.Key, b.Value)
	}
	list := func(d *variant.Dictionary) (all []any) {
		for k, v := range d.All() {
			all = append(all, k, v)
		}
		return all
	}
	return difference(reflect.ValueOf(list(a)), reflect.ValueOf(list(b)))
}

// TestVectors: the engine answers the packets of spec/vectors as it is said to. Ids and padding differ
// in each run, so of what it writes only the length is compared.
func TestVectors(t *testing.T) {
	script := must(os.ReadFile("../../spec/others/godot4.gd"))(t)
	packets := must(suite.Packets())(t)
	packets = slices.DeleteFunc(packets, func(p suite.Packet) bool {
		_, known := p.Engines["4.6"]
		return !known
	})
	require.Greater(t, len(packets), 500)
	var lines strings.Builder
	for _, p := range packets {
		lines.WriteString(hex.EncodeToString(p.Hex) + "\n")
	}
	out, err := browser.Run(t.Context(), Program{Files: map[string]string{"main.gd": string(script), "lines": lines.String()}, Args: []string{"judge"}})
	require.NoError(t, err)
	answers := slices.DeleteFunc(out.Lines, func(line string) bool { return !strings.HasPrefix(line, "{") })
	require.Len(t, answers, len(packets))
	for i, p := range packets {
		var got suite.Answer
		require.NoError(t, json.Unmarshal([]byte(answers[i]), &got))
		want := p.Engines["4.6"]
		require.Equal(t, want.Accept, got.Accept, p.ID)
		require.Equal(t, want.Size, got.Size, p.ID)
		require.Len(t, got.Reencoded, len(want.Reencoded), p.ID)
	}
}

// TestTypedTags assigns containers with the declared types of tags to typed variables of the engine,
// which writes them as the same bytes.
func TestTypedTags(t *testing.T) {
	type record struct{ HP int }
	save := struct {
		Scores  []int64                     `gd:",type=Array[int]"`
		Speeds  []int                       `gd:",type=Array[float]"`
		Names   []string                    `gd:",type=Array[StringName]"`
		Points  []variant.Vector2           `gd:",type=Array[Vector2]"`
		Records []record                    `gd:",type=Array[Dictionary]"`
		Nodes   []variant.ObjectID          `gd:",type=Array[Node2D]"`
		Items   []*variant.Object           `gd:",type=Array['res://item.gd']"`
		Ids     map[string]int64            `gd:",type=Dictionary[StringName, int]"`
		Grid    map[variant.Vector2i]string `gd:",type=Dictionary[Vector2i, String]"`
	}{
		Scores: []int64{1, 1 << 40}, Speeds: []int{2}, Names: []string{"a", "é"}, Points: []variant.Vector2{{X: 1, Y: 2}},
		Records: []record{{5}, {6}}, Nodes: []variant.ObjectID{0}, Items: []*variant.Object{nil},
		Ids: map[string]int64{"a": 1, "b": 2}, Grid: map[variant.Vector2i]string{{X: 1, Y: 2}: "wall"},
	}
	b := gdwiretest.Encode(t, save)
	files := scripts(t, "typed.gd")
	files["item.gd"] = "extends Resource\n"
	out := must(browser.Run(t.Context(), Program{Files: files, Args: []string{hex.EncodeToString(b)}}))(t)
	require.Equal(t, hex.EncodeToString(b), out.Lines[len(out.Lines)-1], "%q", out.Lines)
}

// TestGDScript lets the engine read packets by a script of package gdscript: a valid one, one that is nested too deeply, and
// values of all types in each key. It refuses them, or writes what Unmarshal accepts.
func TestGDScript(t *testing.T) {
	type Item struct {
		Name string `gd:",required"`
		Tags []string
	}
	type Packet struct {
		HP     int
		Pos    variant.Vector2
		Item   Item `gd:",omitzero"`
		Items  []Item
		ByName map[string]*Item
		Grid   [2][]float64
		Next   *Packet `gd:",omitzero"`
		Any    any
	}
	var script bytes.Buffer
	require.NoError(t, gdscript.Write(&script, Packet{}))
	valid := Packet{HP: -1, Pos: variant.Vector2{X: 1}, Items: []Item{{"a", nil}, {"b", []string{"c"}}}, ByName: map[string]*Item{"n": nil, "i": {Name: "é"}}, Next: &Packet{Any: "x"}}
	var deep Packet
	for range 90 {
		deep = Packet{Next: &Packet{Next: deep.Next}}
	}
	packets := [][]byte{gdwiretest.Encode(t, valid), gdwiretest.Encode(t, deep)}
	for packet := range gdwiretest.Packets(gdwire.Godot4) {
		for key := range strings.FieldsSeq("hp pos item items by_name grid next any") {
			packets = append(packets, gdwiretest.Encode(t, map[string]any{key: variant.Raw{Data: packet}}))
		}
	}
	files := scripts(t, "gdscript.gd")
	files["messages.gd"], files[classCache] = script.String(), noClasses
	all := &variant.Array{}
	for _, p := range packets {
		all.Values = append(all.Values, p)
	}
	out := must(browser.Run(t.Context(), Program{Files: files, Args: []string{hex.EncodeToString(gdwiretest.Encode(t, all))}}))(t)
	for _, err := range out.Errors { // the engine would write the id of this object, and not the one that was read
		require.Regexp(t, `Packet\.any: <EncodedObjectAsID#-?\d+> is no message|^ *at: push_error`, err)
	}
	lines := out.Lines[len(out.Lines)-len(packets):]
	require.Equal(t, strings.Repeat(".next", 21)+": nested too deeply", lines[1])
	accepted := 0
	for i, line := range lines {
		if b, err := hex.DecodeString(line); err == nil {
			accepted++
			var p Packet
			require.NoError(t, variant.Unmarshal(b, &p), "%x", packets[i])
			if i == 0 {
				require.Equal(t, packets[0], gdwiretest.Encode(t, p))
			}
		} else {
			require.Regexp(t, `^\.\w+.*: .+`, line)
		}
	}
	require.Greater(t, accepted, len(packets)/8)
}

// engineTexts contains native JSON, valid and invalid, as engines, people and tools write it. The
// engine and gdjson with Lenient read the same value from each.
var engineTexts = []string{
	`null`, `[true,false]`, `5`, `1.5`, `"abc"`, `"x:1"`, `":"`, `""`, `"i"`, `"sn"`, `"f:--5"`, `"f:-x"`, `"f:1e+2,5"`, `"s:"`, `"s:é😀\n\"\\"`, `"sn:a"`, `"i:5"`, `"i:-007"`, `"i:+5"`, `"i:0x10"`, `"i:5.7"`,
	`"i:"`, `"i:-"`, `"i:1e3"`, `"i: 5"`, `"i:--5"`, `"i:9223372036854775807"`, `"i:9223372036854775808"`, `"i:-9223372036854775808"`, `"i:-9223372036854775809"`,
	`"i:99999999999999999999"`, `"i:-99999999999999999999"`, `"f:1.0"`, `"f:0.1"`, `"f:-0.0"`, `"f:1e21"`, `"f:1e+21"`, `"f:.5"`, `"f:5."`, `"f: 1.5px"`, `"f:-1.5.5"`,
	`"f:x"`, `"f:inf"`, `"f:-inf"`, `"f:nan"`, `"f:Infinity"`, `"f:1e400"`, `"f:0x10"`, `"f:1_0"`, `"f:0.10000000149011612"`, `"f:3.141592653589793"`,
	`{"type":"Vector2","args":[1.0,-2.5]}`, `{"args":[1.0,-2.5],"type":"Vector2"}`, `{"type":"Vector2","args":[1]}`, `{"type":"Vector2","args":[1,2,3]}`,
	`{"type":"Vector2","args":"1,2"}`, `{"type":"Vector2"}`, `{"type":"Vector5","args":[]}`, `{"type":"int","args":[5]}`, `{"type":5}`, `{"type":""}`, `{"args":[1,2]}`, `{}`,
	`{"type":"Vector2","args":[1,1e39]}`, `{"type":"Vector2","args":["inf","1.5x"]}`, `{"type":"Vector2","args":[true,{}]}`, `{"type":"Color","args":[1e99999,-1e99999,0,1]}`,
	`{"type":"Vector2i","args":[1.7,-2.5]}`, `{"type":"Vector2i","args":["1","-2x"]}`, `{"type":"Vector2i","args":[1,1e1]}`, `{"type":"Vector2i","args":[true,null]}`,
	`{"type":"Vector2i","args":[1,2],"x":[{}]}`, `{"type":"Vector2i","args":[1,2],"elem_type":"int"}`, `{"type":"Vector2","args":[1,2],"type":"Vector2i"}`,
	`{"type":"Basis","args":[1,2,3,4,5,6,7,8,9]}`, `{"type":"Transform3D","args":[1,2,3,4,5,6,7,8,9,10,11,12]}`,
	`{"type":"Projection","args":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}`, `{"type":"Transform2D","args":[1,2,3,4,5,6]}`, `{"type":"AABB","args":[1,2,3,4,5,6]}`,
	`{"type":"PackedByteArray","args":[0,255]}`, `{"type":"PackedByteArray","args":{}}`, `{"type":"PackedInt32Array","args":[1,2,true,false,null,[5],{"a":6},"7x"]}`,
	`{"type":"PackedInt64Array","args":[9007199254740992,"9007199254740993","-9223372036854775808"]}`, `{"type":"PackedFloat32Array","args":[0.1,1e99999]}`,
	`{"type":"PackedFloat64Array","args":["inf","1.5x",true,[],{}]}`, `{"type":"PackedStringArray","args":["a",1,0.5,true,null]}`, `{"type":"PackedStringArray","args":5}`,
	`{"type":"PackedVector2Array","args":[1,2,3,4]}`, `{"type":"PackedVector3Array","args":[1,2,3,4]}`, `{"type":"PackedColorArray","args":[1,0,0,1]}`,
	`{"type":"Array","args":["i:1"]}`, `{"type":"Array","elem_type":"int","args":["i:1"]}`, `{"args":["i:1"],"elem_type":"int","type":"Array"}`, `{"type":"Array","args":{}}`,
	`{"type":"Array","elem_type":"Node","args":[]}`, `{"type":"Array","elem_type":"Object","args":[]}`, `{"type":"Array","elem_type":5,"args":[]}`,
	`{"type":"Dictionary","args":["s:a","i:1"]}`, `{"type":"Dictionary","args":["s:a"]}`, `{"type":"Dictionary","args":null}`,
	`{"type":"Dictionary","args":["s:a","i:1"],"key_type":"String","value_type":"int"}`,
	`{"type":"RID"}`, `{"type":"Callable"}`, `{"type":"Signal"}`, `{"type":"Signal","name":5}`, `["i:1",{"type":"Vector2","args":[]},5,["x"]]`,
	`{"type":"RefCounted","props":["script",null]}`, `{"type":"RefCounted","props":["script"]}`, `"np:"`, `"np:a::b"`, `"np:/"`,
	`["i:1",]`, "[[]\f,\v]", `{"type":"Vector2","args":[01,-00.50,],}`, `{"type":"Vector2","args":[1.,-.5]}`, `{"type":"Vector2","args":[1.e2,-00.e-01]}`,
	"\"s:\x01\t\x1f\"", "\x01null\x02",
}

// TestLenientJSON compares the values that the engine and gdjson read.
func TestLenientJSON(t *testing.T) {
	t.Logf("-seed %d", *seed)
	texts := engineTexts
	r := randomJSON{rand.New(rand.NewPCG(*seed, 0))}
	count := 20_000
	if testing.Short() {
		count = 2000
	}
	for range count {
		texts = append(texts, r.value(3))
	}
	files := scripts(t, "json.gd")
	files["texts.json"] = string(must(json.Marshal(texts))(t))
	out := must(browser.Run(t.Context(), Program{Files: files}))(t)
	lines := out.Lines[len(out.Lines)-len(texts):]
	for i, text := range texts {
		var got bytes.Buffer
		e := gdwire.NewEncoder(&got, nil)
		err := gdjson.FromJSON(e, strings.NewReader(text), gdjson.Options{Lenient: true, AllowObjects: true})
		require.NoError(t, err, text)
		require.NoError(t, e.Close())
		e.Close()
		require.Equal(t, lines[i], hex.EncodeToString(got.Bytes()), text)
	}
}

// randomJSON makes native JSON of which much is wrong. It leaves out what documents
// say gdjson reads in another way: null in args, numbers that are out of range, which
// the engine reads as its machine does, ids, and elements of another type than
// declared.
type randomJSON struct{ *rand.Rand }

// mathTypes are those that args describe, with the number of args.
var mathTypes = []struct {
	name string
	n    int
}{
	{"Vector2", 2}, {"Vector2i", 2}, {"Rect2", 4}, {"Rect2i", 4}, {"Vector3", 3}, {"Vector3i", 3}, {"Transform2D", 6}, {"Vector4", 4}, {"Vector4i", 4},
	{"Plane", 4}, {"Quaternion", 4}, {"AABB", 6}, {"Basis", 9}, {"Transform3D", 12}, {"Projection", 16}, {"Color", 4},
}

func (r randomJSON) pick(s ...string) string { return s[r.IntN(len(s))] }

func (r randomJSON) list(n int, element func() string) string {
	s := make([]string, n)
	for i := range s {
		s[i] = element()
	}
	return "[" + strings.Join(s, ",") + "]"
}

func (r randomJSON) value(depth int) string {
	if depth == 0 {
		return r.scalar()
	}
	inner := func() string { return r.value(depth - 1) }
	switch r.IntN(9) {
	default:
		return r.scalar()
	case 3:
		return r.list(r.IntN(4), inner)
	case 4:
		key := func() string { return fmt.Sprintf(`"i:%d"`, r.Int32()) } // hardly ever equal to another
		return `{"type":"Dictionary","args":` + r.pick(r.list(r.IntN(4), key), r.list(2, inner), "5", `"x"`, "{}") + `}`
	case 5:
		return `{"args":` + r.list(r.IntN(4), func() string { return `"i:5"` }) + `,"elem_type":` + r.pick(`"int"`, `"int"`, `""`, "5", "null") + `,"type":"Array"}`
	case 6:
		return r.packed()
	case 7:
		m := mathTypes[r.IntN(len(mathTypes))]
		if r.IntN(8) == 0 {
			m.n += r.IntN(3) - 1
		}
		return `{"args":` + r.list(m.n, r.arg) + `,"type":"` + m.name + `"` + r.pick("", "", "", `,"x":1`, `,"args":5`) + `}`
	case 8:
		typ := r.pick("5", "null", `""`, `"String"`, `"Nil"`, `"bool"`, `"RID"`, `"Callable"`, `"Signal"`, `"NodePath"`, `"RefCounted"`, `"Array"`, `"Dictionary"`)
		return `{` + r.pick(`"type":`+typ+r.pick("", `,"args":[]`, `,"args":["i:5"]`), `"args":[]`, "") + `}`
	}
}

func (r randomJSON) scalar() string {
	switch r.IntN(6) {
	case 0:
		return r.pick("null", "true", "false", "5", "-1.5")
	case 1:
		return r.pick(`"np:"`, `"np:/"`, `"np:a::b"`, `""`, `":"`, `"x:5"`, `"i"`, `"sn"`)
	default:
		return `"` + r.pick("i:", "f:", "s:", "sn:") + r.pick("", "5", "-5", "0.5", "1e5", "inf", "nan", "-inf", "1.5.5", "12x", "x12", "é", "00012", "-", "+3", ".25",
			"7.", "0x10", " 9", "9 ", "1,5", "--4", "1-2", "5-", "e5", "-x", "1e+2,5") + `"`
	}
}

func (r randomJSON) packed() string {
	typ, arg := r.pick("Byte", "Int32", "Int64", "Float32", "Float64", "String", "Vector2", "Vector3", "Color", "Vector4"), r.arg
	switch typ {
	case "String":
		arg = func() string { return r.pick(`"a"`, `""`, "1", "0.5", "true", "null") }
	case "Byte":
		arg = func() string { return r.pick("1", "0", `"5"`, "true", "12.75", "255") }
	}
	return `{"type":"Packed` + typ + `Array","args":` + r.pick(r.list(r.IntN(9), arg), r.list(12, arg), "null", "5", `"x"`) + `}`
}

func (r randomJSON) arg() string {
	return r.pick("1", "-2", "0.5", "1e2", "200", `"3"`, `"4.5x"`, `"x"`, "true", "false", "[]", "{}", "12.75", "0", "1E1", "-0.0", `""`, `"-7"`, `"1e3"`, `" 5"`,
		`"0x1F"`, `"--3"`, "100", "3.0")
}
