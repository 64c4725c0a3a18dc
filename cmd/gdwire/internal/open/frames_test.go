package open

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/stream"
)

// words32 returns 32-bit numbers in bytes.
func words32(numbers ...uint32) (b []byte) {
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// framed returns packets after their lengths.
func framed(packets ...[]byte) (b []byte) {
	for _, p := range packets {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

// A seen packet contains the fields of a Packet after its tokens have been read.
type seen struct {
	index, offset, end, size, trailing int64
	tokens                             int
	err                                string
}

func look(o *save.Reading, r io.Reader, whole bool) (all []seen) {
	packets := Packets(o, r)
	if whole {
		packets = WholePackets(o, stream.NewReader(r, StreamOptions(o)))
	}
	for p := range packets {
		s := seen{index: p.Index, offset: p.Offset, size: p.Size}
		for _, err := range p.AllTokens {
			if err != nil {
				s.err = err.Error()
				break
			}
			s.tokens++
		}
		s.end, s.trailing = p.End, p.Trailing()
		all = append(all, s)
		if s.err != "" && !p.Framed() {
			break
		}
	}
	return all
}

// Packets are read in parts, whole, and byte by byte, with the same result.
func TestInputPackets(t *testing.T) {
	five, list := words32(2, 5), words32(28, 2, 2, 1, 2, 2)
	packed := func(value []byte, mode fileaccess.Mode) []byte {
		packet := testenv.Must(fileaccess.Compress(nil, value, mode))(t)
		return packet
	}
	short, long := packed(list, fileaccess.FastLZ), packed(append(words32(29, 1<<20), make([]byte, 1<<20)...), fileaccess.Gzip)
	n, end := int64(len(short)), int64(len(short)+len(long))
	for _, c := range []struct {
		name    string
		reading save.Reading
		in      []byte
		want    []seen
	}{
		{"values", save.Reading{}, append(append([]byte{}, five...), list...), []seen{{0, 0, 8, 0, 0, 1, ""}, {1, 8, 32, 0, 0, 4, ""}}},
		{"an invalid value", save.Reading{}, append(append([]byte{}, five...), 99, 0, 0, 0), []seen{
			{0, 0, 8, 0, 0, 1, ""}, {1, 8, 8, 0, 0, 0, "gdwire: offset 8, $: unknown godot4 type id 99"},
		}},
		{"packets", save.Reading{Frame: save.U32}, framed(five, list), []seen{{0, 4, 12, 8, 0, 1, ""}, {1, 16, 40, 24, 0, 4, ""}}},
		{"an invalid packet", save.Reading{Frame: save.U32}, framed(words32(28, 1, 99, 0), list), []seen{
			{0, 4, 12, 16, 8, 1, "gdwire: offset 12, $[0]: unknown godot4 type id 99"}, {1, 24, 48, 24, 0, 4, ""},
		}},
		{"bytes after a value", save.Reading{Frame: save.U32}, framed(words32(2, 5, 0)), []seen{{0, 4, 12, 12, 4, 1, ""}}},
		{"bytes after a value that fills its packet", save.Reading{Frame: save.U32, Filled: true}, framed(words32(2, 5, 0), five), []seen{
			{0, 4, 12, 12, 4, 1, "gdwire: offset 12, $: 4 bytes follow the value in its packet"}, {1, 20, 28, 8, 0, 1, ""},
		}},
		{"compressed packets", save.Reading{Frame: save.U32, MaxUnpacked: 2 << 20}, framed(five, short, long, list), []seen{
			{0, 4, 12, 8, 0, 1, ""}, {1, 16, 16 + n, n, 0, 4, ""}, {2, 20 + n, 20 + end, end - n, 0, 67, ""}, {3, 24 + end, 48 + end, 24, 0, 4, ""},
		}},
		{"compressed packets with the limit", save.Reading{Frame: save.U32, MaxUnpacked: 1 << 20}, framed(long, five), []seen{
			{0, 4, 4, end - n, end - n, 0, "gdwire: offset 4, $: compressed with gzip: the decompressed size exceeds the limit of 1048576 bytes; raise it with -max-packet"},
			{1, 8 + end - n, 16 + end - n, 8, 0, 1, ""},
		}},
		{"a packet that is cut", save.Reading{Frame: save.U32}, framed(five, list)[:30], []seen{
			{0, 4, 12, 8, 0, 1, ""}, {1, 16, 16, 24, 24, 0, "gdwire: offset 30, $: the packet is cut: 10 of its 24 bytes are missing: unexpected EOF"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.reading
			require.Equal(t, c.want, look(&o, bytes.NewReader(c.in), false))
			require.Equal(t, c.want, look(&o, iotest.OneByteReader(bytes.NewReader(c.in)), false))
			if o.Framed() && c.name != "a packet that is cut" {
				require.Equal(t, c.want, look(&o, iotest.OneByteReader(bytes.NewReader(c.in)), true))
			}
		})
	}
	o := save.Reading{Frame: save.U32}
	got := look(&o, bytes.NewReader(framed(list)[:20]), true)
	require.Len(t, got, 1)
	require.Equal(t, "gdwire: offset 20, $: the packet is cut: 8 of its 24 bytes are missing: unexpected EOF", got[0].err)
}

// The first packet that only one of the candidates can read decides the format, also of
// packets that follow. Numbers do not.
func TestCandidates(t *testing.T) {
	color := words32(20, 0, 0, 0, 0) // to Godot 3 a PoolByteArray without elements, and 12 bytes
	require.Len(t, color, 20)
	o := save.Reading{Frame: save.U32, Candidates: []gdwire.Format{gdwire.Godot3, gdwire.Godot4}}
	o.Decoder.Format = gdwire.Godot3
	got := look(&o, bytes.NewReader(framed(words32(2, 5), color, color)), false)
	require.Len(t, got, 3)
	for i, p := range got {
		require.Empty(t, p.err)
		require.Zero(t, p.trailing, i)
	}
	require.Equal(t, gdwire.Godot4, o.Decoder.Format)
	require.Empty(t, o.Candidates)
}

// ValueSize counts padding that is missing at the end.
func TestValueSize(t *testing.T) {
	o := save.Reading{Frame: save.U32}
	for p := range Packets(&o, bytes.NewReader(framed(append(words32(29, 1), 'x')))) {
		for _, err := range p.AllTokens {
			require.NoError(t, err)
		}
		require.EqualValues(t, 12, p.ValueSize())
		require.EqualValues(t, 9, p.Size)
	}
}

// TestSizeOfInputEvents: InputEvents have any length, and are not padded.
func TestSizeOfInputEvents(t *testing.T) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: gdwire.Godot2})
	e.BeginArray(2)
	e.WriteNil()
	e.WriteNil()
	e.End()
	require.NoError(t, e.Close())
	value := b.Bytes()[:8]
	for n := range 2 { // of a type without data, whose bytes are ignored
		value = append(append(value, words32(19, 2, 2, uint32(15+n))...), make([]byte, 3+n)...)
	}
	o := save.Reading{Frame: save.U32, Decoder: gdwire.DecoderOptions{Format: gdwire.Godot2, AllowObjects: true}}
	for p := range Packets(&o, bytes.NewReader(framed(value))) {
		for _, err := range p.AllTokens {
			require.NoError(t, err)
		}
		require.EqualValues(t, len(value), p.ValueSize())
	}
}
