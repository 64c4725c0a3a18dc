// Save reads a saved game from standard input, heals an item and writes the game to
// standard output.
package main

import (
	"io"
	"log"
	"os"

	"github.com/gdwire/gdwire/variant"
)

type Save struct {
	Version int
	Player  Player
	Rest    *variant.Dictionary `gd:",embed"` // all other keys
}

type Player struct {
	Name      string
	Transform variant.Transform3D
	Inventory []Item
}

type Item struct {
	ID      int64
	Name    string
	Weight  float64
	Pos     variant.Vector3
	Tags    []string
	Color   variant.Color
	Enabled bool
	Parent  variant.NodePath
	Stats   struct{ HP, MP int64 } // "hp" and "mp": names are those of GDScript
}

func main() {
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	var save Save
	if err := variant.Unmarshal(data, &save); err != nil {
		log.Fatal(err) // gdwire: offset 52, $.player.name: int into Go string (Player.Name)
	}
	for i := range save.Player.Inventory {
		if item := &save.Player.Inventory[i]; item.Name == "item_7" {
			log.Println(save.Player.Name, "heals", item.Name, "at", item.Pos)
			item.Stats.HP = 999
		}
	}
	if data, err = variant.Marshal(save); err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(data); err != nil {
		log.Fatal(err)
	}
}
