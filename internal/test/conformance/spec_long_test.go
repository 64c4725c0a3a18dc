package conformance

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// A longCase makes lines of long.jsonl: one for each count, and for each group of formats that agree
// on the bytes. What is between « and » is repeated as often as the count says, {i} being the index.
// In hex, headers are written as in a packet, # is the count as a u32, #1 one more, #+ the count and
// bit 31, and ~ the padding after as many bytes as the count. In values, a repeated text that begins
// with a comma has none the first time.
type longCase struct {
	kind, formats string
	counts        []int
	hex, value    string
	objects       bool
}

// What a u8 or a u16 cannot count, and one more.
var wide = []int{256, 257, 65536, 65537}

// longCases contains the rows of long.jsonl. The ids follow from the order: new rows are the last ones.
var longCases = []longCase{
	{kind: "Array", formats: all, counts: wide, hex: "<Array> # «<bool> 01000000»", value: `{"t":"Array","v":[«,{"t":"bool","v":true}»]}`},
	{kind: "Dictionary", formats: "godot4 godot3 godot2 manual4 manual30", counts: wide, hex: "<Dictionary> # «<int> {i} <Nil>»",
		value: `{"t":"Dictionary","v":[«,[{"t":"int","v":"{i}"},{"t":"Nil"}]»]}`},
	{kind: "PackedByteArray", formats: all, counts: wide, hex: "<PackedByteArray> # «61» ~", value: `{"t":"PackedByteArray","v":"«61»"}`},
	{kind: "PackedInt32Array", formats: all, counts: wide, hex: "<PackedInt32Array> # «{i}»", value: `{"t":"PackedInt32Array","v":[«,{i}»]}`},
	{kind: "PackedInt64Array", formats: "godot4 manual4", counts: wide, hex: "<PackedInt64Array> # «00000000 01000000»", value: `{"t":"PackedInt64Array","v":[«,"4294967296"»]}`},
	{kind: "PackedFloat32Array", formats: all, counts: wide, hex: "<PackedFloat32Array> # «0000c03f»", value: `{"t":"PackedFloat32Array","v":[«,1.5»]}`},
	{kind: "PackedFloat64Array", formats: "godot4 manual4", counts: wide, hex: "<PackedFloat64Array> # «00000000 0000f83f»", value: `{"t":"PackedFloat64Array","v":[«,1.5»]}`},
	{kind: "PackedStringArray", formats: engined, counts: wide, hex: "<PackedStringArray> # «02000000 61000000»", value: `{"t":"PackedStringArray","v":[«,"a"»]}`},
	{kind: "PackedStringArray", formats: manuals, counts: wide, hex: "<PackedStringArray> # «01000000 61000000»", value: `{"t":"PackedStringArray","v":[«,"a"»]}`},
	{kind: "PackedVector2Array", formats: all, counts: wide, hex: "<PackedVector2Array> # «" + model.F32(1, 2) + "»", value: `{"t":"PackedVector2Array","v":[«,1.0,2.0»]}`},
	{kind: "PackedVector3Array", formats: all, counts: wide, hex: "<PackedVector3Array> # «" + model.F32(1, 2, 3) + "»", value: `{"t":"PackedVector3Array","v":[«,1.0,2.0,3.0»]}`},
	{kind: "PackedVector4Array", formats: "godot4", counts: wide, hex: "<PackedVector4Array> # «" + model.F32(1, 2, 3, 4) + "»", value: `{"t":"PackedVector4Array","v":[«,1.0,2.0,3.0,4.0»]}`},
	{kind: "PackedColorArray", formats: all, counts: wide, hex: "<PackedColorArray> # «" + model.F32(1, 0.5, 0, 1) + "»", value: `{"t":"PackedColorArray","v":[«,1.0,0.5,0.0,1.0»]}`},
	{kind: "String", formats: all, counts: wide, hex: "<String> # «61» ~", value: `{"t":"String","v":"«a»"}`},
	{kind: "StringName", formats: "godot4", counts: wide, hex: "<StringName> # «61» ~", value: `{"t":"StringName","v":"«a»"}`},
	{kind: "packed string", formats: engined, counts: []int{255, 256, 65535, 65536}, hex: "<PackedStringArray> 01000000 #1 «61» 00 ~1", value: `{"t":"PackedStringArray","v":["«a»"]}`},
	{kind: "packed string", formats: manuals, counts: wide, hex: "<PackedStringArray> 01000000 # «61» ~", value: `{"t":"PackedStringArray","v":["«a»"]}`},
	{kind: "name of a NodePath", formats: all, counts: []int{300, 65537}, hex: "<NodePath> 01000080 00000000 01000000 # «61» ~",
		value: `{"t":"NodePath","absolute":true,"names":["«a»"],"subnames":[]}`},
	{kind: "names of a NodePath", formats: all, counts: []int{256, 300, 65537}, hex: "<NodePath> #+ 00000000 01000000 «01000000 61000000»",
		value: `{"t":"NodePath","absolute":true,"names":[«,"a"»],"subnames":[]}`},
	{kind: "sub-names of a NodePath", formats: "godot4 godot3 manual4 manual3 manual30", counts: []int{256, 300, 65537}, hex: "<NodePath> 00000080 # 00000000 «01000000 61000000»",
		value: `{"t":"NodePath","absolute":false,"names":[],"subnames":[«,"a"»]}`},
	{kind: "name of a Signal", formats: "godot4", counts: []int{300}, hex: "<Signal> # «61» ~ 05000000 00000000", value: `{"t":"Signal","name":"«a»","object":"5"}`},
	{kind: "key of a Dictionary", formats: all, counts: []int{300, 65537}, hex: "<Dictionary> 01000000 <String> # «61» ~ <Nil>", value: `{"t":"Dictionary","v":[[{"t":"String","v":"«a»"},{"t":"Nil"}]]}`},
	{kind: "class of an Object", formats: flagged, counts: []int{300}, hex: "<Object> # «61» ~ 00000000", value: `{"t":"Object","class":"«a»","properties":[]}`, objects: true},
	{kind: "name of a property", formats: flagged, counts: []int{300}, hex: "<Object> 01000000 41000000 01000000 # «61» ~ <Nil>",
		value: `{"t":"Object","class":"A","properties":[["«a»",{"t":"Nil"}]]}`, objects: true},
	{kind: "properties of an Object", formats: flagged, counts: []int{256, 257, 65537}, hex: "<Object> 01000000 41000000 # «01000000 62000000 <Nil>»",
		value: `{"t":"Object","class":"A","properties":[«,["b",{"t":"Nil"}]»]}`, objects: true},
	{kind: "declared class", formats: "godot4", counts: []int{300}, hex: "<Array+2> # «61» ~ 00000000", value: `{"t":"Array","type":{"class":"«a»"},"v":[]}`},
	{kind: "declared script", formats: "godot4", counts: []int{300}, hex: "<Dictionary+12> # «61» ~ 00000000", value: `{"t":"Dictionary","value_type":{"script":"«a»"},"v":[]}`},
	{kind: "typed Array", formats: "godot4", counts: []int{257, 65537}, hex: "<Array+1> <bool> # «<bool> 01000000»", value: `{"t":"Array","type":{"builtin":"bool"},"v":[«,{"t":"bool","v":true}»]}`},
	{kind: "typed Dictionary", formats: "godot4", counts: []int{257, 65537}, hex: "<Dictionary+5> <int> <bool> # «<int> {i} <bool> 01000000»",
		value: `{"t":"Dictionary","key_type":{"builtin":"int"},"value_type":{"builtin":"bool"},"v":[«,[{"t":"int","v":"{i}"},{"t":"bool","v":true}]»]}`},
	{kind: "levels of Arrays", formats: all, counts: levels, hex: "«<Array> 01000000» <Nil>", value: `«{"t":"Array","v":[»{"t":"Nil"}«]}»`},
	{kind: "levels of keys", formats: all, counts: levels, hex: "«<Dictionary> 01000000» <Nil> «<Nil>»", value: `«{"t":"Dictionary","v":[[»{"t":"Nil"}« ,{"t":"Nil"}]]}»`},
	{kind: "levels of values", formats: all, counts: levels, hex: "«<Dictionary> 01000000 <Nil>» <Nil>", value: `«{"t":"Dictionary","v":[[{"t":"Nil"},»{"t":"Nil"}«]]}»`},
	{kind: "levels of properties", formats: flagged, counts: levels, hex: "«<Object> 01000000 41000000 01000000 01000000 62000000» <Nil>",
		value: `«{"t":"Object","class":"A","properties":[["b",»{"t":"Nil"}«]]}»`, objects: true},
	{kind: "levels with an empty Array", formats: all, counts: levels, hex: "«<Array> 01000000» <Array> 00000000", value: `«{"t":"Array","v":[»{"t":"Array","v":[]}«]}»`},
	{kind: "levels with a packed array", formats: all, counts: levels, hex: "«<Array> 01000000» <PackedInt32Array> 01000000 05000000", value: `«{"t":"Array","v":[»{"t":"PackedInt32Array","v":[5]}«]}»`},
	{kind: "100,000 levels", formats: all, counts: []int{100000}, hex: "«<Array> 01000000» <Nil>"},
	{kind: "100,000 levels without an end", formats: all, counts: []int{100000}, hex: "«<Array> 01000000»"},
}

