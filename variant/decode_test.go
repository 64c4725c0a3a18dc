package variant

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// A value that does not fit is an Error that wraps a TypeError with all fields.
func TestTypeErrors(t *testing.T) {
	type Player struct{ HP int32 }
	type Save struct {
		Player  Player
		Players []Player
		ByName  map[string]*Player
		Rest    map[string]Player `gd:",embed"`
	}
	nested := func(v any) any { return dict("player", dict("hp", v)) }
	testTypeErrors(t, []typeError{
		{name: "type", wire: nested("many"), into: &Save{}, err: `offset 44, $.player.hp: String into Go int32 (Player.HP)`, is: gdwire.ErrType},
		{name: "range", wire: nested(int64(1 << 40)), into: &Save{}, err: `offset 44, $.player.hp: int into Go int32 (Player.HP): int 1099511627776 does not fit int32`, is: gdwire.ErrRange},
		{name: "fraction", wire: nested(1.5), into: &Save{}, err: `offset 44, $.player.hp: float into Go int32 (Player.HP): float 1.5 is not an integer`, is: gdwire.ErrRange},
		{name: "in slice", wire: dict("players", array(dict(), dict("hp", nil), dict("hp", array()))), into: &Save{}, err: `offset 84, $.players[2].hp: Array into Go int32 (Player.HP)`, is: gdwire.ErrType},
		{name: "in map", wire: dict("by_name", dict("Ada", dict("hp", Vector2{}))), into: &Save{}, err: `offset 64, $.by_name.Ada.hp: Vector2 into Go int32 (Player.HP)`, is: gdwire.ErrType},
		{name: "embedded", wire: dict("x", 5), into: &Save{}, err: `offset 20, $.x: int into Go variant.Player (Save.Rest)`, is: gdwire.ErrType},
		{name: "embedded key", wire: dict(5, 5), into: &Save{}, err: `offset 8, $.key(0): Dictionary into Go map[string]variant.Player (Save.Rest): wrong type: key of Go type int64`, is: gdwire.ErrType},
		{name: "embedded twice", wire: array(dict("x", nil), dict("x", nil)), into: &[]Save{}, err: ``},

		{name: "uint", wire: -1, into: new(uint), err: `offset 0, $: int into Go uint: int -1 does not fit uint`, is: gdwire.ErrRange},
		{name: "uint64 of a float", wire: -1.0, into: new(uint64), err: `offset 0, $: float into Go uint64: float -1 does not fit uint64`, is: gdwire.ErrRange},
		{name: "float32", wire: 1e300, into: new(float32), err: `offset 0, $: float into Go float32: float 1e+300 does not fit float32`, is: gdwire.ErrRange},
		{name: "int into float32", wire: 1<<24 + 1, into: new(float32), err: `offset 0, $: int into Go float32: int 16777217 does not fit float32`, is: gdwire.ErrRange},
		{name: "float64", wire: int64(1<<53 + 1), into: new(float64), err: `offset 0, $: int into Go float64: int 9007199254740993 does not fit float64`, is: gdwire.ErrRange},
		{name: "bool", wire: 1, into: new(bool), err: `offset 0, $: int into Go bool`, is: gdwire.ErrType},
		{name: "string", wire: 1, into: new(string), err: `offset 0, $: int into Go string`, is: gdwire.ErrType},
		{name: "struct", wire: array(), into: new(simple), err: `offset 0, $: Array into Go variant.simple`, is: gdwire.ErrType},
		{name: "positional", wire: dict(), into: new(row), err: `offset 0, $: Dictionary into Go variant.row`, is: gdwire.ErrType},
		{name: "map", wire: array(), into: new(map[string]int), err: `offset 0, $: Array into Go map[string]int`, is: gdwire.ErrType},
		{name: "interface", wire: 1, into: new(fmt.Stringer), err: `offset 0, $: int into Go fmt.Stringer`, is: gdwire.ErrType},
		{name: "text", wire: "level", into: new(netip.Addr), err: `offset 0, $: String into Go netip.Addr: ParseAddr("level"): unable to parse IP`},
		{name: "no text", wire: array(), into: new(netip.Addr), err: `offset 0, $: Array into Go netip.Addr`, is: gdwire.ErrType},
		{name: "Dictionary into an address", wire: dict("a", 1), into: new(netip.Addr), err: `offset 0, $: Dictionary into Go netip.Addr`, is: gdwire.ErrType},
		{name: "date into a time", wire: "2026-01-02", into: new(time.Time), err: `offset 0, $: String into Go time.Time: parsing time "2026-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"`},
		{name: "Dictionary into a time", wire: dict(), into: new(time.Time), err: `offset 0, $: Dictionary into Go time.Time`, is: gdwire.ErrType},
		{name: "Dictionary into a big number", wire: dict(), into: new(big.Int), err: `offset 0, $: Dictionary into Go big.Int`, is: gdwire.ErrType},
		{name: "text key", wire: dict("level", 1), into: new(map[netip.Addr]int), err: `offset 8, $.key(0): String into Go netip.Addr: ParseAddr("level"): unable to parse IP`},
		{name: "no text key", wire: dict(5, 1), into: new(map[netip.Addr]int), err: `offset 8, $.key(0): int into Go netip.Addr`, is: gdwire.ErrType},

		{name: "unknown key", wire: dict("x", 5), into: new(simple), reject: true, err: `offset 8, $.key(0): Dictionary into Go variant.simple: unknown key "x"`, is: ErrUnknownKey},
		{name: "unknown int key", wire: dict(7, 5), into: new(simple), reject: true, err: `offset 8, $.key(0): Dictionary into Go variant.simple: unknown key of type int`, is: ErrUnknownKey},
		{name: "unknown element", wire: array(1, 2, "", nil), into: new(row), reject: true, err: `offset 32, $[3]: Nil into Go variant.row: unknown key`, is: ErrUnknownKey},
		{name: "unknown String", wire: array(1, 2, "", ""), into: new(row), reject: true, err: `offset 32, $[3]: String into Go variant.row: unknown key`, is: ErrUnknownKey},
		{name: "array as key", wire: dict(array(), 1), into: new(map[any]int), err: `offset 16, $.key(0): Go interface {}: wrong type: a map cannot compare *variant.Array`, is: gdwire.ErrType},
		{name: "bytes as key", wire: dict([]byte{}, 1), into: new(map[any]int), err: `offset 8, $.key(0): Go interface {}: wrong type: a map cannot compare []uint8`, is: gdwire.ErrType},
		{name: "NaN as key", wire: dict(math.NaN(), 1), into: new(map[any]int), err: `offset 8, $.key(0): Go interface {}: out of range: a map cannot find NaN`, is: gdwire.ErrRange},
		{name: "NaN as float key", wire: dict(math.NaN(), 1), into: new(map[float64]int), err: `offset 8, $.key(0): Go float64: out of range: a map cannot find NaN`, is: gdwire.ErrRange},
		{name: "NaN in a vector key", wire: dict(Vector2{Y: math.NaN()}, 1), into: new(map[Vector2]int), err: `offset 8, $.key(0): Go variant.Vector2: out of range: a map cannot find NaN`, is: gdwire.ErrRange},
	})
}

