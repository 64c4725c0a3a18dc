package conformance

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
	"slices"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/hook"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/stretchr/testify/require"
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
		var want []model.Value
		v, fault := model.Read(d)
		for ; fault == nil; v, fault = model.Read(d) {
			want = append(want, v)
		}
		for name, r := range map[string]io.Reader{"Reader": bytes.NewReader(p), "bytes": iotest.OneByteReader(bytes.NewReader(p))} {
			d.Reset(r)
			w := typedWalk{d: d, random: rand.New(rand.NewPCG(n, 0))}
			for _, v := range want {
				got, err := w.value()
				require.NoError(t, err, name)
				require.Equal(t, w.expected(v, got).AnyNaN(), got.AnyNaN(), name)
			}
			_, err := w.value()
			require.Equal(t, fuzz.ErrorText(fault), fuzz.ErrorText(err), name)
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
	w := typedWalk{d: d, random: rand.New(rand.NewPCG(n, 1))}
	got, err := w.value()
	i := 0
	for _, start := range w.starts { // loops can skip some of them
		for i < len(r.Starts) && r.Starts[i] != start {
			i++
		}
		require.Less(t, i, len(r.Starts), "%v, %x: no value starts at %d", o.Format, p, start)
		i++
	}
	if rejected != nil {
		require.Error(t, err, "%v, %x: the reference says %v", o.Format, p, rejected)
		return
	}
	require.NoError(t, err, "%v, %x", o.Format, p)
	require.Equal(t, w.expected(want, got).AnyNaN(), got.AnyNaN(), "%v, %x", o.Format, p)
	require.EqualValues(t, r.Pos, d.InputOffset(), "%v, %x", o.Format, p)
}

// A typedWalk reads values by typed calls.
type typedWalk struct {
	d      *gdwire.Decoder
	random *rand.Rand
	starts []int64 // the offsets of the values that were read
}

// skipped is the Type of a value that a loop skipped.
const skipped = "skipped"

// unfit are calls, with the kinds of the values that they can read.
var unfit = []struct {
	name string
	fits []gdwire.Kind
	call func(d *gdwire.Decoder) error
}{
	{"ReadNil", []gdwire.Kind{gdwire.KindNil}, (*gdwire.Decoder).ReadNil},
	{"ReadBool", []gdwire.Kind{gdwire.KindBool}, func(d *gdwire.Decoder) error { _, err := d.ReadBool(); return err }},
	{"ReadInt", numberKinds, func(d *gdwire.Decoder) error { _, err := d.ReadInt(); return err }},
	{"ReadInteger", numberKinds, func(d *gdwire.Decoder) error { _, err := gdwire.ReadInteger[int8](d); return err }},
	{"ReadFloat", numberKinds, func(d *gdwire.Decoder) error { _, err := d.ReadFloat(); return err }},
	{"ReadString", []gdwire.Kind{gdwire.KindStringChunk}, func(d *gdwire.Decoder) error { _, err := d.ReadString(); return err }},
	{"AppendString", []gdwire.Kind{gdwire.KindStringChunk, gdwire.KindNodePathStart}, func(d *gdwire.Decoder) error { _, err := d.AppendString(nil); return err }},
	{"ReadNodePath", []gdwire.Kind{gdwire.KindNodePathStart}, func(d *gdwire.Decoder) error { _, err := d.ReadNodePath(); return err }},
	{"ReadRID", []gdwire.Kind{gdwire.KindRID}, func(d *gdwire.Decoder) error { _, err := d.ReadRID(); return err }},
	{"ReadObjectID", []gdwire.Kind{gdwire.KindObjectID}, func(d *gdwire.Decoder) error { _, err := d.ReadObjectID(); return err }},
	{"ReadSignal", []gdwire.Kind{gdwire.KindSignal}, func(d *gdwire.Decoder) error { _, _, err := d.ReadSignal(); return err }},
	{"ReadCallable", []gdwire.Kind{gdwire.KindCallable}, (*gdwire.Decoder).ReadCallable},
	{"ReadComponents of float64", []gdwire.Kind{gdwire.KindPlane}, func(d *gdwire.Decoder) error { return gdwire.ReadComponents(d, gdwire.TypePlane, make([]float64, 4)) }},
	{"ReadComponents of int32", []gdwire.Kind{gdwire.KindVector3i}, func(d *gdwire.Decoder) error { return gdwire.ReadComponents(d, gdwire.TypeVector3i, make([]int32, 3)) }},
	{"AppendPacked", []gdwire.Kind{gdwire.KindPackedStart}, func(d *gdwire.Decoder) error { _, err := gdwire.AppendPacked[byte](d, nil); return err }},
	{"ReadArray", []gdwire.Kind{gdwire.KindArrayStart}, func(d *gdwire.Decoder) error { _, err := d.ReadArray(); return err }},
	{"ReadDict", []gdwire.Kind{gdwire.KindDictStart}, func(d *gdwire.Decoder) error { _, err := d.ReadDict(); return err }},
	{"Elements", []gdwire.Kind{gdwire.KindArrayStart, gdwire.KindPackedStart}, func(d *gdwire.Decoder) error { return firstError(d.Elements()) }},
	{"Fields", []gdwire.Kind{gdwire.KindDictStart}, func(d *gdwire.Decoder) error { return firstError(d.Fields()) }},
	{"Pairs", []gdwire.Kind{gdwire.KindDictStart}, func(d *gdwire.Decoder) error { return firstError(d.Pairs()) }},
}

