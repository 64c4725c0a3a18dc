package main

import (
	"log"
	"os"

	"github.com/gdwire/gdwire"
)

func main() {
	e := gdwire.NewEncoder(os.Stdout, nil)
	e.BeginDict(2)
	e.WriteString("name")
	e.WriteString("Ada")
	e.WriteString("pos")
	gdwire.WriteComponents(e, gdwire.TypeVector3, []float64{1, 2, 3})
	e.End()
	if err := e.Close(); err != nil { // or the error of the first failed call
		log.Fatal(err)
	}
}
