package gdwire

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestReadText(t *testing.T) {
	keys := []string{"", "a", "name", "more than eight bytes", "Zoë", strings.Repeat("x", 32)}
	b := encoded(t, nil, func(e *Encoder) {
		require.NoError(t, e.BeginDict(2*len(keys)+3))
		for i, key := range keys {
			require.NoError(t, e.WriteString(key))
			require.NoError(t, e.WriteInt(int64(i)))
			require.NoError(t, e.WriteStringName(key))
			require.NoError(t, e.WriteInt(int64(i)))
		}
		require.NoError(t, e.WriteInt(7))
		require.NoError(t, e.WriteNil())
		require.NoError(t, e.WriteString(strings.Repeat("x", 33)))
		require.NoError(t, e.WriteNil())
		require.NoError(t, e.WriteNodePath("name"))
		require.NoError(t, e.WriteNil())
		require.NoError(t, e.End())
	})
	for name, r := range map[string]io.Reader{"whole": bytes.NewReader(b), "bytes": iotest.OneByteReader(bytes.NewReader(b)), "memory": nil} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(r, &DecoderOptions{MaxChunk: 32})
			defer d.Release()
			if r == nil {
				d.ResetBytes(b)
			}
			n, err := d.ReadDict()
			require.NoError(t, err)
			require.Equal(t, 2*len(keys)+3, n)
			for i, want := range keys {
				for range 2 {
					key, ok, err := d.ReadText()
					require.NoError(t, err)
					require.True(t, ok)
					require.Equal(t, want, string(key))
					_, err = d.AppendString(nil)
					require.ErrorIs(t, err, ErrType, "it does not go on with the key")
					x, err := d.ReadInt()
					require.NoError(t, err)
					require.EqualValues(t, i, x)
					require.Contains(t, string(d.AppendPath(nil)), want)
				}
			}
			for range 3 {
				offset := d.InputOffset()
				key, ok, err := d.ReadText()
				require.NoError(t, err)
				require.False(t, ok)
				require.Empty(t, key)
				require.Equal(t, offset, d.InputOffset())
				require.Equal(t, KindDictKey, d.PeekKind())
				require.NoError(t, d.SkipValue())
				require.NoError(t, d.SkipValue())
			}
			_, ok, err := d.ReadText()
			require.False(t, ok)
			require.ErrorIs(t, err, ErrCount)
			require.NoError(t, d.ReadEnd())
			_, _, err = d.ReadText()
			if r != nil {
				require.Equal(t, io.EOF, err)
			}
		})
	}
}

func TestReadTextOfPackedStrings(t *testing.T) {
	texts := []string{"", "a", "Zoë", strings.Repeat("x", 32), strings.Repeat("y", 33), "last"}
	b := encoded(t, nil, func(e *Encoder) {
		require.NoError(t, e.BeginPacked(TypePackedStringArray, int64(len(texts))))
		for _, text := range texts {
			require.NoError(t, e.WriteString(text))
		}
		require.NoError(t, e.End())
	})
	for _, one := range []bool{true, false} {
		var r io.Reader = bytes.NewReader(b)
		if one {
			r = iotest.OneByteReader(r)
		}
		d := NewDecoder(r, &DecoderOptions{MaxChunk: 32})
		for i, err := range d.Elements() {
			require.NoError(t, err)
			text, ok, err := d.ReadText()
			require.NoError(t, err)
			require.Equal(t, len(texts[i]) < 33, ok)
			if ok {
				require.Equal(t, texts[i], string(text))
			}
		}
		d.Release()
	}
}

// The input may end, or fail, anywhere in a key.
func TestReadTextCut(t *testing.T) {
	b := encoded(t, nil, func(e *Encoder) {
		require.NoError(t, e.BeginDict(1))
		require.NoError(t, e.WriteString("a key of some length"))
		require.NoError(t, e.WriteNil())
		require.NoError(t, e.End())
	})
	for cut := 8; cut < len(b)-4; cut++ {
		d := NewDecoder(bytes.NewReader(b[:cut]), nil)
		_, err := d.ReadDict()
		require.NoError(t, err)
		_, ok, err := d.ReadText()
		require.False(t, ok)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		d.Release()
	}
}

// ReadText returns an error of the header before it waits for the length, as ReadToken does.
func TestReadTextInvalidHeader(t *testing.T) {
	tests := []struct {
		name    string
		header  []byte
		options DecoderOptions
	}{
		{"flags", bytesOf(idName | 1<<20), DecoderOptions{Strict: true}},
		{"too deep", bytesOf(idArray, 1, idArray, 1, idString), DecoderOptions{Limits: Limits{Depth: 1}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := NewDecoder(plain(test.header), &test.options)
			defer d.Release()
			for d.PeekKind() == KindArrayStart {
				readTo(t, d, 1)
			}
			_, ok, err := d.ReadText()
			require.False(t, ok)
			require.Error(t, err)
			d.Reset(plain(test.header))
			require.Equal(t, readAll(d), err)
		})
	}
}
