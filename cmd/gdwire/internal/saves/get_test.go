package saves

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/text"
)

// BenchmarkGet compares finding the last value of a large save with skipping all of it.
func BenchmarkGet(b *testing.B) {
	saved := testenv.Must(os.ReadFile("../../../../testdata/godot4.7-dev/save_game_large.bin"))(b)
	p, err := text.Parse("seed")
	require.NoError(b, err)
	b.Run("get", func(b *testing.B) {
		d := gdwire.NewDecoder(nil, nil)
		v := &valuePrinter{get: &get{path: p, json: &gdjson.Options{}}, Stdio: shell.Capture(io.Discard)}
		for b.Loop() {
			d.Reset(bytes.NewReader(saved))
			var tree text.Tree
			_, err := tree.Add(p, "")
			if err == nil {
				err = v.find(&save.Packet{Decoder: d}, &tree, &text.Nearest{})
			}
			if err != text.ErrFound {
				b.Fatal(err)
			}
		}
	})
	b.Run("skip", func(b *testing.B) {
		d := gdwire.NewDecoder(nil, nil)
		for b.Loop() {
			d.Reset(bytes.NewReader(saved))
			if err := d.SkipValue(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
