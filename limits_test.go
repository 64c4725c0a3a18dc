package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// peekAll reads all tokens with a PeekKind before each.
func peekAll(d *Decoder) error {
	for {
		d.PeekKind()
		if _, err := d.ReadToken(); err != nil {
			return err
		}
	}
}

func TestLimitsAtTheirExactValue(t *testing.T) {
	nil3 := bytesOf(idNil, idNil, idNil)
	for _, c := range []struct {
		limit  string
		what   string
		packet []byte
		value  int64 // the smallest that accepts the packet
		offset int   // of the error if the limit is one less
		path   string
	}{
		{"Depth", "arrays", bytesOf(idArray, 1, idArray, 1, idNil), 2, 16, "$[0][0]"},
		{"Depth", "an empty array in arrays", bytesOf(idArray, 1, idArray, 1, idArray, 0), 2, 16, "$[0][0]"},
		{"Depth", "keys", bytesOf(idDict, 1, idDict, 1, idNil, idNil, idNil), 2, 16, "$.key(0).key(0)"},
		{"Depth", "values", bytesOf(idDict, 1, str("a"), idDict, 1, idNil, idNil), 2, 28, `$.a.key(0)`},
		{"Depth", "properties", bytesOf(idObject, "X", 1, "a", idArray, 1, idNil), 2, 32, `$.a[0]`},

		{"Elements", "elements", bytesOf(idArray, 3, nil3), 3, 4, "$"},
		{"Elements", "elements of a typed array", bytesOf(idArray|typedBy*2, "Node", 3, nil3), 3, 12, "$"},
		{"Elements", "pairs", bytesOf(idDict, 3, nil3, nil3), 3, 4, "$"},
		{"Elements", "properties", bytesOf(idObject, "X", 3, "a", idNil, "b", idNil, "c", idNil), 3, 12, "$"},
		{"Elements", "names and sub-names", bytesOf(idPath, newPath(2), 1, 0, "a", "b", "c"), 3, 4, "$"},
		{"Elements", "a property's sub-name", bytesOf(idPath, newPath(1), 1, nodePathProperty, "a", "b", "c"), 3, 4, "$"},
		{"Elements", "packed strings", bytesOf(idStrings, 3, "a\x00", "b\x00", "c\x00"), 3, 4, "$"},

		{"Values", "elements", bytesOf(idArray, 3, nil3), 4, 4, "$"},
		{"Values", "pairs", bytesOf(idDict, 2, nil3, idNil), 5, 4, "$"},
		{"Values", "properties", bytesOf(idObject, "X", 2, "a", idNil, "b", idNil), 5, 12, "$"},
		{"Values", "names", bytesOf(idPath, newPath(2), 1, 0, "a", "b", "c"), 4, 4, "$"},
		{"Values", "packed strings", bytesOf(idStrings, 3, "a\x00", "b\x00", "c\x00"), 4, 4, "$"},
		{"Values", "a chain", bytesOf(idArray, 2, idArray, 2, idNil, idNil, idDict, 1, idNil, idStrings, 1, "\x00"), 8, 40, "$[1][null]"},

		{"StringBytes", "a String", str("abcde"), 5, 4, "$"},
		{"StringBytes", "a StringName", bytesOf(idName, "abcde"), 5, 4, "$"},
		{"StringBytes", "a key", bytesOf(idDict, 1, str("abcde"), idNil), 5, 12, "$.key(0)"},
		{"StringBytes", "a name", bytesOf(idPath, newPath(1), 0, 0, "abcde"), 5, 16, "$[0]"},
		{"StringBytes", "a packed string without its NUL", bytesOf(idStrings, 1, "abcde\x00"), 5, 8, "$[0]"},

		{"NameBytes", "a class", bytesOf(idObject, "Node3D", 0), 6, 4, "$"},
		{"NameBytes", "a property", bytesOf(idObject, "A", 1, "position", idNil), 8, 16, "$.key(0)"},
		{"NameBytes", "a signal", bytesOf(idSignal, "pressed", uint64(1)), 7, 4, "$"},
		{"NameBytes", "a declared class", bytesOf(idArray|typedBy*2, "Node3D", 0), 6, 4, "$"},
		{"NameBytes", "a script of keys", bytesOf(idDict|typedBy*3, "res://a", 0), 7, 4, "$"},
		{"NameBytes", "a class of values", bytesOf(idDict|valuesBy*2|typedBy, 4, "Node3D", 0), 6, 8, "$"},

		{"PackedBytes", "bytes", bytesOf(idBytes, 5, []byte("abcde\x00\x00\x00")), 5, 4, "$"},
		{"PackedBytes", "ints", bytesOf(idInts, 2, reals(2)), 8, 4, "$"},
		{"PackedBytes", "doubles", bytesOf(idDoubles, 2, 0.1, 0.2), 16, 4, "$"},
		{"PackedBytes", "vectors", bytesOf(idVectors3, 2, reals(6)), 24, 4, "$"},
		{"PackedBytes", "wide vectors", bytesOf(idVectors2|bit16, 1, 0.1, 0.2), 16, 4, "$"},
	} {
		t.Run(c.limit+" of "+c.what, func(t *testing.T) {
			for _, n := range []int64{c.value, c.value + 1, -1} {
				d := NewDecoder(nil, &DecoderOptions{AllowObjects: true, Limits: limitsOf(c.limit, n)})
				eachReader(d, c.packet, func(name string) { require.Equal(t, io.EOF, readAll(d), name) })
				eachReader(d, c.packet, func(name string) { require.NoError(t, d.SkipValue(), name) })
				d.Release()
			}
			d := newDecoder(t, nil, &DecoderOptions{AllowObjects: true, Limits: limitsOf(c.limit, c.value-1)})
			for name, read := range map[string]func(d *Decoder) error{"ReadToken": readAll, "PeekKind": peekAll, "SkipValue": (*Decoder).SkipValue} {
				t.Run(name, func(t *testing.T) {
					eachReader(d, c.packet, func(reset string) {
						err := read(d)
						requireError(t, err, c.offset, c.path, ErrLimit)
						require.LessOrEqual(t, d.InputOffset(), int64(c.offset), "no token comes with it")
						var l *LimitError
						require.ErrorAs(t, err, &l)
						require.Equal(t, LimitError{Name: c.limit, Got: c.value, Max: c.value - 1}, *l, "%s, %s", name, reset)
					})
				})
			}
			// The limit is checked before the bytes it is about have arrived.
			head := c.offset + 4
			if c.packet[0] == idPath && c.offset == 4 {
				head = 16 // two counts and flags are read together
			}
			d.Reset(plain(c.packet[:head]))
			requireError(t, readAll(d), c.offset, c.path, ErrLimit)
		})
	}
}

