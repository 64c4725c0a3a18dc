package open

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// SplitLine splits a line into path and value. The separator is the first " = " outside
// of quotes.
func SplitLine(line string) (path, value string) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && c == ' ' && len(line) >= i+3 && line[i:i+3] == " = ":
			return line[:i], line[i+3:]
		}
	}
	return line, ""
}

// maxCompletionLines is the maximum number of lines of flat read for a completion.
const maxCompletionLines = 200_000

// errEnough ends a Printer after the lines needed.
var errEnough = errors.New("enough")

// CompletePath returns the paths in a file with the prefix word, up to their next step. If word starts without
// $, so do the paths of the first value.
func CompletePath(name, word string) []string {
	found := map[string]bool{}
	dollar := strings.HasPrefix(word, "$")
	lines := 0
	w := &shell.LineWriter{Line: func(line string) error {
		if lines++; lines > maxCompletionLines {
			return errEnough
		}
		path, _ := SplitLine(line)
		if inFirst := strings.HasPrefix(path, "$.") || strings.HasPrefix(path, "$["); inFirst && !dollar {
			path = strings.TrimPrefix(path[1:], ".")
		}
		if rest, ok := strings.CutPrefix(path, word); ok {
			found[word+nextStep(word, rest)] = true
		}
		return nil
	}}
	in, err := save.OpenInput(name, nil)
	if err != nil {
		return nil
	}
	_ = in.Close()
	s, o := shell.Capture(w), &Flags{}
	o.Decoder.AllowObjects = true
	_ = o.ShowFile(s, name, NewFlatPrinter) // values after an error are not completed
	_ = s.Out.Flush()
	return slices.Sorted(maps.Keys(found))
}

// nextStep returns the rest of the path word+rest up to the end of the step in which word ends.
func nextStep(word, rest string) string {
	whole := word + rest
	p, err := text.Parse(whole)
	if err != nil {
		return rest
	}
	n := 0
	if strings.HasPrefix(whole, "$") {
		n = len(text.AppendPacket(nil, p.Packet))
	}
	for i := range p.Steps {
		n += len(p.Steps[i].Append(nil))
		if i == 0 && !strings.HasPrefix(whole, "$") && whole[0] != '[' {
			n-- // without the dot
		}
		if n > len(word) {
			return whole[len(word):n]
		}
	}
	return rest
}
