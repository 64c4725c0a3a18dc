package main

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
)

// A client that names no room is closed.
func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		s := &stream.Server{Handler: newHub().handle, Options: stream.Options{IdleTimeout: -1}}
		go s.ServeConn(stream.NewConn(t.Context(), ours, nil))
		require.NoError(t, theirs.SetDeadline(time.Now().Add(time.Minute)))
		_, err := theirs.Read(make([]byte, 1))
		require.EqualError(t, err, "EOF")
		require.NoError(t, s.Shutdown(t.Context()))
	})
}
