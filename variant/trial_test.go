package variant

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// A trial is a way to store a save, and what Unmarshal accepts of the files.
type trial struct {
	name   string
	store  func(t *testing.T, s *save) []byte
	format gdwire.Format // only of saves in this format, if not 0
	hint   string        // in each error of Unmarshal into an any
	// The maximum number of wrong values in 1,000 files, into an any. Into a struct there are none.
	wrong int

	files, any, wrongAny, structs, wrongStructs int
}

// A save is a random value, and two others that can follow it in a file.
type save struct {
	*rand.Rand
	format gdwire.Format
	values [3][]byte
}

const inLengths = "after their lengths: read them with package savefile"

// TestForms stores random saves of Godot 4 and Godot 3 in all ways of engines, and with damage, and
// gives the files to Unmarshal, which expects exactly one value of Godot 4. No save is null, which
// after its length is also the String "".
func TestForms(t *testing.T) {
	saves := testenv.Cases(600, 6000)
	trials := []*trial{
		{name: "Godot 4, a value", format: gdwire.Godot4, store: plain},
		{name: "after its length", store: lengths(binary.LittleEndian, 1), hint: "after its length: read it with package savefile", wrong: 2},
		{name: "three values after their lengths", store: lengths(binary.LittleEndian, 3), hint: "3 values after their lengths: read them with package savefile", wrong: 2},
		{name: "after its length, big-endian", store: lengths(binary.BigEndian, 1), hint: "after its big-endian length", wrong: 1},
		{name: "Godot 4, three values", format: gdwire.Godot4, store: three},
		{name: "Godot 3, a value", format: gdwire.Godot3, store: plain, wrong: 50},
		{name: "Godot 3, three values", format: gdwire.Godot3, store: three, wrong: 20},
		{name: "Godot 3, cut", format: gdwire.Godot3, store: cut, wrong: 10},
		{name: "zeros after the value", store: zeros, wrong: 20},
		{name: "compressed", store: contained(fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}), hint: "GCPF: a compressed file, see package savefile"},
		{name: "encrypted", store: contained(fileaccess.Info{Container: fileaccess.Encrypted}), hint: "GDEC: an encrypted file, see package savefile"},
	}
	for i := range saves {
		s := &save{Rand: rand.New(rand.NewPCG(uint64(i), 1)), format: []gdwire.Format{gdwire.Godot4, gdwire.Godot3}[i%2]}
		for j := range s.values {
			s.values[j] = s.value(t)
		}
		for _, c := range trials {
			if c.format == 0 || c.format == s.format {
				c.try(t, s)
			}
		}
	}
	table := ""
	for _, c := range trials {
		table += fmt.Sprintf("%-34s %5d files, into an any %5d, %3d wrong, into a struct %4d, %d wrong\n", c.name, c.files, c.any, c.wrongAny, c.structs, c.wrongStructs)
	}
	t.Log("\n" + table)
	withLengths := &trial{name: "with lengths", wrong: 1}
	for _, c := range trials {
		if strings.Contains(c.hint, "length") {
			withLengths.files += c.files
			withLengths.wrongAny += c.wrongAny
		}
	}
	for _, c := range append(trials, withLengths) {
		require.LessOrEqual(t, c.wrongAny, max(c.wrong*c.files/1000, min(c.wrong, 1)), c.name)
		require.Zero(t, c.wrongStructs, c.name)
	}
	require.Equal(t, trials[0].files, trials[0].any)
	require.Greater(t, 4*trials[0].structs, trials[0].files, "the struct fits many saves")
}

