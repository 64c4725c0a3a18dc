package savefile

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
	"github.com/gdwire/gdwire/variant"
)

// plainKinds contains the kinds without a container.
var plainKinds = slices.DeleteFunc(slices.Clone(kinds), func(i Info) bool { return i.Container != fileaccess.Info{} })

// isDamage reports whether an error is about the file.
func requireDamage(t *testing.T, err error, text ...any) {
	t.Helper()
	var damage *DamageError
	require.ErrorAs(t, err, &damage, text...)
}

// all reads all values of a file in the given kind, or of the kind that is recognized.
func all(b []byte, o *Options) ([]any, error) {
	f, err := read(b, o)
	if err != nil {
		return nil, err
	}
	return values(f)
}

// cmpStart returns a text if a is not a start of b, for packed arrays that were cut.
func cmpStart(old, now any) string {
	a, ok := old.([]byte)
	b, same := now.([]byte)
	if ok && same && bytes.HasPrefix(a, b) {
		return ""
	}
	return "changed"
}

// damages are what accidents do to files.
var damages = []struct {
	name string
	make func(m *maker, b []byte) []byte
	in   *fileaccess.Info // the container, or nil for any
}{
	{"cut", func(m *maker, b []byte) []byte { return b[:1+m.IntN(len(b)-1)] }, nil},
	{"zeros at the end", func(m *maker, b []byte) []byte {
		clear(b[len(b)-1-m.IntN(min(len(b)-1, 40)):]) // literals of FastLZ
		return b
	}, &fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.FastLZ}},
	{"many zeros", func(m *maker, b []byte) []byte {
		clear(b[1+m.IntN(len(b)-save.MinZeros):])
		return b
	}, new(fileaccess.Info)},
	{"zeros after it", func(m *maker, b []byte) []byte {
		return append(b, make([]byte, []int{save.MinZeros, 20_000, 400}[min(m.IntN(12), 2)])...)
	}, new(fileaccess.Info)},
	{"flipped bits", func(m *maker, b []byte) []byte {
		for range 4 {
			b[m.IntN(len(b))] ^= 1 << m.IntN(8)
		}
		return b
	}, nil},
}

// TestDamages damages random saves of all kinds. It is noticed, unless a cut is between two values or zeros can be of the
// last one. A repair gives values that Strict accepts, the first ones of the original, and what is recognized is recognized
// again.
func TestDamages(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(3, 4))}
	type count struct{ files, legal, repaired int }
	done := make([]count, len(damages))
	for i := range testenv.Cases(10*len(kinds), 3_000) {
		kind, how, c := kinds[i%len(kinds)], damages[i%len(damages)], &done[i%len(damages)]
		if how.in != nil {
			kind.Container = *how.in
		}
		kind.Container.BlockSize = 32 // a part of a cut file can be read
		saved := m.save(kind.Lengths)
		saved[len(saved)-1].(*variant.Dictionary).Set("list", m.value("", 3))
		b, _ := file(t, kind, saved...)
		original := must(all(b, given(kind)))(t)
		damaged := how.make(m, bytes.Clone(b))
		name := fmt.Sprintf("%v %d: %s", kind, i, how.name)
		c.files++
		isFlipped, isEncrypted := how.name == "flipped bits", kind.Container.Container == fileaccess.Encrypted
		zeros := 0 // values that zeros may have changed
		if strings.Contains(how.name, "zeros") {
			zeros = 1
		}
		known := given(kind)
		if i/len(damages)%2 == 0 || zeros > 0 && kind.Lengths == NoLengths && kind.Container.IsPlain() { // known zeros can be nulls
			known = nil
		}
		got, err := all(damaged, known)
		if err == nil {
			if !isFlipped {
				requireStart(t, original, got, zeros, name)
			}
			c.legal++
			continue
		}
		require.True(t, isFlipped || isEncrypted || known == nil || errors.As(err, new(*DamageError)), "%s: %v", name, err)
		repair := repairing(kind)
		repair.Decoder.AllowObjects = isFlipped
		f, err := read(damaged, repair)
		if err != nil {
			continue
		}
		require.NotNil(t, f.Info.Damage, name)
		got, err = values(f)
		if isFlipped {
			require.True(t, err == nil || errors.Is(err, gdwire.ErrRange), "%s: %v", name, err) // a "/" in a name of a NodePath
			continue
		}
		require.NoError(t, err, name)
		strict := given(kind)
		strict.Decoder.Strict = true
		require.Equal(t, got, must(all(written(t, f), strict))(t), name)
		if !kind.Container.IsPlain() {
			zeros = 0
		}
		requireStart(t, original, got, zeros, name)
		require.True(t, how.name != "zeros after it" || kind.Lengths == NoLengths || bytes.Equal(b, written(t, f)), name)
		c.repaired++
		if f, err = read(damaged, &Options{Repair: true}); err == nil && how.name == "cut" && kind.Container.IsPlain() {
			again := must(read(written(t, f), nil))(t)
			require.Equal(t, f.Info.String(), again.Info.String(), name)
		}
	}
	for i, c := range done {
		t.Logf("%s: %+v", damages[i].name, c)
		require.True(t, damages[i].name == "flipped bits" || 10*(c.legal+c.repaired) > 6*c.files)
	}
}

