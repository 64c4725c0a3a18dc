package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
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
		text := must(os.ReadFile(file))(t)
		for line := range bytes.Lines(text) {
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
