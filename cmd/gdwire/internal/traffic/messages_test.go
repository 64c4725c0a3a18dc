package traffic

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
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
	got, err := m.webSocket()
	require.NoError(t, err)
	require.True(t, bytes.Equal(packet, got.packet))
}
