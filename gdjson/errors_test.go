package gdjson_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

func TestJSONError(t *testing.T) {
	_, err := fromJSON(`{"type":"Array","args":[{"type":"Vector2","args":[1,true]}]}`, nil, nil)
	require.EqualError(t, err, `gdjson: offset 52, "/args/0/args/1": arg is not a number`)
	require.ErrorIs(t, err, gdwire.ErrType)
	_, err = fromJSON(`["i:1","sn:x"]`, &gdwire.EncoderOptions{Format: gdwire.Godot3}, nil)
	require.EqualError(t, err, `gdjson: offset 7, "/1": godot3 has no StringName`)
	var fault *gdwire.Error
	require.True(t, errors.As(err, &fault))
	require.Equal(t, "$[1]", fault.Path)
	var located *gdjson.Error
	require.True(t, errors.As(err, &located))
	require.Equal(t, error(fault), located.Unwrap())
	_, err = fromJSON(`["`+strings.Repeat("é", 100)+`"]`, nil, nil)
	require.EqualError(t, err, `gdjson: offset 1, "/0": string "`+strings.Repeat("é", 20)+`…" without a prefix in native JSON`)
}

// TestJSONError tests two more.
func TestJSONMessages(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		cause error
		want  string
		plain bool
	}{
		{name: "too few args", text: `{"type":"Vector2","args":[1]}`, cause: gdwire.ErrCount, want: "1 args instead of 2 in a Vector2"},
		{name: "args that are no vectors", text: `{"type":"PackedVector2Array","args":[1,2,3]}`, cause: gdwire.ErrCount, want: "3 args, not a multiple of 2, in a PackedVector2Array"},
		{name: "number in a PackedStringArray", text: `{"type":"PackedStringArray","args":[5]}`, cause: gdwire.ErrType, want: "element of a PackedStringArray is not a string"},
		{name: "string in a PackedFloat32Array", text: `{"type":"PackedFloat32Array","args":["x"]}`, cause: gdwire.ErrType, want: `string "x" is not a number`},
		{name: "large int", text: `{"type":"PackedInt32Array","args":[3000000000]}`, cause: gdwire.ErrRange, want: "3000000000 does not fit 32 bits"},
		{name: "large byte", text: `{"type":"PackedByteArray","args":[300]}`, cause: gdwire.ErrRange, want: "300 does not fit a byte"},
		{name: "number", text: `5`, cause: gdwire.ErrType, want: `number 5 without "i:" or "f:" in native JSON`},
		{name: "int", text: `"i:x"`, cause: gdwire.ErrType, want: `"x" is not an integer`},
		{name: "int of more than 64 bits", text: `"i:99999999999999999999"`, cause: gdwire.ErrRange, want: "99999999999999999999 does not fit 64 bits"},
		{name: "float", text: `"f:x"`, cause: gdwire.ErrType, want: `"x" is not a float`},
		{name: "large float", text: `"f:1e400"`, cause: gdwire.ErrRange, want: "1e400 does not fit a float"},
		{name: "object", text: `{}`, cause: gdwire.ErrType, want: `object without "type" in native JSON`},
		{name: "unknown type", text: `{"type":"Nope","args":[]}`, cause: gdwire.ErrType, want: `unknown type "Nope"`},
		{name: "missing member", text: `{"type":"Vector2"}`, cause: gdwire.ErrMisplacedKey, want: `"Vector2" without member "args"`},
		{name: "member of another type", text: `{"type":"Vector2","args":[1,2],"elem_type":"int"}`, cause: gdwire.ErrMisplacedKey, want: `"Vector2" with member "elem_type"`},
		{name: "unknown member", text: `{"type":"Vector2","args":[1,2],"x":1}`, cause: gdwire.ErrMisplacedKey, want: `unknown member "x" in native JSON`},
		{name: "duplicate member", text: `{"type":"Vector2","type":"Vector2","args":[1,2]}`, cause: gdwire.ErrMisplacedKey, want: `duplicate member "type"`},
		{name: "number as type", text: `{"type":5}`, cause: gdwire.ErrType, want: `"type" is not a string`},
		{name: "number as args", text: `{"type":"Array","args":5}`, cause: gdwire.ErrType, want: `"args" is not an array`},
		{name: "key without a value", text: `{"type":"Dictionary","args":["i:1"]}`, cause: gdwire.ErrCount, want: `odd number of values, 1, in "args"`},
		{name: "number as declared type", text: `{"type":"Array","elem_type":5,"args":[]}`, cause: gdwire.ErrType, want: `"elem_type" is not a string`},
		{name: "unknown declared type", text: `{"type":"Array","elem_type":"","args":[]}`, cause: gdwire.ErrType, want: `"elem_type" has unknown type ""`},
		{name: "serialized object", text: `{"type":"Node","props":[]}`, cause: gdwire.ErrObject, want: `serialized object of class "Node", which is not allowed`},
		{name: "text after the value", text: `null 5`, cause: gdwire.ErrCount, want: "text after the value"},
		{name: "large int in plain JSON", text: `9223372036854775808`, cause: gdwire.ErrRange, want: "9223372036854775808 does not fit an int", plain: true},
		{name: "large float in plain JSON", text: `1e400`, cause: gdwire.ErrRange, want: "1e400 does not fit a float", plain: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := fromJSON(c.text, nil, &gdjson.Options{Plain: c.plain})
			require.ErrorIs(t, err, c.cause)
			var located *gdjson.Error
			require.ErrorAs(t, err, &located)
			require.EqualError(t, located.Err, c.want)
		})
	}
}

func TestFromJSONReader(t *testing.T) {
	text := `{"args":["s:é","i:1"],"type":"Dictionary"}`
	want := must(fromJSON(text, nil, nil))(t)
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	require.NoError(t, gdjson.FromJSON(e, iotest.OneByteReader(strings.NewReader(text))))
	require.Equal(t, want, b.Bytes())
	require.ErrorIs(t, gdjson.FromJSON(e, iotest.ErrReader(errTest)), errTest)
	require.NoError(t, e.Err())
}
