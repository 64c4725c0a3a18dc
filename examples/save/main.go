// Save shows the player of a saved game of any kind, and sets the hp of one item: save FILE.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/gdwire/gdwire/savefile"
)

type Save struct {
	Player struct {
		Name      string `gd:",required"` // a missing or misspelt key is no error otherwise
		Inventory []struct {
			Name  string
			Stats struct{ HP, MP int } // "hp" and "mp": MaxHP would be "max_hp", as in GDScript
		}
	}
}

func load(name string) (s Save, err error) {
	err = savefile.Load(name, &s) // of Godot 4 or 3; plain, compressed or encrypted
	return s, err
}

func edit(name string) error {
	f, err := savefile.Open(name, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Edit(savefile.Set("player.inventory[7].stats.hp", 999)); err != nil {
		return err
	}
	return f.Save(name) // replaces the file after success
}

func main() {
	s, err := load(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s has %d items\n", s.Player.Name, len(s.Player.Inventory))
	if err := edit(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
