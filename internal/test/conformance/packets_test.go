package conformance

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/model"
)

// A packet is written by hand from the description of the formats, once for all
// formats that have it: headers are written as <Vector2>, or with flags as
// <int+1>, since ids differ.
type packet struct {
	name    string
	formats string
	packet  string
	tokens  string // with | between them

	objects bool
	double  bool
	// lenient: engines read it but do not write it, so Strict rejects it.
	lenient bool
	// again is its re-encoding, if that differs.
	again string
	// tokensOnly: only tokens keep its encoding, calls write it differently.
	tokensOnly bool
}

const (
	all     = "godot4 godot3 godot2 manual4 manual3 manual30"
	engined = "godot4 godot3 godot2"
	manuals = "manual4 manual3 manual30"
	flagged = "godot4 godot3 manual4" // bit 16 is the width
)

// counted returns 1, 2, …, n.
func counted(n int) (x []float64) {
	for i := range n {
		x = append(x, float64(i+1))
	}
	return x
}

var validPackets = slices.Concat(scalarPackets(), mathPackets(), stringPackets(), pathPackets(), objectPackets(),
	containerPackets(), typedPackets(), packedPackets(), godot2Packets(), lenientPackets())

func scalarPackets() []packet {
	return []packet{
		{name: "nil", formats: all, packet: "<Nil>", tokens: "Nil"},
		{name: "false", formats: all, packet: "<bool> 00000000", tokens: "Bool false"},
		{name: "true", formats: all, packet: "<bool> 01000000", tokens: "Bool true"},
		{name: "int of 32 bits", formats: "godot4 godot3 godot2 manual4 manual30", packet: "<int> feffffff", tokens: "Int32 -2"},
		{name: "int of 64 bits", formats: flagged, packet: "<int+1> 00000000 01000000", tokens: "Int64 4294967296"},
		{name: "int without a flag", formats: "manual3", packet: "<int> 00000080 ffffffff", tokens: "Int64 -2147483648"},
		{name: "small int without a flag", formats: "manual3", packet: "<int> 02000000 00000000", tokens: "Int64 2"},
		{name: "float of 32 bits", formats: all, packet: "<float> 0000c03f", tokens: "Float32 1.5"},
		{name: "float of 64 bits", formats: flagged, packet: "<float+1> 9a999999 9999b93f", tokens: "Float64 0.1"},
		{name: "-0", formats: all, packet: "<float> 00000080", tokens: "Float32 -0"},
		{name: "infinity", formats: all, packet: "<float> 0000807f", tokens: "Float32 +Inf"},
		{name: "NaN", formats: flagged, packet: "<float+1> 01000000 0000f8ff", tokens: "Float64 NaN"},
		{name: "NaN without a flag", formats: "godot2 manual4 manual3 manual30", packet: "<float> 0000c07f", tokens: "Float32 NaN", tokensOnly: true},
		{name: "RID", formats: "godot4", packet: "<RID> 05000000 00000080", tokens: "RID -9223372036854775803"},
		{name: "RID without an id", formats: "godot3 godot2 manual4 manual3 manual30", packet: "<RID>", tokens: "RID 0"},
		{name: "Callable", formats: "godot4", packet: "<Callable>", tokens: "Callable"},
		{name: "Signal", formats: "godot4", packet: "<Signal> 07000000 6368616e 67656400 05000000 00000080", tokens: `Signal "changed" -9223372036854775803`},
		{name: "empty Signal", formats: "godot4", packet: "<Signal> 00000000 00000000 00000000", tokens: `Signal "" 0`},
	}
}

func mathPackets() (all []packet) {
	const (
		four    = "godot4"
		classic = "godot4 godot3 godot2 manual4 manual3 manual30"
	)
	for _, m := range []struct {
		typ     string
		formats string
		n       int
	}{
		{"Vector2", classic, 2}, {"Rect2", classic, 4}, {"Vector3", classic, 3}, {"Transform2D", classic, 6}, {"Vector4", four, 4},
		{"Plane", classic, 4}, {"Quaternion", classic, 4}, {"AABB", classic, 6}, {"Basis", classic, 9}, {"Transform3D", classic, 12},
		{"Projection", four, 16}, {"Color", classic, 4},
	} {
		x := counted(m.n)
		tokens := m.typ + " [" + strings.Join(strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16")[:m.n], " ") + "]"
		all = append(all, packet{name: m.typ, formats: m.formats, packet: "<" + m.typ + ">" + model.F32(x...), tokens: tokens})
		if m.typ != "Color" {
			all = append(all, packet{name: "wide " + m.typ, formats: "godot4", packet: "<" + m.typ + "+1>" + model.F64(x...), tokens: tokens, double: true})
		}
		if m.formats == classic {
			all = append(all, packet{name: "double " + m.typ, formats: manuals, packet: "<" + m.typ + ">" + model.F64(x...), tokens: tokens, double: true})
		}
	}
	return append(all,
		packet{name: "Vector2i", formats: four, packet: "<Vector2i> 01000000 feffffff", tokens: "Vector2i [1 -2]"},
		packet{name: "Rect2i", formats: four, packet: "<Rect2i> 01000000 feffffff 03000000 04000000", tokens: "Rect2i [1 -2 3 4]"},
		packet{name: "Vector3i", formats: four, packet: "<Vector3i> 01000000 feffffff ffffff7f", tokens: "Vector3i [1 -2 2.147483647e+09]"},
		packet{name: "Vector4i", formats: four, packet: "<Vector4i> 01000000 feffffff 03000000 04000000", tokens: "Vector4i [1 -2 3 4]"},
	)
}

func stringPackets() []packet {
	return []packet{
		{name: "String", formats: all, packet: "<String> 05000000 68656c6c 6f000000", tokens: `StringChunk String "hello"`},
		{name: "String without padding", formats: all, packet: "<String> 04000000 f09f9880", tokens: `StringChunk String "😀"`},
		{name: "empty String", formats: all, packet: "<String> 00000000", tokens: `StringChunk String ""`},
		{name: "byte order mark", formats: all, packet: "<String> 03000000 efbbbf00", tokens: `StringChunk String "\ufeff"`},
		{name: "StringName", formats: "godot4", packet: "<StringName> 02000000 6f6b0000", tokens: `StringChunk StringName "ok"`},
		{name: "empty StringName", formats: "godot4", packet: "<StringName> 00000000", tokens: `StringChunk StringName ""`},
	}
}

