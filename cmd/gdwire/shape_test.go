package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/variant"
)

// dict returns a Dictionary of keys and values in turn.
func dict(pairs ...any) *variant.Dictionary {
	d := new(variant.Dictionary)
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], pairs[i+1])
	}
	return d
}

// releaseOf returns the values of save n of a release, 1 to 3, of a game. Between releases there are the changes of
// planted.
func releaseOf(release, n int, random *rand.Rand) []any {
	at := func(values ...any) any { return values[release-1] } // what differs between the releases
	number := int64(random.IntN(1000))
	player := dict("name", fmt.Sprint("Ada", n), "pos", at(variant.Vector2{X: 1}, variant.Vector3{X: 1}, variant.Vector3{X: 1}),
		"hp", at(number, 0.5, 0.5), "weapon", "sword", "gold", number, "nothing", nil)
	switch {
	case release == 1:
		player.Set("title", "Sir")
	case release == 2:
		player.Set("mana", number)
	case n%2 == 0:
		player.Set("hp", number)
		player.Set("buff", true)
	}
	if release > 1 && n%3 == 0 {
		player.Set("weapon", nil)
	}
	if release == 1 || n%3 > 0 {
		player.Set("pet", "cat")
	}
	if n%2 == 0 {
		player.Set("mount", "horse") // only sometimes there in all releases
	}
	items := &variant.Array{}
	for i := range 1 + (n+1)%4 {
		item := dict("id", int64(i), "name", at("bow", variant.StringName("bow"), variant.StringName("bow")))
		if release > 1 {
			item.Set("count", int64(i))
		}
		item.Set("tags", at(&variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeString}, Values: []any{"a"}}, &variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeString}}, []string{"a"}))
		if i%2 == 0 {
			item.Set("rare", true)
		}
		items.Values = append(items.Values, item)
	}
	if release == 3 && n%4 == 1 {
		items.Values = append(items.Values, nil)
	}
	grid := dict()
	for i := range random.IntN(5) + 1 {
		key := at(variant.Vector2i{X: int32(i)}, fmt.Sprint(i, ",1"), fmt.Sprint(i, ",1"))
		grid.Set(key, dict("tile", at(number, "grass", "grass")))
	}
	prices := dict()
	for i := range 70 + random.IntN(5) {
		prices.Set(fmt.Sprint("ware", i), number) // names, but so many are data
	}
	stats := dict("deaths", number)
	if release < 3 || n%2 == 0 {
		stats.Set("kills", number)
	}
	save := dict("version", int64(release), "player", player, "items", items, "grid", grid, "prices", prices, "stats", stats,
		"quests", at(&variant.Array{}, &variant.Array{}, dict()), "log", &variant.Array{Values: []any{at("x", "x", dict("text", "x"))}})
	if release > 1 {
		save.Set("settings", dict("volume", 0.5))
	}
	if release == 3 {
		return []any{save, dict("seed", number)}
	}
	return []any{save}
}

// planted contains the changes from each release to the next.
var planted = [][]string{
	{
		"$.grid: keys of type String, were Vector2i",
		"$.grid[*].tile: String, was int",
		"$.items[*].count: new, int",
		"$.items[*].name: StringName, was String",
		"$.player.hp: float, was int",
		"$.player.mana: new, int",
		"$.player.pet: only sometimes there, was always",
		"$.player.pos: Vector3, was Vector2",
		"$.player.title: gone, was String",
		"$.player.weapon: null for the first time, was String",
		"$.settings: new, Dictionary",
	},
	{
		"$.items[*]: null for the first time, was Dictionary",
		"$.items[*].tags: PackedStringArray, was Array[String]",
		"$.log[*]: Dictionary, was String",
		"$.player.buff: new, bool, only sometimes there",
		"$.player.hp: float or int, was float",
		"$.player.mana: gone, was int",
		"$.quests: Dictionary, was Array",
		"$.stats.kills: only sometimes there, was always",
		"$1: new, Dictionary",
	},
}

// writeReleases writes saves of three releases of all kinds into folders, and returns the folders.
func writeReleases(t *testing.T) (folders []string) {
	random := rand.New(rand.NewPCG(7, 8))
	key := fileaccess.PasswordKey("hunter2")
	kinds := []savefile.Info{
		{Lengths: savefile.LittleEndian},
		{Lengths: savefile.LittleEndian, Container: fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}},
		{Lengths: savefile.LittleEndian, Container: fileaccess.Info{Container: fileaccess.Encrypted}, Key: key},
		{Lengths: savefile.BigEndian, Container: fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.FastLZ}},
	}
	for release := 1; release <= 3; release++ {
		folder := t.TempDir()
		folders = append(folders, folder)
		require.NoError(t, os.Mkdir(filepath.Join(folder, "old"), 0o700))
		for n := range 12 {
			f := must(savefile.New(kinds[n%len(kinds)], releaseOf(release, n, random)...))(t)
			require.NoError(t, f.Save(filepath.Join(folder, []string{"", "old"}[n%2], fmt.Sprint(n, ".save"))))
		}
		require.NoError(t, os.WriteFile(filepath.Join(folder, "screenshot.png"), []byte("\x89PNG\r\n\x1a\n"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(folder, ".hidden"), []byte("text"), 0o600))
	}
	return folders
}

