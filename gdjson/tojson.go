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
	"github.com/gdwire/gdwire/internal/checked"
)

// ToJSON writes the next value of d to w as JSON, without a newline after it.
// At the end of the input it returns io.EOF and writes nothing.
//
// It holds one token and a few KiB of text, whatever the size of the value. After
// an error of d or w, the JSON written so far is cut off; ToJSON does not resume.
// A NodePath or text that JSON cannot hold is a [gdwire.Error] around
// [gdwire.ErrRange] or [gdwire.ErrUTF8].
func ToJSON(w io.Writer, d *gdwire.Decoder, o *Options) error {
	if err := atValue(d); err != nil {
		return err
	}
	p := getWriter(w, d, o)
	defer p.release()
	write := (*writer).native
	if p.plainJSON {
		write = (*writer).plain
	}
	err := p.value(write)
	p.flush()
	return cmp.Or(err, p.err)
}

// A writer turns the tokens of one value into JSON. It knows commas, lines,
// strings and lists of numbers; native, plain and script know what a token is in
// native JSON, plain JSON and GDScript.
type writer struct {
	out       io.Writer
	d         *gdwire.Decoder
	plainJSON bool
	terminal  bool // escape what terminals obey
	indent    string
	comma     string // between two on one line
	colon     string

	buf    []byte
	err    error // the first: of out, or a value that JSON cannot hold
	broken bool  // out returned an error
	frames []frame
	outer  int  // frames around the key that script writes
	named  bool // a member's name has been written; its value comes next

	inText   bool  // between the chunks of a string
	oldPaths bool  // the format has NodePaths of one string
	before   int64 // offset of the token, if oldPaths
	nodePath nodePath
	base64   []byte // bytes that wait for the rest of a group of three
	scratch  []byte
}

// A frame is an open bracket, or an open string that several tokens make up.
type frame struct {
	end     string // closes it
	lines   bool   // what is in it goes on lines of its own, if indented
	pairs   bool   // two of them on a line
	started bool
	odd     bool // the latest was the first of a pair
	colon   bool // between the two of a pair
}

// A nodePath is the NodePath that is open.
type nodePath struct {
	next, subnames int64 // the next name's index, and the first sub-name's
	old            bool  // one name holds the whole path
}

// flushAt is how much text is collected before it is written.
const flushAt = 8 << 10

var writers = sync.Pool{New: func() any { return new(writer) }}

func getWriter(out io.Writer, d *gdwire.Decoder, o *Options) *writer {
	w := writers.Get().(*writer)
	if o == nil {
		o = new(Options)
	}
	*w = writer{
		out: out, d: d, plainJSON: o.Plain, terminal: o.EscapeForTerminal, indent: o.Indent, comma: ",", colon: ":",
		buf: w.buf[:0], frames: w.frames[:0], base64: w.base64[:0], scratch: w.scratch[:0],
	}
	if o.Indent != "" {
		w.comma, w.colon = ", ", ": "
	}
	f := d.Options().Format
	w.oldPaths = f != gdwire.Godot4 && f != gdwire.Godot3
	return w
}

// release gives the writer back, unless one large token made it large.
func (w *writer) release() {
	w.out, w.d, w.err = nil, nil, nil
	if cap(w.buf)+cap(w.scratch) <= 32*flushAt && cap(w.frames) <= 2048 {
		writers.Put(w)
	}
}

// atValue returns an error unless a value comes next. It reads the marker of a key.
func atValue(d *gdwire.Decoder) error {
	if depth := d.Depth(); depth > 0 {
		switch k, _, _ := d.StackIndex(depth); k {
		case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
		default:
			return d.WrapError(fmt.Errorf("%w: ToJSON inside a %v", gdwire.ErrType, k))
		}
	}
	switch k := d.PeekKind(); k {
	case gdwire.KindEnd:
		return d.WrapError(fmt.Errorf("%w: ToJSON where an End is next", gdwire.ErrCount))
	case gdwire.KindProperty:
		return d.WrapError(fmt.Errorf("%w: ToJSON where a property's name is next", gdwire.ErrType))
	case gdwire.KindDictKey:
		_, err := d.ReadToken()
		return err
	}
	return nil
}

