package traffic

import (
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

func TestTarget(t *testing.T) {
	for text, want := range map[string]target{
		"7":                              {addr: "127.0.0.1:7"},
		"game.example.com:7":             {addr: "game.example.com:7"},
		"unix:game.sock":                 {addr: "unix:game.sock"},
		"unix:///tmp/game":               {addr: "unix:///tmp/game"},
		"tls:game.example.com:7":         {addr: "game.example.com:7", secure: true},
		"udp:7":                          {addr: "127.0.0.1:7", udp: true},
		"wss://game.example.com":         {addr: "game.example.com:443", secure: true},
		"ws://game.example.com:90/a?b=1": {addr: "game.example.com:90"},
		"ws://[::1]/":                    {addr: "[::1]:80"},
	} {
		got, err := parseTarget(text)
		require.NoError(t, err, text)
		require.Equal(t, strings.HasPrefix(text, "ws"), got.url != nil)
		want.text, want.url = text, got.url
		require.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"http://game.example.com": "is no target", "wss://": "is no target", "ws://a:b@c": "is no target", "ws://a:b:c": "invalid port",
		"a:b:c": "too many colons", "tls:unix:a": "needs HOST:PORT", "unix:": "unix:PATH",
	} {
		_, err := parseTarget(text)
		require.ErrorContains(t, err, want)
	}
}

func TestListenAddress(t *testing.T) {
	for _, c := range []struct{ target, listen, want, fault string }{
		{"7", "8", "127.0.0.1:8", ""},
		{"7", "unix:a", "unix:a", ""},
		{"udp:7", "8", "127.0.0.1:8", ""},
		{"udp:7", "udp:0.0.0.0:8", "0.0.0.0:8", ""},
		{"7", "udp:8", "", "only a target udp"},
		{"udp:7", "unix:a", "", "over UDP"},
		{"7", "tls:a:8", "", "without TLS"},
		{"wss://a", "ws://a:8", "", "without TLS"},
		{"7", "a:b:c", "", "too many colons"},
	} {
		target := testenv.Must(parseTarget(c.target))(t)
		got, err := target.listenAddress(c.listen)
		if c.fault == "" {
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		} else {
			require.ErrorContains(t, err, c.fault)
		}
	}
}

func TestShareAndRate(t *testing.T) {
	for text, want := range map[string]float64{"0%": 0, "2%": 0.02, "0.5%": 0.005, "100%": 1} {
		got := testenv.Must(parseShare(text))(t)
		require.InDelta(t, want, got, 1e-12)
	}
	for _, text := range []string{"", "%", "2", "-1%", "101%", "NaN%", "x%"} {
		_, err := parseShare(text)
		require.ErrorContains(t, err, "want a share", text)
	}
	for text, want := range map[string]float64{"1Mbit": 1e6, "256kbit": 256e3, "9600bit": 9600, "2.5Gbit": 2.5e9} {
		got := testenv.Must(parseRate(text))(t)
		require.InDelta(t, want, got, 1e-6)
	}
	for _, text := range []string{"", "1", "bit", "0bit", "-1Mbit", "NaNbit", "InfGbit", "0.5bit", "1MB"} {
		_, err := parseRate(text)
		require.ErrorContains(t, err, "want a rate", text)
	}
}

// The request of a client names the server in place of the proxy, and a path of the server's URL takes the place of its own.
func TestAddressTo(t *testing.T) {
	request := strings.Replace(cmdtest.UpgradeRequest, "\r\n", "\r\nORIGIN: http://127.0.0.1:8060\r\nhost: 127.0.0.1:7000\r\n", 1)
	for text, want := range map[string][3]string{
		"ws://game.example.com":           {"", "Host: game.example.com", "Origin: http://game.example.com"},
		"wss://game.example.com:90/a?b=1": {"GET /a?b=1 HTTP/1.1", "Host: game.example.com:90", "Origin: https://game.example.com:90"},
	} {
		u := testenv.Must(url.Parse(text))(t)
		for _, ending := range []string{"\r\n", "\n"} {
			sent := strings.ReplaceAll(request, "\r\n", ending)
			got := testenv.Must(io.ReadAll(&handshakeReader{r: strings.NewReader(sent + "rest\r\nHost: x"), url: u}))(t)
			lines, as := strings.Split(string(got), ending), strings.Split(sent+"rest\r\nHost: x", ending)
			if want[0] != "" {
				as[0] = want[0]
			}
			as[1], as[2] = want[2], want[1]
			for i := 3; i < len(as); i++ {
				if strings.HasPrefix(as[i], "Host: ") && i < len(as)-2 {
					as[i] = want[1]
				}
			}
			require.Equal(t, as, lines)
		}
	}
}
