package gdwire

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/wire"
)

// Err returns errors that stay, and LastError the latest one. Neither reads.
func TestErrAndLastError(t *testing.T) {
	packet := bytesOf(idArray, 3, integer(1), integer(2), 99)
	d := newDecoder(t, plain(nil), nil)
	require.Zero(t, d.PeekKind())
	require.NoError(t, d.lastError(), "of a Decoder that has found none")
	d.Reset(plain(packet))
	require.NoError(t, d.Err())
	require.NoError(t, d.lastError())
	readTo(t, d, 1)
	_, wrongType := d.ReadString()
	require.ErrorIs(t, wrongType, ErrType)
	require.NoError(t, d.Err())
	require.Same(t, wrongType, d.lastError())
	own := d.WrapError(errors.New("own"))
	require.NoError(t, d.Err())
	require.Same(t, own, d.lastError())
	readTo(t, d, 2)
	require.Same(t, own, d.lastError(), "reading does not change it")
	unknown := d.SkipValue()
	require.ErrorIs(t, unknown, ErrType)
	require.Same(t, unknown, d.Err())
	require.Same(t, unknown, d.lastError())

	d.Reset(io.MultiReader(plain(packet[:10]), iotest.ErrReader(io.ErrClosedPipe)))
	require.NoError(t, d.Err())
	require.NoError(t, d.lastError())
	readTo(t, d, 1)
	require.Equal(t, io.ErrClosedPipe, errOf(d.ReadInt()))
	require.NoError(t, d.Err())
	require.Equal(t, io.ErrClosedPipe, d.lastError())
	require.Zero(t, d.PeekKind())
	require.NoError(t, d.Err(), "PeekKind keeps an error of the Reader for one call only")

	for range 2 { // without an error before, and with one that Reset discarded
		d.Reset(plain(nil))
		require.Zero(t, d.PeekKind())
		require.NoError(t, d.Err())
		require.NoError(t, d.lastError(), "the end of the input is no error")
		_ = d.WrapError(errors.New("own"))
	}

	d.Reset(plain(packet[:10]))
	require.ErrorIs(t, d.SkipValue(), io.ErrUnexpectedEOF)
	require.ErrorIs(t, d.Err(), io.ErrUnexpectedEOF)
	d.Release()
	require.Equal(t, ErrClosed, d.Err())
	require.Equal(t, ErrClosed, d.lastError())
}

func TestValueErrors(t *testing.T) {
	godot2, strict := DecoderOptions{Format: Godot2}, DecoderOptions{Format: Godot2, Strict: true}
	testInputErrors(t, []inputError{
		{name: "unknown type of Godot 4", packet: bytesOf(99), is: ErrType,
			text: "offset 0, $: unknown godot4 type id 99"},
		{name: "unknown type of Godot 3", packet: bytesOf(30), options: DecoderOptions{Format: Godot3}, is: ErrType,
			text: "offset 0, $: unknown godot3 type id 30"},
		{name: "flags", packet: bytesOf(2 | bit16), options: godot2, is: ErrFlags,
			text: "offset 0, $: header has flags: 0x10002, godot2 has none"},
		{name: "short InputEvent", packet: bytesOf(19, 1, 0, 5), options: godot2, is: ErrRange,
			text: "offset 12, $: InputEvent of type 1 needs more than 5 bytes"},
		{name: "long InputEvent", packet: bytesOf(19, 1, 0, wire.EventHead+12, make([]byte, 12)), options: strict, is: ErrStrict,
			text: "offset 12, $: not canonical: InputEvent longer than its type needs"},
		{name: "EOF", packet: bytesOf(idInt), is: io.ErrUnexpectedEOF, text: "offset 4, $: unexpected EOF"},
	})
}

// An error at the beginning of the input names the container that it probably is, from its
// first four bytes alone.
func TestContainerHints(t *testing.T) {
	const frame = "; perhaps the input begins with its length: see packages savefile and stream"
	for _, c := range []struct {
		name, input, hint string
	}{
		{"packets with lengths", string(bytesOf(100, idArray, 0)) + strings.Repeat("\x00", 92), frame},
		{"no length of engines", string(bytesOf(99, idArray, 0)), ""},
		{"another first byte", "\xf0\xf1\xf2\xf3", ""},
		{"compressed", "GCPF\x02\x00\x00\x00", "; GCPF: a compressed file, see package savefile"},
		{"encrypted", "GDEC\x01\x00\x00\x00", "; GDEC: an encrypted file, see package savefile"},
		{"resource", "RSRC\x00\x00\x00\x00", "; RSRC: a resource, not a value"},
		{"compressed resource", "RSCC\x00\x00\x00\x00", "; RSCC: a compressed resource, not a value"},
		{"JSON", "{\n\t\"a\": 1}", "; the input is text: for JSON, see package gdjson"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDecoder(t, nil, nil)
			for name, reset := range map[string]func(){
				"memory":       func() { d.ResetBytes([]byte(c.input)) },
				"byte by byte": func() { d.ResetN(iotest.OneByteReader(strings.NewReader(c.input)), int64(len(c.input))) },
			} {
				reset()
				_, err := d.ReadToken()
				require.ErrorIs(t, err, ErrType, name)
				require.EqualError(t, err, fmt.Sprintf("gdwire: offset 0, $: unknown godot4 type id %d%s", c.input[0], c.hint), name)
			}
			d.ResetBytes(append(bytesOf(idArray, 1), c.input...))
			must(d.ReadToken())(t)
			_, err := d.ReadToken()
			require.EqualError(t, err, fmt.Sprintf("gdwire: offset 8, $[0]: unknown godot4 type id %d", c.input[0]), "inside a value")
		})
	}
}

// Calls after an error that stays return it and allocate nothing, also where the depth is an error.
func TestCallsAfterAnError(t *testing.T) {
	d := newDecoder(t, nil, &DecoderOptions{Limits: Limits{Depth: 1}})
	d.ResetBytes(bytesOf(idArray, 1, idArray, 1, idArray, 1, idNil))
	for range 2 {
		must(d.ReadArray())(t)
	}
	_, err := d.ReadArray()
	require.ErrorIs(t, err, ErrLimit)
	for name, read := range map[string]func() error{
		"ReadArray":  func() error { _, err := d.ReadArray(); return err },
		"ReadBool":   func() error { _, err := d.ReadBool(); return err },
		"ReadInt":    func() error { _, err := d.ReadInt(); return err },
		"ReadString": func() error { _, err := d.ReadString(); return err },
		"ReadToken":  func() error { _, err := d.ReadToken(); return err },
		"SkipValue":  d.SkipValue,
	} {
		allocs := testing.AllocsPerRun(20, func() {
			if read() != err {
				t.Errorf("%s returns another error", name)
			}
		})
		require.Zero(t, allocs, name)
	}
}

// A Decoder keeps no error of a Reader after it returned it, because it can be in a pool.
func TestFaultsAreCleared(t *testing.T) {
	d := newDecoder(t, nil, nil)
	for name, call := range map[string]func() error{
		"ReadToken": func() error { _, err := d.ReadToken(); return err },
		"ReadInt":   func() error { _, err := d.ReadInt(); return err },
		"SkipValue": d.SkipValue,
		"PeekKind":  func() error { d.PeekKind(); return d.err },
	} {
		d.Reset(iotest.ErrReader(io.ErrClosedPipe))
		require.Equal(t, io.ErrClosedPipe, call(), name)
		require.Equal(t, fault{}, d.fault, name)
	}
}
