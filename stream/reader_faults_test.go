package stream_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
)

func TestWritePacketFails(t *testing.T) {
	out := new(sink)
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
	require.Equal(t, errTape, errOf(stream.ScanComplete(&stutter{r: bytes.NewReader(nil), err: errTape})))
}

// A faulty Reader returns err after at bytes: once, or permanently.
type faulty struct {
	b       []byte
	at      int
	err     error
	joined  bool // the error comes with the bytes before it
	forGood bool
	pos     int
	failed  bool
}

func (f *faulty) Read(p []byte) (int, error) {
	due := !f.failed || f.forGood
	if due && f.pos == f.at {
		f.failed = true
		return 0, f.err
	}
	b := f.b[f.pos:]
	if due {
		b = f.b[f.pos:f.at]
	}
	n := copy(p, b)
	f.pos += n
	switch {
	case n == 0:
		return 0, io.EOF
	case due && f.joined && f.pos == f.at:
		f.failed = true
		return n, f.err
	}
	return n, nil
}

// frames returns streams in which every byte is worth a fault: small packets of all
// kinds, and one that is larger than the read buffer.
func frames(t *testing.T) map[string][]byte {
	p := mixed(t)
	return map[string][]byte{
		"small": framed(binary.LittleEndian, p[0], p[1], p[2], p[3], p[4], p[5], make([]byte, 100), p[11], p[12]),
		"large": framed(binary.LittleEndian, p[0], p[6], p[2]),
	}
}

// places returns the offsets at which to fail: all, or in a long stream a sample of them.
func places(b []byte) (all []int) {
	for at := range len(b) + 1 {
		if !testenv.Full() && at%7 != 0 {
			continue
		}
		if at < 100 || at > len(b)-100 || at%499 == 0 {
			all = append(all, at)
		}
	}
	return all
}

func faultOptions() *stream.Options {
	return &stream.Options{MaxPacket: 45_000, Decoder: gdwire.DecoderOptions{Limits: gdwire.Limits{Elements: 50}}}
}

func everyPacket(r source, read func(w io.Writer, d *gdwire.Decoder) error) (string, error) {
	var b bytes.Buffer
	for {
		d, err := again(r.Next)
		end := err
		if err == nil {
			if err = read(&b, d); err == io.EOF {
				err = nil // after the value
			}
			end = err
		}
		fmt.Fprintln(&b, r.PacketOffset(), r.PacketSize(), err)
		if end != nil && !stream.Skippable(end) {
			return b.String(), end
		}
	}
}

// TestStreamReaderFaults fails at each offset: after a temporary error the same is read as without it, and a permanent one is
// returned as it is, after the same packets.
func TestStreamReaderFaults(t *testing.T) {
	for name, b := range frames(t) {
		for way, read := range readings {
			want, end := read(stream.NewReader(bytes.NewReader(b), faultOptions()))
			require.Equal(t, io.EOF, end)
			for _, at := range places(b) {
				for _, joined := range []bool{false, true} {
					name := fmt.Sprintf("%s of %s, at %d", way, name, at)
					if way != "CopyValue" { // it cannot be repeated inside a value
						got, end := read(stream.NewReader(&faulty{b: b, at: at, err: errTemporary, joined: joined}, faultOptions()))
						require.Equal(t, io.EOF, end, name)
						require.Equal(t, want, got, name)
					}

					r := stream.NewReader(&faulty{b: b, at: at, err: errBroken, joined: joined, forGood: true}, faultOptions())
					got, end := read(r)
					require.Equal(t, errBroken, end, name)
					last := bytes.LastIndexByte([]byte(got[:len(got)-1]), '\n') + 1 // the last line, the error
					if way == "tokens" || way == "NextRaw" || way == "SkipValue" {
						require.Equal(t, want[:last], got[:last], name)
					}
					require.Equal(t, errBroken, errOf(r.Next()))
					require.Equal(t, errBroken, errOf(r.NextRaw(nil)))
					require.EqualValues(t, at, r.InputOffset())
				}
			}
		}
	}
}

// An error that comes with bytes is returned once, after them.
func TestErrorWithBytes(t *testing.T) {
	packet := framed(binary.LittleEndian, mixed(t)[0])
	f := &faulty{b: slices.Concat(packet, packet), at: len(packet), err: errTemporary, joined: true}
	r := stream.NewReader(f, nil)
	for _, want := range []error{nil, errTemporary, nil, io.EOF} {
		require.Equal(t, want, errOf(r.Next()))
	}
}

// A sink is a Writer that counts calls.
type sink struct {
	bytes.Buffer
	calls int
}

func (s *sink) Write(b []byte) (int, error) {
	s.calls++
	return s.Buffer.Write(b)
}

func TestWritePacket(t *testing.T) {
	for _, big := range []bool{false, true} {
		var order binary.AppendByteOrder = binary.LittleEndian
		if big {
			order = binary.BigEndian
		}
		out := new(sink)
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
	out := new(sink)
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
	out := new(sink)
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
