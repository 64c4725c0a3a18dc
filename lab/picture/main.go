// Command picture runs gdwire and writes an SVG picture of its output in a terminal. Run it
// in the folder lab:
//
//	go run ./picture >../cmd/gdwire/terminal.svg
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gdwire/gdwire/internal/base/checked"
)

// A scene is a command line and the part of its output in the picture.
type scene struct {
	args  []string
	match string // only lines that match
	lines int
	shown string // the command line in the picture

	status int // the exit status
}

// Copies of save are files of the scenes.
const save = "../testdata/godot4.7-dev/save_game_large.bin"

var files = []string{"save.bin", "old.bin"}

var scenes = []scene{
	{args: []string{"flat", "save.bin"}, match: `inventory\[7\]`, lines: 12, shown: "gdwire flat save.bin | grep 'inventory.7.'"},
	{args: []string{"set", "-i", "player.inventory[7].stats.hp = 999", "save.bin"}, lines: 1, shown: "gdwire set -i 'player.inventory[7].stats.hp = 999' save.bin"},
	{args: []string{"diff", "old.bin", "save.bin"}, status: 1, lines: 1, shown: "gdwire diff old.bin save.bin"},
	{args: []string{"tokens", "save.bin"}, lines: 6, shown: "gdwire tokens save.bin | head -n 6"},
}

func main() {
	log.SetFlags(0)
	svg, err := draw(scenes)
	if err != nil {
		log.Fatal(err)
	}
	_, _ = os.Stdout.Write(svg)
}

// draw runs the scenes and returns the picture.
func draw(scenes []scene) (svg []byte, err error) {
	err = checked.Try(func() { svg = drawn(scenes) })
	return svg, err
}

func drawn(scenes []scene) []byte {
	folder := checked.Must(os.MkdirTemp("", "picture"))
	defer func() { _ = os.RemoveAll(folder) }()
	program := filepath.Join(folder, "gdwire")
	if out, err := exec.Command("go", "-C", "..", "build", "-o", program, "./cmd/gdwire").CombinedOutput(); err != nil {
		checked.Check(fmt.Errorf("%w: %s", err, out))
	}
	content := checked.Must(os.ReadFile(save))
	for _, name := range files {
		checked.Check(os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}

	var lines []string
	for i, s := range scenes {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, "\x1b[1m$ "+s.shown+"\x1b[0m")
		lines = append(lines, s.run(program)...)
	}
	return render(lines)
}

// run returns the lines of a scene, which runs in the folder of the program.
func (s *scene) run(program string) (lines []string) {
	c := exec.Command(program, s.args...)
	c.Dir = filepath.Dir(program)
	c.Env = append(os.Environ(), "CLICOLOR_FORCE=1")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); c.ProcessState.ExitCode() != s.status {
		checked.Check(fmt.Errorf("%s: %v: %s", s.shown, err, &out))
	}
	match := regexp.MustCompile(s.match)
	for line := range strings.Lines(out.String()) {
		if match.MatchString(line) && len(lines) < s.lines {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// The picture's measures in pixels, and its colors.
const (
	charWidth, lineHeight, margin = 8.4, 19, 16
	background, foreground        = "#1e1e2e", "#cdd6f4"
)

// styles contains the SVG attributes for escape sequences.
var styles = map[string]string{
	"1": `font-weight="bold"`, "2": `fill="#7f849c"`,
	"31": `fill="#f38ba8"`, "32": `fill="#a6e3a1"`, "33": `fill="#f9e2af"`, "36": `fill="#89dceb"`,
}

var escape = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// render returns lines with escape sequences as SVG.
func render(lines []string) []byte {
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(escape.ReplaceAllString(line, "")))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="monospace" font-size="14">`+"\n",
		float64(width)*charWidth+2*margin, len(lines)*lineHeight+2*margin)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s" xml:space="preserve">%s</text>`+"\n",
			margin, margin+(i+1)*lineHeight-5, foreground, spans(line))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// spans returns a line with its escape sequences as tspan elements.
func spans(line string) string {
	var b strings.Builder
	style := ""
	for line != "" {
		text, next := line, ""
		if at := escape.FindStringSubmatchIndex(line); at != nil {
			text, next, line = line[:at[0]], styles[cmp.Or(line[at[2]:at[3]], "0")], line[at[1]:]
		} else {
			line = ""
		}
		switch text = html.EscapeString(text); {
		case text == "":
		case style == "":
			b.WriteString(text)
		default:
			fmt.Fprintf(&b, "<tspan %s>%s</tspan>", style, text)
		}
		style = next
	}
	return b.String()
}
