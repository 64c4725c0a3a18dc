package stream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

func TestPacketErrors(t *testing.T) {
	next := func(b ...byte) error {
		d, err := stream.NewReader(bytes.NewReader(b), &stream.Options{MaxPacket: 10}).Next()
		if err == nil {
			err = d.SkipValue()
		}
		return err
	}
	w := stream.NewWriter(io.Discard, &stream.Options{MaxPacket: 10})
	for _, c := range []struct {
		name string
		err  error
		is   error
		text string
	}{
		{"long packet", next(20, 0, 0, 0), nil, "gdwire/stream: offset 4: packet of 20 bytes exceeds MaxPacket (10)"},
		{"long raw packet", w.WriteRaw(make([]byte, 11)), nil, "gdwire/stream: offset 0: packet of 11 bytes exceeds MaxPacket (10)"},
		{"empty packet", next(0, 0, 0, 0), io.ErrUnexpectedEOF, "gdwire: offset 0, $: empty packet: unexpected EOF"},
		{"no value", w.WritePacket(func(*gdwire.Encoder) error { return nil }), gdwire.ErrCount, "gdwire: offset 0, $: wrong count: packet of 0 values, not 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.EqualError(t, c.err, c.text)
			require.True(t, stream.Skippable(c.err))
			if c.is != nil {
				require.ErrorIs(t, c.err, c.is)
			} else {
				require.ErrorAs(t, c.err, new(*stream.PacketTooLongError))
			}
		})
	}
}

func TestSkippable(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"PacketTooLongError", &stream.PacketTooLongError{}, true},
		{"PeerError", fmt.Errorf("answer: %w", &stream.PeerError{Err: syscall.EINVAL}), true},
		{"Error", &gdwire.Error{Err: gdwire.ErrType}, true},
		{"wrapped Error", fmt.Errorf("player: %w", &gdwire.Error{Err: gdwire.ErrType}), true},
		{"end of the stream", io.EOF, false},
		{"inside a length", io.ErrUnexpectedEOF, false},
		{"own error", errors.New("own"), false},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, stream.Skippable(c.err)) })
	}
}
