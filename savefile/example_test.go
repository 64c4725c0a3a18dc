package savefile_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/variant"
)

type player struct {
	Name string
	HP   int
}

type save struct {
	Version int
	Player  player
	Items   []string
}

// newSave writes a compressed save of two values to a temporary folder and returns its name.
func newSave() string {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	zstd := fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}
	f, err := savefile.New(savefile.Info{Container: zstd}, 3, save{3, player{"Ada", 42}, []string{"map", "lamp"}})
	if err != nil {
		log.Fatal(err)
	}
	name := filepath.Join(folder, "save.dat")
	if err := f.Save(name); err != nil {
		log.Fatal(err)
	}
	return name
}

// heal gives the player of a saved game all of their hp.
func heal(name string) error {
	f, err := savefile.Open(name, nil) // of Godot 4 or 3; plain, compressed or encrypted
	if err != nil {
		return err
	}
	defer f.Close()
	var hp int
	if err := f.Get("player.max_hp", &hp); err != nil {
		return err
	}
	if err := f.Edit(savefile.Set("player.hp", hp)); err != nil {
		return err
	}
	return f.Save(name) // replaces the file after success
}

// A saved game is read and edited, whatever its kind. All other bytes of its content stay.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "save.dat")
	f, err := savefile.New(savefile.Info{Container: fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}},
		map[string]any{"player": map[string]int{"hp": 7, "max_hp": 90}})
	if err != nil {
		log.Fatal(err)
	}
	if err := f.Save(name); err != nil {
		log.Fatal(err)
	}
	fmt.Println(heal(name))

	healed, err := savefile.Open(name, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer healed.Close()
	var hp int
	fmt.Println(healed.Get("player.hp", &hp), hp, healed.Info)
	// Output:
	// <nil>
	// <nil> 90 godot4, lengths, zstd
}

func ExampleOpen() {
	f, err := savefile.Open(newSave(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	var hp int
	if err := f.Get("$1.player.hp", &hp); err != nil { // $1 is the second value
		log.Fatal(err)
	}
	fmt.Println(f.Info, "and hp", hp)
	// Output: godot4, lengths, zstd and hp 42
}

// The saves in a folder, sorted by a field.
func ExampleFile_GetAll() {
	folder := filepath.Dir(newSave())
	f, err := savefile.New(savefile.Info{}, 1, save{1, player{"Bob", 7}, nil})
	if err != nil {
		log.Fatal(err)
	}
	if err := f.Save(filepath.Join(folder, "other.dat")); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "damaged.dat"), []byte("?"), 0o666); err != nil {
		log.Fatal(err)
	}

	type entry struct {
		file, player string
		hp           int
	}
	var entries []entry
	names, _ := filepath.Glob(filepath.Join(folder, "*.dat"))
	for _, name := range names {
		e := entry{file: filepath.Base(name)}
		f, err := savefile.Open(name, nil)
		if err == nil {
			err = errors.Join(f.GetAll(map[string]any{"$1.player.name": &e.player, "$1.player.hp": &e.hp}), f.Close())
		}
		if err != nil {
			fmt.Println(e.file, "is no save of this game")
			continue
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.hp, b.hp) })
	fmt.Println(entries)
	// Output:
	// damaged.dat is no save of this game
	// [{other.dat Bob 7} {save.dat Ada 42}]
}

func ExampleFile_Edit() {
	name := newSave()
	f, err := savefile.Open(name, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	err = f.Edit(
		savefile.Set("$1.player.hp", 999),
		savefile.Set("$1.player.title", "Countess"), // a new key
		savefile.Set("$1.items[+]", "rope"),
		savefile.Delete("$1.items[0]"),
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := f.Save(name); err != nil { // replaces the file after success
		log.Fatal(err)
	}
	var s save
	if err := f.Get("$1", &s); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s)
	// Output: {3 {Ada 999} [lamp rope]}
}

// A game has written a name, the size and a SHA-256 before the values. They are right again after an edit.
func ExampleInfo_around() {
	value, err := variant.Marshal(map[string]any{"gold": 120})
	if err != nil {
		log.Fatal(err)
	}
	sum := sha256.Sum256(value)
	content := slices.Concat([]byte("SAVE"), binary.LittleEndian.AppendUint32(nil, uint32(len(value))), sum[:], value)

	f, err := savefile.Read(bytes.NewReader(content), int64(len(content)), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range f.Info.Around {
		fmt.Println(p.Offset, p.Size, p.What, p.Derived, p.Doubtful)
	}
	if err := f.Edit(savefile.Set("gold", 500)); err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := f.WriteTo(&out); err != nil {
		log.Fatal(err)
	}
	b := out.Bytes()
	fmt.Println(sha256.Sum256(b[40:]) == [32]byte(b[8:40]))
	// Output:
	// 0 40 header false false
	// 4 4 size true false
	// 8 32 SHA-256 true false
	// true
}

// A filter between a client and a server halves the damage of each attack.
func ExampleEditPacket() {
	packet, err := variant.Marshal(map[string]any{"kind": "attack", "damage": 100}) // as NextRaw returns it
	if err != nil {
		log.Fatal(err)
	}
	var attack struct {
		Kind   string
		Damage int
	}
	if err := variant.Unmarshal(packet, &attack); err == nil && attack.Kind == "attack" {
		packet, err = savefile.EditPacket(packet, []savefile.Edit{savefile.Set("damage", attack.Damage/2)})
		if err != nil {
			log.Fatal(err)
		}
	}
	err = variant.Unmarshal(packet, &attack) // in place of WriteRaw
	fmt.Println(attack, err)
	// Output: {attack 50} <nil>
}

// A save of one value, with a limit and the password in case that it is encrypted.
func ExampleLoad() {
	var s struct {
		Player struct {
			Name string `gd:",required"`
		}
	}
	err := savefile.Load("../testdata/godot4.7-dev/save_game_large.bin", &s, savefile.Options{
		Container: fileaccess.Options{Key: fileaccess.PasswordKey("hunter2"), Limits: fileaccess.Limits{Size: 4 << 20}},
	})
	fmt.Println(s.Player.Name, err)
	// Output: Jürgen <nil>
}

// A total is the sum of the hp of items, which are read one at a time.
type total int64

func (sum *total) UnmarshalVariant(d *gdwire.Decoder) error {
	type item struct{ Stats struct{ HP int64 } }
	for i, err := range variant.Elements[item](d) {
		if err != nil {
			return err
		}
		*sum += total(i.Stats.HP)
	}
	return nil
}

// An array of any length is summed in constant memory.
func ExampleLoad_stream() {
	var s struct {
		Player struct {
			Inventory total `gd:",required"`
		}
	}
	err := savefile.Load("../testdata/godot4.7-dev/save_game_large.bin", &s, savefile.Options{
		Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Elements: -1, Values: -1}},
	})
	fmt.Println(s.Player.Inventory, err)
	// Output: 4798500 <nil>
}

