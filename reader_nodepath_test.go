package gdwire

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// AppendString joins a NodePath as engines print it, wherever its Reader fails.
func TestAppendStringOfNodePaths(t *testing.T) {
	long := strings.Repeat("long", 20)
	for want, packet := range map[string][]byte{
		"":                  bytesOf(idPath, newPath(0), 0, 0),
		"/":                 bytesOf(idPath, newPath(0), 0, nodePathAbsolute),
		"a":                 bytesOf(idPath, newPath(1), 0, 0, "a"),
		"/a":                bytesOf(idPath, newPath(1), 0, nodePathAbsolute, "a"),
		"a/b/c":             bytesOf(idPath, newPath(3), 0, 0, "a", "b", "c"),
		"/root/a:b:c":       bytesOf(idPath, newPath(2), 2, nodePathAbsolute, "root", "a", "b", "c"),
		":b":                bytesOf(idPath, newPath(0), 1, 0, "b"),
		"/:b":               bytesOf(idPath, newPath(0), 1, nodePathAbsolute, "b"),
		long + "/a:" + long: bytesOf(idPath, newPath(2), 1, 0, long, "a", long),
	} {
		t.Run(fmt.Sprintf("%q", want), func(t *testing.T) {
			for at := 16; at < len(packet); at++ {
				d := NewDecoder(&faultyReader{b: append(bytes.Clone(packet), integer(7)...), at: at}, &DecoderOptions{MaxChunk: 16})
				readTo(t, d, 1)
				var got []byte
				var err error
				if at > 16 || len(packet) > 16 {
					got, err = d.AppendString(got)
					require.Equal(t, errTemporary, err, "%s at %d", want, at)
				}
				got, err = d.AppendString(got)
				require.NoError(t, err)
				require.Equal(t, want, string(got), "at %d", at)
				require.ErrorContains(t, d.WrapError(io.EOF), "offset 0, $:")
				require.EqualValues(t, 7, readTo(t, d, 1).Int())
				d.Release()
			}
			d := NewDecoder(plain(packet), nil)
			readTo(t, d, 1)
			got, err := d.AppendString(nil)
			require.NoError(t, err)
			require.Equal(t, want, string(got))
			d.Release()
		})
	}
}

// An error inside a NodePath stays for all calls.
func TestInvalidNodePath(t *testing.T) {
	d := NewDecoder(plain(bytesOf(idPath, newPath(2), 0, 0, "ok", "\xff")), nil)
	defer d.Release()
	readTo(t, d, 1)
	got, err := d.AppendString(nil)
	requireError(t, err, 28, "$[1]", ErrUTF8)
	require.Equal(t, "ok", string(got))
	_, again := d.AppendString(nil)
	require.Equal(t, err, again)
	_, again = d.ReadToken()
	require.Equal(t, err, again)
}

// The two counts of a NodePath can overflow their sum: engines add them in 32
// bits, the manuals do not say.
func TestNodePathCountOverflow(t *testing.T) {
	packet := bytesOf(15, newPath(1<<31-1), uint32(math.MaxUint32), 0)
	d := NewDecoder(plain(packet), &DecoderOptions{Format: Manual4, Limits: limitsOf("", 0)})
	defer d.Release()
	requireError(t, readAll(d), 4, "$", ErrRange)

	d.Reset(plain(bytesOf(15, newPath(1<<31-1), uint32(1<<31), 0)))
	require.Equal(t, int64(math.MaxUint32), readTo(t, d, 1).Len(), "just counted")
}

func TestNodePathErrors(t *testing.T) {
	huge := bytesOf(idPath, newPath(1<<31-1), uint32(math.MaxUint32), 0)
	godot3 := bytesOf(15, newPath(1<<31-1), uint32(math.MaxUint32), 0)
	testInputErrors(t, []inputError{
		{name: "one string in Godot 4", packet: bytesOf(idPath, 5), is: ErrType,
			text: "offset 4, $: NodePath in one string, which godot4 does not have"},
		{name: "one string", packet: bytesOf(16, "a"), options: DecoderOptions{Format: Godot2, Strict: true}, is: ErrStrict,
			text: "offset 4, $: not canonical: NodePath as one string"},
		{name: "sum of the counts in an engine", packet: huge, options: DecoderOptions{Strict: true}, is: ErrStrict,
			text: "offset 4, $: not canonical: NodePath of 6442450942 names"},
		{name: "sum of the counts", packet: godot3, options: DecoderOptions{Format: Manual4, Limits: limitsOf("", 0)}, is: ErrRange,
			text: "offset 4, $: NodePath of 6442450942 names"},
	})
}

