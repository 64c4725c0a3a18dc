package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/variant"
)

// structMain checks that the saves are the same bytes after they were decoded into their types.
const structMain = `
func check(name string, format gdwire.Format, lengths savefile.Lengths, values ...any) {
	f, err := savefile.Open(name, &savefile.Options{Decoder: gdwire.DecoderOptions{Format: format}, Lengths: lengths})
	if err == nil {
		err = f.Unmarshal(values...)
	}
	if err == nil {
		f, err = savefile.New(f.Info, values...)
	}
	if err != nil {
		panic(name + ": " + err.Error())
	}
	var got bytes.Buffer
	_, err = f.WriteTo(&got)
	if data, _ := os.ReadFile(name); err != nil || !bytes.Equal(got.Bytes(), data) {
		panic(fmt.Sprint(name, ": other bytes ", err))
	}
	fmt.Println("same")
}

// lacks checks whether the type of value requires a key.
func lacks(format gdwire.Format, required bool, value any) {
	data, err := variant.Marshal(map[string]any{}, variant.Options{Encoder: gdwire.EncoderOptions{Format: format}})
	if err != nil {
		panic(err)
	}
	err = variant.Unmarshal(data, value, variant.Options{Decoder: gdwire.DecoderOptions{Format: format}})
	if errors.Is(err, variant.ErrMissingKey) != required || !required && err != nil {
		panic(fmt.Sprintf("%T: required %v: %v", value, required, err))
	}
	fmt.Println("required", required)
}
`

// dict returns a Dictionary of keys and values in turn.
func dict(pairs ...any) *variant.Dictionary {
	d := new(variant.Dictionary)
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], pairs[i+1])
	}
	return d
}

// oddKeys are keys of the top that are no names, or no text.
var oddKeys = []any{"Max HP", "a, b", "it's \"x\" \\ `\n", "日本", "-", "", "hp", "HP", int64(7), variant.Vector2{X: 1}, "after"}

// randomTop returns a Dictionary as randomSave does, with any keys and order.
func randomTop(random *rand.Rand) *variant.Dictionary {
	d := randomSave(random, 2)
	if first := random.IntN(4) == 0; first {
		d.Delete("gold")
		d.Set("gold", int64(1))
	}
	for i := range 100 * random.IntN(2) {
		d.Set(fmt.Sprint("ware", i), int64(i))
	}
	for _, key := range oddKeys {
		if random.IntN(4) > 0 {
			d.Set(key, int64(random.IntN(2)))
		}
	}
	return d
}

// randomSave returns a Dictionary with some of several keys, whose types can differ.
func randomSave(random *rand.Rand, depth int) *variant.Dictionary {
	d := &variant.Dictionary{}
	for i, key := range []string{"version", "player_name", "gold", "pos", "items", "flags", "type", "map", "speed", "stats"} {
		if random.IntN(8) == 0 {
			continue
		}
		var v any
		switch {
		case random.IntN(30) == 0:
			v = []any{nil, true, "text", int64(0)}[random.IntN(4)]
		case i == 4 && depth > 0:
			a := &variant.Array{}
			for range random.IntN(4) {
				a.Values = append(a.Values, randomSave(random, depth-1))
			}
			v = a
		case i == 9 && depth > 0:
			v = randomSave(random, depth-1)
		default:
			v = []any{int64(i), "Ada", int64(random.IntN(2)), variant.Vector3{X: 1}, &variant.Array{}, &variant.Array{Values: []any{"a", int64(1)}}, variant.NodePath("a"), []byte{1}, 0.5, &variant.Dictionary{}}[i]
		}
		d.Set(key, v)
	}
	return d
}

var (
	declared  = regexp.MustCompile(`type (\w+) struct`)
	plain     = regexp.MustCompile(`(?m)^\t\w+ +\S+( ` + "`" + `gd:"\w+"` + "`" + `)?( //.*)?$`) // a field without options
	variables = regexp.MustCompile(`(?m)^//\tvar \w+ (.*)$`)
)

// severalValues returns values of one save, of which the first is a random Dictionary.
func severalValues(random *rand.Rand, n int) []any {
	all := []any{randomTop(random), int64(random.IntN(9)), "text", &variant.Array{Values: []any{randomSave(random, 1)}}, randomSave(random, 1), nil}
	return all[:n]
}

