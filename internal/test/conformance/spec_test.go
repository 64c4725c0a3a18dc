package conformance

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/internal/values/tagged"
	"github.com/gdwire/gdwire/spec"
)

// TestSuite: the files of spec/vectors contain what engines wrote and answered, and the packets of
// the tables here. Every other field is what the rules of SPEC.md and the reference decoder say.
// With GDWIRE_WRITE_SPEC=1 it writes the files.
func TestSuite(t *testing.T) {
	b := newSuiteBuilder(t)
	requireLines(t, "values", b.values)
	requireLines(t, "packets", b.packets)
	requireLines(t, "framing", b.streams())
	requireLines(t, "files", suiteFiles(t))
}

// requireLines fails unless a file of spec/vectors contains these lines. With GDWIRE_WRITE_SPEC=1 it
// writes the file.
func requireLines[T any](t *testing.T, name string, all []T) {
	text := must(suite.Lines(all))(t)
	file := filepath.Join("..", "..", "..", "spec", "vectors", name+".jsonl")
	if os.Getenv("GDWIRE_WRITE_SPEC") != "" {
		require.NoError(t, os.WriteFile(file, text, 0o644))
		return
	}
	want := must(os.ReadFile(file))(t)
	got, written := bytes.Split(text, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(got), len(written)) {
		require.Equal(t, string(written[i]), string(got[i]), "%s.jsonl, line %d; GDWIRE_WRITE_SPEC=1 writes it", name, i+1)
	}
	require.Len(t, got, len(written))
}

// A suiteBuilder completes the vectors.
type suiteBuilder struct {
	t       *testing.T
	titles  map[string]string // of the rules in SPEC.md
	values  []suite.Value
	packets []suite.Packet
	last    map[string]int // the highest number of an id, by its part before the number
}

func newSuiteBuilder(t *testing.T) *suiteBuilder {
	b := &suiteBuilder{t: t, titles: specRules(t).titles, last: map[string]int{}}
	b.values = must(suite.Values())(t)
	b.packets = must(suite.Packets())(t)
	for _, v := range b.values {
		b.noteID(v.ID)
	}
	for _, p := range b.packets {
		b.noteID(p.ID)
	}
	b.addTables()
	for i := range b.values {
		b.completeValue(&b.values[i])
	}
	for i := range b.packets {
		b.completePacket(&b.packets[i])
	}
	return b
}

func (b *suiteBuilder) noteID(id string) {
	prefix, number, ok := strings.Cut(id, "-")
	var n int
	require.True(b.t, ok && errOf(fmt.Sscanf(number, "%d", &n)) == nil, id)
	b.last[prefix] = max(b.last[prefix], n)
}

func (b *suiteBuilder) newID(letter, format string) string { return nextID(b.last, letter, format) }

// nextID returns the id after the last one that begins with a letter and the short name of a format.
func nextID(last map[string]int, letter, format string) string {
	short := map[string]string{"godot4": "4", "godot3": "3", "godot2": "2", "manual4": "m4", "manual3": "m3", "manual30": "m30"}[format]
	last[letter+short]++
	return fmt.Sprintf("%s%s-%04d", letter, short, last[letter+short])
}