func pathPackets() []packet {
	const name = `StringChunk NodePath `
	return []packet{
		{name: "empty NodePath", formats: all, packet: "<NodePath> 00000080 00000000 00000000", tokens: "NodePathStart 0:0 | End"},
		{name: "absolute NodePath", formats: all, packet: "<NodePath> 02000080 00000000 01000000  01000000 61000000 02000000 62620000",
			tokens: "NodePathStart 2:0 absolute | " + name + `"a" | ` + name + `"bb" | End`},
		{name: "NodePath with sub-names", formats: all, packet: "<NodePath> 01000080 02000000 00000000  01000000 61000000 01000000 62000000 04000000 63636363",
			tokens: "NodePathStart 1:2 | " + name + `"a" | ` + name + `"b" | ` + name + `"cccc" | End`},
		{name: "NodePath with a property", formats: "godot2", packet: "<NodePath> 01000080 01000000 02000000  01000000 61000000 01000000 62000000 01000000 63000000",
			tokens: "NodePathStart 1:2 | " + name + `"a" | ` + name + `"b" | ` + name + `"c" | End`, tokensOnly: true},
		{name: "NodePath of an absolute property", formats: "godot2", packet: "<NodePath> 00000080 00000000 03000000  01000000 63000000",
			tokens: "NodePathStart 0:1 absolute | " + name + `"c" | End`, tokensOnly: true},
		{name: "NodePath in its old form", formats: manuals, packet: "<NodePath> 06000000 2f612f62 3a630000",
			tokens: "NodePathStart 1:0 | " + name + `"/a/b:c" | End`, tokensOnly: true},
		{name: "old form of Godot 2", formats: "godot2", packet: "<NodePath> 06000000 2f612f62 3a630000",
			tokens: "NodePathStart 1:0 | " + name + `"/a/b:c" | End`, tokensOnly: true, lenient: true},
		{name: "empty old form", formats: manuals, packet: "<NodePath> 00000000", tokens: "NodePathStart 1:0 | " + name + `"" | End`, tokensOnly: true},
	}
}

func objectPackets() []packet {
	const resource = "<Object> 08000000 5265736f 75726365"
	return []packet{
		{name: "object without ids", formats: "godot2 manual3 manual30", packet: "<Object>", tokens: "ObjectID 0"},
		{name: "object's id", formats: flagged, packet: "<Object+1> 05000000 00000080", tokens: "ObjectID -9223372036854775803"},
		{name: "null object", formats: "manual4", packet: "<Object> 00000000", tokens: `ObjectStart "" 0 | End`},
		{name: "serialized object", formats: flagged, packet: resource + " 02000000  01000000 61000000 <Nil>  03000000 62626200 <Array> 01000000 <Nil>",
			tokens: `ObjectStart "Resource" 2 | Property "a" | Nil | Property "bbb" | ArrayStart 1 | Nil | End | End`, objects: true},
		{name: "object without properties", formats: flagged, packet: resource + " 00000000", tokens: `ObjectStart "Resource" 0 | End`, objects: true},
	}
}

func containerPackets() []packet {
	return []packet{
		{name: "empty Array", formats: all, packet: "<Array> 00000000", tokens: "ArrayStart 0 | End"},
		{name: "Array", formats: all, packet: "<Array> 02000000 <Nil> <Array> 01000000 <bool> 01000000", tokens: "ArrayStart 2 | Nil | ArrayStart 1 | Bool true | End | End"},
		{name: "empty Dictionary", formats: all, packet: "<Dictionary> 00000000", tokens: "DictStart 0 | End"},
		{name: "Dictionary", formats: all, packet: "<Dictionary> 02000000 <String> 01000000 61000000 <bool> 01000000  <Dictionary> 00000000 <Nil>",
			tokens: `DictStart 2 | DictKey | StringChunk String "a" | Bool true | DictKey | DictStart 0 | End | Nil | End`},
	}
}

func typedPackets() []packet {
	const (
		res    = " 03000000 52657300"
		script = " 06000000 7265733a 2f2f0000"
	)
	return []packet{
		{name: "Array of int", formats: "godot4", packet: "<Array+1> <int> 01000000 <int> 05000000", tokens: "ArrayStart 1 [int] | Int32 5 | End"},
		{name: "Array of objects", formats: "godot4", packet: "<Array+1> <Object> 02000000 <Nil> <Object+1> 05000000 00000000", tokens: "ArrayStart 2 [Object] | Nil | ObjectID 5 | End"},
		{name: "Array of a class", formats: "godot4", packet: "<Array+2>" + res + " 01000000 <Nil>", tokens: "ArrayStart 1 [Res] | Nil | End"},
		{name: "Array of a script", formats: "godot4", packet: "<Array+3>" + script + " 00000000", tokens: "ArrayStart 0 [res://] | End"},
		{name: "Dictionary of built-ins", formats: "godot4", packet: "<Dictionary+5> <int> <String> 01000000 <int> 05000000 <String> 01000000 61000000",
			tokens: `DictStart 1 [int, String] | DictKey | Int32 5 | StringChunk String "a" | End`},
		{name: "Dictionary with typed keys", formats: "godot4", packet: "<Dictionary+2>" + res + " 01000000 <Nil> <Nil>", tokens: "DictStart 1 [Res, Variant] | DictKey | Nil | Nil | End"},
		{name: "Dictionary with typed values", formats: "godot4", packet: "<Dictionary+8>" + res + " 01000000 <Nil> <Nil>", tokens: "DictStart 1 [Variant, Res] | DictKey | Nil | Nil | End"},
		{name: "Dictionary from script to class", formats: "godot4", packet: "<Dictionary+11>" + script + res + " 00000000", tokens: "DictStart 0 [res://, Res] | End"},
		{name: "Dictionary from class to script", formats: "godot4", packet: "<Dictionary+14>" + res + script + " 00000000", tokens: "DictStart 0 [Res, res://] | End"},
		// Engines do not check the types of values and write them again.
		{name: "Dictionary with a wrong value", formats: "godot4", packet: "<Dictionary+4> <int> 01000000 <Nil> <String> 00000000",
			tokens: `DictStart 1 [Variant, int] | DictKey | Nil | StringChunk String "" | End`},
	}
}