// requireStart: got is the start of the original, but for at most n values that zeros have changed.
func requireStart(t *testing.T, original, got []any, n int, name string) {
	t.Helper()
	require.LessOrEqual(t, len(got), len(original), name)
	for i := range got {
		for c := range variant.Diff(original[i], got[i]) {
			if !c.Removed && cmpStart(c.Old, c.New) != "" {
				require.True(t, isZeroed(c.Old, c.New), "%s: %s: %v became %v", name, c.OldPath, c.Old, c.New)
				n--
			}
		}
	}
	require.GreaterOrEqual(t, n, 0, name)
}

// TestUnprovedKey: an encrypted file that is cut, or has another MD5 than its content, begins like values with its key alone.
func TestUnprovedKey(t *testing.T) {
	for _, layout := range []fileaccess.Layout{fileaccess.LayoutGodot4, fileaccess.LayoutGodot3} {
		kind := Info{Lengths: LittleEndian, Container: fileaccess.Info{Container: fileaccess.Encrypted, Layout: layout}, Key: password}
		b, _ := file(t, kind, content(), content(), "the end")
		original := must(all(b, nil))(t)
		changed, sum := bytes.Clone(b), bytes.Clone(b)
		changed[len(b)-25] ^= 1
		sum[10] ^= 1
		for name, c := range map[string]struct {
			b     []byte
			whole int // values at least
			err   error
		}{
			"cut":   {b[:len(b)*2/3], 1, io.ErrUnexpectedEOF},
			"value": {changed, 1, nil}, // of random bytes
			"MD5":   {sum, 3, fileaccess.ErrDamaged},
		} {
			f := must(read(c.b, &Options{Repair: true}))(t)
			require.NotNil(t, f.Info.Damage, name)
			require.True(t, c.err == nil || errors.Is(f.Info.Damage, c.err), name)
			again := must(all(written(t, f), nil))(t)
			require.GreaterOrEqual(t, len(again), c.whole, name)
			require.Equal(t, original[:c.whole], again[:c.whole], name)
			_, err := Read(bytes.NewReader(c.b), int64(len(c.b)), &Options{Repair: true, Container: fileaccess.Options{Key: fileaccess.PasswordKey("x")}})
			require.Error(t, err, name)
			require.Equal(t, name != "cut", errors.Is(err, fileaccess.ErrPassword), name)
		}
	}
}

// TestRepairPath: the damage names the path at which the loss begins, which can be before that at which it was
// noticed.
func TestRepairPath(t *testing.T) {
	d := new(variant.Dictionary)
	for _, key := range []string{"first", "second", "third"} {
		d.Set(key, []int{1, 2, 3})
	}
	d.Set("text", "abcdefgh")
	lz := fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.FastLZ}
	for name, c := range map[string]struct {
		kind Info
		from string // the zeros begin after this text
		path string
	}{
		"key null twice": {Info{Lengths: LittleEndian}, "first\x00\x00\x00\x1c\x00\x00\x00\x03\x00\x00\x00", "$.first[0]"},
		"nulls":          {Info{Lengths: NoLengths}, "second", "$.second"},
		"bytes after":    {Info{Lengths: BigEndian}, "third", "$.third"},
		"a container":    {Info{Lengths: LittleEndian, Container: lz}, "abcd", "$.text"},
	} {
		c.kind.Format = gdwire.Godot4
		b, _ := file(t, c.kind, d)
		from := bytes.Index(b, []byte(c.from)) + len(c.from)
		require.Greater(t, from, len(c.from), name)
		f, err := read(append(bytes.Clone(b[:from]), make([]byte, len(b)-from)...), repairing(c.kind))
		require.NoError(t, err, name)
		var at *gdwire.Error
		require.ErrorAs(t, f.Info.Damage, &at, name)
		require.Equal(t, c.path, at.Path, "%s: %v", name, f.Info.Damage)
	}
}

