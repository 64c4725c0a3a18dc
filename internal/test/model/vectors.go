package model

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// An Engine is an engine with vectors in spec/vectors.
type Engine struct {
	Name   string // as vectors have it
	Folder string // of its files in testdata
	Format gdwire.Format
	Double bool // its math types have 64 bits
	Dirty  bool // its padding after the names of a NodePath is old memory content
}

// Engines contains all engines with vectors.
var Engines = []Engine{
	{Name: "3.2.3", Folder: "godot3.2.3", Format: gdwire.Godot3, Dirty: true},
	{Name: "4.3", Folder: "godot4.3", Format: gdwire.Godot4, Dirty: true},
	{Name: "4.6", Folder: "godot4.6", Format: gdwire.Godot4, Dirty: true}, // the official build
	{Name: "4.7-dev", Folder: "godot4.7-dev", Format: gdwire.Godot4},
	{Name: "4.7-dev-debug", Folder: "godot4.7-dev-debug", Format: gdwire.Godot4}, // 54e130b9f of 2026-02-19; lab/measure asks it
	{Name: "4.7-dev-double", Folder: "godot4.7-dev-double", Format: gdwire.Godot4, Double: true},
}

// Singles are the engines with math types of 32 bits. The other engines provide only
// vectors.
var Singles = slices.DeleteFunc(slices.Clone(Engines), func(e Engine) bool { return e.Double })

// A Vector is a value and the bytes that an engine wrote for it.
type Vector struct {
	Name        string
	Hex         []byte
	FullObjects bool
	Value       Value
}

// ReadFile reads a file in testdata.
func ReadFile(t testing.TB, path ...string) []byte {
	return testenv.Must(os.ReadFile(Testdata(path...)))(t)
}

// Vectors reads the vectors of e.
func (e *Engine) Vectors(t testing.TB) (all []Vector) {
	for _, v := range testenv.Must(suite.ValuesOf(e.Name))(t) {
		one := Vector{Name: v.Name, Hex: v.Hex, FullObjects: v.Objects}
		must(t, json.Unmarshal(v.Value, &one.Value))
		all = append(all, one)
	}
	if len(all) == 0 {
		t.Fatalf("no vectors of %s", e.Name)
	}
	return all
}

// Testdata returns the name of a file in testdata of the module's root, where the test of
// any package finds it.
func Testdata(path ...string) string {
	root := "."
	for _, err := os.Stat("go.mod"); err != nil; _, err = os.Stat(filepath.Join(root, "go.mod")) {
		root = filepath.Join(root, "..")
	}
	return filepath.Join(root, "testdata", filepath.Join(path...))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A Verdict is the result of an engine for a packet.
type Verdict struct {
	Hex       []byte
	Accept    bool
	Size      int64
	Reencoded []byte
}

// Verdicts reads the verdicts of e.
func (e *Engine) Verdicts(t testing.TB) (all []Verdict) {
	for _, p := range testenv.Must(suite.Packets())(t) {
		if a, ok := p.Engines[e.Name]; ok {
			all = append(all, Verdict{p.Hex, a.Accept, a.Size, a.Reencoded})
		}
	}
	if len(all) == 0 {
		t.Fatalf("no verdicts of %s", e.Name)
	}
	return all
}

// unhex decodes hex digits and ignores white space.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	return testenv.Must(hex.DecodeString(strings.Join(strings.Fields(s), "")))(t)
}

// Build replaces headers by their bytes in the format: <int+1.255> sets 1 in bits
// 16 and up and 255 in bits 8 to 15, and <none> is the first id after the last type.
func Build(t testing.TB, f gdwire.Format, text string) []byte {
	return unhex(t, headerPattern.ReplaceAllStringFunc(text, func(s string) string {
		m := headerPattern.FindStringSubmatch(s)
		id := slices.Index(TypeNames[f.String()], m[1])
		if m[1] == "none" {
			id = len(TypeNames[f.String()])
		}
		if id < 0 {
			t.Fatalf("%s in %v", s, f)
		}
		flags, _ := strconv.Atoi(m[2])
		middle, _ := strconv.Atoi(m[3])
		return hex.EncodeToString(le.AppendUint32(nil, uint32(id|middle<<8|flags<<16)))
	}))
}

// F32 returns encoded floats in hex, after a space.
func F32(x ...float64) string {
	return hexed(AsNumbers(x, func(x float64) float32 { return float32(x) }))
}

