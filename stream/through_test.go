package stream_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
)

func TestWriteThrough(t *testing.T) {
	f := must(os.Create(filepath.Join(t.TempDir(), "f")))(t)
	defer f.Close()
	w := stream.NewWriter(f, nil)
	require.NoError(t, w.WritePacket(number(1)))
	large := bytes.Repeat([]byte("large"), 20_000)
	require.NoError(t, w.WriteThrough(func(e *gdwire.Encoder) error {
		if err := e.BeginPacked(gdwire.TypePackedByteArray, int64(len(large))); err != nil {
			return err
		}
		_, err := e.Write(large)
		// After a crash the file would end like this:
		b, rerr := os.ReadFile(f.Name())
		require.NoError(t, rerr)
		require.Greater(t, len(b), 16)
		require.Equal(t, []byte{255, 255, 255, 255}, b[12:16])
		whole, serr := stream.ScanComplete(bytes.NewReader(b))
		require.Equal(t, io.ErrUnexpectedEOF, serr)
		require.EqualValues(t, 12, whole)
		return errors.Join(err, e.End())
	}))
	require.NoError(t, w.WritePacket(number(2)))
	b := must(os.ReadFile(f.Name()))(t)
	want := framed(binary.LittleEndian, encoded(t, number(1)), encoded(t, func(e *gdwire.Encoder) error {
		return errors.Join(e.BeginPacked(gdwire.TypePackedByteArray, int64(len(large))), gdwire.WritePacked(e, large), e.End())
	}), encoded(t, number(2)))
	require.True(t, bytes.Equal(want, b))
}

func TestWriteThroughFails(t *testing.T) {
	own := errors.New("own")
	f := must(os.Create(filepath.Join(t.TempDir(), "f")))(t)
	defer f.Close()
	w := stream.NewWriter(f, &stream.Options{MaxPacket: 100_000})
	require.NoError(t, w.WritePacket(number(1)))
	half := func(e *gdwire.Encoder) error {
		err := e.BeginPacked(gdwire.TypePackedByteArray, 200_000)
		_, werr := e.Write(make([]byte, 60_000))
		return errors.Join(err, werr)
	}
	require.ErrorIs(t, w.WriteThrough(func(e *gdwire.Encoder) error { return errors.Join(half(e), own) }), own)
	require.ErrorIs(t, w.WriteThrough(half), gdwire.ErrIncomplete)
	require.ErrorIs(t, w.WriteThrough(func(*gdwire.Encoder) error { return nil }), gdwire.ErrCount)
	var p *stream.PacketTooLongError
	require.ErrorAs(t, w.WriteThrough(func(e *gdwire.Encoder) error { return errors.Join(half(e), half2(e)) }), &p)
	require.NoError(t, w.WriteThrough(number(2)))
	require.Equal(t, framed(binary.LittleEndian, encoded(t, number(1)), encoded(t, number(2))), must(os.ReadFile(f.Name()))(t))
}

func half2(e *gdwire.Encoder) error {
	_, err := e.Write(make([]byte, 60_000))
	return err
}

// TestWriteThroughToEnd appends to files, also to one opened with O_APPEND and to a pipe.
func TestWriteThroughToEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	old := framed(binary.LittleEndian, encoded(t, number(1)))
	require.NoError(t, os.WriteFile(name, old, 0o600))

	f := must(os.OpenFile(name, os.O_RDWR, 0))(t)
	require.NoError(t, stream.NewWriter(f, nil).WriteThrough(number(2)))
	require.NoError(t, f.Close())
	want := framed(binary.LittleEndian, encoded(t, number(1)), encoded(t, number(2)))
	b := must(os.ReadFile(name))(t)
	require.Equal(t, want, b)

	f = must(os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0))(t)
	w := stream.NewWriter(f, nil)
	require.ErrorIs(t, w.WriteThrough(number(3)), stream.ErrNotSeekable)
	require.NoError(t, w.WritePacket(number(4)))
	require.NoError(t, f.Close())
	b = must(os.ReadFile(name))(t)
	require.Equal(t, append(want, framed(binary.LittleEndian, encoded(t, number(4)))...), b)

	r, p := testenv.Must2(os.Pipe())(t)
	defer r.Close()
	w = stream.NewWriter(p, nil)
	require.ErrorIs(t, w.WriteThrough(number(1)), stream.ErrNotSeekable)
	require.NoError(t, w.WritePacket(number(1)))
	require.NoError(t, p.Close())
	b = must(io.ReadAll(r))(t)
	require.Equal(t, old, b)

	require.Equal(t, stream.ErrNotSeekable, stream.NewWriter(new(sink), nil).WriteThrough(number(1)))
}

// A tape is a WriteSeeker that keeps the first length alone.
type tape struct {
	at, size int64
	start    [4]byte
}

func (t *tape) Write(b []byte) (int, error) {
	if t.at == 0 {
		copy(t.start[:], b)
	}
	t.at += int64(len(b))
	t.size = max(t.size, t.at)
	return len(b), nil
}

func (t *tape) Seek(offset int64, whence int) (int64, error) {
	t.at = offset + map[int]int64{io.SeekCurrent: t.at, io.SeekEnd: t.size}[whence]
	return t.at, nil
}

