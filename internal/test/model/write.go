package model

import (
	"math"
	"strings"

	"github.com/gdwire/gdwire"
)

// writeValue writes v by typed calls, with known or Unknown counts. Strings and
// packed numbers are written in pieces if their length is odd or the counts are
// Unknown.
func writeValue(e *gdwire.Encoder, v *Value, unknown bool) error {
	count := func(n int) int {
		if unknown {
			return gdwire.Unknown
		}
		return n
	}
	typ := TypeByName[v.Type]
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
			return e.WriteNodePath(v.Path())
		}
		begin := e.BeginNodePath(len(v.Names), len(v.Subnames), v.Absolute)
		return first(begin, writeStrings(e, v.Names, false), writeStrings(e, v.Subnames, false), e.End)
	case "Object":
		n := count(len(v.Names))
		if v.Text == "" {
			n = 0 // a null object is without properties
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
		return gdwire.WriteComponents(e, typ, AsNumbers(v.Numbers, ToInt32))
	}
	return gdwire.WriteComponents(e, typ, AsNumbers(v.Numbers, math.Float64frombits))
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

func writeItems(e *gdwire.Encoder, items []Value, unknown bool) func() error {
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

func (v *Value) elements() int {
	if v.Type == "PackedByteArray" {
		return len(v.Data)
	}
	return len(v.Numbers) / perElement(v.Type)
}

// writeElements writes packed numbers from slices or, in pieces, as bytes.
func (v *Value) writeElements(e *gdwire.Encoder, pieces bool) func() error {
	if pieces {
		return writeInPieces(e, v.Encoding())
	}
	return func() error {
		n := v.Numbers
		switch v.Type {
		case "PackedByteArray":
			return gdwire.WritePacked(e, v.Data)
		case "PackedInt32Array":
			return gdwire.WritePacked(e, AsNumbers(n, ToInt32))
		case "PackedInt64Array":
			return gdwire.WritePacked(e, AsNumbers(n, func(b uint64) int64 { return int64(b) }))
		case "PackedFloat32Array":
			return gdwire.WritePacked(e, AsNumbers(n, func(b uint64) float32 { return math.Float32frombits(Narrowed(b)) }))
		case "PackedFloat64Array":
			return gdwire.WritePacked(e, AsNumbers(n, math.Float64frombits))
		case "PackedVector2Array":
			return gdwire.WritePacked(e, Grouped(n, 2, func(x []float64) [2]float64 { return [2]float64(x) }))
		case "PackedVector3Array":
			return gdwire.WritePacked(e, Grouped(n, 3, func(x []float64) [3]float64 { return [3]float64(x) }))
		default:
			return gdwire.WritePacked(e, Grouped(n, 4, func(x []float64) [4]float64 { return [4]float64(x) }))
		}
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
