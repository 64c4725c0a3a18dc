package gdwire

import (
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A Payload after a token without a payload, or after another call, reads nothing.
func TestPayloadTakenTooEarly(t *testing.T) {
	packet := wire(idDict, 2, str("key"), idArray, 1, str("text"), str("other"), str(longText))
	for name, c := range map[string]struct {
		tokens int
		after  func(d *Decoder)
	}{
		"before the first token": {0, func(d *Decoder) { readTo(t, d, 3) }},
		"at a DictStart":         {1, func(d *Decoder) { readTo(t, d, 2) }},
		"at a DictKey":           {2, func(d *Decoder) { readTo(t, d, 1) }},
		"at an End":              {6, func(d *Decoder) { readTo(t, d, 2) }},
		"before PeekKind":        {3, func(d *Decoder) { d.PeekKind() }},
		"before AppendString":    {3, func(d *Decoder) { d.AppendString(nil); d.SkipValue(); d.AppendString(nil) }},
		"before a typed read":    {3, func(d *Decoder) { d.ReadArray() }},
		"before SkipTo":          {3, func(d *Decoder) { d.SkipTo(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(nil, &DecoderOptions{WindowSize: 16})
			defer d.Release()
			eachReader(d, packet, func(name string) {
				readTo(t, d, c.tokens)
				p := d.Payload()
				c.after(d)
				_, err := p.Read(make([]byte, 100))
				require.ErrorIs(t, err, ErrType, name)
				_, err = io.Copy(io.Discard, p)
				require.ErrorIs(t, err, ErrType, name)
			})
		})
	}
}

// In the middle of a string or of packed data, SkipValue, CopyValue and Tokens
// cover the rest of it.
func TestRestOfAValue(t *testing.T) {
	for name, c := range map[string]struct {
		packet []byte
		tokens int // that are read before
		end    int64
		depth  int
	}{
		"String":             {wire(idArray, 2, str(strings.Repeat("x", 64)), idNil), 2, 8 + 8 + 64, 1},
		"String, two chunks": {wire(idArray, 2, str(strings.Repeat("x", 64)), idNil), 3, 8 + 8 + 64, 1},
		"PackedByteArray":    {wire(idArray, 2, idBytes, 64, make([]byte, 64), idNil), 2, 8 + 8 + 64, 2},
		"packed, one chunk":  {wire(idArray, 2, idBytes, 64, make([]byte, 64), idNil), 3, 8 + 8 + 64, 2},
	} {
		for how, rest := range map[string]func(d *Decoder) error{
			"SkipValue": (*Decoder).SkipValue,
			"Tokens": func(d *Decoder) (err error) {
				for _, err = range d.Tokens() {
				}
				return err
			},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				d := NewDecoder(plain(c.packet), &DecoderOptions{WindowSize: 16})
				defer d.Release()
				readTo(t, d, c.tokens)
				require.NoError(t, rest(d))
				require.Equal(t, c.end, d.InputOffset())
				require.Equal(t, c.depth, d.Depth())
			})
		}
		t.Run(name+"/CopyValue", func(t *testing.T) {
			d := NewDecoder(plain(c.packet), &DecoderOptions{WindowSize: 16})
			defer d.Release()
			got := encoded(t, nil, func(e *Encoder) {
				for range c.tokens {
					require.NoError(t, e.WriteToken(readTo(t, d, 1)))
				}
				require.NoError(t, CopyValue(e, d))
				require.Equal(t, c.end, d.InputOffset())
				require.Equal(t, c.depth, d.Depth())
				for d.Depth() > 0 {
					require.NoError(t, e.WriteToken(readTo(t, d, 1)))
				}
			})
			require.Equal(t, c.packet, got)
		})
	}
}

// Tokens ends where its value does, also if the body skips more.
func TestTokensWithSkips(t *testing.T) {
	d := NewDecoder(plain(wire(idDict, 1, str("k"), integer(1), integer(42))), nil)
	defer d.Release()
	var kinds []Kind
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		kinds = append(kinds, tok.Kind())
		if tok.Kind() == KindDictKey {
			require.NoError(t, d.SkipTo(0))
		}
	}
	require.Equal(t, []Kind{KindDictStart, KindDictKey}, kinds)
	n, err := d.ReadInt()
	require.NoError(t, err)
	require.EqualValues(t, 42, n)

	// At a DictKey it covers the marker and the key.
	d.Reset(plain(wire(idDict, 1, str("k"), integer(1))))
	readTo(t, d, 1)
	kinds = nil
	for tok, err := range d.Tokens() {
		require.NoError(t, err)
		kinds = append(kinds, tok.Kind())
	}
	require.Equal(t, []Kind{KindDictKey, KindStringChunk}, kinds)
}