// SECURITY.md lists the default limits.
func TestSECURITYLimits(t *testing.T) {
	b := must(os.ReadFile("SECURITY.md"))(t)
	for l, size := range [...]string{
		limitDepth: "1024", limitElements: "1<<20", limitValues: "1<<24", limitString: "16 MiB",
		limitName: "1 KiB", limitPacked: "256 MiB", limitBytes: "none",
	} {
		require.Contains(t, string(b), fmt.Sprintf("| `Limits.%s` | %s", limitTable[l].name, size))
	}
}

func TestDefaultLimits(t *testing.T) {
	want := map[limit]int64{
		limitDepth: 1024, limitElements: 1 << 20, limitValues: 1 << 24, limitString: 16 << 20,
		limitName: 1 << 10, limitPacked: 256 << 20, limitBytes: math.MaxInt64,
	}
	var none Limits
	for l, n := range want {
		require.Equal(t, n, none.bounds()[l], limitTable[l].name)
	}
	// As the input shows them, without any of the counted bytes.
	for _, c := range []struct {
		name  string
		limit string
		head  []byte
		max   int64
	}{
		{"Array", "Elements", bytesOf(idArray), 1 << 20},
		{"Dictionary", "Elements", bytesOf(idDict), 1 << 20},
		{"PackedStringArray", "Elements", bytesOf(idStrings), 1 << 20},
		{"String", "StringBytes", bytesOf(idString), 16 << 20},
		{"Signal", "NameBytes", bytesOf(idSignal), 1 << 10},
		{"PackedByteArray", "PackedBytes", bytesOf(idBytes), 256 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := NewDecoder(plain(append(c.head, bytesOf(int(c.max))...)), nil)
			require.NotErrorIs(t, readAll(d), ErrLimit)
			d.Reset(plain(append(c.head, bytesOf(int(c.max+1))...)))
			err := readAll(d)
			requireError(t, err, 4, "$", ErrLimit)
			var l *LimitError
			require.ErrorAs(t, err, &l)
			require.Equal(t, LimitError{Name: c.limit, Got: c.max + 1, Max: c.max}, *l)
		})
	}
	// Without a limit, names are limited to 1 GiB.
	d := NewDecoder(plain(bytesOf(idSignal, 1<<30+1)), &DecoderOptions{Limits: NoLimits})
	var l *LimitError
	require.ErrorAs(t, readAll(d), &l)
	require.Equal(t, LimitError{Name: "NameBytes", Got: 1<<30 + 1, Max: 1 << 30}, *l)
}

