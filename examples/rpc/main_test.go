package main

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A pipeListener accepts connections of a bubble.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l pipeListener) Close() error   { return nil }
func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// A connection that no WebSocket uses is closed, whatever its request was.
func TestRPCUnusedConnections(t *testing.T) {
	for name, request := range map[string]string{
		"nothing sent":           "",
		"part of a request":      "GET / HTTP/1.1\r\nHost: a\r\n",
		"kept alive":             "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"a body that never ends": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newServer("")
				l := make(pipeListener)
				defer func() { _ = h.Close() }()
				defer close(l)
				go func() { _ = h.Serve(l) }()
				client, server := net.Pipe()
				l <- server
				require.NoError(t, client.SetDeadline(time.Now().Add(time.Minute)))
				go func() { _, _ = io.Copy(client, strings.NewReader(request)) }()
				_, err := io.ReadAll(client) // the answer
				require.NoError(t, err, "closed in a minute")
			})
		})
	}
}
