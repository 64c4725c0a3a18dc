package gdjson_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

func TestFromJSON(t *testing.T) {
	for _, c := range slices.Concat(toCases, nativeCases, numberCases, plainCases, shapeCases) {
		t.Run(c.name, func(t *testing.T) {
			want := encode(t, nil, c.write)
			got, err := fromJSON(c.native, nil, allow)
			require.NoError(t, err)
			require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got))
			got, err = fromJSON(nest(c.native), nil, allow)
			require.NoError(t, err)
			require.True(t, bytes.HasSuffix(got, want))
		})
	}
}

// A readCase is JSON, the value that FromJSON reads from it, and the error without
// Lenient.
type readCase struct {
	name  string
	text  string
	write func(e *gdwire.Encoder)
	cause error  // nil: none
	at    string // pointer of it
}

var ints32 = packed[int32]

func vector2i(x, y int32) func(*gdwire.Encoder) {
	return func(e *gdwire.Encoder) { gdwire.WriteComponents(e, gdwire.TypeVector2i, []int32{x, y}) }
}

// TestFromJSONEncoder tests the state of the Encoder after an error.
func TestFromJSONEncoder(t *testing.T) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	for _, text := range []string{`[`, `5`, `{"type":"Vector2","args":[1]}`, `{"type":"Image","format":1,"mipmaps":1,"width":1,"height":1,"data":[]}`} {
		t.Run(text, func(t *testing.T) {
			require.Error(t, gdjson.FromJSON(e, strings.NewReader(text)))
			require.NoError(t, e.Err(), "nothing was written")
		})
	}
	require.NoError(t, gdjson.FromJSON(e, strings.NewReader(`"i:1"`)))
	require.NoError(t, e.Flush())
	require.Equal(t, 8, b.Len())

	e.BeginDict(1)
	require.NoError(t, gdjson.FromJSON(e, strings.NewReader(`"s:key"`)))
	require.NoError(t, gdjson.FromJSON(e, strings.NewReader(`[]`)))
	e.End()
	require.NoError(t, e.Flush())

	err := gdjson.FromJSON(e, strings.NewReader(`["i:1",5]`))
	require.ErrorIs(t, err, gdwire.ErrType)
	require.ErrorIs(t, e.ClearError(), err, "cannot be cleared")
	require.ErrorIs(t, gdjson.FromJSON(e, strings.NewReader(`null`)), err)
	require.ErrorIs(t, e.Close(), err)
}

// TestFromJSONWriter: an error of the Writer is returned unchanged, and the value
// cannot be completed afterwards.
func TestFromJSONWriter(t *testing.T) {
	text, err := toJSON(encode(t, nil, array(2, func(e *gdwire.Encoder) {
		packed(gdwire.TypePackedInt32Array, make([]int32, 50_000))(e)
		e.WriteString(strings.Repeat("x", 100_000))
	})), nil, nil)
	require.NoError(t, err)
	for _, n := range []int{0, 10_000, 250_000} {
		e := gdwire.NewEncoder(&fullWriter{n: n, err: errTest}, nil)
		require.Equal(t, errTest, gdjson.FromJSON(e, strings.NewReader(text)))
		require.ErrorIs(t, e.Close(), errTest)
	}
}

func TestFromJSONBuffered(t *testing.T) {
	for _, c := range []struct {
		name     string
		buffered int64
		size     int
		ok       bool
	}{
		{"limit", 100, 100, true},
		{"beyond the limit", 100, 101, false},
		{"default", 0, 8 << 20, true},
		{"beyond the default", 0, 8<<20 + 1, false},
		{"no limit", -1, 8<<20 + 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := &endless{prefix: `"s:`, n: int64(c.size - 1), suffix: `"`}
			e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{MaxBuffered: c.buffered})
			err := gdjson.FromJSON(e, src)
			if c.ok {
				require.NoError(t, err)
				return
			}
			var limit *gdwire.LimitError
			require.ErrorAs(t, err, &limit)
			require.Equal(t, "MaxBuffered", limit.Name)
			var fault *gdjson.Error
			require.ErrorAs(t, err, &fault)
		})
	}
}

// endless returns a Reader of prefix, then x up to n bytes in all, then suffix.
type endless struct {
	prefix string
	n, at  int64
	suffix string
}

func (r *endless) Read(p []byte) (int, error) {
	i := 0
	for ; i < len(p) && r.at < r.n; i++ {
		p[i] = 'x'
		if r.at < int64(len(r.prefix)) {
			p[i] = r.prefix[r.at]
		}
		r.at++
	}
	if i == 0 && r.at >= r.n {
		i = copy(p, r.suffix)
		r.suffix = r.suffix[i:]
		if i == 0 {
			return 0, io.EOF
		}
	}
	return i, nil
}

// TestFromJSONManyErrors: a lenient reader does not look for the pointers of errors
// that it ignores, which would take minutes here.
func TestFromJSONManyErrors(t *testing.T) {
	const n = 200_000
	got, err := fromJSON("["+strings.Repeat("5,", n-1)+"5]", nil, &gdjson.Options{Lenient: true})
	require.NoError(t, err)
	require.Len(t, got, 8+4*n)
}

// TestFromJSONDepth: time is proportional to the text even if every "type" follows
// deeply nested "args".
func TestFromJSONDepth(t *testing.T) {
	const levels = 1000
	deep := strings.Repeat(`{"args":["s:k",`, levels) + `{"args":[` + strings.Repeat("1,", 500_000) + `1],"type":"PackedByteArray"}` +
		strings.Repeat(`],"type":"Dictionary"}`, levels)
	got, err := fromJSON(deep, nil, nil)
	require.NoError(t, err)
	require.Len(t, got, levels*20+8+500_004)
}

// FromJSON reads a bytes.Buffer to its end in place, does not change its bytes, and does not keep
// them as memory for later texts.
func TestFromJSONBuffer(t *testing.T) {
	for _, o := range []gdjson.Options{{}, {Plain: true}, {Lenient: true}} {
		for _, text := range []string{`["s:a\u0061\n", "i:5"]`, ` {"a":1, "b":[1.5]}`, `[1,`, `"s:` + strings.Repeat("x", 2000) + `"`, ``} {
			want, wantErr := fromJSON(text, nil, &o)
			b := bytes.NewBuffer([]byte(text))
			bytesBefore := b.Bytes()
			var out bytes.Buffer
			e := gdwire.NewEncoder(&out, &gdwire.EncoderOptions{MaxBuffered: 4000})
			err := gdjson.FromJSON(e, b, o)
			if err == nil {
				require.NoError(t, e.Close())
			}
			e.Close()
			require.Equal(t, wantErr, err)
			require.Equal(t, want, out.Bytes())
			require.Zero(t, b.Len())
			_, _ = fromJSON(strings.Repeat(" ", 100)+`"s:other"`, nil, &o)
			require.Equal(t, text, string(bytesBefore))
		}
	}
	e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{MaxBuffered: 5})
	defer e.Close()
	want := gdjson.FromJSON(e, strings.NewReader(`"s:xyz"`))
	require.ErrorIs(t, want, gdwire.ErrLimit)
	require.Equal(t, want, gdjson.FromJSON(e, bytes.NewBufferString(`"s:xyz"`)))
}
