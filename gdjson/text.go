package gdjson

import (
	"bytes"
	"io"
	"math"
	"math/bits"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire"
)

// A text is the JSON of one value, in memory, and an index of what is in it. With
// the index, counts are known before content is read, and a member that comes
// last, such as "type", is found without reading those before it: reading takes
// time in proportion to the text however deep and in whatever order it is.
type text struct {
	buf     bytes.Buffer // holds json
	json    []byte
	nodes   []node
	limited io.LimitedReader // of the source
	check   jsontext.Decoder
	input   bytes.Buffer // of check
}

// A node is an object or array. Nodes are in the order in which they begin.
type node struct {
	end   uint32 // offset after its last byte
	next  uint32 // index of the first node that begins after it
	count uint32 // elements or members
}

// maxText is the longest text whose offsets a node holds.
const maxText = math.MaxUint32 - 1

// read reads src to its end: one value, in at most so many bytes. Two members of an
// object may have the same name if duplicates is set.
func (t *text) read(src io.Reader, most int64, duplicates bool) error {
	t.buf.Reset()
	most = min(most, maxText)
	t.limited = io.LimitedReader{R: src, N: most + 1}
	n, err := t.buf.ReadFrom(&t.limited)
	t.limited.R = nil
	if err != nil {
		return err
	}
	if n > most {
		return &Error{Offset: most, Err: &gdwire.LimitError{Name: "Buffered", Got: n, Max: most}}
	}
	t.json = t.buf.Bytes()
	if t.scan() && duplicates {
		return nil
	}
	t.input = *bytes.NewBuffer(t.json)
	t.check.Reset(&t.input, jsontext.AllowDuplicateNames(duplicates))
	if _, err := t.check.ReadValue(); err == io.EOF {
		return &Error{Offset: n, Err: io.ErrUnexpectedEOF}
	} else if err != nil {
		return syntaxError(t.json, err)
	}
	end := t.check.InputOffset()
	if _, err := t.check.ReadToken(); err == nil {
		return &Error{Offset: end, Err: errSecondValue}
	} else if err != io.EOF {
		return syntaxError(t.json, err)
	}
	t.index()
	return nil
}

var errSecondValue = wrapf(gdwire.ErrCount, "text after the value")

// release keeps the memory for the next value, unless it is much.
func (t *text) release() {
	const most = 4 << 20
	t.json, t.input = nil, bytes.Buffer{}
	if t.buf.Cap() > most {
		t.buf = bytes.Buffer{}
	}
	if cap(t.nodes) > most/16 {
		t.nodes = nil
	}
}

// scan finds the nodes of t.json and reports whether that is valid JSON. Where it
// reports false, jsontext decides: scan is there because it takes a third of the
// time, and leaves what is rare, such as surrogates, to jsontext.
func (t *text) scan() bool {
	const none, maxDepth = math.MaxUint32, 10_000
	b, i, ok := t.json, 0, true
	top, depth := uint32(none), 0 // the innermost open node, whose end is its start
	t.nodes = t.nodes[:0]
	for {
		i = space(b, i)
		if i == len(b) {
			return false
		}
		switch c := b[i]; c {
		case '{', '[':
			t.nodes = append(t.nodes, node{end: uint32(i), next: top})
			top = uint32(len(t.nodes) - 1)
			if depth++; depth > maxDepth {
				return false
			}
			i = space(b, i+1)
			if i < len(b) && b[i] == c+2 { // the closing bracket
				break
			}
			t.nodes[top].count = 1
			if c == '{' {
				if i, ok = scanName(b, i); !ok {
					return false
				}
			}
			continue
		case '"':
			i, ok = scanString(b, i)
		case 'n', 't', 'f':
			i, ok = scanWord(b, i)
		default:
			i, ok = scanNumber(b, i)
		}
		// A value has ended, or an empty node is about to.
		if !ok {
			return false
		}
		for {
			i = space(b, i)
			if top == none {
				return i == len(b)
			}
			n := &t.nodes[top]
			if i == len(b) {
				return false
			}
			if b[i] == ',' && n.count > 0 {
				n.count++
				i++
				break
			}
			if b[i] != b[n.end]+2 {
				return false
			}
			i++
			n.end, n.next, top = uint32(i), uint32(len(t.nodes)), n.next
			depth--
		}
		if b[t.nodes[top].end] == '{' {
			if i, ok = scanName(b, space(b, i)); !ok {
				return false
			}
		}
	}
}

