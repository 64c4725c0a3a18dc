package edit

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/gdwire/gdwire/variant"
)

const (
	tNil, tBool, tInt, tString, tVector, tVector2i, tName, tDict, tArray = 0, 1, 2, 4, 5, 6, 21, 27, 28
	tBytes, tInts, tStrings, tVectors                                    = 29, 30, 34, 35
)

func u32(b []byte, n int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(n)) }

func padded(b []byte, s string) []byte {
	b = append(u32(b, len(s)), s...)
	return append(b, make([]byte, -len(s)&3)...)
}

func plan(c *save.Content, op Op, lines ...string) (*Plan, error) {
	return planWith(c, op, true, lines...)
}

func planWith(c *save.Content, op Op, exact bool, lines ...string) (*Plan, error) {
	var tree text.Tree
	if op == Move {
		from, to, _ := strings.Cut(lines[0], " = ")
		path, err := text.Parse(from)
		if err = cmp.Or(err, AddPath(&tree, to, op)); err != nil {
			return nil, err
		}
		return MoveTo(c, path, &tree)
	}
	for _, line := range lines {
		var p text.Path
		var value string
		var err error
		if op == Delete || op == Put {
			p, err = text.Parse(line)
		} else {
			p, value, err = text.CutLine(line, nil)
		}
		if err == nil {
			_, err = tree.Add(p, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return Edit(c, op, &tree, exact)
}

func written(t *testing.T, p *Plan) string {
	var out bytes.Buffer
	require.NoError(t, p.Content().CopyTo(&out))
	return hex.EncodeToString(out.Bytes())
}

// encodeIn encodes a value in a format.
func encodeIn(t *testing.T, f gdwire.Format, lines ...string) []byte {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: f})
	require.NoError(t, e.BeginDict(len(lines)))
	for i, line := range lines {
		v := testenv.Must(text.ParseValue(line))(t)
		require.NoError(t, e.WriteString(string(rune('a'+i))))
		require.NoError(t, v.Write(e, false))
	}
	require.NoError(t, e.End())
	require.NoError(t, e.Close())
	return b.Bytes()
}

// Counts, padding and parts are where they are in each format.
func TestFormats(t *testing.T) {
	before := []string{"[1, 2]", `PackedByteArray("010203")`, `PackedStringArray(["x", "y"])`, "PackedInt32Array([1, 2])", "PackedVector3Array([Vector3(1, 2, 3)])", "Transform3D(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)"}
	for _, f := range gdwire.Formats() {
		for _, row := range []struct {
			op     Op
			line   string
			index  int
			result string
		}{
			{Delete, "a[0]", 0, "[2]"},
			{Add, "a[1] = 3", 0, "[1, 3, 2]"},
			{Add, `a[+] = {"k": "v"}`, 0, `[1, 2, {"k": "v"}]`},
			{Delete, "b[1]", 1, `PackedByteArray("0103")`},
			{Add, "b[0] = 9", 1, `PackedByteArray("09010203")`},
			{Add, "b[+] = 9", 1, `PackedByteArray("01020309")`},
			{Delete, "c[1]", 2, `PackedStringArray(["x"])`},
			{Add, `c[0] = "longer"`, 2, `PackedStringArray(["longer", "x", "y"])`},
			{Set, `c[0] = "longer"`, 2, `PackedStringArray(["longer", "y"])`},
			{Delete, "d[0]", 3, "PackedInt32Array([2])"},
			{Add, "d[2] = -3", 3, "PackedInt32Array([1, 2, -3])"},
			{Add, "e[+] = Vector3(4, 5, 6)", 4, "PackedVector3Array([Vector3(1, 2, 3), Vector3(4, 5, 6)])"},
			{Set, "e[0].y = 7", 4, "PackedVector3Array([Vector3(1, 7, 3)])"},
			{Set, "f.origin.z = 7", 5, "Transform3D(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 7)"},
			{Set, "f.origin = Vector3(7, 8, 9)", 5, "Transform3D(1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 8, 9)"},
		} {
			t.Run(f.String()+" "+row.line, func(t *testing.T) {
				if (row.index == 4) && strings.HasPrefix(f.String(), "manual30") {
					t.Skip("this format has no such type")
				}
				lines := slices.Clone(before)
				if strings.HasPrefix(f.String(), "manual30") {
					lines[4] = "null"
				}
				b := encodeIn(t, f, lines...)
				c := &save.Content{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Decoder: gdwire.DecoderOptions{Format: f}, Encoder: gdwire.EncoderOptions{Format: f}}
				p := testenv.Must(plan(c, row.op, row.line))(t)
				lines[row.index] = row.result
				require.Equal(t, hex.EncodeToString(encodeIn(t, f, lines...)), written(t, p))
			})
		}
	}
}

// The result of an edit of the value at $.a, and its description.
func TestEdits(t *testing.T) {
	value := func(text string) []byte { return encodeIn(t, gdwire.Godot4, text) }
	object := func(properties ...string) []byte { // each is null
		b := u32(padded(u32(padded(u32(u32(u32(nil, tDict), 1), tString), "a"), 24), "Node"), len(properties))
		for _, name := range properties {
			b = u32(padded(b, name), tNil)
		}
		return b
	}
	long := strings.Repeat("x", 300)
	for _, row := range []struct {
		name   string
		before []byte
		op     Op
		exact  bool
		line   string
		after  []byte
		change string // "" if there is none
		err    string
	}{
		{name: "int", before: value("5"), line: "a = 6", after: value("6"), change: "$.a: 6, was 5"},
		{name: "the same", before: value("5"), line: "a = 5", after: value("5")},
		{name: "the same as a float", before: value("5"), line: "a = 5.0", after: value("5")},
		{name: "float for an int", before: value("5"), line: "a = 6.0", after: value("6"), change: "$.a: 6, was 5"},
		{name: "exact float for an int", before: value("5"), exact: true, line: "a = 6.0", after: value("6.0"), change: "$.a: 6.0, was 5"},
		{name: "float with its type for an int", before: value("5"), line: "a = f:6", after: value("6.0"), change: "$.a: 6.0, was 5"},
		{name: "String for a StringName", before: value(`&"x"`), line: `a = "y"`, after: value(`&"y"`), change: `$.a: &"y", was &"x"`},
		{name: "String for an int", before: value("5"), line: `a = "y"`, err: "$.a is of type int and not String"},
		{name: "int that no float holds", before: value("1.5"), line: "a = 9007199254740993", err: "$.a is a float, which cannot hold this int"},
		{name: "int for a String", before: value(`"x"`), line: "a = 5", err: "$.a is of type String and not int"},
		{name: "String for null", before: value("null"), line: `a = "y"`, after: value(`"y"`), change: `$.a: "y", was null`},
		{name: "null for an int", before: value("5"), line: "a = null", err: "$.a is of type int and not Nil"},
		{name: "exact null for an int", before: value("5"), exact: true, line: "a = null", after: value("null"), change: "$.a: null, was 5"},
		{name: "Vector2 for an int", before: value("5"), line: "a = Vector2(1, 2)", err: "$.a is of type int and not Vector2"},
		{name: "Dictionary for an int", before: value("5"), line: "a = {}", err: "$.a is of type int and not Dictionary"},
		{name: "Array for an Array[int]", before: value("Array[int]([1])"), line: `a = ["x"]`, err: "$.a is of type Array[int] and not Array"},
		{name: "float key for an int key", before: value(`{1: "x", 2: "y"}`), line: "a.key(0) = 2.0", err: "engines take the new key at $.a.key(0) for that of $.a[2]"},
		{name: "int key beside its float", before: value(`Dictionary[float, int]({1.0: 5})`), op: Add, line: "a[1] = 6", err: "engines take the new key at $.a[1] for that of $.a[1.0]"},
		{name: "key with rounded numbers", before: value(`{Vector2(0.1, 2): 5}`), line: "a[Vector2(0.10000000149011612, 2)] = 6", after: value(`{Vector2(0.1, 2): 6}`), change: "$.a[Vector2(0.1, 2.0)]: 6, was 5"},
		{name: "two keys with the same rounded numbers", before: value(`{}`), op: Add, line: "a[Vector2(0.10000000149011612, 2)] = 6\na[Vector2(0.1, 2)] = 7", err: "engines treat the keys of $.a"},
		{name: "int in an Array[float]", before: value("Array[float]([1.0])"), line: "a[0] = 2", after: value("Array[float]([2.0])"), change: "$.a[0]: 2.0, was 1.0"},
		{name: "int for an Array", before: value("[1, 2]"), exact: true, line: "a = 5", after: value("5"), change: "$.a: 5, was [1, 2]"},
		{name: "int for a long Array", before: value("[" + strings.Repeat("1, ", 99) + "2]"), exact: true, line: "a = 5", after: value("5"), change: "$.a: 5, was Array of 100"},
		{name: "start of a long text", before: value(`"` + long + `"`), line: `a = "` + long[:200] + `"`, after: value(`"` + long[:200] + `"`), change: `$.a: "` + long[:200] + `", was "` + long[:200] + `"…`},
		{name: "long text", before: value(`"` + long + `"`), line: `a = "` + long + `"`, after: value(`"` + long + `"`)},
		{name: "declared type", before: value("Array[int]([1])"), line: "a = Array[int]", after: value("Array[int]([1])")},
		{name: "other declared type", before: value("Array[int]([1])"), line: "a = Array[float]", err: "$.a is Array[int] and not Array[float]; only values and empty containers can be set"},
		{name: "declared type of an int", before: value("5"), line: "a = Array[int]", err: "$.a is of type int and not Array[int]; only values and empty containers can be set"},
		{name: "component", before: value("Vector2(1, 2)"), line: "a.x = 3", after: value("Vector2(3, 2)"), change: "$.a.x: 3.0, was 1.0"},
		{name: "sum of a component", before: value("Vector2(1, 2)"), line: "a.x += 2", after: value("Vector2(3, 2)"), change: "$.a.x: 3.0, was 1.0"},
		{name: "difference of an element", before: value("PackedInt32Array([5])"), line: "a[0] -= 2", after: value("PackedInt32Array([3])"), change: "$.a[0]: 3, was 5"},
		{name: "the same component", before: value("Vector2(1, 2)"), line: "a.x = 1", after: value("Vector2(1, 2)")},
		{name: "text for a component", before: value("Vector2(1, 2)"), line: `a.x = "y"`, err: "$.a.x is of type float, as all in a Vector2, and not String"},
		{name: "exact int for a component", before: value("Vector2(1, 2)"), line: "a.x = i:3", err: "$.a.x is of type float, as all in a Vector2, and not int"},
		{name: "too large for an element", before: value("PackedInt32Array([1])"), line: "a[0] = 3000000000", err: "$.a[0]: 3000000000 does not fit a PackedInt32Array"},
		{name: "two packets", before: append(value("5"), value("6")...), line: "a = 7\n$1.a = 8", after: append(value("7"), value("8")...), change: "$.a: 7, was 5$1.a: 8, was 6"},
		{name: "other type than declared", before: value("Array[int]([1])"), exact: true, line: `a[0] = "x"`, err: "engines would not read the edited packet"},
		{name: "component of a component", before: value("Rect2(1, 2, 3, 4)"), line: "a.size.y = 5", after: value("Rect2(1, 2, 3, 5)"), change: "$.a.size.y: 5.0, was 4.0"},
		{name: "vector for components", before: value("Rect2(1, 2, 3, 4)"), line: "a.size = Vector2i(5, 6)", after: value("Rect2(1, 2, 5, 6)"), change: "$.a.size: Vector2(5.0, 6.0), was Vector2(3.0, 4.0)"},
		{name: "float for an integer component", before: value("Vector2i(1, 2)"), line: "a.y = 5.0", after: value("Vector2i(1, 5)"), change: "$.a.y: 5, was 2"},
		{name: "fraction for an integer component", before: value("Vector2i(1, 2)"), line: "a.y = 5.5", err: "$.a.y is of type int, as all in a Vector2i, and not float"},
		{name: "elements of a declared type", before: value("Array[float]([1.0])"), line: "a = [1, 2.5]", after: value("Array[float]([1.0, 2.5])"), change: "$.a: Array[float]([1.0, 2.5]), was Array[float]([1.0])"},
		{name: "null for an Object", before: value("Array[Node]([])"), line: "a = [null]", after: value("Array[Node]([null])"), change: "$.a: Array[Node]([null]), was Array[Node]([])"},
		{name: "pairs of declared types", before: value("Dictionary[String, float]({})"), line: `a = {"k": 1}`, after: value(`Dictionary[String, float]({"k": 1.0})`), change: `$.a: Dictionary[String, float]({"k": 1.0}), was Dictionary[String, float]({})`},
		{name: "pairs with any values", before: value("Dictionary[float, Variant]({})"), line: `a = {1: "x"}`, after: value(`Dictionary[float, Variant]({1.0: "x"})`), change: `$.a: Dictionary[float, Variant]({1.0: "x"}), was Dictionary[float, Variant]({})`},
		{name: "pairs with Objects", before: value("Dictionary[float, Node]({})"), line: `a = {1: null}`, after: value(`Dictionary[float, Node]({1.0: null})`), change: `$.a: Dictionary[float, Node]({1.0: null}), was Dictionary[float, Node]({})`},
		{name: "key that looks as if it were cut", before: value(`{"key1": 1, "key…": 2}`), line: `a["key…"] = 3`, after: value(`{"key1": 1, "key…": 3}`), change: `$.a["key…"]: 3, was 2`},
		{name: "no cut key", before: value(`{"key1": 1}`), line: `a["key…"] = 3`, err: `there is no $.a["key…"]`},
		{name: "add a key that looks as if it were cut", before: value(`{"key1": 1}`), op: Add, line: `a["key…"] = 3`, after: value(`{"key1": 1, "key…": 3}`), change: `$.a["key…"]: 3, was `},
		{name: "delete a key that looks as if it were cut", before: value(`{"key1": 1}`), op: Delete, line: `a["key…"]`, err: `there is no $.a["key…"]`},
		{name: "add a StringName beside its String", before: value(`{"k": 1}`), op: Add, line: `a[&"k"] = 3`, err: `engines take the new key at $.a[&"k"] for that of $.a.k`},
		{name: "add a String beside its StringName", before: value(`{&"k": 1}`), op: Add, line: `a.k = 3`, err: `there is a value at $.a.k`},
		{name: "add the negative of a zero", before: value(`{0.0: 1}`), op: Add, line: `a[-0.0] = 3`, err: `engines take the new key at $.a[-0.0] for that of $.a[0.0]`},
		{name: "add a float beside its int", before: value(`{1: 1}`), op: Add, line: `a[1.0] = 3`, after: value(`{1: 1, 1.0: 3}`), change: `$.a[1.0]: 3, was `},
		{name: "add two equal keys", before: value(`{}`), op: Add, line: "a.k = 3\na[&\"k\"] = 4", err: "engines treat the keys of $.a"},
		{name: "a key that is there", before: value(`{"k": 1, "l": 2}`), exact: true, line: `a.key(1) = &"k"`, err: `engines take the new key at $.a.key(1) for that of $.a.k`},
		{name: "a key that is there later", before: value(`{"k": 1, "l": 2}`), exact: true, line: `a.key(0) = "l"`, err: `engines take the new key at $.a.key(0) for that of $.a.l`},
		{name: "another type of the same key", before: value(`{"k": 1, "l": 2}`), exact: true, line: `a.key(0) = &"k"`, after: value(`{&"k": 1, "l": 2}`), change: `$.a.key(0): &"k", was "k"`},
		{name: "a key twice in a value", before: value(`5`), exact: true, line: `a = [{"k": 1, &"k": 2}]`, err: `$.a: the key &"k" occurs twice; engines keep the last value`},
		{name: "cut key that is not there", before: value(`{"key1": 1}`), line: `a["long…"] = 3`, err: `there is no $.a["long…"]`},
		{name: "type of another format", before: value("null"), line: `a = InputEvent(1, 2, "")`, err: "$.a: godot4 has no InputEvent"},
		{name: "not a value", before: value("5"), line: "a = x", err: "want a value and not"},
		{name: "not there", before: value("5"), line: "b = 1", err: "there is no $.b"},
		{name: "not there, but similar", before: value("{\"health\": 1}"), line: "a.heath = 1", err: "there is no $.a.heath; did you mean health?"},
		{name: "Object", before: object("p"), exact: true, line: "a = 5", after: value("5"), change: `$.a: 5, was Object("Node", {"p": null})`},

		{name: "numbers for a vector", before: value("Vector2(1, 2)"), line: "a = (7, 8)", after: value("Vector2(7, 8)"), change: "$.a: Vector2(7.0, 8.0), was Vector2(1.0, 2.0)"},
		{name: "Array for a vector", before: value("Vector2i(1, 2)"), line: "a = [7, 8]", after: value("Vector2i(7, 8)"), change: "$.a: Vector2i(7, 8), was Vector2i(1, 2)"},
		{name: "the same numbers", before: value("Vector2(0.1, 2)"), line: "a = (0.1, 2)", after: value("Vector2(0.1, 2)")},
		{name: "numbers for vectors", before: value("PackedVector2Array([Vector2(1, 2)])"), line: "a = [(3, 4), [5, 6]]", after: value("PackedVector2Array([Vector2(3, 4), Vector2(5, 6)])"), change: "$.a: PackedVector2Array([Vector2(3.0, 4.0), Vector2(5.0, 6.0)]), was PackedVector2Array([Vector2(1.0, 2.0)])"},
		{name: "too many numbers", before: value("Vector2(1, 2)"), line: "a = (7, 8, 9)", err: "$.a is of type Vector2 and not (7, 8, 9)"},
		{name: "fraction in an integer vector", before: value("Vector2i(1, 2)"), line: "a = (7, 8.5)", err: "$.a is of type Vector2i and not (7, 8.5)"},
		{name: "text in a vector", before: value("Vector2(1, 2)"), line: `a = (7, "x")`, err: `$.a is of type Vector2 and not (7, "x")`},
		{name: "numbers for an Array", before: value("[1, 2]"), line: "a = (7, 8)", err: "$.a is of type Array and not (7, 8)"},
		{name: "numbers for null", before: value("null"), line: "a = (7, 8)", err: "nothing tells the type of (7, 8)"},
		{name: "numbers of no type", before: value("5"), exact: true, line: "a = [(7, 8)]", err: "nothing tells the type of (7, 8)"},
		{name: "code for a Color", before: value("Color(0, 0, 0, 0)"), line: `a = "#f00"`, after: value("Color(1, 0, 0, 1)"), change: "$.a: Color(1.0, 0.0, 0.0, 1.0), was Color(0.0, 0.0, 0.0, 0.0)"},
		{name: "no code for a Color", before: value("Color(0, 0, 0, 0)"), line: `a = "#f0"`, err: "$.a is of type Color and not String"},
		{name: "numbers for a Color", before: value("Color(0, 0, 0, 0)"), line: `a = (1, 0.5, 0)`, after: value("Color(1, 0.5, 0, 1)"), change: "$.a: Color(1.0, 0.5, 0.0, 1.0), was Color(0.0, 0.0, 0.0, 0.0)"},
		{name: "product", before: value("5"), line: "a *= 2.2", after: value("11"), change: "$.a: 11, was 5"},
		{name: "product that is no int", before: value("5"), line: "a *= 1.5", err: "$.a: 5 * 1.5 is no int"},
		{name: "product of floats", before: value("1.5"), line: "a *= 3", after: value("4.5"), change: "$.a: 4.5, was 1.5"},
		{name: "quotient of ints", before: value("-5"), line: "a /= 2", after: value("-2"), change: "$.a: -2, was -5"},
		{name: "division by zero", before: value("5"), line: "a /= 0", err: "$.a: 5 / 0 is a division by zero"},
		{name: "division by zero of floats", before: value("5.0"), line: "a /= 0", err: "$.a: 5.0 / 0 is a division by zero"},
		{name: "product out of range", before: value("9223372036854775807"), line: "a *= -2", err: "$.a: 9223372036854775807 * -2 is out of range"},
		{name: "quotient out of range", before: value("-9223372036854775808"), line: "a /= -1", err: "is out of range"},
		{name: "product of a text", before: value(`"x"`), line: "a *= 2", err: `$.a is of type String: *= 2 does not change it`},
		{name: "text after text", before: value(`"x"`), line: `a += " y"`, after: value(`"x y"`), change: `$.a: "x y", was "x"`},
		{name: "text after a name", before: value(`&"x"`), line: `a += "y z"`, after: value(`&"xy z"`), change: `$.a: &"xy z", was &"x"`},
		{name: "a number after text", before: value(`"x"`), line: "a += 1", err: "+= 1 does not change it"},
		{name: "vector and factor", before: value("Vector2(1.5, -2)"), line: "a *= 2", after: value("Vector2(3, -4)"), change: "$.a: Vector2(3.0, -4.0), was Vector2(1.5, -2.0)"},
		{name: "vector and vector", before: value("Vector3i(1, 2, 9)"), line: "a /= (2, 2, 4)", after: value("Vector3i(0, 1, 2)"), change: "$.a: Vector3i(0, 1, 2), was Vector3i(1, 2, 9)"},
		{name: "vector and components", before: value("Vector2(1, 2)"), line: "a -= [1, 1]", after: value("Vector2(0, 1)"), change: "$.a: Vector2(0.0, 1.0), was Vector2(1.0, 2.0)"},
		{name: "color and factor", before: value("Color(1, 0.5, 0, 1)"), line: "a *= 0.5", after: value("Color(0.5, 0.25, 0, 0.5)"), change: "$.a: Color(0.5, 0.25, 0.0, 0.5), was Color(1.0, 0.5, 0.0, 1.0)"},
		{name: "vector of a packed array", before: value("PackedVector2Array([Vector2(1, 2)])"), line: "a[0] *= 2", after: value("PackedVector2Array([Vector2(2, 4)])"), change: "$.a[0]: Vector2(2.0, 4.0), was Vector2(1.0, 2.0)"},
		{name: "vector and a number", before: value("Vector2(1, 2)"), line: "a += 1", err: "$.a is of type Vector2, such as Vector2(1.0, 2.0): += 1 does not change it"},
		{name: "vector of ints and float", before: value("Vector2i(1, 2)"), line: "a *= 1.5", err: "Vector2i(1, 2) * 1.5 is no Vector2i"},
		{name: "vector by zero", before: value("Vector2i(1, 2)"), line: "a /= 0", err: "Vector2i(1, 2) / 0 is no Vector2i"},
		{name: "vector out of range", before: value("Vector2i(2147483647, 2)"), line: "a *= 2", err: "Vector2i(2147483647, 2) * 2 is no Vector2i"},
		{name: "math type that is no vector", before: value("Quaternion(0, 0, 0, 1)"), line: "a *= Quaternion(0, 0, 0, 1)", err: "does not change it"},

		{name: "all elements", before: value(`[{"x": 1, "y": 2}, {"x": 3}, {"y": 4}]`), line: "a[*].x += 1", after: value(`[{"x": 2, "y": 2}, {"x": 4}, {"y": 4}]`), change: "$.a[0].x: 2, was 1$.a[1].x: 4, was 3"},
		{name: "all pairs", before: value(`{"k": 1, &"l": 2, 3: 3, [4]: 4}`), line: "a[*] *= 2", after: value(`{"k": 2, &"l": 4, 3: 6, [4]: 8}`), change: `$.a.k: 2, was 1$.a[&"l"]: 4, was 2$.a[3]: 6, was 3$.a.value(3): 8, was 4`},
		{name: "all properties", before: object("p", "q"), line: "a[*] = 1", after: slices.Concat(object("p", "q")[:44], u32(u32(nil, tInt), 1), object("p", "q")[48:56], u32(u32(nil, tInt), 1)), change: "$.a.p: 1, was null$.a.q: 1, was null"},
		{name: "a range", before: value("[1, 2, 3, 4]"), line: "a[-3:3] = 0", after: value("[1, 0, 0, 4]"), change: "$.a[1]: 0, was 2$.a[2]: 0, was 3"},
		{name: "a range of a packed array", before: value("PackedInt32Array([1, 2, 3])"), op: Delete, line: "a[1:9]", after: value("PackedInt32Array([1])"), change: "$.a[1]: , was 2$.a[2]: , was 3"},
		{name: "all in all", before: value("[[1], [2, 3], []]"), op: Delete, line: "a[*][0]", after: value("[[], [3], []]"), change: "$.a[0][0]: , was 1$.a[1][0]: , was 2"},
		{name: "all packets", before: append(value("5"), value("6")...), line: "$*.a = 7", after: append(value("7"), value("7")...), change: "$.a: 7, was 5$1.a: 7, was 6"},
		{name: "new keys in all", before: value(`[{}, {"x": 1}]`), op: Add, line: "a[*].y = 2", after: value(`[{"y": 2}, {"x": 1, "y": 2}]`), change: "$.a[0].y: 2, was $.a[1].y: 2, was "},
		{name: "new first elements", before: value("[[1], [], [2]]"), op: Add, line: "a[0:9][0] = 5", after: value("[[5, 1], [5], [5, 2]]"), change: "$.a[0][0]: 5, was $.a[1][0]: 5, was $.a[2][0]: 5, was "},
		{name: "new key in a container that has it", before: value(`[{}, {"y": 1}]`), op: Add, line: "a[*].y = 2", err: "there is a value at $.a[1].y"},
		{name: "the same key twice in one of all", before: value(`[{"k": 1}, {"k": 1, &"k": 1}]`), line: "a[*].k = 2", err: "there are 2 values at $.a[1].k"},
		{name: "all names of pairs", before: value(`{"k": 1, "l": 2}`), line: "a[*].x = 1", err: "there is no $.a[*].x"},
		{name: "a range of a Dictionary", before: value(`{1: 1}`), line: "a[0:1] = 1", err: "there is no $.a[0:1]"},
		{name: "none of all", before: value(`[{"gold": 1}]`), line: "a[*].glod = 2", err: "there is no $.a[*].glod; did you mean gold?"},
		{name: "an empty range", before: value(`[1]`), op: Delete, line: "a[1:]", err: "there is no $.a[1:]"},
		{name: "all of a vector", before: value("Vector2(1, 2)"), line: "a[*] = 2", err: "there is no $.a[*]"},
		{name: "one of all is of another type", before: value(`[1, "x"]`), line: "a[*] = 2", err: "$.a[1] is of type String and not int"},
		{name: "one and all", before: value("[1, 2]"), line: "a[*] = 2\na[0] = 3", err: "can lead to the same value"},
		{name: "add to several places", before: value("[1, 2]"), op: Add, line: "a[*] = 2", err: "$.a[*] leads to several values"},
		{name: "add all packets", before: value("[1, 2]"), op: Add, line: "$* = 2", err: "$* leads to several values"},
		{name: "rename", before: value(`{"k": 1, "l": 2}`), op: Move, line: "a.k = a.m", after: value(`{"m": 1, "l": 2}`), change: `$.a.m: 1, was $.a.k: , was 1`},
		{name: "rename a StringName", before: value(`{1: 1, &"l": 2}`), op: Move, line: "a.l = a.m", after: value(`{1: 1, &"m": 2}`), change: `$.a[&"m"]: 2, was $.a.l: , was 2`},
		{name: "rename an int key", before: value(`{1: 1, 2: 2}`), op: Move, line: "a[1] = a.m", after: value(`{"m": 1, 2: 2}`), change: `$.a.m: 1, was $.a[1]: , was 1`},
		{name: "rename to a key that is there", before: value(`{"k": 1, "l": 2}`), op: Move, line: "a.k = a.l", err: "there is a value at $.a.l"},
		{name: "rename to an equal key", before: value(`{"k": 1, &"l": 2}`), op: Move, line: "a.k = a.l", err: "there is a value at $.a[&\"l\"]"},
		{name: "rename what is not there", before: value(`{"k": 1}`), op: Move, line: "a.kk = a.l", err: "there is no $.a.kk"},
		{name: "move a pair by its number", before: value(`{"k": 1, "l": 2}`), op: Move, line: "a.value(0) = a.m", after: value(`{"m": 1, "l": 2}`), change: `$.a.m: 1, was $.a.value(0): , was 1`},
		{name: "rename a property", before: object("p"), op: Move, line: "a.p = a.longer", after: object("longer"), change: "$.a.longer: null, was $.a.p: , was null"},
		{name: "rename in several", before: value(`[{"k": 1}, {"l": 2}, {"k": 3}]`), op: Move, line: "a[*].k = a[*].m", after: value(`[{"m": 1}, {"l": 2}, {"m": 3}]`), change: `$.a[0].m: 1, was $.a[0].k: , was 1$.a[2].m: 3, was $.a[2].k: , was 3`},
		{name: "rename a pair, by its number, to two", before: value(`{"k": 1}`), op: Move, line: "a[*] = a.m", err: "$.a[*] leads to several values"},
		{name: "move to the front", before: value("[1, 2, 3]"), op: Move, line: "a[2] = a[0]", after: value("[3, 1, 2]"), change: "$.a[0]: 3, was $.a[3]: , was 3"},
		{name: "move to the back", before: value("[1, 2, 3]"), op: Move, line: "a[0] = a[2]", after: value("[2, 1, 3]"), change: "$.a[2]: 1, was $.a[0]: , was 1"},
		{name: "move to the end", before: value("PackedInt32Array([1, 2])"), op: Move, line: "a[0] = a[+]", after: value("PackedInt32Array([2, 1])"), change: "$.a[+]: 1, was $.a[0]: , was 1"},
		{name: "move out of an element", before: value(`[{"k": [5]}, 6]`), op: Move, line: "a[1] = a[0].k[0]", after: value(`[{"k": [6, 5]}]`), change: "$.a[0].k[0]: 6, was $.a[1]: , was 6"},
		{name: "move out of an element behind", before: value(`[6, {"k": [5]}]`), op: Move, line: "a[1].k[0] = a[0]", after: value(`[5, 6, {"k": []}]`), change: "$.a[0]: 5, was $.a[2].k[0]: , was 5"},
		{name: "move between keys that are numbers", before: value(`{1: 5, 2: {}}`), op: Move, line: "a[1] = a[2][1]", after: value(`{2: {1: 5}}`), change: "$.a[2][1]: 5, was $.a[1]: , was 5"},
		{name: "move into itself", before: value(`{"k": {}}`), op: Move, line: "a.k = a.k.l", err: "$.a.k cannot be moved to $.a.k.l"},
		{name: "move a packet", before: value("5"), op: Move, line: "$ = a.k", err: "$ cannot be moved to $.a.k"},
		{name: "move from the end", before: value("[1, 2]"), op: Move, line: "a[-1] = a[0]", err: "indexes of elements that are moved count from the start"},
		{name: "move several", before: value("[1, 2]"), op: Move, line: "a[*] = b", err: "$.a[*] leads to several values"},

		{name: "delete", before: value("[1, 2]"), op: Delete, line: "a[0]", after: value("[2]"), change: "$.a[0]: , was 1"},
		{name: "delete a packet", before: value("5"), op: Delete, line: "$", err: "$ is a whole packet, which cannot be deleted"},
		{name: "delete a key", before: value("5"), op: Delete, line: "$.key(0)", err: "$.key(0) is a key; .value(n) deletes the n-th pair"},
		{name: "delete a component", before: value("Vector2(1, 2)"), op: Delete, line: "a.x", err: "$.a.x is a component of a Vector2"},
		{name: "delete a property", before: object("p", "quite long"), op: Delete, line: "a.p", after: object("quite long"), change: "$.a.p: , was null"},

		{name: "add", before: value("[1]"), op: Add, line: "a[+] = 2", after: value("[1, 2]"), change: "$.a[+]: 2, was "},
		{name: "add text to numbers", before: value("PackedInt32Array([1])"), op: Add, line: `a[+] = "x"`, err: "$.a[+] is of type int, as all in a PackedInt32Array, and not String"},
		{name: "add text to reals", before: value("PackedFloat32Array([])"), op: Add, line: `a[+] = "x"`, err: "$.a[+] is of type float, as all in a PackedFloat32Array, and not String"},
		{name: "add a number to vectors", before: value("PackedVector2Array([])"), op: Add, line: "a[+] = 5", err: "$.a[+] is of type Vector2, as all in a PackedVector2Array, and not int"},
		{name: "add a component", before: value("Vector2(1, 2)"), op: Add, line: "a.x = 1", err: "$.a.x is a component of a Vector2"},
		{name: "add to an int", before: value("5"), op: Add, line: "a.x = 1", err: "$.a is of type int, to which nothing can be added"},
		{name: "add a packet", before: value("5"), op: Add, line: "$ = 1", err: "$ is a whole packet, which cannot be added"},
		{name: "add what is there", before: value("5"), op: Add, line: "a = 1", err: "there is a value at $.a"},
		{name: "add a pair by its number", before: value("5"), op: Add, line: ".value(7) = 1", err: "$.value(7) is not a key that can be added to a Dictionary"},
		{name: "add far after the end", before: value("[1]"), op: Add, line: "a[2] = 2", err: "there is no $.a[2]"},
		{name: "add a type", before: value("[1]"), op: Add, line: "a[+] = Array[int]", err: "Array[int] is a type and not a value"},
		{name: "add what is no value", before: value("[1]"), op: Add, line: "a[+] = x", err: "want a value and not"},
		{name: "add a property", before: object("p"), op: Add, line: "a.longer = null", after: object("p", "longer"), change: "$.a.longer: null, was "},
		{name: "add a property without a name", before: object("p"), op: Add, line: "a[1] = null", err: "$.a[1]: a property has a name, and not 1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := &save.Content{ReaderAt: bytes.NewReader(row.before), Size: int64(len(row.before)), Decoder: gdwire.DecoderOptions{AllowObjects: true}}
			p, err := planWith(c, row.op, row.exact, strings.Split(row.line, "\n")...)
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, hex.EncodeToString(row.after), written(t, p))
			change := ""
			for _, c := range p.Changes {
				change += c.Path + ": " + c.Text + ", was " + c.Was
			}
			require.Equal(t, row.change, change)
		})
	}
}

