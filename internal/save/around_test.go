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
	inner := must(variant.Marshal(map[string]any{"name": "Ada", "items": []any{1, "axe"}}))(f)
	sized := append(binary.LittleEndian.AppendUint32(nil, uint32(len(inner))), inner...)
	for _, b := range [][]byte{inner, sized, bytes.Repeat([]byte{0}, 100), append([]byte("SAVE"), sized...), bytes.Repeat(sized, 3), []byte("a text")} {
		for kind := range byte(6) {
			f.Add(b, kind)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, kind byte) {
		text := string(bytes.ToValidUTF8(bytes.ReplaceAll(b, []byte{0}, []byte(" ")), nil))
		v := []any{b, []any{b}, map[string]any{"data": b}, text, []any{text, b}, map[string]any{text: b}}[kind%6]
		value := must(variant.Marshal(v))(t)
		for _, content := range [][]byte{value, append(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value...)} {
			in := At(bytes.NewReader(content), int64(len(content)))
			s, err := in.Source(&SourceOptions{Whole: true})
			if err != nil {
				continue // what is compressed
			}
			var o Reading
			must(s.Recognize(&o, Known{}))(t)
			require.Nil(t, s.Envelope, "%T: %v", v, s.Envelope)
		}
	})
}

// TestSkipAdvice: a header that is to be skipped is named only if all that follows is values then.
func TestSkipAdvice(t *testing.T) {
	value := must(variant.Marshal(map[string]any{"name": "Ada Lovelace", "city": "London"}))(t)
	packet := append(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value...)
	for _, c := range []struct {
		values []byte
		header int // 0 if none is named
		want   string
	}{
		{bytes.Repeat(value, 2), 5, "contains no values of Godot in its first 5 bytes"},
		{bytes.Repeat(packet, 2), 5, ""},
		{append(bytes.Repeat(value, 2), 1, 2, 3), 0, "contains values that begin at offset 5 (Dictionary, 68 bytes) and are followed by something else"},
	} {
		b := append([]byte("SAVE\x07"), c.values...)
		s := must(At(bytes.NewReader(b), int64(len(b))).Source(&SourceOptions{Whole: true}))(t)
		r := must(s.Recognize(&Reading{}, Known{}))(t)
		if c.want == "" {
			require.NotNil(t, s.Envelope)
			continue
		}
		require.EqualError(t, r.Unknown(), c.want)
		require.Equal(t, c.header, r.Header)
	}
}