// otherPackets are packets that are in no other table.
var otherPackets = []struct {
	formats, packet string
	objects         bool
}{
	{"godot4", "<Array+3> 00000000 00000000", true},
	{"godot4", "<Array+3> 09000000 7265733a 2f2f612e 67000000 00000000", true},
	{"godot4", "<Dictionary+12> 01000000 61000000 00000000", true},
	{"godot4", "<String> 07000000 efbbbfef bbbf6100", false},
	{"godot4", "<String> 05000000 61efbbbf 62000000", false},
	{"godot4", "<NodePath> 01000080 00000000 00000000 04000000 efbbbf61", false},
	{"godot4 godot2 manual4 manual3 manual30", "<String> 04000000 f0808080", false},
	{"godot4 godot2 manual4 manual3 manual30", "<String> 04000000 f08fbfbf", false},
	{"manual3", "<int> 00000000 01000000", false},
	{"manual3", "<Array> 02000000 <int> 01000000 00000000 <bool> 01000000", false},
	{"godot4", "<PackedFloat32Array+1> 02000000" + model.F32(1, 2), false},
	{"godot2 manual4 manual3 manual30", "<Array> 02000000 <NodePath> 01000000 61000000 <bool> 01000000", false},
	{"godot2 manual4 manual3 manual30", "<NodePath> 01000000 61", false},
	{"manual4", "<Object> 01000000 41000000 ffffffff", true},
	{"manual4", "<Object> 01000000 41000000 00000080", true},
	{"godot2", "<Array> 02000000 <InputEvent> 00000000 00000000 0d000000 ff <bool> 01000000", false},
	{"godot2", "<InputEvent> 04000000 00000000 12000000 01000000 0000", false},
}

// addTables adds the packets of this package's tables that are not there yet.
func (b *suiteBuilder) addTables() {
	for _, p := range validPackets {
		for _, name := range strings.Fields(p.formats) {
			f := formatNamed(b.t, name)
			data := model.Build(b.t, f, p.packet)
			if p.lenient {
				b.addPacket(suite.Packet{Kind: p.name, Objects: p.objects, Double: p.double, Hex: data}, name)
			} else {
				b.addValue(suite.Value{Name: p.name, Objects: p.objects, Double: p.double, Hex: data}, name)
			}
		}
	}
	for _, depth := range []int{1024, 1025} {
		p := bytes.Repeat(model.Build(b.t, gdwire.Godot4, "<Array> 01000000"), depth)
		b.addPacket(suite.Packet{Hex: append(p, 0, 0, 0, 0)}, "godot4")
	}
	for _, p := range otherPackets {
		for _, name := range strings.Fields(p.formats) {
			b.addPacket(suite.Packet{Hex: model.Build(b.t, formatNamed(b.t, name), p.packet), Objects: p.objects}, name)
		}
	}
	for _, r := range invalidPackets {
		for _, name := range strings.Fields(r.formats) {
			b.addPacket(suite.Packet{Kind: r.name, Objects: r.objects, Hex: model.Build(b.t, formatNamed(b.t, name), r.packet)}, name)
		}
	}
}

// addValue adds a value in a format. Its bytes in formats that agree on the value are one line.
func (b *suiteBuilder) addValue(v suite.Value, format string) {
	v.Value = b.tagged(v.Hex, format, v.Objects, v.Double)
	for i := range b.values {
		w := &b.values[i]
		if !bytes.Equal(w.Hex, v.Hex) || w.Objects != v.Objects || slices.Contains(w.Formats, "godot4") != (format == "godot4") {
			continue
		}
		if slices.Contains(w.Formats, format) {
			return
		}
		if v.Double == w.Double && sameJSON(b.t, v.Value, w.Value) {
			w.Formats = append(w.Formats, format)
			return
		}
	}
	v.ID, v.Formats = b.newID("g", format), []string{format}
	b.values = append(b.values, v)
}

// tagged returns the value of a packet as tagged JSON.
func (b *suiteBuilder) tagged(p []byte, format string, objects, double bool) []byte {
	d := gdwire.NewDecoder(bytes.NewReader(p), &gdwire.DecoderOptions{Format: formatNamed(b.t, format), AllowObjects: objects, DoubleReals: double})
	defer d.Release()
	text, err := tagged.Append(nil, d)
	require.NoError(b.t, err, "%x", p)
	return text
}

func sameJSON(t *testing.T, a, b []byte) bool {
	return must(tagged.Equal(a, b))(t)
}

func (b *suiteBuilder) addPacket(p suite.Packet, format string) {
	for i := range b.values {
		v := &b.values[i]
		if bytes.Equal(v.Hex, p.Hex) && v.Objects == p.Objects && v.Double == p.Double && slices.Contains(v.Formats, format) {
			return
		}
	}
	for i := range b.packets {
		q := &b.packets[i]
		if bytes.Equal(q.Hex, p.Hex) && q.Objects == p.Objects && slices.Contains(q.Formats, format) {
			return
		}
	}
	p.ID, p.Formats = b.newID("p", format), []string{format}
	b.packets = append(b.packets, p)
}

