package main

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// The program asks for the tree, sets a property, and ends when the game does.
func TestDebug(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	ended := make(chan error, 1)
	go func() { ended <- debug(t.Context(), ln, []string{"Main", "hp", "7"}) }()
	conn, err := net.Dial("tcp", ln.Addr().String())
	require.NoError(t, err)
	game := stream.NewConn(t.Context(), conn, nil)
	defer game.Close()
	send := func(v ...any) {
		b, err := variant.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, game.WriteRaw(b))
	}
	receive := func() (v any) {
		b, err := game.NextRaw(nil)
		require.NoError(t, err)
		require.NoError(t, variant.Unmarshal(b, &v))
		return v
	}
	list := func(v ...any) *variant.Array { return &variant.Array{Values: v} }
	send("set_pid", 1, []any{5})
	for _, tree := range [][]any{{0, "root", "Window", 1, "", 0}, {1, "root", "Window", 1, "", 0, 0, "Main", "Node", 3, "", 0}} {
		require.Equal(t, list("scene:request_scene_tree", int64(1), list()), receive())
		send("scene:scene_tree", 1, tree)
	}
	require.Equal(t, list("scene:set_object_property", int64(1), list(int64(3), "hp", int64(7))), receive())
	require.NoError(t, game.Close())
	require.NoError(t, <-ended)
}
