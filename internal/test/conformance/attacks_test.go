package conformance

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// These tests read the table of attacks_table_test.go, and other hostile input, in every way. The
// checks do not depend on time: the text of the error, the memory allocated, the number of
// calls of the Reader and of tokens.

// What gdwire documents: the size of a read buffer, the smallest MaxChunk and the maximum
// length of Error.Path.
const (
	readBuffer = 16 << 10
	minChunk   = 16
	maxPath    = 200
)

// withoutPool empties gdwire's pool of buffers for a test: a pooled buffer would hide what a
// call allocates. The test calls neither Release nor Close, so that the pool stays empty.
func withoutPool(t *testing.T) {
	t.Helper()
	requireEmpty := func() {
		t.Helper()
		got := testenv.Allocated(func() { gdwire.NewDecoder(bytes.NewReader(nil), nil).PeekKind() })
		require.GreaterOrEqual(t, got, uint64(readBuffer), "a Decoder's buffer was in the pool")
	}
	runtime.GC() // a sync.Pool keeps its content until the second collection
	runtime.GC()
	requireEmpty()
	t.Cleanup(requireEmpty)
}

// plain hides every method of a Reader but Read.
func plain(b []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(b)} }

// A metered Reader counts its calls and the bytes it returns.
type metered struct {
	r           io.Reader
	reads, read int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.reads++
	m.read += int64(n)
	return n, err
}

// A reading reads until an error and returns the number of tokens.
type reading func(d *gdwire.Decoder) (tokens int64, err error)

// until repeats a call until it fails.
func until(call func(d *gdwire.Decoder) error) reading {
	return func(d *gdwire.Decoder) (int64, error) {
		for {
			if err := call(d); err != nil {
				return 0, err
			}
		}
	}
}

// afterTokens reads tokens and makes a call after each.
func afterTokens(call func(d *gdwire.Decoder, t gdwire.Token) error) reading {
	return func(d *gdwire.Decoder) (n int64, err error) {
		for {
			t, err := d.ReadToken()
			if err == nil {
				n++
				err = call(d, t)
			}
			if err != nil {
				return n, err
			}
		}
	}
}