// try gives a save, stored in this way, to Unmarshal.
func (c *trial) try(t *testing.T, s *save) {
	file := c.store(t, s)
	c.files++
	var v any
	err := Unmarshal(file, &v)
	require.Equal(t, err == nil, Validate(file) == nil, "%s: %x", c.name, file)
	var read any
	require.Equal(t, err == nil, UnmarshalRead(bytes.NewReader(file), &read) == nil, "%s: %x", c.name, file)
	if err != nil {
		require.Contains(t, err.Error(), c.hint, "%s: %x", c.name, file)
		require.LessOrEqual(t, strings.Count(err.Error(), ";"), 1, c.name)
	} else {
		c.any++
		if !s.holds(file, v) {
			c.wrongAny++
		}
	}
	var fields struct {
		Name, A any
		HP      any
	}
	if Unmarshal(file, &fields) == nil {
		c.structs++
		if !s.holds(file, v) {
			c.wrongStructs++
		}
	}
}

// holds reports whether v, what was read of a file, is the save.
func (s *save) holds(file []byte, v any) bool {
	if len(file) != len(s.values[0]) {
		return false // cut, or more than the save
	}
	var want any
	if Unmarshal(file, &want, *saveOptions(s.format)) != nil {
		return false
	}
	a, errA := Marshal(v)
	b, errB := Marshal(want)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// saveOptions returns the Options for a format.
func saveOptions(f gdwire.Format) *Options {
	return &Options{Decoder: gdwire.DecoderOptions{Format: f}, Encoder: gdwire.EncoderOptions{Format: f}}
}

// value returns a random Dictionary or Array that is not empty, in 1 of 20 any value but null, that
// its format can store.
func (s *save) value(t *testing.T) []byte {
	single := s.IntN(20) == 0
	for {
		v := randomTree(s.Rand, s.format, 2+s.IntN(4))
		switch v.(type) {
		case *Array, *Dictionary:
		case nil:
			continue
		default:
			if !single {
				continue
			}
		}
		b, err := Marshal(v, *saveOptions(s.format))
		if err == nil && (len(b) > 8 || single) && Validate(b, *saveOptions(s.format)) == nil {
			return b
		}
	}
}

func plain(_ *testing.T, s *save) []byte { return s.values[0] }

func three(_ *testing.T, s *save) []byte { return bytes.Join(s.values[:], nil) }

func cut(_ *testing.T, s *save) []byte { return s.values[0][:s.IntN(len(s.values[0]))] }

// zeros appends 4 to 4096 zeros, as in a buffer that is larger than its value.
func zeros(_ *testing.T, s *save) []byte {
	return append(bytes.Clone(s.values[0]), make([]byte, 4<<s.IntN(11))...)
}

// lengths returns a way to store n values, each after its length.
func lengths(order binary.AppendByteOrder, n int) func(t *testing.T, s *save) []byte {
	return func(_ *testing.T, s *save) (file []byte) {
		for _, b := range s.values[:n] {
			file = append(order.AppendUint32(file, uint32(len(b))), b...)
		}
		return file
	}
}

// contained returns a way to store a value after its length in a container.
func contained(info fileaccess.Info) func(t *testing.T, s *save) []byte {
	return func(t *testing.T, s *save) []byte {
		var file bytes.Buffer
		w := must(fileaccess.NewWriter(&file, info, fileaccess.PasswordKey("password")))(t)
		must(w.Write(lengths(binary.LittleEndian, 1)(t, s)))(t)
		require.NoError(t, w.Close())
		return file.Bytes()
	}
}

// An error of a file of another kind keeps its cause, offset and path, whatever it was.
func TestHints(t *testing.T) {
	for _, c := range []struct {
		name, text string
		data       []byte
		is         error
		into       any
	}{
		{name: "an object", data: framed(24, 20), is: gdwire.ErrObject, into: new(any),
			text: "offset 0, $: serialized objects are not allowed; the data is 2 values " + inLengths},
		{name: "a type id", data: framed(96, 4), is: gdwire.ErrType, into: new(any),
			text: "offset 0, $: unknown godot4 type id 96; the data is 2 values " + inLengths},
		{name: "a Go type", data: framed(4), is: gdwire.ErrType, into: new(int),
			text: "offset 0, $: String into Go int; the data is 1 value after its length: read it with package savefile"},
		{name: "a big-endian length", data: []byte{0, 0, 0, 8, 2, 0, 0, 0, 5, 0, 0, 0}, into: new(any),
			text: "offset 4, $: 8 bytes after the value; the data is 1 value after its big-endian length: read it with package savefile"},
		{name: "JSON that begins with a type id", data: []byte("\t\t{\n"), is: gdwire.ErrType, into: new(int),
			text: "offset 0, $: Vector3 into Go int; the input is text: for JSON, see package gdjson"},
		{name: "a cut file", data: framed(96, 4)[:90], is: gdwire.ErrType, into: new(any),
			text: "offset 0, $: unknown godot4 type id 96; perhaps the input begins with its length: see packages savefile and stream"},
		{name: "a type inside a value", data: encoded(t, array(1, 2, "", ""), nil), is: gdwire.ErrType, into: new([]int),
			text: "offset 24, $[2]: String into Go int"},
		{name: "bytes after the value", data: framed(4, 4), into: new(any),
			text: "offset 8, $: 8 bytes after the value; the data is 2 values " + inLengths},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, err := range map[string]error{
				"Unmarshal":     Unmarshal(c.data, c.into),
				"UnmarshalRead": UnmarshalRead(bytes.NewReader(c.data), c.into),
				"byte by byte":  UnmarshalRead(io.MultiReader(&oneByteReader{c.data}), c.into),
			} {
				text := c.text
				if name != "Unmarshal" {
					text = strings.Replace(text, "8 bytes", "bytes", 1) // their number is not known
				}
				require.EqualError(t, err, "gdwire: "+text, name)
				if c.is != nil {
					require.ErrorIs(t, err, c.is, name)
				}
			}
		})
	}
}

