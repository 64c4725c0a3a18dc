package save

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/variant"
)

// FuzzRival reads plain saves of texts and bytes that hold saves, or NULs. What seems to be around values in them is no envelope.
func FuzzRival(f *testing.F) {
	inner, err := variant.Marshal(map[string]any{"name": "Ada", "items": []any{1, "axe"}})
	require.NoError(f, err)
	sized := append(binary.LittleEndian.AppendUint32(nil, uint32(len(inner))), inner...)
	for _, b := range [][]byte{inner, sized, bytes.Repeat([]byte{0}, 100), append([]byte("SAVE"), sized...), bytes.Repeat(sized, 3), []byte("a text")} {
		for kind := range byte(6) {
			f.Add(b, kind)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, kind byte) {
		text := string(bytes.ToValidUTF8(bytes.ReplaceAll(b, []byte{0}, []byte(" ")), nil))
		v := []any{b, []any{b}, map[string]any{"data": b}, text, []any{text, b}, map[string]any{text: b}}[kind%6]
		value, err := variant.Marshal(v)
		require.NoError(t, err)
		for _, content := range [][]byte{value, append(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value...)} {
			in := At(bytes.NewReader(content), int64(len(content)))
			s, err := in.Source(&SourceOptions{Whole: true})
			if err != nil {
				continue // what is compressed
			}
			var o Reading
			_, err = s.Recognize(&o, Known{})
			require.NoError(t, err)
			require.Nil(t, s.Envelope, "%T: %v", v, s.Envelope)
		}
	})
}
