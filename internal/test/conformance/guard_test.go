package conformance

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/internal/test/calls"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// No function reads beyond the end of the bytes that it is given, however large their capacity is:
// the next bytes in memory can belong to another goroutine. These tables list all exported
// functions with a parameter of type []byte.

// unguarded contains the functions that only write to their bytes or ignore them, and those that pass
// them to a function of the system.
var unguarded = []string{
	"fileaccess.Reader.Read",
	"gdwire.Decoder.AppendPath", "gdwire.Decoder.AppendString", "gdwire.Encoder.AppendPath", "gdwire.Encoder.ResetBytes",
	"stream.Conn.NextRaw", "stream.PingReceived", "stream.Reader.NextRaw", "stream.Peer.WriteRaw", "stream.WebSocket",
	"variant.MarshalAppend",
}

// A guarded function is called with bytes before an unreadable page. The format and the options
// are those of the packet.
type guarded struct {
	name string
	call func(b []byte, o gdwire.DecoderOptions)
}

// guardedCalls contains the functions by name. Some read the bytes in several ways.
var guardedCalls = []guarded{
	{"gdwire.Decoder.ResetBytes", func(b []byte, o gdwire.DecoderOptions) {
		for _, err := range decoderOf(b, o).Tokens() {
			if err != nil {
				return
			}
		}
	}},
	{"gdwire.Decoder.ResetBytes", func(b []byte, o gdwire.DecoderOptions) {
		_ = decoderOf(b, o).SkipValue()
	}},
	{"gdwire.Decoder.ResetBytes", func(b []byte, o gdwire.DecoderOptions) {
		e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{Format: o.Format})
		defer e.Close()
		_ = gdwire.CopyValue(e, decoderOf(b, o))
	}},
	{"gdwire.Decoder.ResetBytes", everyRead},
	{"gdwire.Format.UnmarshalText", func(b []byte, o gdwire.DecoderOptions) {
		_ = o.Format.UnmarshalText(b)
	}},
	{"gdwire.Encoder", func(b []byte, o gdwire.DecoderOptions) {
		for i := range calls.Writes {
			for _, typ := range []gdwire.Type{gdwire.TypeNil, gdwire.TypeString, gdwire.TypePackedByteArray} { // that is open
				e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{Format: o.Format, AllowInvalidUTF8: o.AllowInvalidUTF8})
				switch typ {
				case gdwire.TypeString:
					_ = e.BeginString(typ, int64(len(b)))
				case gdwire.TypePackedByteArray:
					_ = e.BeginPacked(typ, int64(len(b)))
				}
				_ = calls.Writes[i].Run(e, b)
				e.Close()
			}
		}
	}},
	{"variant.Unmarshal", func(b []byte, o gdwire.DecoderOptions) {
		for _, v := range []any{
			new(any), new([]any), new([]string), new(string), new(variant.NodePath), new(variant.Raw), new(map[any]any), new(map[string]string),
			new([][3]float32), new([]variant.Color), new([]int16), new(variant.Vector3), new(struct{ A, Name string }),
			new(struct{ Name variant.NodePath }), new(variant.Object),
		} {
			_ = variant.Unmarshal(b, v, variant.Options{Decoder: o})
		}
	}},
	{"variant.UnmarshalFirst", func(b []byte, o gdwire.DecoderOptions) {
		for len(b) > 0 {
			var v any
			rest, err := variant.UnmarshalFirst(b, &v, variant.Options{Decoder: o})
			if err != nil {
				return
			}
			b = rest
		}
	}},
	{"variant.Validate", func(b []byte, o gdwire.DecoderOptions) { _ = variant.Validate(b, variant.Options{Decoder: o}) }},
	{"variant.Marshal", func(b []byte, o gdwire.DecoderOptions) {
		text := wire.String(b)
		for _, v := range []any{text, variant.StringName(text), variant.NodePath(text), b, map[string]int{text: 1}, variant.Raw{Format: o.Format, Data: b}} {
			_, _ = variant.Marshal(v, variant.Options{Encoder: gdwire.EncoderOptions{Format: o.Format}})
		}
	}},
	{"gdjson.ToJSON", func(b []byte, o gdwire.DecoderOptions) { _ = gdjson.ToJSON(io.Discard, decoderOf(b, o)) }},
	{"fileaccess.CompressedWriter.Write", func(b []byte, _ gdwire.DecoderOptions) {
		for mode := fileaccess.FastLZ; mode <= fileaccess.Gzip; mode++ {
			if w, err := fileaccess.NewCompressedWriter(io.Discard, mode, 4096); err == nil {
				_, _ = w.Write(b)
				_ = w.Close()
			}
		}
	}},
	{"fileaccess.EncryptedWriter.Write", func(b []byte, _ gdwire.DecoderOptions) {
		if w, err := fileaccess.NewEncryptedWriter(io.Discard, fileaccess.LayoutGodot4, new(fileaccess.Key)); err == nil {
			_, _ = w.Write(b)
			_ = w.Close()
		}
	}},
	{"fileaccess.Detect", func(b []byte, _ gdwire.DecoderOptions) { _ = fileaccess.Detect(b) }},
	{"fileaccess.Compress", func(b []byte, _ gdwire.DecoderOptions) {
		for mode := fileaccess.FastLZ; mode <= fileaccess.Gzip; mode++ {
			_, _ = fileaccess.Compress(nil, b, mode)
		}
	}},
	{"fileaccess.Decompress", func(b []byte, _ gdwire.DecoderOptions) {
		for mode := fileaccess.FastLZ; mode <= fileaccess.Gzip; mode++ {
			_, _ = fileaccess.Decompress(nil, b, mode, 1<<20)
		}
	}},
	{"stream.Writer.WriteRaw", func(b []byte, _ gdwire.DecoderOptions) { _ = stream.NewWriter(io.Discard, nil).WriteRaw(b) }},
	{"stream.Room.WriteRaw", func(b []byte, _ gdwire.DecoderOptions) {
		inRoom(func(r *stream.Room, _, _ *stream.Member) error { return r.WriteRaw(b) })
	}},
	{"stream.Member.WriteRaw", func(b []byte, _ gdwire.DecoderOptions) {
		inRoom(func(_ *stream.Room, m, _ *stream.Member) error { return m.WriteRaw(b) })
	}},
	{"stream.Others.WriteRaw", func(b []byte, _ gdwire.DecoderOptions) {
		inRoom(func(_ *stream.Room, _, other *stream.Member) error { return other.Others().WriteRaw(b) })
	}},
	{"stream.Latest.WriteRaw", func(b []byte, _ gdwire.DecoderOptions) {
		inRoom(func(r *stream.Room, _, _ *stream.Member) error { return r.Latest("key").WriteRaw(b) })
	}},
	{"stream.Conn.WriteRaw", func(b []byte, _ gdwire.DecoderOptions) {
		connected(func(c *stream.Conn) { _ = c.WriteRaw(b) })
	}},
}

