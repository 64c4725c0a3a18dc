package gdwiretest_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// A tb is a test that can fail. Fatalf panics.
type tb struct {
	testing.TB
	failed   []string
	cleanups []func()
	log      strings.Builder
	quiet    bool
}

func (t *tb) Helper()           {}
func (t *tb) Output() io.Writer { return &t.log }
func (t *tb) Cleanup(f func())  { t.cleanups = append(t.cleanups, f) }
func (t *tb) Error(args ...any) { t.Errorf("%s", fmt.Sprint(args...)) }
func (t *tb) Errorf(format string, args ...any) {
	t.failed = append(t.failed, fmt.Sprintf(format, args...))
	if !t.quiet {
		fmt.Println(t.failed[len(t.failed)-1])
	}
}

func (t *tb) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// end calls the functions of Cleanup.
func (t *tb) end() {
	for _, f := range slices.Backward(t.cleanups) {
		f()
	}
}

func TestGdwiretestEncode(t *testing.T) {
	b := testenv.Must(variant.Marshal(7, variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}))(t)
	require.Equal(t, b, gdwiretest.Encode(t, 7, variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}))
	require.PanicsWithValue(t, "gdwiretest: variant: chan int has no Variant type", func() { gdwiretest.Encode(&tb{}, make(chan int)) })
}

func TestGdwiretestEqual(t *testing.T) {
	type player struct {
		Name string
		HP   int
	}
	ada := player{"Ada", 7}
	long := strings.Repeat("é", 100)
	many := func(n int) (v []any) {
		for i := range 30 {
			v = append(v, i*n)
		}
		return v
	}
	for _, c := range []struct {
		got, want any
		lines     []string // of differences
	}{
		{ada, ada, nil},
		{ada, map[string]any{"hp": 7, "name": "Ada"}, nil},
		{variant.Raw{Data: gdwiretest.Encode(t, ada)}, &ada, nil},
		{variant.Raw{Data: gdwiretest.Encode(t, 1, variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}), Format: gdwire.Godot3}, 1, nil},
		{0.1, 0.1, nil},
		{"\xff\x00", "\xff\x00", nil},
		{variant.Vector2{X: 0.1}, variant.Vector2{X: 0.1}, nil},
		{variant.Vector2{X: 0.1}, variant.Vector2{X: float64(float32(0.1))}, nil},
		{variant.Raw{Data: gdwiretest.Encode(t, variant.Vector2{X: 0.1}, variant.Options{Encoder: gdwire.EncoderOptions{DoubleReals: true}})}, variant.Vector2{X: 0.1}, nil},
		{variant.Vector2{X: 0.1}, variant.Vector2{X: 0.2}, []string{"$: got Vector2(0.1, 0.0), want Vector2(0.2, 0.0)"}},
		{1, 1.0, []string{"$: got 1, want 1.0"}},
		{"a", variant.StringName("a"), []string{`$: got "a", want &"a"`}},
		{[]any{ada}, []any{player{"Ada", 8}}, []string{"$[0].hp: got 7, want 8"}},
		{[]any{1, 2, 3}, []any{1, 3}, []string{"$[1]: got 2 more"}},
		{[]any{1, 3}, []any{1, 2, 3}, []string{"$[1]: want 2, which is missing"}},
		{long, "", []string{`$: got "` + strings.Repeat("é", 49) + ` …, want ""`}},
		{many(2), many(3), nil},
	} {
		f := &tb{quiet: true}
		equal := gdwiretest.Equal(f, c.got, c.want)
		require.Equal(t, len(f.failed) == 0, equal)
		if s, ok := c.got.([]any); ok && len(s) == 30 {
			require.False(t, equal)
			require.Contains(t, f.failed[0], "more")
			require.LessOrEqual(t, strings.Count(f.failed[0], "\n"), 21)
			continue
		}
		if c.lines == nil {
			require.Empty(t, f.failed)
			continue
		}
		require.Equal(t, []string{"gdwiretest: values differ:\n\t" + strings.Join(c.lines, "\n\t")}, f.failed)
	}
	require.Panics(t, func() { gdwiretest.Equal(&tb{}, make(chan int), 1) })
	require.Panics(t, func() { gdwiretest.Equal(&tb{}, variant.Raw{Data: []byte{1}}, 1) })
}

// Objects are refused by default, and each format that has them has the same number.
func TestGdwiretestObjects(t *testing.T) {
	for _, format := range gdwire.Formats() {
		o := variant.Options{Decoder: gdwire.DecoderOptions{Format: format}}
		n := 0
		for packet := range gdwiretest.Objects(format) {
			n++
			require.ErrorIs(t, variant.Validate(packet, o), gdwire.ErrObject)
			o := o
			o.Decoder.AllowObjects = true
			require.NoError(t, variant.Validate(packet, o))
		}
		if onlyNull[format] {
			require.Zero(t, n, format)
		} else {
			require.Equal(t, 2, n, format)
		}
	}
}

// The handler of Pipe has returned when the test ends, and a panic fails it.
func TestGdwiretestPipe(t *testing.T) {
	own := errors.New("own")
	for name, end := range map[string]func() error{
		"nil": func() error { return nil }, "error": func() error { return own }, "panic": func() error { panic(own) },
	} {
		t.Run(name, func(t *testing.T) {
			f, returned := &tb{quiet: true}, false
			c := gdwiretest.Pipe(f, func(_ context.Context, c *stream.Conn) error {
				defer func() { returned = true }()
				var n int
				err := variant.Receive(c, &n)
				if err == nil {
					err = variant.Send(c, n+1)
				}
				require.NoError(t, err)
				_, err = c.Next()
				require.ErrorIs(t, err, io.EOF)
				return end()
			})
			require.NoError(t, variant.Send(c, 1))
			var n int
			require.NoError(t, variant.Receive(c, &n))
			require.Equal(t, 2, n)
			f.end()
			require.True(t, returned)
			require.Equal(t, name == "panic", len(f.failed) > 0)
			require.Equal(t, name != "nil", strings.Contains(f.log.String(), "own"))
		})
	}
}

// onlyNull contains the formats whose only object is null, which is written as nil.
var onlyNull = map[gdwire.Format]bool{gdwire.Godot2: true, gdwire.Manual3: true, gdwire.Manual30: true}

// There is a valid packet in every format of each of its types, and default programs read it.
func TestGdwiretestPackets(t *testing.T) {
	for _, format := range gdwire.Formats() {
		o := variant.Options{Decoder: gdwire.DecoderOptions{Format: format, Strict: true}, Encoder: gdwire.EncoderOptions{Format: format}}
		types := map[gdwire.Type]bool{}
		for packet := range gdwiretest.Packets(format) {
			require.NoError(t, variant.Validate(packet, o), "%v: %x", format, packet)
			var v any
			require.NoError(t, variant.Unmarshal(packet, &v, o))
			require.Equal(t, packet, gdwiretest.Encode(t, v, o), "%v: %T", format, v)
			first := testenv.Must(gdwire.NewDecoder(bytes.NewReader(packet), &o.Decoder).ReadToken())(t)
			types[first.Type()] = true
		}
		for _, typ := range gdwire.Types() {
			if !onlyNull[format] || typ != gdwire.TypeObject {
				assert.Equal(t, format.Has(typ), types[typ], "%v has a packet of %v", format, typ)
			}
		}
	}
}

func TestPacketsBreak(t *testing.T) {
	for range gdwiretest.Packets(gdwire.Godot4) {
		return
	}
	t.Fatal("no packet")
}

// A message of a game is fuzzed from a seed of every type.
func FuzzMessage(f *testing.F) {
	gdwiretest.Seeds(f)
	gdwiretest.Seeds(f, gdwire.Formats()...)
	f.Fuzz(func(t *testing.T, packet []byte) {
		var m struct {
			Name  string
			Value any
		}
		if variant.Unmarshal(packet, &m) != nil {
			return
		}
		packet, err := variant.Marshal(m)
		if err != nil {
			return // an element that its declared type excludes
		}
		require.NoError(t, variant.Unmarshal(packet, &m))
	})
}

// Seeds adds all packets, and serialized objects for programs that read such.
func FuzzObject(f *testing.F) {
	gdwiretest.Seeds(f)
	packets, objects := 0, 0
	f.Fuzz(func(t *testing.T, packet []byte) {
		var o *variant.Object
		if variant.Unmarshal(packet, &o, variant.Options{Decoder: gdwire.DecoderOptions{AllowObjects: true}}) == nil && o != nil {
			require.ErrorIs(t, variant.Validate(packet), gdwire.ErrObject)
			objects++
		}
		packets++
	})
	if flag.Lookup("test.fuzz").Value.String() == "" {
		for range gdwiretest.Packets(gdwire.Godot4) {
			packets--
		}
		require.Equal(f, [2]int{2, 1}, [2]int{packets, objects})
	}
}
