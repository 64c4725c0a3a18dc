package calls

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// FuzzTypedReads reads packets by a random mix of typed calls, tokens and loops: they return what the tokens of the same
// packet are, with the same first error, and what the reference decoder reads, at the same offsets. Calls that do not fit
// the value change nothing.
func FuzzTypedReads(f *testing.F) {
	fuzz.AddSeeds(f.Add)
	f.Fuzz(requireTypedReads)
}

// TestTypedReads reads the packets of the fuzz targets, and damaged ones, in several mixes.
func TestTypedReads(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, in := range fuzz.Seeds() {
		for mix := range testenv.Cases(8, 200) {
			p := in.Packet
			switch mix % 4 {
			case 2:
				p = p[:random.IntN(len(p)+1)]
			case 3:
				p = mutated(random, p)
			}
			requireTypedReads(t, p, uint64(in.Seed)+uint64(mix)*uint64(fuzz.Rest))
		}
	}
}

func requireTypedReads(t *testing.T, p []byte, n uint64) {
	o := fuzz.Seed(n).Options()
	d := gdwire.NewDecoder(bytes.NewReader(p), &o)
	defer d.Release()
	var want []tagged.Value
	v, fault := model.Read(d)
	for ; fault == nil; v, fault = model.Read(d) {
		want = append(want, v)
	}
	for name, reset := range map[string]func(){
		"Reader": func() { d.Reset(bytes.NewReader(p)) }, "bytes": func() { d.Reset(iotest.OneByteReader(bytes.NewReader(p))) }, "memory": func() { d.ResetBytes(p) },
	} {
		if reset(); o.Strict && name == "memory" {
			continue // bytes after the value are an error before its end
		}
		w := mix{t: t, d: d, random: rand.New(rand.NewPCG(n, 0))}
		for _, v := range want {
			w.require(v, name)
		}
		if err := w.last(); err == nil || name != "memory" && fuzz.ErrorText(fault) != fuzz.ErrorText(err) {
			t.Fatalf("%s: %v, not %v", name, err, fault)
		}
	}
	if !o.Strict && o.Limits == (gdwire.Limits{}) && !o.AllowInvalidUTF8 {
		requireTypedReference(t, p, o, n)
	}
}

// requireTypedReference compares typed reads with the reference on a packet: whether it
// is accepted, the value, and the offset of each value in it.
func requireTypedReference(t testing.TB, p []byte, o gdwire.DecoderOptions, n uint64) {
	r := model.Reference{Format: o.Format.String(), Objects: o.AllowObjects, Double: o.DoubleReals, P: p}
	want, rejected := r.Decode()
	o.Limits = gdwire.NoLimits
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(p)
	w := mix{t: t, d: d, random: rand.New(rand.NewPCG(n, 1))}
	name := fmt.Sprintf("%v, %x", o.Format, p)
	if rejected == nil {
		w.require(want, name)
		if err := d.SkipTo(0); err != nil || d.InputOffset() != int64(r.Pos) {
			t.Fatalf("%s ends at %d, not %d", name, d.InputOffset(), r.Pos)
		}
	} else if err := w.last(); err == nil {
		t.Fatalf("%s: accepted, but the reference says %v", name, rejected)
	}
	starts := r.Starts
	for _, start := range w.starts { // loops can skip some of them
		i := slices.Index(starts, start)
		if i < 0 {
			t.Fatalf("%.300s: no value starts at %d, %v", name, start, w.starts)
		}
		starts = starts[i+1:]
	}
}

// Typed reads and tokens are those of the reference for slightly damaged vectors of every engine, in
// every format.
func TestReferenceOnMutations(t *testing.T) {
	if err := model.Complete(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	formats := gdwire.Formats()
	accepted := map[gdwire.Format]int{}
	for i := range model.Engines {
		for _, v := range model.Engines[i].Vectors(t) {
			for range 8 {
				p := mutated(random, v.Hex)
				f := model.Engines[i].Format
				if random.IntN(3) == 0 {
					f = formats[random.IntN(len(formats))]
				}
				o := gdwire.DecoderOptions{Format: f, AllowObjects: random.IntN(4) > 0, DoubleReals: random.IntN(4) == 0}
				ok, err := model.Compare(p, o)
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					accepted[f]++
				}
				requireTypedReference(t, p, o, random.Uint64())
			}
		}
	}
	if len(accepted) != len(formats) {
		t.Fatal(accepted)
	}
}