// The printed types give back every byte: built and run, for saves of two formats with one or several values,
// one by one and merged, with and without -required; for 200 sets of saves at full size.
func TestStruct(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil || testing.Short() {
		t.Skip("it runs the go command")
	}
	folder := t.TempDir()
	large := must(os.ReadFile(testdata("godot4.7-dev", "save_game_large.bin")))(t)
	random := rand.New(rand.NewPCG(11, 12))
	var types, calls strings.Builder
	n, sets := 0, 20
	if testenv.Full() {
		sets = 100
	}
	for _, format := range []gdwire.Format{gdwire.Godot4, gdwire.Godot3} {
		for i := range sets {
			lengths := savefile.NoLengths + savefile.Lengths(i%2)
			var names []string
			for j := range 1 + i%3 {
				f := must(savefile.New(savefile.Info{Format: format, Lengths: lengths}, severalValues(random, 1+i%4/2*5)...))(t)
				names = append(names, filepath.Join(folder, fmt.Sprint(format, i, "-", j)))
				require.NoError(t, f.Save(names[j]))
				if format == gdwire.Godot4 && i == 0 {
					require.NoError(t, os.WriteFile(names[j], large, 0o600))
				}
			}
			name := fmt.Sprint("Save", n, "_")
			n++
			required := i%5 < 2
			args := append([]string{"struct", "-q", fmt.Sprint("-required=", required), "-format", format.String(), "-frame", open.Frames[i%2].String(), "-type", name}, names...)
			r := runWith(nil, args...)
			require.Zero(t, r.status, r.err)
			head, source, _ := strings.Cut(r.out, "import \"github.com/gdwire/gdwire/variant\"\n")
			vars := []string{name}
			if all := variables.FindAllStringSubmatch(head, -1); all != nil {
				vars = nil
				for _, v := range all {
					vars = append(vars, v[1])
				}
			}
			for _, inner := range declared.FindAllStringSubmatch(source, -1) {
				if !strings.HasPrefix(inner[1], name) { // each type has inner types of the same names
					uses := regexp.MustCompile(`(?m)^(type |\t\w+ +(?:\[\])?)` + inner[1] + `\b`)
					source = uses.ReplaceAllString(source, "${1}"+name+inner[1])
				}
			}
			types.WriteString(source)
			first, _, _ := strings.Cut(source[strings.Index(source, "\ntype "):], "\n}")
			if strings.HasPrefix(first, "\ntype "+vars[0]+" struct") {
				fmt.Fprintf(&calls, "\tlacks(%d, %v, new(%s))\n", format, strings.Contains(first, ",required"), vars[0])
			}
			if required {
				require.NotRegexp(t, plain, source)
			} else {
				require.NotContains(t, source, ",required")
			}
			for _, file := range names {
				fmt.Fprintf(&calls, "\tcheck(%q, %d, %d, new(%s))\n", file, format, lengths, strings.Join(vars, "), new("))
			}
		}
	}
	program := filepath.Join(folder, "main.go")
	source := "package main\n\nimport (\n\t\"bytes\"\n\t\"errors\"\n\t\"fmt\"\n\t\"os\"\n\n\t\"github.com/gdwire/gdwire\"\n\t\"github.com/gdwire/gdwire/savefile\"\n\t\"github.com/gdwire/gdwire/variant\"\n)\n" +
		structMain + types.String() + "\nfunc main() {\n" + calls.String() + "}\n"
	require.NoError(t, os.WriteFile(program, []byte(source), 0o600))
	run := exec.Command("go", "run", program)
	run.Dir = filepath.Join("..", "..")
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, strings.Count(calls.String(), "check("), strings.Count(string(out), "same"), "%s", out)
	require.Greater(t, strings.Count(string(out), "same"), 40)
	require.Greater(t, strings.Count(string(out), "required true"), 5)
	require.Greater(t, strings.Count(string(out), "required false"), 5)
	require.Greater(t, strings.Count(calls.String(), "), new(string)"), 10, "of several values")
}

// TestStructOrder: the fields are in an order that all records have, if there is one, wherever the keys that a record lacks
// would be.
func TestStructOrder(t *testing.T) {
	for _, one := range []struct{ keys, want string }{
		{"ac bc", "A B C"},
		{"ac ab", "A C B"},
		{"a b ba", "B A"},
		{"abd bcd acd", "A B C D"},
		{"cab cba", "C"},
		{"ab ba", "[]*variant.Dictionary"},
		{"ab bc ca", "[]*variant.Dictionary"},
	} {
		records := &variant.Array{}
		for keys := range strings.FieldsSeq(one.keys) {
			record := dict()
			for _, key := range keys {
				record.Set(string(key), int64(1))
			}
			records.Values = append(records.Values, record)
		}
		name := filepath.Join(t.TempDir(), "save")
		f := must(savefile.New(savefile.Info{}, dict("records", records)))(t)
		require.NoError(t, f.Save(name))
		r := runWith(nil, "struct", name)
		require.Zero(t, r.status, r.err)
		if _, inner, ok := strings.Cut(r.out, "type Record struct {"); ok {
			fields := regexp.MustCompile(`(?m)^\t([A-D]) `).FindAllString(inner, -1)
			require.Equal(t, one.want, strings.Join(strings.Fields(strings.Join(fields, "")), " "), one.keys)
		} else {
			require.Contains(t, r.out, "Records "+one.want, one.keys)
		}
	}
}