func TestUnmarshalArguments(t *testing.T) {
	b := encoded(t, 1, nil)
	for name, v := range map[string]any{"nil": nil, "int": 5, "nil pointer": (*int)(nil), "struct": struct{}{}} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, Unmarshal(b, v), "not a pointer to a variable")
		})
	}
	var n int
	require.EqualError(t, Unmarshal(nil, &n), "gdwire: offset 0, $: unexpected EOF")
	require.ErrorIs(t, Unmarshal(b[:6], &n), io.ErrUnexpectedEOF)
	for _, o := range []Options{{}, {Decoder: gdwire.DecoderOptions{Strict: true}}, {Decoder: gdwire.DecoderOptions{OneValue: true}}} {
		require.NoError(t, Unmarshal(b, &n, o))
		for _, v := range []any{&n, new(any), new(Raw)} {
			err := Unmarshal(append(b, 1, 2, 3), v, o)
			require.EqualError(t, err, "gdwire: offset 8, $: 3 bytes after the value")
			require.Equal(t, o.Decoder.Strict, errors.Is(err, gdwire.ErrStrict))
			require.Equal(t, err, Validate(append(b, 1, 2, 3), o))
			require.EqualError(t, UnmarshalRead(bytes.NewReader(append(b, 1, 2, 3)), v, o), "gdwire: offset 8, $: bytes after the value")
		}
	}
	d := gdwire.NewDecoder(&oneByteReader{}, nil)
	require.Equal(t, io.EOF, UnmarshalDecode(d, &n))
	require.Equal(t, io.EOF, UnmarshalDecode(d, new(celsius)))
	d.Release()
	require.Equal(t, gdwire.ErrClosed, UnmarshalDecode(d, &n))
	require.Equal(t, gdwire.ErrClosed, UnmarshalDecode(d, new(any)))
}

