package saves

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/text"
)

// readLines adds the lines of flat to a tree.
func readLines(r io.Reader, tree *text.Tree) error {
	lines := bufio.NewReaderSize(shell.DecodeText(r), 1<<16)
	var steps []text.Step
	for i := 1; ; i++ {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if value := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"); value != "" {
			var bad error
			if steps, bad = addLine(tree, value, steps); bad != nil {
				return fmt.Errorf("line %d: %w", i, bad)
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// addPath adds a path to a tree.
func addPath(tree *text.Tree, value string) error {
	p, err := wholePath(text.Parse(value))
	if err == nil {
		_, err = tree.Add(p, "")
	}
	return err
}

// addLine adds a line, path = value. It returns the steps of the path, for the next line.
func addLine(tree *text.Tree, line string, steps []text.Step) ([]text.Step, error) {
	p, value, err := text.CutLine(line, steps)
	if p, err = wholePath(p, err); err == nil {
		_, err = tree.Add(p, value)
	}
	return p.Steps, err
}

// wholePath returns an error for a path that ends in "…".
func wholePath(p text.Path, err error) (text.Path, error) {
	if err == nil && slices.ContainsFunc(p.Steps, func(s text.Step) bool { return s.Op == text.All }) {
		err = fmt.Errorf("%v leads to several values, which only get shows", p)
	}
	if err == nil && p.Cut {
		err = fmt.Errorf("%v is only the start of a path", p)
	}
	return p, err
}