// everyReading is every way to read a stream of values to its end.
var everyReading = []struct {
	name string
	read reading
	// keeps reports whether it keeps the input, so that its memory grows with it.
	keeps bool
}{
	{name: "ReadToken", read: afterTokens(func(*gdwire.Decoder, gdwire.Token) error { return nil })},
	{name: "PeekKind", read: afterTokens(func(d *gdwire.Decoder, _ gdwire.Token) error { d.PeekKind(); return nil })},
	{name: "SkipValue", read: until((*gdwire.Decoder).SkipValue)},
	{name: "SkipTo", read: afterTokens(func(d *gdwire.Decoder, _ gdwire.Token) error { return d.SkipTo(0) })},
	{name: "Tokens", read: until(func(d *gdwire.Decoder) (err error) {
		for _, err = range d.Tokens() {
		}
		return err
	})},
	{name: "CopyValue", read: func(d *gdwire.Decoder) (int64, error) {
		e := gdwire.NewEncoder(io.Discard, &gdwire.EncoderOptions{Format: d.Options().Format, Depth: -1})
		return until(func(d *gdwire.Decoder) error { return gdwire.CopyValue(e, d) })(d)
	}},
	{name: "Payload", read: afterTokens(func(d *gdwire.Decoder, t gdwire.Token) error {
		if !hasPayload(t) {
			return nil
		}
		_, err := d.Payload().(io.WriterTo).WriteTo(io.Discard)
		return err
	})},
	{name: "Payload.Read", read: afterTokens(func(d *gdwire.Decoder, t gdwire.Token) error {
		if !hasPayload(t) {
			return nil
		}
		for p := d.Payload(); ; {
			if _, err := p.Read(some[:]); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})},
	{name: "ReadPacked", read: afterTokens(func(d *gdwire.Decoder, t gdwire.Token) error {
		if !isPacked(t) {
			return nil
		}
		return readPackedAs[t.Type()][0](d)
	})},
	{name: "AppendPacked", keeps: true, read: afterTokens(func(d *gdwire.Decoder, t gdwire.Token) error {
		if !isPacked(t) {
			return nil
		}
		return readPackedAs[t.Type()][1](d)
	})},
	{name: "AppendString", keeps: true, read: afterTokens(func(d *gdwire.Decoder, t gdwire.Token) error {
		if !isText(t) {
			return nil
		}
		_, err := d.AppendString(nil)
		return err
	})},
}

func isText(t gdwire.Token) bool {
	return t.Kind() == gdwire.KindStringChunk || t.Kind() == gdwire.KindNodePathStart
}

func isPacked(t gdwire.Token) bool {
	return (t.Kind() == gdwire.KindPackedStart || t.Kind() == gdwire.KindChunk) && readPackedAs[t.Type()][0] != nil
}

func hasPayload(t gdwire.Token) bool {
	return t.Kind() == gdwire.KindStringChunk || t.Kind() == gdwire.KindImageStart || isPacked(t)
}

// readPackedAs reads a packed array to its end: into a slice of a few elements, and
// into one that grows.
var readPackedAs = map[gdwire.Type][2]func(d *gdwire.Decoder) error{
	gdwire.TypePackedByteArray:    readAs[byte](),
	gdwire.TypePackedInt32Array:   readAs[int32](),
	gdwire.TypePackedInt64Array:   readAs[int64](),
	gdwire.TypePackedFloat32Array: readAs[float32](),
	gdwire.TypePackedFloat64Array: readAs[float64](),
	gdwire.TypePackedVector2Array: readAs[[2]float32](),
	gdwire.TypePackedVector3Array: readAs[[3]float64](),
	gdwire.TypePackedVector4Array: readAs[[4]float64](),
	gdwire.TypePackedColorArray:   readAs[[4]float32](),
}

func readAs[T gdwire.Packable]() [2]func(d *gdwire.Decoder) error {
	few := make([]T, 16)
	return [2]func(d *gdwire.Decoder) error{
		func(d *gdwire.Decoder) error {
			for {
				if _, err := gdwire.ReadPacked(d, few); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
			}
		},
		func(d *gdwire.Decoder) error {
			_, err := gdwire.AppendPacked[T](d, nil)
			return err
		},
	}
}

// some is the destination of Payload.Read.
var some [64]byte

// The memory of one more open container: frames of a Decoder and of an Encoder
// while their stacks grow, and the start of a key.
const (
	levelSize = 2 * 5 * 32
	keySize   = 256
)

// hurried reports whether to run only every fourth reading.
func hurried() bool { return !testenv.Full() || testenv.Race }

// runAttack reads an attack in every way, with the default limits or without
// limits.
func runAttack(t *testing.T, a *attack, limited bool) {
	o := &gdwire.DecoderOptions{AllowObjects: a.Objects}
	want, depth := a.Limited, min(a.Depth, 1024)
	if a.Format != "" {
		o.Format = formatNamed(t, a.Format)
	}
	if !limited {
		o.Limits = gdwire.NoLimits
		want, depth = a.Unlimited, a.Depth
	}
	size := a.Size()
	inputs := []string{"Reset", "ResetN", "ResetBytes"}
	ways := everyReading
	var packet []byte
	if size > maxPacket {
		inputs = inputs[:2]
	} else {
		packet = a.Bytes()
	}
	for i, way := range ways {
		for j, input := range inputs {
			if size > 64<<10 && (i%len(inputs) != j || hurried() && i%4 != 2) {
				continue // one of them is enough where it takes long
			}
			name := way.name + " of " + input
			r := &metered{r: a.Reader()}
			var (
				d      *gdwire.Decoder
				tokens int64
				err    error
			)
			got := testenv.Allocated(func() {
				d = gdwire.NewDecoder(nil, o)
				switch input {
				case "Reset":
					d.Reset(r)
				case "ResetN":
					d.ResetN(r, size)
				case "ResetBytes":
					d.ResetBytes(packet)
				}
				tokens, err = way.read(d)
			})
			offset := d.InputOffset()

			var fault *gdwire.Error
			switch {
			case want == "":
				require.Equal(t, io.EOF, err, name)
				require.Equal(t, size, offset, name)
			case input != "Reset" && errors.Is(err, io.ErrUnexpectedEOF):
				// The count is too large for the length of the input.
			case way.name == "CopyValue" && !limited && (errors.Is(err, gdwire.ErrRange) || errors.Is(err, gdwire.ErrType)):
				// The Encoder returns the error: it writes nothing that no engine
				// reads.
			default:
				require.ErrorContains(t, err, want, name)
				require.ErrorAs(t, err, &fault, name)
				require.LessOrEqual(t, fault.Offset, size, name)
				require.LessOrEqual(t, len(fault.Path), maxPath, name)
				_, again := way.read(d)
				require.Equal(t, err, again, "%s: the error stays", name)
			}

			// Memory follows the nesting and, where input is kept, the bytes
			// received.
			sent, most := r.read, testenv.MaxMemory()+levelSize*uint64(depth)
			if a.Keys {
				most += keySize * uint64(depth)
			}
			if input == "ResetBytes" {
				sent = size
			}
			if way.keeps || !limited {
				most += 6 * uint64(sent)
			}
			require.Less(t, got, most, "%s: bytes allocated", name)

			// No more is read than needed, and not in smaller pieces than needed.
			// An invalid name is read as well.
			if input != "ResetBytes" {
				if limited {
					require.LessOrEqual(t, r.read, offset+readBuffer, "%s: bytes read", name)
				}
				calls := 4 + r.read/(readBuffer/4)
				if a.ByteByByte {
					calls = 4 + r.read
				}
				require.LessOrEqual(t, r.reads, calls, "%s: calls of Read", name)
			}
			require.LessOrEqual(t, tokens, offset/2+1, "%s: tokens, each of which takes bytes", name)
		}
	}
}

const (
	// maxPacket is the size up to which an attack is held in memory.
	maxPacket = 4 << 20
	// million is the depth limit of this test.
	million = 1_000_000
)

func TestAttacks(t *testing.T) {
	withoutPool(t)
	for _, a := range allAttacks() {
		t.Run(a.Name, func(t *testing.T) {
			t.Run("default limits", func(t *testing.T) { runAttack(t, &a, true) })
			t.Run("no limits", func(t *testing.T) {
				if a.Depth > million {
					t.Skip("its frames take a gigabyte; BenchmarkAttacks reads it")
				}
				runAttack(t, &a, false)
			})
		})
	}
}

// BenchmarkAttacks measures the rows of SECURITY.md: what a Decoder allocates in all, with an empty pool, and the time of a
// byte. Without limits it takes a gigabyte.
func BenchmarkAttacks(b *testing.B) {
	for _, a := range allAttacks() {
		for limits, want := range map[gdwire.Limits]string{{}: a.Limited, gdwire.NoLimits: a.Unlimited} {
			if a.Row == "" {
				continue
			}
			b.Run(fmt.Sprintf("%s/limits=%t", a.Row, limits == gdwire.Limits{}), func(b *testing.B) {
				o := &gdwire.DecoderOptions{AllowObjects: a.Objects, Limits: limits}
				if a.Format != "" {
					o.Format = formatNamed(b, a.Format)
				}
				size := int64(0) // read so far
				read := func() {
					r := &metered{r: a.Reader()}
					d := gdwire.NewDecoder(r, o)
					defer d.Release()
					if _, err := everyReading[0].read(d); !strings.Contains(err.Error(), want) {
						b.Fatal(err)
					}
					size += r.read
				}
				runtime.GC() // twice, as in withoutPool
				runtime.GC()
				first := testenv.Allocated(read)
				size = 0
				for b.Loop() {
					read()
				}
				b.ReportMetric(float64(first), "B/first")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(size), "ns/byte")
			})
		}
	}
}

