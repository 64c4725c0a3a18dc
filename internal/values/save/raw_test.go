package save

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
)

// opened returns the opened save of an input.
func opened(t *testing.T, in *Input) *Stack {
	return must(in.Open(&OpenOptions{}))(t)
}

// withKnown returns the opened save of bytes in a known reading.
func withKnown(t *testing.T, b string, o Reading) *Stack {
	return must(At(strings.NewReader(b), int64(len(b))).Open(&OpenOptions{Known: Known{true, true}, Reading: o}))(t)
}

// What an engine compressed is recognized by its content: as a file, in memory, and from a pipe.
func TestRecognizeRaw(t *testing.T) {
	f, err := os.Open("../../../testdata/compressed/godot4.7-dev.jsonl")
	require.NoError(t, err)
	defer f.Close()
	n, texts := 0, 0
	for d := json.NewDecoder(f); d.More(); n++ {
		var v struct {
			ID, Mode   string
			Compressed []byte
			Base64     string
			Size       int64
		}
		require.NoError(t, d.Decode(&v))
		if v.Base64 != "" { // of the value itself
			s := opened(t, At(strings.NewReader(v.Base64), int64(len(v.Base64))))
			require.NoError(t, s.Values.Unknown(), v.ID)
			require.Equal(t, fileaccess.Info{Size: v.Size, Base64: fileaccess.Base64{Text: true}}, s.Container(), v.ID)
			require.Equal(t, Bare, s.Frame)
			require.Equal(t, v.Size, s.Size)
			texts++
		}
		for _, how := range []string{"file", "memory", "pipe"} {
			in := At(strings.NewReader(string(v.Compressed)), int64(len(v.Compressed)))
			switch how {
			case "file":
				name := filepath.Join(t.TempDir(), "file")
				require.NoError(t, os.WriteFile(name, v.Compressed, 0o600))
				in, err = OpenInput(name, nil)
				require.NoError(t, err)
				t.Cleanup(func() { in.Close() })
			case "pipe":
				in = must(OpenInput("", strings.NewReader(string(v.Compressed))))(t)
			}
			if how != "pipe" { // which is not waited for if the reading is known
				s := withKnown(t, string(v.Compressed), Reading{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}})
				require.Equal(t, fileaccess.Raw, s.Container().Container, "%s %s", v.ID, how)
				require.Equal(t, v.Mode, s.Container().Mode.String())
			}
			s := opened(t, in)
			require.NoError(t, s.Values.Unknown(), v.ID)
			require.Equal(t, fileaccess.Raw, s.Container().Container, "%s %s", v.ID, how)
			require.Equal(t, v.Mode, s.Container().Mode.String())
			require.Equal(t, gdwire.Godot4, s.Decoder.Format)
			require.Equal(t, Bare, s.Frame)
			c := must(s.Content())(t)
			require.Equal(t, v.Size, c.Size, "%s %s: without what FastLZ fills it up with", v.ID, how)
			content := must(io.ReadAll(io.NewSectionReader(c, 0, c.Size)))(t)
			require.Len(t, content, int(v.Size))
		}
	}
	require.Equal(t, 60, n)
	require.Equal(t, 12, texts)
}

// TestEveryMode: streams of all modes but FastLZ are known by their first bytes.
func TestEveryMode(t *testing.T) {
	for mode := fileaccess.FastLZ; !strings.HasPrefix(mode.String(), "mode "); mode++ {
		packed, err := fileaccess.Compress(nil, []byte(save), mode)
		if err != nil {
			require.ErrorIs(t, err, fileaccess.ErrMode)
			continue
		}
		got, ok := modeOf(packed)
		require.Equal(t, mode != fileaccess.FastLZ, ok, "%v: see CONTRIBUTING", mode)
		require.Equal(t, mode, got)
	}
}

