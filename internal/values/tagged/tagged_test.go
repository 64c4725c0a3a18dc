package tagged_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// TestAppend: the values of the vectors are what Append makes of their bytes.
func TestAppend(t *testing.T) {
	for _, v := range testenv.Must(suite.Values())(t) {
		for _, name := range v.Formats {
			var f gdwire.Format
			require.NoError(t, f.UnmarshalText([]byte(name)))
			for _, chunk := range []int{0, 16} {
				d := gdwire.NewDecoder(bytes.NewReader(v.Hex), &gdwire.DecoderOptions{Format: f, AllowObjects: v.Objects, DoubleReals: v.Double, MaxChunk: chunk})
				got, err := tagged.Append(nil, d)
				require.NoError(t, err, v.ID)
				require.EqualValues(t, len(v.Hex), d.InputOffset())
				require.Zero(t, d.Depth())
				d.Release()
				require.True(t, testenv.Must(tagged.Equal(v.Value, got))(t), "%s: %s, want %s", v.ID, got, v.Value)
			}
		}
	}
}

// TestTaggedEncode: the bytes of the vectors are what Encode makes of their values, or have the same value.
func TestTaggedEncode(t *testing.T) {
	for _, v := range testenv.Must(suite.Values())(t) {
		for _, name := range v.Formats {
			var f gdwire.Format
			require.NoError(t, f.UnmarshalText([]byte(name)))
			p, err := tagged.Encode(v.Value, &gdwire.EncoderOptions{Format: f, DoubleReals: v.Double})
			require.NoError(t, err, v.ID)
			if v.Encode == suite.Exact {
				require.Equal(t, []byte(v.Hex), p, v.ID)
				continue
			}
			d := gdwire.NewDecoder(bytes.NewReader(p), &gdwire.DecoderOptions{Format: f, AllowObjects: v.Objects, DoubleReals: v.Double})
			got, err := tagged.Append(nil, d)
			require.NoError(t, err, v.ID)
			d.Release()
			require.True(t, testenv.Must(tagged.Equal(got, v.Value))(t), "%s: %s, want %s", v.ID, got, v.Value)
		}
	}
	for _, text := range []string{
		``, `{}`, `{"t":"int","v":5}`, `{"t":"int","v":"x"}`, `{"t":"Vector2","v":[1]}`, `{"t":"Vector2","v":"x"}`, `{"t":"PackedByteArray","v":"0"}`,
		`{"t":"Dictionary","v":[[{"t":"Nil"}]]}`, `{"t":"Array","v":[null]}`, `{"t":"Object","class":"A","properties":[["a"]]}`, `{"t":"int"`,
		`{"t":"int"}`, `{"t":"String"}`, `{"t":"String","v":null}`, `{"t":"PackedStringArray"}`, `{"t":"PackedInt64Array"}`, `{"t":"PackedFloat32Array"}`, `{"t":"Array"}`,
		`{"t":"bool","v":"true"}`, `{"t":"float","v":true}`, `{"t":"Vector2i","v":[1.5,0]}`, `{"t":"Vector2i","v":[2147483648,0]}`, `{"t":"NodePath","names":[1]}`,
		`{"t":"Image","format":-1,"v":""}`, `{"t":"Array","v":[],"type":5}`, `{"t":"Array","v":[],"type":{"builtin":"x"}}`, `{"t":"Dictionary","v":[5]}`,
		`{"t":"Dictionary","v":[[{"t":"Nil"}],[{"t":"Nil"},{"t":"Nil"},{"t":"Nil"}]]}`, `5`, `{"t":"int","v":"5"} 6`,
	} {
		_, err := tagged.Encode([]byte(text), nil)
		require.Error(t, err, text)
	}
}

// dictionary returns a Dictionary with keys and ints in turn.
func dictionary(all ...any) string {
	text := `{"t":"Dictionary","v":[`
	for i := 0; i < len(all); i += 2 {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(`[{"t":%v},{"t":"int","v":"%v"}]`, all[i], all[i+1])
	}
	return text + "]}"
}