// A hostileReader returns some bytes and misbehaves from then on.
type hostileReader struct {
	b     []byte
	then  func(p []byte) (int, error)
	reads int
}

func (r *hostileReader) Read(p []byte) (int, error) {
	r.reads++
	if n := copy(p, r.b); n > 0 {
		r.b = r.b[n:]
		return n, nil
	}
	return r.then(p)
}

// Write accepts the bytes that Read would return.
func (r *hostileReader) Write(p []byte) (int, error) {
	if len(p) > len(r.b) {
		return r.then(p)
	}
	r.b = r.b[len(p):]
	return len(p), nil
}

// ReadAt reads the bytes at an offset.
func (r *hostileReader) ReadAt(p []byte, off int64) (int, error) {
	if off < int64(len(r.b)) && copy(p, r.b[off:]) == len(p) {
		return len(p), nil
	}
	return r.then(p)
}

// longPackets have text and data that take several chunks of the smallest read buffer.
func longPackets() []packet {
	const text = "ascii, än, €uro, 😀 and ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀."
	long := model.Text(text)
	return []packet{
		{name: "long String", packet: "<String>" + long},
		{name: "long StringName", packet: "<StringName>" + long},
		{name: "long key", packet: "<Dictionary> 01000000 <String>" + long + "<String>" + long},
		{name: "long NodePath", packet: "<NodePath> 02000080 01000000 01000000" + long + model.Text("root") + long},
		{name: "long object", packet: "<Object>" + long + " 01000000" + long + "<Nil>", objects: true},
		{name: "long Signal", packet: "<Signal>" + model.Text(strings.Repeat("signal", 30)) + " 08000000 00000000"},
		{name: "long class", packet: "<Array+2>" + long + " 01000000 <Nil>"},
		{name: "long classes", packet: "<Dictionary+14>" + long + long + " 00000000"},
		{name: "long bytes", packet: "<PackedByteArray>" + long},
		{name: "long numbers", packet: "<PackedInt32Array> 09000000" + model.U32(1, 2, 3, 4, 5, 6, 7, 8, 9)},
		{name: "long packed strings", packet: "<PackedStringArray> 03000000" + model.Text(text+"\x00") + model.Text("\x00") + model.Text(text+"\x00")},
	}
}