// TestCorrected: one damaged type or text is corrected, and nothing is lost.
func TestCorrected(t *testing.T) {
	for _, kind := range plainKinds {
		d := content()
		if kind.Format == gdwire.Godot3 {
			d.Delete("floats") // of a declared type
		}
		b, _ := file(t, kind, d)
		types, texts, same := 0, 0, 0
		for at := range b {
			damaged := bytes.Clone(b)
			damaged[at] = 0x63 | b[at]&0x80
			if b[at] >= 'a' && b[at] <= 'z' {
				damaged[at] = 0xff
			}
			_, err := all(damaged, given(kind))
			var in *gdwire.Error
			if !errors.As(err, &in) || in.Offset != int64(at) || !errors.Is(err, gdwire.ErrUTF8) && (at%4 > 0 || !errors.Is(err, gdwire.ErrType)) {
				continue
			}
			f := must(read(damaged, repairing(kind)))(t)
			if got := written(t, f); errors.Is(err, gdwire.ErrUTF8) {
				damaged[at] = '?'
				require.Equal(t, damaged, got)
				texts++
			} else if types++; bytes.Equal(b, got) {
				same++
			}
			require.ErrorContains(t, f.Info.Damage, in.Err.Error())
		}
		require.Positive(t, texts, "%v", kind)
		require.GreaterOrEqual(t, 10*same, 8*types, "%v: of %d", kind, types)
	}
}

// TestCorrectedTypes: a type or a length of a text is corrected, with the types that the value may have had as well, or nothing is.
func TestCorrectedTypes(t *testing.T) {
	for _, c := range []struct {
		value      any
		at         int // the damaged byte, from the type of the value on
		now, other string
	}{
		{250, 0, "the type is int now", ""},
		{2.0, 0, "the type is float now", ""},
		{nil, 0, "the type is Nil now", ""},
		{variant.Vector3{X: 0.1, Y: 2, Z: 3}, 0, "the type is Vector3 now", ""},
		{variant.NodePath("a/b"), 0, "the type is NodePath now", ""},
		{[]float32{1, 2}, 0, "the type is PackedFloat32Array now", ""},
		{[]string{"a", "b"}, 0, "the type is PackedStringArray now", ""},
		{true, 0, "the type is bool now", "int"},
		{variant.StringName("idle"), 0, "the type is String now", "StringName"},
		{variant.Color{R: 0.1, G: 0.2, B: 0.3, A: 1}, 0, "the type is Rect2 now", "Color"},
		{"item_20", 4, "the text at offset 44 has 7 bytes now", ""},
		{"item_20 of all items that are here: \u00e9", 4, "the text at offset 44 has 38 bytes now", ""},
		{"item_20", 7, "the text at offset 44 has 7 bytes now", ""},
	} {
		d := new(variant.Dictionary)
		d.Set("version", 3)
		d.Set("v", c.value)
		d.Set("nested", map[string]string{"0": "x"})
		b, _ := file(t, Info{Lengths: NoLengths}, d)
		damaged := bytes.Clone(b)
		damaged[44+c.at] = 0x63
		f := must(read(damaged, repairing(Info{Lengths: NoLengths})))(t)
		require.ErrorContains(t, f.Info.Damage, c.now)
		if c.other != "" {
			require.Regexp(t, "may have been .*"+c.other, f.Info.Damage.Error())
			continue
		}
		require.NotContains(t, f.Info.Damage.Error(), "may have been", c.now)
		require.Equal(t, b, written(t, f), c.now)
	}
	// After two damages, nothing is kept from the first text that no engine writes on.
	b, _ := file(t, Info{Lengths: NoLengths}, []any{1, "item_20", "item_21", 2, 3})
	b[20], b[36] = 0x11, 0x63
	f := must(read(b, repairing(Info{Lengths: NoLengths})))(t)
	require.ErrorContains(t, f.Info.Damage, "offset 16, $[1]: text with NUL")
	require.Equal(t, gdwiretest.Encode(t, []any{1}), written(t, f))
	// Bits of a header that no engine writes are corrected, and of two such headers the first is named.
	d := content()
	d.Set("last", nil)
	value := gdwiretest.Encode(t, d)
	sum := md5.Sum(value)
	b = slices.Concat([]byte("SAVE"), sum[:], binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value)
	for _, ats := range [][]int{{1}, {2}, {3}, {len(value) - 1}, {len(value) - 3}, {1, len(value) - 1}} {
		damaged := bytes.Clone(b)
		for _, at := range ats {
			damaged[len(b)-len(value)+at] = 0x41
		}
		f := must(read(damaged, &Options{Repair: true}))(t)
		if len(ats) > 1 {
			require.ErrorIs(t, f.Info.Damage, gdwire.ErrStrict)
			require.Equal(t, damaged, written(t, f))
			continue
		}
		require.NotNil(t, f.Info.Damage, ats)
		require.Equal(t, b, written(t, f), ats)
	}
}

