package variant

import (
	"fmt"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	b, err := Marshal(box[fmt.Stringer]{kept})
	require.NoError(t, err)
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