// Packets whose length has the bytes of a zlib header are no stream.
func TestNotZlib(t *testing.T) {
	for _, length := range []uint32{0x0178, 0x5e78, 0x9c78, 0xda78, 0x29c78, 0x39c78, 0x4b9c78, 0x639c78} {
		b := binary.LittleEndian.AppendUint32(nil, length)
		b = append(b, 29, 0, 0, 0) // a PackedByteArray
		b = binary.LittleEndian.AppendUint32(b, length-8)
		b = append(b, make([]byte, length-8)...)
		s := opened(t, At(strings.NewReader(string(b)), int64(len(b))))
		require.NoError(t, s.Values.Unknown())
		require.Equal(t, fileaccess.Plain, s.Container().Container, "%x", length)
		require.Equal(t, U32, s.Frame)
	}
}

// Bytes that are no values are none as a stream of FastLZ, and values are none of these.
func TestNotFastLZ(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := make([]byte, 1+r.IntN(200))
		for i := range b {
			b[i] = byte(r.Uint32() >> r.IntN(32)) // many are small
		}
		s := opened(t, At(strings.NewReader(string(b)), int64(len(b))))
		require.Equal(t, fileaccess.Plain, s.Container().Container, "%x", b)
	}
	for _, text := range []string{"password", "hello\nworld", "AAAA AAAA", "AAAAAA==\nAA==\n", "{\"a\":1}", "abcd1234abcd1234"} {
		s := opened(t, At(strings.NewReader(text), int64(len(text))))
		require.ErrorContains(t, s.Values.Unknown(), "is text", "%q", text)
		require.True(t, s.Container().IsPlain())
	}
	for _, b := range []string{save, save[:len(save)-5], strings.Replace(save, "\x00", "\xff", 1)} { // damaged, too
		s := withKnown(t, b, Reading{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}, Frame: U32})
		require.True(t, s.IsPlain())
		content := must(io.ReadAll(s.Reader()))(t)
		require.Equal(t, b, string(content))
	}
	s := opened(t, At(strings.NewReader(save), int64(len(save))))
	require.Equal(t, recognize.Sure, s.Values.Certainty)
	require.Equal(t, U32, s.Frame)
	require.True(t, s.IsPlain())
}

// A countedAt counts the bytes read from memory.
type countedAt struct {
	io.ReaderAt
	n int64
}

func (c *countedAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// TestLargeFastLZ: of many equal bytes, which are operations of FastLZ, the start is decompressed; large values, all.
func TestLargeFastLZ(t *testing.T) {
	const operations = maxAround/33 + 1
	values := bytes.Repeat([]byte("\x1f"+"32 bytes of a PackedByteArray..."), operations)
	binary.LittleEndian.PutUint32(values[1:], 29)
	binary.LittleEndian.PutUint32(values[5:], 32*operations-8)
	for name, c := range map[string]struct {
		content []byte
		least   int64 // bytes read
	}{
		"zeros": {make([]byte, maxAround+1), 0}, "ones": {bytes.Repeat([]byte{1}, maxAround+1), 0}, "values": {values, maxAround},
	} {
		in := &countedAt{ReaderAt: bytes.NewReader(c.content)}
		s := opened(t, At(in, int64(len(c.content))))
		require.Equal(t, c.least == 0, s.Values.Unknown() != nil, name)
		require.Equal(t, c.least == 0, s.IsPlain(), name)
		require.GreaterOrEqual(t, in.n, c.least, name)
		if c.least == 0 {
			require.Less(t, in.n, int64(1<<20), name)
		}
	}
}

// A search for values between other bytes that ends early says so, and shows none.
func TestSearchEnds(t *testing.T) {
	b := []byte("SAVE")
	for n := 1 << 20; n > 8; n -= 8 { // texts in texts
		b = binary.LittleEndian.AppendUint32(append(b, 4, 0, 0, 0), uint32(n-8)/2)
	}
	b = append(b, save...)
	s := opened(t, At(bytes.NewReader(b), int64(len(b))))
	require.ErrorContains(t, s.Values.Unknown(), "ended at offset")
}
