package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/gdwire/gdwire/internal/text"
)

// readLines adds the lines of flat to a tree.
func readLines(r io.Reader, tree *text.Tree) error {
	lines := bufio.NewReaderSize(decodeText(r), 1<<16)
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

// decodeText returns a Reader of text without its byte order mark. Text in UTF-16, as
// PowerShell writes it, becomes UTF-8.
func decodeText(r io.Reader) io.Reader {
	return transform.NewReader(r, unicode.BOMOverride(encoding.Nop.NewDecoder()))
}