// TestCorrectedCounts: a count, type or length that is one more or less is corrected if what follows proves it, or others are named,
// but for one.
func TestCorrectedCounts(t *testing.T) {
	for _, kind := range plainKinds {
		d := content()
		d.Set("items", []any{map[string]any{"id": "a1", "n": 5}, map[string]any{"id": "b2", "n": 7, "more": []string{"x", "yz"}}, []int32{7, 8, 9}})
		if kind.Format == gdwire.Godot3 {
			d.Delete("floats") // of a declared type
		}
		b, _ := file(t, kind, d)
		damages, right, wrong := 0, 0, 0
		for at := 0; at < len(b); at += 4 {
			for _, by := range []byte{1, 255} {
				damaged := bytes.Clone(b)
				if damaged[at] += by; b[at] == 0 || b[at] > 64 || errOf(all(damaged, given(kind))) == nil {
					continue
				}
				damages++
				f, err := read(damaged, repairing(kind))
				if err != nil {
					continue
				}
				text := f.Info.Damage.Error()
				if got := written(t, f); bytes.Equal(b, got) {
					right++
				} else if strings.Contains(text, " now") && !strings.Contains(text, "may have been") && !strings.Contains(text, " now, or ") {
					wrong++
					t.Logf("%d by %d: %s", at, int8(by), text)
				}
			}
		}
		least := 6
		if kind.Lengths == NoLengths { // it may be cut
			least = 4
		}
		require.LessOrEqual(t, wrong, 1, "%v", kind)
		require.GreaterOrEqual(t, 10*right, least*damages, "%v: of %d", kind, damages)
	}
}