// An element that is added at the start of a container follows the new count.
func TestSortSplices(t *testing.T) {
	all := []splice{{start: 8, end: 8}, {start: 4, end: 8}, {start: 8, end: 9}, {start: 0, end: 4}, {start: 8, end: 8, size: 1}}
	sortSplices(all)
	require.Equal(t, []splice{{start: 0, end: 4}, {start: 4, end: 8}, {start: 8, end: 8}, {start: 8, end: 8, size: 1}, {start: 8, end: 9}}, all)
}

// A Plan describes the first changes and counts the others.
func TestManyChanges(t *testing.T) {
	b := u32(u32(nil, tArray), maxChanges+2)
	var lines []string
	for i := range maxChanges + 2 {
		b = u32(u32(b, tInt), i)
		lines = append(lines, fmt.Sprintf("[%d] = -1", i))
	}
	p := testenv.Must(plan(&save.Content{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, Set, lines...))(t)
	require.Len(t, p.Changes, maxChanges)
	require.Equal(t, 2, p.More)
}

// Math types of 64 bits stay so, and are added so beside others.
func TestEditDoubleReals(t *testing.T) {
	vector := func(x float64) []byte {
		b := binary.LittleEndian.AppendUint64(u32(nil, tVector|1<<16), math.Float64bits(x))
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(2))
	}
	array := func(items ...[]byte) []byte {
		return append(u32(u32(nil, tArray), len(items)), slices.Concat(items...)...)
	}
	for _, frame := range []save.Frame{save.Bare, save.U32BE} {
		framed := func(b []byte) []byte {
			if frame == save.Bare {
				return b
			}
			return append(frame.Order().AppendUint32(nil, uint32(len(b))), b...)
		}
		b := framed(array(vector(1), vector(1)))
		c := &save.Content{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Frame: frame}
		p, err := plan(c, Set, "[1] = Vector2(0.1, 2)")
		require.NoError(t, err)
		require.Equal(t, hex.EncodeToString(framed(array(vector(1), vector(0.1)))), written(t, p))
		p, err = plan(c, Add, "[+] = Vector2(0.1, 2)")
		require.NoError(t, err)
		require.Equal(t, hex.EncodeToString(framed(array(vector(1), vector(1), vector(0.1)))), written(t, p))
	}
}

