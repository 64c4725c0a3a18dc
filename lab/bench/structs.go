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

// A message is a structure for protobuf, with the methods that vtprotobuf generates.
type message interface {
	proto.Message
	MarshalVT() ([]byte, error)
	UnmarshalVT(b []byte) error
}

// read reads an item by typed calls, as in a program without reflection.
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
			check(gdwire.ReadComponents(d, gdwire.TypeVector3, it.Pos[:]))
		case "tags":
			it.Tags = it.Tags[:0]
			for _, err := range d.Elements() {
				check(err)
				it.Tags = append(it.Tags, must(d.ReadString()))
			}
		case "color":
			check(gdwire.ReadComponents(d, gdwire.TypeColor, it.Color[:]))
		case "enabled":
			it.Enabled = must(d.ReadBool())
		case "parent":
			it.Parent = must(d.ReadNodePath())
		case "stats":
			for key, err := range d.Fields() {
				check(err)
				switch string(key) {
				case "hp":
					it.Stats.HP = must(d.ReadInt())
				case "mp":
					it.Stats.MP = must(d.ReadInt())
				}
			}
		}
	}
}