func packedPackets() []packet {
	list := []packet{
		{name: "PackedByteArray", formats: all, packet: "<PackedByteArray> 05000000 01020304 05000000", tokens: "PackedStart PackedByteArray 5 | Chunk PackedByteArray 5: 0102030405 | End"},
		{name: "empty PackedByteArray", formats: all, packet: "<PackedByteArray> 00000000", tokens: "PackedStart PackedByteArray 0 | End"},
		{name: "PackedInt32Array", formats: all, packet: "<PackedInt32Array> 02000000 01000000 feffffff", tokens: "PackedStart PackedInt32Array 2 | Chunk PackedInt32Array 2: 01000000feffffff | End"},
		{name: "PackedInt64Array", formats: "godot4 manual4", packet: "<PackedInt64Array> 01000000 feffffff ffffffff", tokens: "PackedStart PackedInt64Array 1 | Chunk PackedInt64Array 1: feffffffffffffff | End"},
		{name: "PackedFloat32Array", formats: all, packet: "<PackedFloat32Array> 01000000" + model.F32(1.5), tokens: "PackedStart PackedFloat32Array 1 | Chunk PackedFloat32Array 1: 0000c03f | End"},
		{name: "PackedFloat64Array", formats: "godot4 manual4", packet: "<PackedFloat64Array> 01000000" + model.F64(0.1), tokens: "PackedStart PackedFloat64Array 1 | Chunk PackedFloat64Array 1: 9a9999999999b93f | End"},
		{name: "PackedStringArray", formats: engined, packet: "<PackedStringArray> 03000000  02000000 61000000  01000000 00000000  05000000 62626262 00000000",
			tokens: `PackedStart PackedStringArray 3 | StringChunk PackedStringArray "a" | StringChunk PackedStringArray "" | StringChunk PackedStringArray "bbbb" | End`},
		{name: "plain PackedStringArray", formats: manuals, packet: "<PackedStringArray> 03000000  01000000 61000000  00000000  04000000 62626262",
			tokens: `PackedStart PackedStringArray 3 | StringChunk PackedStringArray "a" | StringChunk PackedStringArray "" | StringChunk PackedStringArray "bbbb" | End`},
		{name: "empty PackedStringArray", formats: all, packet: "<PackedStringArray> 00000000", tokens: "PackedStart PackedStringArray 0 | End"},
	}
	for _, m := range []struct {
		typ     string
		formats string
		n       int
	}{
		{"PackedVector2Array", all, 2}, {"PackedVector3Array", all, 3}, {"PackedColorArray", all, 4}, {"PackedVector4Array", "godot4", 4},
	} {
		head := "PackedStart " + m.typ + " 2 | "
		chunk := "Chunk " + m.typ + " 2:"
		narrow, wide := model.F32(counted(2*m.n)...), model.F64(counted(2*m.n)...)
		// With the smallest read buffer each chunk contains one element.
		list = append(list, packet{name: m.typ, formats: m.formats, packet: "<" + m.typ + "> 02000000" + narrow, tokens: head + chunk + narrow + " | End"})
		if m.typ != "PackedColorArray" {
			list = append(list, packet{name: "wide " + m.typ, formats: "godot4", packet: "<" + m.typ + "+1> 02000000" + wide, tokens: head + chunk + wide + " | End", double: true})
		}
		if m.formats == all {
			list = append(list, packet{name: "double " + m.typ, formats: manuals, packet: "<" + m.typ + "> 02000000" + wide, tokens: head + chunk + wide + " | End", double: true})
		}
	}
	return list
}

func godot2Packets() []packet {
	const g2 = "godot2"
	return []packet{
		{name: "shared Array", formats: g2, packet: "<Array> 01000080 <Nil>", tokens: "ArrayStart 1 shared | Nil | End", tokensOnly: true},
		{name: "shared Dictionary", formats: g2, packet: "<Dictionary> 00000080", tokens: "DictStart 0 shared | End", tokensOnly: true},
		{name: "Image", formats: g2, packet: "<Image> 03000000 01000000 02000000 04000000 05000000 01020304 05000000",
			tokens: "ImageStart format 3, mipmaps 1, 2x4, 5 bytes | Chunk Image 5: 0102030405 | End"},
		{name: "empty Image", formats: g2, packet: "<Image> 00000000 00000000 00000000 00000000 00000000", tokens: "ImageStart format 0, mipmaps 0, 0x0, 0 bytes | End"},
		{name: "no event", formats: g2, packet: "<InputEvent> 00000000 01000000 0c000000", tokens: "InputEvent type 0, device 1: "},
		{name: "key", formats: g2, packet: "<InputEvent> 01000000 00000000 14000000 00000012 41000000", tokens: "InputEvent type 1, device 0: 0000001241000000"},
		{name: "mouse motion", formats: g2, packet: "<InputEvent> 02000000 00000000 0c000000", tokens: "InputEvent type 2, device 0: "},
		{name: "mouse button", formats: g2, packet: "<InputEvent> 03000000 00000000 10000000 02000000", tokens: "InputEvent type 3, device 0: 02000000"},
		{name: "joystick motion", formats: g2, packet: "<InputEvent> 04000000 02000000 14000000 01000000 0000003f", tokens: "InputEvent type 4, device 2: 010000000000003f"},
		{name: "old joystick motion", formats: g2, packet: "<InputEvent> 04000000 02000000 10000000 01000000", tokens: "InputEvent type 4, device 2: 01000000"},
		{name: "joystick button", formats: g2, packet: "<InputEvent> 05000000 02000000 10000000 03000000", tokens: "InputEvent type 5, device 2: 03000000"},
		{name: "screen touch", formats: g2, packet: "<InputEvent> 06000000 00000000 10000000 01000000", tokens: "InputEvent type 6, device 0: 01000000"},
		{name: "screen drag", formats: g2, packet: "<InputEvent> 07000000 00000000 0c000000", tokens: "InputEvent type 7, device 0: "},
		{name: "action", formats: g2, packet: "<InputEvent> 08000000 00000000 0c000000", tokens: "InputEvent type 8, device 0: "},
		{name: "dirty padding", formats: g2, packet: "<String> 01000000 61ffffff", tokens: `StringChunk String "a"`, again: "<String> 01000000 61000000"},
		{name: "String that ends in the packet", formats: g2, packet: "<String> 01000000 61", tokens: `StringChunk String "a"`, lenient: true, again: "<String> 01000000 61000000"},
		{name: "bytes that end in the packet", formats: g2, packet: "<PackedByteArray> 01000000 0100", tokens: "PackedStart PackedByteArray 1 | Chunk PackedByteArray 1: 01 | End",
			lenient: true, again: "<PackedByteArray> 01000000 01000000"},
		{name: "Image that ends in the packet", formats: g2, packet: "<Image> 03000000 00000000 01000000 01000000 01000000 07", lenient: true,
			tokens: "ImageStart format 3, mipmaps 0, 1x1, 1 bytes | Chunk Image 1: 07 | End",
			again:  "<Image> 03000000 00000000 01000000 01000000 01000000 07000000"},
		{name: "surplus of an event", formats: g2, packet: "<InputEvent> 08000000 00000000 10000000 ffffffff", tokens: "InputEvent type 8, device 0: ", lenient: true,
			again: "<InputEvent> 08000000 00000000 0c000000"},
	}
}