// Errors have the offset in the content, of whichever packet.
func TestErrorOffset(t *testing.T) {
	bad := u32(u32(u32(nil, tArray), 2), 99)
	for name, read := range map[string]func(*save.Content) error{
		"edit": func(c *save.Content) error { _, err := plan(c, Set, "$1[1] = 1"); return err },
		"copy": func(c *save.Content) error { _, err := Copy(c, text.Path{Packet: 1}, new(text.Tree), true); return err },
	} {
		t.Run(name, func(t *testing.T) {
			b := u32(u32(u32(u32(nil, 8), tInt), 5), len(bad))
			start := len(b)
			b = append(b, bad...)
			err := read(&save.Content{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Frame: save.U32})
			var at *gdwire.Error
			require.ErrorAs(t, err, &at)
			require.EqualValues(t, start+8, at.Offset)
		})
	}
}

// The limits of the Decoder apply to reading and, except Depth, not to writing.
func TestEditLimits(t *testing.T) {
	b := encodeIn(t, gdwire.Godot4, "[1, 2]")
	c := &save.Content{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Elements: 2, StringBytes: 3, Depth: 2}}}
	for line, want := range map[string]string{
		"a[+] = 3":        "[1, 2, 3]",
		`a[+] = "longer"`: `[1, 2, "longer"]`,
	} {
		p, err := plan(c, Add, line)
		require.NoError(t, err, line)
		require.Equal(t, hex.EncodeToString(encodeIn(t, gdwire.Godot4, want)), written(t, p))
	}
	_, err := plan(c, Add, "a[+] = [1]")
	require.ErrorContains(t, err, "exceeds limit Depth (2)")
}