// Methods that do not read or write exactly one value are errors.
type (
	readsTwo  struct{}
	readsNone struct{}
	readsPart struct{}
	fails     struct{}
)

var errOwn = errors.New("own error")

func (*readsTwo) UnmarshalVariant(d *gdwire.Decoder) error {
	return errors.Join(d.SkipValue(), d.SkipValue())
}
func (*readsNone) UnmarshalVariant(d *gdwire.Decoder) error { return nil }
func (*readsPart) UnmarshalVariant(d *gdwire.Decoder) error { _, err := d.ReadArray(); return err }
func (*fails) UnmarshalVariant(d *gdwire.Decoder) error     { return errOwn }

func (readsTwo) MarshalVariant(e *gdwire.Encoder) error {
	return errors.Join(e.WriteNil(), e.WriteNil())
}
func (readsNone) MarshalVariant(e *gdwire.Encoder) error { return nil }
func (readsPart) MarshalVariant(e *gdwire.Encoder) error { return e.BeginArray(0) }
func (fails) MarshalVariant(e *gdwire.Encoder) error     { return errOwn }

func TestMethodsTakeOneValue(t *testing.T) {
	const reading = "UnmarshalVariant must read exactly one value"
	one, two := array(array()), array(array(), array(), array())
	for _, c := range []struct {
		wire, into any
		err        string
	}{
		{two, new([]readsTwo), "Go variant.readsTwo: wrong count: " + reading},
		{dict("a", array(), "b", array()), new(map[string]readsTwo), reading},
		{one, new([]readsNone), reading},
		{one, new(readsNone), reading},
		{dict("a", 1), new(map[string]readsNone), reading},
		{one, new([]readsPart), reading},
		{one, new(readsPart), reading},
		{one, new([]fails), "Go variant.fails: own error"},
		{one, new(fails), "Go variant.fails: own error"},
		{dict("value", 1), new(box[fails]), "(box[github.com/gdwire/gdwire/variant.fails].Value): own error"},
	} {
		t.Run(fmt.Sprintf("%T", c.into), func(t *testing.T) {
			err := Unmarshal(encoded(t, c.wire, nil), c.into)
			require.ErrorContains(t, err, c.err, "%T", c.into)
			var at *gdwire.Error
			require.ErrorAs(t, err, &at)
			require.Equal(t, strings.Contains(c.err, "own"), errors.Is(err, errOwn))
		})
	}
	const writing = "MarshalVariant must write exactly one value"
	for _, v := range []any{[]readsNone{{}}, []readsPart{{}}, map[string]readsTwo{"a": {}, "b": {}}, readsNone{}, readsPart{}, readsTwo{}} {
		t.Run(fmt.Sprintf("%T", v), func(t *testing.T) {
			require.ErrorContains(t, errOf(Marshal(v)), writing, "%T", v)
		})
	}
	require.ErrorIs(t, errOf(Marshal([]readsTwo{{}})), gdwire.ErrCount)
	_, err := Marshal(box[fails]{})
	require.ErrorIs(t, err, errOwn)
	require.ErrorContains(t, err, "Go variant.fails (box[github.com/gdwire/gdwire/variant.fails].Value): own error")
}

// A short text in an interface keeps no long text in memory that was decoded with it.
func TestBoxesKeepLittle(t *testing.T) {
	const n, size = 64, 1 << 20
	b := encoded(t, []any{"a", strings.Repeat("x", size), "b"}, nil)
	var kept [n]any
	heap := heapMeter()
	for i := range kept {
		var v []any
		require.NoError(t, Unmarshal(b, &v))
		kept[i] = v[2]
	}
	require.Less(t, heap(), int64(n*size/4))
	runtime.KeepAlive(kept)
}