// value reads the tokens of the next value and gives each to write.
func (w *writer) value(write func(*writer, gdwire.Token)) error {
	depth := w.d.Depth()
	for {
		if w.oldPaths {
			w.before = w.d.InputOffset()
		}
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

// flush writes the text so far, unless that failed before.
func (w *writer) flush() {
	if len(w.buf) > 0 && !w.broken {
		_, err := checked.Write(w.out, w.buf)
		w.broken = err != nil
		w.err = cmp.Or(w.err, err)
	}
	w.buf = w.buf[:0]
}

// fail notes that the token at hand cannot be written.
func (w *writer) fail(cause error, format string, args ...any) {
	if w.err == nil {
		w.err = w.d.WrapError(fmt.Errorf("%w: "+format, append([]any{cause}, args...)...))
	}
}

func (w *writer) add(s string) { w.buf = append(w.buf, s...) }

// element separates what comes next from what was before it.
func (w *writer) element() {
	if w.named || len(w.frames) == 0 {
		w.named = false
		return
	}
	f := &w.frames[len(w.frames)-1]
	if w.indent == "" && !f.colon { // the usual case, without what is for people
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

// start appends a whole value, or the start of one.
func (w *writer) start(s string) {
	w.element()
	w.add(s)
}

// open begins f: what comes next is inside.
func (w *writer) open(f frame) { w.frames = append(w.frames, f) }

// end closes what open began last.
func (w *writer) end() {
	last := len(w.frames) - 1
	f := w.frames[last]
	w.frames = w.frames[:last]
	if f.started && f.lines && w.indent != "" {
		w.newline(last)
	}
	w.add(f.end)
}

// name appends the name of an object's member, which needs no escape. Its value
// follows.
func (w *writer) name(s string) {
	w.start(`"`)
	w.add(s)
	w.add(`"`)
	w.add(w.colon)
	w.named = true
}

// object begins an object with its member "type", the name of a built-in type.
func (w *writer) object(typ string) {
	w.start("{")
	w.open(frame{end: "}", started: true})
	w.add(`"type"`)
	w.add(w.colon)
	w.add(`"`)
	w.add(typ)
	w.add(`"`)
}

// list begins the member that holds an object's list. The list and the object
// have one end.
func (w *writer) list(name string, f frame) {
	w.name(name)
	w.named = false
	w.add("[")
	f.end = "]}"
	w.frames[len(w.frames)-1] = f
}

// text appends a string.
func (w *writer) text(s []byte) {
	w.element()
	w.quote(s)
}

// id appends an id as a string, since readers of JSON may round numbers.
func (w *writer) id(name string, id uint64) {
	w.name(name)
	w.start(`"`)
	w.buf = strconv.AppendInt(w.buf, int64(id), 10)
	w.add(`"`)
}

// integer appends a member that is a number.
func (w *writer) integer(name string, n uint32) {
	w.name(name)
	w.element()
	w.buf = strconv.AppendUint(w.buf, uint64(n), 10)
}

func (w *writer) quote(s []byte) {
	w.add(`"`)
	w.escaped(s)
	w.add(`"`)
}

// chunk appends a chunk of a string: before comes in front of the first, after
// follows the last.
func (w *writer) chunk(t gdwire.Token, before, after string) {
	if !w.inText {
		w.start(before)
	}
	w.escaped(t.Bytes())
	if w.inText = !t.Last(); !w.inText {
		w.add(after)
	}
}

// nodePathStart begins the text of a NodePath as engines write it. Of a path in the
// form that predates Godot 3, which is one name, only the header has been read yet.
func (w *writer) nodePathStart(t gdwire.Token, before, after string) {
	names, _, absolute := t.Path()
	w.nodePath = nodePath{subnames: names, old: w.oldPaths && w.d.InputOffset()-w.before == 4}
	w.start(before)
	if absolute {
		w.add("/")
	}
	w.open(frame{end: after})
}

// nodePathName appends a chunk of a name.
func (w *writer) nodePathName(t gdwire.Token) {
	p := &w.nodePath
	if !w.inText {
		switch {
		case p.next >= p.subnames:
			w.add(":")
		case p.next > 0:
			w.add("/")
		}
		p.next++
	}
	if !w.plainJSON && !p.old {
		w.checkName(t, p.next > p.subnames)
	}
	w.escaped(t.Bytes())
	w.inText = !t.Last()
}

// checkName refuses a name that the path's text would not give back.
func (w *writer) checkName(t gdwire.Token, subname bool) {
	for _, c := range t.Bytes() {
		if c == ':' || c == '/' && !subname {
			w.fail(gdwire.ErrRange, "NodePath name with %q", c)
			return
		}
	}
	if t.Len() == 0 {
		w.fail(gdwire.ErrRange, "empty NodePath name")
	}
}

// escaped appends text as it is inside a JSON string.
func (w *writer) escaped(s []byte) {
	i := plainPrefix(s)
	w.buf = append(w.buf, s[:i]...)
	if i < len(s) {
		w.escapeRest(s[i:])
	}
}

// escapeRest is escaped where plainPrefix found a byte to look at.
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
		if bad || r < utf8.RuneSelf || w.terminal && obeyed(r) {
			w.buf = append(w.buf, s[from:i]...)
			w.escape(r)
			from = i + n
		}
		i += n
	}
	w.buf = append(w.buf, s[from:]...)
}

// plainPrefix returns how many bytes at the start of s are known to be ASCII that
// nothing escapes. It looks at eight at a time, which for most strings is all.
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

// plainWord reports whether plainBytes has the eight bytes of x. It may be wrong
// about those that it reports false of.
func plainWord(x uint64) bool {
	quote, slash, del := x^'"'*ones, x^'\\'*ones, x^0x7F*ones
	return (x|(x-' '*ones)|(quote-ones)|(slash-ones)|(del-ones))&highs == 0
}

// plainBytes are the bytes that stand for themselves in every JSON string.
var plainBytes = func() (t [256]bool) {
	for c := ' '; c < 0x7F; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// obeyed reports whether a terminal may obey r rather than show it: C1 controls,
// and controls of bidirectional text.
func obeyed(r rune) bool {
	switch {
	case r <= 0x9F, r == 0x61C, r == 0x200E, r == 0x200F:
		return true
	}
	return 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
}

// escape appends the escape of a character up to U+FFFF.
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

// numbers appends the elements that p holds, group of them in a list of its own if
// that is more than one.
func (w *writer) numbers(p []byte, u unit, width, group int) {
	size := width / 8
	write := w.appenderOf(u, width)
	for i := 0; len(p) > 0; p = p[size:] {
		if group > 1 && i == 0 {
			w.start("[")
			w.open(frame{end: "]"})
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

// appenderOf returns what appends the number at the start of p.
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
		return func(dst, p []byte) []byte { return appendReal(dst, widen(le.Uint32(p))) }
	case w.plainJSON:
		return func(dst, p []byte) []byte { return appendPlain(dst, math.Float64frombits(le.Uint64(p)), 64) }
	default:
		return func(dst, p []byte) []byte { return appendReal(dst, le.Uint64(p)) }
	}
}

// components appends those of a math type in the given order, nil for that of the
// wire.
func (w *writer) components(t gdwire.Token, order []int) {
	u, p, width := shapes[t.Type()].unit, t.Bytes(), t.Width()
	if order == nil {
		w.numbers(p, u, width, 1)
	}
	for _, i := range order {
		w.numbers(p[i*width/8:(i+1)*width/8], u, width, 1)
	}
}
