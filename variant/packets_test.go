package variant

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

var errRefused = errors.New("refused")

// A refusing type decodes nothing.
type refusing struct{}

func (*refusing) UnmarshalVariant(*gdwire.Decoder) error { return errRefused }

// TestReceive receives a packet that does not fit a Go type, then one that does: a Conn, a Reader and
// the Stats of a Server treat the first as invalid.
func TestReceive(t *testing.T) {
	good := encoded(t, dict("name", "Ada"), nil)
	long := encoded(t, dict("name", strings.Repeat("x", 50_000)), nil) // the Decoder reads it while it arrives
	for name, c := range map[string]struct {
		packet  []byte
		into    any
		options Options
		want    string // of the error; none if the packet is valid
	}{
		"valid":                  {good, new(simple), Options{}, ""},
		"valid, long":            {long, new(simple), Options{}, ""},
		"valid, any":             {long, new(any), Options{}, ""},
		"bytes after the value":  {append(bytes.Clone(good), 0, 0, 0, 0), new(simple), Options{}, "4 bytes after the value"},
		"bytes after, any":       {append(bytes.Clone(good), 7), new(any), Options{}, "1 bytes after the value"},
		"bytes after, long":      {append(bytes.Clone(long), 0, 0), new(simple), Options{}, "2 bytes after the value"},
		"two values":             {append(bytes.Clone(good), good...), new(simple), Options{}, "bytes after the value"},
		"wrong type":             {encoded(t, "text", nil), new(simple), Options{}, "String into Go variant.simple"},
		"wrong type, inside":     {encoded(t, dict("name", 5), nil), new(simple), Options{}, "int into Go string"},
		"out of range":           {encoded(t, 300, nil), new(int8), Options{}, "does not fit int8"},
		"unknown key":            {encoded(t, dict("other", 1), nil), new(simple), Options{RejectUnknown: true}, "unknown key"},
		"too much memory":        {long, new(simple), Options{MaxMemory: 100}, "MaxMemory"},
		"refused by the Go type": {good, new(refusing), Options{}, "refused"},
		"invalid":                {[]byte{200, 0, 0, 0}, new(any), Options{}, "type"},
		"empty":                  {nil, new(any), Options{}, "empty packet"},
	} {
		t.Run(name, func(t *testing.T) {
			var wire []byte
			for _, p := range [][]byte{c.packet, good} {
				wire = append(binary.LittleEndian.AppendUint32(wire, uint32(len(p))), p...)
			}
			check := func(r interface {
				Next() (*gdwire.Decoder, error)
			}) {
				err := Receive(r, c.into, c.options)
				if c.want == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, c.want)
					require.True(t, stream.Skippable(err), err)
				}
				var m simple
				require.NoError(t, Receive(r, &m))
				require.Equal(t, "Ada", m.Name)
				require.Equal(t, io.EOF, Receive(r, &m))
			}
			check(stream.NewReader(bytes.NewReader(wire), nil))

			ours, theirs := net.Pipe()
			s := &stream.Server{
				Logger:  slog.New(slog.DiscardHandler),
				Handler: func(_ context.Context, conn *stream.Conn) error { check(conn); return nil },
			}
			go func() {
				_, _ = theirs.Write(wire)
				_ = theirs.Close()
			}()
			s.ServeConn(stream.NewConn(t.Context(), ours, nil))
			require.EqualValues(t, 2, s.Stats().PacketsIn)
			invalid := 0
			if c.want != "" {
				invalid = 1
			}
			require.EqualValues(t, invalid, s.Stats().Invalid)
		})
	}
}

// TestReceiveMistakes calls Receive wrongly: the program is at fault and not the packet.
func TestReceiveMistakes(t *testing.T) {
	r := stream.NewReader(bytes.NewReader([]byte{4, 0, 0, 0, 0, 0, 0, 0}), nil)
	err := Receive(r, 5)
	require.ErrorContains(t, err, "not a pointer")
	require.False(t, stream.Skippable(err))
	var empty decoders = func() (*gdwire.Decoder, error) { return newDecoderOf(nil), nil }
	err = Receive(empty, new(any))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "a packet without a value is not the end")
	require.True(t, stream.Skippable(err))
	var unknown decoders = func() (*gdwire.Decoder, error) {
		return gdwire.NewDecoder(bytes.NewReader(make([]byte, 8)), nil), nil
	}
	require.NoError(t, Receive(unknown, new(any)), "what follows can be the next packet")
}

type decoders func() (*gdwire.Decoder, error)

func (f decoders) Next() (*gdwire.Decoder, error) { return f() }

// TestSend sends values that can be encoded, and others, of which nothing is written.
func TestSend(t *testing.T) {
	var b bytes.Buffer
	w := stream.NewWriter(&b, &stream.Options{MaxPacket: 100})
	require.NoError(t, Send(w, simple{Name: "Ada"}))
	require.Error(t, Send(w, func() {}))
	require.True(t, stream.Skippable(Send(w, make([]byte, 100))))
	require.NoError(t, Send(w, 5))
	r := stream.NewReader(&b, nil)
	var m simple
	require.NoError(t, Receive(r, &m))
	require.Equal(t, "Ada", m.Name)
	var n int
	require.NoError(t, Receive(r, &n))
	require.Equal(t, 5, n)
	require.Equal(t, io.EOF, Receive(r, &n))
}