// hostileSample is a packet of one or more values.
type hostileSample struct {
	options gdwire.DecoderOptions
	packet  []byte
}

// hostileSamples returns long packets, and the valid packets, in one of their formats and every
// second one twice in an Array. Short runs have a third of these.
func hostileSamples(t *testing.T) (all []hostileSample) {
	for _, p := range longPackets() {
		all = append(all, hostileSample{p.options(gdwire.Godot4), model.Build(t, gdwire.Godot4, p.packet)})
	}
	for i, p := range validPackets {
		names := strings.Fields(p.formats)
		format := formatNamed(t, names[i%len(names)])
		b := model.Build(t, format, p.packet)
		if hurried() && i%3 != 0 || len(b)%4 != 0 { // its padding is missing because nothing follows
			continue
		}
		if i%2 == 0 {
			b = slices.Concat(model.Build(t, format, "<Array> 02000000"), b, b)
		}
		all = append(all, hostileSample{p.options(format), b})
	}
	return all
}

// misbehaviors contains the results of Readers that violate the contract, and the error of the call.
var misbehaviors = map[string]struct {
	then func(p []byte) (int, error)
	want error
}{
	"nothing":                {func([]byte) (int, error) { return 0, nil }, io.ErrNoProgress},
	"less than nothing":      {func([]byte) (int, error) { return -1, nil }, checked.ErrRead},
	"more than requested":    {func(p []byte) (int, error) { return len(p) + 1, nil }, checked.ErrRead},
	"more, and the end":      {func(p []byte) (int, error) { return len(p) + 1, io.EOF }, checked.ErrRead},
	"far more":               {func([]byte) (int, error) { return math.MaxInt, nil }, checked.ErrRead},
	"a timeout":              {func([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }, os.ErrDeadlineExceeded},
	"a negative number, too": {func([]byte) (int, error) { return math.MinInt, os.ErrDeadlineExceeded }, checked.ErrRead},
}

// The Reader starts to misbehave at every byte of every sample.
func TestHostileReaders(t *testing.T) {
	samples, stride := hostileSamples(t), 1
	if hurried() {
		stride = 13
	}
	for name, c := range misbehaviors {
		t.Run(name, func(t *testing.T) {
			for _, s := range samples {
				for at := 0; at <= len(s.packet); at += stride {
					for i, way := range everyReading {
						for _, s.options.MaxChunk = range []int{minChunk, 0} {
							r := &hostileReader{b: s.packet[:at], then: c.then}
							d := gdwire.NewDecoder(nil, &s.options)
							if i%2 == 0 {
								d.Reset(r)
							} else {
								d.ResetN(r, int64(len(s.packet))+1)
							}
							for range 2 {
								if _, err := way.read(d); err != c.want {
									t.Fatalf("%s of %x in %v, at %d of MaxChunk %d: %v", way.name, s.packet, s.options.Format, at, s.options.MaxChunk, err)
								}
							}
							require.LessOrEqual(t, r.reads, at+2*100+2, way.name)
							d.Release()
						}
					}
				}
			}
		})
	}
}

// A hostileConn is a connection, a PacketConn and a MessageConn.
type hostileConn struct {
	*hostileReader
	net.Conn
}

func (c *hostileConn) Read(p []byte) (int, error)  { return c.hostileReader.Read(p) }
func (c *hostileConn) Write(p []byte) (int, error) { return c.hostileReader.Write(p) }
func (c *hostileConn) ReadFrom(p []byte) (int, net.Addr, error) {
	n, err := c.hostileReader.Read(p)
	return n, c.RemoteAddr(), err
}
func (c *hostileConn) WriteTo(p []byte, _ net.Addr) (int, error) { return c.hostileReader.Write(p) }

type hostileMessages struct{ *hostileReader }

func (c hostileMessages) NextMessage(context.Context) (io.Reader, error) { return c, nil }
func (c hostileMessages) Reader(context.Context) (int, io.Reader, error) { return 2, c, nil }
func (c hostileMessages) WriteMessage(_ context.Context, b []byte) error { panic("not called") }
func (c hostileMessages) Write(_ context.Context, _ int, b []byte) error { panic("not called") }
func (c hostileMessages) SetReadLimit(int64)                             {}
func (c hostileMessages) Close(int, string) error                        { return nil }
func (c hostileMessages) CloseNow() error                                { return nil }

// A taker calls an exported function that takes a Reader, Writer, ReaderAt or connection.
type taker struct {
	name  string
	input []byte // of a Reader or ReaderAt, otherwise nil
	call  func(t *testing.T, r *hostileReader) error
}

// takers contains all of them but WithNetConn, which only keeps the connection.
func takers(t *testing.T) []taker {
	text := strings.Repeat("text ", 20)
	value := gdwiretest.Encode(t, text)
	packet := slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value)
	key := fileaccess.PasswordKey("x")
	contained := func(info fileaccess.Info) []byte {
		var b bytes.Buffer
		w := must(fileaccess.NewWriter(&b, info, key))(t)
		require.NoError(t, errors.Join(errOf(w.Write(packet)), w.Close()))
		return b.Bytes()
	}
	read := func(d *gdwire.Decoder) error {
		for {
			if _, err := d.ReadToken(); err != nil {
				return err
			}
		}
	}
	next := func(d *gdwire.Decoder, err error) error {
		if err != nil {
			return err
		}
		return read(d)
	}
	write := func(e *gdwire.Encoder) error { return errors.Join(e.WriteString(text), e.Close()) }
	writeTo := func(w io.WriteCloser, err error) error {
		require.NoError(t, err)
		_, err = w.Write(packet)
		return errors.Join(err, w.Close())
	}
	conn := func(r *hostileReader) *hostileConn {
		one, other := net.Pipe()
		t.Cleanup(func() { other.Close() })
		return &hostileConn{r, one}
	}
	messages := func(m stream.MessageConn) error {
		c := stream.NewMessageConn(t.Context(), m, nil)
		defer c.Close()
		return next(c.Next())
	}
	all := []taker{
		{"gdwire.NewDecoder", value, func(_ *testing.T, r *hostileReader) error { return read(gdwire.NewDecoder(r, nil)) }},
		{"gdwire.Decoder.Reset", value, func(_ *testing.T, r *hostileReader) error {
			d := gdwire.NewDecoder(nil, nil)
			d.Reset(r)
			return read(d)
		}},
		{"gdwire.Decoder.ResetN", value, func(_ *testing.T, r *hostileReader) error {
			d := gdwire.NewDecoder(nil, nil)
			d.ResetN(r, int64(len(value)))
			return read(d)
		}},
		{"gdwire.NewEncoder", nil, func(_ *testing.T, r *hostileReader) error { return write(gdwire.NewEncoder(r, nil)) }},
		{"gdwire.Encoder.Reset", nil, func(_ *testing.T, r *hostileReader) error {
			e := gdwire.NewEncoder(nil, nil)
			e.Reset(r)
			return write(e)
		}},
		{"fileaccess.NewCompressedWriter", nil, func(_ *testing.T, r *hostileReader) error {
			return writeTo(fileaccess.NewCompressedWriter(r, fileaccess.Zstd, 0))
		}},
		{"fileaccess.NewEncryptedWriter", nil, func(_ *testing.T, r *hostileReader) error {
			return writeTo(fileaccess.NewEncryptedWriter(r, fileaccess.LayoutGodot4, key))
		}},
		{"gdjson.FromJSON", []byte(`["s:a", "i:1"]`), func(_ *testing.T, r *hostileReader) error {
			return gdjson.FromJSON(gdwire.NewEncoder(io.Discard, nil), r)
		}},
		{"gdjson.ToJSON", nil, func(_ *testing.T, r *hostileReader) error {
			return gdjson.ToJSON(r, gdwire.NewDecoder(bytes.NewReader(value), nil))
		}},
		{"savefile.Read", packet, func(_ *testing.T, r *hostileReader) error {
			f, err := savefile.Read(r, int64(len(packet)), nil)
			if err != nil {
				return err
			}
			return f.Unmarshal(new(any))
		}},
		{"savefile.File.WriteTo", nil, func(_ *testing.T, r *hostileReader) error {
			_, err := must(savefile.New(savefile.Info{}, text))(t).WriteTo(r)
			return err
		}},
		{"stream.NewReader", packet, func(_ *testing.T, r *hostileReader) error {
			return next(stream.NewReader(r, nil).Next())
		}},
		{"stream.ScanComplete", packet, func(_ *testing.T, r *hostileReader) error {
			_, err := stream.ScanComplete(r)
			return err
		}},
		{"stream.NewWriter", nil, func(_ *testing.T, r *hostileReader) error { return stream.NewWriter(r, nil).WriteRaw(value) }},
		{"stream.NewConn", packet, func(t *testing.T, r *hostileReader) error {
			c := stream.NewConn(t.Context(), conn(r), nil)
			defer c.Close()
			return next(c.Next())
		}},
		{"stream.NewConn", nil, func(t *testing.T, r *hostileReader) error {
			c := stream.NewConn(t.Context(), conn(r), nil)
			defer c.Close()
			return c.WriteRaw(value)
		}},
		{"stream.NewMessageConn", value, func(t *testing.T, r *hostileReader) error { return messages(hostileMessages{r}) }},
		{"stream.WebSocket", value, func(t *testing.T, r *hostileReader) error {
			return messages(stream.WebSocket(hostileMessages{r}, func(error) int { return 0 }))
		}},
		{"stream.Server.ServeMessages", value, func(t *testing.T, r *hostileReader) (err error) {
			s := stream.Server{Handler: func(_ context.Context, c *stream.Conn) error {
				err = next(c.Next())
				return nil
			}}
			s.ServeMessages(t.Context(), hostileMessages{r})
			return err
		}},
		{"stream.NewPacketConn", []byte{}, func(t *testing.T, r *hostileReader) error {
			c := stream.NewPacketConn(t.Context(), conn(r), nil)
			defer c.Close()
			_, err := c.Next()
			return err
		}},
		{"stream.NewPacketConn", nil, func(t *testing.T, r *hostileReader) error {
			c := stream.NewPacketConn(t.Context(), conn(r), nil)
			defer c.Close()
			return c.To(&net.UDPAddr{}).WriteRaw(value)
		}},
		{"variant.UnmarshalRead", value, func(_ *testing.T, r *hostileReader) error { return variant.UnmarshalRead(r, new(any)) }},
		{"variant.MarshalWrite", nil, func(_ *testing.T, r *hostileReader) error { return variant.MarshalWrite(r, text) }},
	}
	for _, info := range []fileaccess.Info{
		{}, {Container: fileaccess.Compressed, Mode: fileaccess.FastLZ}, {Container: fileaccess.Compressed, Mode: fileaccess.Zstd}, {Container: fileaccess.Encrypted},
		{Container: fileaccess.Raw, Mode: fileaccess.FastLZ}, {Container: fileaccess.Raw, Mode: fileaccess.Gzip}, {Base64: fileaccess.Base64{Text: true}},
	} {
		o := &fileaccess.Options{Key: key, Raw: info.Container == fileaccess.Raw, Mode: info.Mode, Base64: info.Base64.Text}
		all = append(all,
			taker{"fileaccess.NewReader", contained(info), func(_ *testing.T, r *hostileReader) error {
				in, err := fileaccess.NewReader(r, o)
				if err == nil {
					_, err = io.Copy(io.Discard, in)
				}
				return err
			}},
			taker{"fileaccess.NewWriter", nil, func(_ *testing.T, r *hostileReader) error { return writeTo(fileaccess.NewWriter(r, info, key)) }})
	}
	return all
}

