package main

//go:generate go tool msgp -io=false -unexported -file dialog.go -o dialog_gen.go -tests=false

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/gdwire/gdwire/variant"
)

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