// framed returns packets of zeros of these sizes, each after its length.
func framed(sizes ...int) (b []byte) {
	for _, n := range sizes {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(n)), make([]byte, n)...)
	}
	return b
}

// A reader that stays open is not read for a hint if it can be no file with lengths: UnmarshalRead
// then returns its error at once. A file with lengths is read up to 1 MiB.
func TestReadOn(t *testing.T) {
	for _, c := range []struct {
		name  string
		start []byte
		again []byte
		into  any
		most  int64
	}{
		{name: "a value", start: encoded(t, "a text that is no length", nil), again: framed(4), into: new(int), most: 64 << 10},
		{name: "packets without an end", start: framed(4), again: framed(4), into: new(int), most: maxReadOn + 64<<10},
		{name: "a packet that is too large", start: []byte{96, 0, 0, 1}, again: framed(4), into: new(int), most: 64 << 10},
		{name: "nothing more", start: framed(4), into: new(int), most: 64 << 10},
		{name: "zeros", start: make([]byte, 16), again: framed(4), into: new(int), most: 64 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &endless{start: c.start, again: c.again}
			err := UnmarshalRead(r, c.into)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "the data is")
			require.Less(t, r.n, c.most)
		})
	}
}

// An endless Reader returns start and then again for ever.
type endless struct {
	start, again []byte
	n            int64
}

func (r *endless) Read(p []byte) (n int, err error) {
	if len(r.start) == 0 {
		r.start = r.again
	}
	n = copy(p, r.start)
	r.start = r.start[n:]
	r.n += int64(n)
	return n, nil
}

// A hint for hostile data takes no memory but that of its text, however many lengths there are.
func TestHintOfHostileData(t *testing.T) {
	const size = 16 << 20
	for name, data := range map[string][]byte{
		"lengths":            bytes.Repeat([]byte{4, 0, 0, 0, 0, 0, 0, 0}, size/8),
		"big-endian lengths": bytes.Repeat([]byte{0, 0, 0, 4, 0, 0, 0, 0}, size/8),
		"zeros":              make([]byte, size),
		"text":               bytes.Repeat([]byte("[1, "), size/4),
	} {
		for _, v := range []any{new(any), new(int), new(Raw)} {
			var err error
			n := testenv.Allocated(func() { err = Unmarshal(data, v) })
			require.Error(t, err, name)
			require.Less(t, n, testenv.MaxMemory(), name)
		}
	}
}
