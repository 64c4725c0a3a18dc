package conformance

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
)

// A strictCase is a packet that engines read and never write, with a similar one
// that they write.
type strictCase struct {
	row, name string // words of an item of the list in the package documentation, and a part of it
	format    gdwire.Format
	packet    string
	offset    int64
	path      string
	similar   string
	err       error // ErrStrict if it is nil
	objects   bool
	text      string // of a message of Strict, in one case of each
}

// The items of the list, by the words that tell each from the others.
const (
	rowWidth      = "an int or float in 64 bits"
	rowBool       = "a bool"
	rowHeader     = "bits 8 to 15"
	rowMixed      = "both widths"
	rowObject     = "id 0 or without a class"
	rowCount      = "bit 31 of a count"
	rowPadding    = "padding"
	rowNUL        = "NUL"
	rowPath       = "NodePath flags"
	rowDeclared   = "declared type"
	rowInputEvent = "InputEvent"
	rowTrailing   = "bytes after the value"
)

// strictCases returns cases for every row of the list.
func strictCases() []strictCase {
	g4, g3, g2, m4, m30 := gdwire.Godot4, gdwire.Godot3, gdwire.Godot2, gdwire.Manual4, gdwire.Manual30
	return []strictCase{
		{row: rowWidth, name: "int", text: "int 2147483647 in 64 bits", format: g4, packet: "<int+1> ffffff7f 00000000", path: "$", similar: "<int+1> 00000080 00000000"},
		{row: rowWidth, name: "negative int", format: g4, packet: "<int+1> 00000080 ffffffff", path: "$", similar: "<int+1> ffffff7f ffffffff"},
		{row: rowWidth, name: "int by the manual", format: m4, packet: "<int+1> 01000000 00000000", path: "$", similar: "<int> 01000000"},
		{row: rowWidth, name: "float", text: "float 0.5 in 64 bits", format: g4, packet: "<float+1>" + model.F64(0.5), path: "$", similar: "<float+1>" + model.F64(0.1)},
		{row: rowWidth, name: "float of an element", format: g3, packet: "<Array> 01000000 <float+1> 00000000 00000080", offset: 8, path: "$[0]", similar: "<Array> 01000000 <int+1> 00000000 00000000"},
		{row: rowWidth, name: "NaN", text: "NaN in 32 bits", format: g4, packet: "<float> 0000c07f", path: "$", similar: "<float+1> 00000000 0000f87f"},

		{row: rowBool, name: "two", text: "bool of 2", format: g4, packet: "<bool> 02000000", path: "$", similar: "<bool> 01000000"},
		{row: rowBool, name: "high bit", format: g2, packet: "<bool> 00000080", path: "$", similar: "<bool> 00000000"},

		{row: rowHeader, name: "bits 8 to 15", text: "unknown bits 0x100 in header 0x102", format: g4, packet: "02010000 00000000", path: "$", similar: "<int> 00000000"},
		{row: rowHeader, name: "flag of nil", format: g4, packet: "<Nil+1>", path: "$", similar: "<Nil>"},
		{row: rowHeader, name: "second flag of an int", format: g4, packet: "<int+2> 00000000", path: "$", similar: "<int> 00000000"},
		{row: rowHeader, name: "flag of an integer vector", format: g4, packet: "<Vector2i+1> 00000000 00000000", path: "$", similar: "<Vector2i> 00000000 00000000"},
		{row: rowHeader, name: "flag of a string", format: g3, packet: "<String+1> 00000000", path: "$", similar: "<String> 00000000"},
		{row: rowHeader, name: "flag of math before Godot 4", format: g3, packet: "<Vector2+1>" + model.F32(1, 2), path: "$", similar: "<Vector2>" + model.F32(1, 2)},
		{row: rowHeader, name: "flags of an Array before Godot 4", format: g3, packet: "<Array+1> 00000000", path: "$", similar: "<Array> 00000000"},
		{row: rowHeader, name: "flags of values of an Array", text: "unknown bits 0x40000 in header 0x4001c", format: g4, packet: "<Array+4> 00000000", path: "$", similar: "<Dictionary+4> <int> 00000000"},
		{row: rowHeader, name: "flag of a typed Array", text: "unknown bits 0x100000 in header 0x11001c", format: g4, packet: "<Array+17> 02000000 00000000", path: "$", similar: "<Array+1> 02000000 00000000"},
		{row: rowHeader, name: "flag of a Dictionary", text: "unknown bits 0x80000000 in header 0x8000001b", format: g4, packet: "<Dictionary+32768> 00000000", path: "$", similar: "<Dictionary+15> 01000000 61000000 01000000 61000000 00000000"},
		{row: rowHeader, name: "flag of packed bytes", format: g4, packet: "<PackedByteArray+1> 00000000", path: "$", similar: "<PackedByteArray> 00000000"},

		{row: rowMixed, name: "narrow and wide", text: "math types of both widths", format: g4, packet: "<Array> 02000000 <Vector2>" + model.F32(1, 2) + "<Vector2+1>" + model.F64(1, 2), offset: 20, path: "$[1]",
			similar: "<Array> 02000000 <Vector2+1>" + model.F64(1, 2) + "<Vector2+1>" + model.F64(1, 2)},
		{row: rowMixed, name: "wide and narrow", format: g4, packet: "<Array> 02000000 <Vector2+1>" + model.F64(1, 2) + "<Plane>" + model.F32(1, 2, 3, 4), offset: 28, path: "$[1]",
			similar: "<Array> 02000000 <Vector2+1>" + model.F64(1, 2) + "<Color>" + model.F32(1, 2, 3, 4)},
		{row: rowMixed, name: "packed and not", format: g4, packet: "<Array> 02000000 <PackedVector2Array+1> 00000000 <Vector2>" + model.F32(1, 2), offset: 16, path: "$[1]",
			similar: "<Array> 02000000 <PackedVector2Array> 00000000 <Vector2>" + model.F32(1, 2)},
		{row: rowMixed, name: "an id and serialized", text: "both ids of objects and serialized objects", format: g4, objects: true, packet: "<Array> 02000000 <Object+1> 05000000 00000000 <Object> 01000000 41000000 00000000", offset: 20, path: "$[1]",
			similar: "<Array> 02000000 <Object> 01000000 41000000 00000000 <Object> 01000000 41000000 00000000"},
		{row: rowMixed, name: "serialized and an id", format: g3, objects: true, packet: "<Array> 02000000 <Object> 01000000 41000000 00000000 <Object+1> 05000000 00000000", offset: 24, path: "$[1]",
			similar: "<Array> 02000000 <Object+1> 05000000 00000000 <Object+1> 05000000 00000000"},

		{row: rowObject, name: "id 0", text: "object id 0", format: g4, packet: "<Object+1> 00000000 00000000", path: "$", similar: "<Object+1> 01000000 00000000"},
		{row: rowObject, name: "no class", format: g3, objects: true, packet: "<Object> 00000000", path: "$", similar: "<Object> 01000000 41000000 00000000"},

		{row: rowCount, name: "shared Array", format: g4, packet: "<Array> 01000080 <Nil>", offset: 4, path: "$", similar: "<Array> 01000000 <Nil>"},
		{row: rowCount, name: "shared Dictionary", format: g3, packet: "<Dictionary> 00000080", offset: 4, path: "$", similar: "<Dictionary> 00000000"},
		{row: rowCount, name: "shared typed Array", format: g4, packet: "<Array+1> <int> 00000080", offset: 8, path: "$", similar: "<Array+1> <int> 00000000"},
		{row: rowCount, name: "strings", format: g4, packet: "<PackedStringArray> ffffffff", offset: 4, path: "$", similar: "<PackedStringArray> 00000000"},
		{row: rowCount, name: "properties", format: g4, objects: true, packet: "<Object> 01000000 41000000 ffffffff", offset: 12, path: "$", similar: "<Object> 01000000 41000000 00000000"},
		{row: rowCount, name: "names that overflow", format: g4, packet: "<NodePath> 01000080 ffffffff 00000000", offset: 4, path: "$", similar: "<NodePath> 00000080 00000000 00000000"},

		{row: rowPadding, name: "String", text: "padding other than zero", format: g4, packet: "<String> 01000000 61000001", offset: 9, path: "$", similar: "<String> 01000000 61000000"},
		{row: rowPadding, name: "packed string", format: g4, packet: "<PackedStringArray> 01000000 01000000 00000001", offset: 13, path: "$[0]", similar: "<PackedStringArray> 01000000 01000000 00000000"},
		{row: rowPadding, name: "bytes", format: g3, packet: "<PackedByteArray> 03000000 01020304", offset: 11, path: "$", similar: "<PackedByteArray> 04000000 01020304"},
		{row: rowPadding, name: "class", format: g4, objects: true, packet: "<Object> 01000000 41010000 00000000", offset: 9, path: "$", similar: "<Object> 01000000 41000000 00000000"},
		{row: rowPadding, name: "property", format: g4, objects: true, packet: "<Object> 01000000 41000000 01000000 01000000 61000001 <Nil>", offset: 21, path: "$.key(0)",
			similar: "<Object> 01000000 41000000 01000000 01000000 61000000 <Nil>"},
		{row: rowPadding, name: "Signal", format: g4, packet: "<Signal> 01000000 61ff0000 05000000 00000000", offset: 9, path: "$", similar: "<Signal> 01000000 61000000 05000000 00000000"},
		{row: rowPadding, name: "declared class", format: g4, packet: "<Array+2> 01000000 4100ff00 00000000", offset: 9, path: "$", similar: "<Array+2> 01000000 41000000 00000000"},
		{row: rowPadding, name: "NodePath by the manual", format: m4, packet: "<NodePath> 01000080 00000000 00000000 01000000 61000001", offset: 21, path: "$[0]",
			similar: "<NodePath> 01000080 00000000 00000000 01000000 61000000"},
		{row: rowPadding, name: "missing", format: g4, err: io.ErrUnexpectedEOF, packet: "<PackedByteArray> 01000000 01", offset: 9, path: "$", similar: "<PackedByteArray> 01000000 01000000"},
		{row: rowPadding, name: "missing in Godot 2", format: g2, err: io.ErrUnexpectedEOF, packet: "<String> 01000000 61", offset: 9, path: "$", similar: "<String> 01000000 61ffffff"},

		{row: rowNUL, name: "String", text: "NUL in a string", format: g4, packet: "<String> 03000000 61006200", offset: 9, path: "$", similar: "<String> 03000000 61206200"},
		{row: rowNUL, name: "end of a String", format: g2, packet: "<String> 02000000 61000000", offset: 9, path: "$", similar: "<String> 01000000 61000000"},
		{row: rowNUL, name: "name", format: g4, packet: "<NodePath> 01000080 00000000 00000000 02000000 61000000", offset: 21, path: "$[0]",
			similar: "<NodePath> 01000080 00000000 00000000 01000000 61000001"},
		{row: rowNUL, name: "Signal", format: g4, packet: "<Signal> 01000000 00000000 05000000 00000000", offset: 8, path: "$", similar: "<Signal> 00000000 05000000 00000000"},
		{row: rowNUL, name: "packed string without one", text: "packed string without a NUL", format: g4, packet: "<PackedStringArray> 01000000 01000000 61000000", offset: 13, path: "$[0]",
			similar: "<PackedStringArray> 01000000 02000000 61000000"},
		{row: rowNUL, name: "empty packed string without one", format: g3, packet: "<PackedStringArray> 01000000 00000000", offset: 12, path: "$[0]",
			similar: "<PackedStringArray> 01000000 01000000 00000000"},
		{row: rowNUL, name: "packed string with two", format: g4, packet: "<PackedStringArray> 01000000 03000000 61000000", offset: 13, path: "$[0]",
			similar: "<PackedStringArray> 01000000 03000000 61620000"},
		{row: rowNUL, name: "empty packed string before others", format: g4, packet: "<PackedStringArray> 02000000 00000000 05000000 61626364 00000000", offset: 12, path: "$[0]",
			similar: "<PackedStringArray> 02000000 01000000 00000000 05000000 61626364 00000000"},
		{row: rowNUL, name: "packed string by the manual", format: m4, packet: "<PackedStringArray> 01000000 02000000 61000000", offset: 13, path: "$[0]",
			similar: "<PackedStringArray> 01000000 02000000 61610000"},

		{row: rowPath, name: "second flag", text: "NodePath flags 0x2", format: g4, packet: "<NodePath> 00000080 00000000 02000000 01000000 61000000", offset: 12, path: "$",
			similar: "<NodePath> 00000080 01000000 01000000 01000000 61000000"},
		{row: rowPath, name: "third flag", format: g2, packet: "<NodePath> 00000080 00000000 05000000", offset: 12, path: "$",
			similar: "<NodePath> 00000080 00000000 03000000 01000000 61ffffff"},
		{row: rowPath, name: "names beyond 32 bits", format: g4, packet: "<NodePath> 02000080 ffffffff 00000000 01000000 61000000", offset: 4, path: "$", similar: "<NodePath> 00000080 01000000 00000000 01000000 61000000"},
		{row: rowPath, name: "one string", format: g2, packet: "<NodePath> 01000000 61000000", offset: 4, path: "$", similar: "<NodePath> 01000080 00000000 00000000 01000000 61000000"},

		{row: rowDeclared, name: "element", text: "float in a container of int", format: g4, packet: "<Array+1> <int> 01000000 <float>" + model.F32(1), offset: 12, path: "$[0]", similar: "<Array+1> <int> 01000000 <int> 01000000"},
		{row: rowDeclared, name: "nil among built-in types", format: g4, packet: "<Array+1> <int> 01000000 <Nil>", offset: 12, path: "$[0]", similar: "<Array+1> <Object> 01000000 <Nil>"},
		{row: rowDeclared, name: "element of a class", format: g4, packet: "<Array+2> 01000000 41000000 01000000 <int> 01000000", offset: 16, path: "$[0]",
			similar: "<Array+2> 01000000 41000000 01000000 <Nil>"},
		{row: rowDeclared, name: "element of a script", format: g4, packet: "<Array+3> 01000000 41000000 01000000 <int> 01000000", offset: 16, path: "$[0]",
			similar: "<Array+3> 01000000 41000000 01000000 <Object+1> 01000000 00000000"},
		{row: rowDeclared, name: "key", format: g4, packet: "<Dictionary+1> <String> 01000000 <int> 01000000 <Nil>", offset: 12, path: "$.key(0)",
			similar: "<Dictionary+5> <String> <int> 01000000 <String> 00000000 <Nil>"}, // the types of values are not checked
		{row: rowDeclared, name: "id 0", format: g4, packet: "<Array+1> <Nil> 00000000", offset: 4, path: "$", similar: "<Array> 00000000"},
		{row: rowDeclared, name: "id 0 of values", format: g4, packet: "<Dictionary+4> <Nil> 00000000", offset: 4, path: "$", similar: "<Dictionary> 00000000"},
		{row: rowDeclared, name: "class without a name", format: g4, packet: "<Array+2> 00000000 00000000", offset: 4, path: "$", similar: "<Array+2> 01000000 41000000 00000000"},
		{row: rowDeclared, name: "script of values without a name", format: g4, packet: "<Dictionary+13> <int> 00000000 00000000", offset: 8, path: "$",
			similar: "<Dictionary+13> <int> 01000000 41000000 00000000"},

		{row: rowInputEvent, name: "key", format: g2, packet: "<InputEvent> 01000000 00000000 18000000 00000000 00000000 00000000", offset: 12, path: "$",
			similar: "<InputEvent> 01000000 00000000 14000000 00000000 00000000"},
		{row: rowInputEvent, name: "none", format: g2, packet: "<InputEvent> 00000000 00000000 10000000 00000000", offset: 12, path: "$", similar: "<InputEvent> 00000000 00000000 0c000000"},
		{row: rowInputEvent, name: "joystick's axis", format: g2, packet: "<InputEvent> 04000000 00000000 18000000 00000000 00000000 00000000", offset: 12, path: "$",
			similar: "<InputEvent> 04000000 00000000 10000000 00000000"},

		{row: rowTrailing, name: "a value", format: g4, packet: "<Nil> <Nil>", offset: 4, path: "$", similar: "<Nil>"},
		{row: rowTrailing, name: "a byte", format: m30, packet: "<int> 07000000 00", offset: 8, path: "$", similar: "<int> 07000000"},
	}
}

