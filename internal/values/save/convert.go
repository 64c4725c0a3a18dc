package save

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// A Counterpart replaces a value in a format without such values.
type Counterpart struct {
	Value   string // the kind of value missing in the format, such as "StringName" or "typed Array"
	Becomes string // the replacement, such as "a String"

	typ   gdwire.Type
	write func(c *Converter, t gdwire.Token) error // writes a token of the value
	reals gdwire.Type                              // for asReals, the type of an integer vector with the same components
}

// Counterparts lists the values of Godot 4 missing in Godot 3. All numbers and texts stay, but integers of more than
// 24 bits are rounded where they become reals. Reals of 64 bits are not listed; they are rounded if 32 bits do not
// suffice. For a value of Godot 2 alone, an Image or InputEvent, there is no counterpart.
var Counterparts = []*Counterpart{
	{"Vector2i", "a Vector2", gdwire.TypeVector2i, (*Converter).asReals, gdwire.TypeVector2},
	{"Rect2i", "a Rect2", gdwire.TypeRect2i, (*Converter).asReals, gdwire.TypeRect2},
	{"Vector3i", "a Vector3", gdwire.TypeVector3i, (*Converter).asReals, gdwire.TypeVector3},
	{"Vector4", "an Array of 4 floats", gdwire.TypeVector4, (*Converter).asArray, 0},
	{"Vector4i", "an Array of 4 ints", gdwire.TypeVector4i, (*Converter).asArray, 0},
	{"Projection", "an Array of 16 floats", gdwire.TypeProjection, (*Converter).asArray, 0},
	{"StringName", "a String", gdwire.TypeStringName, (*Converter).asString, 0},
	{"RID with an id", "an RID without it", gdwire.TypeRID, (*Converter).same, 0}, // the Encoder omits the id
	{"Callable", "null", gdwire.TypeCallable, asNull, 0},
	{"Signal", "null", gdwire.TypeSignal, asNull, 0},
	{"typed Dictionary", "an untyped Dictionary", gdwire.TypeDictionary, (*Converter).untyped, 0},
	{"typed Array", "an untyped Array", gdwire.TypeArray, (*Converter).untyped, 0},
	{"PackedInt64Array", "an Array of ints", gdwire.TypePackedInt64Array, (*Converter).asElements, 0},
	{"PackedFloat64Array", "an Array of floats", gdwire.TypePackedFloat64Array, (*Converter).asElements, 0},
	{"PackedVector4Array", "an Array of Arrays of 4 floats", gdwire.TypePackedVector4Array, (*Converter).asElements, 0},
}

// counterparts contains the Counterparts by type.
var counterparts [math.MaxUint8 + 1]*Counterpart

func init() { // and not as a variable, because their functions read it
	for _, p := range Counterparts {
		counterparts[p.typ] = p
	}
}

// A LossError reports a value that a format can represent only by a counterpart.
type LossError struct {
	Format         gdwire.Format
	Value, Becomes string // as in Counterpart
	cause          error
}

func (e *LossError) Error() string {
	return fmt.Sprintf("%v has no %s; it would become %s", e.Format, e.Value, e.Becomes)
}

// Unwrap returns gdwire.ErrType, or gdwire.ErrRange for numbers to be rounded.
func (e *LossError) Unwrap() error { return e.cause }

// A ConvertError is an error of a valid value that another format cannot represent, and wraps a
// gdwire.Error with the offset and path of the value.
type ConvertError struct{ error }

// Unwrap returns the gdwire.Error.
func (e *ConvertError) Unwrap() error { return e.error }