// TestShape: all 20 changes that were planted between three releases are found, and no others: in folders with saves of
// all kinds, from a shape that was kept, and with -json.
func TestShape(t *testing.T) {
	folders := writeReleases(t)
	password := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(password, []byte("hunter2\n"), 0o600))
	shape := func(args ...string) result {
		return runWith(nil, append([]string{"shape", "-password-file", password}, args...)...)
	}
	total := 0
	for i, want := range planted {
		kept := filepath.Join(t.TempDir(), "shape.json")
		r := shape(folders[i], "-write", kept)
		require.Zero(t, r.status, r.err)
		require.Contains(t, r.err, "the shape of 12 saves")
		require.Contains(t, r.err, "screenshot.png is left out: it is a PNG image")
		for _, old := range []string{folders[i], kept} {
			r := shape(old, folders[i+1])
			require.Equal(t, statusBad, r.status, r.err)
			require.Equal(t, strings.Join(append(want, ""), "\n"), r.out)
			r = shape("-json", old, folders[i+1])
			lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
			require.Len(t, lines, len(want))
			for j, line := range lines {
				var change struct{ Path, Change string }
				require.NoError(t, json.Unmarshal([]byte(line), &change))
				require.True(t, strings.HasPrefix(want[j], change.Path+": "), line)
			}
			r = shape(old, folders[i])
			require.Zero(t, r.status, r.err)
			require.Empty(t, r.out)
			require.Contains(t, r.err, "no change of shape from 12 older saves to 12 newer ones")
		}
		total += len(want)
	}
	require.Equal(t, 20, total)
}

// TestShapeOrder: the shape of saves does not depend on their order, and each save of a set changes nothing of it.
func TestShapeOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	folder := t.TempDir()
	var names []string
	for i := range 8 {
		f := must(savefile.New(savefile.Info{Lengths: savefile.LittleEndian}, randomSave(random, 3)))(t)
		names = append(names, filepath.Join(folder, fmt.Sprint(i)))
		require.NoError(t, f.Save(names[i]))
	}
	kept := filepath.Join(t.TempDir(), "shape.json")
	var first []byte
	for range 20 {
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		r := runWith(nil, append([]string{"shape", "-q", "-write", kept, names[0]}, names...)...) // the new ones are all
		require.LessOrEqual(t, r.status, statusBad, r.err)
		b := must(os.ReadFile(kept))(t)
		if first == nil {
			first = b
		}
		require.Equal(t, string(first), string(b))
	}
	for _, name := range names {
		r := runWith(nil, "shape", kept, name)
		for line := range strings.Lines(r.out) {
			require.Contains(t, line, ": gone, was ", "one save lacks what others have")
		}
	}
}

// TestShapeHostile: the shape of many classes, properties and keys is bounded.
func TestShapeHostile(t *testing.T) {
	const n = 20_000
	all := wire(28, 3, 28, n)
	for i := range n {
		all = append(all, wire(24, fmt.Sprint("Class", i), 1, fmt.Sprint("property", i), 0)...)
	}
	all = append(all, wire(28, n)...)
	for i := range n {
		all = append(all, wire(27, 1, 4, fmt.Sprint("key", i), 0x1001c|1<<16, 24, 0)...)
	}
	all = append(all, wire(27, n)...)
	for i := range n {
		all = append(all, wire(4, fmt.Sprint("k", i), 27, 1, 2, i, 0)...)
	}
	folder := t.TempDir()
	save, kept := filepath.Join(folder, "save"), filepath.Join(folder, "shape.json")
	require.NoError(t, os.WriteFile(save, all, 0o600))
	r := runWith(nil, "shape", "-format", "godot4", "-frame", "none", save, "-write", kept)
	require.Zero(t, r.status, r.err)
	b := must(os.ReadFile(kept))(t)
	require.Less(t, len(b), 4<<10, "%s", b)
	r = runWith(nil, "shape", "-format", "godot4", "-frame", "none", kept, save)
	require.Zero(t, r.status, r.out+r.err)
}
