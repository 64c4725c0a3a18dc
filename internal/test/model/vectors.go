package model

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// The vectors of engines, and packets that the codec reads and writes again.

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
	Hex []byte
	suite.Answer
}

// Verdicts reads the verdicts of e.
func (e *Engine) Verdicts(t testing.TB) (all []Verdict) {
	for _, p := range testenv.Must(suite.Packets())(t) {
		if a, ok := p.Engines[e.Name]; ok {
			all = append(all, Verdict{p.Hex, a})
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

// Read reads the next value of d, token by token. It repeats calls after temporary errors.
func Read(d *gdwire.Decoder) (tagged.Value, error) {
	return (&tagged.Reader{Decoder: d, Temporary: fuzz.ErrTemporary}).Value()
}

// Again repeats f after temporary errors.
func Again(f func() error) error {
	for {
		if err := f(); err != fuzz.ErrTemporary {
			return err
		}
	}
}

// Decode reads the value at the start of p.
func Decode(p []byte, o gdwire.DecoderOptions) (v tagged.Value, size int64, err error) {
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(p)
	v, err = Read(d)
	return v, d.InputOffset(), err
}

// Encode writes v by typed calls.
func Encode(v *tagged.Value, o gdwire.EncoderOptions) ([]byte, error) { return encoded(o, v.Write) }

// Rewrite re-encodes the first value of p token by token.
func Rewrite(p []byte, from gdwire.DecoderOptions, to gdwire.EncoderOptions) ([]byte, error) {
	d := gdwire.NewDecoder(bytes.NewReader(p), &from)
	defer d.Release()
	return encoded(to, func(e *gdwire.Encoder) error {
		for t, err := range d.Tokens() {
			if err == nil {
				err = e.WriteToken(t)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Copy re-encodes the first value of p by CopyValue.
func Copy(p []byte, from gdwire.DecoderOptions, to gdwire.EncoderOptions) ([]byte, error) {
	d := gdwire.NewDecoder(nil, &from)
	defer d.Release()
	d.ResetBytes(p)
	return encoded(to, func(e *gdwire.Encoder) error { return gdwire.CopyValue(e, d) })
}

// encoded returns what write writes.
func encoded(o gdwire.EncoderOptions, write func(e *gdwire.Encoder) error) ([]byte, error) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &o)
	err := cmp.Or(write(e), e.Close())
	return b.Bytes(), err
}

// Tokens describes the tokens of all values in p, each on a line.
func Tokens(p []byte, o gdwire.DecoderOptions) (lines []string, err error) {
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(p)
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			if e, ok := errors.AsType[*gdwire.Error](err); ok && e.Offset < d.InputOffset() {
				panic("a token was handed out in spite of " + err.Error())
			}
			return lines, err
		}
		lines = append(lines, t.String())
	}
}

// CleanPaths returns p with zeros as padding of NodePath names. The offsets of
// tokens show where that is.
func CleanPaths(p []byte, f gdwire.Format) []byte {
	return Cleared(p, f, func(t gdwire.Token) int64 {
		if t.Kind() == gdwire.KindStringChunk && t.Type() == gdwire.TypeNodePath && t.Last() {
			return -t.Len() & 3
		}
		return 0
	})
}

// Cleared returns p with zeros in the last bytes of tokens, as many as n returns.
func Cleared(p []byte, f gdwire.Format, n func(gdwire.Token) int64) []byte {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: f, AllowObjects: true, AllowInvalidUTF8: true, Limits: gdwire.NoLimits})
	defer d.Release()
	d.ResetBytes(bytes.Clone(p))
	p = bytes.Clone(p)
	for t, err := range d.Tokens() {
		if err != nil {
			break // a damaged packet: nothing after it is read
		}
		clear(p[d.InputOffset()-n(t) : d.InputOffset()])
	}
	return p
}

// Replace calls f with packet, of Godot4, with another value in place of each value in it: of
// every type and shape that the official engine wrote, or a value that a field seldom holds.
func Replace(t testing.TB, packet []byte, f func(packet []byte)) {
	var values [][]byte
	for i := range Engines {
		if e := &Engines[i]; e.Folder == "godot4.6" {
			for _, v := range e.Vectors(t) {
				values = append(values, v.Hex)
			}
		}
	}
	for _, text := range []string{
		"<int+1> 0000000001000000", // beyond int32
		"<int> ffffffff",
		"<float> 0000c03f",
		"<float> 0000e040",           // a whole number
		"<float+1> 000000000000f041", // and beyond int32
		"<float> 0000807f",           // infinity
		"<String> 01000000 ff000000", // not UTF-8
		"<String> ffffffff",
		"<Array> ffffffff",
		"63000000",
		"<Dictionary> 01000000",
		"<Dictionary> 01000000 <String> 04000000 6e616d65 <String> 07000000 4d616c6c6f727900",
	} {
		values = append(values, Build(t, gdwire.Godot4, text))
	}
	for _, at := range places(t, packet) {
		for _, v := range values {
			f(slices.Concat(packet[:at[0]], v, packet[at[1]:]))
		}
	}
}

// places returns the starts and ends of all values in packet, keys included.
func places(t testing.TB, packet []byte) (all [][2]int64) {
	d := gdwire.NewDecoder(nil, nil)
	defer d.Release()
	d.ResetBytes(packet)
	var open []int64 // the starts of the open containers
	for {
		start := d.InputOffset()
		token, err := d.ReadToken()
		if err == io.EOF {
			return all
		}
		must(t, err)
		switch {
		case token.Kind() == gdwire.KindDictKey:
			continue
		case d.Depth() > len(open):
			open = append(open, start)
			continue
		case token.Kind() == gdwire.KindEnd:
			start, open = open[len(open)-1], open[:len(open)-1]
		}
		all = append(all, [2]int64{start, d.InputOffset()})
	}
}
