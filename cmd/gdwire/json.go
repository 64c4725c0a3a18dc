package main

import (
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire"
)

// newJSONView shows each value as a line of JSON.
func newJSONView(s *screen, _ *options) view {
	w := &jsonWriter{w: s.out}
	return view{show: w.show}
}

// A jsonWriter writes values as Godot's JSON.from_native does, token by token.
type jsonWriter struct {
	w     io.Writer
	buf   []byte
	ends  []string // what closes all that is open
	comma bool     // something stands in front of what comes next
	text  bool     // inside a string
	index int64    // of the next name of a NodePath
	names int64    // how many of its names are no sub-names
}

// show writes a packet's value as a line, which an error cuts off.
func (w *jsonWriter) show(p *packet) error {
	w.ends, w.comma, w.text = w.ends[:0], false, false
	var bad error
	for t, err := range p.tokens {
		if err != nil {
			bad = err
			break
		}
		w.buf = w.buf[:0]
		w.token(t)
		if _, err := w.w.Write(w.buf); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(w.w, "\n"); err != nil {
		return err
	}
	return bad
}

// token appends what a token is in JSON.
func (w *jsonWriter) token(t gdwire.Token) {
	if write := jsonTokens[t.Kind()]; write != nil {
		write(w, t)
		return
	}
	w.maths(t)
}

// jsonTokens has what is not a maths type.
var jsonTokens = [256]func(*jsonWriter, gdwire.Token){
	gdwire.KindNil:           func(w *jsonWriter, _ gdwire.Token) { w.value("null") },
	gdwire.KindBool:          (*jsonWriter).bool,
	gdwire.KindInt32:         (*jsonWriter).int,
	gdwire.KindInt64:         (*jsonWriter).int,
	gdwire.KindFloat32:       (*jsonWriter).float,
	gdwire.KindFloat64:       (*jsonWriter).float,
	gdwire.KindStringChunk:   (*jsonWriter).chunkOfText,
	gdwire.KindNodePathStart: (*jsonWriter).path,
	gdwire.KindRID:           (*jsonWriter).rid,
	gdwire.KindCallable:      func(w *jsonWriter, _ gdwire.Token) { w.value(`{"type":"Callable"}`) },
	gdwire.KindSignal:        (*jsonWriter).signal,
	gdwire.KindObjectID:      (*jsonWriter).objectID,
	gdwire.KindObjectStart:   (*jsonWriter).object,
	gdwire.KindProperty:      func(w *jsonWriter, t gdwire.Token) { w.separate(); w.quote(t.Bytes()) },
	gdwire.KindDictStart:     (*jsonWriter).dict,
	gdwire.KindDictKey:       func(*jsonWriter, gdwire.Token) {},
	gdwire.KindArrayStart:    (*jsonWriter).array,
	gdwire.KindPackedStart:   (*jsonWriter).packed,
	gdwire.KindImageStart:    (*jsonWriter).image,
	gdwire.KindChunk:         (*jsonWriter).elements,
	gdwire.KindInputEvent:    (*jsonWriter).event,
	gdwire.KindEnd:           (*jsonWriter).end,
}

// separate puts a comma in front of what is not the first.
func (w *jsonWriter) separate() {
	if w.comma {
		w.add(",")
	}
	w.comma = true
}

func (w *jsonWriter) add(s string) { w.buf = append(w.buf, s...) }

// value appends a whole value, or the start of one.
func (w *jsonWriter) value(s string) {
	w.separate()
	w.add(s)
}

// quote appends s as a string. Bytes that are no UTF-8 become U+FFFD: no error.
func (w *jsonWriter) quote(s []byte) { w.buf, _ = jsontext.AppendQuote(w.buf, s) }

// id appends an id as a member.
func (w *jsonWriter) id(name string, id uint64) {
	w.add(`,"` + name + `":"`)
	w.buf = strconv.AppendInt(w.buf, int64(id), 10)
	w.add(`"`)
}

// open appends what begins a list, which end closes.
func (w *jsonWriter) open(end string) {
	w.ends = append(w.ends, end)
	w.comma = false
}

func (w *jsonWriter) end(gdwire.Token) {
	last := len(w.ends) - 1
	w.add(w.ends[last])
	w.ends = w.ends[:last]
	w.comma = true
}

func (w *jsonWriter) bool(t gdwire.Token) { w.value(strconv.FormatBool(t.Bool())) }

func (w *jsonWriter) int(t gdwire.Token) {
	w.value(`"i:`)
	w.buf = strconv.AppendInt(w.buf, t.Int(), 10)
	w.add(`"`)
}

func (w *jsonWriter) float(t gdwire.Token) {
	w.value(`"f:`)
	w.buf = appendFloat(w.buf, t.Float())
	w.add(`"`)
}

// textPrefixes has what stands in front of text by itself; packed strings have
// nothing there.
var textPrefixes = [256]string{gdwire.TypeString: "s:", gdwire.TypeStringName: "sn:"}

func (w *jsonWriter) chunkOfText(t gdwire.Token) {
	inPath := t.Type() == gdwire.TypeNodePath
	if !w.text {
		if inPath {
			w.name()
		} else {
			w.value(`"` + textPrefixes[t.Type()])
		}
	}
	start := len(w.buf)
	w.quote(t.Bytes())
	quoted := w.buf[start:]
	w.buf = append(w.buf[:start], quoted[1:len(quoted)-1]...)
	if w.text = !t.Last(); !w.text && !inPath {
		w.add(`"`)
	}
}

func (w *jsonWriter) path(t gdwire.Token) {
	names, _, absolute := t.Path()
	w.value(`"np:`)
	if absolute {
		w.add("/")
	}
	w.index, w.names = 0, names
	w.open(`"`)
}

// name appends what stands in front of a name of a NodePath.
func (w *jsonWriter) name() {
	switch {
	case w.index >= w.names:
		w.add(":")
	case w.index > 0:
		w.add("/")
	}
	w.index++
}

func (w *jsonWriter) rid(t gdwire.Token) {
	w.value(`{"type":"RID"`)
	if t.Width() > 0 { // formats before Godot 4 have no id
		w.id("id", t.ID())
	}
	w.add("}")
}

func (w *jsonWriter) signal(t gdwire.Token) {
	w.value(`{"type":"Signal","name":`)
	w.quote(t.Bytes())
	w.id("object", t.ID())
	w.add("}")
}

func (w *jsonWriter) objectID(t gdwire.Token) {
	if t.ID() == 0 {
		w.value("null")
		return
	}
	w.value(`{"type":"ObjectID"`)
	w.id("id", t.ID())
	w.add("}")
}

func (w *jsonWriter) object(t gdwire.Token) {
	if len(t.Bytes()) == 0 {
		w.value("null")
		w.open("")
		return
	}
	w.value(`{"type":`)
	w.quote(t.Bytes())
	w.add(`,"props":[`)
	w.open("]}")
}

func (w *jsonWriter) dict(t gdwire.Token) {
	w.value(`{"type":"Dictionary"`)
	w.declared("key_type", t.KeyElem())
	w.declared("value_type", t.Elem())
	w.add(`,"args":[`)
	w.open("]}")
}

func (w *jsonWriter) array(t gdwire.Token) {
	if t.Elem() == (gdwire.Elem{}) {
		w.value("[")
		w.open("]")
		return
	}
	w.value(`{"type":"Array"`)
	w.declared("elem_type", t.Elem())
	w.add(`,"args":[`)
	w.open("]}")
}

// declared appends the member that says what elements are declared to be.
func (w *jsonWriter) declared(name string, e gdwire.Elem) {
	if e != (gdwire.Elem{}) {
		w.add(`,"` + name + `":`)
		w.quote([]byte(e.String()))
	}
}

func (w *jsonWriter) packed(t gdwire.Token) {
	w.value(`{"type":"` + t.Type().String() + `","args":[`)
	w.open("]}")
}

func (w *jsonWriter) image(t gdwire.Token) {
	format, mipmaps, width, height := t.Image()
	w.value(`{"type":"Image"`)
	w.numbers("format", format, "mipmaps", mipmaps, "width", width, "height", height)
	w.add(`,"data":[`)
	w.open("]}")
}

func (w *jsonWriter) event(t gdwire.Token) {
	event, device := t.Event()
	w.value(`{"type":"InputEvent"`)
	w.numbers("event", event, "device", device)
	w.add(`,"data":[`)
	w.comma = false
	w.list(t.Bytes(), 1, appendByte)
	w.add("]}")
}

// numbers appends members: name, number and so on.
func (w *jsonWriter) numbers(members ...any) {
	for i := 0; i < len(members); i += 2 {
		w.add(`,"` + members[i].(string) + `":`)
		w.buf = strconv.AppendUint(w.buf, uint64(members[i+1].(uint32)), 10)
	}
}

func (w *jsonWriter) elements(t gdwire.Token) {
	n := numberOf(t)
	w.list(t.Bytes(), n.size, n.append)
}

// list appends the numbers in b, each of so many bytes.
func (w *jsonWriter) list(b []byte, size int, appendTo func(dst, b []byte) []byte) {
	for ; len(b) > 0; b = b[size:] {
		w.separate()
		w.buf = appendTo(w.buf, b)
	}
}

// columns says at which place on the wire, where rows are, the components of
// columns stand.
var columns = [256][]int{
	gdwire.KindBasis:       {0, 3, 6, 1, 4, 7, 2, 5, 8},
	gdwire.KindTransform3D: {0, 3, 6, 1, 4, 7, 2, 5, 8, 9, 10, 11},
}

func (w *jsonWriter) maths(t gdwire.Token) {
	w.value(`{"type":"` + t.Type().String() + `","args":[`)
	w.comma = false
	n, b, order := numberOf(t), t.Bytes(), columns[t.Kind()]
	if order == nil {
		w.list(b, n.size, n.append)
	}
	for _, i := range order {
		w.list(b[i*n.size:(i+1)*n.size], n.size, n.append)
	}
	w.add("]}")
	w.comma = true
}

// A number is how a number on the wire is written in JSON.
type number struct {
	size   int
	append func(dst, b []byte) []byte
}

// numberOf returns what a token's components or elements are.
func numberOf(t gdwire.Token) number {
	if n := integers[t.Type()]; n.size > 0 {
		return n
	}
	if t.Width() == 64 {
		return number{8, appendFloat64}
	}
	return number{4, appendFloat32}
}

var integers = [256]number{
	gdwire.TypePackedByteArray:  {1, appendByte},
	gdwire.TypeImage:            {1, appendByte},
	gdwire.TypePackedInt32Array: {4, appendInt32},
	gdwire.TypePackedInt64Array: {8, appendInt64},
	gdwire.TypeVector2i:         {4, appendInt32},
	gdwire.TypeVector3i:         {4, appendInt32},
	gdwire.TypeVector4i:         {4, appendInt32},
	gdwire.TypeRect2i:           {4, appendInt32},
}

func appendByte(dst, b []byte) []byte { return strconv.AppendUint(dst, uint64(b[0]), 10) }

func appendInt32(dst, b []byte) []byte {
	return strconv.AppendInt(dst, int64(int32(binary.LittleEndian.Uint32(b))), 10)
}

// exact is up to where readers that know float64 alone read integers exactly.
const exact = 1 << 53

func appendInt64(dst, b []byte) []byte {
	x := int64(binary.LittleEndian.Uint64(b))
	if -exact <= x && x <= exact {
		return strconv.AppendInt(dst, x, 10)
	}
	dst = append(dst, '"')
	dst = strconv.AppendInt(dst, x, 10)
	return append(dst, '"')
}

func appendFloat32(dst, b []byte) []byte {
	return appendReal(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
}

func appendFloat64(dst, b []byte) []byte {
	return appendReal(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)))
}

// appendReal appends x as a number, or as a string where JSON has no number.
func appendReal(dst []byte, x float64) []byte {
	if x-x == 0 {
		return appendFloat(dst, x)
	}
	dst = append(dst, '"')
	dst = appendFloat(dst, x)
	return append(dst, '"')
}

// appendFloat appends the shortest decimal that reads back as x, with a point or
// an exponent; nan, inf or -inf.
func appendFloat(dst []byte, x float64) []byte {
	switch {
	case x != x:
		return append(dst, "nan"...)
	case math.IsInf(x, 1):
		return append(dst, "inf"...)
	case math.IsInf(x, -1):
		return append(dst, "-inf"...)
	}
	// From these on there would be zeros without a meaning.
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	dst = strconv.AppendFloat(dst, x, 'f', -1, 64)
	if x == math.Trunc(x) {
		dst = append(dst, ".0"...)
	}
	return dst
}
