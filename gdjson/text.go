package gdjson

import (
	"bytes"
	"io"
	"math"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire"
)

// A text is the JSON of one value, in memory, and an index of what is in it. With
// the index, counts are known before content is read, and a member that comes
// last, such as "type", is found without reading those before it: reading takes
// time in proportion to the text however deep and in whatever order it is.
type text struct {
	buf   bytes.Buffer // holds json
	json  []byte
	nodes []node
	check jsontext.Decoder
	input bytes.Buffer // of check
}

// A node is an object or array. Nodes are in the order in which they begin.
type node struct {
	end   uint32 // offset after its last byte
	next  uint32 // index of the first node that begins after it
	count uint32 // elements or members
}

// maxText is the longest text whose offsets a node holds.
const maxText = math.MaxUint32 - 1

// read reads src to its end: one value, in at most so many bytes.
func (t *text) read(src io.Reader, most int64, o ...jsontext.Options) error {
	t.buf.Reset()
	most = min(most, maxText)
	n, err := t.buf.ReadFrom(io.LimitReader(src, most+1))
	if err != nil {
		return err
	}
	if n > most {
		return &Error{Offset: most, Err: &gdwire.LimitError{Name: "Buffered", Got: n, Max: most}}
	}
	t.json = t.buf.Bytes()
	t.input = *bytes.NewBuffer(t.json)
	t.check.Reset(&t.input, o...)
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