// TestStructTop: every save with a Dictionary at its top has a type. Fields are the text keys that are before all others, in an order
// of all saves.
func TestStructTop(t *testing.T) {
	many, wares := dict(), ""
	for i := range 1100 {
		many.Set(fmt.Sprint("ware ", i), i)
		if i < 1024 {
			wares += fmt.Sprintf("Ware%d:ware %[1]d ", i)
		}
	}
	odd := dict()
	for _, key := range oddKeys {
		odd.Set(key, int64(1))
	}
	for name, c := range map[string]struct {
		saves []any
		want  string // fields and their keys
	}{
		"text":              {[]any{odd}, "MaxHP:Max HP AB:a, b ItSX:it's \"x\" \\ `\n X日本:日本 X:- "},
		"many":              {[]any{many}, wares},
		"StringName":        {[]any{dict("a", 1, variant.StringName("b"), 2, "c", 3), dict("b", 1)}, "A:a "},
		"int":               {[]any{dict(1, 2)}, ""},
		"int in one save":   {[]any{dict("a", 1, "b", 2), dict("a", 1, 5, 6, "b", 2)}, "A:a "},
		"order":             {[]any{dict("z", 0, "a", 1, "b", 2), dict("z", 0, "b", 1, "a", 2, "c", 3)}, "Z:z "},
		"null, and missing": {[]any{dict("z", 1, "a", nil, "b", 2), dict("z", 1, "b", 2)}, "Z:z "},
		"empty":             {[]any{dict(), dict("a", 1)}, "A:a "},
		"all empty":         {[]any{dict()}, ""},
		"typed":             {[]any{&variant.Dictionary{Key: gdwire.Elem{Type: gdwire.TypeString}}}, "type Save = *variant.Dictionary"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			args := []string{"struct"}
			for i, save := range c.saves {
				args = append(args, filepath.Join(folder, fmt.Sprint(i)))
				require.NoError(t, must(savefile.New(savefile.Info{}, save))(t).Save(args[i+1]))
			}
			r := runWith(nil, args...)
			require.Zero(t, r.status, r.err)
			if name == "typed" {
				require.Contains(t, r.out, c.want)
				return
			}
			var got strings.Builder
			file := must(parser.ParseFile(token.NewFileSet(), "", r.out, 0))(t)
			for _, f := range file.Scope.Lookup("Save").Decl.(*ast.TypeSpec).Type.(*ast.StructType).Fields.List {
				if f.Names[0].Name == "Rest" {
					continue
				}
				key := strings.ToLower(f.Names[0].Name)
				if f.Tag != nil {
					tag := must(strconv.Unquote(f.Tag.Value))(t)
					if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("gd"), ","); strings.HasPrefix(name, "'") {
						key = reflect.StructTag(tag).Get("gd")
						key = must(strconv.Unquote(`"` + strings.NewReplacer(`\'`, "'", `"`, `\"`).Replace(strings.TrimSuffix(strings.TrimSuffix(key[1:], ",omitzero"), "'")) + `"`))(t)
					}
				}
				fmt.Fprintf(&got, "%s:%s ", f.Names[0].Name, key)
			}
			require.Equal(t, c.want, got.String())
		})
	}
}

// TestStructErrors: files with other numbers of values, with packets, and without a Dictionary.
func TestStructErrors(t *testing.T) {
	folder := t.TempDir()
	var names []string
	for i, values := range [][]any{{1, 2}, {1, 2, 3}, make([]any, 17)} {
		f := must(savefile.New(savefile.Info{}, values...))(t)
		names = append(names, filepath.Join(folder, fmt.Sprint(i)))
		require.NoError(t, f.Save(names[i]))
	}
	for want, files := range map[string][]string{
		"contain 2 and 3 values: print types for saves with the same number": names[:2],
		"contains more than 16 values, which would each need a type":         names[2:],
		"the saves contain no Dictionary, which could be":                    names[:1],
	} {
		r := runWith(nil, append([]string{"struct", "-format", "godot4", "-frame", "u32"}, files...)...)
		require.Equal(t, statusBad, r.status)
		require.Contains(t, r.err, want)
	}
}