// The bit of Godot 3 that marks a shared container stays.
func TestSharedBit(t *testing.T) {
	b := u32(u32(u32(u32(u32(u32(nil, 19), -1<<31|2), 2), 5), 2), 6)
	c := &save.Content{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Decoder: gdwire.DecoderOptions{Format: gdwire.Godot3}, Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}
	p := testenv.Must(plan(c, Delete, "[0]"))(t)
	require.Equal(t, hex.EncodeToString(u32(u32(u32(u32(nil, 19), -1<<31|1), 2), 6)), written(t, p))
}

// FuzzEdit: no input and path panic, and an edited packet can be decoded.
func FuzzEdit(f *testing.F) {
	for i := range 40 {
		b := gdwiretest.Encode(f, map[string]any{"k0": i, "k1": []any{i, "x"}, "k…": map[string]any{"k0": 1.5}, "k2": []any{variant.Vector2{X: 1}}})
		switch i / 6 % 3 {
		case 1:
			b = append(u32(nil, len(b)), b...)
		case 2:
			b = append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
		}
		line := []string{"k0 = 7", "k1[0] = i:7", ".value(0) = [1]", `["k…"].k0 = "x"`, "$1.k2[+] = Vector2(1, 2)", "k0.x = 1"}[i%6]
		f.Add(b, uint8(i), line)
	}
	f.Fuzz(func(t *testing.T, b []byte, how uint8, line string) {
		c := &save.Content{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Frame: save.Frame(how >> 2 % 3)}
		p, value, err := text.CutLine(line, nil)
		if err != nil {
			return
		}
		var tree text.Tree
		testenv.Must(tree.Add(p, value))(t)
		var plan *Plan
		if op := Op(how & 3); op == Put {
			plan, err = Copy(c, text.Path{Packet: int64(how >> 6)}, &tree, true)
		} else {
			plan, err = Edit(c, op, &tree, how&128 != 0)
		}
		if err != nil || len(plan.Changes) == 0 {
			return
		}
		var out bytes.Buffer
		require.NoError(t, plan.Content().CopyTo(&out))
		edited := &save.Content{ReaderAt: bytes.NewReader(out.Bytes()), Size: int64(out.Len()), Frame: c.Frame, Decoder: gdwire.DecoderOptions{AllowObjects: true}}
		err = edited.Packets(func(i int64) bool { return i == p.Packet }, func(packet *save.Packet) (bool, error) {
			return false, packet.SkipValue()
		})
		require.NoError(t, err)
	})
}