// A Converter copies values, also to another format.
type Converter struct {
	// Lost is called for each value missing in the format of the Encoder, before its counterpart is written.
	// WrapError of the Decoder returns the location of the value or, in a packed array, of a chunk. If Lost is nil,
	// such a value is a LossError.
	Lost func(d *gdwire.Decoder, value, becomes string)
	// Renamed, if not nil, is called for each object of a class with another name in the format of the Encoder. The class
	// stays, because scripts of the game know it by its name.
	Renamed func(d *gdwire.Decoder, class, name string)

	e       *gdwire.Encoder
	d       *gdwire.Decoder
	to      gdwire.Format
	inText  bool // a text has begun
	rounds  bool // elements of the open packed array are rounded, as already reported
	numbers []float64
	bytes   []byte
}

// Copy copies the next value from d to e, as gdwire.CopyValue does. An error about a valid value is
// a ConvertError.
func (c *Converter) Copy(e *gdwire.Encoder, d *gdwire.Decoder) error {
	c.e, c.d, c.to, c.inText = e, d, e.Options().Format, false
	if c.to == d.Options().Format {
		err := gdwire.CopyValue(e, d)
		if err != nil && err == e.Err() {
			err = c.located(err)
		}
		return err
	}
	for t, err := range d.Tokens() {
		if err != nil {
			return err
		}
		if err := c.write(t); err != nil {
			return c.located(err)
		}
	}
	return nil
}

// located returns the ConvertError for an error about the latest token. Errors of the Writer are returned
// unchanged.
func (c *Converter) located(err error) error {
	if e, ok := err.(*gdwire.Error); ok {
		err = e.Err // without the location in the output
	} else if _, ok := err.(*LossError); !ok {
		return err
	}
	return &ConvertError{c.d.WrapError(err)}
}

// write writes a token, or its counterpart if the format lacks the value.
func (c *Converter) write(t gdwire.Token) error {
	if t.Kind() == gdwire.KindObjectStart && c.Renamed != nil && c.to == gdwire.Godot4 && t.Text() == "Reference" {
		c.Renamed(c.d, "Reference", "RefCounted")
	}
	p := counterparts[t.Type()]
	if p == nil || !c.lacks(t) {
		return c.same(t)
	}
	if t.Kind() != gdwire.KindChunk && !c.inText { // the start of a value
		value, becomes := p.Value, p.Becomes
		if p.reals != 0 && !c.fitsReals(t) {
			value, becomes = value+" of more than 24 bits", rounded(becomes)
		}
		if err := c.lose(value, becomes, gdwire.ErrType); err != nil {
			return err
		}
	}
	return p.write(c, t)
}

// lacks reports whether the format lacks a value listed by Counterparts.
func (c *Converter) lacks(t gdwire.Token) bool {
	if !c.to.Has(t.Type()) {
		return t.Kind() != gdwire.KindEnd // End is the same for all containers
	}
	switch t.Kind() { // only Godot 4 writes ids of RIDs and declared types
	case gdwire.KindRID:
		return c.to != gdwire.Godot4 && t.ID() != 0
	case gdwire.KindArrayStart, gdwire.KindDictStart:
		return c.to != gdwire.Godot4 && len(t.Bytes()) > 0
	}
	return false
}

// lose reports a loss at the latest token.
func (c *Converter) lose(value, becomes string, cause error) error {
	if c.Lost == nil {
		return &LossError{c.to, value, becomes, cause}
	}
	c.Lost(c.d, value, becomes)
	return nil
}

// rounded returns the name of a value with rounded components, such as "a rounded Vector2" for "a
// Vector2".
func rounded(name string) string { return "a rounded " + strings.TrimPrefix(name, "a ") }

// same writes a token of a type known to the format. Reals of 64 bits are rounded if necessary.
func (c *Converter) same(t gdwire.Token) error {
	if t.Kind() != gdwire.KindChunk {
		c.rounds = false
	}
	err := export.CopyToken(c.e, t)
	if t.Width() != 64 || t.Type() == gdwire.TypeInt || !errors.Is(err, gdwire.ErrRange) {
		return err
	}
	_ = c.e.ClearError() // the call wrote nothing
	if !c.rounds {
		name := t.Type().String()
		if err := c.lose(name+" of 64 bits", rounded(name), gdwire.ErrRange); err != nil {
			return err
		}
	}
	switch t.Kind() {
	case gdwire.KindFloat64:
		return export.CopyToken(c.e, gdwire.Float32(float32(t.Float())))
	case gdwire.KindChunk:
		c.rounds = true
		c.bytes, _ = wire.ConvertReals(c.bytes[:0], t.Bytes(), wire.Float64, wire.Float32)
		_, err := c.e.Write(c.bytes)
		return err
	}
	return c.round(t.Type(), t)
}