// interesting contains words at the edges of ranges.
var interesting = []uint32{0, 1, 2, 3, 4, 0xFF, 0x100, 0x10000, 0x50000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF}

// mutated returns p with one to three things changed.
func mutated(random *rand.Rand, p []byte) []byte {
	p = append([]byte(nil), p...)
	for range 1 + random.IntN(3) {
		word := 0
		if len(p) >= 4 {
			word = random.IntN(len(p)/4) * 4
		}
		switch random.IntN(6) {
		case 0: // truncated
			p = p[:random.IntN(len(p)+1)]
		case 1: // one bit
			if len(p) > 0 {
				p[random.IntN(len(p))] ^= 1 << random.IntN(8)
			}
		case 2: // one byte
			if len(p) > 0 {
				p[random.IntN(len(p))] = byte(random.Uint32())
			}
		case 3: // one word
			if len(p) >= 4 {
				binary.LittleEndian.PutUint32(p[word:], interesting[random.IntN(len(interesting))])
			}
		case 4: // a header
			if len(p) >= 4 {
				binary.LittleEndian.PutUint32(p[word:], uint32(random.IntN(41))|uint32(random.IntN(16))<<16)
			}
		case 5: // more of it
			p = append(p, p[word:]...)
		}
	}
	return p
}

// A mix reads values by the calls of Reads that return values, by tokens and by loops.
type mix struct {
	t      testing.TB
	d      *gdwire.Decoder
	random *rand.Rand
	starts []int64 // the offsets of the values that were read
}

// require reads the next value.
func (w *mix) require(want tagged.Value, name string) {
	got, err := w.element()
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	if want, got := w.expected(want, got).AnyNaN(), got.AnyNaN(); !reflect.DeepEqual(want, got) {
		w.t.Fatalf("%s: %+v, not %+v", name, got, want)
	}
}

// last reads the next value, which is not whole, and returns the error, which can be in what a loop left.
func (w *mix) last() error {
	_, err := w.value()
	if err == nil {
		err = w.d.SkipTo(0)
	}
	return err
}

// each calls body in each iteration of a loop, and leaves some loops, in each way to leave one.
func each[T any](w *mix, loop iter.Seq2[T, error], body func(T) error) error {
	switch w.random.IntN(4) {
	case 0:
		loop = pulled(loop)
	case 1:
		loop = panicking(loop)
	}
	for x, err := range loop {
		if err == nil {
			err = body(x)
		}
		if err != nil || w.random.IntN(12) == 0 {
			return err
		}
	}
	return nil
}

// skipped is the Type of a value that a loop skipped.
const skipped = "skipped"

// refuse makes a typed read that does not fit what is next, which is why.
func (w *mix) refuse(k gdwire.Kind, why error) {
	var all []*Read
	for i := range Reads {
		op := &Reads[i]
		if op.fits != nil && !slices.Contains(op.fits, k) && op.name != "ReadText" {
			all = append(all, op)
		}
	}
	op := all[w.random.IntN(len(all))]
	d, offset, depth, next := w.d, w.d.InputOffset(), w.d.Depth(), w.d.PeekKind()
	err := op.Run(NewCaller(w.t, d, byte(gdwire.TypePlane), 4))
	var e *gdwire.Error
	if !errors.As(err, &e) || !errors.Is(err, why) || e.Offset != offset || d.InputOffset() != offset || d.Depth() != depth || d.PeekKind() != next {
		w.t.Fatalf("%s before %v: %v, then %v at %d, not at %d", op.name, k, err, d.PeekKind(), d.InputOffset(), offset)
	}
}

// element reads the next value, which is no key, and after a loop that was left by any call.
func (w *mix) element() (tagged.Value, error) {
	switch w.random.IntN(12) {
	case 0:
		return tagged.Value{Type: skipped}, w.d.SkipValue()
	case 1, 2:
		v, err := model.Read(w.d)
		return w.expected(v, v), err
	case 3:
		if n, err := gdwire.ReadPacked(w.d, make([]byte, 1)); n != 0 || err == nil {
			w.t.Fatalf("ReadPacked before a value: %d, %v", n, err)
		}
	}
	return w.value()
}