// TestTable applies random splices one after the other, and compares the table with the same edits of
// bytes in memory.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		want := make([]byte, r.IntN(40))
		for i := range want {
			want[i] = byte(r.Uint32())
		}
		table := newTable(bytes.NewReader(bytes.Clone(want)), int64(len(want)))
		for range 1 + r.IntN(5) {
			all, next := randomSplices(r, want)
			before, old := table, want
			table, want = table.splice(all), next
			require.NoError(t, iotest.TestReader(io.NewSectionReader(table, 0, table.size), want))
			require.NoError(t, iotest.TestReader(io.NewSectionReader(before, 0, before.size), old))
		}
	}
}

// randomSplices returns splices of the bytes in old, in order, and the bytes after them.
func randomSplices(r *rand.Rand, old []byte) (all []splice, edited []byte) {
	at := 0
	for range r.IntN(4) {
		start := at + r.IntN(len(old)+1-at)
		s := splice{start: int64(start), end: int64(start + r.IntN(len(old)+1-start))}
		if r.IntN(3) > 0 {
			s.bytes = bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(5))
		}
		if from := r.IntN(len(old) + 1); r.IntN(3) == 0 {
			s.from, s.size = int64(from), int64(r.IntN(len(old)+1-from))
		}
		edited = append(edited, old[at:start]...)
		edited = append(append(edited, s.bytes...), old[s.from:s.from+s.size]...)
		all, at = append(all, s), int(s.end)
	}
	return all, append(edited, old[at:]...)
}

