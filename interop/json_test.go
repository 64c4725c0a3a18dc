package interop

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/stretchr/testify/require"
)

// engineTexts are native JSON, as engines, people and tools write it, right and
// wrong. The engine reads each as gdjson does if it is lenient.
var engineTexts = []string{
	`null`, `[true,false]`, `5`, `1.5`, `"abc"`, `"x:1"`, `":"`, `"s:"`, `"s:é😀\n\"\\"`, `"sn:a"`, `"i:5"`, `"i:-007"`, `"i:+5"`, `"i:0x10"`, `"i:5.7"`,
	`"i:"`, `"i:-"`, `"i:1e3"`, `"i: 5"`, `"i:--5"`, `"i:9223372036854775807"`, `"i:9223372036854775808"`, `"i:-9223372036854775808"`, `"i:-9223372036854775809"`,
	`"i:99999999999999999999"`, `"i:-99999999999999999999"`, `"f:1.0"`, `"f:0.1"`, `"f:-0.0"`, `"f:1e21"`, `"f:1e+21"`, `"f:.5"`, `"f:5."`, `"f: 1.5px"`, `"f:-1.5.5"`,
	`"f:x"`, `"f:inf"`, `"f:-inf"`, `"f:nan"`, `"f:Infinity"`, `"f:1e400"`, `"f:0x10"`, `"f:1_0"`, `"f:0.10000000149011612"`, `"f:3.141592653589793"`,
	`{"type":"Vector2","args":[1.0,-2.5]}`, `{"args":[1.0,-2.5],"type":"Vector2"}`, `{"type":"Vector2","args":[1]}`, `{"type":"Vector2","args":[1,2,3]}`,
	`{"type":"Vector2","args":"1,2"}`, `{"type":"Vector2"}`, `{"type":"Vector5","args":[]}`, `{"type":"int","args":[5]}`, `{"type":5}`, `{"type":""}`, `{"args":[1,2]}`, `{}`,
	`{"type":"Vector2","args":[1,1e39]}`, `{"type":"Vector2","args":["inf","1.5x"]}`, `{"type":"Vector2","args":[true,{}]}`, `{"type":"Color","args":[1e99999,-1e99999,0,1]}`,
	`{"type":"Vector2i","args":[1.7,-2.5]}`, `{"type":"Vector2i","args":["1","-2x"]}`, `{"type":"Vector2i","args":[1,1e1]}`, `{"type":"Vector2i","args":[true,null]}`,
	`{"type":"Vector2i","args":[1,2],"x":[{}]}`, `{"type":"Vector2i","args":[1,2],"elem_type":"int"}`, `{"type":"Vector2","args":[1,2],"type":"Vector2i"}`,
	`{"type":"Basis","args":[1,2,3,4,5,6,7,8,9]}`, `{"type":"Transform3D","args":[1,2,3,4,5,6,7,8,9,10,11,12]}`,
	`{"type":"Projection","args":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}`, `{"type":"Transform2D","args":[1,2,3,4,5,6]}`, `{"type":"AABB","args":[1,2,3,4,5,6]}`,
	`{"type":"PackedByteArray","args":[0,255]}`, `{"type":"PackedByteArray","args":{}}`, `{"type":"PackedInt32Array","args":[1,2,true,false,null,[5],{"a":6},"7x"]}`,
	`{"type":"PackedInt64Array","args":[9007199254740992,"9007199254740993","-9223372036854775808"]}`, `{"type":"PackedFloat32Array","args":[0.1,1e99999]}`,
	`{"type":"PackedFloat64Array","args":["inf","1.5x",true,[],{}]}`, `{"type":"PackedStringArray","args":["a",1.5,true,null]}`, `{"type":"PackedStringArray","args":5}`,
	`{"type":"PackedVector2Array","args":[1,2,3,4]}`, `{"type":"PackedVector3Array","args":[1,2,3,4]}`, `{"type":"PackedColorArray","args":[1,0,0,1]}`,
	`{"type":"Array","args":["i:1"]}`, `{"type":"Array","elem_type":"int","args":["i:1"]}`, `{"args":["i:1"],"elem_type":"int","type":"Array"}`, `{"type":"Array","args":{}}`,
	`{"type":"Array","elem_type":"Node","args":[]}`, `{"type":"Array","elem_type":"Object","args":[]}`, `{"type":"Array","elem_type":5,"args":[]}`,
	`{"type":"Dictionary","args":["s:a","i:1"]}`, `{"type":"Dictionary","args":["s:a"]}`, `{"type":"Dictionary","args":null}`,
	`{"type":"Dictionary","args":["s:a","i:1"],"key_type":"String","value_type":"int"}`,
	`{"type":"RID"}`, `{"type":"Callable"}`, `{"type":"Signal"}`, `{"type":"Signal","name":5}`, `["i:1",{"type":"Vector2","args":[]},5,["x"]]`,
	`{"type":"RefCounted","props":["script",null]}`, `{"type":"RefCounted","props":["script"]}`, `"np:"`, `"np:a::b"`, `"np:/"`,
}

// TestLenientJSON has the engine read what gdjson reads.
func TestLenientJSON(t *testing.T) {
	files := scripts(t, "json.gd")
	texts, err := json.Marshal(engineTexts)
	require.NoError(t, err)
	files["texts.json"] = string(texts)
	out, err := browser.Run(t.Context(), Program{Files: files})
	require.NoError(t, err)
	lines := out.Lines[len(out.Lines)-len(engineTexts):]
	for i, text := range engineTexts {
		var got bytes.Buffer
		e := gdwire.NewEncoder(&got, nil)
		err := gdjson.FromJSON(e, strings.NewReader(text), &gdjson.Options{Lenient: true, AllowObjects: true})
		require.NoError(t, err, text)
		require.NoError(t, e.Close())
		e.Release()
		require.Equal(t, lines[i], hex.EncodeToString(got.Bytes()), text)
	}
}