// Each exported function that takes a Reader, Writer, ReaderAt or connection returns an error, wherever this
// begins to violate the contract of its interface.
func TestHostileIO(t *testing.T) {
	all, named := takers(t), map[string]bool{"stream.WithNetConn": true}
	for _, c := range all {
		named[c.name] = true
	}
	takes := regexp.MustCompile(`\bio\.|net\.(Conn|PacketConn)|MessageConn`)
	for _, dir := range []string{".", "stream", "variant", "gdjson", "fileaccess", "savefile", "gdwiretest"} {
		for name, f := range functions(t, dir) {
			if takes.MatchString(strings.Join(fieldTypes(f.Type.Params), ", ")) {
				require.True(t, named[name], "%s is not in takers", name)
			}
		}
	}
	for _, size := range []int64{-1, math.MinInt64} { // a Content-Length can be -1
		require.ErrorContains(t, errOf(savefile.Read(bytes.NewReader(nil), size, nil)), fmt.Sprintf("a size of %d bytes", size))
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			size := len(c.input)
			if c.input == nil {
				accept := &hostileReader{then: func(p []byte) (int, error) { size += len(p); return len(p), nil }}
				require.NoError(t, c.call(t, accept))
			}
			for name, m := range misbehaviors {
				for at := 0; at == 0 || at < size; at += 3 {
					r := &hostileReader{b: make([]byte, at), then: m.then}
					want := m.want
					switch {
					case c.name == "savefile.Read" && want == io.ErrNoProgress:
						want = checked.ErrRead
						fallthrough
					case c.input != nil:
						copy(r.b, c.input)
					case want == checked.ErrRead:
						want = checked.ErrWrite
					case want == io.ErrNoProgress:
						want = io.ErrShortWrite
					}
					err := c.call(t, r)
					require.Error(t, err, "%s after %d bytes", name, at)
					if c.name != "stream.NewPacketConn" { // an empty datagram, and a PeerError for one of another length
						require.ErrorIs(t, err, want, "%s after %d bytes", name, at)
					}
				}
			}
		})
	}
}

