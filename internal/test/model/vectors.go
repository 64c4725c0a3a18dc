package model

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/internal/tagged"
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
	Value       tagged.Value
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
	return hexed(tagged.AsNumbers(x, func(x float64) float32 { return float32(x) }))
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
