package gdjson

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// How a writer converts the values of a Decoder, and the text of keys.

// A writer converts the tokens of one value to JSON. The methods native, plain and script append a
// token as native JSON, plain JSON or GDScript; the methods in this file append commas, line
// breaks, strings and lists of numbers.
type writer struct {
	out       io.Writer
	d         *gdwire.Decoder
	plainJSON bool
	terminal  bool // Options.EscapeForTerminal
	indent    string
	comma     string // between elements on one line
	colon     string

	buf    []byte
	err    error // the first error, of out or for a value that JSON cannot represent
	broken bool  // out returned an error
	frames []frame
	outer  int  // number of frames around the key written by script
	named  bool // a member's name was written; the value is next

	inText  bool               // between the chunks of a string
	names   wire.NodePathNames // of the NodePath being written
	base64  []byte             // an incomplete group of three bytes
	scratch []byte
}

// A frame is an open bracket, or an open string of several tokens.
type frame struct {
	end     string // the closing text
	lines   bool   // with Indent, each element is on a line of its own
	pairs   bool   // with Indent, two elements share a line
	started bool   // there is an element
	odd     bool   // the latest element was the first of a pair
	colon   bool   // a colon separates the two of a pair
}

// flushAt is the number of buffered bytes at which a writer writes them.
const flushAt = 8 << 10

var writers = sync.Pool{New: func() any { return new(writer) }}

func getWriter(out io.Writer, d *gdwire.Decoder, o *Options) *writer {
	w := writers.Get().(*writer)
	*w = writer{
		out: out, d: d, plainJSON: o.Plain, terminal: o.EscapeForTerminal, indent: o.Indent, comma: ",", colon: ":",
		buf: w.buf[:0], frames: w.frames[:0], base64: w.base64[:0], scratch: w.scratch[:0],
	}
	if o.Indent != "" {
		w.comma, w.colon = ", ", ": "
	}
	return w
}

// release returns the writer to the pool, unless a large token made the writer large.
func (w *writer) release() {
	w.out, w.d, w.err = nil, nil, nil
	if cap(w.buf)+cap(w.scratch) <= 32*flushAt && cap(w.frames) <= 2048 {
		writers.Put(w)
	}
}

// value reads the tokens of the next value and calls write for each.
func (w *writer) value(write func(*writer, gdwire.Token)) error {
	depth := w.d.Depth()
	for {
		t, err := w.d.ReadToken()
		if err != nil {
			return err
		}
		write(w, t)
		if len(w.buf) >= flushAt {
			w.flush()
		}
		if w.err != nil {
			return w.err
		}
		if w.d.Depth() <= depth && t.Kind() != gdwire.KindDictKey {
			return nil
		}
	}
}

// flush writes the buffered text to w.out, unless w.out returned an error before.
func (w *writer) flush() {
	if len(w.buf) > 0 && !w.broken {
		_, err := checked.Write(w.out, w.buf)
		w.broken = err != nil
		w.err = cmp.Or(w.err, err)
	}
	w.buf = w.buf[:0]
}

// fail sets the error for the latest token, which JSON cannot represent.
func (w *writer) fail(cause error, format string, args ...any) {
	if w.err == nil {
		w.err = w.d.WrapError(fmt.Errorf("%w: "+format, append([]any{cause}, args...)...))
	}
}

func (w *writer) add(s string) { w.buf = append(w.buf, s...) }

// element appends the separator before the next element: a comma, colon or line
// break, or nothing.
func (w *writer) element() {
	if w.named || len(w.frames) == 0 {
		w.named = false
		return
	}
	f := &w.frames[len(w.frames)-1]
	if w.indent == "" && !f.colon { // fast path: neither indented nor GDScript
		if f.started {
			w.buf = append(w.buf, w.comma...)
		}
		f.started = true
		return
	}
	line := f.lines && w.indent != "" && !f.odd
	switch {
	case f.odd && f.colon:
		w.add(": ")
	case f.started && line:
		w.add(",")
	case f.started:
		w.add(w.comma)
	}
	if line {
		w.newline(len(w.frames))
	}
	f.started = true
	f.odd = f.pairs && !f.odd
}