// Reset forgets the error that PeekKind has kept: the next Error stays.
func TestResetAfterPeekedError(t *testing.T) {
	d := NewDecoder(plain(nil), nil)
	defer d.Release()
	for _, reset := range []func(b []byte){
		func(b []byte) { d.Reset(plain(b)) },
		func(b []byte) { d.ResetN(plain(b), int64(len(b))) },
		d.ResetBytes,
	} {
		reset(nil)
		require.Zero(t, d.PeekKind())
		reset(wire(99))
		for range 3 {
			_, err := d.ReadToken()
			requireError(t, err, 0, "$", ErrType)
		}
	}
}

// A path is UTF-8 wherever it is cut.
func TestPathsAreUTF8(t *testing.T) {
	for n := range 20 {
		key := strings.Repeat("x", n) + "éé"
		var b []byte
		for range 20 {
			b = append(b, wire(idDict, 1, str(key))...)
		}
		d := NewDecoder(plain(append(b, wire(99)...)), nil)
		_, err := d.ReadToken()
		for err == nil {
			_, err = d.ReadToken()
		}
		var e *Error
		require.ErrorAs(t, err, &e)
		require.True(t, utf8.ValidString(e.Path), e.Path)
		require.LessOrEqual(t, len(e.Path), maxPath)
		d.Release()
	}
}

// Keys that are not strings are in paths, too.
func TestPathsOfKeys(t *testing.T) {
	for _, c := range []struct {
		key  []byte
		path string
	}{
		{str("name"), "$.name"},
		{str("_x9"), "$._x9"},
		{str("9x"), `$["9x"]`},
		{str(""), `$[""]`},
		{str("a b"), `$["a b"]`},
		{str("a\"\\\n\r\t\a\u009b\u202e\U000e0001é"), `$["a\"\\\n\r\t\x07\u009b\u202e\U000e0001é"]`},
		{wire(idName, "speed"), `$[&"speed"]`},
		{wire(idNil), "$[null]"},
		{wire(idBool, 1), "$[true]"},
		{integer(7), "$[7]"},
		{wire(idInt, uint32(math.MaxUint32)), "$[-1]"},
		{wire(idInt|bit16, uint64(1<<40)), "$[1099511627776]"},
		{wire(idFloat, float32(1)), "$[1.0]"},
		{wire(idFloat|bit16, 1e300), "$[1e+300]"},
		{wire(idFloat, float32(math.Inf(-1))), "$[-inf]"},
		{wire(idFloat|bit16, math.NaN()), "$[nan]"},
		{wire(6, 1, uint32(math.MaxUint32)), "$[Vector2i(1, -1)]"},
		{wire(idVector2, float32(0.5), float32(2)), "$[Vector2(0.5, 2.0)]"},
		{wire(idVector3|bit16, 0.5, 2.0, 1e20), "$[Vector3(0.5, 2.0, 1e+20)]"},
		{wire(idTransform, reals(12)), "$.value(0)"},
		{wire(idArray, 0), "$.value(0)"},
		{wire(idRID, uint64(1)), "$.value(0)"},
		{str(strings.Repeat("x", 33)), `$["` + strings.Repeat("x", 32) + `…"]`},
	} {
		for _, far := range []bool{false, true} { // the key has left the buffer
			b := append(wire(idDict, 1), c.key...)
			if far {
				b = append(b, wire(idArray, 2, str(strings.Repeat("y", 500)))...)
			}
			d := NewDecoder(&slowReader{append(b, wire(99)...)}, &DecoderOptions{WindowSize: 16})
			_, err := d.ReadToken()
			for err == nil {
				_, err = d.ReadToken()
			}
			var e *Error
			require.ErrorAs(t, err, &e)
			want := c.path
			if far {
				want += "[1]"
			}
			require.Equal(t, want, e.Path)
			d.Release()
		}
	}
}

