package conformance

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// A conversion is the format that values are copied to.
type conversion struct {
	to     string
	double bool // DoubleReals
}

// rejects returns the error of the first part of v that does not fit, in the order
// of writing.
func (c *conversion) rejects(v *tagged.Value) error {
	typ := v.Type
	if typ == "ObjectID" {
		typ = "Object"
	}
	simple := slices.Contains([]string{"godot2", "manual3", "manual30"}, c.to) // no flags
	switch {
	case !slices.Contains(model.TypeNames[c.to], typ):
		return gdwire.ErrType
	case v.Type == "Object" && simple:
		return gdwire.ErrType
	case v.Type == "ObjectID" && simple && v.Bits != 0:
		return gdwire.ErrRange
	case typ == "int" && simple && c.to != "manual3" && int64(v.Bits) != int64(int32(v.Bits)):
		return gdwire.ErrRange
	case typ == "float" && simple && !survives(v.Bits):
		return gdwire.ErrRange
	case model.RealComponents[typ] > 0 && !c.wide(v) && slices.ContainsFunc(v.Numbers, func(bits uint64) bool { return !survives(bits) }):
		return gdwire.ErrRange
	case c.to != "godot4" && (v.Key.Kind > 0 || v.Elem.Kind > 0):
		return gdwire.ErrType
	}
	for i := range v.Items {
		item := &v.Items[i]
		if must := v.DeclaredType(i); must != "" && item.Type != must && (must != "Object" || item.Type != "ObjectID" && item.Type != "Nil") {
			return gdwire.ErrType
		}
		if err := c.rejects(item); err != nil {
			return err
		}
	}
	return nil
}

// wide reports whether the reals of v have 64 bits in the destination.
func (c *conversion) wide(v *tagged.Value) bool {
	switch c.to {
	case "godot4":
		return v.Wide && v.Type != "Color" && v.Type != "PackedColorArray"
	case "godot3", "godot2":
		return false
	}
	return c.double
}

// survives reports whether a float64 can be stored in 32 bits without loss,
// including all bits of a NaN.
func survives(bits uint64) bool { return tagged.Widened(tagged.Narrowed(bits)) == bits }

// after returns v as it is after copying.
func (c *conversion) after(v tagged.Value) tagged.Value {
	if v.Type == "RID" && c.to != "godot4" {
		v.Bits = 0
	}
	items := v.Items
	v.Items = nil
	for _, item := range items {
		v.Items = append(v.Items, c.after(item))
	}
	return v
}

// requireConversions copies the value at the start of p into every format and
// expects the same value, or the error of the part that does not fit.
func requireConversions(t *testing.T, p []byte, from gdwire.DecoderOptions, counts map[string]int) {
	v, _ := must2(model.Decode(p, from))(t)
	for _, f := range gdwire.Formats() {
		for _, double := range []bool{false, true} {
			c := conversion{to: f.String(), double: double}
			want := c.rejects(&v)
			got, err := model.Copy(p, from, gdwire.EncoderOptions{Format: f, DoubleReals: double})
			if want != nil {
				require.ErrorIs(t, err, want, "to %v", f)
				var fault *gdwire.Error
				require.ErrorAs(t, err, &fault)
				counts[f.String()+" rejected"]++
				continue
			}
			require.NoError(t, err, "to %v", f)
			back, size, err := model.Decode(got, gdwire.DecoderOptions{Format: f, AllowObjects: true, DoubleReals: double})
			require.NoError(t, err, "to %v: %x", f, got)
			require.EqualValues(t, len(got), size)
			require.Equal(t, c.after(v).Plain(), back.Plain(), "to %v: %x", f, got)
			counts[f.String()+" copied"]++
		}
	}
}

func TestConvertPackets(t *testing.T) {
	counts := map[string]int{}
	forPackets(t, func(t *testing.T, f gdwire.Format, p *packet, b, _ []byte) {
		if strings.Contains(p.name, "old form") {
			t.Skip("a value does not show that it was one string")
		}
		requireConversions(t, b, p.options(f), counts)
	})
	for _, f := range gdwire.Formats() {
		assert.NotZero(t, counts[f.String()+" copied"], f)
		assert.NotZero(t, counts[f.String()+" rejected"], f)
	}
}

func TestConvertVectors(t *testing.T) {
	counts := map[string]int{}
	forVectors(t, func(t *testing.T, e *model.Engine, v *model.Vector) {
		requireConversions(t, v.Hex, gdwire.DecoderOptions{Format: e.Format, AllowObjects: v.FullObjects, MaxChunk: 16}, counts)
	})
	assert.NotZero(t, counts["manual3 copied"])
}