type (
	nestedSlice  []nestedSlice
	nestedMap    map[string]nestedMap
	nestedStruct struct{ Next *nestedStruct }
	nestedAny    struct{ Next any }
	nestedList   struct{ Next []nestedList }
	nestedTyped  struct {
		Next []any `gd:",type=Array"`
	}
)

// nestings contains each kind of container: a value inside one of them, a type of variable for it, and
// how many of them are accepted around a value.
var nestings = []struct {
	name             string
	make             func(inner any) any
	to               reflect.Type
	encoded, decoded int
}{
	{"*Array", func(inner any) any { return &Array{Values: []any{inner}} }, reflect.TypeFor[any](), maxDepth, maxDepth},
	{"Array", func(inner any) any { return Array{Values: []any{inner}} }, reflect.TypeFor[Array](), maxDepth, maxDepth},
	{"[]any", func(inner any) any { return []any{inner} }, reflect.TypeFor[[]any](), maxDepth, maxDepth},
	{"[1]any", func(inner any) any { return [1]any{inner} }, reflect.TypeFor[[1]any](), maxDepth, maxDepth},
	{"*Dictionary", func(inner any) any { d := &Dictionary{}; d.Set("a", inner); return d }, reflect.TypeFor[*Dictionary](), maxDepth, maxDepth},
	{"Dictionary", func(inner any) any { var d Dictionary; d.Set("a", inner); return d }, reflect.TypeFor[Dictionary](), maxDepth, maxDepth},
	{"map[string]any", func(inner any) any { return map[string]any{"a": inner} }, reflect.TypeFor[map[string]any](), maxDepth, maxDepth},
	{"map[any]any", func(inner any) any { return map[any]any{"a": inner} }, reflect.TypeFor[map[any]any](), maxDepth, maxDepth},
	{"*Object", func(inner any) any { return &Object{Class: "A", Properties: []Property{{"a", inner}}} }, reflect.TypeFor[*Object](), maxDepth, maxDepth},
	{"Object", func(inner any) any { return Object{Class: "A", Properties: []Property{{"a", inner}}} }, reflect.TypeFor[Object](), maxDepth, maxDepth},
	{"struct", func(inner any) any { return nestedAny{inner} }, reflect.TypeFor[nestedAny](), maxDepth, maxDepth},
	{"typed slice", func(inner any) any { return nestedTyped{[]any{inner}} }, reflect.TypeFor[nestedTyped](), maxDepth / 2, maxDepth / 2},
	{"slice", func(inner any) any {
		if inner == nil {
			return nestedSlice{}
		}
		return nestedSlice{inner.(nestedSlice)}
	}, reflect.TypeFor[nestedSlice](), maxDepth, maxDepth},
	{"slice and struct", func(inner any) any {
		if inner == nil {
			return nestedList{[]nestedList{}}
		}
		return nestedList{[]nestedList{inner.(nestedList)}}
	}, reflect.TypeFor[nestedList](), maxDepth / 2, maxDepth / 2},
	{"map", func(inner any) any {
		if inner == nil {
			return nestedMap{}
		}
		return nestedMap{"a": inner.(nestedMap)}
	}, reflect.TypeFor[nestedMap](), maxDepth, maxDepth},
	{"pointer and struct", func(inner any) any {
		next, _ := inner.(*nestedStruct)
		return &nestedStruct{next}
	}, reflect.TypeFor[*nestedStruct](), maxDepth / 2, maxDepth / 2},
	{"pointer and struct in any", func(inner any) any { return &nestedAny{inner} }, reflect.TypeFor[*nestedAny](), maxDepth / 2, maxDepth - 1},
}

// Each container counts once, and each pointer that does not lead to an Array, Dictionary or Object.
func TestDepthOfContainers(t *testing.T) {
	o := Options{MaxMemory: -1, Encoder: gdwire.EncoderOptions{Depth: -1}, Decoder: gdwire.DecoderOptions{AllowObjects: true, Limits: gdwire.NoLimits}}
	for _, c := range nestings {
		for n, good := range map[int]bool{c.encoded: true, c.encoded + 1: false} {
			var v any
			for range n {
				v = c.make(v)
			}
			_, err := Marshal(v, o)
			requireDepth(t, good, err, "encode %d of %s", n, c.name)
		}
		for n, good := range map[int]bool{c.decoded: true, c.decoded + 1: false} {
			err := Unmarshal(nestedPacket(t, c.make, n), reflect.New(c.to).Interface(), o)
			requireDepth(t, good, err, "decode %d of %s", n, c.name)
		}
	}
}

func requireDepth(t *testing.T, good bool, err error, format string, args ...any) {
	t.Helper()
	if good {
		require.NoError(t, err, fmt.Sprintf(format, args...))
		return
	}
	var limit *gdwire.LimitError
	require.ErrorAs(t, err, &limit, fmt.Sprintf(format, args...))
	require.EqualValues(t, maxDepth, limit.Max)
}

// nestedPacket returns the encoding of a value inside n containers, which can be too many for Marshal.
func nestedPacket(t *testing.T, make func(inner any) any, n int) (b []byte) {
	inner := encoded(t, make(nil), nil)
	start, isSuffix := bytes.CutSuffix(encoded(t, make(make(nil)), nil), inner)
	require.True(t, isSuffix)
	return append(bytes.Repeat(start, n-1), inner...)
}
