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
			err := Unmarshal([]byte(b.String()), &v)
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
	require.NoError(t, Unmarshal(old, &v, *godot2))
	require.Equal(t, NodePath("a/b:"), v, "the form that is one string is its text")
}

func TestUnmarshalIntoOwnTypes(t *testing.T) {
	testInto(t, []intoCase{
		{name: "nil into Vector3", wire: nil, want: Vector3{}},
		{name: "nil into Vector3i", wire: nil, want: Vector3i{}},
		{name: "nil into Signal", wire: nil, want: Signal{}},
		{name: "nil into RID", wire: nil, want: RID(0)},
		{name: "nil into ObjectID", wire: nil, want: ObjectID(0)},
		{name: "nil into Callable", wire: nil, want: Callable{}},
		{name: "nil into StringName", wire: nil, want: StringName("")},
		{name: "nil into NodePath", wire: nil, want: NodePath("")},
		{name: "nil into Array", wire: nil, want: Array{}},
		{name: "nil into Dictionary", wire: nil, want: Dictionary{}},
		{name: "nil into Object", wire: nil, want: Object{}},
		{name: "nil into Image", wire: nil, want: Image{}},
		{name: "nil into InputEvent", wire: nil, want: InputEvent{}},
		{name: "String into StringName", wire: "a", want: StringName("a")},
		{name: "String into NodePath", wire: "a", want: NodePath("a")},
	})
}

func TestTypeErrorsOfOwnTypes(t *testing.T) {
	testTypeErrors(t, []typeError{
		{name: "StringName", wire: []string{}, into: new(StringName), err: `offset 0, $: PackedStringArray into Go variant.StringName`, is: gdwire.ErrType},
		{name: "Quaternion into Color", wire: Quaternion{}, into: new(Color), err: `offset 0, $: Quaternion into Go variant.Color`, is: gdwire.ErrType},
		{name: "Vector3i", wire: Vector3{}, into: new(Vector3i), err: `offset 0, $: Vector3 into Go variant.Vector3i`, is: gdwire.ErrType},
		{name: "RID", wire: 1, into: new(RID), err: `offset 0, $: int into Go variant.RID`, is: gdwire.ErrType},
		{name: "ObjectID", wire: 1, into: new(ObjectID), err: `offset 0, $: int into Go variant.ObjectID`, is: gdwire.ErrType},
		{name: "Signal", wire: 1, into: new(Signal), err: `offset 0, $: int into Go variant.Signal`, is: gdwire.ErrType},
		{name: "Callable", wire: 1, into: new(Callable), err: `offset 0, $: int into Go variant.Callable`, is: gdwire.ErrType},
		{name: "Array", wire: 1, into: new(*Array), err: `offset 0, $: int into Go variant.Array`, is: gdwire.ErrType},
	})
}

// The pool does not keep the data of a caller in memory.
func TestUnmarshalForgetsTheData(t *testing.T) {
	s := new(decoder)
	s.resetBytes(encoded(t, 7, nil), new(Options))
	var v int
	require.NoError(t, s.unmarshal(&v))
	kept := s.d
	s.release()
	require.Equal(t, gdwire.ErrClosed, kept.Err())
	require.Empty(t, kept.UnreadBuffer())
}