// Calls that wait for an end that never comes can be repeated without allocating.
func TestWaitingAllocatesNothing(t *testing.T) {
	for name, head := range map[string]string{
		"string":       "<String>" + model.U32(16<<20),
		"name":         "<Signal>" + model.U32(1<<10),
		"byte array":   "<PackedByteArray>" + model.U32(256<<20),
		"arrays":       "<Array>" + model.U32(1<<20) + "<Array>" + model.U32(1<<20) + "<Nil>",
		"string array": "<PackedStringArray>" + model.U32(1<<20, 16<<20),
	} {
		t.Run(name, func(t *testing.T) {
			b := append(model.Build(t, gdwire.Godot4, head), make([]byte, 7)...)
			d := gdwire.NewDecoder(&hostileReader{b: b, then: func([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }}, nil)
			defer d.Release()
			for range 1000 {
				require.Equal(t, os.ErrDeadlineExceeded, d.SkipValue())
			}
			require.Zero(t, testing.AllocsPerRun(20, func() {
				if d.SkipValue() != os.ErrDeadlineExceeded {
					panic(name)
				}
			}))
		})
	}
}

// Invalid UTF-8 across every chunk border, in every kind of string, is reported at
// its first byte by every way of reading.
func TestHostileText(t *testing.T) {
	heads := map[string]struct{ head, path string }{
		"String":        {"<String>", "$"},
		"StringName":    {"<StringName>", "$"},
		"packed string": {"<PackedStringArray> 01000000", "$[0]"},
		"name":          {"<NodePath> 01000080 00000000 00000000", "$[0]"},
		"key":           {"<Dictionary> 01000000 <String>", "$.key(0)"},
	}
	for _, bad := range []string{
		"\x80", "\xbf\xbf", "\xfe", "\xff", // not the start of a rune
		"\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", // overlong
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xed\xa0\xbd\xed\xb8\x80", // surrogates
		"\xf4\x90\x80\x80", "\xf7\xbf\xbf\xbf", "\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80", // too high
		"\xc3", "\xe2\x82", "\xf0\x9f", "\xf0\x9f\x98", // truncated
	} {
		for kind, h := range heads {
			t.Run(fmt.Sprintf("%s/%q", kind, bad), func(t *testing.T) {
				head := model.Build(t, gdwire.Godot4, h.head)
				for lead := range 2*minChunk + utf8.UTFMax {
					for _, tail := range []string{"", "y", strings.Repeat("y", minChunk)} {
						text := strings.Repeat("x", lead) + bad + tail
						if len(text) > lead+len(bad) && !testenv.Full() && lead%3 != 0 {
							continue
						}
						packet := slices.Concat(head, model.Build(t, gdwire.Godot4, model.Text(text)))
						for i, way := range everyReading {
							d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{MaxChunk: minChunk})
							switch (i + lead) % 3 {
							case 0:
								d.ResetBytes(packet)
							case 1:
								d.Reset(plain(packet))
							case 2:
								d.Reset(iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(packet))))
							}
							_, err := way.read(d)
							var e *gdwire.Error
							if !errors.As(err, &e) || e.Err != gdwire.ErrUTF8 || e.Offset != int64(len(head)+4+lead) || e.Path != h.path {
								t.Fatalf("%q in a %s, %s: %v", text, kind, way.name, err)
							}
							d.Release()
						}
					}
				}
			})
		}
	}
}
