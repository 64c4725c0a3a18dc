package gdscript_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdscript"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/variant"
)

// Types with names and methods, which random types contain, too.
type (
	// Move has variables of all kinds.
	//
	// It ends [here].
	Move struct {
		Base
		// Time is in UTC.
		Time   time.Time `gd:",omitzero"`
		State  state
		Pos    variant.Vector3
		Vel    [3]float32
		Items  []item
		ByName map[string]*item
		Path   []variant.Vector2i
		Rects  []variant.Rect2
		Points []variant.Vector4
		Grid   [][]int
		Counts []int `gd:",type=Array[int]"`
		Data   []byte
		Parent *Move `gd:",omitzero"`
		Any    any
		Level  *int
		Three  [3]string
		Inner  struct{ A, B int } `gd:",omitzero"`
		Pair   pair
		Class  string
		Rest   *variant.Dictionary `gd:",embed"`
	}
	Base struct {
		ID   int64
		Hits uint16
	}
	item struct {
		Name  string        `gd:",required"`
		Color variant.Color `gd:",omitzero"`
		Scale float64
	}
	pair struct {
		_ struct{} `gd:",array"`
		A int
		B string `gd:",required"`
		C []Base
	}
	branch struct {
		Name  string
		Left  *branch `gd:",omitzero"`
		All   []*branch
		Named map[string]branch
	}
	union struct {
		Tree *branch `gd:",omitzero"`
		Pair *pair   `gd:",omitzero"`
		Base *Base   `gd:",omitzero"`
	}
	odd struct { // has names that are reserved, or taken
		If      int
		Capital int `gd:"Node"`
		Local   int `gd:"_x"`
		Class   int
		Class2  int `gd:"class_"`
		É       []Color
		M       list[Message]
		I       struct{ X variant.Vector2 }
		Nested  nested
		Named   named
	}
	nested      []*nested
	named       map[string][]named
	Message     struct{ B bad }
	Item        struct{ A int }
	list[T any] struct{ All []T }
	recursive   *recursive
	state       int16 // of a player
	bad         uint8
	Color       int
	level       uint8
	marshals    int64
)

func (s state) String() string { return map[state]string{0: "Idle", 1: "Running", 7: "GoneAway"}[s] }
func (s bad) String() string   { return []string{"One", "", "One", "NAN", "9"}[s] }
func (c Color) String() string { return "red" }

func (m marshals) MarshalVariant(e *gdwire.Encoder) error { return e.WriteInt(int64(m)) }

func (l level) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(l), 2), nil }
func (l *level) UnmarshalText(b []byte) error {
	n, err := strconv.ParseUint(string(b), 2, 8)
	*l = level(n)
	return err
}

func written(t *testing.T, messages ...any) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, gdscript.Write(&b, messages...))
	return b.String()
}

// TestScript compares a script with testdata/golden.gd, which GDWIRE_WRITE_GOLDEN=1 writes.
func TestScript(t *testing.T) {
	got := written(t, Move{}, union{}, odd{}, gdscript.Options{Source: "."})
	if os.Getenv("GDWIRE_WRITE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile("testdata/golden.gd", []byte(got), 0o600))
	}
	want := testenv.Must(os.ReadFile("testdata/golden.gd"))(t)
	require.Equal(t, string(want), got)
}

func TestScriptRefusals(t *testing.T) {
	for _, c := range []struct {
		message any
		err     string
	}{
		{nil, "gdscript: <nil> is no struct"},
		{new(*item), "gdscript: *gdscript_test.item is no struct"},
		{gdscript.Options{Source: "testdata"}, `the folder "testdata" of Options.Source contains no Go files`},
		{gdscript.Options{Prefix: "_"}, `the prefix "_" cannot begin the name of a class`},
		{time.Time{}, "gdscript: time.Time is encoded as no Dictionary or Array of its fields"},
		{variant.Vector2{}, "gdscript: variant.Vector2 is encoded as no Dictionary or Array of its fields"},
		{variant.Array{}, "gdscript: variant.Array is encoded as no Dictionary or Array of its fields"},
		{struct{ A chan int }{}, "A: chan int has no Variant type"},
		{struct{ A [4]float32 }{}, "A: "},
		{struct{ R recursive }{}, "points only to pointers"},
		{struct {
			A item
			B Item
		}{}, "gdscript_test.item and gdscript_test.Item are both Item in the script: give one a name in Options.Names"},
		{struct {
			A int `gd:",what"`
		}{}, "unknown option"},
	} {
		var b bytes.Buffer
		require.ErrorContains(t, gdscript.Write(&b, c.message), c.err)
		require.Zero(t, b.Len())
	}
}