// TestInside edits values in bytes: the array, its container, and the sizes and checksums beside it are what a game writes.
func TestInside(t *testing.T) {
	type dict = map[string]any
	raw := func(v any) []byte { return testenv.Must(variant.Marshal(v))(t) }
	list := func(n int) (all []any) {
		for i := range n {
			all = append(all, "one of many texts of a save", i)
		}
		return all
	}
	player := func(hp int, name string) any { return dict{"hp": hp, "items": list(20), "name": name} }
	framed := func(b []byte) []byte { return append(u32(nil, len(b)), b...) }
	packed := func(b []byte, mode fileaccess.Mode) []byte {
		var out bytes.Buffer
		w := testenv.Must(fileaccess.NewWriter(&out, fileaccess.Info{Container: fileaccess.Raw, Mode: mode}, nil))(t)
		testenv.Must(w.Write(b))(t)
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	sha := func(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }
	md := func(b []byte) []byte { s := md5.Sum(b); return s[:] }
	type build func(v any) any
	beside := func(of func(b []byte) dict) build {
		return func(v any) any { d := of(raw(v)); d["z"] = 1; return d }
	}
	const name = "Ada Lovelace, Countess of the Northern Reach"
	set := []string{"$.data.value().hp = 74", `$.data.value().name = "` + name + `"`}
	for _, test := range []struct {
		name  string
		build build
		op    Op
		lines []string
		now   any // nil for player(74, name)
		err   string
	}{
		{name: "bytes", build: beside(func(b []byte) dict { return dict{"data": b} })},
		{name: "a header", build: beside(func(b []byte) dict { return dict{"data": append([]byte("SAVE\x01\x00\x00\x00"), framed(b)...)} })},
		{name: "gzip", build: beside(func(b []byte) dict { return dict{"data": packed(b, fileaccess.Gzip), "size": len(b)} })},
		{name: "zstd", build: beside(func(b []byte) dict {
			c := packed(b, fileaccess.Zstd)
			return dict{"data": c, "raw_len": len(b), "packed_bytes": len(c), "md5": md(c)}
		})},
		{name: "deflate", build: beside(func(b []byte) dict { return dict{"data": packed(b, fileaccess.Deflate), "sha256": sha(b)} })},
		{name: "fastlz", build: beside(func(b []byte) dict {
			return dict{"data": packed(b, fileaccess.FastLZ), "crc": int64(crc32.ChecksumIEEE(b))}
		})},
		{name: "upper case", build: beside(func(b []byte) dict { return dict{"data": b, "hash": strings.ToUpper(sha(b))} })},
		{name: "another number", build: beside(func(b []byte) dict { return dict{"data": b, "gold": len(b)} }), err: "$.gold is the size of the bytes at $.data, or something else: edit it, too"},
		{name: "another number, edited, too", build: beside(func(b []byte) dict { return dict{"data": b, "gold": len(b)} }), lines: append([]string{fmt.Sprint("$.gold = ", len(raw(player(74, name))))}, set...)},
		{name: "a checksum in the bytes", build: beside(func(b []byte) dict {
			s := sha256.Sum256(append([]byte("k"), b...))
			return dict{"data": append(s[:], b...)}
		}), err: "in the bytes at $.data, 32 bytes at offset 0 look like a checksum but are no SHA-256 or MD5 of any bytes here"},
		{name: "a second value", build: beside(func(b []byte) dict { return dict{"data": append(framed(raw(list(9))), framed(b)...)} }), lines: []string{"$.data.value()$1.hp = 74", `$.data.value()$1.name = "` + name + `"`}},
		{name: "a checksum of a value", build: func(v any) any { return dict{"data": v, "sha256": sha(raw(v))} }, lines: []string{"$.data.hp = 74", `$.data.name = "` + name + `"`}},
		{name: "a checksum under a key of another language", build: func(v any) any { return dict{"adat": v, "ell": hex.EncodeToString(md(raw(v)))} }, lines: []string{"$.adat.hp = 74", `$.adat.name = "` + name + `"`}},
		{name: "a checksum of a text", build: func(v any) any { return []any{v.(dict)["name"], md([]byte(v.(dict)["name"].(string))), v} }, lines: []string{`$[0] = "` + name + `"`, `$[2].name = "` + name + `"`, "$[2].hp = 74"}},
		{name: "a checksum of a value with a checksum", build: func(v any) any {
			in := dict{"data": v, "crc": int64(crc32.ChecksumIEEE(raw(v)))}
			return dict{"in": in, "md5": hex.EncodeToString(md(raw(in)))}
		}, lines: []string{"$.in.data.hp = 74", `$.in.data.name = "` + name + `"`}},
		{name: "in an Array", build: func(v any) any { return []any{1, raw(v), md(raw(v))} }, lines: []string{"$[1].value().hp = 74", `$[1].value().name = "` + name + `"`}},
		{name: "bytes in bytes in bytes", build: func(v any) any {
			in := dict{"a": list(9), "data": raw(dict{"data": packed(raw(v), fileaccess.Gzip), "md5": md(raw(v))})}
			return dict{"data": raw(in), "sha": sha(raw(in))}
		}, lines: []string{"$.data.value().data.value().data.value().hp = 74", `$.data.value().data.value().data.value().name = "` + name + `"`}},
		{name: "the whole value", build: beside(func(b []byte) dict { return dict{"data": packed(b, fileaccess.Gzip), "size": len(b)} }), lines: []string{`$.data.value() = [1, "a longer text than the four others"]`}, now: []any{1, "a longer text than the four others"}},
		{name: "delete", build: beside(func(b []byte) dict { return dict{"data": b, "md5": md(b)} }), op: Delete, lines: []string{"$.data.value().name", "$.data.value().hp"}, now: dict{"items": list(20)}},
		{name: "add", build: beside(func(b []byte) dict { return dict{"data": b, "md5": md(b)} }), op: Add, lines: []string{`$.data.value().items[+] = "more"`}, now: dict{"hp": 73, "items": append(list(20), "more"), "name": "Ada"}},
		{name: "delete all", build: beside(func(b []byte) dict { return dict{"data": b} }), op: Delete, lines: []string{"$.data.value()"}, err: "$.data.value() is a whole packet, which cannot be deleted"},
		{name: "the array and in it", build: beside(func(b []byte) dict { return dict{"data": b} }), lines: append([]string{`$.data = PackedByteArray("0102")`}, set...), err: "both $.data and a value in it are edited"},
		{name: "the array as it is", build: beside(func(b []byte) dict { return dict{"data": b} }), lines: append([]string{`$.data = PackedByteArray("` + hex.EncodeToString(raw(player(73, "Ada"))) + `")`}, set...)},
		{name: "all arrays", build: beside(func(b []byte) dict {
			return dict{"data": packed(b, fileaccess.Gzip), "data_size": len(b), "none": []byte{1}}
		}), lines: []string{"$[*].value().hp = 74", `$[*].value().name = "` + name + `"`}},
		{name: "an element and in it", build: beside(func(b []byte) dict { return dict{"data": b} }), lines: append([]string{"$.data[9] = 7"}, set...), err: "another of the paths leads to $.data[9], too"},
		{name: "no such value", build: beside(func(b []byte) dict { return dict{"data": b} }), lines: []string{"$.data.value()$1.hp = 7"}, err: "there is no $.data.value()$1.hp"},
		{name: "no values", build: beside(func(b []byte) dict { return dict{"data": bytes.Repeat([]byte{7, 0, 9}, 40)} }), lines: []string{"$.data.value() = 7"}, err: "there is no $.data.value()"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := raw(test.build(player(73, "Ada")))
			c := save.NewContent(bytes.NewReader(b), int64(len(b)), &save.Reading{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}})
			if test.lines == nil {
				test.lines = set
			}
			p, err := plan(c, test.op, test.lines...)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			now := test.now
			if now == nil {
				now = player(74, name)
			}
			require.Equal(t, hex.EncodeToString(raw(test.build(now))), written(t, p))
		})
	}
}

