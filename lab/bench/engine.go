package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
)

// engineCommand is the headless Godot 3 of Debian.
const engineCommand = "godot3-server"

//go:embed engine.gd
var engineScript []byte

// engineGroup measures an engine that decodes and encodes the document. The engine
// measures its own time and builds whole values.
var engineGroup = func() group {
	g := group{
		name:  "engine",
		about: "bytes2var and var2bytes of Godot 3, which build and take whole values, on the document in the format of Godot 3.",
		setup: func(*stage) []contender { return oursInGodot3(game()) },
	}
	g.measure = func(o *options) ([]found, error) { return besideEngine(g, o) }
	return g
}()

// besideEngine measures gdwire and adds the engine's times.
func besideEngine(g group, o *options) ([]found, error) {
	path, err := exec.LookPath(engineCommand)
	if err != nil {
		return nil, nil // without an engine there is no table
	}
	f := measure(g, o)
	times, err := askEngine(path, game().godot3(), o.rounds)
	if err != nil {
		return nil, err
	}
	for _, call := range []string{"bytes2var", "var2bytes"} {
		m := measurement{Name: engineCommand + " " + call, Bytes: len(game().godot), Rounds: times[call]}
		m.summarize()
		f.Measurements = append(f.Measurements, m)
	}
	return []found{f}, nil
}

// godot3 returns the document in the format of Godot 3.
func (doc *document) godot3() []byte {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: gdwire.Godot3})
	d := gdwire.NewDecoder(bytes.NewReader(doc.godot), nil)
	defer d.Release()
	check(gdwire.CopyValue(e, d))
	return b.Bytes()
}

func oursInGodot3(doc *document) []contender {
	b := doc.godot3()
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: gdwire.Godot3})
	var to drain
	e := gdwire.NewEncoder(&to, &gdwire.EncoderOptions{Format: gdwire.Godot3})
	return []contender{
		{
			name: "gdwire tokens, values taken", ours: true, bytes: len(b), want: doc.sum,
			run: func() int {
				d.ResetBytes(b)
				return readValues(d)
			},
		},
		{
			name: "gdwire encode", ours: true, bytes: len(b), want: len(b),
			run: func() int {
				to.n = 0
				e.Reset(&to)
				doc.writeGodot(e)
				check(e.Flush())
				return to.n
			},
		},
	}
}

// askEngine returns the time of each call in each round, in ns.
func askEngine(path string, packet []byte, rounds int) (map[string][]float64, error) {
	home, err := os.MkdirTemp("", "gdwire-bench") // the engine writes its logs there
	if err != nil {
		return nil, err
	}
	defer remove(home)
	for name, content := range map[string][]byte{
		"engine.gd": engineScript, "packet.bin": packet, "project.godot": []byte("config_version=4\n"),
	} {
		if err := os.WriteFile(filepath.Join(home, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	c := exec.Command(path, "--no-window", "--path", home, "-s", "engine.gd", strconv.Itoa(rounds))
	c.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	out, err := c.CombinedOutput()
	times := map[string][]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if call, usec, ok := strings.Cut(lines.Text(), " "); ok && (call == "bytes2var" || call == "var2bytes") {
			n, err := strconv.ParseFloat(usec, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", engineCommand, err)
			}
			times[call] = append(times[call], n*1e3)
		}
	}
	if err != nil || len(times["bytes2var"]) != rounds || len(times["var2bytes"]) != rounds {
		return nil, fmt.Errorf("%s: %w\n%s", engineCommand, err, out)
	}
	return times, nil
}
