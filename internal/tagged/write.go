package tagged

import (
	"math"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
)

// A Writer makes typed calls.
type Writer struct {
	*gdwire.Encoder
	Unknown bool // counts are Unknown, and strings and packed numbers are written in pieces
	Pieces  bool // strings and packed numbers of odd length are written in pieces
}

// Value writes v. Without Pieces, as in programs, ids of 0 and objects without a class are nil, and a NaN is written in 32
// bits where a format knows no others.
func (w *Writer) Value(v *Value) error { return try(func() { w.value(v) }) }

// count returns n, or Unknown.
func (w *Writer) count(n int) int {
	if w.Unknown {
		return gdwire.Unknown
	}
	return n
}

// container writes a container. begin is the error of the Begin call.
func (w *Writer) container(begin error, write func()) {
	check(begin)
	write()
	check(w.End())
}

func (w *Writer) value(v *Value) {
	typ := TypeByName[v.Type]
	switch v.Type {
	case "Nil":
		check(w.WriteNil())
	case "bool":
		check(w.WriteBool(v.Bits != 0))
	case "int":
		check(w.WriteInt(int64(v.Bits)))
	case "float":
		x := math.Float64frombits(v.Bits)
		err := w.WriteFloat(x)
		if err != nil && x != x && !w.Pieces {
			_ = w.ClearError() // the error of WriteFloat
			err = w.WriteToken(gdwire.Float32(float32(x)))
		}
		check(err)
	case "String", "StringName":
		switch n := len(v.Text); {
		case w.inParts(n):
			w.container(w.BeginString(typ, int64(w.count(n))), func() { w.inPieces([]byte(v.Text)) })
		case v.Type == "String":
			check(w.WriteString(v.Text))
		default:
			check(w.WriteStringName(v.Text))
		}
	case "RID":
		check(w.WriteRID(v.Bits))
	case "ObjectID":
		if v.Bits == 0 && !w.Pieces {
			check(w.WriteNil())
			return
		}
		check(w.WriteObjectID(v.Bits))
	case "Callable":
		check(w.WriteCallable())
	case "Signal":
		check(w.WriteSignal(v.Text, v.Bits))
	case "InputEvent":
		check(w.WriteInputEvent(uint32(v.Numbers[0]), uint32(v.Numbers[1]), v.Data))
	case "Image":
		n := v.Numbers
		begin := w.BeginImage(uint32(n[0]), uint32(n[1]), uint32(n[2]), uint32(n[3]), int64(w.count(len(v.Data))))
		w.container(begin, func() { w.inPieces(v.Data) })
	case "NodePath":
		if w.Unknown {
			check(w.WriteNodePath(v.Path()))
			return
		}
		w.container(w.BeginNodePath(len(v.Names), len(v.Subnames), v.Absolute), func() {
			for _, name := range slices.Concat(v.Names, v.Subnames) {
				check(w.WriteString(name))
			}
		})
	case "Object":
		if v.Text == "" && len(v.Names) == 0 && !w.Pieces {
			check(w.WriteNil())
			return
		}
		n := w.count(len(v.Names))
		if v.Text == "" {
			n = 0 // a null object is without properties
		}
		w.container(w.BeginObject(v.Text, n), func() {
			for i, name := range v.Names {
				check(w.WriteProperty(name))
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
				if w.Unknown {
					w.container(w.BeginString(gdwire.TypeString, gdwire.Unknown), func() { w.inPieces([]byte(s)) })
				} else {
					check(w.WriteString(s))
				}
			}
		})
	default:
		switch {
		case strings.HasPrefix(v.Type, "Packed"):
			w.container(w.BeginPacked(typ, int64(w.count(v.elements()))), func() { w.elements(v) })
		case isInts(v.Type):
			check(gdwire.WriteComponents(w.Encoder, typ, AsNumbers(v.Numbers, ToInt32)))
		default:
			check(gdwire.WriteComponents(w.Encoder, typ, AsNumbers(v.Numbers, math.Float64frombits)))
		}
	}
}

// inParts reports whether n bytes or elements are written in pieces.
func (w *Writer) inParts(n int) bool { return w.Unknown || w.Pieces && n%2 == 1 }

func (w *Writer) items(v *Value) {
	for i := range v.Items {
		w.value(&v.Items[i])
	}
}

// inPieces writes b in pieces splitting runes and elements.
func (w *Writer) inPieces(b []byte) {
	for size := 1; len(b) > 0; size++ {
		b = b[checked(w.Write(b[:min(size, len(b))])):]
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
func (w *Writer) elements(v *Value) {
	n, e := v.Numbers, w.Encoder
	switch {
	case w.inParts(v.elements()):
		w.inPieces(v.Encoding())
	case v.Type == "PackedByteArray":
		check(gdwire.WritePacked(e, v.Data))
	case v.Type == "PackedInt32Array":
		check(gdwire.WritePacked(e, AsNumbers(n, ToInt32)))
	case v.Type == "PackedInt64Array":
		check(gdwire.WritePacked(e, AsNumbers(n, func(b uint64) int64 { return int64(b) })))
	case v.Type == "PackedFloat32Array" && w.Pieces:
		check(gdwire.WritePacked(e, AsNumbers(n, func(b uint64) float32 { return math.Float32frombits(Narrowed(b)) })))
	case perElement(v.Type) == 1:
		check(gdwire.WritePacked(e, AsNumbers(n, math.Float64frombits)))
	case v.Type == "PackedVector2Array":
		check(gdwire.WritePacked(e, Grouped(n, 2, func(x []float64) [2]float64 { return [2]float64(x) })))
	case v.Type == "PackedVector3Array":
		check(gdwire.WritePacked(e, Grouped(n, 3, func(x []float64) [3]float64 { return [3]float64(x) })))
	default:
		check(gdwire.WritePacked(e, Grouped(n, 4, func(x []float64) [4]float64 { return [4]float64(x) })))
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