// Godot 4 can represent every value of Godot 3.
func TestConvertGodot3(t *testing.T) {
	c := conversion{to: "godot4"}
	for _, v := range model.Engines[0].Vectors(t) {
		require.NoError(t, c.rejects(&v.Value), v.Name)
	}
	for i := range validPackets {
		p := &validPackets[i]
		if !slices.Contains(strings.Fields(p.formats), "godot3") {
			continue
		}
		b := model.Build(t, gdwire.Godot3, p.packet)
		got, err := model.Copy(b, p.options(gdwire.Godot3), gdwire.EncoderOptions{})
		require.NoError(t, err, p.name)
		if p.lenient || p.again != "" {
			continue
		}
		require.NoError(t, errOf(model.Tokens(got, gdwire.DecoderOptions{AllowObjects: p.objects, Strict: true})), "%s: still canonical", p.name)
	}
}

func TestConvertBits(t *testing.T) {
	for _, c := range []struct {
		name                 string
		from, to             gdwire.Format
		packet, want         string
		fromDouble, toDouble bool
		err                  error
	}{
		{name: "int that fits", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<int+1> ffffff7f 00000000", want: "<int> ffffff7f"},
		{name: "least int that fits", from: gdwire.Manual3, to: gdwire.Manual30, packet: "<int> 00000080 ffffffff", want: "<int> 00000080"},
		{name: "int that does not", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<int+1> 00000080 00000000", err: gdwire.ErrRange},
		{name: "negative int that does not", from: gdwire.Manual3, to: gdwire.Manual30, packet: "<int> ffffff7f ffffffff", err: gdwire.ErrRange},
		{name: "int into 64 bits", from: gdwire.Manual30, to: gdwire.Manual3, packet: "<int> ffffffff", want: "<int> ffffffff ffffffff"},
		{name: "float that fits", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<float+1>" + model.F64(0.5), want: "<float>" + model.F32(0.5)},
		{name: "least float that fits", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<float+1>" + model.F64(math.SmallestNonzeroFloat32), want: "<float> 01000000"},
		{name: "-0", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<float+1>" + model.F64(math.Copysign(0, -1)), want: "<float> 00000080"},
		{name: "infinity", from: gdwire.Godot4, to: gdwire.Manual3, packet: "<float+1>" + model.F64(math.Inf(-1)), want: "<float> 000080ff"},
		{name: "float that does not fit", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<float+1>" + model.F64(0.1), err: gdwire.ErrRange},
		{name: "float too large", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<float+1>" + model.F64(1e300), err: gdwire.ErrRange},
		{name: "float too small", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<float+1>" + model.F64(1e-300), err: gdwire.ErrRange},
		{name: "NaN", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<float+1> 00000060 5555fdff", want: "<float> abaaeaff"},
		{name: "signalling NaN", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<float+1> 00000020 0000f07f", want: "<float> 0100807f"},
		{name: "signalling NaN in 32 bits", from: gdwire.Godot2, to: gdwire.Godot4, packet: "<float> 0100807f", want: "<float> 0100807f"},
		{name: "NaN of more bits", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<float+1> 01000000 0000f87f", err: gdwire.ErrRange},
		{name: "NaN that would be infinity", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<float+1> 01000000 0000f07f", err: gdwire.ErrRange},
		{name: "math into 64 bits", from: gdwire.Godot4, to: gdwire.Manual4, toDouble: true, packet: "<Vector2> 0100807f" + model.F32(0.1), want: "<Vector2> 00000020 0000f07f" + model.F64(float64(float32(0.1)))},
		{name: "negative NaN into 64 bits", from: gdwire.Godot4, to: gdwire.Manual4, toDouble: true, packet: "<Vector2> 010080ff" + model.F32(1), want: "<Vector2> 00000020 0000f0ff" + model.F64(1)},
		{name: "Color into 64 bits", from: gdwire.Godot4, to: gdwire.Manual3, toDouble: true, packet: "<Color>" + model.F32(1, 2, 3, 4), want: "<Color>" + model.F64(1, 2, 3, 4)},
		{name: "Color into 32 bits", from: gdwire.Manual3, to: gdwire.Godot4, fromDouble: true, packet: "<Color>" + model.F64(1, 2, 3, 4), want: "<Color>" + model.F32(1, 2, 3, 4)},
		{name: "math of 64 bits", from: gdwire.Manual3, to: gdwire.Godot4, fromDouble: true, packet: "<Vector2>" + model.F64(1, 0.1), want: "<Vector2+1>" + model.F64(1, 0.1)},
		{name: "math into 32 bits", from: gdwire.Godot4, to: gdwire.Godot3, packet: "<Vector2+1> 00000020 0000f0ff" + model.F64(2), want: "<Vector2> 010080ff" + model.F32(2)},
		{name: "math that does not fit", from: gdwire.Godot4, to: gdwire.Godot3, packet: "<Vector2+1>" + model.F64(1, 0.1), err: gdwire.ErrRange},
		{name: "math whose first does not fit", from: gdwire.Godot4, to: gdwire.Godot3, packet: "<Vector2+1>" + model.F64(0.1, 1), err: gdwire.ErrRange},
		{name: "packed math into 32 bits", from: gdwire.Godot4, to: gdwire.Godot3, packet: "<PackedVector2Array+1> 01000000" + model.F64(1, 2), want: "<PackedVector2Array> 01000000" + model.F32(1, 2)},
		{name: "packed math into 64 bits", from: gdwire.Godot3, to: gdwire.Manual4, toDouble: true, packet: "<PackedVector2Array> 01000000 0100807f" + model.F32(1), want: "<PackedVector2Array> 01000000 00000020 0000f07f" + model.F64(1)},
		{name: "packed math stays in 32 bits", from: gdwire.Godot4, to: gdwire.Godot4, toDouble: true, packet: "<PackedVector2Array> 01000000" + model.F32(1, 2), want: "<PackedVector2Array> 01000000" + model.F32(1, 2)},
		{name: "math stays in 32 bits", from: gdwire.Godot4, to: gdwire.Godot4, toDouble: true, packet: "<Vector2>" + model.F32(1, 2), want: "<Vector2>" + model.F32(1, 2)},
		{name: "packed math that does not fit", from: gdwire.Godot4, to: gdwire.Godot3, packet: "<PackedVector2Array+1> 01000000" + model.F64(0.1, 2), err: gdwire.ErrRange},
		{name: "RID gets an id", from: gdwire.Godot3, to: gdwire.Godot4, packet: "<RID>", want: "<RID> 00000000 00000000"},
		{name: "RID loses its id", from: gdwire.Godot4, to: gdwire.Godot3, packet: "<RID> 05000000 00000000", want: "<RID>"},
		{name: "null gets an id", from: gdwire.Godot2, to: gdwire.Godot4, packet: "<Object>", want: "<Object+1> 00000000 00000000"},
		{name: "null loses its id", from: gdwire.Godot4, to: gdwire.Godot2, packet: "<Object+1> 00000000 00000000", want: "<Object>"},
		{name: "id that has no place", from: gdwire.Godot4, to: gdwire.Manual3, packet: "<Object+1> 01000000 00000000", err: gdwire.ErrRange},
		{name: "many math into 32 bits", from: gdwire.Manual3, to: gdwire.Manual3, fromDouble: true, packet: "<Array> 02000000 <Vector2>" + model.F64(1, 2) + "<Vector2>" + model.F64(3, 4), want: "<Array> 02000000 <Vector2>" + model.F32(1, 2) + "<Vector2>" + model.F32(3, 4)},
		{name: "many math into 64 bits", from: gdwire.Manual3, to: gdwire.Manual3, toDouble: true, packet: "<Array> 02000000 <Vector2>" + model.F32(1, 2) + "<Vector2>" + model.F32(3, 4), want: "<Array> 02000000 <Vector2>" + model.F64(1, 2) + "<Vector2>" + model.F64(3, 4)},
		{name: "packed strings get their NUL", from: gdwire.Godot4, to: gdwire.Godot4, packet: "<PackedStringArray> 02000000 04000000 61616161 04000000 62626262", want: "<PackedStringArray> 02000000 05000000 61616161 00000000 05000000 62626262 00000000"},
		{name: "packed string gets its NUL", from: gdwire.Manual4, to: gdwire.Godot4, packet: "<PackedStringArray> 01000000 04000000 61616161", want: "<PackedStringArray> 01000000 05000000 61616161 00000000"},
		{name: "packed string loses its NUL", from: gdwire.Godot4, to: gdwire.Manual4, packet: "<PackedStringArray> 01000000 05000000 61616161 00000000", want: "<PackedStringArray> 01000000 04000000 61616161"},
		{name: "path in its old form", from: gdwire.Godot2, to: gdwire.Manual3, packet: "<NodePath> 01000000 61000000", want: "<NodePath> 01000000 61000000"},
		{name: "path in its old form has no place", from: gdwire.Godot2, to: gdwire.Godot3, packet: "<NodePath> 01000000 61000000", err: gdwire.ErrType},
		{name: "path's property", from: gdwire.Godot2, to: gdwire.Godot4, packet: "<NodePath> 00000080 00000000 02000000 01000000 61000000", want: "<NodePath> 00000080 01000000 00000000 01000000 61000000"},
		{name: "shared bit", from: gdwire.Godot2, to: gdwire.Godot3, packet: "<Array> 00000080", want: "<Array> 00000000"},
		{name: "Image", from: gdwire.Godot2, to: gdwire.Godot4, packet: "<Image> 00000000 00000000 00000000 00000000 00000000", err: gdwire.ErrType},
		{name: "InputEvent", from: gdwire.Godot2, to: gdwire.Godot3, packet: "<InputEvent> 00000000 00000000 0c000000", err: gdwire.ErrType},
		{name: "typed array", from: gdwire.Godot4, to: gdwire.Manual4, packet: "<Array+1> <int> 00000000", err: gdwire.ErrType},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := gdwire.DecoderOptions{Format: c.from, DoubleReals: c.fromDouble}
			got, err := model.Copy(model.Build(t, c.from, c.packet), from, gdwire.EncoderOptions{Format: c.to, DoubleReals: c.toDouble})
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, hex.EncodeToString(model.Build(t, c.to, c.want)), hex.EncodeToString(got))
		})
	}
}

// The length of a packed string is needed before its last chunk shows whether it
// ends in the NUL that engines write. For a format without NULs the string is
// buffered.
func TestConvertLongPackedStrings(t *testing.T) {
	for _, size := range []int{0, 1, 14, 15, 16, 17, 18, 31, 32, 33, 34, 1000} {
		for _, wireNUL := range []bool{true, false} {
			text := strings.Repeat("é", size/2) + strings.Repeat("x", size%2)
			onWire := text
			if wireNUL {
				onWire += "\x00"
			}
			p := packedStrings(gdwire.Godot4, onWire, onWire)
			for _, window := range []int{16, 17, 33, 0} {
				from := gdwire.DecoderOptions{MaxChunk: window}
				for _, f := range gdwire.Formats() {
					got, err := model.Copy(p, from, gdwire.EncoderOptions{Format: f})
					manual := strings.HasPrefix(f.String(), "manual")
					if !wireNUL && manual && window > 0 && len(text) > window+1 {
						require.ErrorIs(t, err, gdwire.ErrCount, "it was counted without its NUL")
						continue
					}
					require.NoError(t, err)
					v, n, err := model.Decode(got, gdwire.DecoderOptions{Format: f})
					require.NoError(t, err, "%x", got)
					require.EqualValues(t, len(got), n)
					require.Equal(t, []string{text, text}, v.Names, "%d bytes, NUL %v, window %d, to %v", size, wireNUL, window, f)
					if wireNUL && f == gdwire.Godot4 {
						require.Equal(t, p, got)
					}
				}
			}
			if wireNUL {
				continue
			}
			p = packedStrings(gdwire.Manual4, text, text)
			for _, window := range []int{16, 17, 33, 0} {
				got := must(model.Copy(p, gdwire.DecoderOptions{Format: gdwire.Manual4, MaxChunk: window}, gdwire.EncoderOptions{Format: gdwire.Godot3}))(t)
				require.Equal(t, packedStrings(gdwire.Godot3, text+"\x00", text+"\x00"), got)
			}
		}
	}
}

func packedStrings(f gdwire.Format, all ...string) []byte {
	b := []byte{byte(slices.Index(model.TypeNames[f.String()], "PackedStringArray")), 0, 0, 0}
	b = le.AppendUint32(b, uint32(len(all)))
	for _, s := range all {
		b = le.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
		b = append(b, make([]byte, -len(s)&3)...)
	}
	return b
}

// All values of one stream are copied into another.
func TestConvertStream(t *testing.T) {
	var in, want []byte
	for _, v := range model.Engines[0].Vectors(t) {
		if v.FullObjects {
			continue
		}
		in = append(in, v.Hex...)
		want = append(want, must(model.Copy(v.Hex, gdwire.DecoderOptions{Format: gdwire.Godot3}, gdwire.EncoderOptions{}))(t)...)
	}
	var out bytes.Buffer
	d := gdwire.NewDecoder(bytes.NewReader(in), &gdwire.DecoderOptions{Format: gdwire.Godot3})
	e := gdwire.NewEncoder(&out, nil)
	for d.PeekKind() != 0 {
		require.NoError(t, gdwire.CopyValue(e, d))
	}
	require.NoError(t, e.Close())
	require.EqualValues(t, len(in), d.InputOffset())
	require.EqualValues(t, len(want), e.OutputOffset())
	require.Equal(t, want, out.Bytes())
}
