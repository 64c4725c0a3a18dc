package gdscript_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gdwire/gdwire/gdscript"
)

type Packet struct { // the message is the field that is not nil
	Chat *Chat `gd:",omitzero"`
	Quit *Quit `gd:",omitzero"`
}

type Chat struct {
	Text string `gd:",required"`
}

type Quit struct{}

// generate writes the script, if a program is called as: go run . -gdscript ../game/messages.gd
func generate(name string) error {
	var script bytes.Buffer
	if err := gdscript.Write(&script, Packet{}); err != nil {
		return err
	}
	return os.WriteFile(name, script.Bytes(), 0o666)
}

// A go:generate line runs the server itself to write the script of the game.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err == nil {
		defer os.RemoveAll(dir)
		err = generate(filepath.Join(dir, "messages.gd"))
	}
	fmt.Println(err)
	// Output: <nil>
}
