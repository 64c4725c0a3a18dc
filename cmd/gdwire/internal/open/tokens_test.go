package open

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
)

// TestTokensVectors: the content of a token is that in its String, except for chunks.
func TestTokensVectors(t *testing.T) {
	v := newTokenPrinter(shell.Capture(io.Discard))
	for version, format := range map[string]gdwire.Format{
		"3.2.3": gdwire.Godot3, "4.3": gdwire.Godot4, "4.7-dev": gdwire.Godot4, "4.7-dev-double": gdwire.Godot4,
	} {
		vectors := testenv.Must(suite.ValuesOf(version))(t)
		require.NotEmpty(t, vectors)
		for _, vector := range vectors {
			d := gdwire.NewDecoder(bytes.NewReader([]byte(vector.Hex)), &gdwire.DecoderOptions{Format: format, AllowObjects: true})
			for token, err := range d.Tokens() {
				require.NoError(t, err)
				if k := token.Kind(); k != gdwire.KindStringChunk && k != gdwire.KindChunk {
					content := string(v.appendContent(nil, token, 1<<20))
					require.Equal(t, token.String(), strings.TrimRight(k.String()+" "+content, " "), vector.Name)
				}
			}
			d.Release()
		}
	}
}

// TestTokensQuoted: each byte is quoted as strconv does, alone and in text.
func TestTokensQuoted(t *testing.T) {
	for c := range 256 {
		for _, text := range []string{string([]byte{byte(c)}), string([]byte{'a', byte(c), 'z'})} {
			require.Equal(t, strconv.Quote(text), string(appendQuoted(nil, []byte(text), shell.PlainWidth)))
		}
	}
}