// value reads the next value.
func (w *mix) value() (v tagged.Value, err error) {
	d := w.d
	k := d.PeekKind()
	if k != 0 {
		w.starts = append(w.starts, d.InputOffset())
	}
	if k == gdwire.KindDictKey {
		switch w.random.IntN(3) { // these read keys of one type at once
		case 0:
			if b, ok, err := export.ReadText(d); ok || err != nil && err != bufio.ErrBufferFull {
				return tagged.Value{Type: "String", Text: string(b)}, err
			}
		case 1:
			if b, err := d.ReadBool(); !errors.Is(err, gdwire.ErrType) {
				return tagged.Value{Type: "bool", Bits: bit(b)}, err
			}
		}
		if _, err := d.ReadToken(); err != nil {
			return v, err
		}
		k = d.PeekKind()
	}
	if k != 0 && k != gdwire.KindDictKey && k != gdwire.KindEnd && w.random.IntN(2) == 0 {
		w.refuse(k, gdwire.ErrType)
	}
	switch k {
	case 0:
		return v, d.ReadNil()
	case gdwire.KindArrayStart:
		return w.array()
	case gdwire.KindDictStart:
		return w.dict()
	case gdwire.KindPackedStart:
		return w.packed()
	case gdwire.KindObjectStart:
		return w.object()
	case gdwire.KindImageStart, gdwire.KindInputEvent:
		return model.Read(d)
	case gdwire.KindStringChunk:
		if w.random.IntN(4) == 0 {
			return w.chunks()
		}
	}
	return w.single(k)
}

// chunks reads a text by a token and what follows it.
func (w *mix) chunks() (tagged.Value, error) {
	t, err := w.d.ReadToken()
	text := t.Text()
	if err == nil && (!t.Last() || w.random.IntN(2) == 0) {
		part := make([]byte, w.random.IntN(len(text)+1))
		_, err = io.ReadFull(w.d.Payload(), part)
		if err == nil {
			part, err = w.d.AppendString(part)
		}
		text = string(part)
	}
	return tagged.Value{Type: "String", Text: text}, err
}

// single reads a value by one call, any that reads its kind.
func (w *mix) single(k gdwire.Kind) (v tagged.Value, err error) {
	err = errUnread
	for _, i := range w.random.Perm(len(Reads)) {
		op := &Reads[i]
		if op.value == nil || !slices.Contains(op.fits, k) {
			continue
		}
		v, err = op.value(w.d)
		if err != errUnread && !errors.Is(err, gdwire.ErrRange) {
			break
		}
	}
	switch k {
	case gdwire.KindInt32, gdwire.KindInt64:
		if v.Type == "float" {
			v.Bits = uint64(int64(math.Float64frombits(v.Bits)))
		}
		v.Type = "int"
	case gdwire.KindFloat32, gdwire.KindFloat64:
		if v.Type == "int" {
			v.Bits = math.Float64bits(float64(int64(v.Bits)))
		}
		if v.Bits == 1<<63 {
			v.Bits = 0 // ReadInt does not return the sign
		}
		v.Type = "float"
	case gdwire.KindStringChunk:
		v.Type = "String"
	case gdwire.KindNodePathStart:
		v.Type = "NodePath"
	case gdwire.KindObjectID:
		v.Type = "ObjectID"
	default:
		v.Type = gdwire.Type(k).String()
	}
	return v, err
}

// item reads an element, key or value in the body of a loop: all of it, a part or nothing.
func (w *mix) item(v *tagged.Value) (err error) {
	d, depth := w.d, w.d.Depth()
	token := func() error { _, err := d.ReadToken(); return err }
	switch w.random.IntN(10) {
	case 0:
	case 1:
		err = d.SkipValue()
	case 2:
		err = token()
	case 3:
		if err = token(); err == nil && d.Depth() > depth {
			err = token()
		}
	case 4:
		switch d.PeekKind() {
		case gdwire.KindArrayStart:
			_, err = d.ReadArray()
		case gdwire.KindDictStart:
			_, err = d.ReadDict()
		case gdwire.KindPackedStart:
			if err = token(); err == nil {
				_, err = gdwire.ReadPacked(d, make([]float32, 2))
			}
			if err == io.EOF || errors.Is(err, gdwire.ErrType) {
				err = nil
			}
		}
	default:
		return w.append(v)
	}
	v.Items = append(v.Items, tagged.Value{Type: skipped})
	return err
}

