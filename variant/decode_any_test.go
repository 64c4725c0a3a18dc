package variant

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestUnmarshalIntoInterface(t *testing.T) {
	kept := &stringer{}
	var v fmt.Stringer = kept
	require.NoError(t, Unmarshal(encoded(t, dict("text", "a"), nil), &v))
	assert.Equal(t, "a", kept.Text)
	require.NoError(t, Unmarshal(encoded(t, nil, nil), &v))
	assert.Nil(t, v)
	var any any = kept
	require.NoError(t, Unmarshal(encoded(t, "b", nil), &any))
	assert.Equal(t, "b", any, "an any is replaced")
	b := must(Marshal(box[fmt.Stringer]{kept}))(t)
	assert.Equal(t, encoded(t, dict("value", dict("text", "a")), nil), b)
}

func TestUnmarshalIntoInterfaceErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		into fmt.Stringer
		wire any
	}{
		{"nil pointer", (*stringer)(nil), 1},
		{"another type", &stringer{}, dict("text", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.ErrorIs(t, Unmarshal(encoded(t, c.wire, nil), &c.into), gdwire.ErrType)
		})
	}
}

// An object without a class is nil.
func TestUnmarshalObjectWithoutClass(t *testing.T) {
	var v any = 1
	packet := []byte{24, 0, 0, 0, 0, 0, 0, 0}
	require.NoError(t, Unmarshal(packet, &v, Options{Decoder: gdwire.DecoderOptions{AllowObjects: true}}))
	require.Nil(t, v)
}

// A set of the key cache evicts a key only if it holds two others.
func TestKeyCacheSets(t *testing.T) {
	sets := map[int][]string{} // by the index of the first key that a cache was given
	for i := range 2000 {
		key := fmt.Sprint("key ", i)
		var k keyCache
		k.intern([]byte(key))
		for at := range k {
			if k[at] != nil {
				sets[at] = append(sets[at], key)
			}
		}
	}
	var k keyCache
	for at, all := range sets {
		if len(all) < 2 {
			continue
		}
		require.Zero(t, at%2)
		k.intern([]byte(all[0]))
		k.intern([]byte(all[1]))
		require.Equal(t, []any{all[1], all[0]}, k[at:at+2])
	}
}

// Dictionaries have the same keys and errors whichever keys the ones before them had.
func TestKnownKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	keys := []any{"a", "b", "id", "position", "a key of 17 bytes", "é", "", int64(1), nil, 1.5, StringName("a"), StringName("c"), NodePath("a"), Vector2{1, 2}}
	random := func(n int) (d *Dictionary, want []Entry[any, any]) {
		d = &Dictionary{}
		merged := &Dictionary{}
		at := r.IntN(3) // most Dictionaries begin with the same keys
		for i := range n {
			e := Entry[any, any]{keys[(at+i)%len(keys)], int64(i)}
			switch {
			case r.IntN(8) == 0:
				e.Key = keys[r.IntN(len(keys))]
			case i >= len(keys):
				e.Key = fmt.Sprint("key ", i)
			}
			d.entries = append(d.entries, e)
			merged.setDecoded(e.Key, e.Value)
		}
		return d, merged.entries
	}
	for range 200 {
		var all []any
		var want [][]Entry[any, any]
		for range 10 {
			d, entries := random(r.IntN(40))
			all, want = append(all, d), append(want, entries)
		}
		packet := encoded(t, all, nil)
		limit := Options{MaxMemory: 1 + r.Int64N(20_000)}
		var errs []string
		s := new(decoder)
		for range 2 { // the second time with the keys of the first
			s.resetBytes(packet, &Options{})
			v := must(s.any())(t)
			for i, x := range v.(*Array).Values {
				require.Equal(t, want[i], x.(*Dictionary).entries)
			}
		}
		for _, s := range []*decoder{s, new(decoder)} {
			s.resetBytes(packet, &limit)
			_, err := s.any()
			errs = append(errs, fmt.Sprint(err))
		}
		require.Equal(t, errs[0], errs[1])
	}
}

// Keys are known up to a depth, and no others are kept.
func TestKnownKeysOfNested(t *testing.T) {
	var v any = "end"
	for range 2 * maxKnownDepth {
		v = dict("a", 1, "next", v, "z", 2, strings.Repeat("long", 1000), nil)
	}
	packet := encoded(t, v, nil)
	s := new(decoder)
	for range 3 {
		s.resetBytes(packet, &Options{})
		got := must(s.any())(t)
		require.Equal(t, packet, encoded(t, got, nil))
	}
	for _, known := range s.known[1:] {
		require.Len(t, known.keys, 4)
		for i, want := range []any{"a", "next", "z", nil} {
			require.Equal(t, want, known.keys[i].key)
		}
	}
}

// After an error, an any holds the parts of containers that were decoded before it.
func TestPartsInAny(t *testing.T) {
	value := func(last ...any) any {
		object := &Object{Class: "A", Properties: []Property{{"first", 1}, {"second", array(append([]any{2}, last...)...)}}}
		return array(1, dict("a", array(2), "b", array(3, object)))
	}
	whole := encoded(t, value("text that is cut"), nil)
	want := value()
	var got any = "before"
	o := Options{Decoder: gdwire.DecoderOptions{AllowObjects: true}}
	require.Error(t, Unmarshal(whole[:len(whole)-4], &got, o))
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(got))
	var s struct{ A, B any }
	require.Error(t, Unmarshal(encoded(t, dict("a", 1, "b", value("text that is cut")), nil)[:len(whole)+20], &s, o))
	require.Equal(t, "1 "+fmt.Sprint(want), fmt.Sprint(s.A, " ", s.B))
	var collecting struct {
		Rest *Dictionary `gd:",embed"`
	}
	require.Error(t, Unmarshal(encoded(t, dict("a", 1, "b", value("text that is cut")), nil)[:len(whole)+20], &collecting, o))
	require.Equal(t, fmt.Sprint(dict("a", 1, "b", want)), fmt.Sprint(collecting.Rest))
}

// A signaling NaN of 32 bits, which no engine writes, becomes a quiet one of 64 bits in an any. In packed
// arrays and in a Raw it stays.
func TestSignalingNaN(t *testing.T) {
	nan := []byte{0x05, 0x00, 0xa0, 0x7f}
	float := append([]byte{3, 0, 0, 0}, nan...)
	quieted := binary.LittleEndian.AppendUint64([]byte{3, 0, 1, 0}, 0x7ffc0000a0000000)
	packed := append([]byte{32, 0, 0, 0, 1, 0, 0, 0}, nan...)
	for _, c := range []struct {
		in, want []byte
		to       any
	}{{float, quieted, new(any)}, {packed, packed, new(any)}, {packed, packed, new([]float32)}, {float, float, new(Raw)}} {
		require.NoError(t, Unmarshal(c.in, c.to))
		got := must(Marshal(c.to))(t)
		require.Equal(t, c.want, got, "%T", c.to)
	}
}
