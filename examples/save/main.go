// Save sets the hp of an item in a saved game of any kind: save FILE.
package main

import (
	"log"
	"os"

	"github.com/gdwire/gdwire/savefile"
)

func main() {
	f, err := savefile.Open(os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	if err := f.Edit(savefile.Set("player.inventory[7].stats.hp", 999)); err != nil {
		log.Fatal(err)
	}
	if err := f.Save(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
