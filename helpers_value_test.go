package gdwire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// A value is a whole Variant in memory, for comparisons. It has bits instead of
// numbers, so that no NaN is changed.
type value struct {
	Type     string   // Godot 4's name for it; an object is ObjectID or Object
	Wide     bool     // its numbers have 64 bits on the wire
	Bits     uint64   // a bool, an int, a float's bits as a float64; an id
	Text     string   // a string, a Signal's name, an Object's class
	Data     []byte   // of a PackedByteArray, Image or InputEvent
	Numbers  []uint64 // of math and packed types as int64 or float64; the header of an Image or InputEvent
	Absolute bool
	Names    []string // of a NodePath, an Object's properties, the strings of a PackedStringArray
	Subnames []string
	Key      declared // of a Dictionary
	Elem     declared
	Items    []value // elements; key, value, key, value; the values of properties
}

// declared is the element type of a typed container.
type declared struct {
	Kind int // 1 built-in, 2 class, 3 script
	Name string
}

var le = binary.LittleEndian

// typeByName has all types.
var typeByName = func() map[string]gdwire.Type {
	m := map[string]gdwire.Type{}
	for _, t := range gdwire.Types() {
		m[t.String()] = t
	}
	return m
}()

// readValue reads the next value of d, token by token.
func readValue(d *gdwire.Decoder) (value, error) { return (&valueReader{d: d}).value() }

// readBulk reads the next value of d by the calls that read whole strings and
// arrays.
func readBulk(d *gdwire.Decoder) (value, error) { return (&valueReader{d, true}).value() }

// A valueReader builds values. It repeats calls after temporary errors.
type valueReader struct {
	d    *gdwire.Decoder
	bulk bool
}

func (r *valueReader) token() (t gdwire.Token, err error) {
	err = again(func() error {
		t, err = r.d.ReadToken()
		return err
	})
	return t, err
}

var errTemporary = errors.New("try again")

// again repeats f after temporary errors.
func again(f func() error) error {
	for {
		if err := f(); err != errTemporary {
			return err
		}
	}
}

func (r *valueReader) value() (value, error) {
	t, err := r.token()
	if err != nil {
		return value{}, err
	}
	v := value{Type: t.Type().String()}
	switch k := t.Kind(); k {
	case gdwire.KindNil, gdwire.KindCallable:
	case gdwire.KindBool:
		if t.Bool() {
			v.Bits = 1
		}
	case gdwire.KindInt32, gdwire.KindInt64:
		v.Bits, v.Wide = uint64(t.Int()), k == gdwire.KindInt64
	case gdwire.KindFloat32:
		v.Bits = floatBits(t)
	case gdwire.KindFloat64:
		v.Bits, v.Wide = math.Float64bits(t.Float()), true
	case gdwire.KindRID:
		v.Bits = t.ID()
	case gdwire.KindObjectID:
		v.Type, v.Bits = "ObjectID", t.ID()
	case gdwire.KindSignal:
		v.Text, v.Bits = t.Text(), t.ID()
	case gdwire.KindInputEvent:
		event, device := t.Event()
		v.Numbers, v.Data = []uint64{uint64(event), uint64(device)}, bytes.Clone(t.Bytes())
	case gdwire.KindStringChunk:
		v.Text, err = r.joined(t)
	case gdwire.KindNodePathStart:
		err = r.path(&v, t)
	case gdwire.KindObjectStart:
		v.Text = t.Text()
		for range t.Len() {
			if t, err = r.expect(gdwire.KindProperty); err != nil {
				return v, err
			}
			v.Names = append(v.Names, t.Text())
			if err = r.item(&v); err != nil {
				return v, err
			}
		}
		_, err = r.expect(gdwire.KindEnd)
	case gdwire.KindDictStart:
		v.Key, v.Elem = declaredBy(t.KeyElem()), declaredBy(t.Elem())
		for range t.Len() {
			if _, err = r.expect(gdwire.KindDictKey); err != nil {
				return v, err
			}
			for range 2 {
				if err = r.item(&v); err != nil {
					return v, err
				}
			}
		}
		_, err = r.expect(gdwire.KindEnd)
	case gdwire.KindArrayStart:
		v.Elem = declaredBy(t.Elem())
		for range t.Len() {
			if err = r.item(&v); err != nil {
				return v, err
			}
		}
		_, err = r.expect(gdwire.KindEnd)
	case gdwire.KindPackedStart:
		err = r.packed(&v, t)
	case gdwire.KindImageStart:
		format, mipmaps, width, height := t.Image()
		v.Numbers = []uint64{uint64(format), uint64(mipmaps), uint64(width), uint64(height)}
		v.Data, err = r.chunks(t.Len())
	default:
		if t.Components() == 0 {
			return v, fmt.Errorf("%v where a value starts", t)
		}
		v.Wide = t.Width() == 64
		v.Numbers = numbers(v.Type, t.Bytes(), v.Wide)
	}
	return v, err
}

