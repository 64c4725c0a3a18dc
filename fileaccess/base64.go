package fileaccess

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"io"
	"math"

	"github.com/gdwire/gdwire/internal/checked"
)

// A Base64 describes base64 text around a file, such as a result of Marshalls.variant_to_base64. The zero
// value is no text.
type Base64 struct {
	// Text reports whether the file is base64 text.
	Text bool
	// Line is the number of characters in each line, except for the last. 0 is a single line.
	Line int
	// Break is the line break after each line but the last. For a writer, "" means "\n".
	Break string
	// End is the text after the last line: "", or line breaks and spaces.
	End string
}

// maxEnd is the maximum number of bytes in Base64.End.
const maxEnd = 64

var (
	errNoBase64 = errors.New("no base64 text")
	errLines    = errors.New("lines of different lengths")
)

// decodeBase64 reads base64 text up to its end, and returns the content. With an error, content is the part
// before the error.
func decodeBase64(src *source, limits *bounds) (content []byte, form Base64, err error) {
	most := limits[limitSize]
	readable := int64(math.MaxInt64)
	if most < math.MaxInt32 {
		readable = 4*most + maxEnd // each character can be a line
	}
	text, err := io.ReadAll(io.LimitReader(src, readable))
	if err != nil {
		return nil, form, err
	}
	body := bytes.TrimRight(text, "\r\n \t")
	form = Base64{Text: true, End: string(text[len(body):min(len(text), len(body)+maxEnd+1)])}
	if len(form.End) > maxEnd {
		return nil, form, errorf(int64(len(body)), ErrDamaged, "%v", errNoBase64)
	}
	if i := bytes.IndexByte(body, '\n'); i >= 0 {
		form.Line, form.Break = i, "\n"
		if i > 0 && body[i-1] == '\r' {
			form.Line, form.Break = i-1, "\r\n"
		}
	}
	joined, err := joinLines(body, &form)
	if err != nil {
		return nil, form, err
	}
	n, err := base64.StdEncoding.Strict().Decode(joined, joined) // it reads ahead of its writes
	if at, ok := err.(base64.CorruptInputError); ok {
		offset := int64(at)
		if form.Line > 0 {
			offset += offset / int64(form.Line) * int64(len(form.Break))
		}
		err = errorf(offset, ErrDamaged, "%v", errNoBase64)
	}
	if err == nil {
		err = limits.check(limitSize, uint64(n), 0)
	}
	return joined[:n], form, err
}

// joinLines removes the line breaks in body, in place.
func joinLines(body []byte, form *Base64) ([]byte, error) {
	joined := body[:0]
	for at := 0; at < len(body); {
		line := body[at:]
		if form.Line > 0 && len(line) > form.Line {
			line = line[:form.Line]
		}
		if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
			return nil, errorf(int64(at+i), ErrDamaged, "%v", errLines)
		}
		at += len(line)
		if at < len(body) {
			if !bytes.HasPrefix(body[at:], []byte(form.Break)) || form.Break == "" {
				return nil, errorf(int64(at), ErrDamaged, "%v", errLines)
			}
			at += len(form.Break)
		}
		joined = append(joined, line...)
	}
	return joined, nil
}

// A textWriter writes a file in base64 text.
type textWriter struct {
	file    io.WriteCloser // writes to encoder
	encoder io.WriteCloser // writes lines to w
	w       io.Writer
	end     string
	sticky
}

// newTextWriter returns a textWriter without a file.
func newTextWriter(w io.Writer, form Base64) *textWriter {
	lines := &lineWriter{w: w, length: form.Line, lineBreak: cmp.Or(form.Break, "\n")}
	return &textWriter{encoder: base64.NewEncoder(base64.StdEncoding, lines), w: w, end: form.End}
}

func (t *textWriter) Write(p []byte) (int, error) { return t.write(t.file, p) }

// Close writes the end of the text.
func (t *textWriter) Close() error {
	return t.close(func() error {
		for _, w := range []io.Closer{t.file, t.encoder} {
			if err := w.Close(); err != nil {
				return err
			}
		}
		return writeAll(t.w, []byte(t.end))
	})
}

// A lineWriter writes lines.
type lineWriter struct {
	w         io.Writer
	length    int // of a line, or 0 if there is only one
	lineBreak string
	used      int // characters in the last line
}

func (l *lineWriter) Write(p []byte) (int, error) {
	if l.length <= 0 {
		return checked.Write(l.w, p)
	}
	var out []byte
	for rest := p; len(rest) > 0; {
		if l.used == l.length {
			out, l.used = append(out, l.lineBreak...), 0
		}
		n := min(len(rest), l.length-l.used)
		out, rest = append(out, rest[:n]...), rest[n:]
		l.used += n
	}
	if _, err := checked.Write(l.w, out); err != nil {
		return 0, err
	}
	return len(p), nil
}