func ExampleFile_Unmarshal() {
	f, err := savefile.Open(newSave(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	var version int
	var s save
	if err := f.Unmarshal(&version, &s); err != nil {
		log.Fatal(err)
	}
	fmt.Println(version, s.Player.Name)
	fmt.Println(f.Unmarshal(&version))
	// Output:
	// 3 Ada
	// savefile: more than 1 value
}

func ExampleNew() {
	f, err := savefile.New(savefile.Info{
		Format:    gdwire.Godot3,
		Container: fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot3},
		Key:       fileaccess.PasswordKey("hunter2"),
	}, map[string]int{"level": 7})
	if err != nil {
		log.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	if err := f.Save(filepath.Join(folder, "save.dat")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Info)
	// Output: godot3, lengths, encrypted
}

// A save of Godot 4 is converted for Godot 3.
func ExampleFile_WriteTo() {
	f, err := savefile.New(savefile.Info{Lengths: savefile.NoLengths}, struct {
		Class variant.StringName
		Cell  variant.Vector2i
	}{"mage", variant.Vector2i{X: 3, Y: 4}})
	if err != nil {
		log.Fatal(err)
	}
	f.Info.Format = gdwire.Godot3
	var b bytes.Buffer
	_, err = f.WriteTo(&b)
	fmt.Println(err)

	b.Reset()
	f.Lossy = func(l savefile.Loss) { fmt.Println(l) }
	n, err := f.WriteTo(&b)
	fmt.Println(n, err)
	// Output:
	// gdwire: offset 24, $.class: godot3 has no StringName; it would become a String
	// $.class: StringName becomes a String
	// $.cell: Vector2i becomes a Vector2
	// 60 <nil>
}

func ExampleOptions_repair() {
	name := newSave()
	f, err := savefile.Open(name, nil)
	if err != nil {
		log.Fatal(err)
	}
	f.Info.Container = fileaccess.Info{} // not compressed
	if err := f.Save(name); err != nil {
		log.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(name, b[:len(b)-5], 0o600); err != nil { // as after a power failure
		log.Fatal(err)
	}

	_, err = savefile.Open(name, nil)
	fmt.Println(errors.As(err, new(*savefile.DamageError)))
	f, err = savefile.Open(name, &savefile.Options{Repair: true})
	if err != nil {
		log.Fatal(err)
	}
	var s save
	if err := f.Get("$1", &s); err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Info.Damage.Err, s)
	// Output:
	// true
	// gdwire: offset 155, $1.items[1]: unexpected EOF {3 {Ada 42} [map]}
}

// A server takes a save that anybody can upload. The limits bound the memory that it needs, also for a small
// file whose content is large.
func ExampleRead() {
	const maxSize = 1 << 20 // bytes, of a file and of its content
	options := &savefile.Options{
		Decoder:   gdwire.DecoderOptions{Limits: gdwire.Limits{Depth: 16}},
		Container: fileaccess.Options{Limits: fileaccess.Limits{Size: maxSize}},
	}
	upload := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSize))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		f, err := savefile.Read(bytes.NewReader(body), int64(len(body)), options)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		defer f.Close()
		var version int
		var s save
		if err := f.Unmarshal(&version, &s); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, "welcome,", s.Player.Name)
	}

	good, err := os.ReadFile(newSave())
	if err != nil {
		log.Fatal(err)
	}
	zstd := fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd, BlockSize: 1 << 20}
	f, err := savefile.New(savefile.Info{Container: zstd}, make([]byte, 4<<20))
	if err != nil {
		log.Fatal(err)
	}
	var bomb bytes.Buffer // a few KiB
	if _, err := f.WriteTo(&bomb); err != nil {
		log.Fatal(err)
	}
	for _, body := range [][]byte{good, good[:len(good)/2], bomb.Bytes(), []byte("\x89PNG")} {
		w := httptest.NewRecorder()
		upload(w, httptest.NewRequest(http.MethodPost, "/save", bytes.NewReader(body)))
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 welcome, Ada
	// 400 savefile: damaged at offset 63: fileaccess: offset 63: unexpected EOF: the file is cut before any of its content can be read
	// 400 fileaccess: offset 12: content of 4194316 bytes exceeds limit Size (1048576)
	// 400 savefile: not recognized: the file is a PNG image, not values of Godot
}
