package variant

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Nothing that a target shares is read into twice: elements that a program moved, fields that are
// parts of one slice, and values of maps.
func TestSharedMemory(t *testing.T) {
	type tagged struct{ Tags []int }
	moved := []tagged{{[]int{7}}, {[]int{8}}, {[]int{9}}}
	moved[0] = moved[2]
	moved = moved[:2]
	require.NoError(t, Unmarshal(encoded(t, array(dict("tags", []int64{1}), dict("tags", []int64{2}), dict("tags", []int64{3})), nil), &moved))
	require.Equal(t, []tagged{{[]int{1}}, {[]int{2}}, {[]int{3}}}, moved)

	all := []int{1, 2, 3, 4}
	parts := struct{ A, B, C []int }{all[:1], all[1:2], all[3:]}
	require.NoError(t, Unmarshal(encoded(t, dict("a", array(5, 6), "b", array(7), "c", array()), nil), &parts))
	require.Equal(t, []int{5, 6}, parts.A)
	require.Equal(t, []int{7}, parts.B)
	require.Equal(t, []int{}, parts.C)
	require.Same(t, &all[0], &parts.A[0])

	for _, wire := range []any{dict("a", []int64{5}, "b", []int64{6}), dict("a", array(5), "b", array(6))} {
		one := make([]int64, 1) // with room for no more
		same := struct{ A, B []int64 }{one, one}
		require.NoError(t, Unmarshal(encoded(t, wire, nil), &same))
		require.Equal(t, []int64{5}, same.A)
		require.Equal(t, []int64{6}, same.B)
	}

	var array4 struct {
		A [4]int
		S []int
	}
	array4.S = array4.A[1:]
	require.NoError(t, Unmarshal(encoded(t, dict("a", array(1, 2, 3, 4), "s", array(5, 6)), nil), &array4))
	require.Equal(t, [4]int{1, 2, 3, 4}, array4.A)
	require.Equal(t, []int{5, 6}, array4.S)

	type pointed struct {
		P *[2]int
		S []int
		Q *int
	}
	pair := &[2]int{7, 8}
	for _, p := range []pointed{{P: pair, S: pair[1:]}, {P: pair, S: pair[:], Q: &pair[0]}, {S: pair[:], Q: &pair[1]}} {
		for _, wire := range []any{
			dict("p", array(1, 2), "s", array(5, 6), "q", 9),
			dict("s", []int64{5, 6}, "p", array(1, 2), "q", 9),
		} {
			before := p
			require.NoError(t, Unmarshal(encoded(t, wire, nil), &before))
			if p.Q == nil || p.P == nil { // otherwise two pointers lead to one variable
				require.Equal(t, pointed{&[2]int{1, 2}, []int{5, 6}, ptr(9)}, before)
			}
			require.Equal(t, []int{5, 6}, before.S)
		}
	}

	many := map[string][]int{}
	values := &Dictionary{}
	want := map[string][]int{}
	for i := range 2 * maxReused {
		key := string(rune('a' + i))
		many[key] = make([]int, 1)
		values.Set(key, array(i))
		want[key] = []int{i}
	}
	require.NoError(t, Unmarshal(encoded(t, values, nil), &many))
	require.Equal(t, want, many)

	old := ptr("old")
	pointers := [2]*string{old, old}
	require.NoError(t, Unmarshal(encoded(t, []string{"a", "b"}, nil), &pointers))
	require.Equal(t, [2]*string{ptr("a"), ptr("b")}, pointers)
	require.Equal(t, "old", *old)
}
