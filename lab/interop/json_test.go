package interop

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

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
