package main

import (
	"fmt"
	"log"
	"os"

	"github.com/gdwire/gdwire"
)

func main() {
	d := gdwire.NewDecoder(os.Stdin, nil)
	for t, err := range d.Tokens() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %v\n", d.AppendPath(nil), t)
	}
}
