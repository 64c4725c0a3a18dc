package main

import (
	"errors"
	"log"
	"os"

	"github.com/gdwire/gdwire"
)

func main() {
	e := gdwire.NewEncoder(os.Stdout, nil)
	if err := errors.Join(
		e.BeginDict(2),
		e.WriteString("name"), e.WriteString("Ada"),
		e.WriteString("pos"), e.WriteReals(gdwire.TypeVector3, 1, 2, 3),
		e.End(), e.Close(),
	); err != nil {
		log.Fatal(err)
	}
}
