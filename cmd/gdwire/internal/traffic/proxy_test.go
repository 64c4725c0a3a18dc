package traffic

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// A testProxy forwards to nobody.
type testProxy struct {
	*proxyServer
	out, errs bytes.Buffer
}

func newTestProxy(o *proxyFlags) *testProxy {
	p := &testProxy{}
	s := shell.NewStdio(nil, &p.out, &p.errs)
	p.proxyServer = &proxyServer{Stdio: s, options: o, end: func() {}, remaining: -1}
	p.framing.known = save.Known{Format: true, Frame: true}
	p.framing.Decoder.Format, p.framing.Frame, p.framing.webSocket = gdwire.Godot4, save.U32, o.webSocket
	p.start()
	return p
}

// direction returns one of the directions, from a connection.
func (p *testProxy) direction(from net.Conn, to io.WriteCloser) *direction {
	d := &direction{proxyServer: p.proxyServer, number: 1, way: 1, from: from, input: from, to: &endingConn{WriteCloser: to}}
	d.out = directSender(d.deliver)
	return d
}

// An endingConn writes to a WriteCloser, which CloseWrite closes.
type endingConn struct {
	net.Conn
	io.WriteCloser
}

func (c *endingConn) Write(b []byte) (int, error) { return c.WriteCloser.Write(b) }
func (c *endingConn) Close() error                { return nil }
func (c *endingConn) CloseWrite() error           { return c.WriteCloser.Close() }

// The end of a stream is forwarded before its packets are shown.
func TestProxyEndFirst(t *testing.T) {
	p := newTestProxy(&proxyFlags{})
	client, from := net.Pipe()
	server, to := io.Pipe()
	var forwarding sync.WaitGroup
	p.lines.mu.Lock() // nothing is shown
	forwarding.Go(func() { p.direction(from, to).forward(t.Context()) })
	sent := cmdtest.Framed(cmdtest.Wire(2, 5), cmdtest.Wire(4, "two"))
	go func() {
		_, _ = client.Write(sent)
		_ = client.Close()
	}()
	got := testenv.Must(io.ReadAll(server))(t)
	require.Equal(t, sent, got)
	p.lines.mu.Unlock()
	forwarding.Wait()
	p.lines.close()
	<-p.lines.done
	require.Equal(t, 2, strings.Count(p.out.String(), "\n"), &p.out)
	require.Zero(t, p.held.used.Load())
}

// 40 connections that each begin a large packet take no more than the bound together. They are forwarded, and shown if
// they fit; with a filter, which needs whole packets, those that do not fit are closed.
func TestProxyBound(t *testing.T) {
	const conns, size = 40, 1 << 20
	packet := cmdtest.Framed(cmdtest.Wire(29, size, make([]byte, size)))
	messages := append([]byte(cmdtest.UpgradeResponse), cmdtest.WebSocketMessage(false, 2, packet[4:size/2], packet[size/2:])...)
	for name, c := range map[string]struct {
		options proxyFlags
		sent    []byte
	}{
		"packets":  {sent: packet},
		"messages": {sent: messages, options: proxyFlags{webSocket: true}},
		"filter":   {sent: packet, options: proxyFlags{dropInvalid: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newTestProxy(&c.options)
				var forwarding sync.WaitGroup
				var got [conns]bytes.Buffer
				var clients [conns]net.Conn
				for i := range clients {
					var from net.Conn
					clients[i], from = net.Pipe()
					forwarding.Go(func() { p.direction(from, writeCloser{&got[i]}).forward(t.Context()) })
				}
				for i := range clients {
					go func() { _, _ = clients[i].Write(c.sent[:len(c.sent)-1]) }()
				}
				synctest.Wait()
				require.LessOrEqual(t, p.held.used.Load(), p.held.max)
				require.Greater(t, p.held.used.Load(), p.held.max-2*size)
				for i := range clients {
					go func() {
						_, _ = clients[i].Write(c.sent[len(c.sent)-1:])
						_ = clients[i].Close()
					}()
				}
				forwarding.Wait()
				require.Zero(t, p.held.used.Load())
				p.lines.close()
				<-p.lines.done
				shown := strings.Count(p.out.String(), "\n")
				require.Positive(t, shown)
				require.Less(t, shown, conns)
				if c.options.dropInvalid {
					require.Equal(t, conns-shown, strings.Count(p.errs.String(), errFull.Error()+"; the connection is closed\n"))
					return
				}
				for i := range got {
					require.True(t, bytes.Equal(c.sent, got[i].Bytes()))
				}
				require.EqualValues(t, conns, p.packets[1])
				require.Regexp(t, "gdwire: … [0-9]+ packets \\([0-9.]+ MB\\) not shown\n", p.errs.String())
			})
		})
	}
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }
