package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

func TestSkipErrors(t *testing.T) {
	testInputErrors(t, []inputError{
		{name: "SkipValue at an End", packet: bytesOf(idArray, 1, idNil), tokens: 2, read: (*Decoder).SkipValue, is: ErrCount, text: "offset 8, $[0]: SkipValue at an End"},
		{name: "Tokens at an End", packet: bytesOf(idArray, 1, idNil), tokens: 2, read: rangeTokens, is: ErrCount, text: "offset 8, $[0]: Tokens at an End"},
	})
}

// rangeTokens returns the last error of Tokens.
func rangeTokens(d *Decoder) (err error) {
	for _, err = range d.Tokens() {
	}
	return err
}

// SkipValue returns the same errors as ReadToken for texts of any length, content and limit,
// wherever the input ends.
func TestSkippedTexts(t *testing.T) {
	for n := range 20 {
		for bad := -1; bad < n; bad++ {
			text := bytes.Repeat([]byte{'x'}, n)
			if bad >= 0 {
				text[bad] = 0xFF
			}
			for _, rest := range []string{"", "more than sixteen bytes"} {
				packet := bytesOf(idArray, 3, str(string(text)), idVector2, reals(2), str(rest))
				for limit := int64(8); limit < 19; limit++ {
					o := &DecoderOptions{Limits: Limits{StringBytes: limit}}
					d, tokens := NewDecoder(nil, o), NewDecoder(nil, o)
					d.ResetBytes(packet)
					tokens.ResetBytes(packet)
					if len(rest) > 0 {
						d.Reset(bytes.NewReader(packet))
					}
					err, want := d.SkipValue(), error(nil)
					for want == nil {
						_, want = tokens.ReadToken()
					}
					if want == io.EOF {
						want = nil
					}
					require.Equal(t, want, err, "%q, %q, %d", text, rest, limit)
					if int64(n) > limit {
						require.ErrorIs(t, err, ErrLimit)
					}
				}
			}
		}
	}
}

// At the end of a packet, ReadToken returns io.EOF again and again, and the errors of other
// states are kept.
func TestEndOfPacket(t *testing.T) {
	d := NewDecoder(nil, nil)
	d.ResetBytes(bytesOf(idArray, 1, integer(5)))
	for range 3 {
		must(d.ReadToken())(t)
	}
	for range 2 {
		token, err := d.ReadToken()
		require.Equal(t, io.EOF, err)
		require.Equal(t, Token{}, token)
		require.Equal(t, io.EOF, d.SkipValue())
	}
	d.Release()
	require.Equal(t, ErrClosed, errOf(d.ReadToken()))
	_, err := new(Decoder).ReadToken()
	require.Error(t, err)
	require.NotEqual(t, io.EOF, err)
}

// fastNodePath appends the text if its names are those of the NodePath, which is known to be so when it is skipped, too.
func TestFastNodePath(t *testing.T) {
	eleven := strings.Repeat("x", 11)
	tests := []struct {
		names, subnames []string
		absolute        bool
		want            string // no text if it is empty, unless the NodePath is
	}{
		{nil, nil, false, ""},
		{nil, nil, true, "/"},
		{[]string{"a"}, nil, false, "a"},
		{[]string{"a"}, nil, true, "/a"},
		{[]string{"..", "Items", "Slot 3"}, nil, false, "../Items/Slot 3"},
		{[]string{"root", "Player"}, []string{"position", "x"}, true, "/root/Player:position:x"},
		{nil, []string{"x"}, false, ":x"},
		{nil, []string{"x"}, true, "/:x"},
		{[]string{"a"}, []string{"shader/color"}, false, "a:shader/color"},
		{[]string{"a"}, []string{"b/c"}, false, "a:b/c"},
		{[]string{"12345678", "123456789"}, nil, false, "12345678/123456789"},
		{[]string{"Zoë", "née"}, []string{"größer als acht"}, false, "Zoë/née:größer als acht"},
		{slices.Repeat([]string{eleven}, 8), nil, false, strings.TrimSuffix(strings.Repeat(eleven+"/", 8), "/")},
		{slices.Repeat([]string{eleven}, 8), []string{"four"}, false, strings.TrimSuffix(strings.Repeat(eleven+"/", 8), "/") + ":four"}, // 100 bytes
		{slices.Repeat([]string{eleven}, 8), []string{"five!"}, false, ""},
		{slices.Repeat([]string{eleven}, 9), nil, false, ""},
		{[]string{strings.Repeat("x", 100)}, nil, false, strings.Repeat("x", 100)},
		{[]string{strings.Repeat("x", 100)}, nil, true, ""},
		{[]string{strings.Repeat("x", 101)}, nil, false, ""},
		{slices.Repeat([]string{"x"}, 1000), nil, false, ""},
		{[]string{"a/b"}, nil, false, ""},
		{[]string{"longer than eight/b"}, nil, false, ""},
		{[]string{"a:b"}, nil, false, ""},
		{[]string{"longer than eight:b"}, nil, false, ""},
		{[]string{"a"}, []string{"b:c"}, false, ""},
		{[]string{"a"}, []string{"longer than eight:b"}, false, ""},
		{[]string{"/b"}, nil, false, ""},
		{[]string{"/longer than eight"}, nil, false, ""},
		{[]string{":b"}, nil, false, ""},
		{[]string{":longer than eight"}, nil, false, ""},
		{[]string{"a"}, []string{":b"}, false, ""},
		{[]string{"a"}, []string{":longer than eight"}, false, ""},
		{[]string{"a"}, []string{"/longer than eight"}, false, "a:/longer than eight"},
		{[]string{""}, nil, false, ""},
		{[]string{"a", ""}, nil, false, ""},
		{[]string{"a"}, []string{""}, false, ""},
	}
	for _, test := range tests {
		e := NewEncoder(nil, nil)
		e.ResetBytes(nil)
		e.BeginArray(2)
		e.BeginNodePath(len(test.names), len(test.subnames), test.absolute)
		for _, name := range slices.Concat(test.names, test.subnames) {
			e.WriteString(name)
		}
		e.End()
		e.WriteInt(math.MaxInt64)
		e.End()
		require.NoError(t, e.Close())
		b := e.Bytes()
		d := NewDecoder(nil, nil)
		for cut := range len(b) + 1 { // in its last bytes, the NodePath is not next to the buffer's end
			if cut > 0 && cut < len(b)-20 && len(b) > 200 {
				continue
			}
			d.Reset(bytes.NewReader(b[:cut]))
			if _, err := d.ReadArray(); err != nil {
				continue
			}
			offset := d.InputOffset()
			text := d.readShortNodePath(new(internal.NodePathText))
			if text == nil {
				require.Equal(t, offset, d.InputOffset())
				if cut == len(b) && (test.want != "" || len(test.names)+len(test.subnames) == 0) {
					t.Errorf("%q has no text", test.want)
				}
				continue
			}
			require.Equal(t, test.want, string(text))
			require.GreaterOrEqual(t, cut, len(b)-12)
			if cut == len(b) {
				require.EqualValues(t, int64(math.MaxInt64), readTo(t, d, 1).Int())
				require.NoError(t, d.ReadEnd())
			}
		}
		if test.want != "" { // the text contains these names
			again := NewEncoder(nil, nil)
			again.ResetBytes(nil)
			require.NoError(t, again.WriteNodePath(test.want))
			require.Equal(t, again.Bytes(), b[8:8+len(again.Bytes())])
		}
		d.ResetBytes(b)
		export{}.WatchNodePaths(d)
		require.NoError(t, d.SkipValue())
		odd := slices.ContainsFunc(slices.Concat(test.names, test.subnames), func(name string) bool { return name == "" || strings.ContainsAny(name, "/:") })
		require.Equal(t, !odd, export{}.OnlyPlainNodePaths(d), test.want)
		d.Release()
	}
}

// With Strict, the fast path reads what was checked before: also across the ends of what is checked at
// once, in nested containers, and up to a value that engines never write.
func TestCheckAhead(t *testing.T) {
	rounds := testenv.Cases(300, 10_000)
	kinds := map[string]int{}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		packet := strictPacket(t, r)
		if seed%10 > 0 {
			at := 4 * r.IntN(len(packet)/4)
			words := []uint32{0, 1, 2, 3, 4, 5, 1<<16 | 2, 1<<16 | 3, 1<<16 | 5, 1 << 31, 0x01000061, 0x00610061, r.Uint32()}
			le.PutUint32(packet[at:], words[r.IntN(len(words))])
		}
		read := func(d *Decoder) (all []string) {
			defer d.Release()
			for {
				tok, err := d.ReadToken()
				if err != nil {
					return append(all, err.Error())
				}
				all = append(all, fmt.Sprint(tok.Kind(), d.InputOffset(), tok.Len()))
			}
		}
		o := &DecoderOptions{Strict: true, AllowObjects: true}
		whole := struct{ io.Reader }{bytes.NewReader(packet)}
		got := read(NewDecoder(whole, o))
		want := read(NewDecoder(iotest.OneByteReader(bytes.NewReader(packet)), o))
		require.Equal(t, want[len(want)-1], got[len(got)-1], "seed %d", seed)
		require.True(t, slices.Equal(want, got), "seed %d", seed)

		d := NewDecoder(struct{ io.Reader }{bytes.NewReader(packet)}, o)
		var err error
		for err == nil { // a smaller count leaves values after the first
			err = d.SkipValue()
		}
		d.Release()
		last := want[len(want)-1]
		require.EqualError(t, err, last, "seed %d", seed)
		kinds[last[strings.LastIndexByte(last, ':')+1:]]++
	}
	require.Greater(t, len(kinds), 5, kinds)
}