var numberKinds = []gdwire.Kind{gdwire.KindInt32, gdwire.KindInt64, gdwire.KindFloat32, gdwire.KindFloat64}

func firstError[T any](loop iter.Seq2[T, error]) error {
	for _, err := range loop {
		return err
	}
	return nil
}

// refuse makes a call that does not fit the next value.
func (w *typedWalk) refuse(k gdwire.Kind) error {
	u := unfit[w.random.IntN(len(unfit))]
	if slices.Contains(u.fits, k) || k == gdwire.KindDictKey || k == gdwire.KindEnd {
		return nil
	}
	d, offset, depth := w.d, w.d.InputOffset(), w.d.Depth()
	err := u.call(d)
	var e *gdwire.Error
	if !errors.As(err, &e) || !errors.Is(err, gdwire.ErrType) || e.Offset != offset || d.InputOffset() != offset || d.Depth() != depth || d.PeekKind() != k {
		return fmt.Errorf("%s before %v: %w, then %v at %d", u.name, k, err, d.PeekKind(), d.InputOffset())
	}
	return nil
}

// value reads the next value.
func (w *typedWalk) value() (v model.Value, err error) {
	d := w.d
	w.starts = append(w.starts, d.InputOffset())
	k := d.PeekKind()
	if k == gdwire.KindDictKey {
		switch w.random.IntN(3) { // these read keys of one type at once
		case 0:
			if b, ok, err := d.ReadText(); ok || err != nil && err != bufio.ErrBufferFull {
				return model.Value{Type: "String", Text: string(b)}, err
			}
		case 1:
			if b, err := d.ReadBool(); !errors.Is(err, gdwire.ErrType) {
				return boolValue(b), err
			}
		}
		if _, err := d.ReadToken(); err != nil {
			return v, err
		}
		k = d.PeekKind()
	}
	if k != 0 && w.random.IntN(2) == 0 {
		if err := w.refuse(k); err != nil {
			return v, err
		}
	}
	switch k {
	case 0, gdwire.KindNil:
		v.Type = "Nil"
		return v, d.ReadNil()
	case gdwire.KindBool:
		b, err := d.ReadBool()
		return boolValue(b), err
	case gdwire.KindInt32, gdwire.KindInt64:
		return w.int()
	case gdwire.KindFloat32, gdwire.KindFloat64:
		return w.float()
	case gdwire.KindStringChunk:
		v.Type = "String"
		v.Text, err = w.text()
		return v, err
	case gdwire.KindNodePathStart:
		v.Type = "NodePath"
		switch w.random.IntN(3) {
		case 0:
			if b := hook.ReadNodePath.(func(*gdwire.Decoder, *hook.NodePathText) []byte)(d, new(hook.NodePathText)); b != nil {
				v.Text = string(b)
				return v, nil
			}
		case 1:
			b, err := d.AppendString(nil)
			v.Text = string(b)
			return v, err
		}
		v.Text, err = d.ReadNodePath()
		return v, err
	case gdwire.KindRID:
		v.Type = "RID"
		v.Bits, err = d.ReadRID()
		return v, err
	case gdwire.KindObjectID:
		v.Type = "ObjectID"
		v.Bits, err = d.ReadObjectID()
		return v, err
	case gdwire.KindSignal:
		v.Type = "Signal"
		v.Text, v.Bits, err = d.ReadSignal()
		return v, err
	case gdwire.KindCallable:
		v.Type = "Callable"
		return v, d.ReadCallable()
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
	return w.math(gdwire.Type(k))
}

func boolValue(b bool) model.Value {
	if b {
		return model.Value{Type: "bool", Bits: 1}
	}
	return model.Value{Type: "bool"}
}

func (w *typedWalk) int() (model.Value, error) {
	if w.random.IntN(2) == 0 {
		x, err := gdwire.ReadInteger[int16](w.d)
		if !errors.Is(err, gdwire.ErrRange) {
			return model.Value{Type: "int", Bits: uint64(x)}, err
		}
	}
	if w.random.IntN(2) == 0 {
		x, err := w.d.ReadFloat()
		if !errors.Is(err, gdwire.ErrRange) {
			return model.Value{Type: "int", Bits: uint64(int64(x))}, err
		}
	}
	x, err := w.d.ReadInt()
	return model.Value{Type: "int", Bits: uint64(x)}, err
}

func (w *typedWalk) float() (model.Value, error) {
	if w.random.IntN(2) == 0 {
		x, err := w.d.ReadInt()
		if !errors.Is(err, gdwire.ErrRange) {
			return model.Value{Type: "float", Bits: math.Float64bits(float64(x))}, err
		}
	}
	x, err := w.d.ReadFloat()
	if x == 0 {
		x = 0 // ReadInt does not return the sign
	}
	return model.Value{Type: "float", Bits: math.Float64bits(x)}, err
}

func (w *typedWalk) text() (string, error) {
	switch w.random.IntN(3) {
	case 0:
		b, err := w.d.AppendString(nil)
		return string(b), err
	case 1:
		if b, ok, err := w.d.ReadText(); ok || err != nil && err != bufio.ErrBufferFull {
			return string(b), err
		}
	}
	return w.d.ReadString()
}

func (w *typedWalk) math(t gdwire.Type) (model.Value, error) {
	v := model.Value{Type: t.String()}
	if n := model.IntComponents[v.Type]; n > 0 {
		c := make([]int32, n)
		err := gdwire.ReadComponents(w.d, t, c)
		for _, x := range c {
			v.Numbers = append(v.Numbers, uint64(x))
		}
		return v, err
	}
	c := make([]float64, model.RealComponents[v.Type])
	err := gdwire.ReadComponents(w.d, t, c)
	for _, x := range c {
		v.Numbers = append(v.Numbers, math.Float64bits(x))
	}
	return v, err
}

// item reads an element, key or value in the body of a loop, all of it or a part.
func (w *typedWalk) item(v *model.Value) error {
	read := w.random.IntN(4)
	switch k := w.d.PeekKind(); {
	case read == 0 && k == gdwire.KindArrayStart:
		w.d.ReadArray()
	case read == 0 && k == gdwire.KindDictStart:
		w.d.ReadDict()
	}
	if read == 0 {
		v.Items = append(v.Items, model.Value{Type: skipped})
		return nil
	}
	return w.append(v)
}

func (w *typedWalk) append(v *model.Value) error {
	item, err := w.value()
	v.Items = append(v.Items, item)
	return err
}

func (w *typedWalk) array() (model.Value, error) {
	v := model.Value{Type: "Array"}
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

func (w *typedWalk) dict() (model.Value, error) {
	v := model.Value{Type: "Dictionary"}
	switch w.random.IntN(3) {
	case 0:
		v.Text = "Fields"
		for key, err := range w.d.Fields() {
			if err == nil {
				v.Items = append(v.Items, model.Value{Type: "String", Text: string(key)})
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

func (w *typedWalk) object() (model.Value, error) {
	t, err := w.d.ReadToken()
	v := model.Value{Type: "Object", Text: t.Text()}
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
func (w *typedWalk) packed() (v model.Value, err error) {
	for _, read := range []func(*gdwire.Decoder) (model.Value, error){
		packedAs[byte]("PackedByteArray"), packedAs[int32]("PackedInt32Array"), packedAs[int64]("PackedInt64Array"),
		packedAs[float64]("PackedFloat64Array"), packedAs[[2]float64]("PackedVector2Array"),
		packedAs[[3]float64]("PackedVector3Array"), packedAs[[4]float64]("PackedVector4Array"),
	} {
		if v, err = read(w.d); !errors.Is(err, gdwire.ErrType) {
			return v, err
		}
	}
	v = model.Value{Type: "PackedStringArray"}
	for _, err := range w.d.Elements() {
		if err != nil {
			return v, err
		}
		text, err := w.text()
		if err != nil {
			return v, err
		}
		v.Names = append(v.Names, text)
	}
	return v, nil
}

func packedAs[T gdwire.Packable](typ string) func(d *gdwire.Decoder) (model.Value, error) {
	return func(d *gdwire.Decoder) (model.Value, error) {
		elements, err := gdwire.AppendPacked[T](d, nil)
		if err != nil {
			return model.Value{}, err
		}
		b, err := binary.Append(nil, le, elements)
		v := model.Value{Type: typ}
		switch typ {
		case "PackedByteArray":
			v.Data = append(v.Data, b...)
		default:
			v.Numbers = model.Numbers(typ, b, typ != "PackedInt32Array")
		}
		return v, err
	}
}

// expected returns v as the calls that have returned got read it: without what they do
// not return, and without the values that loops have skipped.
func (w *typedWalk) expected(v, got model.Value) model.Value {
	if got.Type == skipped {
		return got
	}
	v.Wide, v.Key, v.Elem = false, model.Declared{}, model.Declared{}
	switch v.Type {
	case "StringName":
		v.Type = "String"
	case "PackedFloat32Array":
		v.Type = "PackedFloat64Array"
	case "PackedColorArray":
		v.Type = "PackedVector4Array"
	case "NodePath":
		v = model.Value{Type: v.Type, Text: v.Path()}
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