// completeValue computes the fields of a value that follow from others.
func (b *suiteBuilder) completeValue(v *suite.Value) {
	var value tagged.Value
	require.NoError(b.t, json.Unmarshal(v.Value, &value), v.ID)
	v.Value = b.tagged(v.Hex, v.Formats[0], v.Objects, v.Double) // in the form of section 18
	rules := ruleSet{}
	v.Encode = suite.Exact
	for _, format := range v.Formats {
		r := model.Reference{Format: format, Objects: v.Objects, Double: v.Double, P: v.Hex, Rule: rules.add}
		got, err := r.Decode()
		require.NoError(b.t, err, v.ID)
		require.Equal(b.t, value.Plain().AnyNaN(), got.Plain().AnyNaN(), v.ID)
		v.Double = v.Double || rules["M2"]
		p, err := model.Encode(&value, gdwire.EncoderOptions{Format: formatNamed(b.t, format), DoubleReals: v.Double})
		if err != nil || !bytes.Equal(p, v.Hex) {
			v.Encode = suite.ByValue
		}
	}
	if rules["O4"] || rules["O7"] || value.Holds(func(x *tagged.Value) bool { return writtenInTwoWays(x, v.Formats) }) {
		v.Encode = suite.ByValue
	}
	if v.NativeJSON != nil {
		value.Holds(func(v *tagged.Value) bool {
			rules.add(nativeRule(v))
			return false
		})
	}
	v.Rules, v.Since = rules.sorted(), since(v.Formats, &value)
}

// writtenInTwoWays reports whether writers can choose the bytes of a value: those of a NaN, and
// whether the last sub-name of a path of Godot 2 is its property.
func writtenInTwoWays(v *tagged.Value, formats []string) bool {
	isNaN := v.Type == "float" && math.IsNaN(math.Float64frombits(v.Bits))
	return isNaN || len(v.Subnames) > 0 && slices.Contains(formats, "godot2")
}

// nativeRule returns the rule for a value in native JSON.
func nativeRule(v *tagged.Value) string {
	switch v.Type {
	case "Nil", "bool", "int", "float":
		return "J1"
	case "String", "StringName", "NodePath":
		return "J2"
	case "RID", "Callable", "Signal":
		return "J4"
	case "Array":
		return "J5"
	case "Dictionary":
		return "J6"
	case "Object", "ObjectID":
		return "J7"
	}
	return "J3"
}

// since returns the first release with a value: that of the oldest format, unless the value needs a
// later one.
func since(formats []string, v *tagged.Value) string {
	first := map[string]string{"godot2": "2.0", "godot3": "3.0", "manual30": "3.0", "manual3": "3.1", "manual4": "4.0", "godot4": "4.0"}
	release := "9"
	for _, f := range formats {
		release = min(release, first[f])
	}
	v.Holds(func(v *tagged.Value) bool {
		if v.Type == "PackedVector4Array" || v.Type == "Array" && v.Elem.Kind > 0 {
			release = max(release, "4.3")
		}
		typed := v.Key.Kind > 0 || v.Elem.Kind > 0
		for i := 0; v.Type == "Dictionary" && i < len(v.Items); i += 2 {
			typed = typed || v.Items[i].Type == "StringName"
		}
		if v.Type == "Dictionary" && typed {
			release = max(release, "4.4")
		}
		return false
	})
	return release
}

// A ruleSet contains numbers of rules.
type ruleSet map[string]bool

func (s ruleSet) add(rule string) { s[rule] = true }

// sorted returns the numbers in the order of SPEC.md.
func (s ruleSet) sorted() []string {
	all := []string{}
	for rule := range s {
		all = append(all, rule)
	}
	slices.SortFunc(all, compareRules)
	return all
}