// runEngine runs a folder of scripts in a Godot 4, and returns what it prints. The test is skipped without the engine.
func runEngine(t *testing.T, scripts map[string]string, args ...string) string {
	t.Helper()
	engine := os.Getenv("GDWIRE_GODOT4")
	if engine == "" {
		t.Skip("skipped: no GDWIRE_GODOT4, so no engine was asked")
	}
	folder := t.TempDir()
	for name, script := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(script), 0o600))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, engine, append([]string{folder}, args...)...)
	c.Env = append(os.Environ(), "LIMIT=280")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	// Godot expects this file of a project that was opened in the editor.
	printed := strings.Replace(string(out), "ERROR: Could not load global script cache.", "", 1)
	require.NotContains(t, printed, "SCRIPT ERROR")
	return printed
}

// A request asks an engine to read a packet as a message.
type request struct {
	_      struct{} `gd:",array"`
	Class  string
	Packet []byte
}

// An answer is what was wrong, or "", and the packet that was written again.
type answer struct {
	_      struct{} `gd:",array"`
	Wrong  string
	Packet []byte
}

// ask returns the answers of an engine.
func ask(t *testing.T, messages string, requests []request) (answers []answer) {
	t.Helper()
	main := testenv.Must(os.ReadFile("testdata/main.gd"))(t)
	folder := t.TempDir()
	in, out := filepath.Join(folder, "in"), filepath.Join(folder, "out")
	f := testenv.Must(savefile.New(savefile.Info{}, requests))(t)
	require.NoError(t, f.Save(in))
	printed := runEngine(t, map[string]string{"main.gd": string(main), "messages.gd": messages}, in, out)
	require.NotContains(t, printed, "ERROR")
	require.NoError(t, savefile.Load(out, &answers), "%s", printed)
	require.Len(t, answers, len(requests))
	return answers
}

// oddKeys contains keys that are names of GDScript and Godot, or no names.
var oddKeys = func() []string {
	b, _ := os.ReadFile("testdata/keys.txt")
	return strings.Fields(string(b))
}()

// Types whose names are those of other things.
type (
	pairOf[K comparable, V any] struct {
		Key K
		Val V
	}
	weapon  int
	team    int8
	id      int64
	world   int
	世界      struct{ A int }
	OK      struct{}
	Node    struct{}
	Game    struct{ Items []item } // the name of an autoload
	Timer   int
	numbers struct {
		A int `gd:"max-hp"`
		B int `gd:"1"`
		C int `gd:"max_hp"`
		D int `gd:"a\nb"`
		E int `gd:"''"`
		F int `gd:"ﾞa"`
		G int `gd:"\""`
	}
)

func (w weapon) String() string { return map[weapon]string{1: "Sword", 2: "Shield"}[w] }
func (t team) String() string   { return map[team]string{-1: "None", 0: "Red", 127: "Max"}[t] }
func (i id) String() string     { return fmt.Sprintf("id%d", int64(i)) }
func (t Timer) String() string  { return "Unknown" }
func (w world) String() string {
	if w == 3 {
		return "世界"
	}
	return "Unknown"
}

// oddType returns a struct type with fields of several types for the keys, also with a _ at the end.
func oddType(keys []string) reflect.Type {
	var fields []reflect.StructField
	for _, key := range keys {
		for _, v := range []any{weapon(0), Message{}, []item{}, 0} {
			fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(len(fields)), Type: reflect.TypeOf(v), Tag: reflect.StructTag(fmt.Sprintf("gd:%q", key))})
			key += "_"
		}
	}
	return reflect.StructOf(fields)
}

