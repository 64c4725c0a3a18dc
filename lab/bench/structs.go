package main

import (
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
	"github.com/tinylib/msgp/msgp"
)

// A structValue is the value of a document as structs, with the code of the codecs that use no
// reflection.
type structValue interface {
	read(d *gdwire.Decoder) error
	write(e *gdwire.Encoder)
	message() message
	sum() int // tells whether all have read the same
	msgp.Marshaler
	msgp.Unmarshaler
}

// A structDocument is a document whose structs are known.
type structDocument struct {
	suffix   string // of the names of its groups
	document func() *document
	empty    func() structValue
	filled   func() structValue // the same ones each time
}

var savedStructs = structDocument{
	document: game,
	empty:    func() structValue { return new(savedWorld) },
	filled:   sync.OnceValue(func() structValue { return world() }),
}

var dialogStructs = structDocument{
	suffix:   ", dialog",
	document: dialog,
	empty:    func() structValue { return new(dialogLine) },
	filled:   sync.OnceValue(func() structValue { return newDialog() }),
}

// world returns the saved game.
func world() *savedWorld {
	w := new(savedWorld)
	check(variant.Unmarshal(game().godot, w))
	return w
}
