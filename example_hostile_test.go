package gdwire_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/model"
	"github.com/gdwire/gdwire/internal/testsize"
)

// These tests are in this folder because they call the examples in example_test.go.

// hostileValues are a value of every type and of every shape that the official
// engine wrote, and a few that no field of the examples holds.
func hostileValues(t testing.TB) map[string][]byte {
	all := map[string][]byte{}
	for i := range model.Engines {
		if e := &model.Engines[i]; e.Folder == "godot4.6" {
			for _, v := range e.Vectors(t) {
				all[v.Name] = v.Hex
			}
		}
	}
	for name, packet := range map[string]string{
		"int beyond int32":       "<int+1> 0000000001000000",
		"negative int":           "<int> ffffffff",
		"float with fraction":    "<float> 0000c03f",
		"whole float":            "<float> 0000e040",
		"float beyond int32":     "<float+1> 000000000000f041",
		"infinity":               "<float> 0000807f",
		"not UTF-8":              "<String> 01000000 ff000000",
		"hostile length":         "<String> ffffffff",
		"hostile count":          "<Array> ffffffff",
		"unknown type":           "63000000",
		"cut":                    "<Dictionary> 01000000",
		"the packet's own shape": "<Dictionary> 01000000 <String> 04000000 6e616d65 <String> 07000000 4d616c6c6f727900",
	} {
		all[name] = model.Build(t, gdwire.Godot4, packet)
	}
	return all
}

// playerPlaces are where in player's packet its values are: itself, its keys and
// values, and the elements of its tags.
func playerPlaces(t *testing.T) (places [][2]int64) {
	packet := player()
	places = [][2]int64{{0, int64(len(packet))}}
	d := gdwire.NewDecoder(nil, nil)
	defer d.Release()
	skip := func() {
		start := d.InputOffset()
		require.NoError(t, d.SkipValue())
		places = append(places, [2]int64{start, d.InputOffset()})
	}
	d.ResetBytes(packet)
	n, err := d.ReadDict()
	require.NoError(t, err)
	for range 2 * n {
		skip()
	}
	d.ResetBytes(packet)
	_, err = d.ReadDict()
	require.NoError(t, err)
	for range 2*n - 1 {
		require.NoError(t, d.SkipValue())
	}
	n, err = d.ReadArray()
	require.NoError(t, err)
	for range n {
		skip()
	}
	return places
}

// hostilePlayers calls f with player's packet in which one value is another one.
func hostilePlayers(t *testing.T, f func(t *testing.T, packet []byte)) {
	for name, hostile := range hostileValues(t) {
		for i, place := range playerPlaces(t) {
			t.Run(fmt.Sprintf("%s/place %d", name, i), func(t *testing.T) {
				packet := player()
				f(t, slices.Concat(packet[:place[0]], hostile, packet[place[1]:]))
			})
		}
	}
}

// wantPlayer returns the required result of (*Player).read for a value, and whether it
// has to accept it.
func wantPlayer(v *model.Value) (p Player, ok bool) {
	if v.Type != "Dictionary" {
		return p, false
	}
	for i := 0; i < len(v.Items); i += 2 {
		key, item := &v.Items[i], &v.Items[i+1]
		if key.Type != "String" && key.Type != "StringName" {
			continue
		}
		switch key.Text {
		case "id":
			x := float64(int64(item.Bits))
			if item.Type == "float" {
				x = math.Float64frombits(item.Bits)
			}
			if item.Type != "int" && item.Type != "float" || x != math.Trunc(x) || x < math.MinInt32 || x > math.MaxInt32 {
				return p, false
			}
			p.ID = int32(x)
		case "name":
			if item.Type != "String" && item.Type != "StringName" {
				return p, false
			}
			p.Name = item.Text
		case "pos":
			if item.Type != "Vector3" {
				return p, false
			}
			for i := range p.Pos {
				p.Pos[i] = math.Float64frombits(item.Numbers[i])
			}
		}
	}
	return p, true
}

// For any value at any place of their input, the examples return an error or the right result,
// and leave the Decoder at the right position.
func TestExamplesWithHostileInput(t *testing.T) {
	next := player()
	// requireInStep reads the player that follows.
	requireInStep := func(t *testing.T, d *gdwire.Decoder) {
		var p Player
		require.NoError(t, p.read(d))
		require.Equal(t, Player{7, "Ada", [3]float64{1, 2, 3}}, p)
	}
	hostilePlayers(t, func(t *testing.T, packet []byte) {
		input := slices.Concat(packet, next)
		v, size, invalid := model.Decode(packet, gdwire.DecoderOptions{})
		whole := invalid == nil && size == int64(len(packet))
		d := gdwire.NewDecoder(nil, nil)
		defer d.Release()

		d.Reset(bytes.NewReader(input))
		var p Player
		err := p.read(d)
		if !whole {
			require.Error(t, err)
		} else if want, ok := wantPlayer(&v); ok {
			require.NoError(t, err)
			require.Equal(t, want, p)
			requireInStep(t, d)
		} else {
			require.ErrorAs(t, err, new(*gdwire.Error))
			require.NoError(t, d.SkipTo(0))
			if d.InputOffset() == 0 {
				require.NoError(t, d.SkipValue()) // nothing was consumed
			}
			requireInStep(t, d)
		}

		d.Reset(bytes.NewReader(input))
		if list, err := readStrings(d); whole && err == nil {
			if !strings.HasPrefix(v.Type, "Packed") || len(list) > 0 { // an empty list of anything is one of strings
				require.Contains(t, []string{"Array", "PackedStringArray"}, v.Type)
			}
			require.Len(t, list, max(len(v.Items), len(v.Names)))
			requireInStep(t, d)
		}

		d.Reset(bytes.NewReader(input))
		var edited bytes.Buffer
		e := gdwire.NewEncoder(&edited, nil)
		defer e.Release()
		if err := setName(e, d, "Grace"); whole {
			require.NoError(t, err)
			requireInStep(t, d)
			got, _, err := model.Decode(edited.Bytes(), gdwire.DecoderOptions{})
			require.NoError(t, err)
			require.Equal(t, withName(v, "Grace"), got)
		} else {
			require.Error(t, err)
		}

		if err := checkPacket(bytes.NewReader(input)); !whole {
			require.Error(t, err)
		}
	})
}

// withName returns a Dictionary in which the values of the keys "name" are another.
func withName(v model.Value, name string) model.Value {
	for i := 0; v.Type == "Dictionary" && i < len(v.Items); i += 2 {
		if key := &v.Items[i]; (key.Type == "String" || key.Type == "StringName") && key.Text == "name" {
			v.Items[i+1] = model.Value{Type: "String", Text: name}
		}
	}
	return v
}

// The programs in examples end by themselves, without a panic.
func TestExampleProgramsWithHostileInput(t *testing.T) {
	if !testsize.Full() {
		t.Skip("builds programs")
	}
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir, "./examples/...").CombinedOutput()
	require.NoError(t, err, string(out))
	programs, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, programs)
	for _, program := range programs {
		i := 0
		hostilePlayers(t, func(t *testing.T, packet []byte) {
			if i++; i%7 != 0 { // each program sees others
				return
			}
			cmd := exec.Command(filepath.Join(dir, program.Name()))
			cmd.Stdin = bytes.NewReader(packet)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil {
				require.ErrorAs(t, err, &exit)
				require.Equal(t, 1, exit.ExitCode(), string(out))
			}
			require.NotContains(t, string(out), "panic:")
		})
	}
}
