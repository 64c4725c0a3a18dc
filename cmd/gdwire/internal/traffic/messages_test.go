package traffic

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// repeated is a Reader of the same bytes for ever.
type repeated struct {
	bytes []byte
	next  int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for ; n < len(p); n++ {
		p[n] = r.bytes[r.next]
		r.next = (r.next + 1) % len(r.bytes)
	}
	return n, nil
}

// Fragments without content take little memory; those of a byte each are a packet.
func TestFragments(t *testing.T) {
	empty := func(op byte) []byte { return []byte{op, 0} }
	for name, fragment := range map[string][]byte{"fragments": empty(wsContinued), "pings": empty(0x89)} {
		m := &messages{r: io.MultiReader(strings.NewReader("\x02\x01x"), &repeated{bytes: fragment}), max: 8 << 20}
		require.ErrorContains(t, errOf(m.webSocket()), "too many fragments", name)
		require.Less(t, m.raw.Len(), 1<<17)
	}
	packet := bytes.Repeat([]byte{7}, 1<<20)
	var parts [][]byte
	for i := range packet {
		parts = append(parts, packet[i:i+1])
	}
	m := &messages{r: bytes.NewReader(cmdtest.WebSocketMessage(true, 2, parts...)), max: 1 << 20}
	require.True(t, bytes.Equal(packet, testenv.Must(m.webSocket())(t).packet))
}

// With whole messages, a control frame inside a message does not wait for the rest: a Close is the last frame.
func TestControlFrames(t *testing.T) {
	first, last := "\x02\x03one", "\x80\x03two"
	ping, end := "\x89\x02hi", "\x88\x02\x03\xe8"
	for name, c := range map[string]struct {
		sent string
		want []string
		end  error
	}{
		"ping":  {first + ping + last + ping, []string{ping, first + last, ping}, io.EOF},
		"pings": {first + ping + ping + last, []string{ping, ping, first + last}, io.EOF},
		"close": {first + end, []string{end}, io.ErrUnexpectedEOF},
	} {
		m := &messages{r: strings.NewReader(c.sent), max: 1 << 20, whole: true, bound: &bound{max: 1 << 20}}
		size := 0
		for _, want := range c.want {
			got, err := m.webSocket()
			require.NoError(t, err, name)
			require.Equal(t, want, string(got.raw), name)
			require.EqualValues(t, len(want), got.size)
			require.Equal(t, want == first+last, got.packet != nil, name)
			size += len(want)
			m.bound.add(-got.held)
		}
		require.Equal(t, c.end, errOf(m.webSocket()), name)
		m.hold(0)
		require.Zero(t, m.bound.used.Load(), name)
	}
}

// A message with another packet in its place is read as this packet.
func TestEncodeMessage(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 127, 1<<16 - 1, 1 << 16, 1 << 17} {
		packet := bytes.Repeat([]byte{1, 2, 3, 0x8a, 5}, n/5+1)[:n]
		for _, order := range []binary.ByteOrder{nil, binary.LittleEndian, binary.BigEndian} {
			for _, masked := range []bool{false, true} {
				m := &messages{max: 1 << 20, order: order}
				b := m.encode(packet, masked)
				r := m.again(bytes.NewReader(b))
				if order == nil {
					r.next = r.webSocket
					require.Equal(t, masked, b[1]&wsMasked > 0)
				}
				require.True(t, bytes.Equal(packet, testenv.Must(r.nextPacket())(t)))
				require.Equal(t, io.EOF, errOf(r.next()))
			}
		}
	}
}

// A -skip is proposed if several packets in a row are values from there, and none from their start.
func TestSkipFinder(t *testing.T) {
	value := []byte("\x04\x00\x00\x00\x03\x00\x00\x00abc\x00")
	after := func(n int) []byte { return append(bytes.Repeat([]byte{0xf3}, n), value...) }
	two := append(bytes.Clone(value), value...)
	null := []byte("\xf3\x00\x00\x00\x00")
	for name, c := range map[string]struct {
		packets [][]byte
		want    int
	}{
		"one byte":    {[][]byte{after(1), after(1), after(1)}, 1},
		"two":         {[][]byte{value, after(2), after(2), after(2)}, 2},
		"four":        {[][]byte{after(4), after(4), after(4)}, 4},
		"five":        {[][]byte{after(5), after(5), after(5)}, 5},
		"other":       {[][]byte{after(2), after(1), after(1), after(1)}, 1},
		"two values":  {[][]byte{after(1), two, after(1), two, after(1)}, 1},
		"small types": {[][]byte{append([]byte{0}, value...), append([]byte{2}, value...), append([]byte{27}, value...)}, 1},
		"numbers":     {[][]byte{append([]byte{1, 0, 0, 0}, value...), append([]byte{5, 0, 0, 0}, value...), append([]byte{1, 0, 0, 0}, value...)}, 4},
		"too few":     {[][]byte{after(1), after(1)}, 0},
		"interrupted": {[][]byte{after(1), after(1), value, after(1)}, 0},
		"changing":    {[][]byte{after(1), after(2), after(1), after(2)}, 0},
		"three bytes": {[][]byte{after(3), after(3), after(3)}, 0},
		"null":        {[][]byte{null, null, null}, 0},
		"foreign":     {[][]byte{[]byte("GET /"), nil, []byte("more"), []byte("\xff")}, 0},
	} {
		var f skipFinder
		o, got := save.Reading{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}}, 0
		for _, packet := range c.packets {
			u := o.Unpack(packet)
			got = f.find(packet, &u, &o)
		}
		require.Equal(t, c.want, got, name)
	}
}

