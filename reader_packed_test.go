package gdwire

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/gdwire/gdwire/internal/checked"
	"github.com/stretchr/testify/require"
)

func TestMisbehavingReadersOfPackedData(t *testing.T) {
	head := bytesOf(idInts, 1000)
	for name, bad := range map[string]struct {
		r    io.Reader
		want error
	}{
		"nothing, for ever": {readerFunc(func([]byte) (int, error) { return 0, nil }), io.ErrNoProgress},
		"less than nothing": {readerFunc(func([]byte) (int, error) { return -1, nil }), checked.ErrRead},
		"more than all":     {readerFunc(func(p []byte) (int, error) { return len(p) + 1, nil }), checked.ErrRead},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(io.MultiReader(bytes.NewReader(head), bad.r), &DecoderOptions{MaxChunk: 64})
			defer d.Release()
			readTo(t, d, 1)
			n, err := ReadPacked(d, make([]int32, 100))
			require.Zero(t, n)
			require.Equal(t, bad.want, err)
			_, err = d.Payload().Read(make([]byte, 100))
			require.Equal(t, bad.want, err)
		})
	}
}

// Only the padding may be missing at the end of the input.
func TestTruncatedData(t *testing.T) {
	packet := bytesOf(idBytes, 39, make([]byte, 40))
	for cut := 1; cut <= len(packet); cut++ {
		for _, size := range []int{16, 64} {
			d := NewDecoder(nil, &DecoderOptions{MaxChunk: size})
			d.Reset(plain(packet[:cut]))
			if err := readAll(d); cut >= 8+39 {
				require.Equal(t, io.EOF, err)
			} else {
				requireError(t, err, cut, "$", io.ErrUnexpectedEOF)
			}
			d.Release()
		}
	}
}

// Elements are returned in order from a chunk that was read, from the read buffer
// and directly from the Reader. Truncated input is an error.
func TestElementsFromEverywhere(t *testing.T) {
	want := make([]int32, 100)
	packet := bytesOf(idInts, len(want))
	for i := range want {
		want[i] = int32(i)
		packet = append(packet, bytesOf(i)...)
	}
	for cut := 24; cut <= len(packet); cut++ {
		b := packet[:cut]
		for chunks := range 2 {
			for name, r := range map[string]io.Reader{
				"at once": plain(b), "byte by byte": &slowReader{b},
				"failing": &faultyReader{b: b, at: cut / 2}, "failing with bytes": &faultyReader{b: b, at: cut / 2, joined: true},
			} {
				faults := 0
				d := NewDecoder(r, &DecoderOptions{MaxChunk: 16})
				var err error
				for range 1 + chunks {
					for _, err = d.ReadToken(); err == errTemporary; _, err = d.ReadToken() {
						faults++
					}
					require.NoError(t, err)
				}
				got := make([]int32, len(want))
				n := 0
				for n < len(got) {
					var m int
					m, err = ReadPacked(d, got[n:])
					if n += m; err == errTemporary {
						faults++
						continue
					}
					if err != nil {
						break
					}
				}
				require.Equal(t, want[:n], got[:n], "%s, cut at %d", name, cut)
				if cut == len(packet) {
					require.NoError(t, err, name)
				} else {
					require.Equal(t, (cut-8)/4, n, "%s, cut at %d", name, cut)
					requireError(t, err, cut, "$", io.ErrUnexpectedEOF)
				}
				require.Equal(t, strings.HasPrefix(name, "failing"), faults == 1, "%s, cut at %d: %d faults", name, cut, faults)
				d.Release()
			}
		}
	}
}

// A bulk read cannot start inside an element of several components.
func TestReadPackedInsideAVector(t *testing.T) {
	for taken := range 25 {
		d := NewDecoder(plain(bytesOf(idVectors3, 2, reals(6))), nil)
		readTo(t, d, 2)
		_, err := io.ReadFull(d.Payload(), make([]byte, taken))
		require.NoError(t, err)
		if _, err = ReadPacked(d, make([][3]float32, 2-(taken+11)/12)); taken%12 == 0 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrType, "%d bytes taken", taken)
		}
		d.Release()
	}
}

// A bulk read cannot start inside an element.
func TestReadPackedInsideAnElement(t *testing.T) {
	for array, packet := range map[string][]byte{"one element": bytesOf(idFloats, 1, float32(1)), "many": bytesOf(idFloats, 100, reals(100))} {
		for name, read := range map[string]func(d *Decoder) error{
			"ReadPacked":          func(d *Decoder) error { _, err := ReadPacked(d, make([]float32, 200)); return err },
			"ReadPacked widening": func(d *Decoder) error { _, err := ReadPacked(d, make([]float64, 200)); return err },
			"AppendPacked":        func(d *Decoder) error { _, err := AppendPacked[float32](d, nil); return err },
		} {
			t.Run(array+"/"+name, func(t *testing.T) {
				d := NewDecoder(plain(packet), nil)
				readTo(t, d, 1)
				_, err := io.ReadFull(d.Payload(), make([]byte, 2))
				require.NoError(t, err)
				require.ErrorIs(t, read(d), ErrType, name)
				require.NoError(t, d.SkipTo(0))
				d.Release()
			})
		}
	}
	d := NewDecoder(plain(bytesOf(idFloats, 1, float32(1))), nil)
	readTo(t, d, 1)
	_, err := ReadPacked(d, make([]int32, 1))
	require.ErrorIs(t, err, ErrType)
	_, err = ReadPacked(d, make([][2]float32, 1))
	require.ErrorIs(t, err, ErrType)
	got, err := AppendPacked[float32](d, nil)
	require.NoError(t, err)
	require.Equal(t, []float32{1}, got)
	_, err = AppendPacked(d, got)
	require.Equal(t, io.EOF, err, "there is no other array")
}

// AppendPacked uses the capacity of the slice before it grows.
func TestAppendPackedUsesCapacity(t *testing.T) {
	d := NewDecoder(plain(bytesOf(idFloats, 9, reals(9))), nil)
	defer d.Release()
	readTo(t, d, 1)
	dst := make([]float32, 1, 10)
	got, err := AppendPacked(d, dst)
	require.NoError(t, err)
	require.Len(t, got, 10)
	require.Same(t, &dst[0], &got[0])
}
