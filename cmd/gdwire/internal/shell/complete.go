package shell

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// The scripts for completion in shells, by gdwire complete.
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

// Version defines the flags of version.
func Version(*Flags) Action { return Action{Run: version} }

// version shows the version of the module.
func version(s *Stdio) error {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	_, err := fmt.Fprintln(s.Out, "gdwire", v)
	return err
}

// Complete defines the flags of complete.
func Complete(f *Flags) Action {
	return Action{Run: func(s *Stdio) error { return complete(s, f) }}
}

// complete prints the script for a shell. Called by the scripts, with the number of a word and all words
// of the line as operands, complete prints the words with the prefix so far.
func complete(s *Stdio, f *Flags) error {
	if script, ok := completions[f.Operands[0]]; ok {
		_, err := s.Out.WriteString(script)
		return err
	}
	i, err := strconv.Atoi(f.Operands[0])
	words := f.Operands[1:]
	if err != nil || i < 1 || len(words) == 0 {
		return usageError{errors.New("want one of bash, zsh, fish, powershell"), func(io.Writer) error { return nil }}
	}
	word := ""
	if i < len(words) {
		word = words[i]
	}
	for _, fit := range f.program.candidates(words, i, word) {
		if strings.HasPrefix(fit, word) {
			fmt.Fprintln(s.Out, fit)
		}
	}
	return nil
}

// candidates returns words for word i of a line.
func (p *Program) candidates(words []string, i int, word string) (all []string) {
	if i == 1 || i == 2 && helps[words[1]] {
		for c := range p.commands {
			all = append(all, c.Name)
		}
		return append(all, map[bool]string{true: "help", false: limitsName}[i == 1])
	}
	c := p.find(words[1])
	if c == nil {
		return nil
	}
	f, _ := c.newFlags(p)
	if name, takes := f.takesValue(words[i-1]); takes && i > 2 {
		return f.valuesOf(name, "", word)
	}
	name, value, hasValue := strings.Cut(word, "=")
	_, isFlag := f.takesValue(name)
	switch {
	case hasValue && isFlag:
		return f.valuesOf(strings.TrimLeft(name, "-"), name+"=", value)
	case strings.HasPrefix(word, "-"):
		f.VisitAll(func(one *flag.Flag) { all = append(all, "-"+one.Name) })
		return all
	case c.Words != nil:
		return c.Words
	case strings.Contains(c.Operands, "PATH"):
		for j, name := range words {
			if info, err := os.Stat(name); j > 1 && j != i && err == nil && info.Mode().IsRegular() {
				return p.Complete(name, word)
			}
		}
	}
	return nil
}

// takesValue returns the name of the flag in word, and reports whether a value follows the flag.
func (f *Flags) takesValue(word string) (name string, takes bool) {
	name = strings.TrimLeft(word, "-")
	one := f.Lookup(name)
	if one == nil || name == word {
		return name, false
	}
	b, ok := one.Value.(interface{ IsBoolFlag() bool })
	return name, !ok || !b.IsBoolFlag()
}

// valuesOf returns the values of a flag, each after a prefix and the value so far up to its last comma.
func (f *Flags) valuesOf(name, prefix, value string) (all []string) {
	prefix += value[:strings.LastIndex(value, ",")+1]
	for _, one := range f.choices[name] {
		all = append(all, prefix+one)
	}
	return all
}