// Packets that engines read but never write.
func lenientPackets() []packet {
	list := []packet{
		{name: "bits 8 to 15", formats: "godot4 godot3", packet: "<int+0.255> 05000000", tokens: "Int32 5", again: "<int> 05000000"},
		{name: "flag without a meaning", formats: flagged, packet: "<int+2> 05000000", tokens: "Int32 5", again: "<int> 05000000"},
		{name: "nil with flags", formats: flagged, packet: "<Nil+65535>", tokens: "Nil", again: "<Nil>"},
		{name: "String with flags", formats: flagged, packet: "<String+1> 00000000", tokens: `StringChunk String ""`, again: "<String> 00000000"},
		{name: "math with bit 16", formats: "godot3 manual4", packet: "<Vector2+1>" + model.F32(1, 2), tokens: "Vector2 [1 2]", again: "<Vector2>" + model.F32(1, 2)},
		{name: "integers with bit 16", formats: "godot4", packet: "<Vector2i+1> 01000000 02000000", tokens: "Vector2i [1 2]", again: "<Vector2i> 01000000 02000000"},
		{name: "Color with bit 16", formats: "godot4", packet: "<Color+1>" + model.F32(1, 2, 3, 4), tokens: "Color [1 2 3 4]", again: "<Color>" + model.F32(1, 2, 3, 4)},
		{name: "packed colours with bit 16", formats: "godot4", packet: "<PackedColorArray+1> 00000000", tokens: "PackedStart PackedColorArray 0 | End", again: "<PackedColorArray> 00000000"},
		{name: "a packed color with bit 16", formats: "godot4", packet: "<PackedColorArray+1> 02000000" + model.F32(1, 2, 3, 4, 5, 6, 7, 8),
			tokens: "PackedStart PackedColorArray 2 | Chunk PackedColorArray 2:" + model.F32(1, 2, 3, 4, 5, 6, 7, 8) + " | End", again: "<PackedColorArray> 02000000" + model.F32(1, 2, 3, 4, 5, 6, 7, 8)},
		{name: "a packed vector with bit 16", formats: "godot3", packet: "<PackedVector2Array+1> 01000000" + model.F32(1, 2),
			tokens: "PackedStart PackedVector2Array 1 | Chunk PackedVector2Array 1:" + model.F32(1, 2) + " | End", again: "<PackedVector2Array> 01000000" + model.F32(1, 2)},
		{name: "typed array of Godot 3", formats: "godot3", packet: "<Array+1> 00000000", tokens: "ArrayStart 0 | End", again: "<Array> 00000000"},
		{name: "bool of 2", formats: all, packet: "<bool> 02000000", tokens: "Bool true", again: "<bool> 01000000"},
		{name: "bool in its last byte", formats: all, packet: "<bool> 00000080", tokens: "Bool true", again: "<bool> 01000000"},
		{name: "small int in 64 bits", formats: "godot4 manual4", packet: "<int+1> 02000000 00000000", tokens: "Int64 2", tokensOnly: true},
		{name: "small float in 64 bits", formats: flagged, packet: "<float+1>" + model.F64(1.5), tokens: "Float64 1.5", tokensOnly: true},
		{name: "NaN in 32 bits", formats: "godot4 godot3", packet: "<float> 0100807f", tokens: "Float32 NaN", tokensOnly: true},
		{name: "shared bit of an Array", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<Array> 00000080", tokens: "ArrayStart 0 | End", again: "<Array> 00000000"},
		{name: "shared bit of a Dictionary", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<Dictionary> 00000080", tokens: "DictStart 0 | End", again: "<Dictionary> 00000000"},
		{name: "NodePath with bit 1", formats: "godot4 godot3", packet: "<NodePath> 00000080 00000000 02000000 01000000 61000000",
			tokens: `NodePathStart 0:1 | StringChunk NodePath "a" | End`, again: "<NodePath> 00000080 01000000 00000000 01000000 61000000"},
		{name: "NodePath with unknown flags", formats: "godot4 godot3 godot2", packet: "<NodePath> 00000080 00000000 fdffffff",
			tokens: `NodePathStart 0:0 absolute | End`, again: "<NodePath> 00000080 00000000 01000000"},
		{name: "NodePath with a manual's unknown flags", formats: manuals, packet: "<NodePath> 00000080 00000000 ffffffff",
			tokens: `NodePathStart 0:0 absolute | End`, again: "<NodePath> 00000080 00000000 01000000"},
		{name: "NodePath whose counts overflow", formats: "godot4 godot3 godot2", packet: "<NodePath> 01000080 ffffffff 00000000",
			tokens: `NodePathStart 0:0 | End`, again: "<NodePath> 00000080 00000000 00000000"},
		{name: "NodePath whose counts overflow to one", formats: "godot4 godot3 godot2", packet: "<NodePath> 02000080 ffffffff 01000000 01000000 61000000",
			tokens: `NodePathStart 1:0 absolute | StringChunk NodePath "a" | End`, again: "<NodePath> 01000080 00000000 01000000 01000000 61000000"},
		{name: "NodePath whose property overflows", formats: "godot4 godot3 godot2", packet: "<NodePath> 00000080 ffffffff 02000000",
			tokens: `NodePathStart 0:0 | End`, again: "<NodePath> 00000080 00000000 00000000"},
		{name: "null's id", formats: flagged, packet: "<Object+1> 00000000 00000000", tokens: "ObjectID 0", tokensOnly: true},
		{name: "object without a class", formats: "godot4 godot3", packet: "<Object> 00000000", tokens: `ObjectStart "" 0 | End`, objects: true, tokensOnly: true},
		{name: "negative properties", formats: "godot4 godot3", packet: "<Object> 01000000 41000000 ffffffff", tokens: `ObjectStart "A" 0 | End`, objects: true,
			again: "<Object> 01000000 41000000 00000000"},
		{name: "objects in both forms", formats: flagged, packet: "<Array> 02000000 <Object+1> 05000000 00000000 <Object> 01000000 41000000 00000000",
			tokens: `ArrayStart 2 | ObjectID 5 | ObjectStart "A" 0 | End | End`, objects: true, tokensOnly: true},
		{name: "both forms the other way", formats: flagged, packet: "<Array> 02000000 <Object> 01000000 41000000 00000000 <Object+1> 05000000 00000000",
			tokens: `ArrayStart 2 | ObjectStart "A" 0 | End | ObjectID 5 | End`, objects: true, tokensOnly: true},
		{name: "math in both widths", formats: "godot4", packet: "<Array> 02000000 <Vector2>" + model.F32(1, 2) + "<Vector2+1>" + model.F64(1, 2),
			tokens: `ArrayStart 2 | Vector2 [1 2] | Vector2 [1 2] | End`, tokensOnly: true},
		{name: "packed math in both widths", formats: "godot4", packet: "<Array> 02000000 <Vector2+1>" + model.F64(1, 2) + "<PackedVector2Array> 00000000",
			tokens: `ArrayStart 2 | Vector2 [1 2] | PackedStart PackedVector2Array 0 | End | End`, tokensOnly: true},
		{name: "elements of type 0", formats: "godot4", packet: "<Array+1> 00000000 01000000 <Nil>", tokens: "ArrayStart 1 | Nil | End", again: "<Array> 01000000 <Nil>"},
		{name: "keys of type 0", formats: "godot4", packet: "<Dictionary+5> 00000000 <int> 00000000", tokens: "DictStart 0 [Variant, int] | End", again: "<Dictionary+4> <int> 00000000"},
		{name: "values of type 0", formats: "godot4", packet: "<Dictionary+5> <int> 00000000 00000000", tokens: "DictStart 0 [int, Variant] | End", again: "<Dictionary+1> <int> 00000000"},
		{name: "elements of a class without a name", formats: "godot4", packet: "<Array+2> 00000000 00000000", tokens: "ArrayStart 0 [Object] | End", tokensOnly: true},
		{name: "negative count of strings", formats: engined, packet: "<PackedStringArray> ffffffff", tokens: "PackedStart PackedStringArray 0 | End", again: "<PackedStringArray> 00000000"},
		{name: "packed strings without NUL", formats: engined, packet: "<PackedStringArray> 02000000 01000000 61000000 00000000",
			tokens: `PackedStart PackedStringArray 2 | StringChunk PackedStringArray "a" | StringChunk PackedStringArray "" | End`,
			again:  "<PackedStringArray> 02000000 02000000 61000000 01000000 00000000"},
		{name: "packed string with two NULs", formats: engined, packet: "<PackedStringArray> 01000000 03000000 61000000",
			tokens: `PackedStart PackedStringArray 1 | StringChunk PackedStringArray "a\x00" | End`, tokensOnly: true},
		{name: "NUL in a String", formats: all, packet: "<String> 03000000 61006200", tokens: `StringChunk String "a\x00b"`, tokensOnly: true},
		{name: "NUL in a Signal", formats: "godot4", packet: "<Signal> 01000000 00000000 00000000 00000000", tokens: `Signal "\x00" 0`, tokensOnly: true},
		{name: "NUL in a name", formats: all, packet: "<NodePath> 01000080 00000000 00000000 03000000 61006200",
			tokens: `NodePathStart 1:0 | StringChunk NodePath "a\x00b" | End`, tokensOnly: true},
		{name: "dirty padding of a Signal", formats: "godot4", packet: "<Signal> 01000000 610000ff 00000000 00000000", tokens: `Signal "a" 0`,
			again: "<Signal> 01000000 61000000 00000000 00000000"},
		{name: "dirty padding of a String", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<String> 01000000 61000001", tokens: `StringChunk String "a"`, again: "<String> 01000000 61000000"},
		{name: "dirty padding of 2 bytes of text", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<String> 02000000 61620001", tokens: `StringChunk String "ab"`, again: "<String> 02000000 61620000"},
		{name: "dirty padding of 3 bytes of text", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<String> 03000000 61626301", tokens: `StringChunk String "abc"`, again: "<String> 03000000 61626300"},
		{name: "dirty padding of 5 bytes of text", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<String> 05000000 6162636465000001", tokens: `StringChunk String "abcde"`, again: "<String> 05000000 6162636465000000"},
		{name: "dirty padding of 6 bytes of text", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<String> 06000000 6162636465660001", tokens: `StringChunk String "abcdef"`, again: "<String> 06000000 6162636465660000"},
		{name: "dirty padding of 7 bytes of text", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<String> 07000000 6162636465666701", tokens: `StringChunk String "abcdefg"`, again: "<String> 07000000 6162636465666700"},
		{name: "dirty padding in an array", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<Array> 07000000 <String> 01000000 61000001 <String> 02000000 61620001 <String> 03000000 61626301 <String> 05000000 6162636465000001 <String> 06000000 6162636465660001 <String> 07000000 6162636465666701 <String> 04000000 61626364",
			tokens: `ArrayStart 7 | StringChunk String "a" | StringChunk String "ab" | StringChunk String "abc" | StringChunk String "abcde" | StringChunk String "abcdef" | StringChunk String "abcdefg" | StringChunk String "abcd" | End`,
			again:  "<Array> 07000000 <String> 01000000 61000000 <String> 02000000 61620000 <String> 03000000 61626300 <String> 05000000 6162636465000000 <String> 06000000 6162636465660000 <String> 07000000 6162636465666700 <String> 04000000 61626364"},
		{name: "dirty padding of bytes", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<PackedByteArray> 01000000 01ff0000",
			tokens: "PackedStart PackedByteArray 1 | Chunk PackedByteArray 1: 01 | End", again: "<PackedByteArray> 01000000 01000000"},
		{name: "dirty padding of a packed string", formats: "godot4 godot3", packet: "<PackedStringArray> 01000000 02000000 6100ff00",
			tokens: `PackedStart PackedStringArray 1 | StringChunk PackedStringArray "a" | End`, again: "<PackedStringArray> 01000000 02000000 61000000"},
		{name: "dirty padding of a class", formats: flagged, packet: "<Object> 01000000 41000001 00000000", tokens: `ObjectStart "A" 0 | End`, objects: true,
			again: "<Object> 01000000 41000000 00000000"},
		{name: "dirty padding of a property", formats: flagged, packet: "<Object> 01000000 41000000 01000000 01000000 61010000 <Nil>",
			tokens: `ObjectStart "A" 1 | Property "a" | Nil | End`, objects: true, again: "<Object> 01000000 41000000 01000000 01000000 61000000 <Nil>"},
		{name: "dirty padding of a manual's name", formats: manuals, packet: "<NodePath> 01000080 00000000 00000000 01000000 61ff0000",
			tokens: `NodePathStart 1:0 | StringChunk NodePath "a" | End`, again: "<NodePath> 01000080 00000000 00000000 01000000 61000000"},
		{name: "bytes without padding", formats: "godot4 godot3", packet: "<PackedByteArray> 01000000 41", tokens: "PackedStart PackedByteArray 1 | Chunk PackedByteArray 1: 41 | End",
			again: "<PackedByteArray> 01000000 41000000"},
		{name: "last bytes without padding", formats: "godot4 godot3", packet: "<Array> 01000000 <Dictionary> 01000000 <Nil> <PackedByteArray> 01000000 4100",
			tokens: "ArrayStart 1 | DictStart 1 | DictKey | Nil | PackedStart PackedByteArray 1 | Chunk PackedByteArray 1: 41 | End | End | End",
			again:  "<Array> 01000000 <Dictionary> 01000000 <Nil> <PackedByteArray> 01000000 41000000"},
	}
	for i := range list {
		list[i].lenient = true
	}
	return append(list,
		// Engines leave old memory content as padding of names.
		packet{name: "dirty padding of a name", formats: engined, packet: "<NodePath> 01000080 00000000 00000000 01000000 61ff0000",
			tokens: `NodePathStart 1:0 | StringChunk NodePath "a" | End`, again: "<NodePath> 01000080 00000000 00000000 01000000 61000000"},
		// Finding equal keys would need memory.
		packet{name: "equal keys", formats: all, packet: "<Dictionary> 02000000 <Nil> <Nil> <Nil> <Nil>", tokens: "DictStart 2 | DictKey | Nil | Nil | DictKey | Nil | Nil | End"},
	)
}

func (p *packet) options(f gdwire.Format) gdwire.DecoderOptions {
	return gdwire.DecoderOptions{Format: f, AllowObjects: p.objects, DoubleReals: p.double}
}

// forPackets runs a test for each packet in each of its formats.
func forPackets(t *testing.T, test func(t *testing.T, f gdwire.Format, p *packet, b, again []byte)) {
	for i := range validPackets {
		p := &validPackets[i]
		for _, name := range strings.Fields(p.formats) {
			t.Run(p.name+"/"+name, func(t *testing.T) {
				f := formatNamed(t, name)
				b := model.Build(t, f, p.packet)
				again := b
				if p.again != "" {
					again = model.Build(t, f, p.again)
				}
				test(t, f, p, b, again)
			})
		}
	}
}

func (p *packet) lines() (lines []string) {
	for _, line := range strings.Split(p.tokens, "|") {
		line = strings.TrimRight(strings.TrimLeft(line, " "), " ")
		if strings.HasPrefix(line, "InputEvent") && strings.HasSuffix(line, ":") {
			line += " "
		}
		head, data, ok := strings.Cut(line, ":")
		if ok && strings.HasPrefix(line, "Chunk") {
			line = head + ": " + strings.TrimSpace(data)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestFormatDecodes(t *testing.T) {
	forPackets(t, func(t *testing.T, f gdwire.Format, p *packet, b, _ []byte) {
		require.Equal(t, p.lines(), must(model.Tokens(b, p.options(f)))(t))
	})
}

func TestFormatEncodes(t *testing.T) {
	forPackets(t, func(t *testing.T, f gdwire.Format, p *packet, b, again []byte) {
		from, to := p.options(f), gdwire.EncoderOptions{Format: f, DoubleReals: p.double}
		to.AllowInvalidUTF8 = strings.Contains(p.name, "NUL") // a program that passes values on
		want := hex.EncodeToString(again)
		for _, window := range []int{0, 16} {
			from.MaxChunk = window
			got, err := model.Rewrite(b, from, to)
			require.NoError(t, err)
			require.Equal(t, want, hex.EncodeToString(got))
			got, err = model.Copy(b, from, to)
			require.NoError(t, err)
			require.Equal(t, want, hex.EncodeToString(got))
		}
		if p.tokensOnly {
			return
		}
		v, _ := must2(model.Decode(b, from))(t)
		require.Equal(t, want, hex.EncodeToString(must(model.Encode(&v, to))(t)))
	})
}

func TestFormatStrict(t *testing.T) {
	forPackets(t, func(t *testing.T, f gdwire.Format, p *packet, b, again []byte) {
		o := p.options(f)
		o.Strict = true
		_, err := model.Tokens(b, o)
		switch {
		case !p.lenient:
			require.NoError(t, err)
			return
		case len(b)%4 != 0: // it lacks padding
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		default:
			require.ErrorIs(t, err, gdwire.ErrStrict)
		}
		if p.again != "" {
			require.NoError(t, errOf(model.Tokens(again, o)), "its re-encoding is canonical")
		}
	})
}

// The table contains every type of every format, and the formats have the types of their
// description.
func TestFormatsAreCovered(t *testing.T) {
	require.NoError(t, model.Complete())
	covered := map[string]bool{}
	forPackets(t, func(t *testing.T, f gdwire.Format, _ *packet, b, _ []byte) {
		covered[f.String()+" "+model.TypeNames[f.String()][b[0]]] = true
	})
	names := []string{}
	for _, f := range gdwire.Formats() {
		names = append(names, f.String())
		require.Equal(t, f, formatNamed(t, f.String()))
		for _, typ := range model.TypeNames[f.String()] {
			assert.True(t, covered[f.String()+" "+typ], "%v has no packet with %v: add one to validPackets", f, typ)
		}
		assert.False(t, f.Has(0))
	}
	assert.ElementsMatch(t, strings.Fields(all), names)
	for _, name := range []string{"", "godot5", "godot-3", "Godot4"} {
		f := gdwire.Godot3
		assert.EqualError(t, f.UnmarshalText([]byte(name)), fmt.Sprintf("gdwire: unknown format %q, not one of godot4, godot3, godot2, manual4, manual3, manual30", name))
		assert.Equal(t, gdwire.Godot3, f)
	}
}

func formatNamed(t testing.TB, name string) gdwire.Format {
	t.Helper()
	var f gdwire.Format
	require.NoError(t, f.UnmarshalText([]byte(name)))
	return f
}

func TestFormatReference(t *testing.T) {
	forPackets(t, func(t *testing.T, f gdwire.Format, p *packet, b, _ []byte) {
		require.True(t, requireReference(t, b, p.options(f)))
	})
}

// Bytes after a value do not change it, except with Strict in a packet of one
// value.
func TestFormatTrailing(t *testing.T) {
	forPackets(t, func(t *testing.T, f gdwire.Format, p *packet, b, _ []byte) {
		if len(b)%4 != 0 {
			t.Skip("its padding is missing because nothing follows")
		}
		o := p.options(f)
		v, size := must2(model.Decode(append(bytes.Clone(b), 1), o))(t)
		require.EqualValues(t, len(b), size)
		alone, _ := must2(model.Decode(b, o))(t)
		require.Equal(t, alone, v)
		if p.lenient {
			return
		}
		o.Strict = true
		lines, err := model.Tokens(append(bytes.Clone(b), b...), o)
		require.ErrorIs(t, err, gdwire.ErrStrict)
		require.Equal(t, p.lines(), lines)
	})
}

// Invalid packets with the location of the fault.
var invalidPackets = []struct {
	name    string
	formats string
	packet  string
	err     error
	offset  int64
	path    string
	objects bool
	other   bool // Strict reports another error first
}{
	{name: "type after the last", formats: all, packet: "<none>", err: gdwire.ErrType, path: "$"},
	{name: "type after the last with flags", formats: "godot4", packet: "<none+1>", err: gdwire.ErrType, path: "$"},
	{name: "bits 8 to 15", formats: "godot2 manual4 manual3 manual30", packet: "02010000 00000000", err: gdwire.ErrType, path: "$"},
	{name: "flags", formats: "godot2 manual3 manual30", packet: "<int+1> 00000000 00000000", err: gdwire.ErrFlags, path: "$"},
	{name: "flags of no type", formats: "godot2 manual3 manual30", packet: "63000100 00000000", err: gdwire.ErrType, path: "$"},
	{name: "header that ends early", formats: all, packet: "0000", err: io.ErrUnexpectedEOF, offset: 2, path: "$"},
	{name: "bool that ends early", formats: all, packet: "<bool> 010000", err: io.ErrUnexpectedEOF, offset: 7, path: "$"},
	{name: "int that ends early", formats: flagged, packet: "<int+1> 01000000", err: io.ErrUnexpectedEOF, offset: 8, path: "$"},
	{name: "math that ends early", formats: all, packet: "<Vector2>" + model.F32(1), err: io.ErrUnexpectedEOF, offset: 8, path: "$"},
	{name: "String without a length", formats: all, packet: "<String>", err: io.ErrUnexpectedEOF, offset: 4, path: "$"},
	{name: "String longer than the rest", formats: all, packet: "<String> 05000000 61616161", err: io.ErrUnexpectedEOF, offset: 4, path: "$"},
	{name: "negative length", formats: all, packet: "<String> ffffffff", err: gdwire.ErrLimit, offset: 4, path: "$"},
	{name: "String without padding", formats: "godot4 godot3 manual4 manual3 manual30", packet: "<String> 01000000 61", err: io.ErrUnexpectedEOF, offset: 9, path: "$"},
	{name: "packed string without padding", formats: all, packet: "<PackedStringArray> 01000000 02000000 6161", err: io.ErrUnexpectedEOF, offset: 14, path: "$[0]"},
	{name: "name without padding", formats: all, packet: "<NodePath> 01000080 00000000 00000000 01000000 61", err: io.ErrUnexpectedEOF, offset: 21, path: "$[0]"},
	{name: "StringName without padding", formats: "godot4", packet: "<StringName> 01000000 61", err: io.ErrUnexpectedEOF, offset: 9, path: "$"},
	{name: "Signal without padding", formats: "godot4", packet: "<Signal> 01000000 61", err: io.ErrUnexpectedEOF, offset: 9, path: "$"},
	{name: "bytes without padding", formats: manuals, packet: "<PackedByteArray> 01000000 01", err: io.ErrUnexpectedEOF, offset: 9, path: "$"},
	{name: "stray byte", formats: all, packet: "<String> 02000000 61800000", err: gdwire.ErrUTF8, offset: 9, path: "$"},
	{name: "overlong form", formats: all, packet: "<String> 02000000 c0800000", err: gdwire.ErrUTF8, offset: 8, path: "$"},
	{name: "overlong form of 3 bytes", formats: all, packet: "<String> 03000000 e0808000", err: gdwire.ErrUTF8, offset: 8, path: "$"},
	{name: "surrogate", formats: all, packet: "<String> 03000000 eda08000", err: gdwire.ErrUTF8, offset: 8, path: "$"},
	{name: "above U+10FFFF", formats: all, packet: "<String> 04000000 f4908080", err: gdwire.ErrUTF8, offset: 8, path: "$"},
	{name: "5 bytes", formats: all, packet: "<String> 05000000 f8888080 80000000", err: gdwire.ErrUTF8, offset: 8, path: "$"},
	{name: "cut rune", formats: all, packet: "<String> 03000000 f09f9800", err: gdwire.ErrUTF8, offset: 8, path: "$"},
	{name: "text after a NUL", formats: all, packet: "<String> 02000000 00800000", err: gdwire.ErrUTF8, offset: 9, path: "$", other: true},
	{name: "name", formats: all, packet: "<NodePath> 01000080 00000000 00000000 01000000 80000000", err: gdwire.ErrUTF8, offset: 20, path: "$[0]"},
	{name: "packed string", formats: all, packet: "<PackedStringArray> 01000000 03000000 61800000", err: gdwire.ErrUTF8, offset: 13, path: "$[0]"},
	{name: "Signal", formats: "godot4", packet: "<Signal> 01000000 80000000 00000000 00000000", err: gdwire.ErrUTF8, offset: 8, path: "$"},
	{name: "class", formats: flagged, packet: "<Object> 01000000 80000000 00000000", err: gdwire.ErrUTF8, offset: 8, path: "$", objects: true},
	{name: "property", formats: flagged, packet: "<Object> 01000000 41000000 01000000 01000000 80000000 <Nil>", err: gdwire.ErrUTF8, offset: 20, path: "$.key(0)", objects: true},
	{name: "declared class", formats: "godot4", packet: "<Array+2> 01000000 80000000 00000000", err: gdwire.ErrUTF8, offset: 8, path: "$"},
	{name: "old-form NodePath", formats: "godot4 godot3", packet: "<NodePath> 01000000 61000000", err: gdwire.ErrType, offset: 4, path: "$"},
	{name: "NodePath of more names than bytes", formats: all, packet: "<NodePath> 02000080 00000000 00000000 00000000", err: io.ErrUnexpectedEOF, offset: 4, path: "$"},
	{name: "NodePath of many names", formats: all, packet: "<NodePath> ffffffff 00000000 00000000", err: gdwire.ErrLimit, offset: 4, path: "$"},
	{name: "NodePath of many sub-names", formats: manuals, packet: "<NodePath> 01000080 ffffffff 00000000", err: gdwire.ErrLimit, offset: 4, path: "$"},
	{name: "serialized object", formats: flagged, packet: "<Array> 01000000 <Object> 01000000 41000000 00000000", err: gdwire.ErrObject, offset: 8, path: "$[0]"},
	{name: "serialized null", formats: "godot4 godot3", packet: "<Object> 00000000", err: gdwire.ErrObject, path: "$"},
	{name: "object that ends early", formats: flagged, packet: "<Object> 01000000 41000000", err: io.ErrUnexpectedEOF, offset: 12, path: "$", objects: true},
	{name: "object of many properties", formats: flagged, packet: "<Object> 01000000 41000000 ffffff7f", err: gdwire.ErrLimit, offset: 12, path: "$", objects: true},
	{name: "object of more properties than bytes", formats: flagged, packet: "<Object> 01000000 41000000 02000000 00000000 <Nil>", err: io.ErrUnexpectedEOF, offset: 12, path: "$", objects: true},
	{name: "Array of more than the rest", formats: all, packet: "<Array> 02000000 <Nil>", err: io.ErrUnexpectedEOF, offset: 4, path: "$"},
	{name: "Array of many", formats: all, packet: "<Array> ffffff7f <Nil>", err: gdwire.ErrLimit, offset: 4, path: "$"},
	{name: "Array whose last element ends early", formats: all, packet: "<Array> 02000000 <Nil> <bool>", err: io.ErrUnexpectedEOF, offset: 16, path: "$[1]"},
	{name: "Dictionary of more than the rest", formats: all, packet: "<Dictionary> 01000000 <Nil>", err: io.ErrUnexpectedEOF, offset: 4, path: "$"},
	{name: "Dictionary of many", formats: all, packet: "<Dictionary> ffffff7f", err: gdwire.ErrLimit, offset: 4, path: "$"},
	{name: "key that ends early", formats: all, packet: "<Dictionary> 01000000 <Vector2>" + model.F32(1), err: io.ErrUnexpectedEOF, offset: 16, path: "$.key(0)"},
	{name: "value that ends early", formats: all, packet: "<Dictionary> 01000000 <String> 01000000 61000000 <bool>", err: io.ErrUnexpectedEOF, offset: 24, path: `$.a`},
	{name: "negative count of bytes", formats: all, packet: "<PackedByteArray> ffffffff", err: gdwire.ErrLimit, offset: 4, path: "$"},
	{name: "negative count of ints", formats: all, packet: "<PackedInt32Array> ffffffff", err: gdwire.ErrLimit, offset: 4, path: "$"},
	{name: "negative count of strings", formats: manuals, packet: "<PackedStringArray> ffffffff", err: gdwire.ErrLimit, offset: 4, path: "$"},
	{name: "more elements than bytes", formats: all, packet: "<PackedVector3Array> 01000000" + model.F32(1, 2), err: io.ErrUnexpectedEOF, offset: 4, path: "$"},
	{name: "more strings than bytes", formats: all, packet: "<PackedStringArray> 02000000 00000000", err: io.ErrUnexpectedEOF, offset: 4, path: "$"},
	{name: "declared type after the last", formats: "godot4", packet: "<Array+1> <none> 00000000", err: gdwire.ErrType, offset: 4, path: "$"},
	{name: "negative declared type", formats: "godot4", packet: "<Array+1> ffffffff 00000000", err: gdwire.ErrType, offset: 4, path: "$"},
	{name: "declared type of values", formats: "godot4", packet: "<Dictionary+5> <int> 00010000 00000000", err: gdwire.ErrType, offset: 8, path: "$"},
	{name: "declared type that ends early", formats: "godot4", packet: "<Array+1> 0000", err: io.ErrUnexpectedEOF, offset: 6, path: "$"},
	{name: "declared class of 1 MiB", formats: "godot4", packet: "<Array+2> 00001000 00000000", err: gdwire.ErrLimit, offset: 4, path: "$"},
	{name: "Image that ends early", formats: "godot2", packet: "<Image> 00000000 00000000 01000000 01000000 05000000 01020304", err: io.ErrUnexpectedEOF, offset: 20, path: "$"},
	{name: "event shorter than its head", formats: "godot2", packet: "<InputEvent> 00000000 00000000 0b000000", err: gdwire.ErrRange, offset: 12, path: "$"},
	{name: "event shorter than its data", formats: "godot2", packet: "<InputEvent> 01000000 00000000 10000000 00000000", err: gdwire.ErrRange, offset: 12, path: "$"},
	{name: "event longer than the rest", formats: "godot2", packet: "<InputEvent> 01000000 00000000 14000000 00000000", err: io.ErrUnexpectedEOF, offset: 12, path: "$"},
	{name: "event of many bytes", formats: "godot2", packet: "<InputEvent> 08000000 00000000 ffffffff", err: gdwire.ErrLimit, offset: 12, path: "$"},
}

func TestFormatInvalid(t *testing.T) {
	for _, r := range invalidPackets {
		for _, name := range strings.Fields(r.formats) {
			t.Run(r.name+"/"+name, func(t *testing.T) {
				f := formatNamed(t, name)
				p := model.Build(t, f, r.packet)
				for _, strict := range []bool{false, true} {
					o := gdwire.DecoderOptions{Format: f, AllowObjects: r.objects, Strict: strict}
					_, err := model.Tokens(p, o)
					if strict && r.other {
						require.ErrorIs(t, err, gdwire.ErrStrict)
						continue
					}
					require.ErrorIs(t, err, r.err)
					var fault *gdwire.Error
					require.ErrorAs(t, err, &fault)
					assert.Equal(t, r.offset, fault.Offset)
					assert.Equal(t, r.path, fault.Path)
					if r.err != io.ErrUnexpectedEOF {
						requireInvalidInside(t, f, p, o, fault)
					}
				}
				require.False(t, requireReference(t, p, gdwire.DecoderOptions{Format: f, AllowObjects: r.objects}))
			})
		}
	}
}

// requireInvalidInside expects the same fault if the packet is an element that
// others follow, whether it is read or skipped.
func requireInvalidInside(t *testing.T, f gdwire.Format, p []byte, o gdwire.DecoderOptions, want *gdwire.Error) {
	p = slices.Concat(model.Build(t, f, "<Array> 02000000"), p, model.Build(t, f, "<Vector3> 00000000 00000000 00000000"))
	d := gdwire.NewDecoder(nil, &o)
	for _, read := range []func() error{
		func() error { _, err := model.Tokens(p, o); return err },
		func() error { d.ResetBytes(p); return d.SkipValue() },
	} {
		err := read()
		var fault *gdwire.Error
		require.ErrorAs(t, err, &fault)
		assert.Equal(t, want.Offset+8, fault.Offset)
		assert.Equal(t, "$[0]"+want.Path[1:], fault.Path)
		assert.Equal(t, want.Err, fault.Err)
	}
}

// Elements of other types than declared are errors with Strict only.
func TestFormatStrictElements(t *testing.T) {
	for _, c := range []struct {
		name, packet string
		offset       int64
		path         string
	}{
		{"element", "<Array+1> <int> 01000000 <Nil>", 12, "$[0]"},
		{"element that could be converted", "<Array+1> <float> 01000000 <int> 01000000", 12, "$[0]"},
		{"element of a class", "<Array+2> 01000000 41000000 02000000 <Nil> <int> 01000000", 20, "$[1]"},
		{"element of a script", "<Array+3> 01000000 41000000 01000000 <int> 01000000", 16, "$[0]"},
		{"key", "<Dictionary+1> <String> 01000000 <StringName> 00000000 <Nil>", 12, "$.key(0)"},
		{"key of a class", "<Dictionary+2> 01000000 41000000 01000000 <int> 00000000 <Nil>", 16, "$.key(0)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := model.Build(t, gdwire.Godot4, c.packet)
			must(model.Tokens(p, gdwire.DecoderOptions{}))(t)
			_, err := model.Tokens(p, gdwire.DecoderOptions{Strict: true})
			require.ErrorIs(t, err, gdwire.ErrStrict)
			var fault *gdwire.Error
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, c.offset, fault.Offset)
			assert.Equal(t, c.path, fault.Path)
			require.ErrorIs(t, errOf(model.Rewrite(p, gdwire.DecoderOptions{}, gdwire.EncoderOptions{})), gdwire.ErrType, "WriteToken rejects it")
			copied, err := model.Copy(p, gdwire.DecoderOptions{}, gdwire.EncoderOptions{})
			require.NoError(t, err, "CopyValue passes it on")
			require.Equal(t, p, copied)
		})
	}
}

// AllowInvalidUTF8 returns the bytes of every kind of string unchanged.
func TestFormatAnyUTF8(t *testing.T) {
	for name, text := range map[string]string{
		"String":            "<String> 02000000 61ff0000",
		"StringName":        "<StringName> 02000000 c0800000",
		"Signal":            "<Signal> 01000000 80000000 00000000 00000000",
		"name":              "<NodePath> 01000080 00000000 00000000 03000000 eda08000",
		"packed string":     "<PackedStringArray> 01000000 02000000 80000000",
		"class of elements": "<Array+2> 01000000 80000000 00000000",
	} {
		t.Run(name, func(t *testing.T) {
			p := model.Build(t, gdwire.Godot4, text)
			require.ErrorIs(t, errOf(model.Tokens(p, gdwire.DecoderOptions{})), gdwire.ErrUTF8)
			require.ErrorIs(t, errOf(model.Copy(p, gdwire.DecoderOptions{AllowInvalidUTF8: true}, gdwire.EncoderOptions{})), gdwire.ErrUTF8)
			got := must(model.Copy(p, gdwire.DecoderOptions{AllowInvalidUTF8: true}, gdwire.EncoderOptions{AllowInvalidUTF8: true}))(t)
			require.Equal(t, p, got)
		})
	}
}

// Exactly one token represents each value, in whatever chunks a Decoder reads it.
func TestIsValue(t *testing.T) {
	for _, format := range gdwire.Formats() {
		packets := slices.AppendSeq(slices.Collect(gdwiretest.Packets(format)), gdwiretest.Objects(format))
		for _, packet := range packets {
			for _, chunk := range []int{16, gdwire.DefaultMaxChunk} {
				d := gdwire.NewDecoder(bytes.NewReader(packet), &gdwire.DecoderOptions{Format: format, MaxChunk: chunk, AllowObjects: true})
				got, want := int64(0), int64(1)
				for token, err := range d.Tokens() {
					require.NoError(t, err)
					if token.IsValue() {
						got++
					}
					switch token.Kind() {
					case gdwire.KindArrayStart, gdwire.KindObjectStart:
						want += token.Len()
					case gdwire.KindDictStart:
						want += 2 * token.Len()
					}
				}
				require.Equal(t, want, got, "%v: %x", format, packet)
			}
		}
	}
	require.False(t, gdwire.Token{}.IsValue())
}
