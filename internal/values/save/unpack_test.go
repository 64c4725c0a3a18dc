package save

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
)

// Each value of the vectors is itself as a packet, and compressed in each mode the same value, whether its format is
// known or not.
func TestUnpack(t *testing.T) {
	values := must(suite.Values())(t)
	misread := 0 // streams of FastLZ that a lenient Decoder reads as a value
	for _, v := range values {
		for _, name := range v.Formats {
			var format gdwire.Format
			if format.UnmarshalText([]byte(name)) != nil || format != gdwire.Godot4 && format != gdwire.Godot3 {
				continue
			}
			o := Reading{Decoder: gdwire.DecoderOptions{Format: format, AllowObjects: true, DoubleReals: v.Double}}
			if !o.isWritten(v.Hex) {
				continue
			}
			for mode := fileaccess.FastLZ; mode <= fileaccess.Gzip; mode++ {
				packet := must(fileaccess.Compress(nil, v.Hex, mode))(t)
				if _, err := o.validate(packet); mode == fileaccess.FastLZ && err == nil {
					misread++
				}
				for _, candidates := range [][]gdwire.Format{nil, {gdwire.Godot4, gdwire.Godot3}} {
					as := o
					if as.Candidates = candidates; candidates != nil {
						as.Decoder.Format = gdwire.Godot4
					}
					require.Equal(t, Unpacked{Value: v.Hex}, as.Unpack(v.Hex), v.ID)
					u := as.Unpack(packet)
					require.NoError(t, u.Err, "%s %v", v.ID, mode)
					require.Equal(t, mode.String(), u.ModeName(), v.ID)
					require.Equal(t, []byte(v.Hex), u.Value, v.ID)
					require.Equal(t, packet, u.Pack(u.Value))
				}
			}
		}
	}
	require.NotZero(t, misread)
}

// What is wrong with a packet that is compressed is said of its content. Other invalid packets, which could be the start
// of a stream of FastLZ, keep their error.
func TestUnpackInvalid(t *testing.T) {
	const limit = 1000
	compressed := func(content []byte, mode fileaccess.Mode) []byte {
		packet := must(fileaccess.Compress(nil, content, mode))(t)
		return packet
	}
	large, object := append(words(29, 2*limit), make([]byte, 2*limit)...), append(words(24, 4), "Node\x00\x00\x00\x00"...)
	for _, c := range []struct {
		packet []byte
		err    string
	}{
		{compressed(large, fileaccess.FastLZ), "offset 0, $: compressed with fastlz: the decompressed size exceeds the limit of 1000 bytes; raise it with -max-packet"},
		{compressed(large, fileaccess.Zstd), "offset 0, $: compressed with zstd: the decompressed size exceeds the limit of 1000 bytes; raise it with -max-packet"},
		{compressed(large, fileaccess.Deflate), "compressed with deflate: the decompressed size exceeds the limit of 1000 bytes"},
		{compressed(object, fileaccess.FastLZ), "compressed with fastlz: gdwire: offset 0, $: serialized objects are not allowed"},
		{compressed(words(99), fileaccess.Gzip), "compressed with gzip: gdwire: offset 0, $: unknown godot4 type id 99"},
		{compressed(append(words(4, 8), "any text"...), fileaccess.Gzip)[:20], "compressed with gzip: fileaccess: offset 20: unexpected EOF"},
		{words(99), "unknown godot4 type id 99"},
		{nil, "empty packet"},
	} {
		o := Reading{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}, MaxUnpacked: limit}
		u := o.Unpack(c.packet)
		require.ErrorContains(t, u.Err, c.err, "%x", c.packet)
		require.Equal(t, c.packet, u.Value)
		require.Equal(t, strings.Contains(c.err, "compressed"), u.Compressed)
	}
	o := Reading{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}}
	for _, packet := range [][]byte{words(2, 5, 2, 6, 9), compressed(words(2, 5, 2, 6, 9), fileaccess.Zstd)} {
		u := o.Unpack(packet)
		require.NoError(t, u.Err)
		require.Equal(t, 12, u.Trailing)
		require.Equal(t, words(2, 6, 9), o.Second(&u))
	}
}

