package text

import (
	"math"

	"github.com/gdwire/gdwire"
)

// FromToken returns the value of a token, with numbers appended to numbers. A container becomes
// its declared types and whether it is empty; a NodePath, PackedByteArray or Image becomes a
// value without content.
func FromToken(t gdwire.Token, numbers []float64) Value {
	v := Value{Type: t.Type(), Numbers: numbers}
	switch t.Kind() {
	case gdwire.KindBool:
		if t.Bool() {
			v.Int = 1
		}
	case gdwire.KindInt32, gdwire.KindInt64:
		v.Int = t.Int()
	case gdwire.KindFloat32, gdwire.KindFloat64:
		v.Numbers = append(v.Numbers, t.Float())
	case gdwire.KindStringChunk:
		v.Text = t.Text()
	case gdwire.KindProperty:
		v.Type, v.Text = gdwire.TypeString, t.Text()
	case gdwire.KindRID:
		v.Int, v.NoID = int64(t.ID()), t.Width() == 0
	case gdwire.KindObjectID:
		v.Int = int64(t.ID())
	case gdwire.KindSignal:
		v.Int, v.Text = int64(t.ID()), t.Text()
	case gdwire.KindImageStart:
		format, mipmaps, width, height := t.Image()
		v.Numbers = append(v.Numbers, float64(format), float64(mipmaps), float64(width), float64(height))
	case gdwire.KindInputEvent:
		event, device := t.Event()
		v.Numbers = append(v.Numbers, float64(event), float64(device))
		v.Text = t.Text()
	case gdwire.KindObjectStart:
		v.Form, v.Text = Declared, t.Text()
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindPackedStart:
		v.Key, v.Elem = t.KeyElem(), t.Elem()
		switch {
		case t.Type() == gdwire.TypePackedByteArray:
		case t.Len() == 0:
			v.Form = Empty
		default:
			v.Form = Declared
		}
	default:
		v.Numbers = t.AppendComponents(v.Numbers)
		v.Single = t.Width() == 32
	}
	return v
}

// Write writes a value of Form Whole or Empty, with numbers rounded to 32 bits unless double is
// set. double must equal the Encoder's DoubleReals.
func (v *Value) Write(e *gdwire.Encoder, double bool) error {
	if v.Items != nil || v.Form == Empty {
		return v.writeItems(e, double)
	}
	switch v.Type {
	case gdwire.TypeNil:
		return e.WriteNil()
	case gdwire.TypeBool:
		return e.WriteBool(v.Int != 0)
	case gdwire.TypeInt:
		return e.WriteInt(v.Int)
	case gdwire.TypeFloat:
		return e.WriteFloat(v.Numbers[0])
	case gdwire.TypeString:
		return e.WriteString(v.Text)
	case gdwire.TypeStringName:
		return e.WriteStringName(v.Text)
	case gdwire.TypeNodePath:
		return e.WriteNodePath(v.Text)
	case gdwire.TypeRID:
		return e.WriteRID(uint64(v.Int))
	case gdwire.TypeObject:
		return e.WriteObjectID(uint64(v.Int))
	case gdwire.TypeCallable:
		return e.WriteCallable()
	case gdwire.TypeSignal:
		return e.WriteSignal(v.Text, uint64(v.Int))
	case gdwire.TypeImage:
		n := v.Numbers
		_ = e.BeginImage(uint32(n[0]), uint32(n[1]), uint32(n[2]), uint32(n[3]), int64(len(v.Text)))
		return v.writeText(e)
	case gdwire.TypeInputEvent:
		return e.WriteInputEvent(uint32(v.Numbers[0]), uint32(v.Numbers[1]), []byte(v.Text))
	}
	switch n, integers := v.Type.Components(); {
	case n == 0: // packed
		_ = e.BeginPacked(v.Type, int64(len(v.Text)))
		return v.writeText(e)
	case integers:
		c := make([]int32, n)
		for i, x := range v.Numbers {
			c[i] = int32(x)
		}
		return gdwire.WriteComponents(e, v.Type, c)
	}
	c := make([]float64, len(v.Numbers))
	for i, x := range v.Numbers {
		c[i] = x
		if !double {
			c[i] = Round32(x)
		}
	}
	return gdwire.WriteComponents(e, v.Type, c)
}

// writeItems writes a container and its content.
func (v *Value) writeItems(e *gdwire.Encoder, double bool) (err error) {
	switch v.Type {
	case gdwire.TypeArray:
		err = e.BeginTypedArray(len(v.Items), v.Elem)
	case gdwire.TypeDictionary:
		err = e.BeginTypedDict(len(v.Items)/2, v.Key, v.Elem)
	case gdwire.TypeObject:
		err = e.BeginObject(v.Text, len(v.Items)/2)
	default:
		return v.writePacked(e, double)
	}
	for i := range v.Items {
		switch {
		case err != nil:
		case v.Type == gdwire.TypeObject && i%2 == 0:
			err = e.WriteProperty(v.Items[i].Text)
		default:
			err = v.Items[i].Write(e, double)
		}
	}
	if err == nil {
		err = e.End()
	}
	return err
}

// writePacked writes a packed array.
func (v *Value) writePacked(e *gdwire.Encoder, double bool) error {
	err := e.BeginPacked(v.Type, int64(len(v.Items)))
	part := Part{In: v.Type, Bits: elementBits(v.Type, double)}
	for i := range v.Items {
		if err != nil {
			break
		}
		if v.Type == gdwire.TypePackedStringArray {
			err = e.WriteString(v.Items[i].Text)
			continue
		}
		var b []byte
		if b, err = part.Append(nil, &v.Items[i]); err == nil {
			_, err = e.Write(b)
		}
	}
	if err == nil {
		err = e.End()
	}
	return err
}

// elementBits returns the number of bits of each number of a packed array.
func elementBits(packed gdwire.Type, double bool) int {
	if n, _ := packed.Element().Components(); n > 0 && double && packed != gdwire.TypePackedColorArray {
		return 64
	}
	return packed.ElementWidth()
}

// Round32 rounds x to 32 bits, unless x is too large.
func Round32(x float64) float64 {
	if r := float64(float32(x)); !math.IsInf(r, 0) {
		return r
	}
	return x
}

// writeText writes the bytes of a PackedByteArray or Image, and the End. It returns the error of the call
// before, which all calls return.
func (v *Value) writeText(e *gdwire.Encoder) error {
	if v.Text != "" {
		_, _ = e.Write([]byte(v.Text))
	}
	return e.End()
}
