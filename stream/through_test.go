package stream_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
	"github.com/stretchr/testify/require"
)

func TestWriteThrough(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	defer f.Close()
	w := stream.NewWriter(f, nil)
	require.NoError(t, w.WritePacket(number(1)))
	large := bytes.Repeat([]byte("large"), 20_000)
	require.NoError(t, w.WriteThrough(func(e *gdwire.Encoder) error {
		if err := e.BeginPacked(gdwire.TypePackedByteArray, int64(len(large))); err != nil {
			return err
		}
		_, err := e.Write(large)
		// What a crash would leave:
		b, rerr := os.ReadFile(f.Name())
		require.NoError(t, rerr)
		require.Greater(t, len(b), 16)
		require.Equal(t, []byte{255, 255, 255, 255}, b[12:16])
		whole, serr := stream.Scan(bytes.NewReader(b), nil)
		require.Equal(t, io.ErrUnexpectedEOF, serr)
		require.EqualValues(t, 12, whole)
		return errors.Join(err, e.End())
	}))
	require.NoError(t, w.WritePacket(number(2)))
	b, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	want := framed(binary.LittleEndian, encoded(t, number(1)), encoded(t, func(e *gdwire.Encoder) error {
		return errors.Join(e.BeginPacked(gdwire.TypePackedByteArray, int64(len(large))), gdwire.WritePacked(e, large), e.End())
	}), encoded(t, number(2)))
	require.True(t, bytes.Equal(want, b))
}

func TestWriteThroughFails(t *testing.T) {
	own := errors.New("own")
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	defer f.Close()
	w := stream.NewWriter(f, &stream.Options{MaxPacket: 100_000})
	require.NoError(t, w.WritePacket(number(1)))
	half := func(e *gdwire.Encoder) error {
		err := e.BeginPacked(gdwire.TypePackedByteArray, 200_000)
		_, werr := e.Write(make([]byte, 60_000))
		return errors.Join(err, werr)
	}
	require.ErrorIs(t, w.WriteThrough(func(e *gdwire.Encoder) error { return errors.Join(half(e), own) }), own)
	require.ErrorIs(t, w.WriteThrough(half), gdwire.ErrOpen)
	require.ErrorIs(t, w.WriteThrough(func(*gdwire.Encoder) error { return nil }), gdwire.ErrCount)
	var p *stream.PacketError
	require.ErrorAs(t, w.WriteThrough(func(e *gdwire.Encoder) error { return errors.Join(half(e), half2(e)) }), &p)
	require.NoError(t, w.WriteThrough(number(2)))
	b, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.Equal(t, framed(binary.LittleEndian, encoded(t, number(1)), encoded(t, number(2))), b)
}

func half2(e *gdwire.Encoder) error {
	_, err := e.Write(make([]byte, 60_000))
	return err
}

// TestWriteThroughToEnd opens a file in ways that need care.
func TestWriteThroughToEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	old := framed(binary.LittleEndian, encoded(t, number(1)))
	require.NoError(t, os.WriteFile(name, old, 0o600))

	f, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, stream.NewWriter(f, nil).WriteThrough(number(2)))
	require.NoError(t, f.Close())
	want := framed(binary.LittleEndian, encoded(t, number(1)), encoded(t, number(2)))
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, want, b)

	f, err = os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	require.NoError(t, err)
	w := stream.NewWriter(f, nil)
	require.ErrorIs(t, w.WriteThrough(number(3)), stream.ErrNotSeekable)
	require.NoError(t, w.WritePacket(number(4)))
	require.NoError(t, f.Close())
	b, err = os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, append(want, framed(binary.LittleEndian, encoded(t, number(4)))...), b)

	r, p, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	w = stream.NewWriter(p, nil)
	require.ErrorIs(t, w.WriteThrough(number(1)), stream.ErrNotSeekable)
	require.NoError(t, w.WritePacket(number(1)))
	require.NoError(t, p.Close())
	b, err = io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, old, b)

	require.Equal(t, stream.ErrNotSeekable, stream.NewWriter(newSink(), nil).WriteThrough(number(1)))
}

// A tape is a WriteSeeker that keeps no more than the lengths, at fours, that it
// was told to keep, and can fail.
type tape struct {
	at, size int64
	start    [4]byte
	calls    int
	fail     int // the call that fails
}

var errTape = errors.New("torn")

func (t *tape) Write(b []byte) (int, error) {
	if t.calls++; t.calls == t.fail {
		return 0, errTape
	}
	if t.at == 0 {
		copy(t.start[:], b)
	}
	t.at += int64(len(b))
	t.size = max(t.size, t.at)
	return len(b), nil
}

