package variant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestRawConverts(t *testing.T) {
	b := encoded(t, dict("a", Vector3{1, 2, 3}), godot3)
	var raw Raw
	require.NoError(t, Unmarshal(b, &raw, *godot3))
	require.Equal(t, gdwire.Godot3, raw.Format)
	require.Equal(t, encoded(t, dict("a", Vector3{1, 2, 3}), nil), encoded(t, raw, nil))
	require.Equal(t, encoded(t, nil, nil), encoded(t, Raw{}, nil))
	require.Equal(t, encoded(t, 5, nil), encoded(t, Raw{Data: encoded(t, 5, nil)}, nil))
	var list []Raw
	require.NoError(t, Unmarshal(encoded(t, array(1, "a", array(2)), nil), &list))
	require.Equal(t, encoded(t, array(2), nil), list[2].Data)
	var keyed struct{ Data map[string]Raw }
	require.NoError(t, Unmarshal(encoded(t, dict("data", dict("x", 5)), nil), &keyed))
	require.Equal(t, encoded(t, 5, nil), keyed.Data["x"].Data)
}

func TestMarshalNilPointers(t *testing.T) {
	b := encoded(t, struct {
		D *Dictionary
		A *Array
		O *Object
	}{}, nil)
	require.Equal(t, encoded(t, dict("d", nil, "a", nil, "o", nil), nil), b)
	require.Equal(t, encoded(t, array(nil, nil), nil), encoded(t, []any{(*Dictionary)(nil), (*Array)(nil)}, nil))
}

// The pool does not keep the slice of a caller in memory.
func TestMarshalForgetsTheSlice(t *testing.T) {
	s := new(encoder)
	s.resetBytes(new(Options), make([]byte, 0, 100))
	require.NoError(t, s.e.WriteInt(7))
	kept := s.e
	s.release()
	require.Nil(t, kept.Bytes())
	require.Equal(t, gdwire.ErrClosed, kept.WriteInt(7))
}
