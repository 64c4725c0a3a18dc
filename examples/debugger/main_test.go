package main

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/gdwiretest"
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
	send := func(v ...any) { require.NoError(t, variant.Send(game, v)) }
	receives := func(v ...any) {
		var got any
		require.NoError(t, variant.Receive(game, &got))
		gdwiretest.Equal(t, got, v)
	}
	send("set_pid", 1, []any{5})
	for _, tree := range [][]any{{0, "root", "Window", 1, "", 0}, {1, "root", "Window", 1, "", 0, 0, "Main", "Node", 3, "", 0}} {
		receives("scene:request_scene_tree", 1, []any{})
		send("scene:scene_tree", 1, tree)
	}
	receives("scene:set_object_property", 1, []any{3, "hp", 7})
	require.NoError(t, game.Close())
	require.NoError(t, <-ended)
}
