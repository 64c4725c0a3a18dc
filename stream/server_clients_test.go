package stream_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

// TestManyClients connects valid clients, engines among them, and invalid ones to one server
// at the same time. The valid ones get every answer, and no goroutine or memory remains.
func TestManyClients(t *testing.T) {
	nothingLeft := leftovers(t)
	t.Run("hammer", func(t *testing.T) {
		port := serve(t, &stream.Options{
			Format: gdwire.Godot3, MaxPacket: 2 << 20, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		}, func(c *stream.Conn) error {
			_ = echo(c, false)
			return nil
		})
		var good, bad sync.WaitGroup
		over := make(chan struct{}) // the valid clients have ended
		for i := range 50 {
			good.Go(func() { assert.NoError(t, goodClient(port, i), "client %d", i) })
		}
		for i := range 30 {
			bad.Go(func() { assert.NoError(t, badClient(port, i, over), "bad client %d", i) })
		}
		if _, err := exec.LookPath("godot3-server"); err == nil {
			for i := range 4 {
				mode := []string{"put_var", "packet_stream"}[i%2]
				good.Go(func() {
					t.Log(summary(engine(t, "echo.gd", []string{"PORT=" + port, "MODE=" + mode, "ROUNDS=10"})))
				})
			}
		} else {
			t.Log("godot3-server is not installed, so no engine takes part")
		}
		good.Wait()
		close(over)
		bad.Wait()
	})
	nothingLeft()
}

// goodClient sends packets of all sizes while it receives the answers.
func goodClient(port string, seed int) error {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	o := &stream.Options{Format: gdwire.Godot3}
	text := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), (seed*7919+i*i*i)%40_000) }
	const packets = 100

	sent := make(chan error, 1)
	go func() {
		w := stream.NewWriter(conn, o)
		for i := range packets {
			err := w.WritePacket(func(e *gdwire.Encoder) error {
				_ = e.BeginArray(3)
				_ = e.WriteInt(int64(seed))
				_ = e.WriteInt(int64(i))
				_ = e.WriteString(text(i))
				return e.End()
			})
			if err != nil {
				sent <- err
				return
			}
		}
		sent <- conn.(*net.TCPConn).CloseWrite()
	}()
	err = func() error {
		r := stream.NewReader(conn, o)
		for i := range packets {
			d, err := r.Next()
			if err != nil {
				return err
			}
			_, _ = d.ReadToken()
			who, _ := d.ReadToken()
			which, err := d.ReadToken()
			if err != nil || who.Int() != int64(seed) || which.Int() != int64(i) {
				return fmt.Errorf("answer %d: %v %v, %w", i, who, which, err)
			}
			if _, err := d.ReadToken(); err != nil {
				return err
			}
			s, err := d.AppendString(nil)
			if err != nil || string(s) != text(i) {
				return fmt.Errorf("answer %d: %d bytes, %w", i, len(s), err)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			return fmt.Errorf("instead of the end: %w", err)
		}
		return nil
	}()
	if err != nil {
		conn.Close()
	}
	if sendErr := <-sent; err == nil {
		err = sendErr
	}
	return err
}

// badClient sends garbage, a part of a packet or a false length, or stops inside a packet
// and stays connected until over is closed.
func badClient(port string, seed int, over <-chan struct{}) error {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	random := rand.NewChaCha8([32]byte{byte(seed)})
	garbage := make([]byte, 50_000)
	_, _ = random.Read(garbage)
	packet := func(length int64, b []byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(length)), b...)
	}
	var out []byte
	stall := false
	switch seed % 6 {
	case 0: // no packets
		out = garbage
	case 1: // invalid packets
		for range 20 {
			n := int(random.Uint64() % 2000)
			out = append(out, packet(int64(n), garbage[:n])...)
		}
	case 2: // a part of a packet
		out = packet(40_000, garbage[:20_000])
	case 3: // a packet that is too long
		out = packet(1<<31, garbage)
	case 4: // a packet without an end
		out, stall = packet(1000, []byte{4, 0, 0, 0}), true
	case 5: // an array of 2^31 elements, then half a length
		out = append(packet(12, []byte{19, 0, 0, 0, 255, 255, 255, 127, 0, 0, 0, 0}), 1, 2)
	}
	_, _ = conn.Write(out) // the server may close the connection
	if stall {
		<-over
		return nil
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	_, err = io.Copy(io.Discard, conn)
	if n, ok := err.(net.Error); ok && n.Timeout() {
		return err
	}
	return nil
}

func TestGarbageThenGood(t *testing.T) {
	port := serve(t, nil, func(c *stream.Conn) error { return echo(c, false) })
	conn := must(net.Dial("tcp", "127.0.0.1:"+port))(t)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	var out []byte
	for _, b := range [][]byte{{}, {200, 0, 0, 0}, {1, 0}, bytes.Repeat([]byte{28, 0, 0, 0, 1, 0, 0, 0}, 20_000)} {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), b...)
		out = append(out, 8, 0, 0, 0, 2, 0, 0, 0, byte(len(b)), 0, 0, 0)
	}
	go func() { _, _ = conn.Write(out) }()
	r := stream.NewReader(conn, nil)
	for _, want := range []int64{0, 4, 2, 160_000 & 0xFF} {
		d := must(r.Next())(t)
		tok, err := d.ReadToken()
		require.NoError(t, err)
		require.Equal(t, want, tok.Int())
	}
}
