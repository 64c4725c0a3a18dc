package main

import "github.com/gdwire/gdwire/variant"

//go:generate go run . -gdscript game/messages.gd

// A Packet is one message: the field other than nil.
type Packet struct {
	Sender int64 `gd:",omitzero"` // the number of the player, set by the server

	Welcome *Welcome `gd:",omitzero"`
	Joined  *Joined  `gd:",omitzero"`
	Left    *Left    `gd:",omitzero"`
	Chat    *Chat    `gd:",omitzero"`
	Move    *Move    `gd:",omitzero"`
}

type (
	Welcome struct{} // tells a game the number of its player
	Joined  struct{}
	Left    struct{}
	Chat    struct {
		Text string `gd:",required"`
	}
	Move struct {
		Pos variant.Vector2 `gd:",required"`
	}
)
