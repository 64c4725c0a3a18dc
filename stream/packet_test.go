package stream_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

func TestWritePacketFails(t *testing.T) {
	out := newSink()
	w := stream.NewWriter(out, &stream.Options{MaxPacket: 50_000})
	own := errors.New("own")
	for name, c := range map[string]struct {
		write func(e *gdwire.Encoder) error
		want  error
	}{
		"own error": {func(e *gdwire.Encoder) error { return errors.Join(e.WriteNil(), own) }, own},
		"nothing":   {func(*gdwire.Encoder) error { return nil }, gdwire.ErrCount},
		"ignored": {func(e *gdwire.Encoder) error {
			_ = e.BeginArray(1)
			_ = e.WriteString("\xFF")
			_ = e.WriteNil()
			_ = e.End()
			return nil
		}, gdwire.ErrUTF8},
		"two values":     {func(e *gdwire.Encoder) error { return errors.Join(e.WriteNil(), e.WriteNil()) }, gdwire.ErrCount},
		"unfinished":     {func(e *gdwire.Encoder) error { return e.BeginArray(1) }, gdwire.ErrIncomplete},
		"wrong":          {func(e *gdwire.Encoder) error { return e.WriteString("\xFF") }, gdwire.ErrUTF8},
		"too long":       {str(strings.Repeat("x", 50_000)), &stream.PacketTooLongError{Size: 50_008, Max: 50_000}},
		"hides too long": {func(e *gdwire.Encoder) error { _ = e.WriteString(strings.Repeat("x", 50_000)); return nil }, &stream.PacketTooLongError{Size: 50_008, Max: 50_000}},
	} {
		t.Run(name, func(t *testing.T) {
			err := w.WritePacket(c.write)
			var p *stream.PacketTooLongError
			if errors.As(c.want, &p) {
				assert.Equal(t, c.want, err)
			} else {
				assert.ErrorIs(t, err, c.want)
			}
			assert.Equal(t, c.want != own, stream.Skippable(err))
			assert.Zero(t, out.Len())
			require.NoError(t, w.WritePacket(number(1)))
			out.Reset()
		})
	}
	require.ErrorContains(t, w.WritePacket(func(e *gdwire.Encoder) error { return errors.Join(e.WriteNil(), e.WriteNil()) }), "packet of 2 values, not 1")
	require.ErrorContains(t, w.WritePacket(func(*gdwire.Encoder) error { return nil }), "packet of 0 values, not 1")
	closes := func(e *gdwire.Encoder) error { return errors.Join(e.WriteNil(), e.WriteNil(), e.Close()) }
	require.ErrorIs(t, w.WritePacket(closes), gdwire.ErrClosed, "it would hide that there are two values")
	var kept *gdwire.Encoder
	require.NoError(t, w.WritePacket(func(e *gdwire.Encoder) error { kept = e; return e.WriteNil() }))
	require.ErrorIs(t, kept.WriteNil(), gdwire.ErrClosed)
	require.Panics(t, func() { _ = w.WritePacket(func(*gdwire.Encoder) error { panic("own") }) })
	require.NoError(t, w.WritePacket(number(1)))
}

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

			f := must(os.OpenFile(name, os.O_RDWR, 0))(t)
			size, err := stream.ScanComplete(f)
			require.EqualValues(t, good, size)
			if good == n {
				require.NoError(t, err)
			} else {
				require.Equal(t, io.ErrUnexpectedEOF, err)
				require.NoError(t, f.Truncate(size))
				must(f.Seek(size, io.SeekStart))(t)
			}
			require.NoError(t, stream.NewWriter(f, nil).WritePacket(str("on")))
			require.NoError(t, f.Close())

			b = must(os.ReadFile(name))(t)
			require.Equal(t, append(bytes.Clone(whole[:good]), framed(binary.LittleEndian, encoded(t, str("on")))...), b)
		}
	}
	_, err := stream.ScanComplete(&stutter{r: bytes.NewReader(nil), err: errTape})
	require.Equal(t, errTape, err)
}