// TestRepairBetween: damage between whole values, and what is whole beside damage.
func TestRepairBetween(t *testing.T) {
	var items []any
	for i := range 40 {
		items = append(items, map[string]any{"id": fmt.Sprint("item_", i), "count": i, "note": "found it"})
	}
	plain, value := file(t, Info{}, map[string]any{"gold": 5, "items": items, "text": "the last text"})
	sum := md5.Sum(plain)
	header := slices.Concat([]byte("SAVE\x02\x00\x00\x00"), sum[:])
	encrypted, _ := file(t, Info{Container: fileaccess.Info{Container: fileaccess.Encrypted}, Key: password}, "a text", 5)
	whole, _ := file(t, Info{Container: fileaccess.Info{Container: fileaccess.Encrypted}, Key: password}, map[string]any{"gold": 5, "items": items, "text": "the last text"})
	const iv = 28 // its offset in a file of Godot 4
	edit := func(b []byte, do func(b []byte)) []byte { b = bytes.Clone(b); do(b); return b }
	count := len(header) + 8 // of the Dictionary
	for _, c := range []struct {
		name       string
		whole, bad []byte
		all        bool // is repaired
		text       string
	}{
		{"zeros in the middle", plain, edit(plain, func(b []byte) { clear(b[len(b)/2&^3:][:256]) }), false, "$.items[19].note"},
		{"zeros at the end of the last text", plain, edit(plain, func(b []byte) { clear(b[len(b)-5:]) }), false, "text with NUL"},
		{"a count after a header", append(header, plain...), edit(append(header, plain...), func(b []byte) { b[count]-- }), true, fmt.Sprintf("the count at offset %d is 3 now", 4)},
		{"an initialization vector", whole, edit(whole, func(b []byte) { b[iv] ^= 1 }), true, "the count at offset 8 is 3 now"},
		{"zeros after an encrypted file", encrypted, append(bytes.Clone(encrypted), make([]byte, 200)...), true, "bytes follow"},
	} {
		_, err := read(c.bad, nil)
		if err == nil {
			_, err = all(c.bad, nil)
		}
		requireDamage(t, err, c.name)
		f := must(read(c.bad, &Options{Repair: true}))(t)
		require.ErrorContains(t, f.Info.Damage, c.text, c.name)
		if got := written(t, f); c.all {
			require.Equal(t, must(all(c.whole, nil))(t), must(all(got, nil))(t), c.name)
		} else {
			require.Greater(t, 3*len(got), len(value), c.name)
			requireStart(t, must(all(c.whole, nil))(t), must(all(got, nil))(t), 0, c.name)
		}
	}
	small, _ := file(t, Info{}, map[string]any{"gold": 5, "items": items[:3], "seen": map[string]any{"inn": false}, "map": []int32{1, 2}})
	for at := range small { // after a lost byte, zeros are at any offset
		lost := slices.Delete(bytes.Clone(small), at, at+1)
		if f, err := read(lost, repairing(Info{Lengths: LittleEndian})); err == nil {
			require.NotNil(t, f.Info.Damage, at)
		}
	}
}

// isZeroed reports whether now can be old with zeros in its last bytes.
func isZeroed(old, now any) bool {
	switch old.(type) {
	case int64, float64, bool, variant.Vector2, variant.Vector3, []byte:
		return true
	case string, variant.NodePath:
		return strings.HasPrefix(fmt.Sprint(old), strings.TrimRight(fmt.Sprint(now), "\x00"))
	}
	return false
}

// TestRepairNothing: a file without a complete value, and one that is not damaged.
func TestRepairNothing(t *testing.T) {
	o := &Options{Repair: true, Lengths: NoLengths, Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}}
	_, err := read([]byte{4, 0, 0, 0, 9, 0, 0, 0, 'a'}, o)
	requireDamage(t, err)
	b, _ := file(t, Info{}, map[string]int{"a long key of a save": 1})
	f := must(read(b, &Options{Repair: true}))(t)
	require.Nil(t, f.Info.Damage)
	require.Equal(t, b, written(t, f))
}

// TestEditEnd: bytes of the game's own after a value that is longer than what is read to recognize it are found, and stay.
func TestEditEnd(t *testing.T) {
	d := content()
	d.Set("fill", make([]byte, recognize.HeadSize))
	b, _ := file(t, Info{Lengths: NoLengths}, d)
	for _, after := range []string{"", "0123456789abcdef", "\xff"} {
		for _, o := range []*Options{nil, given(Info{Format: gdwire.Godot4, Lengths: NoLengths})} {
			f := must(read(append(bytes.Clone(b), after...), o))(t)
			require.NoError(t, f.Edit(Set("fill", []byte{1})))
			require.True(t, o != nil || bytes.HasSuffix(written(t, f), []byte(after)))
		}
	}
	const text = `{"version": 3, "name": "Bob", "gold": 250, "list": [1, 2, 3]}`
	d = new(variant.Dictionary)
	for i := range recognize.HeadSize / 16 {
		d.Set(fmt.Sprintf("item number %d of the list", i), i)
	}
	b, _ = file(t, Info{Lengths: LittleEndian}, d)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
	f := must(read(b, nil))(t)
	require.Len(t, must(values(f))(t), 1, "the text is no packet")
	require.Equal(t, b, written(t, f))
}

// TestRepairCutZeros: zeros at the end of a cut file can stand for other bytes, and are removed.
func TestRepairCutZeros(t *testing.T) {
	d := new(variant.Dictionary)
	d.Set("hp", 7)
	own := bytes.Repeat([]byte{1}, 32)
	d.Set("bytes", append(bytes.Clone(own), make([]byte, 100)...))
	b, _ := file(t, Info{}, d)
	f := must(read(b[:len(b)-50], repairing(Info{Lengths: LittleEndian})))(t)
	var got []byte
	require.NoError(t, f.Get("bytes", &got))
	require.Equal(t, own, got)
}