// F64 returns numbers as floats of 64 bits in hex, after a space.
func F64(x ...float64) string { return hexed(x) }

// U32 returns encoded uint32s in hex, after a space.
func U32(x ...uint32) string { return hexed(x) }

func hexed(numbers any) string {
	b, err := binary.Append(nil, le, numbers)
	if err != nil {
		panic(err)
	}
	return " " + hex.EncodeToString(b)
}

// Text returns the length, the bytes and the padding of s in hex, after a space.
func Text(s string) string {
	return U32(uint32(len(s))) + hex.EncodeToString([]byte(s)) + strings.Repeat("00", -len(s)&3)
}

var headerPattern = regexp.MustCompile(`<(\w+)(?:\+(\d+)(?:\.(\d+))?)?>`)

// UnmarshalJSON reads a value in the form of spec/vectors.
func (v *Value) UnmarshalJSON(b []byte) error {
	var in jsonValue
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*v = Value{Type: in.T, Absolute: in.Absolute, Wide: in.T == "PackedInt64Array" || in.T == "PackedFloat64Array"}
	return testenv.Try(func() { v.set(&in) })
}

// A jsonValue is a value in the form of spec/vectors.
type jsonValue struct {
	T                   string
	V                   json.RawMessage
	Type                *jsonDeclared
	KeyType             *jsonDeclared `json:"key_type"`
	ValueType           *jsonDeclared `json:"value_type"`
	Absolute            bool
	Names, Subnames     []string
	Name, Object, Class string
	Properties          [][2]json.RawMessage

	Format, Mipmaps, Width, Height, Event, Device uint64
}

// set sets what a value of the type of v has.
func (v *Value) set(in *jsonValue) {
	switch in.T {
	case "Nil", "Callable":
	case "bool":
		v.Bits = map[string]uint64{"true": 1}[string(in.V)]
	case "int", "RID", "ObjectID":
		if in.V != nil {
			v.Bits = jsonNumber(in.V, true)
		}
	case "float":
		v.Bits = jsonNumber(in.V, false)
	case "String", "StringName":
		v.Text = fromJSON[string](in.V)
	case "NodePath":
		v.Names, v.Subnames = append(v.Names, in.Names...), append(v.Subnames, in.Subnames...)
	case "Signal":
		v.Text, v.Bits = in.Name, uint64(testenv.Checked(strconv.ParseInt(in.Object, 10, 64)))
	case "Object":
		v.Text = in.Class
		for _, p := range in.Properties {
			v.Names, v.Items = append(v.Names, fromJSON[string](p[0])), append(v.Items, fromJSON[Value](p[1]))
		}
	case "Dictionary":
		v.Key, v.Elem = in.KeyType.declared(), in.ValueType.declared()
		for _, p := range fromJSON[[][2]Value](in.V) {
			v.Items = append(v.Items, p[0], p[1])
		}
	case "Array":
		v.Elem = in.Type.declared()
		v.Items = append(v.Items, fromJSON[[]Value](in.V)...)
	case "PackedByteArray", "Image", "InputEvent":
		v.Numbers = map[string][]uint64{"Image": {in.Format, in.Mipmaps, in.Width, in.Height}, "InputEvent": {in.Event, in.Device}}[in.T]
		v.Data = append(v.Data, testenv.Checked(hex.DecodeString(fromJSON[string](in.V)))...)
	case "PackedStringArray":
		v.Names = append(v.Names, fromJSON[[]string](in.V)...)
	default:
		for _, x := range fromJSON[[]json.RawMessage](in.V) {
			v.Numbers = append(v.Numbers, jsonNumber(x, isInts(in.T)))
		}
	}
}

func fromJSON[T any](text []byte) (v T) {
	testenv.Check(json.Unmarshal(text, &v))
	return v
}

type jsonDeclared struct{ Builtin, Class, Script string }

func (d *jsonDeclared) declared() Declared {
	switch {
	case d == nil:
		return Declared{}
	case d.Script != "":
		return Declared{3, d.Script}
	case d.Class != "":
		return Declared{2, d.Class}
	default:
		return Declared{1, d.Builtin}
	}
}

// jsonNumber reads a number, which may be quoted, as int64 or float64.
func jsonNumber(b json.RawMessage, integer bool) uint64 {
	text := strings.Trim(string(b), `"`)
	if integer {
		return uint64(testenv.Checked(strconv.ParseInt(text, 10, 64)))
	}
	return math.Float64bits(testenv.Checked(strconv.ParseFloat(text, 64)))
}