func (r *valueReader) item(v *value) error {
	item, err := r.value()
	v.Items = append(v.Items, item)
	return err
}

func (r *valueReader) path(v *value, t gdwire.Token) error {
	names, subnames, absolute := t.NodePath()
	if t.Len() != names+subnames {
		return fmt.Errorf("%v has %d names", t, t.Len())
	}
	v.Absolute = absolute
	all, err := r.strings(names + subnames)
	if err != nil {
		return err
	}
	v.Names, v.Subnames = append([]string(nil), all[:names]...), append([]string(nil), all[names:]...)
	return nil
}

func (r *valueReader) packed(v *value, t gdwire.Token) (err error) {
	n := t.Len()
	v.Wide = t.Width() == 64
	switch {
	case v.Type == "PackedStringArray":
		v.Names, err = r.strings(n)
	case v.Type == "PackedByteArray":
		v.Data, err = r.chunks(n)
	case r.bulk && isInts(v.Type):
		v.Numbers, err = appendBits(r.d, func(x int64) uint64 { return uint64(x) })
	case r.bulk && v.Type == "PackedFloat64Array":
		v.Numbers, err = appendBits(r.d, math.Float64bits)
	default:
		var data []byte
		data, err = r.chunks(n)
		v.Numbers = numbers(v.Type, data, v.Wide)
	}
	return err
}