func (w *mix) append(v *tagged.Value) error {
	item, err := w.value()
	v.Items = append(v.Items, item)
	return err
}

// end reads the End of a container.
func (w *mix) end() error {
	if w.d.PeekKind() == gdwire.KindEnd && w.random.IntN(4) == 0 {
		w.refuse(gdwire.KindEnd, gdwire.ErrCount)
	}
	return w.d.ReadEnd()
}

func (w *mix) array() (tagged.Value, error) {
	v := tagged.Value{Type: "Array"}
	if w.random.IntN(2) == 0 {
		return v, each(w, w.d.Elements(), func(int) error { return w.item(&v) })
	}
	n, err := w.d.ReadArray()
	for ; err == nil && n > 0; n-- {
		var item tagged.Value
		item, err = w.element()
		v.Items = append(v.Items, item)
	}
	if err == nil {
		err = w.end()
	}
	return v, err
}

func (w *mix) dict() (tagged.Value, error) {
	v := tagged.Value{Type: "Dictionary"}
	switch w.random.IntN(3) {
	case 0:
		v.Text = "Fields"
		err := each(w, w.d.Fields(), func(key []byte) error {
			text := string(key)
			v.Items = append(v.Items, tagged.Value{Type: "String", Text: text})
			err := w.item(&v)
			if string(key) != text {
				w.t.Fatalf("the key %q became %q in the loop's body", text, key)
			}
			return err
		})
		return v, err
	case 1:
		err := each(w, w.d.Pairs(), func(int) error {
			err := w.item(&v)
			if last := len(v.Items) - 1; err == nil && v.Items[last].Type == skipped { // with its value
				v.Items = append(v.Items, v.Items[last])
			} else if err == nil {
				err = w.item(&v)
			}
			return err
		})
		return v, err
	}
	n, err := w.d.ReadDict()
	for n *= 2; err == nil && n > 0; n-- {
		err = w.append(&v)
	}
	if err == nil {
		err = w.end()
	}
	return v, err
}

func (w *mix) object() (tagged.Value, error) {
	t, err := w.d.ReadToken()
	v := tagged.Value{Type: "Object", Text: t.Text()}
	for n := t.Len(); err == nil && n > 0; n-- {
		if w.d.PeekKind() == gdwire.KindProperty && w.random.IntN(4) == 0 {
			w.refuse(gdwire.KindProperty, gdwire.ErrType)
		}
		if t, err = w.d.ReadToken(); err == nil {
			v.Names = append(v.Names, t.Text())
			err = w.append(&v)
		}
	}
	if err == nil {
		err = w.end()
	}
	return v, err
}

// packed reads a packed array: at once, in pieces, or one element after the other.
func (w *mix) packed() (v tagged.Value, err error) {
	typ, err := w.d.PeekType()
	if read := packedReads[typ]; err != nil || read != nil {
		return read(w)
	}
	v = tagged.Value{Type: "PackedStringArray"}
	err = each(w, w.d.Elements(), func(int) error {
		text, err := w.single(gdwire.KindStringChunk)
		v.Names = append(v.Names, text.Text)
		return err
	})
	return v, err
}

var packedReads = map[gdwire.Type]func(w *mix) (tagged.Value, error){
	gdwire.TypePackedByteArray: packedAs[byte]("PackedByteArray"), gdwire.TypePackedInt32Array: packedAs[int32]("PackedInt32Array"),
	gdwire.TypePackedInt64Array: packedAs[int64]("PackedInt64Array"), gdwire.TypePackedFloat32Array: packedAs[float64]("PackedFloat64Array"),
	gdwire.TypePackedFloat64Array: packedAs[float64]("PackedFloat64Array"), gdwire.TypePackedVector2Array: packedAs[[2]float64]("PackedVector2Array"),
	gdwire.TypePackedVector3Array: packedAs[[3]float64]("PackedVector3Array"), gdwire.TypePackedVector4Array: packedAs[[4]float64]("PackedVector4Array"),
	gdwire.TypePackedColorArray: packedAs[[4]float64]("PackedVector4Array"),
}

