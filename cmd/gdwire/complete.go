package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// The scripts that make shells complete words by gdwire complete.
var (
	//go:embed complete/bash
	bashScript string
	//go:embed complete/zsh
	zshScript string
	//go:embed complete/fish
	fishScript string
	//go:embed complete/powershell
	powershellScript string

	completions = map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript, "powershell": powershellScript}
)

func init() { findCommand("complete").run = complete } // it reads the table of commands

// complete prints the script for a shell or, as the scripts call it, the words that fit: its operands
// are then the number of the word to complete and all words of the line.
func complete(s *stdio, o *options) error {
	if script, ok := completions[o.operands[0]]; ok {
		_, err := s.out.WriteString(script)
		return err
	}
	i, err := strconv.Atoi(o.operands[0])
	words := o.operands[1:]
	if err != nil || i < 1 || len(words) == 0 {
		return usageError{errors.New("want one of bash, zsh, fish, powershell"), func(io.Writer) error { return nil }}
	}
	word := ""
	if i < len(words) {
		word = words[i]
	}
	for _, fit := range candidates(words, i, word) {
		if strings.HasPrefix(fit, word) {
			fmt.Fprintln(s.out, fit)
		}
	}
	return nil
}

// candidates returns words for word i of a line.
func candidates(words []string, i int, word string) (all []string) {
	if i == 1 {
		for j := range commands {
			all = append(all, commands[j].name)
		}
		return all
	}
	c := findCommand(words[1])
	switch {
	case c == nil:
	case strings.HasPrefix(word, "-"):
		o := newOptions()
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		o.define(fs, c.common, c.showsObjects)
		if c.flags != nil {
			c.flags(fs, o)
		}
		fs.VisitAll(func(f *flag.Flag) { all = append(all, "-"+f.Name) })
	case strings.Contains(c.operands, "PATH"):
		for j, name := range words {
			if info, err := os.Stat(name); j > 1 && j != i && err == nil && info.Mode().IsRegular() {
				return pathsOf(name, word)
			}
		}
	}
	return all
}

// findCommand returns the command of the given name, or nil.
func findCommand(name string) *command {
	for i := range commands {
		if commands[i].name == name {
			return &commands[i]
		}
	}
	return nil
}

// maxCompletionLines is the maximum number of lines of flat that are read for a completion.
const maxCompletionLines = 200_000

// errEnough ends a printer whose other lines are not wanted.
var errEnough = errors.New("enough")

// pathsOf returns the paths in a file that begin with a word, up to their next step. Without $ in the
// word, those of the first value have none.
func pathsOf(name, word string) []string {
	found := map[string]bool{}
	dollar := strings.HasPrefix(word, "$")
	lines := 0
	w := &lineWriter{line: func(line string) error {
		if lines++; lines > maxCompletionLines {
			return errEnough
		}
		path, _ := splitLine(line)
		if inFirst := strings.HasPrefix(path, "$.") || strings.HasPrefix(path, "$["); inFirst && !dollar {
			path = strings.TrimPrefix(path[1:], ".")
		}
		if rest, ok := strings.CutPrefix(path, word); ok {
			found[word+nextStep(word, rest)] = true
		}
		return nil
	}}
	s, o := newStdio(nil, w, io.Discard), newOptions()
	s.errs, o.quiet = io.Discard, true
	o.Decoder.AllowObjects = true
	in, err := save.Open(name, nil)
	if err != nil {
		return nil
	}
	_ = in.Close()
	_ = s.showFile(name, o, newFlatPrinter) // what cannot be read is not completed
	_ = s.out.Flush()
	return slices.Sorted(maps.Keys(found))
}

// nextStep returns the start of rest, the end of a path, up to the end of the step in which word ends.
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
