package text

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// A key is a step of a path if it is short and of a type that paths have.
func TestKeyStep(t *testing.T) {
	longest := strings.Repeat("k", MaxKey)
	long := longest + "k"
	for _, row := range []struct {
		name string
		key  []byte
		want string // the step, or "" if the key is too long or of another type
	}{
		{"String", encode(4, "name"), ".name"},
		{"String with a space", encode(4, "a name"), `["a name"]`},
		{"StringName", encode(21, "name"), `[&"name"]`},
		{"int", encode(2, 7), "[7]"},
		{"Vector2i", encode(6, 1, 2), "[Vector2i(1, 2)]"},
		{"NodePath", encode(22, uint32(0x80000001), 1, 1, "a", "b"), `[^"/a:b"]`},
		{"empty absolute NodePath", encode(22, uint32(0x80000000), 0, 1), `[^"/"]`},
		{"NodePath with a separator in a name", encode(22, uint32(0x80000001), 0, 1, "a/b"), ""},
		{"NodePath with a separator in a sub-name", encode(22, uint32(0x80000001), 2, 0, "a", "b:c", "d"), ""},
		{"NodePath with a slash in a sub-name", encode(22, uint32(0x80000001), 1, 0, "a", "b/c"), `[^"a:b/c"]`},
		{"NodePath with an empty name", encode(22, uint32(0x80000001), 0, 1, ""), ""},
		{"longest String", encode(4, longest), "." + longest},
		{"longest NodePath", encode(22, uint32(0x80000001), 0, 0, longest), `[^"` + longest + `"]`},
		{"long String", encode(4, long), ""},
		{"long NodePath", encode(22, uint32(0x80000001), 0, 0, long), ""},
		{"Array", encode(28, 0), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := gdwire.NewDecoder(nil, nil)
			defer d.Release()
			d.ResetBytes(row.key)
			tok := testenv.Must(d.ReadToken())(t)
			called := false
			step, ok, err := KeyStep(d, tok, make([]float64, 0, 16), func(*NodePathReader, []byte) error {
				called = true
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, row.want != "", ok)
			require.Equal(t, !ok, called)
			if ok {
				require.Equal(t, row.want, string(step.Append(nil)))
			}
		})
	}
}

// Two keys of a Dictionary that differ have different paths.
func TestNodePathKeysDiffer(t *testing.T) {
	seen := map[string][]byte{}
	names := []string{"", "a", "b", "a/b", "a:b", "/", ":"}
	for flags := range 2 {
		for _, a := range names {
			for _, b := range names {
				for subnames := range 3 {
					key := encode(22, uint32(0x80000000)|uint32(2-subnames), subnames, flags, a, b)
					d := gdwire.NewDecoder(nil, nil)
					d.ResetBytes(key)
					tok := testenv.Must(d.ReadToken())(t)
					step, ok, err := KeyStep(d, tok, nil, func(*NodePathReader, []byte) error { return nil })
					require.NoError(t, err)
					if ok {
						text := string(step.Append(nil))
						require.Nil(t, seen[text], text)
						seen[text] = key
					}
					d.Release()
				}
			}
		}
	}
	require.Greater(t, len(seen), 20)
}

// Two float keys that differ have different paths. Keys of 32 and of 64 bits with the same
// value do not differ.
func TestFloatKeysDiffer(t *testing.T) {
	seen := map[string]float64{}
	add := func(key []byte) {
		d := gdwire.NewDecoder(nil, nil)
		defer d.Release()
		d.ResetBytes(key)
		tok := testenv.Must(d.ReadToken())(t)
		long := false
		step, ok, err := KeyStep(d, tok, nil, func(*NodePathReader, []byte) error {
			long = true
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, !ok, long)
		if !ok {
			require.True(t, tok.Float() != tok.Float())
			return
		}
		text := string(step.Append(nil))
		other, found := seen[text]
		require.True(t, !found || math.Float64bits(other) == math.Float64bits(tok.Float()), "%s is %x and %x", text, other, tok.Float())
		seen[text] = tok.Float()
		p := testenv.Must(Parse("$" + text))(t)
		require.Equal(t, math.Float64bits(tok.Float()), math.Float64bits(p.Steps[0].Key.Numbers[0]), text)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, x := range []float64{0, math.Copysign(0, -1), 1, 0.1, 1e15, 1e16, 1e21, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, x := range []float64{x, math.Nextafter(x, 2), math.Nextafter(x, -2)} {
			add(binary.LittleEndian.AppendUint64(encode(0x10003), math.Float64bits(x)))
			add(binary.LittleEndian.AppendUint32(encode(3), math.Float32bits(float32(x))))
		}
	}
	for range 1000 {
		add(binary.LittleEndian.AppendUint64(encode(0x10003), r.Uint64()))
		add(binary.LittleEndian.AppendUint32(encode(3), r.Uint32()))
		add(binary.LittleEndian.AppendUint64(encode(0x10003), 0x7FF8<<48|r.Uint64N(3))) // NaN
		add(binary.LittleEndian.AppendUint32(encode(3), 0x7FC0<<16|r.Uint32N(3)))
	}
	require.Contains(t, seen, "[nan]")
}

// encode encodes its parts: a number as 32 bits, and a string as length, text and padding.
func encode(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = binary.LittleEndian.AppendUint32(b, uint32(p))
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, p)
		case string:
			b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
			b = append(b, p...)
			for len(b)%4 != 0 {
				b = append(b, 0)
			}
		}
	}
	return b
}