// TestEngineScriptLoads loads scripts of odd and random types, with warnings as errors. Classes and variables have other names than
// the game's.
func TestEngineScriptLoads(t *testing.T) {
	r := random{rand.New(rand.NewPCG(*seed, 2))}
	cases := [][]any{
		{Move{}, union{}, odd{}, gdscript.Options{Source: "."}}, {numbers{}}, {OK{}, Node{}, 世界{}},
		{struct {
			A 世界 `gd:"世界"`
			B OK `gd:"OK"`
		}{}},
		{struct {
			A Message `gd:"Message"`
			B Message `gd:"Message_"`
		}{}},
		{struct {
			A pairOf[string, []item]
			B pairOf[state, map[string]pairOf[int, float64]]
		}{}},
		{struct {
			A weapon
			B map[string]weapon
			C []weapon `gd:",omitzero"`
			D [3]weapon
			E weapon `gd:",omitzero"`
			F team
			G id
			H Timer
			I world
			J [20]weapon
		}{}},
		{struct {
			A [65536]byte
			B [1024]item
			C [100]string `gd:",omitzero"`
			D [50][50]int `gd:",omitzero"`
			E [30]*item
		}{}},
		{struct{ Größe, имя, P, р int }{}},
		{struct {
			A int `gd:"größe"`
			B int `gd:"имя"`
			C int `gd:"p"`
			D int `gd:"р"`
			E int `gd:"ﾞ"`
			F int `gd:"名前"`
			G int `gd:"नाम"`
		}{}},
		{Game{}, gdscript.Options{Prefix: "Net"}},
		{Game{}, gdscript.Options{Names: map[reflect.Type]string{reflect.TypeFor[Game](): "GameState"}}},
		{&struct{ P item }{}, gdscript.Options{Prefix: "Net"}, gdscript.Options{Names: map[reflect.Type]string{reflect.TypeFor[item](): "ItemOfGame"}}},
		{struct {
			A item
			B Item
		}{}, gdscript.Options{Names: map[reflect.Type]string{reflect.TypeFor[Item](): "Item2"}}},
	}
	for keys := range slices.Chunk(oddKeys, 2) {
		cases = append(cases, []any{reflect.Zero(oddType(keys)).Interface()})
	}
	fixed := len(cases)
	for range 60 {
		cases = append(cases, []any{reflect.Zero(r.structure(3)).Interface()})
	}
	scripts := map[string]string{"main.gd": string(testenv.Must(os.ReadFile("testdata/loads.gd"))(t)), "override.cfg": string(testenv.Must(os.ReadFile("testdata/override.cfg"))(t))}
	for i, messages := range cases {
		var b bytes.Buffer
		if err := gdscript.Write(&b, messages...); i < fixed || err == nil {
			require.NoError(t, err)
			require.Less(t, b.Len(), 60_000)
			require.NotRegexp(t, `enum (Id|Timer) `, b.String())
			scripts[fmt.Sprintf("m%d.gd", i)] = b.String()
		}
	}
	var names strings.Builder
	for c := rune(1); c <= unicode.MaxRune; c++ {
		if gdscript.StartsName(c) {
			names.WriteString(string(c) + "\n")
		} else if gdscript.IsInName(c) {
			names.WriteString("a" + string(c) + "\n")
		}
	}
	scripts["names.txt"] = names.String() + "a"
	scripts["game.gd"], scripts["play.gd"] = "extends Node\nvar x: int = 1\n", "extends RefCounted\nvar y: int = Game.x\n"
	scripts["override.cfg"] += "[autoload]\nGame=\"*res://game.gd\"\n"
	scripts["engine.txt"] = string(testenv.Must(os.ReadFile("engine.txt"))(t))
	out := runEngine(t, scripts)
	require.NotContains(t, out, "FAILS")
	require.Equal(t, len(scripts)-4, strings.Count(out, "LOADS"), "%s", out)
}

type (
	kind1 struct{ A int }
	kind2 struct{ A int }
	team1 int
	team2 int
)

func (t team1) String() string { return [...]string{"Red", "Blue"}[t] }
func (t team2) String() string { return [...]string{"Red", "Green", "Blue"}[t] }