// connected calls use with a connection whose other side reads.
func connected(use func(*stream.Conn)) {
	ours, theirs := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	c := stream.NewConn(context.Background(), ours, nil)
	use(c)
	_ = c.Close()
}

// inRoom calls send in a room of two, and waits until the packets are written.
func inRoom(send func(r *stream.Room, m, other *stream.Member) error) {
	var room stream.Room
	var members [2]*stream.Member
	for i := range members {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		members[i] = room.Join(stream.NewConn(context.Background(), ours, nil))
	}
	_ = send(&room, members[0], members[1])
	for _, m := range members {
		_ = m.Flush()
		_ = m.Conn().Close()
	}
}

// decoderOf returns a Decoder of b.
func decoderOf(b []byte, o gdwire.DecoderOptions) *gdwire.Decoder {
	d := gdwire.NewDecoder(nil, &o)
	d.ResetBytes(b)
	return d
}

// everyRead makes all calls of a Decoder until all together consume no more.
func everyRead(b []byte, o gdwire.DecoderOptions) {
	d := decoderOf(b, o)
	c := calls.NewCaller(nil, d)
	for before := int64(-1); d.Err() == nil && d.InputOffset() > before; {
		before = d.InputOffset()
		for i := range calls.Reads {
			if op := &calls.Reads[i]; op.Function() != "gdwire.Decoder.Reset" && op.Function() != "gdwire.Decoder.Release" {
				_ = op.Run(c)
			}
		}
	}
}

func TestGuardTables(t *testing.T) {
	names := slices.Clone(unguarded)
	for _, g := range guardedCalls {
		names = append(names, g.name)
	}
	for i := range calls.Writes {
		names = append(names, calls.Writes[i].Function())
	}
	for _, dir := range []string{".", "stream", "variant", "gdjson", "fileaccess"} {
		for name, f := range functions(t, dir) {
			if strings.Contains(strings.Join(fieldTypes(f.Type.Params), ", "), "[]byte") {
				require.Contains(t, names, name)
			}
		}
	}
}

// TestGuard calls the functions with inputs, and with parts of them, before an unreadable page.
func TestGuard(t *testing.T) {
	inputs, cuts := knownInputs(t), 32
	if !testenv.Full() {
		inputs, cuts = fuzz.Seeds(), 2
	}
	for _, text := range []string{"", "a", "ab", "abc", "abcd", "abcdefg", "ä", "\xff", "/a/b:c", strings.Repeat("x", 33)} {
		inputs = append(inputs, fuzz.Input{Packet: []byte(text)})
	}
	size := 0
	for _, in := range inputs {
		size = max(size, len(in.Packet))
	}
	m := newGuardPage(t, size)
	for i, in := range inputs {
		o := in.Seed.Options()
		for cut := 0; cut <= len(in.Packet); cut += 1 + len(in.Packet)/cuts {
			whole := in.Packet[:len(in.Packet)-cut]
			b := m.put(whole)
			for _, g := range guardedCalls {
				if cut > 0 && strings.HasPrefix(g.name, "fileaccess.") { // slow, and any bytes are the same to them
					continue
				}
				require.NotPanics(t, func() { g.call(b, o) }, "%s, input %d: %x", g.name, i, whole)
			}
			require.True(t, bytes.Equal(whole, b), "input %d has changed", i)
		}
	}
}

// A guardPage holds one input at a time, which ends before an unreadable page: reading the byte after it fails. On systems other
// than Linux, the input is an ordinary copy.
type guardPage struct {
	bytes []byte // an input ends with them
	whole []byte // bytes, and after them the memory that cannot be read
}

// put returns a copy of data in m, which replaces the previous input. The capacity of the result
// exceeds its length: code that trusts the capacity of its input fails, too.
func (m *guardPage) put(data []byte) []byte {
	start := len(m.bytes) - len(data)
	copy(m.bytes[start:], data)
	return m.whole[start:len(m.bytes)]
}
