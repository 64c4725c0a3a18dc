package stream_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

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
		if !full() && at%7 != 0 {
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

// TestTemporaryReaderFaults fails once, at each offset: the same is read as without.
func TestTemporaryReaderFaults(t *testing.T) {
	for name, b := range frames(t) {
		for way, read := range readings {
			if way == "CopyValue" { // it cannot be repeated inside a value
				continue
			}
			want, end := read(stream.NewReader(bytes.NewReader(b), faultOptions()))
			require.Equal(t, io.EOF, end)
			for _, at := range places(b) {
				for _, joined := range []bool{false, true} {
					f := &faulty{b: b, at: at, err: errTemporary, joined: joined}
					got, end := read(stream.NewReader(f, faultOptions()))
					require.Equal(t, io.EOF, end, "%s of %s, at %d", way, name, at)
					require.Equal(t, want, got, "%s of %s, at %d", way, name, at)
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
		_, err := r.Next()
		require.Equal(t, want, err)
	}
}

// TestPermanentReaderFaults fails permanently, at each offset: every call returns the error
// as it is, after the same packets as without it.
func TestPermanentReaderFaults(t *testing.T) {
	for name, b := range frames(t) {
		for way, read := range readings {
			want, _ := read(stream.NewReader(bytes.NewReader(b), faultOptions()))
			for _, at := range places(b) {
				for _, joined := range []bool{false, true} {
					r := stream.NewReader(&faulty{b: b, at: at, err: errBroken, joined: joined, forGood: true}, faultOptions())
					got, end := read(r)
					require.Equal(t, errBroken, end, "%s of %s, at %d", way, name, at)
					last := bytes.LastIndexByte([]byte(got[:len(got)-1]), '\n') + 1 // the last line, the error
					if way == "tokens" || way == "NextRaw" || way == "SkipValue" {
						require.Equal(t, want[:last], got[:last], "%s of %s, at %d", way, name, at)
					}
					_, err := r.Next()
					require.Equal(t, errBroken, err)
					_, err = r.NextRaw(nil)
					require.Equal(t, errBroken, err)
					require.EqualValues(t, at, r.InputOffset())
				}
			}
		}
	}
}
