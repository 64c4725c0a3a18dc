package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/internal/values/tagged"
	"github.com/gdwire/gdwire/internal/values/text"
)

// otherTexts are texts that are read and not written, and texts that are not read, with their rules. The
// ids follow from the order: new ones are the last ones.
var otherTexts = []struct {
	rule, text string
	packet     string // of what is read
}{
	{"X9", "TRUE", "<bool> 01000000"},
	{"X9", "Null", "<Nil>"},
	{"X9", "NaN", "<float+1> 00000000 0000f87f"},
	{"X9", "0x10", "<int> 10000000"},
	{"X9", "-0x1F", "<int> e1ffffff"},
	{"X9", "1e3", "<float> 00007a44"},
	{"X9", "5.", "<float> 0000a040"},
	{"X9", "'a'", "<String> 01000000 61000000"},
	{"X9", "&'a'", "<StringName> 01000000 61000000"},
	{"X9", `"\u0041\t\x41\U0001f600"`, "<String> 07000000 410941f0 9f988000"},
	{"X9", "Vector2( 1 ,-2 )", "<Vector2> 0000803f 000000c0"},
	{"X9", "[ 1,true ]", "<Array> 02000000 <int> 01000000 <bool> 01000000"},
	{"X9", "{1:2}", "<Dictionary> 01000000 <int> 01000000 <int> 02000000"},
	{"X9", "f:5", "<float> 0000a040"},
	{"X9", "i:5.0", "<int> 05000000"},
	{"X9", "b:true", "<bool> 01000000"},
	{"X9", "s:abc", "<String> 03000000 61626300"},
	{"X9", "sn:a", "<StringName> 01000000 61000000"},
	{"X9", "np:/a", "<NodePath> 01000080 00000000 01000000 01000000 61000000"},
	{"X10", "", ""}, {"X10", "'it''s'", ""}, {"X10", "a", ""}, {"X10", "+5", ""}, {"X9", "1_000", "<int> e8030000"}, {"X9", ".5", "<float> 0000003f"}, {"X10", "9223372036854775808", ""}, {"X10", "1e400", ""}, {"X10", "inf_neg", ""},
	{"X10", `"a`, ""}, {"X10", `"\ud800"`, ""}, {"X10", `"\q"`, ""}, {"X9", "[1,]", "<Array> 01000000 <int> 01000000"}, {"X10", "[1 2]", ""}, {"X10", "[1", ""}, {"X10", "{1}", ""}, {"X10", "Vector2(1)", ""}, {"X10", "Vector2(1, 2, 3)", ""},
	{"X10", "Vector2i(1.5, 2)", ""}, {"X10", "Vector2i(2147483648, 0)", ""}, {"X10", "Vector5(1)", ""}, {"X10", `PackedByteArray("0g")`, ""}, {"X10", "PackedInt32Array(1, 2)", ""},
	{"X9", "NodePath(\"a\")", "<NodePath> 01000080 00000000 00000000 01000000 61000000"}, {"X9", "Color(\"red\")", "<Color> 0000803f 00000000 00000000 0000803f"}, {"X10", "1 2", ""},
	{"X9", "0b101", "<int> 05000000"}, {"X9", `"\/"`, "<String> 01000000 2f000000"}, {"X9", "Color.RED", "<Color> 0000803f 00000000 00000000 0000803f"},
	{"X9", `Color("#f00")`, "<Color> 0000803f 00000000 00000000 0000803f"}, {"X9", "Vector2.UP", "<Vector2> 00000000 000080bf"}, {"X10", "1__0", ""}, {"X10", `Color("reed")`, ""},
}

// textRules contains the rule for the text of each type.
var textRules = func() map[string]string {
	m := map[string]string{}
	for rule, types := range map[string]string{
		"X1": "Nil bool int float", "X2": "String StringName NodePath", "X4": "RID ObjectID Signal Callable", "X5": "Array", "X6": "Dictionary", "X7": "Object",
	} {
		for _, typ := range strings.Fields(types) {
			m[typ] = rule
		}
	}
	return m
}()

// TestSuiteText: text.jsonl contains the short values of values.jsonl as they are printed, and
// otherTexts, and each is parsed as its packet.
func TestSuiteText(t *testing.T) {
	var lines []suite.Text
	values := must(suite.Values())(t)
	seen := map[string]bool{}
	for _, v := range values {
		if !slices.Contains(v.Formats, "godot4") || v.Encode != suite.Exact || v.Double || len(v.Hex) > 200 {
			continue
		}
		d := gdwire.NewDecoder(bytes.NewReader(v.Hex), &gdwire.DecoderOptions{AllowObjects: true})
		p := text.Printer{Decoder: d}
		require.NoError(t, p.Next(0))
		d.Release()
		if written := string(p.Buf); !seen[written] {
			seen[written] = true
			var value tagged.Value
			require.NoError(t, json.Unmarshal(v.Value, &value))
			typ := value.Type
			rule := textRules[typ]
			if rule == "" {
				rule = map[bool]string{true: "X8", false: "X3"}[strings.HasPrefix(typ, "Packed")]
			}
			lines = append(lines, suite.Text{ID: "x" + v.ID[1:], Formats: []string{"godot4"}, Rules: []string{rule}, Text: written, Verdict: suite.Valid, Objects: v.Objects, Hex: v.Hex})
		}
	}
	for i, c := range otherTexts {
		l := suite.Text{ID: fmt.Sprintf("xr-%04d", i+1), Formats: []string{"godot4"}, Rules: []string{c.rule}, Text: c.text, Verdict: suite.Invalid}
		if c.packet != "" {
			l.Verdict, l.Read = suite.Valid, true
			l.Hex = model.Build(t, gdwire.Godot4, c.packet)
		}
		lines = append(lines, l)
	}
	for _, l := range lines {
		v, err := text.ParseValue(l.Text)
		if l.Verdict == suite.Invalid {
			require.Error(t, err, l.Text)
			continue
		}
		require.NoError(t, err, l.Text)
		var b bytes.Buffer
		e := gdwire.NewEncoder(&b, nil)
		require.NoError(t, v.Write(e, false), l.Text)
		require.NoError(t, e.Close())
		require.Equal(t, []byte(l.Hex), b.Bytes(), l.Text)
		if !l.Read {
			require.Equal(t, l.Text, v.String())
		}
	}
	requireLines(t, "text", lines)
}