// TestEngineScriptChanges reads the changes in the package's doc: the last field of the old or new type is the one that changed.
func TestEngineScriptChanges(t *testing.T) {
	type (
		a   struct{ A int }
		ab  struct{ A, B int }
		c   struct{ C int }
		was struct {
			C int `gd:",was=b,was=x"`
		}
		b    struct{ B int }
		must struct {
			A int
			B int `gd:",required"`
		}
		float struct{ B float64 }
		ints  struct{ B []int32 }
		longs struct{ B []int64 }
		reals struct{ B []float64 }
		list  struct {
			B []float64 `gd:",type=Array[float]"`
		}
		point struct{ B *int }
		enum1 struct{ B team1 }
		enum2 struct{ B team2 }
		old   struct {
			A *kind1 `gd:",omitzero"`
		}
		both struct {
			B *kind2 `gd:",omitzero"`
			A *kind1 `gd:",omitzero"`
		}
		text struct{ B string }
		v1   struct {
			Name  string
			Pos   []float32
			N     int
			Gone  int
			P     *int
			Kind1 kind1
			Team  team1
		}
		v3 struct {
			Nick  string     `gd:",was=name,max=9"`
			Pos   [2]float64 `gd:",type=Array[float]"`
			N     float64
			P     int
			More  []string
			Kind1 struct{ A, B int }
			Team  team2
		}
	)
	seven := 7
	changes := map[string]struct{ old, new any }{
		"field added": {a{1}, ab{1, 7}}, "field removed": {ab{1, 7}, a{1}}, "field renamed": {b{7}, c{7}}, "field renamed with was=": {b{7}, was{7}},
		"required field added": {a{1}, must{1, 7}}, "int to float": {b{7}, float{7}}, "whole float to int": {float{7}, b{7}}, "int to a fraction": {b{7}, float{7.5}},
		"list of wider ints": {ints{[]int32{7}}, longs{[]int64{7}}}, "list of ints to floats": {ints{[]int32{7}}, reals{[]float64{7}}}, "list to type=Array": {reals{[]float64{7}}, list{[]float64{7}}},
		"pointer to value": {point{&seven}, b{7}}, "enum value inserted": {enum1{1}, enum2{2}}, "kind added to a union": {old{&kind1{7}}, both{B: &kind2{7}}},
		"kind removed": {both{B: &kind2{7}}, old{&kind1{7}}}, "String to int": {text{"a"}, b{7}},
		"six changes": {v1{"a", []float32{1, 2}, 3, 4, &seven, kind1{7}, 1}, v3{"a", [2]float64{1, 2}, 3, 7, []string{"b"}, struct{ A, B int }{7, 8}, 2}},
	}
	doc := testenv.Must(os.ReadFile("gdscript.go"))(t)
	_, table, _ := strings.Cut(string(doc), "old message, new reader   new message, old reader\n")
	table, _, _ = strings.Cut(table, "//\n")
	rows := regexp.MustCompile(`//\t(.+?)  +(.+?)  +(.+)\n`).FindAllStringSubmatch(table+"//\tsix changes  another value  another value\n", -1)
	require.Len(t, rows, len(changes))
	messages := []any{}
	var requests []request
	for _, row := range rows {
		change, ok := changes[row[1]]
		require.True(t, ok, row[1])
		messages = append(messages, change.old, change.new)
		for _, way := range [][2]any{{change.old, change.new}, {change.new, change.old}} {
			name := reflect.TypeOf(way[1]).Name()
			requests = append(requests, request{Class: strings.ToUpper(name[:1]) + name[1:], Packet: gdwiretest.Encode(t, way[0])})
		}
	}
	answers := ask(t, written(t, messages...), requests)
	for i, a := range answers {
		sent, row := reflect.ValueOf(messages[i]), rows[i/2]
		reader := reflect.TypeOf(messages[i^1])
		got, byScript := reflect.New(reader), reflect.New(reader)
		err := variant.Unmarshal(requests[i].Packet, got.Interface())
		require.Equal(t, row[2+i%2], outcome(sent, got.Elem(), err), "%s, %d: %v", row[1], i%2, err)
		require.Equal(t, err != nil, a.Wrong != "", "%s: %s", row[1], a.Wrong)
		if err == nil {
			require.NoError(t, variant.Unmarshal(a.Packet, byScript.Interface()))
			normalize(byScript.Elem())
			require.Equal(t, got.Interface(), byScript.Interface(), row[1])
		}
	}
}

