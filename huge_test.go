package gdwire

import (
	"bytes"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/bytebufferpool"
)

// hugeSize returns the size of values of which only a buffer may be in memory.
func hugeSize() int64 {
	switch {
	case raceEnabled:
		return 64 << 20
	case testing.Short() || math.MaxInt == math.MaxInt32:
		return 256 << 20
	default:
		return 1 << 30
	}
}

// requireLittleMemory expects that f allocates little, even with an empty pool.
func requireLittleMemory(t *testing.T, f func()) {
	t.Helper()
	pool = bytebufferpool.Pool{}
	require.Less(t, allocated(f), maxMemory())
}

func TestHugeValuesAreRead(t *testing.T) {
	n := hugeSize()
	noLimits := Limits{Depth: -1, Elements: -1, Values: -1, StringBytes: -1, NameBytes: -1, PackedBytes: -1, Bytes: -1}
	text := func() io.Reader { return huge(wire(idString, int(n)), 'x', n) }
	data := func() io.Reader { return huge(wire(idBytes, int(n)), 0, n) }
	floats := func() io.Reader { return huge(wire(idFloats, int(n/4)), 0, n) }
	vectors := func() io.Reader { return huge(wire(idVectors4, int(n/16)), 0, n) }

	copyPayload := func(t *testing.T, d *Decoder, w io.Writer) {
		readTo(t, d, 1)
		got, err := io.Copy(w, d.Payload())
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	readTokens := func(t *testing.T, d *Decoder) {
		got := int64(0)
		for {
			tok, err := d.ReadToken()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got += int64(len(tok.Bytes()))
		}
		require.Equal(t, n, got)
	}
	for _, c := range []struct {
		name string
		from func() io.Reader
		read func(t *testing.T, d *Decoder)
	}{
		{"a string's tokens", text, readTokens},
		{"a packed array's tokens", data, readTokens},
		{"skipping a string", text, func(t *testing.T, d *Decoder) { require.NoError(t, d.SkipValue()) }},
		{"skipping vectors", vectors, func(t *testing.T, d *Decoder) { require.NoError(t, d.SkipValue()) }},
		{"leaving a string", text, func(t *testing.T, d *Decoder) { readTo(t, d, 1); require.NoError(t, d.SkipTo(0)) }},
		{"io.Copy from a string", text, func(t *testing.T, d *Decoder) { copyPayload(t, d, io.Discard) }},
		{"io.Copy from a packed array", floats, func(t *testing.T, d *Decoder) { copyPayload(t, d, new(counter)) }},
		{"Payload.Read", data, func(t *testing.T, d *Decoder) {
			readTo(t, d, 1)
			got, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{d.Payload()}, make([]byte, 20<<10))
			require.NoError(t, err)
			require.Equal(t, n, got)
		}},
		{"ReadPacked", floats, func(t *testing.T, d *Decoder) { require.Equal(t, n/4, readPacked(t, d, make([]float32, 4<<10))) }},
		{"ReadPacked as another type", vectors, func(t *testing.T, d *Decoder) {
			require.Equal(t, n/16, readPacked(t, d, make([][4]float64, 512)))
		}},
		{"io.Copy to an Encoder", text, func(t *testing.T, d *Decoder) {
			var out counter
			e := NewEncoder(&out, nil)
			defer e.Release()
			require.NoError(t, e.BeginString(TypeString, n))
			copyPayload(t, d, e)
			require.NoError(t, e.End())
			require.EqualValues(t, n+8, out)
		}},
		{"io.Copy of a packed array to an Encoder", vectors, func(t *testing.T, d *Decoder) {
			var out counter
			e := NewEncoder(&out, nil)
			defer e.Release()
			require.NoError(t, e.BeginPacked(TypePackedVector4Array, n/16))
			copyPayload(t, d, e)
			require.NoError(t, e.End())
			require.EqualValues(t, n+8, out)
		}},
		{"CopyValue of a string", text, func(t *testing.T, d *Decoder) {
			var out counter
			e := NewEncoder(&out, nil)
			defer e.Release()
			require.NoError(t, CopyValue(e, d))
			require.EqualValues(t, n+8, out)
		}},
		{"CopyValue of a packed array", floats, func(t *testing.T, d *Decoder) {
			var out counter
			e := NewEncoder(&out, nil)
			defer e.Release()
			require.NoError(t, CopyValue(e, d))
			require.EqualValues(t, n+8, out)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireLittleMemory(t, func() {
				d := NewDecoder(c.from(), &DecoderOptions{Limits: noLimits})
				defer d.Release()
				c.read(t, d)
				require.NoError(t, d.SkipTo(0))
				_, err := d.ReadToken()
				require.Equal(t, io.EOF, err)
				require.GreaterOrEqual(t, d.InputOffset(), n)
			})
		})
	}
}

func TestHugeValuesAreWritten(t *testing.T) {
	n := hugeSize()
	page := bytes.Repeat([]byte{'x'}, 32<<10)
	floats := make([]float32, 4<<10)
	doubles := make([]float64, 2<<10)
	repeat := func(size int, f func() error) error {
		for done := int64(0); done < n; done += int64(size) {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range []struct {
		name  string
		write func(e *Encoder) error
	}{
		{"a string by Write", func(e *Encoder) error {
			if err := e.BeginString(TypeString, n); err != nil {
				return err
			}
			return repeat(len(page), func() error { _, err := e.Write(page); return err })
		}},
		{"bytes by small Writes", func(e *Encoder) error {
			if err := e.BeginPacked(TypePackedByteArray, n); err != nil {
				return err
			}
			return repeat(1<<10, func() error { _, err := e.Write(page[:1<<10]); return err })
		}},
		{"floats by WritePacked", func(e *Encoder) error {
			if err := e.BeginPacked(TypePackedFloat32Array, n/4); err != nil {
				return err
			}
			return repeat(4*len(floats), func() error { return WritePacked(e, floats) })
		}},
		{"doubles as floats by WritePacked", func(e *Encoder) error {
			if err := e.BeginPacked(TypePackedFloat32Array, n/4); err != nil {
				return err
			}
			return repeat(4*len(doubles), func() error { return WritePacked(e, doubles) })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireLittleMemory(t, func() {
				var out counter
				e := NewEncoder(&out, nil)
				defer e.Release()
				require.NoError(t, c.write(e))
				require.NoError(t, e.End())
				require.NoError(t, e.Close())
				require.EqualValues(t, n+8, out)
			})
		})
	}
}

// readPacked reads a packed array through dst and returns how many elements came.
func readPacked[T Packable](t *testing.T, d *Decoder, dst []T) (total int64) {
	t.Helper()
	readTo(t, d, 1)
	for {
		n, err := ReadPacked(d, dst)
		total += int64(n)
		if err == io.EOF {
			return total
		}
		require.NoError(t, err)
	}
}
