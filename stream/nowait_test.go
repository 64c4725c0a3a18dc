package stream_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// failing reads a value and fails.
type failing struct{}

func (*failing) UnmarshalVariant(d *gdwire.Decoder) error {
	return errors.Join(d.SkipValue(), errors.New("invalid"))
}

// A silentConn reads from a silent peer.
type silentConn struct {
	net.Conn
	peer *testenv.Peer
}

func (c silentConn) Read(p []byte) (int, error) { return c.peer.Read(p) }

// No call of a Reader, nor of the Decoder of a packet, waits for more than it needs.
func TestReadingDoesNotWait(t *testing.T) {
	framed := func(v any) []byte {
		packet := gdwiretest.Encode(t, v)
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(packet))), packet...)
	}
	sent := framed([]any{"text", 5, []float64{1.5}})
	large := framed([]any{strings.Repeat("x", 20_000)}) // packets of up to 16 KiB have arrived when Next returns
	next := func(read func(d *gdwire.Decoder) error) func(r source) error {
		return func(r source) error {
			d, err := r.Next()
			if err != nil {
				return err
			}
			return read(d)
		}
	}
	for _, c := range []struct {
		name string
		sent []byte
		call func(r source) error
	}{
		{"Next", large[:4], next(func(*gdwire.Decoder) error { return nil })},
		{"Next and a token", large[:12], next(func(d *gdwire.Decoder) error { _, err := d.ReadToken(); return err })},
		{"Next and a value", sent, next((*gdwire.Decoder).SkipValue)},
		{"Next and a large value", large, next((*gdwire.Decoder).SkipValue)},
		{"Next and UnmarshalDecode", sent, next(func(d *gdwire.Decoder) error { return variant.UnmarshalDecode(d, new(any)) })},
		{"Next and a value of another type", large[:8], next(func(d *gdwire.Decoder) error {
			if err := variant.UnmarshalDecode(d, new(int)); !stream.Skippable(err) {
				return errors.Join(errors.New("not skippable"), err)
			}
			return nil
		})},
		{"Next and a method's error", sent, next(func(d *gdwire.Decoder) error {
			if err := variant.UnmarshalDecode(d, new(failing)); !stream.Skippable(err) {
				return errors.Join(errors.New("not skippable"), err)
			}
			return nil
		})},
		{"Next of an empty packet", []byte{0, 0, 0, 0}, func(r source) error {
			if _, err := r.Next(); !stream.Skippable(err) {
				return errors.Join(errors.New("not skippable"), err)
			}
			return nil
		}},
		{"NextRaw", sent, func(r source) error { _, err := r.NextRaw(nil); return err }},
		{"two packets", append(sent[:len(sent):len(sent)], sent...), func(r source) error {
			_, err := r.NextRaw(nil)
			_, again := r.NextRaw(nil)
			return errors.Join(err, again)
		}},
		{"offsets", sent, func(r source) error {
			_, err := r.NextRaw(nil)
			r.PacketOffset()
			r.PacketSize()
			r.Trailing()
			if r, ok := r.(*stream.Reader); ok {
				r.InputOffset()
				r.CompleteOffset()
			}
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, step := range []int{1, 1 << 20} {
				p := testenv.NewPeer(c.sent, step)
				require.NoError(t, c.call(stream.NewReader(p, nil)))
				require.False(t, p.Waits())

				ours, theirs := net.Pipe()
				defer theirs.Close()
				p = testenv.NewPeer(c.sent, step)
				conn := stream.NewConn(context.Background(), silentConn{ours, p}, nil)
				defer conn.Close()
				require.NoError(t, c.call(conn))
				require.False(t, p.Waits())
			}
		})
	}
}
