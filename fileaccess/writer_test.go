package fileaccess_test

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/stretchr/testify/require"
)

// Info of a file makes another one that has the same Info and content.
func TestNewWriter(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.name, func(t *testing.T) {
			var b bytes.Buffer
			w, err := fileaccess.NewWriter(&b, v.info, v.key)
			require.NoError(t, err)
			_, err = io.Copy(w, iotest.OneByteReader(bytes.NewReader(v.content)))
			require.NoError(t, err)
			require.NoError(t, w.Close())
			r, err := fileaccess.NewReader(&b, v.options())
			require.NoError(t, err)
			require.Equal(t, v.info, r.Info())
			require.NoError(t, iotest.TestReader(r, v.content))
		})
	}
}
