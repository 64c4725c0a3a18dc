package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
	"google.golang.org/protobuf/proto"
)

// The documents as structs, with the code that is not made by reflection.

// msgp and vtprotobuf run generated code. protoc is that of Debian's package protobuf-compiler. "go install tool" builds
// its plugins, in the versions of go.mod; protoc finds them in PATH.
//
//go:generate go tool msgp -io=false -unexported -file structs.go -o structs_gen.go -tests=false
//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-vtproto_out=. --go-vtproto_opt=paths=source_relative,features=marshal+unmarshal+size structs.proto

// A savedWorld is the saved game as structs, the same for all formats.
type savedWorld struct {
	Version int64       `msg:"version" json:"version" msgpack:"version"`
	Player  savedPlayer `msg:"player" json:"player" msgpack:"player"`
	Map     []byte      `msg:"map" json:"map" msgpack:"map"`
	Heights []float32   `msg:"heights" json:"heights" msgpack:"heights"`
	Seed    int64       `msg:"seed" json:"seed" msgpack:"seed"`
}

type savedPlayer struct {
	Name      string      `msg:"name" json:"name" msgpack:"name"`
	Transform [12]float32 `msg:"transform" json:"transform" msgpack:"transform"`
	Inventory []savedItem `msg:"inventory" json:"inventory" msgpack:"inventory"`
}

type savedItem struct {
	ID      int64      `msg:"id" json:"id" msgpack:"id"`
	Name    string     `msg:"name" json:"name" msgpack:"name"`
	Weight  float64    `msg:"weight" json:"weight" msgpack:"weight"`
	Pos     [3]float32 `msg:"pos" json:"pos" msgpack:"pos"`
	Tags    []string   `msg:"tags" json:"tags" msgpack:"tags"`
	Color   [4]float32 `msg:"color" json:"color" msgpack:"color" gd:",type=Color"`
	Enabled bool       `msg:"enabled" json:"enabled" msgpack:"enabled"`
	Parent  string     `msg:"parent" json:"parent" msgpack:"parent" gd:",type=NodePath"`
	Stats   savedStats `msg:"stats" json:"stats" msgpack:"stats"`
}

type savedStats struct {
	HP int64 `msg:"hp" json:"hp" msgpack:"hp"`
	MP int64 `msg:"mp" json:"mp" msgpack:"mp"`
}

// sum tells whether all have read the same.
func (w *savedWorld) sum() int {
	sum := int(w.Version+w.Seed) + len(w.Map) + len(w.Heights)
	for i := range w.Player.Inventory {
		it := &w.Player.Inventory[i]
		sum += int(it.ID+it.Stats.HP) + len(it.Name) + len(it.Tags) + len(it.Parent) + int(it.Pos[0])
	}
	return sum
}

// A dialogLine is a line of the dialog, a document of another shape than the saved game: a deep tree
// with short keys, text and few numbers.
type dialogLine struct {
	ID   string       `msg:"id" json:"id" msgpack:"id"`
	Who  string       `msg:"who" json:"who" msgpack:"who"`
	Say  string       `msg:"say" json:"say" msgpack:"say"`
	Mood string       `msg:"mood" json:"mood" msgpack:"mood"`
	Once bool         `msg:"once" json:"once" msgpack:"once"`
	Cost int64        `msg:"cost" json:"cost" msgpack:"cost"`
	Next []dialogLine `msg:"next" json:"next" msgpack:"next"`
}

// dialogDepth is the depth of the tree in lines. A line takes two levels of nesting, of which cbor
// reads 32.
const dialogDepth = 12

// dialog is the dialog, written once by package variant.
var dialog = sync.OnceValue(func() *document { return translate(must(variant.Marshal(newDialog()))) })

// dialogWords contains the words of the lines. Of eight lines, six are ASCII, one contains characters
// of two bytes, and one of three.
var dialogWords = [8][]string{
	6: strings.Fields("кто идёт туда молча через старый лес ночью без огня"),
	7: strings.Fields("古い 森 夜 火 静かに 歩く 誰か 遠く 声 する"),
}

func newDialog() *dialogLine {
	random := rand.New(rand.NewPCG(1, 2))
	plain := strings.Fields("who goes there quietly through the old forest at night without fire and never looks back again")
	line := newDialogLine(random, plain, dialogDepth)
	return &line
}

// newDialogLine returns a tree of 2^depth-1 lines.
func newDialogLine(random *rand.Rand, plain []string, depth int) dialogLine {
	words := dialogWords[random.IntN(len(dialogWords))]
	if words == nil {
		words = plain
	}
	say := make([]string, 3+random.IntN(10))
	for i := range say {
		say[i] = words[random.IntN(len(words))]
	}
	line := dialogLine{
		ID:   fmt.Sprintf("%06x", random.IntN(1<<24)),
		Who:  []string{"Ada", "Grace", "Edsger", "narrator"}[random.IntN(4)],
		Say:  strings.Join(say, " "),
		Mood: []string{"calm", "angry", "afraid", ""}[random.IntN(4)],
		Once: random.IntN(2) == 0,
		Cost: int64(random.IntN(1000)),
		Next: []dialogLine{},
	}
	for range 2 {
		if depth > 1 {
			line.Next = append(line.Next, newDialogLine(random, plain, depth-1))
		}
	}
	return line
}