func TestDepthAsInEngines(t *testing.T) {
	d := newDecoder(t, plain(nested(1024)), nil)
	require.Equal(t, io.EOF, readAll(d))
	d.Reset(plain(append(bytes.Repeat(bytesOf(idArray, 1), 1024), bytesOf(idArray, 0)...)))
	require.Equal(t, io.EOF, readAll(d))
	d.Reset(plain(nested(1025)))
	var fault *Error
	require.ErrorAs(t, readAll(d), &fault)
	require.Equal(t, &LimitError{Name: "Depth", Got: 1025, Max: 1024}, fault.Err)
	require.EqualValues(t, 8*1025, fault.Offset)
	require.True(t, strings.HasPrefix(fault.Path, "$[0][0]"), fault.Path)
	// Strings, NodePaths and packed arrays do not count as levels.
	d = NewDecoder(plain(bytesOf(idArray, 2, idPath, newPath(1), 0, 0, longText, idStrings, 1, longText+"\x00")),
		&DecoderOptions{MaxChunk: 16, Limits: Limits{Depth: 1}})
	require.Equal(t, io.EOF, readAll(d))
}

func TestDeepNestingNeedsLittleMemory(t *testing.T) {
	const depth = 100_000
	packet := nested(depth)
	for name, read := range map[string]func(d *Decoder) error{
		"ReadToken": readAll,
		"SkipValue": (*Decoder).SkipValue,
		"CopyValue": copyToNowhere,
		"WriteRaw": func(d *Decoder) error {
			e := NewEncoder(io.Discard, &EncoderOptions{Depth: -1})
			defer e.Close()
			return e.WriteRaw(packet)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(plain(packet), &DecoderOptions{Limits: Limits{Depth: -1}})
			got := testenv.Allocated(func() {
				if err := read(d); err != io.EOF {
					require.NoError(t, err)
				}
			})
			require.Less(t, got, uint64(64*len(packet)))
			require.LessOrEqual(t, cap(d.stack)*32, 8*len(packet))
			d.Release()
		})
	}
}