// The bytes that bulk reads return before an error, and the error's offset, do not depend on
// the pieces in which the Reader returns bytes.
func TestBulkReadsHoweverCut(t *testing.T) {
	bulk := map[string]func(d *Decoder) (int, error){
		"Payload": func(d *Decoder) (int, error) {
			b, err := io.ReadAll(struct{ io.Reader }{d.Payload()})
			return len(b), err
		},
		"WriteTo":       func(d *Decoder) (int, error) { n, err := io.Copy(io.Discard, d.Payload()); return int(n), err },
		"AppendPacked":  func(d *Decoder) (int, error) { b, err := AppendPacked[byte](d, nil); return len(b), err },
		"widened":       func(d *Decoder) (int, error) { b, err := AppendPacked[int64](d, nil); return len(b), err },
		"ReadPacked":    func(d *Decoder) (int, error) { return ReadPacked(d, make([]byte, 60)) },
		"ReadPacked 53": func(d *Decoder) (int, error) { return ReadPacked(d, make([]byte, 53)) },
	}
	for _, c := range []struct {
		name   string
		packet []byte
		o      DecoderOptions
		n      int
		offset int64
		err    error
	}{
		{"Limits.Bytes in the padding", wire(idBytes, 53, make([]byte, 56)), DecoderOptions{Limits: Limits{Bytes: 63}}, 52, 63, ErrLimit},
		{"bad padding", wire(idBytes, 53, append(make([]byte, 55), 1)), DecoderOptions{Strict: true}, 52, 61, ErrStrict},
		{"missing padding", wire(idBytes, 53, make([]byte, 54)), DecoderOptions{Strict: true}, 52, 62, io.ErrUnexpectedEOF},
	} {
		for name, read := range bulk {
			for cut := range len(c.packet) {
				o := c.o
				d := NewDecoder(io.MultiReader(plain(c.packet[:cut]), plain(c.packet[cut:])), &o)
				readTo(t, d, 1)
				n, err := read(d)
				var e *Error
				require.ErrorAs(t, err, &e, "%s, %s, cut at %d", c.name, name, cut)
				require.ErrorIs(t, err, c.err)
				require.Equal(t, c.offset, e.Offset, "%s, %s, cut at %d", c.name, name, cut)
				require.Equal(t, c.n, n, "%s, %s, cut at %d", c.name, name, cut)
				d.Release()
			}
		}
	}
}

// At the end of the input, a limit smaller than any value is not exceeded.
func TestLimitBytesAtTheEnd(t *testing.T) {
	for limit := int64(1); limit < 8; limit++ {
		d := NewDecoder(nil, &DecoderOptions{Limits: Limits{Bytes: limit}})
		eachReader(d, nil, func(name string) {
			_, err := d.ReadToken()
			require.Equal(t, io.EOF, err, name)
		})
		eachReader(d, wire(idBool, 1), func(name string) {
			_, err := d.ReadToken()
			requireError(t, err, int(limit), "$", ErrLimit)
		})
		d.Release()
	}
}

func TestStackIndexOutOfRange(t *testing.T) {
	d := NewDecoder(plain(wire(idArray, 1, idArray, 1, idNil, idNil)), nil)
	defer d.Release()
	none := func(level int) {
		kind, index, count := d.StackIndex(level)
		require.Equal(t, []any{Kind(0), int64(-1), int64(-1)}, []any{kind, index, count}, level)
	}
	for range 7 {
		none(-1)
		none(d.Depth() + 1)
		none(math.MaxInt)
		d.ReadToken()
	}
	_, index, _ := d.StackIndex(0)
	require.EqualValues(t, 1, index, "the second value")
}

// Writing a token with a string that is too long for tokens is an error.
func TestTokenOfFourGigabytes(t *testing.T) {
	if strconv.IntSize == 32 || raceEnabled {
		t.Skip("skipped: needs 64 bits, and the race detector checks the pointer")
	}
	var b byte
	n := int64(1) << 32
	tok := String(unsafe.String(&b, int(n))) // its bytes are never read
	require.EqualValues(t, n, tok.Len())
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
	require.ErrorIs(t, e.WriteToken(tok), ErrRange)
}

// A stale token can be printed; Bytes panics.
func TestStaleTokensPrint(t *testing.T) {
	d := NewDecoder(plain(wire(idArray, 2, str("text"), idVector2, reals(2))), nil)
	readTo(t, d, 1)
	text, vector := readTo(t, d, 1), readTo(t, d, 1)
	require.Equal(t, "StringChunk (stale)", text.String())
	require.Equal(t, "Vector2 [0.5 1.5]", vector.String())
	d.Release()
	require.Equal(t, "Vector2 (stale)", vector.String())
	require.Panics(t, func() { text.Bytes() })
}
