// Measure runs engines and programs of others over the vectors of spec/vectors. In the folder lab:
//
//	go run ./measure vectors [-all] [-write] [ENGINE…]
//	go run ./measure results
//
// The first asks engines again and shows whose answers have changed; -write writes these to the
// vectors, and -all also those to vectors that the engine was not asked before. GDWIRE_WRITE_SPEC=1
// then completes the vectors: see spec/vectors/README.md. The second writes spec/results.md.
//
// The engines are Debian's godot3-server, Godot 4.6 in the browser of lab/interop, and the
// program of the environment variable GDWIRE_GODOT4, which runs a script: 4.7-dev.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

func main() {
	fs := flag.NewFlagSet("measure", flag.ExitOnError)
	all := fs.Bool("all", false, "ask about all vectors of the format")
	write := fs.Bool("write", false, "write what has changed")
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
		_ = fs.Parse(os.Args[2:]) // exits on errors
	}
	err := testenv.Try(func() {
		testenv.Check(os.Chdir("..")) // the root of the repository
		switch command {
		case "vectors":
			vectors(fs.Args(), *all, *write)
		case "results":
			results()
		default:
			testenv.Check(errors.New("the command is vectors or results"))
		}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// An engine answers lines of spec/others/godot3.gd or godot4.gd.
type engine struct {
	name    string // as vectors have it
	version string // the beginning of what the engine calls itself, and its hash
	format  gdwire.Format
	dirty   bool     // the padding of names is memory content
	command []string // runs the script
}

var engines = []engine{
	{"3.2.3", "3.2.3-stable", gdwire.Godot3, true, []string{"sh", "spec/others/engine.sh", "godot3-server", "-s", "spec/others/godot3.gd"}},
	{"4.6", "4.6-stable (official) 89cea1439", gdwire.Godot4, true, []string{"go", "-C", "lab", "run", "./interop/runner", "../spec/others/godot4.gd"}},
	{"4.7-dev-debug", "4.7-dev (custom_build) 54e130b9f", gdwire.Godot4, false, []string{"sh", "spec/others/engine.sh", os.Getenv("GDWIRE_GODOT4"), "spec/others/godot4.gd"}},
}

// start returns a command that runs the script of e in a mode.
func (e *engine) start(mode string) *exec.Cmd {
	c := exec.Command(e.command[0], e.command[1:]...)
	c.Env = append(os.Environ(), "MODE="+mode, "LIMIT=600")
	c.Stderr = os.Stderr
	return c
}

// check fails unless the engine runs and is the build that the vectors mean.
func (e *engine) check() {
	if slices.Contains(e.command, "") {
		testenv.Check(fmt.Errorf("%s: the environment variable GDWIRE_GODOT4 is not set", e.name))
	}
	text, err := e.start("version").Output()
	version := ""
	if err == nil {
		version, err = versionOf(text)
	}
	if err != nil {
		testenv.Check(fmt.Errorf("%s: %w", e.name, err))
	}
	if !strings.HasPrefix(version, e.version) {
		testenv.Check(fmt.Errorf("the engine is %s, not %s", version, e.version))
	}
}