// packedAs reads a packed array. Of a loop, the text of the value says which elements were read.
func packedAs[T gdwire.Packable](typ string) func(w *mix) (tagged.Value, error) {
	return func(w *mix) (tagged.Value, error) {
		var elements []T
		var err error
		d, v := w.d, tagged.Value{Type: typ}
		switch w.random.IntN(3) {
		case 0:
			elements, err = gdwire.AppendPacked[T](d, nil)
		case 1:
			var t gdwire.Token
			t, err = d.ReadToken()
			for n := w.random.IntN(4); err == nil && n > 0 && int64(len(elements)) < t.Len(); n-- {
				some := make([]T, min(w.random.IntN(4), int(t.Len())-len(elements)))
				if b, ok := any(some).([]byte); ok && w.random.IntN(2) == 0 {
					_, err = io.ReadFull(d.Payload(), b)
				} else {
					_, err = gdwire.ReadPacked(d, some)
				}
				elements = append(elements, some...)
			}
			switch err {
			case nil:
				elements, err = gdwire.AppendPacked(d, elements)
			case io.EOF:
				err = nil
			}
		default:
			v.Text = "elements "
			err = each(w, d.Elements(), func(int) error {
				if w.random.IntN(3) == 0 {
					v.Text += "-"
					return nil
				}
				v.Text += "+"
				var one [1]T
				_, err := gdwire.ReadPacked(d, one[:])
				elements = append(elements, one[0])
				return err
			})
		}
		if err != nil {
			return v, err
		}
		b, err := binary.Append(nil, binary.LittleEndian, elements)
		switch typ {
		case "PackedByteArray":
			v.Data = append(v.Data, b...)
		default:
			v.Numbers = tagged.Numbers(typ, b, typ != "PackedInt32Array")
		}
		return v, err
	}
}

// readElements returns the elements of a packed array that a loop read.
func readElements[T any](all []T, read string, size int) (some []T) {
	for i := range read {
		if read[i] == '+' && len(all) > 0 {
			some = append(some, all[i*size:(i+1)*size]...)
		}
	}
	return some
}

// expected returns v as the calls that have returned got read it: without what they do
// not return, and without the values that loops have skipped.
func (w *mix) expected(v, got tagged.Value) tagged.Value {
	if got.Type == skipped {
		return got
	}
	v.Wide, v.Key, v.Elem = false, tagged.Declared{}, tagged.Declared{}
	switch v.Type {
	case "StringName":
		v.Type = "String"
	case "PackedFloat32Array":
		v.Type = "PackedFloat64Array"
	case "PackedColorArray":
		v.Type = "PackedVector4Array"
	case "NodePath":
		v = tagged.Value{Type: v.Type, Text: v.Path()}
	case "float":
		if v.Bits == 1<<63 {
			v.Bits = 0 // ReadInt does not return the sign
		}
	}
	if read, ok := strings.CutPrefix(got.Text, "elements "); ok {
		v.Text = got.Text
		size := map[string]int{"PackedVector2Array": 2, "PackedVector3Array": 3, "PackedVector4Array": 4}[v.Type]
		v.Data, v.Numbers = readElements(v.Data, read, 1), readElements(v.Numbers, read, max(size, 1))
	}
	if v.Type == "PackedStringArray" {
		v.Names = v.Names[:min(len(v.Names), len(got.Names))] // the loop was left
	}
	items := v.Items
	v.Items = nil
	if v.Type == "Dictionary" && got.Text == "Fields" {
		v.Text = got.Text
		pairs := items
		items = nil
		for ; len(pairs) > 0; pairs = pairs[2:] {
			if key := pairs[0]; (key.Type == "String" || key.Type == "StringName") && int64(len(key.Text)) <= w.nameBytes() {
				items = append(items, pairs[:2]...)
			}
		}
	}
	for i, item := range items[:min(len(items), len(got.Items))] { // or the loop was left
		v.Items = append(v.Items, w.expected(item, got.Items[i]))
	}
	return v
}

// nameBytes returns the length of the longest key that Fields returns.
func (w *mix) nameBytes() int64 {
	switch n := w.d.Options().Limits.NameBytes; n {
	case 0:
		return 1 << 10
	case -1:
		return 1 << 30
	default:
		return n
	}
}
