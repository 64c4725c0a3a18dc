package stream_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

// A sink is a Writer that counts calls and can fail.
type sink struct {
	bytes.Buffer
	calls int
	room  int   // bytes until it fails
	err   error // its error; nil: it writes less without an error
}

func (s *sink) Write(b []byte) (int, error) {
	s.calls++
	if len(b) > s.room {
		b = b[:s.room]
		s.room = 0
		_, _ = s.Buffer.Write(b)
		return len(b), s.err
	}
	s.room -= len(b)
	return s.Buffer.Write(b)
}

func TestWritePacket(t *testing.T) {
	for _, big := range []bool{false, true} {
		var order binary.AppendByteOrder = binary.LittleEndian
		if big {
			order = binary.BigEndian
		}
		out := newSink()
		w := stream.NewWriter(out, &stream.Options{BigEndianLength: big})
		var want []byte
		for i, size := range []int{0, 1, 10_000, 100_000, 1_000_000} {
			s := strings.Repeat("x", size)
			want = append(want, framed(order, encoded(t, str(s)))...)
			require.NoError(t, w.WritePacket(str(s)))
			require.Equal(t, i+1, out.calls)
		}
		require.True(t, bytes.Equal(want, out.Bytes()))
	}
}

func TestWriteRaw(t *testing.T) {
	out := newSink()
	w := stream.NewWriter(out, &stream.Options{MaxPacket: 100_000})
	var want []byte
	for _, size := range []int{1, 4, 65_536, 65_537, 100_000} {
		p := bytes.Repeat([]byte{byte(size)}, size)
		want = append(want, framed(binary.LittleEndian, p)...)
		require.NoError(t, w.WriteRaw(p))
	}
	require.Equal(t, want, out.Bytes())
	require.Equal(t, &stream.PacketTooLongError{Size: 100_001, Max: 100_000}, w.WriteRaw(make([]byte, 100_001)))
	require.ErrorIs(t, w.WriteRaw(nil), gdwire.ErrCount)
	w = stream.NewWriter(out, &stream.Options{MaxPacket: 10})
	require.Equal(t, &stream.PacketTooLongError{Size: 11, Max: 10}, w.WriteRaw(make([]byte, 11)))
	require.Equal(t, want, out.Bytes())
}

// TestWriters writes from many goroutines, and one packet while another is encoded.
func TestWriters(t *testing.T) {
	out := newSink()
	w := stream.NewWriter(out, nil)
	raw := encoded(t, str("raw"))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 200 {
				assert.NoError(t, w.WritePacket(func(e *gdwire.Encoder) error {
					if i%50 == 0 {
						if err := w.WritePacket(str("within")); err != nil {
							return err
						}
					}
					return e.WriteString(strings.Repeat(fmt.Sprint(g), i*20))
				}))
				assert.NoError(t, w.WriteRaw(raw))
			}
		})
	}
	all.Wait()
	seen := map[string]int{}
	r := stream.NewReader(&out.Buffer, nil)
	for {
		d, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		must(d.ReadToken())(t)
		s := must(d.AppendString(nil))(t)
		seen[string(s)]++
	}
	require.Equal(t, 1600, seen["raw"])
	require.Equal(t, 32, seen["within"])
	require.Equal(t, 8, seen[""])
	for g := range 8 {
		for i := 1; i < 200; i++ {
			require.Equal(t, 1, seen[strings.Repeat(fmt.Sprint(g), i*20)])
		}
	}
}

// TestWriteErrors fails after each byte.
func TestWriteErrors(t *testing.T) {
	own := errors.New("own")
	large := encoded(t, str(strings.Repeat("x", 70_000)))
	for name, c := range map[string]struct {
		write func(w *stream.Writer) error
		size  int
	}{
		"WritePacket": {func(w *stream.Writer) error { return w.WritePacket(str("abcdef")) }, 20},
		"WriteRaw":    {func(w *stream.Writer) error { return w.WriteRaw(make([]byte, 16)) }, 20},
		"large":       {func(w *stream.Writer) error { return w.WriteRaw(large) }, len(large) + 4},
	} {
		t.Run(name, func(t *testing.T) {
			for _, want := range []error{own, io.ErrShortWrite} {
				for n := 0; n < c.size; n += 1 + n/100*1000 {
					out := &sink{room: n}
					if want == own {
						out.err = own
					}
					w := stream.NewWriter(out, nil)
					require.Equal(t, want, c.write(w))
					require.Equal(t, n, out.Len())
					out.room = 1 << 30
					if n == 0 { // it can be repeated
						require.NoError(t, c.write(w))
						require.Equal(t, c.size, out.Len())
						continue
					}
					require.Equal(t, want, c.write(w))
					require.Equal(t, want, w.WritePacket(number(1)))
					require.Equal(t, n, out.Len())
				}
			}
		})
	}
	for _, n := range []int{-1, 1 << 20} {
		w := stream.NewWriter(liar(n), nil)
		require.ErrorContains(t, w.WritePacket(number(1)), "impossible count")
	}
}

type liar int

func (n liar) Write([]byte) (int, error) { return int(n), nil }