func (w *writer) newline(level int) {
	w.add("\n")
	for range level {
		w.add(w.indent)
	}
}

// start appends a separator and s, a value or the start of a value.
func (w *writer) start(s string) {
	w.element()
	w.add(s)
}

// open appends the next element, which starts with s, and pushes f: later elements are inside.
func (w *writer) open(s string, f frame) {
	w.start(s)
	w.frames = append(w.frames, f)
}

// decimal appends the next element, an integer.
func (w *writer) decimal(n int64) {
	w.element()
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

// end pops the innermost frame and appends the closing text.
func (w *writer) end() {
	last := len(w.frames) - 1
	f := w.frames[last]
	w.frames = w.frames[:last]
	if f.started && f.lines && w.indent != "" {
		w.newline(last)
	}
	w.add(f.end)
}

// name appends the name of an object's member, without escaping. The value is appended next.
func (w *writer) name(s string) {
	w.start(`"`)
	w.add(s)
	w.add(`"`)
	w.add(w.colon)
	w.named = true
}

// openObject appends the start of an object and the member "type".
func (w *writer) openObject(typ string) {
	w.open("{", frame{end: "}", started: true})
	w.add(`"type"`)
	w.add(w.colon)
	w.add(`"`)
	w.add(typ)
	w.add(`"`)
}

// openList appends the start of a member with a list, which must be the last member of its object:
// f replaces the frame of the object and closes both.
func (w *writer) openList(name string, f frame) {
	w.name(name)
	w.named = false
	w.add("[")
	f.end = "]}"
	w.frames[len(w.frames)-1] = f
}

// text appends a string.
func (w *writer) text(s []byte) {
	w.element()
	w.add(`"`)
	w.escaped(s)
	w.add(`"`)
}

// id appends a member with an id, as a string, because many JSON parsers round numbers to float64.
func (w *writer) id(name string, id uint64) {
	w.name(name)
	w.start(`"`)
	w.buf = strconv.AppendInt(w.buf, int64(id), 10)
	w.add(`"`)
}

// godot2 appends the numbers of an Image or InputEvent as members.
func (w *writer) godot2(t gdwire.Token) {
	names := []string{"event", "device"}
	var numbers [4]uint32
	if t.Kind() == gdwire.KindImageStart {
		names = []string{"format", "mipmaps", "width", "height"}
		numbers[0], numbers[1], numbers[2], numbers[3] = t.Image()
	} else {
		numbers[0], numbers[1] = t.Event()
	}
	for i, name := range names {
		w.name(name)
		w.decimal(int64(numbers[i]))
	}
}

// chunk appends a chunk of a string. The text before precedes the first chunk, and
// the text after follows the last chunk.
func (w *writer) chunk(t gdwire.Token, before, after string) {
	if !w.inText {
		w.start(before)
	}
	w.escaped(t.Bytes())
	if w.inText = !t.Last(); !w.inText {
		w.add(after)
	}
}

// nodePathStart appends the start of a NodePath's text.
func (w *writer) nodePathStart(t gdwire.Token, before, after string) {
	names, _, absolute := t.NodePath()
	w.names = wire.NamesOf(names, absolute, export.IsOneString(t))
	w.open(before, frame{end: after})
	w.add(w.names.Start())
}

// nodePathName appends a chunk of a name. A name that cannot be read back from the text is an error,
// except in plain JSON.
func (w *writer) nodePathName(t gdwire.Token) {
	separator, err := w.names.Next(t.Bytes(), t.Last())
	if err != nil && !w.plainJSON {
		w.fail(gdwire.ErrRange, "%v", err)
	}
	if separator != 0 {
		w.buf = append(w.buf, separator)
	}
	w.escaped(t.Bytes())
	w.inText = !t.Last()
}

// escaped appends s with the escape sequences of a JSON string.
func (w *writer) escaped(s []byte) {
	i := plainPrefix(s)
	w.buf = append(w.buf, s[:i]...)
	if i < len(s) {
		w.escapeRest(s[i:])
	}
}

// escapeRest appends s with escape sequences: the slow path of escaped, for text that may need
// them.
func (w *writer) escapeRest(s []byte) {
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainBytes[c] || c == 0x7F && !w.terminal {
			i++
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		bad := r == utf8.RuneError && n == 1
		if bad && !w.plainJSON {
			w.fail(gdwire.ErrUTF8, "text with byte %#x", c)
			return
		}
		if bad || r < utf8.RuneSelf || w.terminal && controlsTerminal(r) {
			w.buf = append(w.buf, s[from:i]...)
			w.escape(r)
			from = i + n
		}
		i += n
	}
	w.buf = append(w.buf, s[from:]...)
}

// plainPrefix returns the number of bytes at the start of s that certainly need no escaping, for
// most strings len(s). Eight bytes are tested at a time.
func plainPrefix(s []byte) (n int) {
	for ; n+8 <= len(s); n += 8 {
		if !plainWord(le.Uint64(s[n:])) {
			return n
		}
	}
	if len(s) >= 8 && plainWord(le.Uint64(s[len(s)-8:])) {
		return len(s)
	}
	for n < len(s) && plainBytes[s[n]] {
		n++
	}
	return n
}

// plainWord reports whether all eight bytes of x are plainBytes. The result may be false for plain
// bytes, but is never true for others.
func plainWord(x uint64) bool {
	quote, slash, del := x^'"'*ones, x^'\\'*ones, x^0x7F*ones
	return (x|(x-' '*ones)|(quote-ones)|(slash-ones)|(del-ones))&highs == 0
}

// plainBytes contains the ASCII characters that need no escaping, with any Options.
var plainBytes = func() (t [256]bool) {
	for c := ' '; c < 0x7F; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// controlsTerminal reports whether r, outside ASCII, can control a terminal: C1 controls, and
// controls of bidirectional text.
func controlsTerminal(r rune) bool {
	switch {
	case r <= 0x9F, r == 0x61C, r == 0x200E, r == 0x200F:
		return true
	}
	return 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
}

// escape appends the escape sequence for a character up to U+FFFF.
func (w *writer) escape(r rune) {
	const hex = "0123456789abcdef"
	switch r {
	case '"', '\\':
		w.buf = append(w.buf, '\\', byte(r))
	case '\n':
		w.add(`\n`)
	case '\r':
		w.add(`\r`)
	case '\t':
		w.add(`\t`)
	case '\b':
		w.add(`\b`)
	case '\f':
		w.add(`\f`)
	case utf8.RuneError:
		w.add("\uFFFD")
	default:
		w.buf = append(w.buf, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
}

// numbers appends the numbers in p. If group is more than 1, each group of so many numbers is
// a list of its own.
func (w *writer) numbers(p []byte, u unit, width, group int) {
	size := width / 8
	write := w.appenderOf(u, width)
	for i := 0; len(p) > 0; p = p[size:] {
		if group > 1 && i == 0 {
			w.open("[", frame{end: "]"})
		}
		w.element()
		w.buf = write(w.buf, p)
		if i++; i == group {
			if i = 0; group > 1 {
				w.end()
			}
		}
		if len(w.buf) >= flushAt {
			w.flush()
		}
	}
}

// appenderOf returns a function that appends the number at the start of p to dst.
func (w *writer) appenderOf(u unit, width int) func(dst, p []byte) []byte {
	switch {
	case u == unitByte:
		return func(dst, p []byte) []byte { return strconv.AppendUint(dst, uint64(p[0]), 10) }
	case u == unitInt32:
		return func(dst, p []byte) []byte { return strconv.AppendInt(dst, int64(int32(le.Uint32(p))), 10) }
	case u == unitInt64 && w.plainJSON:
		return func(dst, p []byte) []byte { return strconv.AppendInt(dst, int64(le.Uint64(p)), 10) }
	case u == unitInt64:
		return func(dst, p []byte) []byte { return appendInt64(dst, int64(le.Uint64(p))) }
	case width == 32 && w.plainJSON:
		return func(dst, p []byte) []byte {
			return appendPlain(dst, float64(math.Float32frombits(le.Uint32(p))), 32)
		}
	case width == 32:
		return func(dst, p []byte) []byte { return appendReal(dst, wire.WidenFloat(le.Uint32(p))) }
	case w.plainJSON:
		return func(dst, p []byte) []byte { return appendPlain(dst, math.Float64frombits(le.Uint64(p)), 64) }
	default:
		return func(dst, p []byte) []byte { return appendReal(dst, le.Uint64(p)) }
	}
}

// components appends the components of a math type in the given order, or in the
// order of the binary format if order is nil.
func (w *writer) components(t gdwire.Token, order []int) {
	u, p, width := shapes[t.Type()].unit, t.Bytes(), t.Width()
	if order == nil {
		w.numbers(p, u, width, 1)
	}
	for _, i := range order {
		w.numbers(p[i*width/8:(i+1)*width/8], u, width, 1)
	}
}

// scriptKey appends a token of a key: the content of a String or StringName, and
// the GDScript text of any other value.
func (w *writer) scriptKey(t gdwire.Token) {
	typ := t.Type()
	if len(w.frames) > w.outer || t.Kind() != gdwire.KindStringChunk || typ != gdwire.TypeString && typ != gdwire.TypeStringName {
		w.script(t)
		return
	}
	w.chunk(t, "", "")
}

// script appends a token as GDScript text, escaped as part of a JSON string.
func (w *writer) script(t gdwire.Token) {
	switch t.Kind() {
	case gdwire.KindNil:
		w.start("null")
	case gdwire.KindBool:
		w.start(strconv.FormatBool(t.Bool()))
	case gdwire.KindInt32, gdwire.KindInt64:
		w.decimal(t.Int())
	case gdwire.KindFloat32, gdwire.KindFloat64:
		w.element()
		w.buf = appendText(w.buf, t.Float(), 64)
	case gdwire.KindStringChunk:
		w.scriptText(t)
	case gdwire.KindNodePathStart:
		w.nodePathStart(t, `^\"`, `\"`)
	case gdwire.KindDictStart:
		w.open("{", frame{end: "}", pairs: true, colon: true})
	case gdwire.KindDictKey:
	case gdwire.KindArrayStart:
		w.open("[", frame{end: "]"})
	case gdwire.KindChunk:
		w.numbers(t.Bytes(), shapes[t.Type()].unit, t.Width(), 1)
	case gdwire.KindEnd:
		w.end()
	case gdwire.KindProperty:
		w.element()
		w.scriptQuote(t.Bytes())
	default:
		w.scriptCall(t)
	}
}

func (w *writer) scriptText(t gdwire.Token) {
	if t.Type() == gdwire.TypeNodePath {
		w.nodePathName(t)
		return
	}
	if !w.inText {
		w.element()
		if t.Type() == gdwire.TypeStringName {
			w.add("&")
		}
		w.add(`\"`)
	}
	w.escapedTwice(t.Bytes())
	if w.inText = !t.Last(); !w.inText {
		w.add(`\"`)
	}
}

func (w *writer) scriptQuote(s []byte) {
	w.add(`\"`)
	w.escapedTwice(s)
	w.add(`\"`)
}

// escapedTwice appends the content of a GDScript string inside a JSON string.
func (w *writer) escapedTwice(s []byte) {
	buf := w.buf
	w.buf = w.scratch[:0]
	w.escaped(s)
	w.buf, w.scratch = buf, w.buf
	w.escaped(w.scratch)
}

// scriptCall appends a token as a constructor call in GDScript, such as Vector2(1.0, 2.0).
func (w *writer) scriptCall(t gdwire.Token) {
	w.open(t.Type().String(), frame{end: ")"})
	w.add("(")
	switch t.Kind() {
	case gdwire.KindPackedStart, gdwire.KindImageStart:
		return
	case gdwire.KindObjectStart:
		w.element()
		w.scriptQuote(t.Bytes())
		w.frames[len(w.frames)-1] = frame{end: ")", started: true, pairs: true, colon: true}
		return
	case gdwire.KindSignal:
		w.element()
		w.scriptQuote(t.Bytes())
	case gdwire.KindInputEvent:
		w.numbers(t.Bytes(), unitByte, 8, 1)
	}
	if id := t.ID(); id != 0 {
		w.decimal(int64(id))
	}
	if t.Components() > 0 {
		w.components(t, nil)
	}
	w.end()
}
