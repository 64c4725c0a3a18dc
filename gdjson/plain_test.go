package gdjson_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

func TestFromJSONPlain(t *testing.T) {
	plain := &gdjson.Options{Plain: true}
	const text = ` {"a": [null, true, false, "s:x", -5, 9223372036854775807, 1.0, 1e3, -0, -1E+99999], "b": {}, "\u0063": []} `
	want := encode(t, nil, func(e *gdwire.Encoder) {
		e.BeginDict(3)
		e.WriteString("a")
		e.BeginArray(10)
		e.WriteNil()
		e.WriteBool(true)
		e.WriteBool(false)
		e.WriteString("s:x")
		e.WriteInt(-5)
		e.WriteInt(math.MaxInt64)
		e.WriteFloat(1)
		e.WriteFloat(1000)
		e.WriteFloat(math.Copysign(0, -1))
		e.WriteFloat(-infinity)
		e.End()
		e.WriteString("b")
		e.BeginDict(0)
		e.End()
		e.WriteString("c")
		e.BeginArray(0)
		e.End()
		e.End()
	})
	got := must(fromJSON(text, nil, plain))(t)
	require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got))
	must(fromJSON("{\"\x01\":1,\"\x02\":2,\" \":3}", nil, plain))(t)
	_, err := fromJSON("{\"\x01\":1,\"\\u0001\":2}", nil, plain)
	require.ErrorIs(t, err, jsontext.ErrDuplicateName)
	back := must(toJSON(got, nil, plain))(t)
	require.Equal(t, `{"a":[null,true,false,"s:x",-5,9223372036854775807,1.0,1000.0,-0.0,-1e99999],"b":{},"c":[]}`, back)

	for _, c := range []struct {
		name    string
		text    string
		cause   error
		pointer string
		lenient func(e *gdwire.Encoder) // nil: an error
	}{
		{"large int", `[1,9223372036854775808]`, gdwire.ErrRange, "/1", array(2, func(e *gdwire.Encoder) {
			e.WriteInt(1)
			e.WriteFloat(1 << 63)
		})},
		{"large float", `[1,1e400]`, gdwire.ErrRange, "/1", array(2, func(e *gdwire.Encoder) {
			e.WriteInt(1)
			e.WriteFloat(infinity)
		})},
		{"equal keys", `{"a":1,"a":2}`, jsontext.ErrDuplicateName, "/a", func(e *gdwire.Encoder) {
			e.BeginDict(2)
			for i := range 2 {
				e.WriteString("a")
				e.WriteInt(int64(i + 1))
			}
			e.End()
		}},
		{"nesting", strings.Repeat(`{"a":[`, 600) + strings.Repeat(`]}`, 600), gdwire.ErrLimit, strings.Repeat("/a/0", 512) + "/a", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := fromJSON(c.text, nil, plain)
			require.ErrorIs(t, err, c.cause)
			var fault *gdjson.Error
			require.ErrorAs(t, err, &fault)
			require.Equal(t, c.pointer, fault.Pointer)
			got, err := fromJSON(c.text, nil, &gdjson.Options{Plain: true, Lenient: true})
			if c.lenient == nil {
				require.ErrorIs(t, err, c.cause)
				return
			}
			require.NoError(t, err)
			require.Equal(t, encode(t, nil, c.lenient), got)
		})
	}
}

// The first of all duplicate members is found, in objects inside and after others.
func TestFromPlainDuplicates(t *testing.T) {
	for _, c := range []struct{ text, pointer string }{
		{`{"a":1,"b":2,"a":3}`, "/a"},
		{`{"a":{"b":1},"b":{"a":1,"a":2}}`, "/b/a"},
		{`{"a":{"b":1,"c":{"b":1},"b":2},"a":3}`, "/a/b"},
		{`{"a":{"b":1},"c":[{"b":1},{"b":1},{"a":1}],"a":{"b":1,"b":2}}`, "/a"},
		{`[{"a":1},{"a":1},{"b":[{"a":1,"c":2}],"a":1,"b":1}]`, "/2/b"},
		{`{"a":1,"\u0061":2}`, "/a"},
		{`{"x":{"a":{"a":{"a":1}}},"a":{"x":[{},[{"a":{}}]]},"y":[{"a":1},{"a":1}]}`, ""},
	} {
		_, err := fromJSON(c.text, nil, &gdjson.Options{Plain: true})
		if c.pointer == "" {
			require.NoError(t, err, c.text)
			continue
		}
		require.ErrorIs(t, err, jsontext.ErrDuplicateName, c.text)
		fault := err.(*gdjson.Error)
		require.Equal(t, c.pointer, fault.Pointer, c.text)
		require.Positive(t, strings.LastIndex(c.text[:fault.Offset+1], `"`))
	}
}

var plainCases = []toCase{
	{"bytes", packed(gdwire.TypePackedByteArray, []byte{0, 7, 255, 1}), `{"type":"PackedByteArray","args":[0,7,255,1]}`, `"AAf/AQ=="`},
	{"no bytes", packed(gdwire.TypePackedByteArray, []byte{}), `{"type":"PackedByteArray","args":[]}`, `""`},
}

func TestToJSONPlain(t *testing.T) { testToJSON(t, plainCases) }

// A group of base64 is three bytes long, which chunks divide anywhere.
func TestToJSONBase64(t *testing.T) {
	for _, window := range []int{16, 17, 18, 0} {
		for n := range 60 {
			t.Run(fmt.Sprintf("%d bytes in chunks of %d", n, window), func(t *testing.T) {
				data := make([]byte, n)
				for i := range data {
					data[i] = byte(37 * i)
				}
				want := base64.StdEncoding.EncodeToString(data)
				got, err := toJSON(encode(t, nil, packed(gdwire.TypePackedByteArray, data)), &gdwire.DecoderOptions{MaxChunk: window}, &gdjson.Options{Plain: true})
				require.NoError(t, err)
				require.Equal(t, `"`+want+`"`, got)

				image := encode(t, &gdwire.EncoderOptions{Format: gdwire.Godot2}, func(e *gdwire.Encoder) {
					e.BeginImage(0, 0, 0, 0, int64(n))
					e.Write(data)
					e.End()
				})
				got = must(toJSON(image, &gdwire.DecoderOptions{Format: gdwire.Godot2, MaxChunk: window}, &gdjson.Options{Plain: true}))(t)
				require.Equal(t, `{"format":0,"mipmaps":0,"width":0,"height":0,"data":"`+want+`"}`, got)
			})
		}
	}
}