// counted contains the bytes before every kind of count or length.
var counted = []struct {
	name   string
	format Format
	head   []byte
}{
	{"String", Godot4, bytesOf(idString)},
	{"StringName", Godot4, bytesOf(idName)},
	{"Array", Godot4, bytesOf(idArray)},
	{"typed Array", Godot4, bytesOf(idArray|typedBy*2, "Node")},
	{"class of an Array", Godot4, bytesOf(idArray | typedBy*2)},
	{"Dictionary", Godot4, bytesOf(idDict)},
	{"script of values", Godot4, bytesOf(idDict | valuesBy*3)},
	{"class", Godot4, bytesOf(idObject)},
	{"Object", Godot4, bytesOf(idObject, "Node")},
	{"property", Godot4, bytesOf(idObject, "Node", 1)},
	{"Signal", Godot4, bytesOf(idSignal)},
	{"NodePath", Godot4, bytesOf(idPath)},
	{"sub-names", Godot4, bytesOf(idPath, newPath(0))},
	{"name", Godot4, bytesOf(idPath, newPath(1), 0, 0)},
	{"PackedByteArray", Godot4, bytesOf(idBytes)},
	{"PackedInt32Array", Godot4, bytesOf(idInts)},
	{"PackedInt64Array", Godot4, bytesOf(idLongs)},
	{"PackedFloat32Array", Godot4, bytesOf(idFloats)},
	{"PackedFloat64Array", Godot4, bytesOf(idDoubles)},
	{"PackedStringArray", Godot4, bytesOf(idStrings)},
	{"packed string", Godot4, bytesOf(idStrings, 1)},
	{"PackedVector2Array", Godot4, bytesOf(idVectors2)},
	{"PackedVector3Array", Godot4, bytesOf(idVectors3 | bit16)},
	{"PackedColorArray", Godot4, bytesOf(idColors)},
	{"PackedVector4Array", Godot4, bytesOf(idVectors4 | bit16)},
	{"Image", Godot2, bytesOf(15, 0, 0, 1, 1)},
	{"InputEvent", Godot2, bytesOf(19, 1, 0)},
	{"path of one string", Godot2, bytesOf(16)},
}

// Memory follows the bytes received and not a count.
func TestHostileCountsAllocateNothing(t *testing.T) {
	reads := map[string]func(d *Decoder) error{
		"ReadToken": readAll,
		"SkipValue": (*Decoder).SkipValue,
		"CopyValue": func(d *Decoder) error {
			e := NewEncoder(io.Discard, &EncoderOptions{Format: d.options.Format})
			defer e.Close()
			return CopyValue(e, d)
		},
		"bulk reads": func(d *Decoder) error {
			for {
				tok, err := d.ReadToken()
				if err != nil {
					return err
				}
				switch tok.Kind() {
				case KindStringChunk, KindNodePathStart:
					_, err = d.AppendString(nil)
				case KindImageStart:
					_, err = io.ReadAll(d.Payload())
				case KindPackedStart:
					switch tok.Type() {
					case TypePackedByteArray:
						_, err = AppendPacked[byte](d, nil)
					case TypePackedFloat64Array:
						_, err = AppendPacked[float64](d, nil)
					case TypePackedVector4Array:
						_, err = AppendPacked[[4]float32](d, nil)
					}
				}
				if err != nil {
					return err
				}
			}
		},
	}
	for _, c := range counted {
		t.Run(c.name, func(t *testing.T) {
			for name, read := range reads {
				t.Run(name, func(t *testing.T) {
					for _, count := range []uint32{math.MaxInt32, math.MaxUint32, 1 << 30, 1 << 24} {
						for extra := 8; extra <= 16; extra += 4 {
							packet := append(append(bytes.Clone(c.head), bytesOf(count)...), make([]byte, extra)...)
							require.Less(t, testenv.Allocated(func() {
								d := NewDecoder(nil, &DecoderOptions{Format: c.format, AllowObjects: true, Limits: NoLimits})
								eachReader(d, packet, func(string) {
									if err := read(d); err == nil && name == "ReadToken" {
										t.Errorf("%s of %d in %d bytes: nothing wrong", name, count, len(packet))
									}
								})
								d.Release()
							}), testenv.MaxMemory())
						}
					}
				})
			}
		})
	}
}

