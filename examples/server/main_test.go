package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// dial connects to a server of WebSockets. stream.Dial connects to the others.
func dial(ctx context.Context, url string) (*stream.Conn, error) {
	ws, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	return stream.NewMessageConn(ctx, stream.WebSocket(ws, websocket.CloseStatus), nil), nil
}

// A client that is connected by a WebSocket.
func Example_dial() {
	s := &stream.Server{Handler: handle}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ws, err := websocket.Accept(w, r, nil); err == nil {
			s.ServeMessages(r.Context(), stream.WebSocket(ws, websocket.CloseStatus))
		}
	}))
	defer web.Close()
	defer s.Close()

	c, err := dial(context.Background(), web.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	m := message{Name: "Ada", Value: variant.Vector2{X: 1, Y: 2.5}}
	if err := errors.Join(variant.Send(c, m), variant.Receive(c, &m)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(m)
	// Output: {hello, Ada Vector2(1.0, 2.5)}
}

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
func TestUnusedConnections(t *testing.T) {
	for name, request := range map[string]string{
		"nothing sent":           "",
		"part of a request":      "GET / HTTP/1.1\r\nHost: a\r\n",
		"kept alive":             "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"a body that never ends": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &http.Server{Handler: http.NotFoundHandler(), ReadTimeout: upgrades.ReadTimeout}
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

// A WebSocket outlives the timeout of its request.
func TestUsedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stream.Server{Handler: handle}
		accept := func(w http.ResponseWriter, r *http.Request) {
			if ws, err := websocket.Accept(w, r, nil); err == nil {
				s.ServeMessages(r.Context(), stream.WebSocket(ws, websocket.CloseStatus))
			}
		}
		h := &http.Server{Handler: http.HandlerFunc(accept), ReadTimeout: upgrades.ReadTimeout, ConnContext: upgrades.ConnContext}
		l := make(pipeListener)
		defer func() { _ = h.Close() }()
		defer close(l)
		go func() { _ = h.Serve(l) }()
		dialer := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			l <- server
			return client, nil
		}}}
		pings := 0
		ws, _, err := websocket.Dial(t.Context(), "ws://game/", &websocket.DialOptions{HTTPClient: dialer, OnPingReceived: func(context.Context, []byte) bool {
			pings++
			return true
		}})
		require.NoError(t, err)
		c := stream.NewMessageConn(t.Context(), stream.WebSocket(ws, websocket.CloseStatus), nil)
		for range 2 {
			require.NoError(t, variant.Send(c, message{Name: "Ada"}))
			var m message
			require.NoError(t, variant.Receive(c, &m))
			require.Equal(t, "hello, Ada", m.Name)
			time.Sleep(14 * time.Second) // of the bubble, before the first ping
		}
		go func() { _ = variant.Receive(c, new(message)) }()
		time.Sleep(2 * time.Minute)
		require.EqualValues(t, 1, s.Stats().Conns)
		require.GreaterOrEqual(t, pings, 3)
		require.NoError(t, c.Close())
		require.NoError(t, s.Shutdown(t.Context()))
	})
}

// Pings are no packets, but count as bytes.
func TestPingFlood(t *testing.T) {
	s := &stream.Server{Handler: handle, ByteRate: 1, ByteBurst: 1000, Logger: slog.New(slog.DiscardHandler)}
	accept := func(w http.ResponseWriter, r *http.Request) {
		if ws, err := websocket.Accept(w, r, nil); err == nil {
			s.ServeMessages(r.Context(), stream.WebSocket(ws, websocket.CloseStatus))
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := &http.Server{Handler: http.HandlerFunc(accept), ConnContext: upgrades.ConnContext}
	defer h.Close()
	go func() { _ = h.Serve(stream.WebSocketListener(ln)) }()
	ws, _, err := websocket.Dial(t.Context(), "ws://"+ln.Addr().String(), nil)
	require.NoError(t, err)
	ctx := ws.CloseRead(t.Context())
	pings := 0
	for ws.Ping(ctx) == nil {
		pings++
	}
	require.InDelta(t, 130, pings, 20) // of 7 to 9 bytes
	require.NoError(t, s.Shutdown(t.Context()))
	require.EqualValues(t, 1, s.Stats().TooFast)
}

// TestStatus shows the connections of a server and its metrics, and closes a connection.
func TestStatus(t *testing.T) {
	s := &stream.Server{Handler: handle}
	web := httptest.NewServer(status(s))
	defer web.Close()
	get := func(path string) string {
		r, err := http.Get(web.URL + path)
		require.NoError(t, err)
		defer r.Body.Close()
		require.Equal(t, http.StatusOK, r.StatusCode)
		b, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return string(b)
	}
	ours, theirs := net.Pipe()
	go s.ServeConn(stream.NewConn(context.Background(), ours, nil))
	c := stream.NewConn(context.Background(), theirs, nil)
	var m message
	for range 3 {
		require.NoError(t, variant.Send(c, message{Name: "Ada"}))
		require.NoError(t, variant.Receive(c, &m))
	}
	require.Equal(t, "hello, Ada", m.Name)
	require.Contains(t, get("/"), "<td>pipe<td>")
	for _, line := range []string{"gdwire_connections 1", "gdwire_packets_out_total 3", "gdwire_handler_seconds_count 3",
		"gdwire_first_packet_seconds_count 1", `gdwire_packet_bytes_bucket{le="64"} 3`} {
		require.Eventually(t, func() bool { // when the handler waits for a packet
			return strings.Contains(get("/metrics"), "\n"+line+"\n")
		}, time.Minute, time.Millisecond, line)
	}

	// A page of another site, by its own name or by one that leads here.
	form := strings.NewReader(url.Values{"addr": {"pipe"}}.Encode())
	for name, change := range map[string]func(r *http.Request){
		"origin": func(r *http.Request) { r.Header.Set("Origin", "https://example.org") },
		"host":   func(r *http.Request) { r.Host = "example.org:7779" },
	} {
		r, err := http.NewRequest(http.MethodPost, web.URL+"/close", form)
		require.NoError(t, err)
		change(r)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusForbidden, answer.StatusCode, name)
		answer.Body.Close()
	}
	require.NoError(t, variant.Send(c, message{Name: "Bob"}))
	require.NoError(t, variant.Receive(c, &m))
	r, err := http.PostForm(web.URL+"/close", url.Values{"addr": {"pipe"}})
	require.NoError(t, err)
	r.Body.Close()
	require.Equal(t, io.EOF, variant.Receive(c, &m))
	require.NoError(t, s.Shutdown(t.Context()))
}
