package variant

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

var errRefused = errors.New("refused")

// A refusing type decodes nothing.
type refusing struct{}

func (*refusing) UnmarshalVariant(*gdwire.Decoder) error { return errRefused }

// TestReceive receives a packet that does not fit a Go type, then one that does: a Conn, a Reader and
// the Stats of a Server treat the first as invalid.
func TestReceive(t *testing.T) {
	good := encoded(t, dict("name", "Ada"), nil)
	long := encoded(t, dict("name", strings.Repeat("x", 50_000)), nil) // the Decoder reads it while it arrives
	for name, c := range map[string]struct {
		packet  []byte
		into    any
		options Options
		want    string // of the error; none if the packet is valid
	}{
		"valid":                  {good, new(simple), Options{}, ""},
		"valid, long":            {long, new(simple), Options{}, ""},
		"valid, any":             {long, new(any), Options{}, ""},
		"bytes after the value":  {append(bytes.Clone(good), 0, 0, 0, 0), new(simple), Options{}, "4 bytes after the value"},
		"bytes after, any":       {append(bytes.Clone(good), 7), new(any), Options{}, "1 bytes after the value"},
		"bytes after, long":      {append(bytes.Clone(long), 0, 0), new(simple), Options{}, "2 bytes after the value"},
		"two values":             {append(bytes.Clone(good), good...), new(simple), Options{}, "bytes after the value"},
		"wrong type":             {encoded(t, "text", nil), new(simple), Options{}, "String into Go variant.simple"},
		"wrong type, inside":     {encoded(t, dict("name", 5), nil), new(simple), Options{}, "int into Go string"},
		"out of range":           {encoded(t, 300, nil), new(int8), Options{}, "does not fit int8"},
		"unknown key":            {encoded(t, dict("other", 1), nil), new(simple), Options{RejectUnknown: true}, "unknown key"},
		"too much memory":        {long, new(simple), Options{MaxMemory: 100}, "MaxMemory"},
		"refused by the Go type": {good, new(refusing), Options{}, "refused"},
		"invalid":                {[]byte{200, 0, 0, 0}, new(any), Options{}, "type"},
		"empty":                  {nil, new(any), Options{}, "empty packet"},
	} {
		t.Run(name, func(t *testing.T) {
			var wire []byte
			for _, p := range [][]byte{c.packet, good} {
				wire = append(binary.LittleEndian.AppendUint32(wire, uint32(len(p))), p...)
			}
			check := func(r interface {
				Next() (*gdwire.Decoder, error)
			}) {
				err := Receive(r, c.into, c.options)
				if c.want == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, c.want)
					require.True(t, stream.Skippable(err), err)
				}
				var m simple
				require.NoError(t, Receive(r, &m))
				require.Equal(t, "Ada", m.Name)
				require.Equal(t, io.EOF, Receive(r, &m))
			}
			check(stream.NewReader(bytes.NewReader(wire), nil))

			ours, theirs := net.Pipe()
			s := &stream.Server{
				Logger:  slog.New(slog.DiscardHandler),
				Handler: func(_ context.Context, conn *stream.Conn) error { check(conn); return nil },
			}
			go func() {
				_, _ = theirs.Write(wire)
				_ = theirs.Close()
			}()
			s.ServeConn(stream.NewConn(t.Context(), ours, nil))
			require.EqualValues(t, 2, s.Stats().PacketsIn)
			invalid := 0
			if c.want != "" {
				invalid = 1
			}
			require.EqualValues(t, invalid, s.Stats().Invalid)
		})
	}
}

// TestReceiveMistakes calls Receive wrongly: the program is at fault and not the packet.
func TestReceiveMistakes(t *testing.T) {
	r := stream.NewReader(bytes.NewReader([]byte{4, 0, 0, 0, 0, 0, 0, 0}), nil)
	err := Receive(r, 5)
	require.ErrorContains(t, err, "not a pointer")
	require.False(t, stream.Skippable(err))
	var empty decoders = func() (*gdwire.Decoder, error) { return newDecoderOf(nil), nil }
	err = Receive(empty, new(any))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "a packet without a value is not the end")
	require.True(t, stream.Skippable(err))
	var unknown decoders = func() (*gdwire.Decoder, error) {
		return gdwire.NewDecoder(bytes.NewReader(make([]byte, 8)), nil), nil
	}
	require.NoError(t, Receive(unknown, new(any)), "what follows can be the next packet")
}

type decoders func() (*gdwire.Decoder, error)

func (f decoders) Next() (*gdwire.Decoder, error) { return f() }

// TestSend sends values that can be encoded, and others, of which nothing is written.
func TestSend(t *testing.T) {
	var b bytes.Buffer
	w := stream.NewWriter(&b, &stream.Options{MaxPacket: 100})
	require.NoError(t, Send(w, simple{Name: "Ada"}))
	require.Error(t, Send(w, func() {}))
	require.True(t, stream.Skippable(Send(w, make([]byte, 100))))
	require.NoError(t, Send(w, 5))
	r := stream.NewReader(&b, nil)
	var m simple
	require.NoError(t, Receive(r, &m))
	require.Equal(t, "Ada", m.Name)
	var n int
	require.NoError(t, Receive(r, &n))
	require.Equal(t, 5, n)
	require.Equal(t, io.EOF, Receive(r, &n))
}