func TestObjectsNotAllowedByDefault(t *testing.T) {
	packet := bytesOf(idArray, 1, idObject, "Node", 1, "script", idNil)
	for _, c := range []struct {
		name     string
		format   Format
		packet   []byte
		rejected bool
	}{
		{"Godot 4", Godot4, packet, true},
		{"Godot 3", Godot3, bytesOf(19, 1, 17, "Node", 1, "script", 0), true},
		{"manual", Manual4, bytesOf(19, 1, 17, "Node", 1, "script", 0), true},
		{"null by the manual", Manual4, bytesOf(19, 1, 17, ""), false},
		{"no class", Godot4, bytesOf(idArray, 1, idObject, ""), true},
		{"id", Godot4, bytesOf(idArray, 1, idObject|bit16, uint64(7)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, read := range map[string]func(d *Decoder) error{
				"ReadToken": readAll,
				"SkipValue": (*Decoder).SkipValue,
				"CopyValue": copyToNowhere,
			} {
				t.Run(name, func(t *testing.T) {
					d := NewDecoder(plain(c.packet), &DecoderOptions{Format: c.format})
					err := read(d)
					if c.rejected {
						requireError(t, err, 8, "$[0]", ErrObject)
					} else if err != io.EOF {
						require.NoError(t, err)
					}
					d.Release()
				})
			}
		})
	}
	// The header alone is enough for the error.
	d := NewDecoder(plain(packet[:12]), nil)
	requireError(t, readAll(d), 8, "$[0]", ErrObject)
}

func TestLimitErrorText(t *testing.T) {
	require.EqualError(t, &LimitError{Name: "Mine", Got: 5, Max: 4}, "5 exceeds limit Mine (4)")
	require.ErrorIs(t, fmt.Errorf("wrapped: %w", &LimitError{}), ErrLimit)
	require.NotErrorIs(t, &LimitError{}, ErrType)
}

func TestLimitErrors(t *testing.T) {
	player := func(last ...any) []byte {
		return bytesOf(idDict, 1, str("player"), idDict, 1, str("inventory"), idArray, 4, idNil, idNil, idNil, bytesOf(last...))
	}
	at := fmt.Sprintf("offset %d, $.player.inventory[3]: ", len(player())+4)
	testInputErrors(t, []inputError{
		{name: "StringBytes", packet: player(idString, uint32(math.MaxUint32)), is: ErrLimit,
			text: at + "string of 4294967295 bytes exceeds limit StringBytes (16777216)"},
		{name: "Elements", packet: player(idArray, 1<<21), is: ErrLimit,
			text: at + "container of 2097152 elements exceeds limit Elements (1048576)"},
		{name: "PackedBytes", packet: player(idBytes, 1<<29), is: ErrLimit,
			text: at + "packed data of 536870912 bytes exceeds limit PackedBytes (268435456)"},
		{name: "NameBytes", packet: player(idSignal, 2000), is: ErrLimit,
			text: at + "name of 2000 bytes exceeds limit NameBytes (1024)"},
		{name: "Values", packet: player(idArray, 50), options: DecoderOptions{Limits: Limits{Values: 20}}, is: ErrLimit,
			text: at + "container that adds up to 59 values exceeds limit Values (20)"},
		{name: "Bytes", packet: player(idBytes, 50), options: DecoderOptions{Limits: Limits{Bytes: 100}}, is: ErrLimit,
			text: at + "value of at least 130 bytes exceeds limit Bytes (100)"},
		{name: "Depth", packet: bytesOf(idArray, 1, idArray, 1, idNil), options: DecoderOptions{Limits: Limits{Depth: 1}}, is: ErrLimit,
			text: "offset 16, $[0][0]: value inside 2 containers exceeds limit Depth (1)"},
	})
}

func TestNoLimits(t *testing.T) {
	l := reflect.ValueOf(NoLimits)
	for i := range l.NumField() {
		require.EqualValues(t, -1, l.Field(i).Int(), l.Type().Field(i).Name)
	}
}