// outcome returns what became of the last field of sent or got.
func outcome(sent, got reflect.Value, err error) string {
	last := func(v reflect.Value) reflect.Value { return reflect.Indirect(v.Field(v.NumField() - 1)) }
	switch {
	case err != nil:
		return "error"
	case got.NumField() < sent.NumField() && got.NumField() == 1 && sent.NumField() == 2:
		return "ignored"
	case !last(got).IsValid() || last(got).IsZero():
		return "kept"
	case fmt.Sprint(last(got)) == fmt.Sprint(last(sent)):
		return "read"
	}
	return "another value"
}

// TestEngineScriptTypes gives each variable of a Move a value of every type: the engine refuses it, or returns what Unmarshal accepts.
func TestEngineScriptTypes(t *testing.T) {
	keys := strings.Fields("id hits time state pos vel items by_name path rects points grid counts data parent any level three inner pair class")
	var requests []request
	for _, key := range keys {
		for _, v := range others {
			requests = append(requests, request{Class: "Move", Packet: gdwiretest.Encode(t, map[string]any{key: v})})
		}
	}
	answers := ask(t, written(t, Move{}, union{}, odd{}), requests)
	for i, a := range answers {
		if a.Wrong != "" {
			require.Regexp(t, `^\.`+keys[i*len(keys)/len(requests)]+`(\.\w+|\[(\d+|"[^"]*"|[^]"]*)\])*: (\w+ into \w+|is missing|\d+ elements into 3)$`, a.Wrong)
		}
	}
	accepted, _ := agree(t, requests, answers, slices.Repeat([]reflect.Type{reflect.TypeFor[Move]()}, len(requests)))
	require.Greater(t, accepted, len(keys))
}

// TestEngineScriptDepth lets an engine read objects that are nested too deeply for its stack.
func TestEngineScriptDepth(t *testing.T) {
	for path, nest := range map[string]func(b branch) branch{
		".left":            func(b branch) branch { return branch{Left: &b} },
		".all[1]":          func(b branch) branch { return branch{All: []*branch{nil, &b}} },
		`.named["a%s\nb"]`: func(b branch) branch { return branch{Named: map[string]branch{"a%s\nb": b}} },
	} {
		var b branch
		var requests []request
		for range 90 {
			b = nest(b)
			requests = append(requests, request{Class: "Branch", Packet: gdwiretest.Encode(t, b)})
		}
		for i, a := range ask(t, written(t, branch{}), requests) {
			if i < 20 {
				require.Equal(t, requests[i].Packet, a.Packet, "%d: %s", i, a.Wrong)
			} else {
				require.Equal(t, strings.Repeat(path, 21)+": nested too deeply", a.Wrong)
			}
		}
	}
}

// TestEngineScript runs a script that writes an object which contains itself several times, also beside another thread, reads into
// used objects, and writes null and Objects.
func TestEngineScript(t *testing.T) {
	script := testenv.Must(os.ReadFile("testdata/script.gd"))(t)
	out := runEngine(t, map[string]string{"messages.gd": written(t, branch{}, union{}, Move{}), "main.gd": string(script)})
	out = regexp.MustCompile(`Node#\d+`).ReplaceAllString(out, "Node#ID")
	lines := regexp.MustCompile(`(?m)^(ERROR|PRINT).*$`).FindAllString(out, -1)
	tooDeep := "ERROR: Branch" + strings.Repeat(".left", 21) + ": nested too deeply"
	require.Equal(t, []string{
		"PRINT 72", tooDeep, "PRINT {  }", "PRINT 72", tooDeep, "PRINT 0",
		`PRINT ["", "", "a", 7]`, `PRINT ["", ".base: int into Dictionary", <null>, <null>]`,
		"ERROR: Union: Array into Dictionary", "PRINT <null>", "PRINT {  }",
		`PRINT [[[{ "id": 1, "hits": 0 }], [{ "id": 1, "hits": 0 }]], 0]`, `ERROR: Move.any["a"][0]: <Node#ID> is no message`, "PRINT {  }",
		`PRINT { "id": 1, "hits": 0 }`,
	}, slices.Compact(lines))
}

