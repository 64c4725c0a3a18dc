// Command gdwire shows, checks and rewrites packets of Godot's Variant format.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gdwire/gdwire"
)

func main() {
	f, err := os.Open(os.Args[2])
	if err != nil {
		panic(err)
	}
	o := &gdwire.DecoderOptions{}
	if len(os.Args) > 3 {
		o.Format = gdwire.FormatByName(os.Args[3])
	}
	d := gdwire.NewDecoder(f, o)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		at, depth := d.InputOffset(), d.Depth()
		t, err := d.ReadToken()
		if err == io.EOF {
			return
		}
		if err != nil {
			fmt.Fprintln(out, err)
			return
		}
		fmt.Fprintf(out, "%8d %s%v  %s\n", at, strings.Repeat("  ", depth), t, d.AppendPath(nil))
	}
}