// compareRules compares the numbers of rules as SPEC.md lists them.
func compareRules(a, b string) int {
	const chapters = "BSTMNROCPGAFKJX"
	return cmp.Or(strings.Index(chapters, a[:1])-strings.Index(chapters, b[:1]), len(a)-len(b), strings.Compare(a, b))
}

// oddities are the rules that make a valid packet one that engines never write, the most
// remarkable first.
var oddities = strings.Fields("B7 C11 C12 N5 C10 C9 C5 G8 G4 P2 P5 P6 O4 O5 O6 T8 T6 N9 N3 N7 N6 T3 M5 O9 S10 S6 S9 S3 C3 G2 B3 B1 B5")

// completePacket computes the fields of a packet that follow from others.
func (b *suiteBuilder) completePacket(p *suite.Packet) {
	rules := ruleSet{}
	format := p.Formats[0]
	r := model.Reference{Format: format, Objects: p.Objects, Double: p.Double, P: p.Hex, Rule: rules.add}
	value, err := r.Decode()
	p.Verdict = suite.Valid
	if err != nil {
		p.Verdict = suite.Invalid
		rules = ruleSet{r.Cause: true}
	}
	if depth := bytes.Count(p.Hex[:min(len(p.Hex), 8)], []byte{0x1c}); depth == 1 && len(p.Hex) > 8000 {
		rules.add("B7")
		if len(p.Hex) > 8*1025 {
			p.Verdict, rules, err = suite.Invalid, ruleSet{"B7": true}, errors.New("level 1025")
		}
	}
	accepted := 0
	for name, answer := range p.Engines {
		if answer.Accept != (err == nil) {
			p.Verdict = suite.Differs
			if name == "4.3" && r.TypedDict {
				rules.add("C11")
			}
			if format == "godot3" && rules["T5"] {
				rules = ruleSet{"T10": true}
			}
		}
		if answer.Accept {
			accepted++
		}
	}
	if accepted > 0 && accepted < len(p.Engines) || rules["T7"] || rules["C12"] {
		p.Verdict = suite.Differs
	}
	p.Refuse, p.Strict, p.Value = nil, false, nil
	options := gdwire.DecoderOptions{Format: formatNamed(b.t, format), AllowObjects: p.Objects, DoubleReals: p.Double}
	switch p.Verdict {
	case suite.Invalid:
		if p.Refuse = refusedAt(p.Hex, options); p.Refuse != nil {
			rules.add("B6")
		}
	case suite.Valid:
		options.Strict = true
		_, err := model.Tokens(p.Hex, options)
		p.Strict = err != nil
		// By rule C10 engines convert or drop elements of other types; a value of 1024 levels is more than JSON libraries read.
		if !value.Holds(tagged.HasWrongTypes) && !rules["B7"] {
			p.Value = b.packetValue(p, value)
		}
	}
	p.Rules = rules.sorted()
	p.Kind = b.titles[p.Rules[0]]
	if r.Cause != "" && rules[r.Cause] {
		p.Kind = b.titles[r.Cause]
	}
	for _, rule := range oddities {
		if rules[rule] {
			p.Kind = b.titles[rule]
			break
		}
	}
	if p.Verdict == suite.Valid && !p.Strict {
		p.Kind = "as engines write it"
	}
}

// packetValue returns the value of a packet as tagged JSON: what the Decoder reads, which is what the
// reference decoder reads.
func (b *suiteBuilder) packetValue(p *suite.Packet, want tagged.Value) []byte {
	text := b.tagged(p.Hex, p.Formats[0], p.Objects, p.Double)
	var got tagged.Value
	require.NoError(b.t, json.Unmarshal(text, &got), p.ID)
	require.Equal(b.t, want.Plain().AnyNaN(), got.Plain().AnyNaN(), p.ID)
	return text
}