var (
	seed  = flag.Uint64("seed", uint64(rand.Uint32()), "the seed of random types and values")
	types = flag.Int("types", map[bool]int{true: 150, false: 20}[testenv.Full()], "the number of random types")
)

const mathTypes = `Vector[234]i?|Rect2i?|Plane|Quaternion|AABB|Transform[23]D|Basis|Projection|Color`

// permitted contains the differences between the verdicts of a script and of Unmarshal: what the error of the one that
// refuses a value matches.
var permitted = []struct{ refuses, err, why string }{
	{"Unmarshal", `does not fit|is not an integer`, "a script knows no widths of integers, and no integers with type=float"},
	{"Unmarshal", `parsing "|parsing time`, "a script does not parse texts"},
	{"Unmarshal", `Go gdscript_test.marshals`, "the bytes of MarshalVariant are any value for a script"},
	{"script", `^(` + mathTypes + `) into Dictionary$`, "the components of math types inside a struct"},
	{"Unmarshal", `duplicate key`, "1 and 1.0, or a String and a StringName, are one key for a script"},
}

// TestEngineScriptRandom lets an engine read and write values of random types, and values in which one part is any other value. The
// script and Unmarshal agree, but for the permitted verdicts and what normalize changes.
func TestEngineScriptRandom(t *testing.T) {
	t.Logf("-seed %d", *seed)
	r := random{rand.New(rand.NewPCG(*seed, 1))}
	var all []reflect.Type
	var messages []any
	for len(all) < *types {
		typ := r.structure(3)
		zero := reflect.Zero(typ).Interface()
		if b, err := variant.Marshal(zero); err == nil && !slices.Contains(all, typ) && variant.Unmarshal(b, reflect.New(typ).Interface()) == nil {
			all, messages = append(all, typ), append(messages, zero)
		}
	}
	var script bytes.Buffer
	require.NoError(t, gdscript.Write(&script, messages...))

	var requests []request
	var of []reflect.Type
	for i, typ := range all {
		for range 30 {
			v := reflect.New(typ)
			r.fill(v.Elem(), 6)
			valid, err := variant.Marshal(v.Interface())
			if err != nil { // another value in an []any with type=Array[int]
				continue
			}
			var tree any
			require.NoError(t, variant.Unmarshal(valid, &tree))
			changed := testenv.Must(variant.Marshal(r.change(tree)))(t)
			class := "Message" + strconv.Itoa(i+1)
			requests = append(requests, request{Class: class, Packet: valid}, request{Class: class, Packet: changed})
			of = append(of, typ, typ)
		}
	}
	answers := ask(t, script.String(), requests)
	accepted, refused := agree(t, requests, answers, of)
	require.Greater(t, accepted, refused)
	require.Greater(t, refused, len(requests)/10)
}

// agree expects that the answers to requests are what Unmarshal says of them as types, but for what is permitted.
func agree(t *testing.T, requests []request, answers []answer, types []reflect.Type) (accepted, refused int) {
	t.Helper()
	differ := map[string]int{}
	for i, a := range answers {
		want, err := again(requests[i].Packet, types[i])
		switch {
		case err == nil && a.Wrong == "":
			accepted++
			got, err := again(a.Packet, types[i])
			require.NoError(t, err, "%v: %x", types[i], requests[i].Packet)
			gdwiretest.Equal(t, got, want)
			require.False(t, t.Failed(), "%v: %x", types[i], requests[i].Packet)
		case err != nil && a.Wrong != "":
			refused++
		case err == nil:
			_, text, _ := strings.Cut(a.Wrong, ": ")
			differ[why(t, "script", text)]++
		default:
			differ[why(t, "Unmarshal", err.Error())]++
		}
	}
	t.Logf("both accept %d and refuse %d; %v", accepted, refused, differ)
	return accepted, refused
}

// why returns why a verdict is permitted.
func why(t *testing.T, refuses, err string) string {
	for _, p := range permitted {
		if p.refuses == refuses && regexp.MustCompile(p.err).MatchString(err) {
			return p.why
		}
	}
	t.Errorf("not permitted: %s refuses: %s", refuses, err)
	return ""
}

