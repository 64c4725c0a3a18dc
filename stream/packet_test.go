package stream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

func TestWritePacketFails(t *testing.T) {
	out := newSink()
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
