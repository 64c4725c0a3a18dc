package fileaccess_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

func TestModeString(t *testing.T) {
	for mode, name := range map[fileaccess.Mode]string{
		fileaccess.FastLZ: "fastlz", fileaccess.Deflate: "deflate", fileaccess.Zstd: "zstd", fileaccess.Gzip: "gzip",
		fileaccess.Brotli: "brotli", 5: "mode 5", math.MaxUint32: "mode 4294967295",
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, name, mode.String())
		})
	}
}