// TestEqual: the first text is an answer, the second the value that is wanted.
func TestEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"t":"int","v":"5"}`, ` {"v":"5","t":"int"} `, true},
		{`{"t":"int","v":"5"}`, `{"t":"int","v":"6"}`, false},
		{`{"t":"int","v":"5"}`, `{"t":"int","v":5}`, false},
		{`{"t":"int","v":"0"}`, `{"t":"int"}`, false},
		{`{"t":"RID","v":"0"}`, `{"t":"RID"}`, true},
		{`{"t":"RID"}`, `{"t":"RID","v":"1"}`, false},
		{`{"t":"Array","v":[]}`, `{"t":"Array","v":[],"type":null}`, true},
		{`{"t":"Array","v":[]}`, `{"t":"Array","v":[null]}`, false},
		{`{"t":"float","v":1}`, `{"t":"float","v":1.0}`, true},
		{`{"t":"float","v":1e400}`, `{"t":"float","v":1e400}`, false},
		{`{"t":"float","v":-0.0}`, `{"t":"float","v":0}`, false},
		{`{"t":"float","v":-0.0}`, `{"t":"float","v":"-0.0"}`, true},
		{`{"t":"float","v":"-0.0"}`, `{"t":"float","v":-0.0}`, true},
		{`{"t":"float","v":"-0.0"}`, `{"t":"float","v":0}`, false},
		{`{"t":"float","v":"NaN"}`, `{"t":"float","v":"NaN"}`, true},
		{`{"t":"RID","v":{}}`, `{"t":"RID"}`, false},
		{`{"t":"int","v":"5","x":1}`, `{"t":"int","v":"5"}`, false},
		{`{"t":"Nil","v":false}`, `{"t":"Nil"}`, false},
		{`{"t":"Vector2i","v":[1.0,2]}`, `{"t":"Vector2i","v":[1,2]}`, true},
		{`{"t":"float","v":"1.5"}`, `{"t":"float","v":1.5}`, false},
		{`{"t":"PackedByteArray","v":"FF"}`, `{"t":"PackedByteArray","v":"ff"}`, false},
		{`{"t":"int","v":"05"}`, `{"t":"int","v":"5"}`, false},
		{`[]`, `{}`, false},
		{`{}`, `[]`, false},
		{`{"t":"String","v":"a"}`, `{"t":"String","v":"\ufeffa\u0000b"}`, true},
		{`{"t":"String","v":"\ufeffa\u0000b"}`, `{"t":"String","v":"a"}`, false},
		{`{"t":"String","v":"ab"}`, `{"t":"String","v":"a\u0000b"}`, false},
		{`{"t":"Nil"}`, `{"t":"Object","class":"","properties":[]}`, true},
		{`{"t":"Nil"}`, `{"t":"Object","class":"A","properties":[]}`, false},
		{`{"t":"Nil"}`, `{"t":"ObjectID"}`, true},
		{`{"t":"Nil"}`, `{"t":"ObjectID","v":"5"}`, false},
		{`{"t":"ObjectID"}`, `{"t":"Nil"}`, false},
		{`{"t":"Array","v":[],"type":{"class":"EncodedObjectAsID"}}`, `{"t":"Array","v":[],"type":{"script":"res://a"}}`, true},
		{`{"t":"Array","v":[],"type":{"class":"EncodedObjectAsID"}}`, `{"t":"Array","v":[],"type":{"builtin":"Object"}}`, true},
		{`{"t":"Array","v":[],"type":{"class":"EncodedObjectAsID"}}`, `{"t":"Array","v":[],"type":{"builtin":"int"}}`, false},
		{`{"t":"Array","v":[],"type":{"class":"A"}}`, `{"t":"Array","v":[],"type":{"class":"B"}}`, false},
		{`{"t":"Object","class":"EncodedObjectAsID","properties":[]}`, `{"t":"Object","class":"A","properties":[]}`, false},
		{dictionary(`"String","v":"a"`, 5), dictionary(`"String","v":"a"`, 3, `"String","v":"a"`, 5), true},
		{dictionary(`"String","v":"a"`, 3, `"String","v":"a"`, 5), dictionary(`"String","v":"a"`, 3, `"String","v":"a"`, 5), true},
		{dictionary(`"String","v":"a"`, 3), dictionary(`"String","v":"a"`, 3, `"String","v":"a"`, 5), false},
		{dictionary(`"String","v":"a"`, 3), dictionary(`"String","v":"a"`, 1, `"String","v":"b"`, 2, `"StringName","v":"a"`, 3), false},
		{dictionary(`"String","v":"a"`, 3, `"String","v":"b"`, 2), dictionary(`"String","v":"a"`, 1, `"String","v":"b"`, 2, `"StringName","v":"a"`, 3), true},
		{dictionary(`"float","v":-0.0`, 2), dictionary(`"float","v":-0.0`, 1, `"float","v":0.0`, 2), true},
		{dictionary(`"float","v":1.0`, 2), dictionary(`"int","v":"1"`, 1, `"float","v":1.0`, 2), false},
		{dictionary(`"Dictionary","v":[]`, 2), dictionary(`"Dictionary","v":[]`, 1, `"Dictionary","v":[]`, 2), true},
		{dictionary(`"Dictionary","v":[]`, 1, `"Dictionary","v":[]`, 2, `"Nil"`, 4), dictionary(`"Dictionary","v":[]`, 1, `"Dictionary","v":[]`, 2, `"Nil"`, 3, `"Nil"`, 4), true},
		{dictionary(`"ObjectID","v":"1"`, 2), dictionary(`"ObjectID","v":"1"`, 1, `"ObjectID","v":"1"`, 2), false},
		{`{"t":"Array","v":[` + dictionary(`"Nil"`, 2) + `]}`, `{"t":"Array","v":[` + dictionary(`"Nil"`, 1, `"Nil"`, 2) + `]}`, true},
	} {
		got, _ := tagged.Equal([]byte(c.a), []byte(c.b)) // or one of them is no value
		require.Equal(t, c.want, got, "%s %s", c.a, c.b)
	}
	deep := strings.Repeat(`{"t":"Array","v":[`, 1000) + strings.Repeat("]}", 1000)
	require.True(t, testenv.Must(tagged.Equal([]byte(deep), []byte(deep)))(t))
	for _, text := range []string{"", "{", `{"t":1} 2`, "nil"} {
		_, err := tagged.Equal([]byte(text), []byte("{}"))
		require.Error(t, err, text)
		_, err = tagged.Equal([]byte("{}"), []byte(text))
		require.Error(t, err, text)
	}
}