// gibs returns a function that writes n arrays of 1 GiB.
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
	allocated := testenv.Allocated(func() { require.NoError(t, w.WriteThrough(write)) })
	require.Less(t, allocated, testenv.MaxMemory())
	require.Equal(t, uint32(3<<30+8+3*8), binary.LittleEndian.Uint32(f.start[:]))
	require.Equal(t, int64(4+3<<30+8+3*8), f.size)
	require.Equal(t, f.size, f.at)

	f = tape{}
	err := w.WriteThrough(gibs(4))
	var p *stream.PacketTooLongError
	require.ErrorAs(t, err, &p)
	require.Equal(t, []byte{255, 255, 255, 255}, f.start[:])
	err = w.WritePacket(number(1))
	require.ErrorIs(t, err, stream.ErrNotSeekable, "the rest cannot be removed")
	require.False(t, stream.Skippable(err))
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

// A shaky file fails once after room bytes. If err is nil it writes less without an
// error.
type shaky struct {
	b    []byte
	at   int
	room int
	err  error
}

func (s *shaky) Write(p []byte) (int, error) {
	n := min(len(p), s.room)
	s.b = append(s.b[:s.at], append(bytes.Clone(p[:n]), s.b[min(s.at+n, len(s.b)):]...)...)
	s.at += n
	if s.room -= n; n < len(p) {
		s.room = math.MaxInt
		return n, s.err
	}
	return n, nil
}

func (s *shaky) Seek(offset int64, whence int) (int64, error) {
	s.at = int(offset) + map[int]int{io.SeekCurrent: s.at, io.SeekEnd: len(s.b)}[whence]
	return int64(s.at), nil
}

func (s *shaky) Truncate(size int64) error {
	s.b = s.b[:size]
	return nil
}

// A faultyFile has a fault in the call with the number fail, from 1 on: before its bytes, or after half of them, with
// an error or without. With stays, so have all later calls.
type faultyFile struct {
	shaky
	half, stays bool
	calls, fail int
	inWrite     bool // the first fault
}

func (f *faultyFile) fails() bool {
	f.calls++
	return f.calls == f.fail || f.stays && f.calls > f.fail
}

func (f *faultyFile) Write(p []byte) (int, error) {
	f.room = len(p)
	if f.fails() {
		f.inWrite = f.inWrite || f.calls == f.fail
		f.room = 0
		if f.half {
			f.room = len(p) / 2
		}
	}
	return f.shaky.Write(p)
}

func (f *faultyFile) Seek(offset int64, whence int) (int64, error) {
	if f.fails() {
		return 0, errBroken
	}
	return f.shaky.Seek(offset, whence)
}

func (f *faultyFile) Truncate(size int64) error {
	if f.fails() {
		return errBroken
	}
	return f.shaky.Truncate(size)
}

// TestPacketWriterFaults: beside a file of which any call fails, or writes less without an error, the packets of calls that
// returned nil are in the file, in order, and nothing else, or all later calls fail. If a Write failed, nothing remains of a
// packet that was written through to a file that can be truncated, or of one that had not begun, and calls can follow.
func TestPacketWriterFaults(t *testing.T) {
	one, large := encoded(t, number(1)), encoded(t, str(strings.Repeat("x", 100_000)))
	type call struct {
		packet  []byte
		through bool
	}
	for name, fault := range map[string]faultyFile{
		"error": {shaky: shaky{err: errBroken}}, "half": {shaky: shaky{err: errBroken}, half: true}, "short": {half: true}, "nothing": {},
		"from then on": {shaky: shaky{err: errBroken}, stays: true},
	} {
		for i, more := 2, true; more; i++ {
			f, at := fault, fmt.Sprint(name, " ", i)
			f.fail = i / 2
			truncates := i%2 == 0
			w := stream.NewWriter(&f, nil)
			if !truncates {
				w = stream.NewWriter(struct{ io.WriteSeeker }{&f}, nil)
			}
			var written []byte
			var errs []error
			var failed call
			var clean bool
			var err error
			for _, c := range []call{{one, false}, {large, false}, {large, true}, {one, true}, {one, false}} {
				if c.through {
					err = w.WriteThrough(func(e *gdwire.Encoder) error { return e.WriteRaw(c.packet) })
				} else {
					err = w.WriteRaw(c.packet)
				}
				if err == nil {
					written = append(written, framed(binary.LittleEndian, c.packet)...)
					continue
				}
				if errs = append(errs, err); len(errs) == 1 {
					require.True(t, errors.Is(err, errBroken) || errors.Is(err, io.ErrShortWrite), "%s: %v", at, err)
					failed, clean = c, bytes.Equal(written, f.b)
				}
			}
			if f.inWrite && !f.stays {
				switch {
				case failed.through && truncates || !failed.through && clean:
					require.Len(t, errs, 1, at)
					require.Equal(t, written, f.b, at)
				case !failed.through:
					require.Equal(t, errs[0], err, at)
				}
			}
			if !bytes.Equal(written, f.b) {
				require.True(t, bytes.HasPrefix(f.b, written), at)
				require.Error(t, err, at)
			}
			more = f.calls >= f.fail
			require.Equal(t, more, len(errs) > 0, at)
		}
	}
}
