package traffic

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/cmdtest"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
)

// A stream of which the end was not shown ends without an error, which its last packet would have.
func TestProxyBehind(t *testing.T) {
	for end, want := range map[error]bool{io.EOF: true, errBehind: false} {
		var errs bytes.Buffer
		s := shell.NewStdio(nil, io.Discard, &errs)
		p := &proxyServer{Stdio: s, options: &proxyFlags{}, end: func() {}, remaining: -1}
		p.framing.known = save.Known{Format: true, Frame: true}
		p.framing.Decoder.Format, p.framing.Frame = gdwire.Godot4, save.U32
		p.lines.maxBytes, p.lines.flush, p.lines.fail = maxWaiting, s.Out.Flush, p.stop
		p.lines.start()
		pieces := make(chan piece, 1)
		sent := cmdtest.Framed(cmdtest.Wire(2, 5), cmdtest.Wire(4, "two"))
		pieces <- piece{bytes: sent[:len(sent)-2]}
		close(pieces)
		d := &direction{proxyServer: p, number: 1}
		d.showFile(&pieceReader{pieces: pieces, end: end})
		p.lines.close()
		<-p.lines.done
		require.Equal(t, want, strings.Contains(errs.String(), "unexpected EOF"), errs.String())
		require.EqualValues(t, 1, p.packets[0])
	}
}
