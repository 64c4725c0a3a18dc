// Runner runs a script in the official Godot 4.6, for spec/conform: the script finds the lines of
// standard input in res://lines, and the environment variable MODE in the arguments of the user. Its
// answers are printed, which are JSON.
//
//	go run ./spec/conform -format godot4 -timeout 2m -- go -C lab run ./interop/runner ../spec/others/godot4.gd
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/lab/interop"
)

func main() {
	if err := checked.Try(func() { run(context.Background()) }); err != nil {
		fmt.Fprintln(os.Stderr, "runner:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) {
	if len(os.Args) != 2 {
		checked.Check(fmt.Errorf("%d arguments, not the name of a script", len(os.Args)-1))
	}
	script, lines := checked.Must(os.ReadFile(os.Args[1])), checked.Must(io.ReadAll(os.Stdin))
	browser := checked.Must(interop.Open(ctx))
	defer browser.Close()
	program := interop.Program{Files: map[string]string{"main.gd": string(script), "lines": string(lines)}, Args: []string{os.Getenv("MODE")}}
	for _, line := range checked.Must(browser.Run(ctx, program)).Lines {
		if strings.HasPrefix(line, "{") { // the engine greets
			fmt.Println(line)
		}
	}
}
