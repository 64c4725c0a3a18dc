package model

import (
	"math"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// A writer makes typed calls, with known or Unknown counts.
type writer struct {
	*gdwire.Encoder
	unknown bool
}

// count returns n, or Unknown.
func (w *writer) count(n int) int {
	if w.unknown {
		return gdwire.Unknown
	}
	return n
}

// container writes a container by its Begin call, whose error is begin.
func (w *writer) container(begin error, write func()) {
	testenv.Check(begin)
	write()
	testenv.Check(w.End())
}

// value writes v. Strings and packed numbers are written in pieces if their length is odd or the counts are
// Unknown.
func (w *writer) value(v *Value) {
	typ := TypeByName[v.Type]
	switch v.Type {
	case "Nil":
		testenv.Check(w.WriteNil())
	case "bool":
		testenv.Check(w.WriteBool(v.Bits != 0))
	case "int":
		testenv.Check(w.WriteInt(int64(v.Bits)))
	case "float":
		testenv.Check(w.WriteFloat(math.Float64frombits(v.Bits)))
	case "String", "StringName":
		switch n := len(v.Text); {
		case w.unknown || n%2 == 1:
			w.container(w.BeginString(typ, int64(w.count(n))), func() { w.inPieces([]byte(v.Text)) })
		case v.Type == "String":
			testenv.Check(w.WriteString(v.Text))
		default:
			testenv.Check(w.WriteStringName(v.Text))
		}
	case "RID":
		testenv.Check(w.WriteRID(v.Bits))
	case "ObjectID":
		testenv.Check(w.WriteObjectID(v.Bits))
	case "Callable":
		testenv.Check(w.WriteCallable())
	case "Signal":
		testenv.Check(w.WriteSignal(v.Text, v.Bits))
	case "InputEvent":
		testenv.Check(w.WriteInputEvent(uint32(v.Numbers[0]), uint32(v.Numbers[1]), v.Data))
	case "Image":
		n := v.Numbers
		begin := w.BeginImage(uint32(n[0]), uint32(n[1]), uint32(n[2]), uint32(n[3]), int64(w.count(len(v.Data))))
		w.container(begin, func() { w.inPieces(v.Data) })
	case "NodePath":
		if w.unknown {
			testenv.Check(w.WriteNodePath(v.Path()))
			return
		}
		w.container(w.BeginNodePath(len(v.Names), len(v.Subnames), v.Absolute), func() {
			for _, name := range slices.Concat(v.Names, v.Subnames) {
				testenv.Check(w.WriteString(name))
			}
		})
	case "Object":
		n := w.count(len(v.Names))
		if v.Text == "" {
			n = 0 // a null object is without properties
		}
		w.container(w.BeginObject(v.Text, n), func() {
			for i, name := range v.Names {
				testenv.Check(w.WriteProperty(name))
				w.value(&v.Items[i])
			}
		})
	case "Dictionary":
		w.container(w.BeginTypedDict(w.count(len(v.Items)/2), v.Key.elem(), v.Elem.elem()), func() { w.items(v) })
	case "Array":
		w.container(w.BeginTypedArray(w.count(len(v.Items)), v.Elem.elem()), func() { w.items(v) })
	case "PackedStringArray":
		w.container(w.BeginPacked(typ, int64(w.count(len(v.Names)))), func() {
			for _, s := range v.Names {
				if w.unknown {
					w.container(w.BeginString(gdwire.TypeString, gdwire.Unknown), func() { w.inPieces([]byte(s)) })
				} else {
					testenv.Check(w.WriteString(s))
				}
			}
		})
	default:
		switch {
		case strings.HasPrefix(v.Type, "Packed"):
			w.container(w.BeginPacked(typ, int64(w.count(v.elements()))), func() { w.elements(v) })
		case isInts(v.Type):
			testenv.Check(gdwire.WriteComponents(w.Encoder, typ, AsNumbers(v.Numbers, ToInt32)))
		default:
			testenv.Check(gdwire.WriteComponents(w.Encoder, typ, AsNumbers(v.Numbers, math.Float64frombits)))
		}
	}
}

func (w *writer) items(v *Value) {
	for i := range v.Items {
		w.value(&v.Items[i])
	}
}

// inPieces writes b in pieces that split runes and elements.
func (w *writer) inPieces(b []byte) {
	for size := 1; len(b) > 0; size++ {
		b = b[testenv.Checked(w.Write(b[:min(size, len(b))])):]
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

func (v *Value) elements() int {
	if v.Type == "PackedByteArray" {
		return len(v.Data)
	}
	return len(v.Numbers) / perElement(v.Type)
}

// elements writes packed numbers from slices or, in pieces, as bytes.
func (w *writer) elements(v *Value) {
	n, e := v.Numbers, w.Encoder
	switch {
	case w.unknown || v.elements()%2 == 1:
		w.inPieces(v.Encoding())
	case v.Type == "PackedByteArray":
		testenv.Check(gdwire.WritePacked(e, v.Data))
	case v.Type == "PackedInt32Array":
		testenv.Check(gdwire.WritePacked(e, AsNumbers(n, ToInt32)))
	case v.Type == "PackedInt64Array":
		testenv.Check(gdwire.WritePacked(e, AsNumbers(n, func(b uint64) int64 { return int64(b) })))
	case v.Type == "PackedFloat32Array":
		testenv.Check(gdwire.WritePacked(e, AsNumbers(n, func(b uint64) float32 { return math.Float32frombits(Narrowed(b)) })))
	case v.Type == "PackedFloat64Array":
		testenv.Check(gdwire.WritePacked(e, AsNumbers(n, math.Float64frombits)))
	case v.Type == "PackedVector2Array":
		testenv.Check(gdwire.WritePacked(e, Grouped(n, 2, func(x []float64) [2]float64 { return [2]float64(x) })))
	case v.Type == "PackedVector3Array":
		testenv.Check(gdwire.WritePacked(e, Grouped(n, 3, func(x []float64) [3]float64 { return [3]float64(x) })))
	default:
		testenv.Check(gdwire.WritePacked(e, Grouped(n, 4, func(x []float64) [4]float64 { return [4]float64(x) })))
	}
}

// Encoding returns packed elements in wire order.
func (v *Value) Encoding() []byte {
	b := append([]byte(nil), v.Data...)
	for _, bits := range v.Numbers {
		switch {
		case v.Wide:
			b = le.AppendUint64(b, bits)
		case isInts(v.Type):
			b = le.AppendUint32(b, uint32(bits))
		default:
			b = le.AppendUint32(b, Narrowed(bits))
		}
	}
	return b
}