// TestRepairLargeContainer: a compressed file whose content is not held is repaired up to its last whole block.
func TestRepairLargeContainer(t *testing.T) {
	var saved []any
	for i := range 2 * save.MaxHeld / 1000 {
		saved = append(saved, bytes.Repeat([]byte{byte(i), byte(i >> 8)}, 500))
	}
	b, content := file(t, Info{Container: fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}}, saved...)
	require.Greater(t, len(content), 2*save.MaxHeld)
	for _, cut := range []int{len(b) - 1, len(b) / 2} {
		f := must(read(b[:cut], repairing(Info{Lengths: LittleEndian})))(t)
		require.NotNil(t, f.Info.Damage)
		got := must(values(f))(t)
		require.Greater(t, 4*len(got), len(saved))
		require.Equal(t, saved[:len(got)-1], got[:len(got)-1])
	}
	require.NoError(t, errOf(read(b[:len(b)-1], given(Info{Format: gdwire.Godot4, Lengths: LittleEndian}))), "Open has read all of it")
}

// TestRepairOwnZeros: values keep zeros in their last word, and zeros in a value that is whole.
func TestRepairOwnZeros(t *testing.T) {
	for _, lengths := range []Lengths{NoLengths, LittleEndian} {
		d := new(variant.Dictionary)
		all := []any{int64(7), "abc", true, variant.Vector2{X: 1}, "the rest of the save, which becomes zeros"}
		for i, v := range all {
			d.Set(fmt.Sprint("key", i), v)
		}
		b, _ := file(t, Info{Lengths: lengths}, d)
		for i, want := range all[:3] {
			next := bytes.Index(b, fmt.Append(nil, "key", i+1)) - 8 // the header and length of the next key
			zeroed := append(bytes.Clone(b[:next]), make([]byte, len(b)-next)...)
			f := must(read(zeroed, repairing(Info{Lengths: lengths})))(t)
			require.NotNil(t, f.Info.Damage)
			var got any
			require.NoError(t, f.Get(fmt.Sprint("key", i), &got), "%v after %d", lengths, i)
			require.Equal(t, want, got)
		}
	}
	packed, _ := file(t, Info{Container: fileaccess.Info{Container: fileaccess.Raw, Mode: fileaccess.Gzip}}, "first", make([]byte, 40))
	packed[len(packed)-5]++ // the checksum
	f, err := read(packed, repairing(Info{Lengths: LittleEndian, Container: fileaccess.Info{Container: fileaccess.Raw, Mode: fileaccess.Gzip}}))
	require.NoError(t, err)
	require.NotNil(t, f.Info.Damage)
	got := must(values(f))(t)
	require.Equal(t, []any{"first", make([]byte, 40)}, got)
	_, err = read(packed[:13], repairing(Info{Lengths: LittleEndian, Container: fileaccess.Info{Container: fileaccess.Raw, Mode: fileaccess.Gzip}}))
	requireDamage(t, err)
	b, _ := file(t, Info{}, "first", variant.Vector4{X: 1})
	f = must(read(append(bytes.Clone(b), make([]byte, 100)...), repairing(Info{Lengths: LittleEndian})))(t)
	require.Equal(t, int64(len(b)), f.Info.Damage.Offset)
	require.Equal(t, b, written(t, f))
}

// repairing returns options to repair a file.
func repairing(i Info) *Options {
	i.Format = cmp.Or(i.Format, gdwire.Godot4)
	o := given(i)
	o.Repair = true
	return o
}

// TestBytesAfterContainer: bytes after a container are damage, which a large file shows where its content ends.
func TestBytesAfterContainer(t *testing.T) {
	for _, size := range []int{10, save.MaxHeld} {
		for _, container := range []fileaccess.Info{{Container: fileaccess.Compressed, Mode: fileaccess.Zstd}, {Container: fileaccess.Encrypted}} {
			b, _ := file(t, Info{Container: container, Key: password}, make([]byte, size), "text")
			f, err := read(append(b, 0), nil)
			if err == nil {
				_, err = f.WriteTo(io.Discard)
			}
			requireDamage(t, err, "%d bytes, %v", size, container)
			require.ErrorIs(t, err, fileaccess.ErrDamaged)
			require.ErrorContains(t, err, fmt.Sprintf("offset %d: damaged file: bytes follow the content", len(b)))
		}
	}
}