// refusedAt returns the number of bytes after which a Decoder refuses p without waiting for more, or
// nil if it waits for bytes after p.
func refusedAt(p []byte, o gdwire.DecoderOptions) *int {
	for n := range len(p) + 1 {
		d := gdwire.NewDecoder(&waiting{p[:n]}, &o)
		err := d.SkipValue()
		d.Release()
		if err != nil && !errors.Is(err, errWait) {
			return &n
		}
	}
	return nil
}

var errWait = errors.New("more bytes are needed")

// waiting is a Reader of bytes that others will follow.
type waiting struct{ p []byte }

func (w *waiting) Read(p []byte) (int, error) {
	if len(w.p) == 0 {
		return 0, errWait
	}
	n := copy(p, w.p)
	w.p = w.p[n:]
	return n, nil
}

// TestSuitePrefixes: a Decoder waits at every proper prefix of a valid value.
func TestSuitePrefixes(t *testing.T) {
	for _, v := range must(suite.Values())(t) {
		for n := range min(len(v.Hex), 400) {
			d := gdwire.NewDecoder(&waiting{v.Hex[:n]}, &gdwire.DecoderOptions{Format: formatNamed(t, v.Formats[0]), AllowObjects: true, DoubleReals: v.Double})
			require.ErrorIs(t, d.SkipValue(), errWait, "%s, %d bytes", v.ID, n)
			d.Release()
		}
	}
}

// TestSuiteIsWhole: ids are unique, and every rule about bytes is in vectors.
func TestSuiteIsWhole(t *testing.T) {
	s := specRules(t)
	packets := allVectors(t)
	used := ruleSet{}
	for id, v := range packets {
		require.NotEmpty(t, v.rules, id)
		for _, rule := range v.rules {
			require.Contains(t, s.titles, rule, id)
			used.add(rule)
		}
	}
	for rule := range s.titles {
		assert.True(t, used[rule], "no vector shows rule %s", rule)
		v, ok := packets[s.vector[rule]]
		assert.True(t, ok && slices.Contains(v.rules, rule), "SPEC.md names for rule %s the vector %q, which does not show it", rule, s.vector[rule])
	}
	for id, text := range s.examples {
		require.Contains(t, packets, id)
		assert.Equal(t, hex.EncodeToString(packets[id].hex), text, "the example %s of SPEC.md", id)
	}
}

// TestSuiteHasNoDuplicates: in each format, a packet is in one line only.
func TestSuiteHasNoDuplicates(t *testing.T) {
	lines := map[string]string{}
	add := func(id string, formats []string, data []byte, objects, double bool) {
		for _, f := range formats {
			key := fmt.Sprintf("%s %x %v %v", f, data, objects, double && f != "godot4")
			assert.Empty(t, lines[key], "%s is there twice: %s", id, key)
			lines[key] = id
		}
	}
	for _, v := range must(suite.Values())(t) {
		add(v.ID, v.Formats, v.Hex, v.Objects, v.Double)
	}
	for _, p := range must(suite.Packets())(t) {
		add(p.ID, p.Formats, p.Hex, p.Objects, p.Double)
	}
}

// TestSpecVersion: the version and the license of the specification are the same everywhere.
func TestSpecVersion(t *testing.T) {
	t.Chdir("../../../spec")
	var version struct{ Version, License string }
	require.NoError(t, json.Unmarshal(must(os.ReadFile("version.json"))(t), &version))
	for file, want := range map[string]string{
		"SPEC.md": "# The Variant format, version " + version.Version + "\n", "README.md": "gdwire-spec-" + version.Version + "\n", "LICENSE": "MIT No Attribution",
	} {
		require.Contains(t, string(must(os.ReadFile(file))(t)), want, file)
	}
	for _, file := range []string{"SPEC.md", "README.md", "vectors/README.md", "vectors/schema.json", "reader.py", "reader.mjs", "ksy.mjs", "variant4.ksy", "variant3.ksy", "godot-variant.lua"} {
		require.Contains(t, string(must(os.ReadFile(file))(t)), "SPDX-License-Identifier: "+version.License, file)
	}
}