// levels is the limit of rule B7, and what is next to it.
var levels = []int{1023, 1024, 1025}

// TestSuiteLong: long.jsonl contains what longCases says, and the codec reads and writes it so.
func TestSuiteLong(t *testing.T) {
	var lines []suite.Long
	last := map[string]int{}
	for i := range longCases {
		c := &longCases[i]
		for _, n := range c.counts {
			var group []suite.Long
			for _, format := range strings.Fields(c.formats) {
				line := c.line(t, format, n)
				same := slices.IndexFunc(group, func(l suite.Long) bool {
					return slices.Equal(l.Hex, line.Hex) && l.Verdict == line.Verdict
				})
				if same >= 0 {
					group[same].Formats = append(group[same].Formats, format)
					group[same].Rules = joined(group[same].Rules, line.Rules)
				} else {
					group = append(group, line)
				}
			}
			for _, line := range group {
				line.ID = nextID(last, "l", line.Formats[0])
				lines = append(lines, line)
			}
		}
	}
	requireLines(t, "long", lines)
}

// line makes the line of a count in a format.
func (c *longCase) line(t *testing.T, format string, n int) suite.Long {
	f := formatNamed(t, format)
	l := suite.Long{Kind: fmt.Sprintf("%s: %d", c.kind, n), Formats: []string{format}, Objects: c.objects, Verdict: suite.Valid, Hex: c.bytes(t, f, n)}
	deep := n > 1024 && strings.Contains(c.kind, "levels")
	if deep {
		if l.Verdict = suite.Differs; f == gdwire.Godot4 || c.hex == "«<Array> 01000000»" {
			l.Verdict = suite.Invalid
		}
		l.Rules = []string{"B7"}
	} else {
		l.Rules = c.rules(t, f, c.counts[0])
	}
	if c.value != "" {
		l.Value = c.tagged(n)
		l.Encode = suite.Exact
		if l.Verdict != suite.Valid {
			l.Encode = suite.Refused
		}
	}
	if (f != gdwire.Godot4 || n > 1025) && !testenv.Full() {
		return l // seconds
	}
	p := must(l.Hex.Bytes())(t)
	o := gdwire.DecoderOptions{Format: f, AllowObjects: c.objects, Limits: gdwire.Limits{Depth: 1024}}
	d := gdwire.NewDecoder(bytes.NewReader(p), &o)
	defer d.Release()
	text, err := tagged.Append(nil, d)
	require.Equal(t, deep, err != nil, "%s: %v", l.Kind, err)
	if c.value == "" {
		return l
	}
	value := l.Value.Value()
	written, err := tagged.Encode(value, &gdwire.EncoderOptions{Format: f})
	require.Equal(t, l.Encode == suite.Refused, err != nil, l.Kind)
	if err == nil {
		require.True(t, bytes.Equal(p, written), l.Kind)
		require.True(t, sameJSON(t, text, value), l.Kind)
	}
	return l
}