// What is checked ahead in a container ends with it: the values after it are those of a typed
// container, which are not checked ahead.
func TestCheckAheadEndsWithContainer(t *testing.T) {
	for name, inner := range map[string][]byte{
		"an Array":           bytesOf(idArray, 1, integer(1)),
		"a Dictionary":       bytesOf(idDict, 1, integer(1), integer(2)),
		"an empty Array":     bytesOf(idArray, 0),
		"Arrays in an Array": bytesOf(idArray, 2, idArray, 1, integer(1), idArray, 0),
		"40 Arrays":          bytesOf(bytes.Repeat(bytesOf(idArray, 1), 40), integer(1)),
	} {
		after := bytesOf(integer(7), idDict, 0, idDict, 0)
		packet := bytesOf(idArray|typedBy, idDict, 4, idDict, 1, idNil, inner, after)
		d := NewDecoder(struct{ io.Reader }{bytes.NewReader(packet)}, &DecoderOptions{Strict: true})
		want := fmt.Sprintf("gdwire: offset %d, $[1]: not canonical: int in a container of Dictionary", len(packet)-len(after))
		require.EqualError(t, readAllTokens(d), want, name)
		d.Reset(struct{ io.Reader }{bytes.NewReader(packet)})
		require.EqualError(t, d.SkipValue(), want, name)
		d.Release()
	}
}

// readAllTokens reads tokens up to the first error.
func readAllTokens(d *Decoder) error {
	for {
		if _, err := d.ReadToken(); err != nil {
			return err
		}
	}
}

// strictPacket returns a random packet, longer than checkedAhead, as engines write it.
func strictPacket(t *testing.T, r *rand.Rand) []byte {
	var b bytes.Buffer
	e := newEncoder(t, &b, nil)
	var value func(depth int)
	value = func(depth int) {
		var err error
		switch k := r.IntN(12); {
		case k == 0 && depth < 40:
			n := r.IntN(4)
			require.NoError(t, e.BeginDict(n))
			for range n {
				require.NoError(t, e.WriteString(strings.Repeat("k", r.IntN(12))))
				value(depth + 1)
			}
			err = e.End()
		case k <= 2 && depth < 40:
			n := r.IntN(5)
			require.NoError(t, e.BeginArray(n))
			for range n {
				value(depth + 1)
			}
			err = e.End()
		case k == 3:
			err = WriteComponents(e, TypeVector2, []float64{1, r.Float64()})
		case k == 4:
			err = e.WriteFloat(float64(r.IntN(4)) / 3)
		case k == 5:
			err = e.WriteBool(r.IntN(2) > 0)
		case k == 6:
			err = e.WriteStringName(strings.Repeat("né", r.IntN(20)))
		case k == 7:
			require.NoError(t, e.BeginPacked(TypePackedInt32Array, 2))
			require.NoError(t, WritePacked(e, []int32{1, 2}))
			err = e.End()
		case k == 8:
			err = e.WriteNil()
		case k == 9:
			err = e.WriteInt(r.Int64() >> r.IntN(64))
		default:
			err = e.WriteString(strings.Repeat("abé", r.IntN(12)))
		}
		require.NoError(t, err)
	}
	n := 100 + r.IntN(500)
	require.NoError(t, e.BeginArray(n))
	for i := range n {
		if i%50 > 0 {
			value(0)
			continue
		}
		require.NoError(t, e.BeginTypedArray(3, Elem{Type: TypeDictionary}))
		for range 3 {
			require.NoError(t, e.BeginDict(1))
			require.NoError(t, e.WriteNil())
			value(1)
			require.NoError(t, e.End())
		}
		require.NoError(t, e.End())
	}
	require.NoError(t, e.End())
	require.NoError(t, e.Flush())
	return b.Bytes()
}
