package gdjson_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

// nativeCases contains the references to which native JSON adds members.
var nativeCases = []toCase{
	{"RID", func(e *gdwire.Encoder) { e.WriteRID(math.MaxUint64) }, `{"type":"RID","id":"-1"}`, `-1`},
	{"Callable", func(e *gdwire.Encoder) { e.WriteCallable() }, `{"type":"Callable"}`, `null`},
	{"Signal", func(e *gdwire.Encoder) { e.WriteSignal("<hit>", 7) }, `{"type":"Signal","name":"<hit>","object":"7"}`, `{"name":"<hit>","object":7}`},
	{"object id", func(e *gdwire.Encoder) { e.WriteObjectID(5) }, `{"type":"ObjectID","id":"5"}`, `5`},
	{"object id 0", func(e *gdwire.Encoder) { e.WriteObjectID(0) }, `{"type":"ObjectID","id":"0"}`, `0`},
	{"serialized object", func(e *gdwire.Encoder) {
		e.BeginObject("Resource", 2)
		e.WriteProperty("name")
		e.WriteString("x")
		e.WriteProperty("next")
		e.BeginObject("", 0)
		e.End()
		e.End()
	}, `{"type":"Resource","props":["name","s:x","next",{"type":"","props":[]}]}`, `{"class":"Resource","name":"x","next":{"class":""}}`},
}

func TestToJSONReferences(t *testing.T) { testToJSON(t, nativeCases) }

// TestToJSONGodot2 tests the types of Godot 2 and its forms of other types.
func TestToJSONGodot2(t *testing.T) {
	from := &gdwire.DecoderOptions{Format: gdwire.Godot2}
	to := &gdwire.EncoderOptions{Format: gdwire.Godot2}
	oldPath := []byte{16, 0, 0, 0, 7, 0, 0, 0, '/', 'a', '/', 'b', ':', 'c', 'd', 0}
	for _, c := range []toCase{
		{"Image", func(e *gdwire.Encoder) {
			e.BeginImage(3, 1, 2, 1, 4)
			e.Write([]byte{1, 2, 3, 4})
			e.End()
		}, `{"type":"Image","format":3,"mipmaps":1,"width":2,"height":1,"data":[1,2,3,4]}`,
			`{"format":3,"mipmaps":1,"width":2,"height":1,"data":"AQIDBA=="}`},
		{"InputEvent", func(e *gdwire.Encoder) { e.WriteInputEvent(1, 2, []byte{0, 0, 0, 2, 65, 0, 0, 0}) },
			`{"type":"InputEvent","event":1,"device":2,"data":[0,0,0,2,65,0,0,0]}`, `{"event":1,"device":2,"data":"AAAAAkEAAAA="}`},
		{"RID", func(e *gdwire.Encoder) { e.WriteRID(0) }, `{"type":"RID"}`, `0`},
		{"old NodePath", func(e *gdwire.Encoder) { e.WriteRaw(oldPath) }, `"np:/a/b:cd"`, `"/a/b:cd"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire := encode(t, to, c.write)
			got, err := toJSON(wire, from, nil)
			require.NoError(t, err)
			require.Equal(t, c.native, got)
			got, err = toJSON(wire, from, &gdjson.Options{Plain: true})
			require.NoError(t, err)
			require.Equal(t, c.plain, got)
		})
	}
}