// space returns the offset of the first byte from i on that is not white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// scanName passes a member's name and its colon.
func scanName(b []byte, i int) (int, bool) {
	if i == len(b) || b[i] != '"' {
		return i, false
	}
	i, ok := scanString(b, i)
	i = space(b, i)
	return i + 1, ok && i < len(b) && b[i] == ':'
}

// scanString passes the string that begins at i.
func scanString(b []byte, i int) (int, bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	start, ascii := i, true
	for i++; ; {
		if i+8 <= len(b) {
			x := le.Uint64(b[i:])
			quote, slash := x^'"'*ones, x^'\\'*ones
			found := (x | (x - ' '*ones) | (quote - ones) | (slash - ones)) & highs
			if i += bits.TrailingZeros64(found) / 8; found == 0 {
				continue
			}
		}
		if i == len(b) {
			return i, false
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, ascii || utf8.Valid(b[start:i])
		case c == '\\':
			if i++; i == len(b) || !escapable[b[i]] {
				return i, false
			}
		case c < ' ':
			return i, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
		i++
	}
}

// escapable are the bytes that may follow a backslash, but for u.
var escapable = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// scanWord passes null, true or false.
func scanWord(b []byte, i int) (int, bool) {
	for _, word := range [...]string{"null", "true", "false"} {
		if bytes.HasPrefix(b[i:], []byte(word)) {
			return i + len(word), true
		}
	}
	return i, false
}

// scanNumber passes the number that begins at i.
func scanNumber(b []byte, i int) (int, bool) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	i = digits(b, i)
	if i == first || b[first] == '0' && i > first+1 {
		return i, false
	}
	if i < len(b) && b[i] == '.' {
		first = i + 1
		if i = digits(b, first); i == first {
			return i, false
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		first = i
		if i = digits(b, i); i == first {
			return i, false
		}
	}
	return i, true
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' < 10 {
		i++
	}
	return i
}

// structural are the bytes that index looks at.
var structural = [256]bool{'"': true, '[': true, ']': true, '{': true, '}': true, ',': true}

// index finds the nodes of valid JSON. While a node is open, next is the node
// around it.
func (t *text) index() {
	b, nodes, top := t.json, t.nodes[:0], uint32(math.MaxUint32)
	for i := 0; i < len(b); i++ {
		if !structural[b[i]] {
			continue
		}
		switch b[i] {
		case '"':
			i, _ = stringEnd(b, i)
			i--
		case ',':
			nodes[top].count++
		case ']', '}':
			n := &nodes[top]
			n.end, n.next, top = uint32(i+1), uint32(len(nodes)), n.next
		default:
			count := uint32(1)
			if c := b[skipSpace(b, i+1)]; c == ']' || c == '}' {
				count = 0
			}
			nodes = append(nodes, node{next: top, count: count})
			top = uint32(len(nodes) - 1)
		}
	}
	t.nodes = nodes
}

// skipSpace returns the offset of the first byte from i on that is not white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	return i
}

// stringEnd returns the offset after the string that begins at i, and whether there
// are escapes in it. Eight bytes are looked at at a time, since every string is
// passed two or three times.
func stringEnd(b []byte, i int) (end int, escaped bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for i++; ; {
		if i+8 <= len(b) {
			x := le.Uint64(b[i:])
			quote, slash := x^'"'*ones, x^'\\'*ones
			found := ((quote-ones)&^quote | (slash-ones)&^slash) & highs
			if i += bits.TrailingZeros64(found) / 8; found == 0 {
				continue
			}
		}
		switch b[i] {
		case '"':
			return i + 1, escaped
		case '\\':
			escaped = true
			i++
		}
		i++
	}
}

// pointer returns the JSON pointer of the value at offset.
func (t *text) pointer(offset int) jsontext.Pointer {
	d := jsontext.NewDecoder(bytes.NewBuffer(t.json), jsontext.AllowDuplicateNames(true))
	for d.InputOffset() <= int64(offset) {
		if _, err := d.ReadToken(); err != nil {
			break
		}
	}
	return d.StackPointer()
}