// TestCopyInside copies values out of bytes and into bytes.
func TestCopyInside(t *testing.T) {
	in := map[string]any{"items": []any{"a text", "another text", []any{"deep", 7}}, "name": "Ada Lovelace"}
	raw := func(v any) []byte { return testenv.Must(variant.Marshal(v))(t) }
	for _, row := range []struct{ from, to, want string }{
		{"$.data.value().items[2]", "$.x", `["deep", 7]`},
		{"$.x", "$.data.value().name", `[1, 2, "three"]`},
		{"$.data.value().items[2]", "$.data.value().name", `["deep", 7]`},
		{"$.data.value()", "$.x", `{"items": ["a text", "another text", ["deep", 7]], "name": "Ada Lovelace"}`},
	} {
		b := raw(map[string]any{"data": raw(in), "x": []any{1, 2, "three"}})
		c := save.NewContent(bytes.NewReader(b), int64(len(b)), &save.Reading{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}})
		var to, found text.Tree
		testenv.Must(to.Add(testenv.Must(text.Parse(row.to))(t), ""))(t)
		testenv.Must(found.Add(testenv.Must(text.Parse(row.to))(t), ""))(t)
		p := testenv.Must(Copy(c, testenv.Must(text.Parse(row.from))(t), &to, true))(t)
		w := &text.Walker{}
		w.Value = func(*text.Node) (bool, error) {
			v := text.Printer{Decoder: w.Decoder}
			err := v.Next(0)
			require.Equal(t, row.want, string(v.Buf), row.from)
			return false, err
		}
		require.NoError(t, Walk(p.Content(), &found, w))
		require.EqualValues(t, 1, found.Targets[0].Hits)
	}
}
