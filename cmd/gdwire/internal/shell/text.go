package shell

import (
	"bytes"
	"hash/maphash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Printable returns text with escape sequences for all characters able to control a
// terminal, except for newlines.
func Printable(text string) string {
	plain := func(r rune) bool { return r == '\n' || r != utf8.RuneError && strconv.IsPrint(r) }
	if strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		quoted := strconv.Quote(text[i : i+size])
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// Cut cuts text to width columns.
func Cut(text string, width int) string {
	if len(text) <= width {
		return text
	}
	return runewidth.Truncate(text, width, "…")
}

// DecodeText returns a Reader of text without its byte order mark. Text in UTF-16, as
// written by PowerShell, becomes UTF-8.
func DecodeText(r io.Reader) io.Reader {
	return transform.NewReader(r, unicode.BOMOverride(encoding.Nop.NewDecoder()))
}

// A LineWriter calls a function for each line written.
type LineWriter struct {
	Line  func(line string) error
	Most  int          // maximum bytes kept of a line, or 0 for all
	Sum   maphash.Hash // of all bytes of the line
	start []byte       // of the next line
}

func (w *LineWriter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		part, rest, whole := bytes.Cut(b, []byte("\n"))
		_, _ = w.Sum.Write(part)
		if w.Most > 0 {
			part = part[:min(len(part), w.Most-len(w.start))]
		}
		w.start = append(w.start, part...)
		if b = rest; whole {
			err := w.Line(string(w.start))
			w.start = w.start[:0]
			w.Sum.Reset()
			if err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}
