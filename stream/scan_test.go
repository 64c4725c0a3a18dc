package stream_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gdwire/gdwire/stream"
	"github.com/stretchr/testify/require"
)

// TestStreamScan truncates a file at each byte, finds the end of its complete packets, and
// appends there.
func TestStreamScan(t *testing.T) {
	var packets [][]byte
	for i := range 5 {
		packets = append(packets, encoded(t, str("packet"[:i+1])))
	}
	whole := framed(binary.LittleEndian, packets...)
	name := filepath.Join(t.TempDir(), "f")
	for n := range len(whole) + 1 {
		for _, unpatched := range []bool{false, true} {
			b := bytes.Clone(whole[:n])
			good, end := 0, 0
			for _, p := range packets {
				if end += 4 + len(p); end > n {
					break
				}
				good = end
			}
			if unpatched {
				if n-good < 4 {
					continue
				}
				copy(b[good:], []byte{255, 255, 255, 255})
			}
			require.NoError(t, os.WriteFile(name, b, 0o600))

			f, err := os.OpenFile(name, os.O_RDWR, 0)
			require.NoError(t, err)
			size, err := stream.ScanComplete(f)
			require.EqualValues(t, good, size)
			if good == n {
				require.NoError(t, err)
			} else {
				require.Equal(t, io.ErrUnexpectedEOF, err)
				require.NoError(t, f.Truncate(size))
				_, err = f.Seek(size, io.SeekStart)
				require.NoError(t, err)
			}
			require.NoError(t, stream.NewWriter(f, nil).WritePacket(str("on")))
			require.NoError(t, f.Close())

			b, err = os.ReadFile(name)
			require.NoError(t, err)
			require.Equal(t, append(bytes.Clone(whole[:good]), framed(binary.LittleEndian, encoded(t, str("on")))...), b)
		}
	}
	_, err := stream.ScanComplete(&stutter{r: bytes.NewReader(nil), err: errTape})
	require.Equal(t, errTape, err)
}