// strings reads n strings and the End after them.
func (r *valueReader) strings(n int64) (all []string, err error) {
	for range n {
		t, err := r.expect(gdwire.KindStringChunk)
		if err != nil {
			return all, err
		}
		s, err := r.joined(t)
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	_, err = r.expect(gdwire.KindEnd)
	return all, err
}

// joined reads the rest of the string that starts with t.
func (r *valueReader) joined(t gdwire.Token) (s string, err error) {
	if r.bulk {
		var text []byte
		err = again(func() error {
			text, err = r.d.AppendString(text)
			return err
		})
		return string(text), err
	}
	text := bytes.Clone(t.Bytes())
	for !t.Last() {
		if t, err = r.expect(gdwire.KindStringChunk); err != nil {
			return "", err
		}
		text = append(text, t.Bytes()...)
	}
	return string(text), nil
}

// chunks reads n elements and the End after them.
func (r *valueReader) chunks(n int64) (data []byte, err error) {
	if r.bulk {
		p := r.d.Payload()
		var b [30]byte
		for err != io.EOF {
			var m int
			m, err = p.Read(b[:1+len(data)%len(b)])
			data = append(data, b[:m]...)
			if err != nil && err != errTemporary && err != io.EOF {
				return data, err
			}
		}
		return data, nil
	}
	for n > 0 {
		t, err := r.expect(gdwire.KindChunk)
		if err != nil {
			return data, err
		}
		data = append(data, t.Bytes()...)
		n -= t.Len()
	}
	_, err = r.expect(gdwire.KindEnd)
	return data, err
}

func (r *valueReader) expect(k gdwire.Kind) (gdwire.Token, error) {
	t, err := r.token()
	if err == nil && t.Kind() != k {
		err = fmt.Errorf("%v where %v should be", t, k)
	}
	return t, err
}

// appendBits reads all elements of a packed array.
func appendBits[T gdwire.Packable](d *gdwire.Decoder, bits func(T) uint64) (all []uint64, err error) {
	var elements []T
	err = again(func() error {
		elements, err = gdwire.AppendPacked(d, elements)
		return err
	})
	for _, x := range elements {
		all = append(all, bits(x))
	}
	return all, err
}

func declaredBy(e gdwire.Elem) declared {
	switch {
	case e.Script != "":
		return declared{3, e.Script}
	case e.Class != "":
		return declared{2, e.Class}
	case e.Type != 0:
		return declared{1, e.Type.String()}
	}
	return declared{}
}

func (d declared) elem() gdwire.Elem {
	switch d.Kind {
	case 3:
		return gdwire.Elem{Type: gdwire.TypeObject, Script: d.Name}
	case 2:
		return gdwire.Elem{Type: gdwire.TypeObject, Class: d.Name}
	case 1:
		return gdwire.Elem{Type: typeByName[d.Name]}
	}
	return gdwire.Elem{}
}

// floatBits returns the bits of a Float32 as those of a float64. Token.Float may
// quiet a signaling NaN, so the bits of a NaN are taken from the encoded token.
func floatBits(t gdwire.Token) uint64 {
	if x := t.Float(); x == x {
		return math.Float64bits(x)
	}
	var b bytes.Buffer
	if err := gdwire.NewEncoder(&b, nil).WriteToken(t); err != nil {
		panic(err)
	}
	return widened(le.Uint32(b.Bytes()[4:]))
}

// widened converts the bits of a float32 to those of a float64. A NaN keeps its
// sign and payload.
func widened(bits uint32) uint64 {
	if x := math.Float32frombits(bits); x == x {
		return math.Float64bits(float64(x))
	}
	return uint64(bits>>31)<<63 | 0x7FF<<52 | uint64(bits&(1<<23-1))<<29
}

// isInts reports whether the numbers of a type are integers.
func isInts(typ string) bool {
	return strings.HasSuffix(typ, "i") || strings.HasPrefix(typ, "PackedInt")
}

// numbers reads the components of a math type or the elements of a packed array.
func numbers(typ string, b []byte, wide bool) (all []uint64) {
	size := 4
	if wide {
		size = 8
	}
	for ; len(b) >= size; b = b[size:] {
		switch {
		case wide:
			all = append(all, le.Uint64(b))
		case isInts(typ):
			all = append(all, uint64(int64(int32(le.Uint32(b)))))
		default:
			all = append(all, widened(le.Uint32(b)))
		}
	}
	return all
}

// plain returns v without the details of its encoding.
func (v value) plain() value {
	v.Wide = false
	items := v.Items
	v.Items = nil
	for _, item := range items {
		v.Items = append(v.Items, item.plain())
	}
	return v
}

// anyNaN returns v with all NaNs replaced by one.
func (v value) anyNaN() value {
	one := func(bits uint64) uint64 {
		if x := math.Float64frombits(bits); x != x {
			return math.Float64bits(math.NaN())
		}
		return bits
	}
	if v.Type == "float" {
		v.Bits = one(v.Bits)
	}
	if !isInts(v.Type) {
		v.Numbers = append([]uint64(nil), v.Numbers...)
		for i, bits := range v.Numbers {
			v.Numbers[i] = one(bits)
		}
	}
	items := v.Items
	v.Items = nil
	for _, item := range items {
		v.Items = append(v.Items, item.anyNaN())
	}
	return v
}

// holds reports whether f holds for v or a value in it.
func (v *value) holds(f func(*value) bool) bool {
	if f(v) {
		return true
	}
	for i := range v.Items {
		if v.Items[i].holds(f) {
			return true
		}
	}
	return false
}

// writeValue writes v by typed calls, with known or Unknown counts. Strings and
// packed numbers are written in pieces if their length is odd or the counts are
// Unknown.
func writeValue(e *gdwire.Encoder, v *value, unknown bool) error {
	count := func(n int) int {
		if unknown {
			return gdwire.Unknown
		}
		return n
	}
	typ := typeByName[v.Type]
	switch v.Type {
	case "Nil":
		return e.WriteNil()
	case "bool":
		return e.WriteBool(v.Bits != 0)
	case "int":
		return e.WriteInt(int64(v.Bits))
	case "float":
		return e.WriteFloat(math.Float64frombits(v.Bits))
	case "String", "StringName":
		if n := len(v.Text); unknown || n%2 == 1 {
			return first(e.BeginString(typ, int64(count(n))), writeInPieces(e, []byte(v.Text)), e.End)
		}
		if v.Type == "String" {
			return e.WriteString(v.Text)
		}
		return e.WriteStringName(v.Text)
	case "RID":
		return e.WriteRID(v.Bits)
	case "ObjectID":
		return e.WriteObjectID(v.Bits)
	case "Callable":
		return e.WriteCallable()
	case "Signal":
		return e.WriteSignal(v.Text, v.Bits)
	case "InputEvent":
		return e.WriteInputEvent(uint32(v.Numbers[0]), uint32(v.Numbers[1]), v.Data)
	case "Image":
		n := v.Numbers
		begin := e.BeginImage(uint32(n[0]), uint32(n[1]), uint32(n[2]), uint32(n[3]), int64(count(len(v.Data))))
		return first(begin, writeInPieces(e, v.Data), e.End)
	case "NodePath":
		if unknown {
			return e.WriteNodePath(v.path())
		}
		begin := e.BeginNodePath(len(v.Names), len(v.Subnames), v.Absolute)
		return first(begin, writeStrings(e, v.Names, false), writeStrings(e, v.Subnames, false), e.End)
	case "Object":
		n := count(len(v.Names))
		if v.Text == "" {
			n = 0 // a null object has no properties
		}
		return first(e.BeginObject(v.Text, n), func() error {
			for i, name := range v.Names {
				if err := first(e.WriteProperty(name), writeItems(e, v.Items[i:i+1], unknown)); err != nil {
					return err
				}
			}
			return nil
		}, e.End)
	case "Dictionary":
		begin := e.BeginTypedDict(count(len(v.Items)/2), v.Key.elem(), v.Elem.elem())
		return first(begin, writeItems(e, v.Items, unknown), e.End)
	case "Array":
		begin := e.BeginTypedArray(count(len(v.Items)), v.Elem.elem())
		return first(begin, writeItems(e, v.Items, unknown), e.End)
	case "PackedStringArray":
		return first(e.BeginPacked(typ, int64(count(len(v.Names)))), writeStrings(e, v.Names, unknown), e.End)
	}
	if strings.HasPrefix(v.Type, "Packed") {
		return first(e.BeginPacked(typ, int64(count(v.elements()))), v.writeElements(e, unknown || v.elements()%2 == 1), e.End)
	}
	if isInts(v.Type) {
		return e.WriteInts(typ, asNumbers(v.Numbers, toInt32)...)
	}
	return e.WriteReals(typ, asNumbers(v.Numbers, math.Float64frombits)...)
}

// first makes calls until one returns an error.
func first(err error, then ...func() error) error {
	for _, f := range then {
		if err != nil {
			return err
		}
		err = f()
	}
	return err
}

func writeItems(e *gdwire.Encoder, items []value, unknown bool) func() error {
	return func() error {
		for i := range items {
			if err := writeValue(e, &items[i], unknown); err != nil {
				return err
			}
		}
		return nil
	}
}

func writeStrings(e *gdwire.Encoder, all []string, unknown bool) func() error {
	return func() error {
		for _, s := range all {
			var err error
			if unknown {
				err = first(e.BeginString(gdwire.TypeString, gdwire.Unknown), writeInPieces(e, []byte(s)), e.End)
			} else {
				err = e.WriteString(s)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// writeInPieces writes b in pieces that split runes and elements.
func writeInPieces(e *gdwire.Encoder, b []byte) func() error {
	return func() error {
		for size := 1; len(b) > 0; size++ {
			n, err := e.Write(b[:min(size, len(b))])
			if err != nil {
				return err
			}
			b = b[n:]
		}
		return nil
	}
}

// perElement returns the number of components of an element of a packed array.
func perElement(typ string) int {
	switch typ {
	case "PackedVector2Array":
		return 2
	case "PackedVector3Array":
		return 3
	case "PackedColorArray", "PackedVector4Array":
		return 4
	}
	return 1
}

func (v *value) elements() int {
	if v.Type == "PackedByteArray" {
		return len(v.Data)
	}
	return len(v.Numbers) / perElement(v.Type)
}

// writeElements writes packed numbers from slices or, in pieces, as bytes.
func (v *value) writeElements(e *gdwire.Encoder, pieces bool) func() error {
	if pieces {
		return writeInPieces(e, v.data())
	}
	return func() error {
		n := v.Numbers
		switch v.Type {
		case "PackedByteArray":
			return gdwire.WritePacked(e, v.Data)
		case "PackedInt32Array":
			return gdwire.WritePacked(e, asNumbers(n, toInt32))
		case "PackedInt64Array":
			return gdwire.WritePacked(e, asNumbers(n, func(b uint64) int64 { return int64(b) }))
		case "PackedFloat32Array":
			return gdwire.WritePacked(e, asNumbers(n, func(b uint64) float32 { return math.Float32frombits(narrowed(b)) }))
		case "PackedFloat64Array":
			return gdwire.WritePacked(e, asNumbers(n, math.Float64frombits))
		case "PackedVector2Array":
			return gdwire.WritePacked(e, grouped(n, 2, func(x []float64) [2]float64 { return [2]float64(x) }))
		case "PackedVector3Array":
			return gdwire.WritePacked(e, grouped(n, 3, func(x []float64) [3]float64 { return [3]float64(x) }))
		default:
			return gdwire.WritePacked(e, grouped(n, 4, func(x []float64) [4]float64 { return [4]float64(x) }))
		}
	}
}

// data returns packed elements in wire order.
func (v *value) data() []byte {
	b := append([]byte(nil), v.Data...)
	for _, bits := range v.Numbers {
		switch {
		case v.Wide:
			b = le.AppendUint64(b, bits)
		case isInts(v.Type):
			b = le.AppendUint32(b, uint32(bits))
		default:
			b = le.AppendUint32(b, narrowed(bits))
		}
	}
	return b
}

func toInt32(bits uint64) int32 { return int32(bits) }

// narrowed is the inverse of widened.
func narrowed(bits uint64) uint32 {
	if x := math.Float64frombits(bits); x == x {
		return math.Float32bits(float32(x))
	}
	return uint32(bits>>63)<<31 | 0xFF<<23 | uint32(bits>>29)&(1<<23-1)
}

func asNumbers[T any](bits []uint64, as func(uint64) T) []T {
	all := make([]T, len(bits))
	for i, b := range bits {
		all[i] = as(b)
	}
	return all
}

func grouped[T any](bits []uint64, n int, group func([]float64) T) (all []T) {
	x := asNumbers(bits, math.Float64frombits)
	for ; len(x) > 0; x = x[n:] {
		all = append(all, group(x))
	}
	return all
}

// path returns a NodePath as engines print it.
func (v *value) path() string {
	s := strings.Join(v.Names, "/")
	if v.Absolute {
		s = "/" + s
	}
	for _, name := range v.Subnames {
		s += ":" + name
	}
	return s
}

// UnmarshalJSON reads a value in the form of vectors.jsonl.
func (v *value) UnmarshalJSON(b []byte) error {
	var in struct {
		T                   string
		V                   json.RawMessage
		Type                *jsonDeclared
		KeyType             *jsonDeclared `json:"key_type"`
		ValueType           *jsonDeclared `json:"value_type"`
		Absolute            bool
		Names, Subnames     []string
		Name, Object, Class string
		Properties          [][2]json.RawMessage
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*v = value{Type: in.T, Absolute: in.Absolute}
	var err error
	switch in.T {
	case "Nil", "Callable":
	case "bool":
		v.Bits = map[string]uint64{"true": 1}[string(in.V)]
	case "int", "RID", "ObjectID":
		if in.V != nil {
			v.Bits, err = jsonNumber(in.V, true)
		}
	case "float":
		v.Bits, err = jsonNumber(in.V, false)
	case "String", "StringName":
		err = json.Unmarshal(in.V, &v.Text)
	case "NodePath":
		v.Names, v.Subnames = append(v.Names, in.Names...), append(v.Subnames, in.Subnames...)
	case "Signal":
		v.Text = in.Name
		id, e := strconv.ParseInt(in.Object, 10, 64)
		v.Bits, err = uint64(id), e
	case "Object":
		v.Text = in.Class
		for _, p := range in.Properties {
			var name string
			var item value
			err = errors.Join(err, json.Unmarshal(p[0], &name), json.Unmarshal(p[1], &item))
			v.Names, v.Items = append(v.Names, name), append(v.Items, item)
		}
	case "Dictionary":
		v.Key, v.Elem = in.KeyType.declared(), in.ValueType.declared()
		var pairs [][2]value
		err = json.Unmarshal(in.V, &pairs)
		for _, p := range pairs {
			v.Items = append(v.Items, p[0], p[1])
		}
	case "Array":
		v.Elem = in.Type.declared()
		var items []value
		err = json.Unmarshal(in.V, &items)
		v.Items = append(v.Items, items...)
	case "PackedByteArray":
		var text string
		err = json.Unmarshal(in.V, &text)
		data, e := hex.DecodeString(text)
		v.Data, err = append(v.Data, data...), errors.Join(err, e)
	case "PackedStringArray":
		var all []string
		err = json.Unmarshal(in.V, &all)
		v.Names = append(v.Names, all...)
	default:
		var all []json.RawMessage
		err = json.Unmarshal(in.V, &all)
		for _, x := range all {
			bits, e := jsonNumber(x, isInts(in.T))
			v.Numbers, err = append(v.Numbers, bits), errors.Join(err, e)
		}
	}
	return err
}

type jsonDeclared struct{ Builtin, Class, Script string }

func (d *jsonDeclared) declared() declared {
	switch {
	case d == nil:
		return declared{}
	case d.Script != "":
		return declared{3, d.Script}
	case d.Class != "":
		return declared{2, d.Class}
	default:
		return declared{1, d.Builtin}
	}
}

// jsonNumber reads a number, which may be quoted, as int64 or float64.
func jsonNumber(b json.RawMessage, integer bool) (uint64, error) {
	text := strings.Trim(string(b), `"`)
	if integer {
		n, err := strconv.ParseInt(text, 10, 64)
		return uint64(n), err
	}
	x, err := strconv.ParseFloat(text, 64)
	return math.Float64bits(x), err
}

// decodeBytes reads the value at the start of p.
func decodeBytes(p []byte, o gdwire.DecoderOptions) (v value, size int64, err error) {
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(p)
	v, err = readValue(d)
	return v, d.InputOffset(), err
}

// encodeValue writes v by typed calls.
func encodeValue(v *value, o gdwire.EncoderOptions, unknown bool) ([]byte, error) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &o)
	defer e.Release()
	err := first(writeValue(e, v, unknown), e.Close)
	return b.Bytes(), err
}

// rewriteTokens re-encodes the first value of p token by token.
func rewriteTokens(p []byte, from gdwire.DecoderOptions, to gdwire.EncoderOptions) ([]byte, error) {
	d := gdwire.NewDecoder(bytes.NewReader(p), &from)
	defer d.Release()
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &to)
	defer e.Release()
	for t, err := range d.Tokens() {
		if err != nil {
			return nil, err
		}
		if err := e.WriteToken(t); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), e.Close()
}

// copyValue re-encodes the first value of p by CopyValue.
func copyValue(p []byte, from gdwire.DecoderOptions, to gdwire.EncoderOptions) ([]byte, error) {
	d := gdwire.NewDecoder(nil, &from)
	defer d.Release()
	d.ResetBytes(p)
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &to)
	defer e.Release()
	err := first(gdwire.CopyValue(e, d), e.Close)
	return b.Bytes(), err
}

// tokensOf describes the tokens of all values in p, one a line.
func tokensOf(p []byte, o gdwire.DecoderOptions) (lines []string, err error) {
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(p)
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			var e *gdwire.Error
			if errors.As(err, &e) && e.Offset < d.InputOffset() {
				panic("a token was handed out in spite of " + err.Error())
			}
			return lines, err
		}
		lines = append(lines, t.String())
	}
}

