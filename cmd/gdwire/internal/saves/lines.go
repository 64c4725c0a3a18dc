package saves

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
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

// addOperand adds a line of the command line, whose value can be native JSON.
func addOperand(tree *text.Tree, line string) error {
	if p, value, err := text.SplitLine(line); err == nil {
		if value, ok := nativeValue(value); ok {
			if p, err = wholePath(p, nil); err == nil {
				_, err = tree.Add(p, value)
			}
			return err
		}
	}
	_, err := addLine(tree, line, nil)
	return err
}

// nativeFormats contains formats that know all types together.
var nativeFormats = []gdwire.Format{gdwire.Godot4, gdwire.Godot2}

// nativeValue returns the value of a text in native JSON, as get prints it, as the value of a line. Other
// texts that begin with a double quote, bracket or brace are no native JSON, but for numbers, texts and
// Dictionaries that look so, such as "s:text".
func nativeValue(value string) (string, bool) {
	if value == "" || strings.IndexByte(`"[{`, value[0]) < 0 {
		return "", false
	}
	for _, format := range nativeFormats {
		e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{Format: format, DoubleReals: true, Depth: text.MaxNesting})
		e.ResetBytes(nil)
		err := gdjson.FromJSON(e, strings.NewReader(value), gdjson.Options{AllowObjects: true})
		b := e.Bytes()
		_ = e.Close() // into memory
		if err != nil {
			continue
		}
		d := gdwire.NewDecoder(bytes.NewReader(b), &gdwire.DecoderOptions{Format: format, AllowObjects: true, Limits: gdwire.NoLimits})
		p := text.Printer{Decoder: d}
		err = p.Next(0)
		d.Release()
		return string(p.Buf), err == nil
	}
	return "", false
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