// TestCommandLines counts the lines that cannot be shown in time, and shows all others in their
// order.
func TestCommandLines(t *testing.T) {
	var out bytes.Buffer
	r, w := io.Pipe()
	l := &lines{maxBytes: 60, flush: func() error { return nil }, fail: func(err error) { require.NoError(t, err) }}
	l.missedLine = func(missed, bytes string) line { return line{w, "missed " + missed + ", " + bytes + "\n"} }
	l.start()
	for i := range 1000 { // nobody reads
		l.add(w, "line "+strings.Repeat("x", i%3)+"\n", 10)
	}
	l.miss(70)
	l.close()
	testenv.Must(io.CopyN(&out, r, 6))(t)
	go func() {
		<-l.done
		w.Close()
	}()
	require.NoError(t, errOf(io.Copy(&out, r)))
	shown := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Equal(t, []string{"line ", "line x", "line xx", "line ", "line x", "line xx", "line ", "line x", "missed 993, 10 kB"}, shown)
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(b []byte) (int, error) { return w(b) }

// TestLinesFail reports the first error of the output, once, and shows other output.
func TestLinesFail(t *testing.T) {
	var errs bytes.Buffer
	bad := writerFunc(func([]byte) (int, error) { return 0, errors.New("disk full") })
	var failed []error
	l := &lines{maxBytes: 60, flush: func() error { return nil }, fail: func(err error) { failed = append(failed, err) }}
	l.start()
	l.add(bad, "a", 0)
	l.add(&errs, "b", 0)
	l.add(bad, "c", 0)
	l.close()
	<-l.done
	require.Len(t, failed, 1)
	require.Equal(t, "b", errs.String())
}

// Extensions are taken out of the handshake, in any pieces, and everything else stays.
func TestHandshakeExtensions(t *testing.T) {
	const extensions = "sec-websocket-Extensions: permessage-deflate; client_max_window_bits,\r\n\tx\r\n"
	request := strings.Replace(cmdtest.UpgradeRequest, "Sec-WebSocket-Key", extensions+"Sec-WebSocket-Key", 1)
	message := string(cmdtest.WebSocketMessage(true, 2, cmdtest.Wire(2, 5)))
	for _, c := range []struct{ name, sent, want string }{
		{"one", request + message, cmdtest.UpgradeRequest + message},
		{"none", cmdtest.UpgradeRequest + message, cmdtest.UpgradeRequest + message},
		{"line feeds", cmdtest.LineFeeds(request) + message, cmdtest.LineFeeds(cmdtest.UpgradeRequest) + message},
		{"line feeds at last", strings.TrimSuffix(request, "\r\n") + "\n" + message, strings.TrimSuffix(cmdtest.UpgradeRequest, "\r\n") + "\n" + message},
		{"cut", request[:100], request[:100]},
		{"no WebSocket", "GETS " + request, "GETS " + request},
		{"too long", "GET /" + strings.Repeat("x", maxHTTP) + request, "GET /" + strings.Repeat("x", maxHTTP) + request},
		{"short", "GE", "GE"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.sent), iotest.OneByteReader(strings.NewReader(c.sent)), iotest.DataErrReader(strings.NewReader(c.sent))} {
				removed := 0
				require.Equal(t, c.want, string(testenv.Must(io.ReadAll(&handshakeReader{r: r, removed: func() { removed++ }}))(t)))
				require.Equal(t, c.sent != c.want, removed == 1)
			}
		})
	}
}

// A request is passed on when its head has ended, by whichever line ends.
func TestHandshakeEnds(t *testing.T) {
	for _, request := range []string{cmdtest.UpgradeRequest, cmdtest.LineFeeds(cmdtest.UpgradeRequest)} {
		waits := errors.New("waits")
		h := &handshakeReader{r: io.MultiReader(strings.NewReader(request), iotest.ErrReader(waits))}
		got := make([]byte, len(request))
		testenv.Must(io.ReadFull(h, got))(t)
		require.Equal(t, request, string(got))
		require.NoError(t, h.err)
	}
}