// unhex decodes hex digits and ignores white space.
func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	require.NoError(t, err)
	return b
}

var noLimits = gdwire.Limits{Depth: -1, Elements: -1, Values: -1, StringBytes: -1, NameBytes: -1, PackedBytes: -1, Bytes: -1}

// build replaces headers by their bytes in the format: <int+1.255> has 1 in bits
// 16 and up and 255 in bits 8 to 15.
func build(t testing.TB, f *gdwire.Format, text string) []byte {
	return unhex(t, headerPattern.ReplaceAllStringFunc(text, func(s string) string {
		m := headerPattern.FindStringSubmatch(s)
		id := slices.Index(referenceTypes[f.String()], m[1])
		require.GreaterOrEqual(t, id, 0, "%s in %v", s, f)
		flags, _ := strconv.Atoi(m[2])
		middle, _ := strconv.Atoi(m[3])
		return hex.EncodeToString(le.AppendUint32(nil, uint32(id|middle<<8|flags<<16)))
	}))
}

// f32 and f64 return encoded numbers in hex.
func f32(x ...float64) string {
	var b []byte
	for _, x := range x {
		b = le.AppendUint32(b, math.Float32bits(float32(x)))
	}
	return " " + hex.EncodeToString(b)
}

func f64(x ...float64) string {
	var b []byte
	for _, x := range x {
		b = le.AppendUint64(b, math.Float64bits(x))
	}
	return " " + hex.EncodeToString(b)
}