// Packets all of which are compressed are recognized, on a connection and in a file, also if the first one is longer than
// what is read of a connection.
func TestRecognizeUnpacked(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	long := words(29, 100<<10)
	for range 100 << 10 {
		long = append(long, byte(random.Uint32()))
	}
	state := append(words(27, 1, 4, 2), "hp\x00\x00"...)
	state = append(state, words(2, 10)...)
	for name, c := range map[string]struct {
		format  gdwire.Format // that decides
		packets [][]byte
	}{
		"short":      {gdwire.Godot4, [][]byte{state, state}},
		"one":        {gdwire.Godot4, [][]byte{state}},
		"long":       {gdwire.Godot4, [][]byte{long, state}},
		"long zeros": {gdwire.Godot4, [][]byte{append(words(29, 100<<10), make([]byte, 100<<10)...), state}},
		"undecided":  {0, [][]byte{words(2, 7), words(0), words(2, 8)}},
		"of Godot 3": {gdwire.Godot3, [][]byte{append(words(18, 1, 4, 2), append([]byte("hp\x00\x00"), words(2, 10)...)...), words(2, 7)}},
		"later":      {gdwire.Godot4, [][]byte{words(2, 7), words(2, 7), state}},
	} {
		for mode := fileaccess.FastLZ; mode <= fileaccess.Gzip; mode++ {
			for _, frame := range []Frame{U32, U32BE} {
				t.Run(fmt.Sprintf("%s, %v, %v", name, mode, frame), func(t *testing.T) {
					var b []byte
					var packets [][]byte
					for _, value := range c.packets {
						packet := must(fileaccess.Compress(nil, value, mode))(t)
						packets = append(packets, packet)
						var length [4]byte
						frame.Order().PutUint32(length[:], uint32(len(packet)))
						b = append(append(b, length[:]...), packet...)
					}
					var o Reading
					r, ok := testenv.Must2(o.RecognizePackets(iotest.OneByteReader(bytes.NewReader(b)), Known{}))(t)
					require.True(t, ok)
					require.Equal(t, frame, o.Frame)
					all := must(io.ReadAll(r))(t)
					require.Equal(t, b, all)
					for i, packet := range packets {
						u := o.Unpack(packet)
						require.NoError(t, u.Err)
						require.Equal(t, mode.String(), u.ModeName())
						require.Equal(t, c.packets[i], u.Value)
					}
					if c.format == 0 {
						require.NotEmpty(t, o.Candidates)
					} else {
						require.Empty(t, o.Candidates)
						require.Equal(t, c.format, o.Decoder.Format)
					}
				})
			}
		}
	}
}

// Unpacked replaces the packets that are compressed and valid, up to a size, and keeps all other bytes.
func TestContentUnpacked(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	value := []byte("\x1b\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00hp\x00\x00\x02\x00\x00\x00\x0a\x00\x00\x00")
	kinds := [][]byte{value, {}, {99, 0, 0, 0}, []byte("\x02\x00\x00\x00\x07\x00\x00\x00\x08\x00\x00\x00"), {1, 2, 3}}
	for mode := fileaccess.FastLZ; mode <= fileaccess.Gzip; mode++ {
		packet := must(fileaccess.Compress(nil, value, mode))(t)
		kinds = append(kinds, packet, packet[:len(packet)-1])
	}
	for range 500 {
		for _, frame := range []Frame{U32, U32BE} {
			var in, want []byte
			packets := 0
			for range random.IntN(5) {
				k := random.IntN(len(kinds))
				packet := kinds[k]
				in = append(frame.Order().AppendUint32(in, uint32(len(packet))), packet...)
				if k >= 5 && k%2 == 1 {
					packet = value
					packets++
				}
				want = append(frame.Order().AppendUint32(want, uint32(len(packet))), packet...)
			}
			tail := kinds[random.IntN(len(kinds))]
			tail = tail[:random.IntN(len(tail)+1)]
			in, want = append(in, tail...), append(want, tail...)
			c := Content{
				ReaderAt: bytes.NewReader(in), Size: int64(len(in)), Frame: frame,
				Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4},
			}
			data, n, err := c.Unpacked(int64(len(want)))
			require.NoError(t, err)
			require.Equal(t, packets, n)
			if n > 0 {
				require.Equal(t, want, data)
				_, n, err = c.Unpacked(int64(len(want) - 1))
				require.NoError(t, err)
				require.Zero(t, n)
			}
		}
	}
}