func (l *dialogLine) sum() int {
	sum := len(l.ID) + len(l.Who) + len(l.Say) + len(l.Mood) + sumOfBool(l.Once) + int(l.Cost)
	for i := range l.Next {
		sum += l.Next[i].sum()
	}
	return sum
}

// A message is a structure for protobuf, with the methods that vtprotobuf generates.
type message interface {
	proto.Message
	MarshalVT() ([]byte, error)
	UnmarshalVT(b []byte) error
	sum() int // of the same fields as the structure's
}

func (w *savedWorld) message() message {
	m := &WorldMessage{Version: w.Version, Map: w.Map, Heights: w.Heights, Seed: w.Seed}
	m.Player = &PlayerMessage{Name: w.Player.Name, Transform: w.Player.Transform[:]}
	for i := range w.Player.Inventory {
		it := &w.Player.Inventory[i]
		m.Player.Inventory = append(m.Player.Inventory, &ItemMessage{
			Id: it.ID, Name: it.Name, Weight: it.Weight, Pos: it.Pos[:], Tags: it.Tags, Color: it.Color[:],
			Enabled: it.Enabled, Parent: it.Parent, Stats: &StatsMessage{Hp: it.Stats.HP, Mp: it.Stats.MP},
		})
	}
	return m
}

func (m *WorldMessage) sum() int {
	sum := int(m.Version+m.Seed) + len(m.Map) + len(m.Heights)
	for _, it := range m.Player.Inventory {
		sum += int(it.Id+it.Stats.Hp) + len(it.Name) + len(it.Tags) + len(it.Parent) + int(it.Pos[0])
	}
	return sum
}

func (l *dialogLine) message() message { return l.line() }

func (l *dialogLine) line() *LineMessage {
	m := &LineMessage{Id: l.ID, Who: l.Who, Say: l.Say, Mood: l.Mood, Once: l.Once, Cost: l.Cost}
	for i := range l.Next {
		m.Next = append(m.Next, l.Next[i].line())
	}
	return m
}

func (m *LineMessage) sum() int {
	sum := len(m.Id) + len(m.Who) + len(m.Say) + len(m.Mood) + sumOfBool(m.Once) + int(m.Cost)
	for _, next := range m.Next {
		sum += next.sum()
	}
	return sum
}

// The functions below are written by hand, as in a program without reflection.

func (w *savedWorld) read(d *gdwire.Decoder) {
	for key, err := range d.Fields() {
		check(err)
		switch string(key) {
		case "version":
			w.Version = must(d.ReadInt())
		case "player":
			w.Player.read(d)
		case "map":
			w.Map = must(gdwire.AppendPacked(d, w.Map[:0]))
		case "heights":
			w.Heights = must(gdwire.AppendPacked(d, w.Heights[:0]))
		case "seed":
			w.Seed = must(d.ReadInt())
		}
	}
}

func (p *savedPlayer) read(d *gdwire.Decoder) {
	for key, err := range d.Fields() {
		check(err)
		switch string(key) {
		case "name":
			p.Name = must(d.ReadString())
		case "transform":
			readReals(d, gdwire.TypeTransform3D, p.Transform[:])
		case "inventory":
			p.Inventory = readAll(d, p.Inventory[:0], (*savedItem).read)
		}
	}
}

// readAll appends the elements of an Array to all. The memory of elements beyond its length is used
// again.
func readAll[T any](d *gdwire.Decoder, all []T, read func(*T, *gdwire.Decoder)) []T {
	for range must(d.ReadArray()) {
		if len(all) < cap(all) {
			all = all[:len(all)+1]
		} else {
			all = append(all, *new(T))
		}
		read(&all[len(all)-1], d)
	}
	check(d.ReadEnd())
	return all
}

func (it *savedItem) read(d *gdwire.Decoder) {
	for key, err := range d.Fields() {
		check(err)
		switch string(key) {
		case "id":
			it.ID = must(d.ReadInt())
		case "name":
			it.Name = must(d.ReadString())
		case "weight":
			it.Weight = must(d.ReadFloat())
		case "pos":
			readReals(d, gdwire.TypeVector3, it.Pos[:])
		case "tags":
			it.Tags = it.Tags[:0]
			for _, err := range d.Elements() {
				check(err)
				it.Tags = append(it.Tags, must(d.ReadString()))
			}
		case "color":
			readReals(d, gdwire.TypeColor, it.Color[:])
		case "enabled":
			it.Enabled = must(d.ReadBool())
		case "parent":
			it.Parent = must(d.ReadNodePath())
		case "stats":
			it.Stats.read(d)
		}
	}
}

func (s *savedStats) read(d *gdwire.Decoder) {
	for key, err := range d.Fields() {
		check(err)
		switch string(key) {
		case "hp":
			s.HP = must(d.ReadInt())
		case "mp":
			s.MP = must(d.ReadInt())
		}
	}
}

func readReals(d *gdwire.Decoder, t gdwire.Type, c []float32) {
	var wide [12]float64
	check(gdwire.ReadComponents(d, t, wide[:len(c)]))
	for i := range c {
		c[i] = float32(wide[i])
	}
}
