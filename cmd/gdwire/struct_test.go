package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// structMain checks that the saves are the same bytes after they were decoded into their types.
const structMain = `
func check(v any, format gdwire.Format, name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	o := variant.Options{Decoder: gdwire.DecoderOptions{Format: format}, Encoder: gdwire.EncoderOptions{Format: format}}
	if err := variant.Unmarshal(data, v, o); err != nil {
		panic(name + ": " + err.Error())
	}
	got, err := variant.Marshal(v, o)
	if err != nil || !bytes.Equal(got, data) {
		panic(fmt.Sprint(name, ": other bytes ", err))
	}
	fmt.Println("same")
}
`

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

var declared = regexp.MustCompile(`type (\w+) struct`)

// The printed types give back every byte: built and run, for saves of two formats, one by one and merged;
// for 200 sets of saves at full size.
func TestStruct(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil || testing.Short() {
		t.Skip("it runs the go command")
	}
	folder := t.TempDir()
	large, err := os.ReadFile(testdata("godot4.7-dev", "save_game_large.bin"))
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(11, 12))
	var types, calls strings.Builder
	n, sets := 0, 20
	if testenv.Full() {
		sets = 100
	}
	for _, format := range []gdwire.Format{gdwire.Godot4, gdwire.Godot3} {
		for i := range sets {
			var names []string
			for j := range 1 + i%3 {
				data, err := variant.Marshal(randomSave(random, 2), variant.Options{Encoder: gdwire.EncoderOptions{Format: format}})
				require.NoError(t, err)
				if format == gdwire.Godot4 && i == 0 {
					data = large
				}
				names = append(names, filepath.Join(folder, fmt.Sprint(format, i, "-", j)))
				require.NoError(t, os.WriteFile(names[j], data, 0o600))
			}
			name := fmt.Sprint("Save", n)
			n++
			args := append([]string{"struct", "-q", "-format", format.String(), "-frame", "none", "-type", name}, names...)
			r := runWith(nil, args...)
			if r.status != statusGood { // without an order of keys that all have
				require.Contains(t, r.err, "no struct gives back these saves")
				continue
			}
			_, source, _ := strings.Cut(r.out, "import \"github.com/gdwire/gdwire/variant\"\n")
			for _, inner := range declared.FindAllStringSubmatch(source, -1) {
				if inner[1] != name { // each type has inner types of the same names
					uses := regexp.MustCompile(`(?m)^(type |\t\w+ +(?:\[\])?)` + inner[1] + `\b`)
					source = uses.ReplaceAllString(source, "${1}"+name+inner[1])
				}
			}
			types.WriteString(source)
			for _, file := range names {
				fmt.Fprintf(&calls, "\tcheck(new(%s), %d, %q)\n", name, format, file)
			}
		}
	}
	program := filepath.Join(folder, "main.go")
	source := "package main\n\nimport (\n\t\"bytes\"\n\t\"fmt\"\n\t\"os\"\n\n\t\"github.com/gdwire/gdwire\"\n\t\"github.com/gdwire/gdwire/variant\"\n)\n" +
		structMain + types.String() + "\nfunc main() {\n" + calls.String() + "}\n"
	require.NoError(t, os.WriteFile(program, []byte(source), 0o600))
	run := exec.Command("go", "run", program)
	run.Dir = filepath.Join("..", "..")
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, strings.Count(calls.String(), "check("), strings.Count(string(out), "same"), "%s", out)
	require.Greater(t, strings.Count(string(out), "same"), 40)
}
