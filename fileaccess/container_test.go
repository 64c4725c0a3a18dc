package fileaccess_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

// Text is read with its lines, and the same text is written.
func TestBase64(t *testing.T) {
	for _, tt := range []struct {
		text, content string
		form          fileaccess.Base64
	}{
		{"YWJj", "abc", fileaccess.Base64{}},
		{"YWJjZA==\n", "abcd", fileaccess.Base64{End: "\n"}},
		{"YWJj\nZGVm\nZw==\n\n", "abcdefg", fileaccess.Base64{Line: 4, Break: "\n", End: "\n\n"}},
		{"YWJ\r\njZA\r\n==", "abcd", fileaccess.Base64{Line: 3, Break: "\r\n"}},
		{"Y\nW\nJ\nj", "abc", fileaccess.Base64{Line: 1, Break: "\n"}},
		{"", "", fileaccess.Base64{}},
	} {
		tt.form.Text = true
		for how, deliver := range deliveries {
			got, info, err := readAll(deliver([]byte(tt.text)), &fileaccess.Options{Base64: true})
			require.NoError(t, err, "%q %s", tt.text, how)
			require.Equal(t, tt.content, string(got))
			require.Equal(t, fileaccess.Info{Size: int64(len(tt.content)), Base64: tt.form}, info)
			require.Equal(t, tt.text, string(file(t, info, nil, got)))
			require.False(t, info.IsPlain())
		}
	}
}

// Text that is not base64 is an error with its offset, after the content before it.
func TestBase64Errors(t *testing.T) {
	for _, tt := range []struct {
		text, content string
		offset        int64
	}{
		{"YWJjYWJj*", "abcabc", 8}, {"*", "", 0}, {"YWJjYWJjZ", "abcabc", 8}, {"YWJjZA=", "", 7}, {"YWJjYWJj YWJj", "abcabc", 8},
		{"YWJj\nZGVm\nZ*==\n", "abcdef", 11}, {"YWJjZB==", "", 6}, {"YWJj\nYW\nJj", "", 7}, {"YWJj\nYWJj\rYWJj", "", 9},
		{"\nYWJj", "", 0}, {"YWJj" + strings.Repeat("\n", 65), "", 4},
	} {
		got, _, err := readAll(strings.NewReader(tt.text), &fileaccess.Options{Base64: true})
		require.ErrorIs(t, err, fileaccess.ErrDamaged, "%q", tt.text)
		require.Equal(t, tt.content, string(got), "%q", tt.text)
		var e *fileaccess.Error
		require.True(t, errors.As(err, &e))
		require.Equal(t, tt.offset, e.Offset, "%q", tt.text)
	}
	text := strings.Repeat("YWJj", 1000)
	_, _, err := readAll(strings.NewReader(text), &fileaccess.Options{Base64: true, Limits: fileaccess.Limits{Size: 3000}})
	require.NoError(t, err)
	for _, text := range []string{text, strings.Repeat(text, 1000)} {
		got := allocated(func() {
			_, _, err = readAll(strings.NewReader(text), &fileaccess.Options{Base64: true, Limits: fileaccess.Limits{Size: 2999}})
		})
		require.ErrorIs(t, err, fileaccess.ErrLimit)
		require.Less(t, got, uint64(128<<10))
	}
	full := room(3)
	w := must(fileaccess.NewWriter(&full, fileaccess.Info{Base64: fileaccess.Base64{Text: true}}, nil))(t)
	_, err = io.WriteString(w, "abcdef")
	if err == nil {
		err = w.Close()
	}
	require.Equal(t, errFull, err)
	require.Equal(t, errFull, w.Close())
	_, err = fileaccess.NewWriter(io.Discard, fileaccess.Info{Container: 9, Base64: fileaccess.Base64{Text: true}}, nil)
	require.ErrorIs(t, err, fileaccess.ErrContainer)
}

// Files of all kinds are written in text and opened from it.
func TestBase64Files(t *testing.T) {
	content := pattern(10_000)
	infos := []fileaccess.Info{{Size: 10_000}, encryptedInfo(fileaccess.LayoutGodot4)}
	for _, mode := range modes {
		infos = append(infos, compressedInfo(mode), fileaccess.Info{Container: fileaccess.Raw, Mode: mode})
	}
	for _, info := range infos {
		info.Base64 = fileaccess.Base64{Text: true, Line: 60, Break: "\n", End: "\n"}
		text := file(t, info, right, content)
		for line := range bytes.Lines(text) {
			require.LessOrEqual(t, len(line), 61)
		}
		o := &fileaccess.Options{Base64: true, Raw: info.Container == fileaccess.Raw, Mode: info.Mode, Key: right}
		got, read := must2(readAll(bytes.NewReader(text), o))(t)
		require.Equal(t, content, got)
		require.Equal(t, info.String(), read.String())
		require.Equal(t, info.Base64, read.Base64)
	}
}

// FuzzBase64: any text is an Error with an offset inside it, or is written again as it was.
func FuzzBase64(f *testing.F) {
	for _, text := range []string{"YWJj", "YWJjZA==\n", "YWJj\nZGVm\nZw==\n\n", "YWJ\r\njZA\r\n==", "YWJj*", "\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, info, err := readAll(bytes.NewReader(text), &fileaccess.Options{Base64: true, Limits: small})
		var e *fileaccess.Error
		if err != nil {
			require.True(t, errors.As(err, &e) || errors.Is(err, fileaccess.ErrNoKey), "%v", err)
		} else if info.Container == fileaccess.Plain {
			require.Equal(t, string(text), string(file(t, info, nil, got)))
		}
	})
}
