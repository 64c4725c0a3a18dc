package calls_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/tagged"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
)

// FuzzTypedReads reads packets by typed calls: they return what the tokens of the same
// packet are, with the same first error, and what the reference decoder reads, at the
// same offsets. Calls that do not fit the value change nothing.
func FuzzTypedReads(f *testing.F) {
	fuzz.AddSeeds(f.Add)
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		o := fuzz.Seed(n).Options()
		d := gdwire.NewDecoder(bytes.NewReader(p), &o)
		defer d.Release()
		var want []tagged.Value
		v, fault := model.Read(d)
		for ; fault == nil; v, fault = model.Read(d) {
			want = append(want, v)
		}
		for name, r := range map[string]io.Reader{"Reader": bytes.NewReader(p), "bytes": iotest.OneByteReader(bytes.NewReader(p))} {
			d.Reset(r)
			w := typedWalk{t: t, d: d, random: rand.New(rand.NewPCG(n, 0))}
			for _, v := range want {
				w.require(v, name)
			}
			if _, err := w.value(); fuzz.ErrorText(fault) != fuzz.ErrorText(err) {
				t.Fatalf("%s: %v, not %v", name, err, fault)
			}
		}
		if !o.Strict && o.Limits == (gdwire.Limits{}) && !o.AllowInvalidUTF8 {
			requireTypedReference(t, p, o, n)
		}
	})
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
	w := typedWalk{t: t, d: d, random: rand.New(rand.NewPCG(n, 1))}
	name := fmt.Sprintf("%v, %x", o.Format, p)
	if rejected == nil {
		w.require(want, name)
		if d.InputOffset() != int64(r.Pos) {
			t.Fatalf("%s ends at %d, not %d", name, d.InputOffset(), r.Pos)
		}
	} else if _, err := w.value(); err == nil {
		t.Fatalf("%s: accepted, but the reference says %v", name, rejected)
	}
	starts := r.Starts
	for _, start := range w.starts { // loops can skip some of them
		i := slices.Index(starts, start)
		if i < 0 {
			t.Fatalf("%s: no value starts at %d", name, start)
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

// A typedWalk reads values by the calls of decoderCalls that return values, and by loops.
type typedWalk struct {
	t      testing.TB
	d      *gdwire.Decoder
	random *rand.Rand
	starts []int64 // the offsets of the values that were read
}

// require reads the next value.
func (w *typedWalk) require(want tagged.Value, name string) {
	got, err := w.value()
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	if want, got := w.expected(want, got).AnyNaN(), got.AnyNaN(); !reflect.DeepEqual(want, got) {
		w.t.Fatalf("%s: %+v, not %+v", name, got, want)
	}
}

// skipped is the Type of a value that a loop skipped.
const skipped = "skipped"

// refuse makes a typed read that does not fit the next value.
func (w *typedWalk) refuse(k gdwire.Kind) {
	var all []*decoderCall
	for i := range decoderCalls {
		if op := &decoderCalls[i]; op.fits != nil && !slices.Contains(op.fits, k) && op.name != "ReadText" {
			all = append(all, op)
		}
	}
	op := all[w.random.IntN(len(all))]
	d, offset, depth := w.d, w.d.InputOffset(), w.d.Depth()
	err := op.run(&caller{t: w.t, d: d, script: []byte{byte(gdwire.TypePlane), 4}})
	var e *gdwire.Error
	if !errors.As(err, &e) || !errors.Is(err, gdwire.ErrType) || e.Offset != offset || d.InputOffset() != offset || d.Depth() != depth || d.PeekKind() != k {
		w.t.Fatalf("%s before %v: %v, then %v at %d", op.name, k, err, d.PeekKind(), d.InputOffset())
	}
}

// value reads the next value.
func (w *typedWalk) value() (v tagged.Value, err error) {
	d := w.d
	w.starts = append(w.starts, d.InputOffset())
	k := d.PeekKind()
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
		w.refuse(k)
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
	}
	return w.single(k)
}

// single reads a value by one call, any that reads its kind.
func (w *typedWalk) single(k gdwire.Kind) (v tagged.Value, err error) {
	err = errUnread
	for _, i := range w.random.Perm(len(decoderCalls)) {
		op := &decoderCalls[i]
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

// item reads an element, key or value in the body of a loop, all of it or a part.
func (w *typedWalk) item(v *tagged.Value) error {
	read := w.random.IntN(4)
	switch k := w.d.PeekKind(); {
	case read == 0 && k == gdwire.KindArrayStart:
		w.d.ReadArray()
	case read == 0 && k == gdwire.KindDictStart:
		w.d.ReadDict()
	}
	if read == 0 {
		v.Items = append(v.Items, tagged.Value{Type: skipped})
		return nil
	}
	return w.append(v)
}

func (w *typedWalk) append(v *tagged.Value) error {
	item, err := w.value()
	v.Items = append(v.Items, item)
	return err
}

func (w *typedWalk) array() (tagged.Value, error) {
	v := tagged.Value{Type: "Array"}
	if w.random.IntN(2) == 0 {
		for _, err := range w.d.Elements() {
			if err == nil {
				err = w.item(&v)
			}
			if err != nil {
				return v, err
			}
		}
		return v, nil
	}
	n, err := w.d.ReadArray()
	for ; err == nil && n > 0; n-- {
		err = w.append(&v)
	}
	if err == nil {
		err = w.d.ReadEnd()
	}
	return v, err
}

func (w *typedWalk) dict() (tagged.Value, error) {
	v := tagged.Value{Type: "Dictionary"}
	switch w.random.IntN(3) {
	case 0:
		v.Text = "Fields"
		for key, err := range w.d.Fields() {
			if err == nil {
				v.Items = append(v.Items, tagged.Value{Type: "String", Text: string(key)})
				err = w.item(&v)
			}
			if err != nil {
				return v, err
			}
		}
		return v, nil
	case 1:
		for _, err := range w.d.Pairs() {
			if err == nil {
				err = w.item(&v)
			}
			if last := len(v.Items) - 1; err == nil && v.Items[last].Type == skipped { // with its value
				v.Items = append(v.Items, v.Items[last])
			} else if err == nil {
				err = w.item(&v)
			}
			if err != nil {
				return v, err
			}
		}
		return v, nil
	}
	n, err := w.d.ReadDict()
	for n *= 2; err == nil && n > 0; n-- {
		err = w.append(&v)
	}
	if err == nil {
		err = w.d.ReadEnd()
	}
	return v, err
}

func (w *typedWalk) object() (tagged.Value, error) {
	t, err := w.d.ReadToken()
	v := tagged.Value{Type: "Object", Text: t.Text()}
	for n := t.Len(); err == nil && n > 0; n-- {
		if t, err = w.d.ReadToken(); err == nil {
			v.Names = append(v.Names, t.Text())
			err = w.append(&v)
		}
	}
	if err == nil {
		err = w.d.ReadEnd()
	}
	return v, err
}

// packed reads a packed array by the first call that accepts it.
func (w *typedWalk) packed() (v tagged.Value, err error) {
	for _, read := range []func(*gdwire.Decoder) (tagged.Value, error){
		packedAs[byte]("PackedByteArray"), packedAs[int32]("PackedInt32Array"), packedAs[int64]("PackedInt64Array"),
		packedAs[float64]("PackedFloat64Array"), packedAs[[2]float64]("PackedVector2Array"),
		packedAs[[3]float64]("PackedVector3Array"), packedAs[[4]float64]("PackedVector4Array"),
	} {
		if v, err = read(w.d); !errors.Is(err, gdwire.ErrType) {
			return v, err
		}
	}
	v = tagged.Value{Type: "PackedStringArray"}
	for _, err := range w.d.Elements() {
		if err != nil {
			return v, err
		}
		text, err := w.single(gdwire.KindStringChunk)
		if err != nil {
			return v, err
		}
		v.Names = append(v.Names, text.Text)
	}
	return v, nil
}

func packedAs[T gdwire.Packable](typ string) func(d *gdwire.Decoder) (tagged.Value, error) {
	return func(d *gdwire.Decoder) (tagged.Value, error) {
		elements, err := gdwire.AppendPacked[T](d, nil)
		if err != nil {
			return tagged.Value{}, err
		}
		b, err := binary.Append(nil, binary.LittleEndian, elements)
		v := tagged.Value{Type: typ}
		switch typ {
		case "PackedByteArray":
			v.Data = append(v.Data, b...)
		default:
			v.Numbers = tagged.Numbers(typ, b, typ != "PackedInt32Array")
		}
		return v, err
	}
}

// expected returns v as the calls that have returned got read it: without what they do
// not return, and without the values that loops have skipped.
func (w *typedWalk) expected(v, got tagged.Value) tagged.Value {
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
	for i, item := range items {
		if i < len(got.Items) {
			item = w.expected(item, got.Items[i])
		}
		v.Items = append(v.Items, item)
	}
	return v
}

// nameBytes returns the length of the longest key that Fields returns.
func (w *typedWalk) nameBytes() int64 {
	switch n := w.d.Options().Limits.NameBytes; n {
	case 0:
		return 1 << 10
	case -1:
		return 1 << 30
	default:
		return n
	}
}
