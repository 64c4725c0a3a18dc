package gdjson_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

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
				got, err = toJSON(image, &gdwire.DecoderOptions{Format: gdwire.Godot2, MaxChunk: window}, &gdjson.Options{Plain: true})
				require.NoError(t, err)
				require.Equal(t, `{"format":0,"mipmaps":0,"width":0,"height":0,"data":"`+want+`"}`, got)
			})
		}
	}
}