// TestDamagedText: what is no base64 behind whole values is damage, which Repair drops.
func TestDamagedText(t *testing.T) {
	kind := Info{Lengths: NoLengths, Container: fileaccess.Info{Base64: fileaccess.Base64{Text: true}}}
	kind.Format = gdwire.Godot4
	whole, content := file(t, kind, map[string]any{"bytes": make([]byte, 16), "hp": 42, "name": "a name"})
	require.Zero(t, len(content)%3) // the text ends with a digit
	want := must(all(whole, nil))(t)
	for _, junk := range []string{"H", "AA", "A===", "AA=A"} {
		damaged := append(bytes.Clone(whole), junk...)
		for _, o := range []*Options{nil, given(kind)} {
			_, err := read(damaged, o)
			requireDamage(t, err, junk)
			var in *fileaccess.Error
			require.ErrorAs(t, err, &in, junk)
			require.GreaterOrEqual(t, in.Offset, int64(len(whole)), junk)
		}
		for _, o := range []*Options{{Repair: true}, repairing(kind)} {
			f, err := read(damaged, o)
			require.NoError(t, err, junk)
			require.NotNil(t, f.Info.Damage, junk)
			got, err := values(f)
			require.NoError(t, err, junk)
			require.Equal(t, want, got, junk)
			require.Equal(t, whole, written(t, f), junk)
		}
	}
	torn, _ := file(t, kind, map[string]any{"note": strings.Repeat("some words ", 60), "hp": 42, "list": []any{"one two", "three four", "five six"}})
	torn[len(torn)*3/4] = '*'
	f := must(read(torn, &Options{Repair: true}))(t)
	require.NotNil(t, f.Info.Damage)
}

// TestRecords opens records of a game's own, of which the last is cut or one has a wrong checksum. A cut record is dropped, and
// the number of records is right again; whole values stay.
func TestRecords(t *testing.T) {
	build := func(values []any) []byte {
		b := binary.LittleEndian.AppendUint32([]byte("REPL"), uint32(len(values)))
		for _, v := range values {
			value := must(variant.Marshal(v))(t)
			b = append(binary.LittleEndian.AppendUint32(append(b, 3), uint32(len(value))), value...)
			b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(value))
		}
		return b
	}
	var original []any
	for i := range 6 {
		original = append(original, map[string]any{"name": fmt.Sprint("Ada ", i), "hp": i * 77777, "zeros": make([]byte, 8*i)})
	}
	whole := build(original)
	wrong := bytes.Clone(whole)
	wrong[len(wrong)-1]++
	end := len(build(original[:5]))
	for _, info := range []fileaccess.Info{{}, {Container: fileaccess.Compressed, Mode: fileaccess.Zstd}, {Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot4}, {Container: fileaccess.Raw, Mode: fileaccess.Gzip}} {
		pack := func(b []byte) []byte {
			var out bytes.Buffer
			w := must(fileaccess.NewWriter(&out, info, password))(t)
			must(w.Write(b))(t)
			require.NoError(t, w.Close())
			return out.Bytes()
		}
		unpack := func(b []byte) []byte {
			r := must(fileaccess.NewReader(bytes.NewReader(b), &fileaccess.Options{Key: password, Raw: info.Container == fileaccess.Raw, Mode: info.Mode}))(t)
			content := must(io.ReadAll(r))(t)
			return content
		}
		var damage *DamageError
		cut := pack(whole[:len(whole)-30])
		require.ErrorAs(t, errOf(read(cut, nil)), &damage, "%v", info)
		require.Equal(t, int64(end), damage.Offset)
		require.EqualError(t, damage.Err, fmt.Sprintf("offset %d: record 5 is cut: it lacks 26 bytes", end))
		f := must(read(cut, &Options{Repair: true}))(t)
		require.Equal(t, damage, f.Info.Damage)
		got := must(values(f))(t)
		require.Len(t, got, 5)
		require.Equal(t, build(original[:5]), unpack(written(t, f)), "%v", info)

		if info.Mode == fileaccess.Gzip && info.Container == fileaccess.Raw { // a wrong checksum of the container
			spoiled := pack(whole)
			spoiled[len(spoiled)-5]++
			f = must(read(spoiled, &Options{Repair: true}))(t)
			require.NotNil(t, f.Info.Damage)
			require.Equal(t, whole, unpack(written(t, f)))
		}
		f = must(read(pack(wrong), &Options{Repair: true}))(t)
		require.Nil(t, f.Info.Damage)
		require.Contains(t, f.Info.Around, Part{Offset: int64(len(wrong) - 4), Size: 4, What: "CRC-32", Derived: true, Wrong: true})
		require.Equal(t, wrong, unpack(written(t, f)))
	}
}