// again returns what Marshal writes of a packet that Unmarshal read as a t, as a tree.
func again(packet []byte, t reflect.Type) (tree any, err error) {
	v := reflect.New(t)
	if err = variant.Unmarshal(packet, v.Interface()); err == nil {
		normalize(v.Elem())
		packet, err = variant.Marshal(v.Interface())
	}
	if err == nil {
		err = variant.Unmarshal(packet, &tree)
	}
	return tree, err
}

// normalize makes nil what is empty: with omitzero, they are the same for a script, but not for Go.
func normalize(v reflect.Value) {
	raw, isRaw := v.Interface().(variant.Raw)
	switch k := v.Kind(); {
	case isRaw && bytes.Equal(raw.Data, make([]byte, 4)), (k == reflect.Slice || k == reflect.Map) && v.Len() == 0:
		v.SetZero()
	case k == reflect.Pointer && !v.IsNil():
		normalize(v.Elem())
	case k == reflect.Slice, k == reflect.Array:
		for i := range v.Len() {
			normalize(v.Index(i))
		}
	case k == reflect.Map:
		for _, key := range v.MapKeys() {
			e := reflect.New(v.Type().Elem()).Elem()
			e.Set(v.MapIndex(key))
			normalize(e)
			v.SetMapIndex(key, e)
		}
	case k == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				normalize(v.Field(i))
			}
		}
	}
}

// others contains a value of every type but ObjectID: an engine writes the id of an EncodedObjectAsID.
var others = func() []any {
	all := []any{nil}
	for packet := range gdwiretest.Packets(gdwire.Godot4) {
		var v any
		_ = variant.Unmarshal(packet, &v)
		if _, isID := v.(variant.ObjectID); !isID && v != nil {
			all = append(all, v)
		}
	}
	typed := &variant.Dictionary{Key: gdwire.Elem{Type: gdwire.TypeInt}, Value: gdwire.Elem{Type: gdwire.TypeString}}
	typed.Set(1, "a")
	return append(all, int64(0), int64(1), int64(300), int64(-1)<<63, 2.0, "", "a", "a/b", "%s\"\\\n", "é世😀", typed, &variant.Array{Elem: typed.Key, Values: []any{1}})
}()

// leaves contains values of types without random parts. That of a pointer to an interface is the interface.
var leaves = append([]any{
	0, int8(0), uint16(0), uint64(0), float32(0), state(0), level(0), time.Time{}, [2]float32{}, [3]float64{}, [2]int32{}, [9]float32{}, variant.RID(0),
	branch{}, marshals(0), pair{}, union{}, new(any), new(any), variant.Raw{},
}, others[1:]...)

// tagged contains values of types that fit a type= in a tag.
var tagged = []struct {
	v  any
	as string
}{
	{0, "float"}, {0.0, "int"}, {"", "StringName"}, {"", "NodePath"}, {[4]float32{}, "Color"}, {[]string{}, "Array[StringName]"}, {[]int{}, "Array[int]"},
	{[]float32{}, "Array[float]"}, {[]byte{}, "Array"}, {map[string]int{}, "Dictionary[StringName, int]"}, {[]Base{}, "Array[Dictionary]"},
	{[]int{}, "PackedInt64Array"}, {map[int]Base{}, "Dictionary[int, Dictionary]"}, {new([]string), "Array[String]"}, {level(0), "StringName"},
	{[2]string{}, "Array[NodePath]"},
}

// random makes random types and values.
type random struct{ *rand.Rand }

func pick[T any](r random, all ...T) T { return all[r.IntN(len(all))] }

func (r random) typ(depth int) reflect.Type {
	kind := r.IntN(9)
	if depth == 0 {
		kind = 9
	}
	switch kind {
	case 0, 1:
		return reflect.SliceOf(r.typ(depth - 1))
	case 2:
		return reflect.ArrayOf(r.IntN(4), r.typ(depth-1))
	case 3:
		return reflect.MapOf(reflect.TypeOf(pick[any](r, "", 0, variant.Vector2i{}, false, variant.StringName(""), 0.0, level(0), state(0))), r.typ(depth-1))
	case 4:
		return reflect.PointerTo(r.typ(depth - 1))
	case 5:
		return r.structure(depth - 1)
	}
	if t := reflect.TypeOf(pick(r, leaves...)); t != reflect.TypeFor[*any]() {
		return t
	}
	return reflect.TypeFor[any]()
}

