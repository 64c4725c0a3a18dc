package gdwire

import (
	"bytes"
	"io"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

const staleMessage = "gdwire: token used after the next call on its Decoder; Clone it to keep it"

// A token's payload is there until the next call on its Decoder, whichever that
// is, and never again; a clone's stays.
func TestStaleTokens(t *testing.T) {
	packet := wire(idArray, 3, str("text"), idFloats, 2, float32(1), float32(2), str("more"))
	other := wire(idArray, 3, str("TEXT"), idFloats, 2, float32(3), float32(4), str("MORE"))
	for name, next := range map[string]func(d *Decoder){
		"ReadToken": func(d *Decoder) { d.ReadToken() },
		"PeekKind":  func(d *Decoder) { d.PeekKind() },
		"SkipValue": func(d *Decoder) { d.SkipValue() },
		"SkipTo":    func(d *Decoder) { d.SkipTo(1) },
		"CopyValue": func(d *Decoder) {
			e := NewEncoder(io.Discard, nil)
			CopyValue(e, d)
			e.Release()
		},
		"AppendString": func(d *Decoder) { d.AppendString(nil) },
		"Payload":      func(d *Decoder) { d.Payload() },
		"ReadPacked":   func(d *Decoder) { ReadPacked(d, make([]float32, 1)) },
		"AppendPacked": func(d *Decoder) { AppendPacked(d, []float32(nil)) },
		"Reset":        func(d *Decoder) { d.Reset(plain(other)) },
		"ResetN":       func(d *Decoder) { d.ResetN(plain(other), 40) },
		"ResetBytes":   func(d *Decoder) { d.ResetBytes(other) },
		"Release":      func(d *Decoder) { d.Release() },
		"Reset to the same place": func(d *Decoder) {
			d.ResetBytes(other)
			d.ReadToken()
			d.ReadToken()
		},
		"Release, Reset to the same place": func(d *Decoder) {
			d.Release()
			d.Reset(plain(other))
			d.ReadToken()
			d.ReadToken()
		},
		"Reset back and forth": func(d *Decoder) {
			d.ResetBytes(nil)
			d.ResetBytes(packet)
			d.ReadToken()
			d.ReadToken()
		},
	} {
		for reset, start := range readers(packet) {
			for _, n := range []int{2, 4} {
				d := NewDecoder(nil, nil)
				start(d)
				tok := readTo(t, d, n)
				text := tok.Text()
				clone := tok.Clone()
				require.Equal(t, text, tok.Text())
				next(d)
				for use, f := range map[string]func(){
					"Bytes": func() { tok.Bytes() }, "Text": func() { tok.Text() }, "String": func() { _ = tok.String() },
					"Clone": func() { tok.Clone() }, "WriteToken": func() { NewEncoder(io.Discard, nil).WriteToken(tok) },
				} {
					require.PanicsWithValue(t, staleMessage, f, "%s after %s, %s", use, name, reset)
				}
				require.Equal(t, text, clone.Text())
				require.Equal(t, tok.Kind(), clone.Kind())
				require.Equal(t, tok.Len(), clone.Len())
				require.Equal(t, tok.Last(), clone.Last())
				d.Release()
			}
		}
	}
}

// Where a Decoder stands can be asked without making a token stale.
func TestQuestionsLeaveTokensAlone(t *testing.T) {
	d := NewDecoder(plain(str("text")), nil)
	defer d.Release()
	tok := readTo(t, d, 1)
	d.Depth()
	d.InputOffset()
	d.Buffered()
	d.StackIndex(0)
	d.AppendPath(nil)
	d.WrapError(io.EOF)
	require.Equal(t, "text", tok.Text())
}

// What needs no payload never goes stale.
func TestTokensWithoutPayload(t *testing.T) {
	d := NewDecoder(plain(wire(idArray, 9, idNil, idBool, 1, integer(7), idFloat|bit16, 0.5, idRID, uint64(3),
		idObject|bit16, uint64(4), str(""), idDict, 0, idPath, newPath(0), 0, 0)), nil)
	defer d.Release()
	all := []Token{}
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		all = append(all, tok)
	}
	d.Release()
	for _, tok := range all {
		require.Equal(t, tok, tok.Clone())
		require.Empty(t, tok.Bytes())
		require.NotEmpty(t, tok.String())
	}
	require.EqualValues(t, 9, all[0].Len())
	require.True(t, all[2].Bool())
	require.EqualValues(t, 7, all[3].Int())
	require.Equal(t, 0.5, all[4].Float())
	require.EqualValues(t, 3, all[5].ID())
}

// Two strings of a typed Dictionary's head stay whole when the window grows for
// the second of them.
func TestNamesMakeTheWindowGrow(t *testing.T) {
	names := [2]string{longText + longText + longText, "res://" + longText + longText}
	packet := wire(idDict|typedBy*2|valuesBy*3, names[0], names[1], 1, idNil, integer(7))
	for reset, start := range readers(packet) {
		d := NewDecoder(nil, &DecoderOptions{WindowSize: minWindow})
		start(d)
		tok := readTo(t, d, 1)
		require.Equal(t, Elem{Type: TypeObject, Class: names[0]}, tok.KeyElem(), reset)
		require.Equal(t, Elem{Type: TypeObject, Script: names[1]}, tok.Elem(), reset)
		require.Equal(t, names[0], tok.KeyElem().String())
		require.Equal(t, names[1], tok.Elem().String())
		require.EqualValues(t, 7, readTo(t, d, 3).Int())
		d.Release()
	}
}

// Tokens travel in registers as long as they are four words, frames share cache
// lines as long as they are 32 bytes; the documentation counts on the latter.
func TestSizes(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) == 8 {
		require.EqualValues(t, 32, unsafe.Sizeof(Token{}))
	}
	require.LessOrEqual(t, unsafe.Sizeof(frame{}), uintptr(32))
}

// A payload is handed out with its capacity clipped: appending to it copies.
func TestPayloadsAreClipped(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		b := bytes.Clone(s.packet)
		d := NewDecoder(nil, s.options(minWindow))
		defer d.Release()
		d.ResetBytes(b)
		for {
			tok, err := d.ReadToken()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			p := tok.Bytes()
			require.Equal(t, len(p), cap(p))
			p = d.Buffered()
			require.Equal(t, len(p), cap(p))
		}
		require.Equal(t, s.packet, b)
	})
}

// No position comes twice, so that no token is taken for a later one.
func TestTokensStayStale(t *testing.T) {
	texts := wire(idStrings, 40, bytes.Repeat(wire("a\x00"), 40))
	for resets := range 4 {
		for releases := range 9 {
			d := NewDecoder(plain(texts), nil)
			for range resets {
				readTo(t, d, 41)
				d.Reset(plain(texts))
			}
			tok := readTo(t, d, 20)
			d.Release()
			for range releases {
				d.Reset(plain(nil))
				d.Release()
			}
			d.Reset(plain(texts))
			for range 41 {
				readTo(t, d, 1)
				require.PanicsWithValue(t, staleMessage, func() { tok.Bytes() }, "%d Resets, %d Releases", resets, releases)
			}
			d.Release()
		}
	}
}