func (t *tape) Seek(offset int64, whence int) (int64, error) {
	if t.calls++; t.calls == t.fail {
		return 0, errTape
	}
	t.at = offset + map[int]int64{io.SeekCurrent: t.at, io.SeekEnd: t.size}[whence]
	return t.at, nil
}

// gibs writes n arrays of 1 GiB.
func gibs(n int) func(e *gdwire.Encoder) error {
	chunk := make([]byte, 1<<20)
	return func(e *gdwire.Encoder) error {
		if err := e.BeginArray(n); err != nil {
			return err
		}
		for range n {
			if err := e.BeginPacked(gdwire.TypePackedByteArray, 1<<30); err != nil {
				return err
			}
			for range 1 << 10 {
				if _, err := e.Write(chunk); err != nil {
					return err
				}
			}
			if err := e.End(); err != nil {
				return err
			}
		}
		return e.End()
	}
}

func TestWriteThroughHuge(t *testing.T) {
	var f tape
	w := stream.NewWriter(&f, &stream.Options{MaxPacket: -1})
	write := gibs(3)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, w.WriteThrough(write))
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<10))
	require.Equal(t, uint32(3<<30+8+3*8), binary.LittleEndian.Uint32(f.start[:]))
	require.Equal(t, int64(4+3<<30+8+3*8), f.size)
	require.Equal(t, f.size, f.at)

	f = tape{}
	err := w.WriteThrough(gibs(4))
	var p *stream.PacketError
	require.ErrorAs(t, err, &p)
	require.Equal(t, []byte{255, 255, 255, 255}, f.start[:])
	err = w.WritePacket(number(1))
	require.ErrorIs(t, err, stream.ErrNotSeekable, "what is there can't be cut off")
	require.False(t, stream.Skippable(err))
}

// TestWriteThroughTorn has every Write and Seek fail.
func TestWriteThroughTorn(t *testing.T) {
	for fail := 1; ; fail++ {
		f := &tape{fail: fail}
		w := stream.NewWriter(f, nil)
		err := w.WriteThrough(number(1))
		if f.calls < fail {
			require.NoError(t, err)
			require.Greater(t, fail, 6)
			return
		}
		require.ErrorIs(t, err, errTape)
		if again := w.WritePacket(number(1)); fail > 1 {
			require.ErrorIs(t, again, stream.ErrNotSeekable)
		} else {
			require.NoError(t, again)
		}
	}
}

// A stuck tape can't be cut.
type stuck struct{ tape }

func (*stuck) Truncate(int64) error { return errTape }

func TestWriteThroughStuck(t *testing.T) {
	w := stream.NewWriter(&stuck{}, nil)
	err := w.WriteThrough(func(e *gdwire.Encoder) error { return e.BeginArray(1) })
	require.ErrorIs(t, err, gdwire.ErrOpen)
	err = w.WriteThrough(number(1))
	require.ErrorIs(t, err, errTape)
	require.False(t, stream.Skippable(err))
}

// TestCrash cuts a file at every byte, finds where its good part ends, goes on
// from there and loses nothing.
func TestCrash(t *testing.T) {
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
			size, err := stream.Scan(f, nil)
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
	_, err := stream.Scan(&stutter{r: bytes.NewReader(nil), err: errTape}, nil)
	require.Equal(t, errTape, err)
}

// TestWriteThroughPanic recovers from a panic of the function: nothing of its packet is
// left, or no other packet can follow it.
func TestWriteThroughPanic(t *testing.T) {
	panics := func(e *gdwire.Encoder) error {
		_ = e.BeginArray(2)
		_ = e.WriteString(strings.Repeat("x", 100_000))
		panic("own")
	}
	one := framed(binary.LittleEndian, encoded(t, number(1)))
	f := &shaky{room: math.MaxInt}
	w := stream.NewWriter(f, nil)
	require.NoError(t, w.WriteThrough(number(1)))
	require.PanicsWithValue(t, "own", func() { _ = w.WriteThrough(panics) })
	require.Equal(t, one, f.b)
	require.NoError(t, w.WritePacket(number(1)))
	require.Equal(t, append(bytes.Clone(one), one...), f.b)

	w = stream.NewWriter(&tape{}, nil) // without Truncate
	require.PanicsWithValue(t, "own", func() { _ = w.WriteThrough(panics) })
	require.ErrorIs(t, w.WritePacket(number(1)), stream.ErrNotSeekable)
}