// fastNodePath appends the text if its names are those of the NodePath.
func TestFastNodePath(t *testing.T) {
	eleven := strings.Repeat("x", 11)
	tests := []struct {
		names, subnames []string
		absolute        bool
		want            string // no text if it is empty, unless the NodePath is
	}{
		{nil, nil, false, ""},
		{nil, nil, true, "/"},
		{[]string{"a"}, nil, false, "a"},
		{[]string{"a"}, nil, true, "/a"},
		{[]string{"..", "Items", "Slot 3"}, nil, false, "../Items/Slot 3"},
		{[]string{"root", "Player"}, []string{"position", "x"}, true, "/root/Player:position:x"},
		{nil, []string{"x"}, false, ":x"},
		{nil, []string{"x"}, true, "/:x"},
		{[]string{"a"}, []string{"shader/color"}, false, "a:shader/color"},
		{[]string{"a"}, []string{"b/c"}, false, "a:b/c"},
		{[]string{"12345678", "123456789"}, nil, false, "12345678/123456789"},
		{[]string{"Zoë", "née"}, []string{"größer als acht"}, false, "Zoë/née:größer als acht"},
		{slices.Repeat([]string{eleven}, 8), nil, false, strings.TrimSuffix(strings.Repeat(eleven+"/", 8), "/")},
		{slices.Repeat([]string{eleven}, 8), []string{"four"}, false, strings.TrimSuffix(strings.Repeat(eleven+"/", 8), "/") + ":four"}, // 100 bytes
		{slices.Repeat([]string{eleven}, 8), []string{"five!"}, false, ""},
		{slices.Repeat([]string{eleven}, 9), nil, false, ""},
		{[]string{strings.Repeat("x", 100)}, nil, false, strings.Repeat("x", 100)},
		{[]string{strings.Repeat("x", 100)}, nil, true, ""},
		{[]string{strings.Repeat("x", 101)}, nil, false, ""},
		{slices.Repeat([]string{"x"}, 1000), nil, false, ""},
		{[]string{"a/b"}, nil, false, ""},
		{[]string{"longer than eight/b"}, nil, false, ""},
		{[]string{"a:b"}, nil, false, ""},
		{[]string{"longer than eight:b"}, nil, false, ""},
		{[]string{"a"}, []string{"b:c"}, false, ""},
		{[]string{"a"}, []string{"longer than eight:b"}, false, ""},
		{[]string{""}, nil, false, ""},
		{[]string{"a", ""}, nil, false, ""},
		{[]string{"a"}, []string{""}, false, ""},
	}
	for _, test := range tests {
		e := NewEncoder(nil, nil)
		e.ResetBytes(nil)
		e.BeginArray(2)
		e.BeginNodePath(len(test.names), len(test.subnames), test.absolute)
		for _, name := range slices.Concat(test.names, test.subnames) {
			e.WriteString(name)
		}
		e.End()
		e.WriteInt(math.MaxInt64)
		e.End()
		require.NoError(t, e.Close())
		b := e.Bytes()
		d := NewDecoder(nil, nil)
		for cut := range len(b) + 1 { // in its last bytes, the NodePath is not next to the window's end
			if cut > 0 && cut < len(b)-20 && len(b) > 200 {
				continue
			}
			d.Reset(bytes.NewReader(b[:cut]))
			if _, err := d.ReadArray(); err != nil {
				continue
			}
			offset := d.InputOffset()
			dst := append(make([]byte, 0, 7+208), "before "...)
			text, ok := d.fastNodePath(dst)
			require.Same(t, &dst[0], &text[0], "it has enough space")
			if !ok {
				require.Equal(t, "before ", string(text))
				require.Equal(t, offset, d.InputOffset())
				if cut == len(b) && (test.want != "" || len(test.names)+len(test.subnames) == 0) {
					t.Errorf("%q has no text", test.want)
				}
				continue
			}
			require.Equal(t, "before "+test.want, string(text))
			require.GreaterOrEqual(t, cut, len(b)-12)
			if cut == len(b) {
				require.EqualValues(t, int64(math.MaxInt64), readTo(t, d, 1).Int())
				require.NoError(t, d.ReadEnd())
			}
		}
		if test.want != "" { // the text has these names
			again := NewEncoder(nil, nil)
			again.ResetBytes(nil)
			require.NoError(t, again.WriteNodePath(test.want))
			require.Equal(t, again.Bytes(), b[8:8+len(again.Bytes())])
		}
		d.Release()
	}
}