// TestWrongLength: a value that is whole after a wrong length is damage at the length, is not edited, and a repair changes
// nothing but the length. Bytes after a value are none.
func TestWrongLength(t *testing.T) {
	for _, format := range []gdwire.Format{gdwire.Godot4, gdwire.Godot3} {
		whole, _ := file(t, Info{Format: format}, map[string]any{"hp": 42, "name": "Ada", "pos": variant.Vector2{X: 1}, "seen": []any{"map", 1.5, nil}})
		for _, change := range []int32{8, -8, 4, -4, 100} {
			wrong := bytes.Clone(whole)
			binary.LittleEndian.PutUint32(wrong, uint32(int32(len(whole)-4)+change))
			_, err := read(wrong, nil)
			requireDamage(t, err, "%v by %d", format, change)
			f := must(read(wrong, &Options{Repair: true}))(t)
			require.Equal(t, int64(0), f.Info.Damage.Offset)
			require.Contains(t, f.Info.Damage.Error(), "get_var reads null")
			require.Equal(t, whole, written(t, f))
		}
		for _, after := range []string{"\n", "\x80\xc5\x57\x69\x00\x00\x00\x00", strings.Repeat("7f", 32) + "\n"} {
			f := must(read(append(bytes.Clone(whole), after...), &Options{Repair: true}))(t)
			require.Nil(t, f.Info.Damage, "%q", after)
			require.Equal(t, append(bytes.Clone(whole), after...), written(t, f))
		}
	}
}

// TestDamagedPackets: damage in a packet of 9 hides it and those before it in a header in at most 7 of 240 places.
func TestDamagedPackets(t *testing.T) {
	var whole []byte
	for i := range 9 {
		o := variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}}
		b := must(variant.Marshal([]any{variant.NodePath("../Sibling:a"), 1.5, "a", variant.Vector3{X: 1, Z: 2}}[i%4], o))(t)
		whole = append(binary.BigEndian.AppendUint32(whole, uint32(len(b))), b...)
	}
	hidden := 0
	for at := range len(whole) {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x40
		if f, err := read(damaged, nil); err == nil && len(must(values(f))(t)) < 9 {
			hidden++
		}
	}
	require.LessOrEqual(t, hidden, 7)
}

// TestWrongKeyMemory: a wrong key gives bytes that are no values, of which only the head is held, and what is damaged is read again.
func TestWrongKeyMemory(t *testing.T) {
	const size, most = 8 << 20, 2 << 20
	value := testenv.Must(variant.Marshal(map[string]any{"name": "Ada", "map": make([]byte, size)}))(t)
	for key, want := range map[*fileaccess.Key]error{fileaccess.PasswordKey("x"): fileaccess.ErrPassword, password: fileaccess.ErrDamaged} {
		b, _ := file(t, Info{Container: fileaccess.Info{Container: fileaccess.Encrypted}, Key: password}, value)
		b[len(b)/2] ^= 1
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(bytes.NewReader(b), int64(len(b)), &Options{Container: fileaccess.Options{Key: key}})
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, want)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most))
	}
}

// TestDamagedPart: a save with a compressed part that is damaged is damaged, whatever is before it, and cannot be repaired.
func TestDamagedPart(t *testing.T) {
	value := must(variant.Marshal(map[string]any{"name": "Ada Lovelace", "day": 12}))(t)
	b := slices.Concat([]byte("SAVE"), binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value, []byte("\x01\x28\xb5\x2f\xfd\x60\x50\x01\xe5\x07"))
	var damage *DamageError
	_, err := read(b, nil)
	require.ErrorAs(t, err, &damage)
	require.EqualValues(t, len(b)-9, damage.Offset)
	_, err = read(b, &Options{Repair: true})
	require.ErrorAs(t, err, &damage)
}