// rules returns the rules that the shortest packet of a case shows.
func (c *longCase) rules(t *testing.T, f gdwire.Format, n int) []string {
	p := must(c.bytes(t, f, n).Bytes())(t)
	rules := ruleSet{}
	r := model.Reference{Format: f.String(), Objects: c.objects, P: p, Rule: rules.add}
	must(r.Decode())(t)
	if strings.Contains(c.kind, "levels") {
		rules.add("B7")
	}
	return rules.sorted()
}

var repeated = regexp.MustCompile(`«[^»]*»|[^«]+`)

// bytes returns the hexadecimal digits of a packet.
func (c *longCase) bytes(t *testing.T, f gdwire.Format, n int) (all suite.Parts) {
	count := func(n int) string { return model.U32(uint32(n)) }
	text := strings.NewReplacer("~1", strings.Repeat("00", -(n+1)&3), "~", strings.Repeat("00", -n&3),
		"#1", count(n+1), "#+", model.U32(uint32(n)|1<<31), "#", count(n)).Replace(c.hex)
	for _, s := range repeated.FindAllString(text, -1) {
		part := suite.Part{}
		if strings.HasPrefix(s, "«") {
			part.Repeat = n
		}
		var digits []string
		for _, s := range strings.Split(strings.Trim(s, "«»"), "{i}") {
			digits = append(digits, hex.EncodeToString(model.Build(t, f, s)))
		}
		if part.Text = strings.Join(digits, "{i}"); part.Text != "" {
			all = append(all, part)
		}
	}
	return all
}

// tagged returns the value as tagged JSON.
func (c *longCase) tagged(n int) (all suite.Parts) {
	for _, s := range repeated.FindAllString(c.value, -1) {
		item, ok := strings.CutPrefix(s, "«")
		item = strings.TrimSuffix(item, "»")
		after, comma := strings.CutPrefix(item, ",")
		switch {
		case !ok:
			all = append(all, suite.Part{Text: s})
		case comma:
			all = append(all, suite.Part{Text: after + ",", Repeat: n - 1}, suite.Part{Text: strings.ReplaceAll(after, "{i}", strconv.Itoa(n-1))})
		default:
			all = append(all, suite.Part{Text: item, Repeat: n})
		}
	}
	return all
}

// joined returns rules of both lists in their order.
func joined(a, b []string) []string {
	rules := ruleSet{}
	for _, rule := range slices.Concat(a, b) {
		rules.add(rule)
	}
	return rules.sorted()
}
