package model

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gdwire/gdwire"
)

// An Engine is an engine with vectors in testdata.
type Engine struct {
	Folder string
	Format gdwire.Format
	Double bool // its math types have 64 bits
	Dirty  bool // its padding after the names of a NodePath is old memory content
}

// Engines contains all engines with vectors.
var Engines = []Engine{
	{Folder: "godot3.2.3", Format: gdwire.Godot3, Dirty: true},
	{Folder: "godot4.3", Format: gdwire.Godot4, Dirty: true},
	{Folder: "godot4.6", Format: gdwire.Godot4, Dirty: true}, // the official build
	{Folder: "godot4.7-dev", Format: gdwire.Godot4},
	{Folder: "godot4.7-dev-double", Format: gdwire.Godot4, Double: true},
}

// Singles are the engines with math types of 32 bits. The other engines provide only
// vectors.
var Singles = slices.DeleteFunc(slices.Clone(Engines), func(e Engine) bool { return e.Double })

// A Vector is a line of vectors.jsonl.
type Vector struct {
	Name        string
	Hex         HexBytes
	FullObjects bool `json:"full_objects"`
	Value       Value
}

// HexBytes are bytes in hex in JSON.
type HexBytes []byte

// UnmarshalJSON decodes hex digits.
func (h *HexBytes) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	p, err := hex.DecodeString(text)
	*h = p
	return err
}

// ReadLines reads a file in testdata with one JSON object a line.
func ReadLines[T any](t testing.TB, path ...string) (all []T) {
	for line := range bytes.Lines(ReadFile(t, path...)) {
		var v T
		must(t, json.Unmarshal(line, &v))
		all = append(all, v)
	}
	if len(all) == 0 {
		t.Fatalf("no lines in %v", path)
	}
	return all
}

// ReadFile reads a file in testdata.
func ReadFile(t testing.TB, path ...string) []byte {
	b, err := os.ReadFile(Testdata(path...))
	must(t, err)
	return b
}

// Vectors reads the vectors of e.
func (e *Engine) Vectors(t testing.TB) []Vector {
	return ReadLines[Vector](t, e.Folder, "vectors.jsonl")
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

// A Verdict is a line of verdicts.jsonl: the result of an engine for a packet.
type Verdict struct {
	Hex       HexBytes
	Accept    bool
	Size      int64
	Reencoded HexBytes
}

// Verdicts reads the verdicts of e.
func (e *Engine) Verdicts(t testing.TB) []Verdict {
	return ReadLines[Verdict](t, e.Folder, "verdicts.jsonl")
}
