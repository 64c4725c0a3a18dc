package stream

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

func TestStoreVar(t *testing.T) {
	for _, name := range []string{"godot3.2.3/store_var.bin", "godot3.2.3/put_var.bin", "godot4.7-dev/store_var.bin"} {
		b, err := os.ReadFile("../testdata/" + name)
		require.NoError(t, err)
		o := &Options{}
		if name[5] == '3' {
			o.Format = gdwire.Godot3
		}
		r := NewReader(bytes.NewReader(b), o)
		n := 0
		for ; ; n++ {
			d, err := r.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			require.NoError(t, d.SkipValue())
			require.Zero(t, r.Trailing())
			_, err = d.ReadToken()
			require.Equal(t, io.EOF, err)
		}
		require.EqualValues(t, len(b), r.Whole())
		t.Log(name, n)
	}
}
