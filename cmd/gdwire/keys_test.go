package main

import (
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/stretchr/testify/require"
)

// A key is a step of a path if it is short and of a type that paths have.
func TestKeyStep(t *testing.T) {
	long := strings.Repeat("k", maxKey+1)
	for _, row := range []struct {
		name string
		key  []byte
		want string // the step, or "" if the key is too long or of another type
	}{
		{"String", wire(4, "name"), ".name"},
		{"String with a space", wire(4, "a name"), `["a name"]`},
		{"StringName", wire(21, "name"), `[&"name"]`},
		{"int", wire(2, 7), "[7]"},
		{"Vector2i", wire(6, 1, 2), "[Vector2i(1, 2)]"},
		{"NodePath", wire(22, uint32(0x80000001), 1, 1, "a", "b"), `[^"/a:b"]`},
		{"empty absolute NodePath", wire(22, uint32(0x80000000), 0, 1), `[^"/"]`},
		{"long String", wire(4, long), ""},
		{"long NodePath", wire(22, uint32(0x80000001), 0, 0, long), ""},
		{"Array", wire(28, 0), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := gdwire.NewDecoder(nil, nil)
			defer d.Release()
			d.ResetBytes(row.key)
			tok, err := d.ReadToken()
			require.NoError(t, err)
			called := false
			step, ok, err := keyStep(d, tok, make([]float64, 0, 16), func(*nodePathReader, []byte) error {
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