// Strict follows the list in the documentation exactly: each row has cases
// that a lenient Decoder accepts and Strict rejects, each with a similar packet
// that Strict accepts.
func TestStrictRows(t *testing.T) {
	items := documentedItems(t)
	cases := make([]int, len(items))
	for _, c := range strictCases() {
		t.Run(c.row+"/"+c.name, func(t *testing.T) {
			item := slices.IndexFunc(items, func(s string) bool { return strings.Contains(s, c.row) })
			require.GreaterOrEqual(t, item, 0, "doc.go mentions no %s", c.row)
			cases[item]++
			want := c.err
			if want == nil {
				want = gdwire.ErrStrict
			}
			lenient := gdwire.DecoderOptions{Format: c.format, AllowObjects: c.objects}
			strict := lenient
			strict.Strict = true
			packet, similar := model.Build(t, c.format, c.packet), model.Build(t, c.format, c.similar)

			for name, read := range strictReadings {
				if err := read(packet, lenient); c.row != rowTrailing || len(packet)%4 == 0 {
					require.NoError(t, err, name)
				}
				err := read(packet, strict)
				require.ErrorIs(t, err, want, name)
				var fault *gdwire.Error
				require.ErrorAs(t, err, &fault, name)
				require.Equal(t, c.offset, fault.Offset, name)
				require.Equal(t, c.path, fault.Path, name)
				if c.text != "" {
					require.EqualError(t, fault.Err, "not canonical: "+c.text, name)
				}
				require.NoError(t, read(similar, strict), name)
			}
			// Bytes after the value are known only if the length of the input is.
			if c.row == rowTrailing {
				strict.OneValue = true
				d := gdwire.NewDecoder(bytes.NewReader(packet), &strict)
				defer d.Release()
				require.NoError(t, d.SkipValue())
				require.Equal(t, io.EOF, d.SkipValue())
			}
		})
	}
	for i, item := range items {
		require.NotZero(t, cases[i], "no case of: %s", item)
	}
}

// strictReadings read all values of an input of known length.
var strictReadings = map[string]func(p []byte, o gdwire.DecoderOptions) error{
	"ReadToken": func(p []byte, o gdwire.DecoderOptions) error {
		_, err := model.Tokens(p, o)
		return err
	},
	"SkipValue, with small buffers": func(p []byte, o gdwire.DecoderOptions) error {
		o.MaxChunk = 16
		d := gdwire.NewDecoder(nil, &o)
		defer d.Release()
		d.ResetN(bytes.NewReader(p), int64(len(p)))
		for {
			if err := d.SkipValue(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	},
}

// documentedItems returns the items of the list after the first sentence about Strict in doc.go.
func documentedItems(t *testing.T) (items []string) {
	list := regexp.MustCompile(`\.Strict [^:]*:\n//((?:\n//   [- ] .*)+)`).FindSubmatch(must(os.ReadFile("../../../doc.go"))(t))
	require.NotNil(t, list)
	text := regexp.MustCompile(`\n//    `).ReplaceAllString(string(list[1]), " ")
	for _, item := range strings.Split(text, "\n//   - ")[1:] {
		items = append(items, strings.Join(strings.Fields(item), " "))
	}
	return items
}
