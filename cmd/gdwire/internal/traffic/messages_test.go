package traffic

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

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
		_, err := m.webSocket()
		require.ErrorContains(t, err, "too many fragments", name)
		require.Less(t, m.raw.Len(), 1<<17)
	}
	packet := bytes.Repeat([]byte{7}, 1<<20)
	var parts [][]byte
	for i := range packet {
		parts = append(parts, packet[i:i+1])
	}
	m := &messages{r: bytes.NewReader(cmdtest.WebSocketMessage(true, 2, parts...)), max: 1 << 20}
	got := testenv.Must(m.webSocket())(t)
	require.True(t, bytes.Equal(packet, got.packet))
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
		_, err := m.webSocket()
		require.Equal(t, c.end, err, name)
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
				got := testenv.Must(r.nextPacket())(t)
				require.True(t, bytes.Equal(packet, got))
				_, err := r.next()
				require.Equal(t, io.EOF, err)
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