// TestSpecForm: every rule that SPEC.md mentions exists.
func TestSpecForm(t *testing.T) {
	text := must(spec.Files.ReadFile("SPEC.md"))(t)
	titles := specRules(t).titles
	mention := regexp.MustCompile(`\b[BSTMNROCPGAFKJX]\d{1,2}\b`)
	for i, line := range strings.Split(string(text), "\n") {
		for _, rule := range mention.FindAllString(line, -1) {
			assert.Contains(t, titles, rule, "line %d: %s", i+1, line)
		}
	}
}

// TestSpecExamples: there is an example of every type.
func TestSpecExamples(t *testing.T) {
	examples := specRules(t).examples
	values := must(suite.Values())(t)
	shown := map[string]bool{"Object": true}
	for _, v := range values {
		if _, ok := examples[v.ID]; ok {
			var value struct{ T string }
			require.NoError(t, json.Unmarshal(v.Value, &value))
			shown[value.T] = true
		}
	}
	for _, typ := range gdwire.Types() {
		assert.True(t, shown[typ.String()], "SPEC.md shows no example of %v", typ)
	}
}

type anyVector struct {
	rules []string
	hex   []byte
}

// allVectors returns the lines of all files by their ids.
func allVectors(t *testing.T) map[string]anyVector {
	all := map[string]anyVector{}
	add := func(id string, rules []string, data []byte) {
		require.Empty(t, all[id].rules, "%s twice", id)
		all[id] = anyVector{rules, data}
	}
	for _, v := range must(suite.Values())(t) {
		add(v.ID, v.Rules, v.Hex)
	}
	for _, p := range must(suite.Packets())(t) {
		add(p.ID, p.Rules, p.Hex)
	}
	for _, l := range must(suite.Longs())(t) {
		add(l.ID, l.Rules, nil)
	}
	for _, w := range must(suite.Writers())(t) {
		add(w.ID, w.Rules, w.Hex)
	}
	for _, l := range must(suite.Texts())(t) {
		add(l.ID, l.Rules, l.Hex)
	}
	for _, s := range must(suite.Streams())(t) {
		add(s.ID, s.Rules, s.Hex)
	}
	for _, f := range must(suite.Files())(t) {
		add(f.ID, f.Rules, f.Hex)
	}
	return all
}

// A specText is what SPEC.md says about vectors.
type specText struct {
	titles   map[string]string // of rules
	vector   map[string]string // the vector that each rule names
	examples map[string]string // by id, in hex
}

var (
	rulePattern    = regexp.MustCompile("(?m)^- <a id=\"([a-z]\\d+)\"></a>\\*\\*([A-Z]\\d+)\\*\\* ([^(]+) \\(`([a-z0-9-]+)`\\)\\.\\s")
	examplePattern = regexp.MustCompile("(?m)^`([a-z0-9]+-\\d+)`:\n\n((?:    [^\n]*\n)+)")
	bytesPattern   = regexp.MustCompile(`(?m)^    ([0-9a-f]{2}(?: [0-9a-f]{2})*)(?:  .*)?$`)
)

// specRules reads the rules and examples of SPEC.md.
func specRules(t *testing.T) specText {
	text := must(spec.Files.ReadFile("SPEC.md"))(t)
	s := specText{map[string]string{}, map[string]string{}, map[string]string{}}
	for _, m := range rulePattern.FindAllStringSubmatch(string(text), -1) {
		require.NotContains(t, s.titles, m[2], "the rule is there twice")
		require.Equal(t, strings.ToLower(m[2]), m[1], "the anchor of the rule")
		s.titles[m[2]], s.vector[m[2]] = m[3], m[4]
	}
	require.NotEmpty(t, s.titles)
	for _, m := range examplePattern.FindAllStringSubmatch(string(text), -1) {
		digits := ""
		for _, line := range bytesPattern.FindAllStringSubmatch(m[2], -1) {
			digits += strings.ReplaceAll(line[1], " ", "")
		}
		s.examples[m[1]] = digits
	}
	require.NotEmpty(t, s.examples)
	return s
}
