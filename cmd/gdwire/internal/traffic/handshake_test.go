package traffic

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

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
				got := testenv.Must(io.ReadAll(&handshakeReader{r: r, removed: func() { removed++ }}))(t)
				require.Equal(t, c.want, string(got))
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
