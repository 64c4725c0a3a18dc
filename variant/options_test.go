package variant

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestTypeErrorMessages(t *testing.T) {
	number := reflect.TypeFor[int8]()
	for _, c := range []struct {
		name string
		err  TypeError
		want string
	}{
		{"wrong type", TypeError{Type: gdwire.TypeArray, Go: number, Err: gdwire.ErrType}, "Array into Go int8"},
		{"wrong type of a field", TypeError{Type: gdwire.TypeArray, Go: number, Field: "Player.HP", Err: gdwire.ErrType}, "Array into Go int8 (Player.HP)"},
		{"range", TypeError{Type: gdwire.TypeInt, Go: number, Err: gdwire.ErrRange}, "int into Go int8: out of range"},
		{"range of a field", TypeError{Type: gdwire.TypeInt, Go: number, Field: "Player.HP", Err: gdwire.ErrRange}, "int into Go int8 (Player.HP): out of range"},
		{"encoding", TypeError{Go: number, Err: gdwire.ErrUTF8}, "Go int8: invalid UTF-8"},
		{"wrapped wrong type", TypeError{Go: number, Err: fmt.Errorf("%w: key", gdwire.ErrType)}, "Go int8: wrong type: key"},
		{"duplicate key", TypeError{Go: number, Err: ErrDuplicateKey}, "Go int8: duplicate key"},
		{"unknown key", TypeError{Go: number, Err: ErrUnknownKey}, "Go int8: unknown key"},
		{"struct without a name", TypeError{Go: reflect.TypeFor[struct{ A, B int }](), Err: ErrMissingKey}, "Go struct: missing key"},
		{"depth", TypeError{Go: number, Err: depthError()}, "Go int8: value inside 10001 containers exceeds limit Depth (10000)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.EqualError(t, &c.err, c.want)
			require.Equal(t, c.err.Err, errors.Unwrap(&c.err))
		})
	}
}

// The innermost field is kept.
func TestInField(t *testing.T) {
	inner := &TypeError{Err: gdwire.ErrType}
	err := withField(withField(fmt.Errorf("offset 5: %w", inner), "Player.HP"), "Save.Player")
	require.Equal(t, "Player.HP", inner.Field)
	require.ErrorIs(t, err, gdwire.ErrType)
	require.Equal(t, errDisk, withField(errDisk, "Player.HP"))
	require.NoError(t, withField(nil, "Player.HP"))
}

// Calls merge several Options, and allocate nothing for one.
func TestSeveralOptions(t *testing.T) {
	require.Equal(t, &Options{}, optionsOf(nil))
	o := []Options{{MaxMemory: 5}}
	require.Same(t, &o[0], optionsOf(o))

	float := Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}
	double := Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}}
	want := encoded(t, Vector2{1, 2}, &float)
	b, err := Marshal(Vector2{1, 2}, Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot4}}, float, double, Options{})
	require.NoError(t, err)
	require.Equal(t, want, b, "Godot3 does not have 64 bits")
	b, err = Marshal(Vector2{1, 2}, double, Options{MaxMemory: 5})
	require.NoError(t, err)
	require.Equal(t, encoded(t, Vector2{1, 2}, &double), b)

	// The defaults of a program, and those of a call.
	defaults := Options{Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Elements: 2}}, RejectUnknown: true}
	var list []int
	packet := encoded(t, []int{1, 2, 3}, nil)
	require.ErrorIs(t, Unmarshal(packet, &list, defaults, Options{Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Depth: 1}}}), gdwire.ErrLimit)
	require.NoError(t, Unmarshal(packet, &list, defaults, Options{Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Elements: -1}}}))
}