// A schema is a part of schema.json, by the keywords that it uses.
type schema struct {
	Ref         string `json:"$ref"`
	Type        string
	AnyOf       []*schema
	Enum        []any
	Const       any
	Pattern     string
	MinLength   int
	Minimum     *float64
	Maximum     *float64
	MinItems    int
	MaxItems    *int
	Properties  map[string]*schema
	Required    []string
	Items       *schema
	PrefixItems []*schema
	Names       *schema            `json:"propertyNames"`
	Additional  any                `json:"additionalProperties"` // false, or a schema that is not looked at
	Defs        map[string]*schema `json:"$defs"`
}

// accepts reports whether a value, as package json decodes it, is what s describes. root has the definitions.
func (s *schema) accepts(root *schema, v any) bool {
	if s == nil {
		return true
	}
	if s.Ref != "" {
		return root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")].accepts(root, v)
	}
	if s.AnyOf != nil {
		return slices.ContainsFunc(s.AnyOf, func(s *schema) bool { return s.accepts(root, v) })
	}
	if s.Enum != nil && !slices.Contains(s.Enum, v) || s.Const != nil && s.Const != v {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		return (s.Type == "object" || s.Type == "") && s.acceptsObject(root, v)
	case []any:
		return (s.Type == "array" || s.Type == "") && s.acceptsArray(root, v)
	case string:
		return (s.Type == "string" || s.Type == "") && len(v) >= s.MinLength && (s.Pattern == "" || regexp.MustCompile(s.Pattern).MatchString(v))
	case bool:
		return s.Type == "boolean" || s.Type == ""
	case float64:
		whole := s.Type != "integer" || v == float64(int64(v))
		return (s.Type == "number" || s.Type == "integer" || s.Type == "") && whole && (s.Minimum == nil || v >= *s.Minimum) && (s.Maximum == nil || v <= *s.Maximum)
	}
	return false // null is nowhere
}

func (s *schema) acceptsObject(root *schema, v map[string]any) bool {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return false
		}
	}
	for name, member := range v {
		p, ok := s.Properties[name]
		if !ok && s.Additional == false || !p.accepts(root, member) || !s.Names.accepts(root, name) {
			return false
		}
	}
	return true
}

func (s *schema) acceptsArray(root *schema, v []any) bool {
	if len(v) < s.MinItems || s.MaxItems != nil && len(v) > *s.MaxItems {
		return false
	}
	for i, item := range v {
		of := s.Items
		if i < len(s.PrefixItems) {
			of = s.PrefixItems[i]
		}
		if !of.accepts(root, item) {
			return false
		}
	}
	return true
}

// TestSuiteSchema: schema.json describes every line, the README every member, and the schema accepts
// nothing else.
func TestSuiteSchema(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "spec", "vectors")
	text := must(os.ReadFile(filepath.Join(dir, "schema.json")))(t)
	readme := must(os.ReadFile(filepath.Join(dir, "README.md")))(t)
	var root schema
	require.NoError(t, json.Unmarshal(text, &root))
	names := must(filepath.Glob(filepath.Join(dir, "*.jsonl")))(t)
	require.Len(t, root.AnyOf, len(names))
	for _, file := range names {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		def := root.Defs[name]
		require.NotNil(t, def, name)
		require.Contains(t, string(readme), "## "+name+".jsonl")
		for member := range def.Properties {
			require.Contains(t, string(readme), "`"+member+"`", name)
		}
		for line := range bytes.Lines(must(os.ReadFile(file))(t)) {
			var v any
			require.NoError(t, json.Unmarshal(line, &v))
			require.True(t, def.accepts(&root, v), "%s: %s", name, line)
			require.True(t, root.accepts(&root, v))
		}
	}

	const line = `{"id":"g4-0001","name":"","since":"4.0","formats":["godot4"],"rules":["S1"],"value":{"t":"Nil"},"hex":"00000000","encode":"exact"}`
	for _, c := range []struct{ from, to string }{
		{`"t":"Nil"`, `"t":"Nil"`}, {"{}", "{}"},
		{`"t":"Nil"`, `"t":"Vector5"`}, {`"t":"Nil"`, `"t":"RID"`}, {`"t":"Nil"`, `"t":"Nil","v":null`}, {`"t":"Nil"`, `"t":"Array","v":[{}]`}, {`"t":"Nil"`, `"t":"Vector2","v":[1]`},
		{`"t":"Nil"`, `"t":"int","v":5`}, {`"t":"Nil"`, `"t":"Array","v":[],"type":{"class":""}`}, {`"t":"Nil"`, `"t":"Dictionary","v":[[{"t":"Nil"}]]`},
		{"godot4", "godot5"}, {"00000000", "0"}, {"exact", "maybe"}, {"S1", "s1"}, {"g4-0001", "p4-0001"}, {`"since":"4.0",`, ""}, {`"name"`, `"nome"`},
	} {
		var v any
		require.NoError(t, json.Unmarshal([]byte(strings.Replace(line, c.from, c.to, 1)), &v))
		require.Equal(t, c.from == c.to, root.accepts(&root, v), "%s → %s", c.from, c.to)
	}
}