// structure returns a struct type, with keys that are reserved in scripts.
func (r random) structure(depth int) reflect.Type {
	fields := pick(r, nil, nil, nil, []reflect.StructField{{Name: "Base", Type: reflect.TypeFor[Base](), Anonymous: true}},
		[]reflect.StructField{{Name: "_", PkgPath: "x", Type: reflect.TypeFor[struct{}](), Tag: `gd:",array"`}},
		[]reflect.StructField{{Name: "Rest", Type: reflect.TypeOf(pick[any](r, &variant.Dictionary{}, map[string]int{}, map[string]any{}, map[string]Base{})), Tag: `gd:",embed"`}})
	for i, key := range r.Perm(len(oddKeys))[:r.IntN(7)] {
		f := reflect.StructField{Name: "F" + strconv.Itoa(i), Type: r.typ(depth)}
		option := pick(r, "", "", ",omitzero", ",required")
		if x := pick(r, tagged...); r.IntN(5) == 0 {
			f.Type, option = reflect.TypeOf(x.v), option+",type="+x.as
		}
		if k := f.Type.Kind(); (k == reflect.String || k == reflect.Slice || k == reflect.Map) && r.IntN(3) == 0 {
			option += ",max=2"
		}
		if r.IntN(9) == 0 {
			option += ",was=" + oddKeys[key] + " of before"
		}
		f.Tag = reflect.StructTag("gd:" + strconv.Quote(oddKeys[key]+option))
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// fill sets v to a random value.
func (r random) fill(v reflect.Value, depth int) {
	t := v.Type()
	same := slices.DeleteFunc(slices.Clone(others), func(x any) bool { return reflect.TypeOf(x) != t })
	switch k := t.Kind(); {
	case len(same) > 0:
		v.Set(reflect.ValueOf(pick(r, same...)))
	case t == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1e9), 0).UTC()))
	case t == reflect.TypeFor[variant.Raw]():
		b, _ := variant.Marshal(pick(r, others...))
		v.Set(reflect.ValueOf(variant.Raw{Data: b}))
	case v.CanInt() || v.CanUint() || v.CanFloat():
		v.Set(reflect.ValueOf(pick(r, 0, 1, 7, 100)).Convert(t))
	case k == reflect.Interface:
		v.Set(reflect.ValueOf(pick(r, others[1:]...)))
	case k == reflect.Pointer && depth > 0 && r.IntN(3) > 0:
		v.Set(reflect.New(t.Elem()))
		r.fill(v.Elem(), depth-1)
	case k == reflect.Slice && depth > 0:
		v.Set(reflect.MakeSlice(t, r.IntN(4), 4))
		fallthrough
	case k == reflect.Array:
		for i := range v.Len() {
			r.fill(v.Index(i), depth-1)
		}
	case k == reflect.Map && depth > 0:
		v.Set(reflect.MakeMap(t))
		for range r.IntN(4) {
			k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			r.fill(k, 0)
			r.fill(e, depth-1)
			v.SetMapIndex(k, e)
		}
	case k == reflect.Struct:
		for i := range v.NumField() {
			if t.Field(i).IsExported() && r.IntN(4) > 0 {
				r.fill(v.Field(i), depth-1)
			}
		}
	}
}

// change returns a value of which some parts are missing, or another value.
func (r random) change(v any) any {
	d, isDict := v.(*variant.Dictionary)
	a, isArray := v.(*variant.Array)
	switch {
	case r.IntN(8) == 0:
		return pick(r, others...)
	case isDict:
		changed := &variant.Dictionary{}
		for k, e := range d.All() {
			if r.IntN(30) > 0 {
				changed.Set(k, r.change(e))
			}
		}
		return changed
	case isArray:
		changed := &variant.Array{}
		for _, e := range a.Values {
			changed.Values = append(changed.Values, r.change(e))
		}
		return changed
	}
	return v
}
