package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
	"github.com/stretchr/testify/require"
)

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