// fitsReals reports whether 32 bits suffice for the components of t as reals.
func (c *Converter) fitsReals(t gdwire.Token) bool {
	c.numbers = t.AppendComponents(c.numbers[:0])
	return !slices.ContainsFunc(c.numbers, func(x float64) bool { return float64(float32(x)) != x })
}

// round writes the components of t, rounded to 32 bits, as components of a math type.
func (c *Converter) round(as gdwire.Type, t gdwire.Token) error {
	c.numbers = t.AppendComponents(c.numbers[:0])
	for i, x := range c.numbers {
		c.numbers[i] = float64(float32(x)) // infinite, because WriteComponents would refuse x
	}
	return gdwire.WriteComponents(c.e, as, c.numbers)
}

// asReals writes an integer vector as a vector of reals.
func (c *Converter) asReals(t gdwire.Token) error { return c.round(counterparts[t.Type()].reals, t) }

// asArray writes a math type as an Array of its components.
func (c *Converter) asArray(t gdwire.Token) error {
	c.numbers = t.AppendComponents(c.numbers[:0])
	_, integers := t.Type().Components()
	return c.array(integers)
}

// array writes the numbers as an Array of ints or floats.
func (c *Converter) array(integers bool) error {
	_ = c.e.BeginArray(len(c.numbers)) // an error stays until End
	for _, x := range c.numbers {
		if integers {
			_ = c.e.WriteInt(int64(x))
		} else {
			_ = c.e.WriteFloat(x)
		}
	}
	return c.e.End()
}

// asString writes a chunk of a StringName as a chunk of a String.
func (c *Converter) asString(t gdwire.Token) error {
	if !c.inText {
		if err := c.e.BeginString(gdwire.TypeString, t.Len()); err != nil {
			return err
		}
	}
	c.inText = !t.Last()
	return export.CopyToken(c.e, t)
}

// asNull writes null.
func asNull(c *Converter, _ gdwire.Token) error { return c.e.WriteNil() }

// untyped begins an Array or Dictionary without declared types.
func (c *Converter) untyped(t gdwire.Token) error {
	if t.Kind() == gdwire.KindDictStart {
		return c.e.BeginDict(int(t.Len()))
	}
	return c.e.BeginArray(int(t.Len()))
}

// asElements writes the start of a packed array as the start of an Array, and a chunk as elements.
func (c *Converter) asElements(t gdwire.Token) error {
	if t.Kind() == gdwire.KindPackedStart {
		return c.e.BeginArray(int(t.Len()))
	}
	if t.Type() == gdwire.TypePackedInt64Array {
		for b := t.Bytes(); len(b) > 0; b = b[8:] {
			_ = c.e.WriteInt(int64(binary.LittleEndian.Uint64(b))) // an error stays
		}
		return c.e.Err()
	}
	n, size := 1, t.Width()/8
	if t.Type() == gdwire.TypePackedVector4Array {
		n = 4
	}
	unit := [...]wire.Unit{4: wire.Float32, 8: wire.Float64}[size]
	c.numbers = slices.Grow(c.numbers[:0], n)[:n]
	for b := t.Bytes(); len(b) > 0; b = b[n*size:] {
		wire.Floats(c.numbers, b, unit)
		if n == 1 {
			_ = c.e.WriteFloat(c.numbers[0])
		} else {
			_ = c.array(false)
		}
	}
	return c.e.Err()
}
