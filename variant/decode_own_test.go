package variant

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// A NodePath that cannot be read back from its text cannot be decoded to text.
func TestNodePaths(t *testing.T) {
	for _, c := range []struct {
		name            string
		names, subnames []string
		absolute        bool
		text            string
		bad             bool
	}{
		{name: "empty", text: ""},
		{name: "root", absolute: true, text: "/"},
		{name: "names", names: []string{"a", "b"}, absolute: true, text: "/a/b"},
		{name: "names and sub-names", names: []string{"a"}, subnames: []string{"b", "c/d"}, text: "a:b:c/d"},
		{name: "sub-name", subnames: []string{"b"}, text: ":b"},
		{name: "sub-name of the root", subnames: []string{"b"}, absolute: true, text: "/:b"},
		{name: "slash in a name", names: []string{"a/b"}, bad: true},
		{name: "colon in a name", names: []string{"a:b"}, bad: true},
		{name: "empty name", names: []string{""}, bad: true},
		{name: "colon in a sub-name", subnames: []string{"a:b"}, bad: true},
		{name: "empty sub-name", subnames: []string{""}, bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			e := gdwire.NewEncoder(&b, nil)
			require.NoError(t, e.BeginNodePath(len(c.names), len(c.subnames), c.absolute))
			for _, name := range append(c.names, c.subnames...) {
				require.NoError(t, e.WriteString(name))
			}
			require.NoError(t, e.End())
			require.NoError(t, e.Close())
			var v any
			err := Unmarshal([]byte(b.String()), &v, nil)
			if c.bad {
				require.ErrorIs(t, err, gdwire.ErrRange, c)
				return
			}
			require.NoError(t, err)
			require.Equal(t, NodePath(c.text), v)
			require.Equal(t, b.String(), string(encoded(t, v, nil)))
		})
	}
	old := []byte{16, 0, 0, 0, 4, 0, 0, 0, 'a', '/', 'b', ':'}
	var v any
	require.NoError(t, Unmarshal(old, &v, godot2))
	require.Equal(t, NodePath("a/b:"), v, "the form that is one string is its text")
}
