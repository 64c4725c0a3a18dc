package savefile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
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

// requireRepaired: a repaired file contains only values that Strict accepts, and each is the original with
// parts removed. It returns false if nothing is left.
func requireRepaired(t *testing.T, b []byte, kind Info, original []any) bool {
	t.Helper()
	o := given(kind)
	o.Repair = true
	f, err := read(b, o)
	if err != nil {
		requireDamage(t, err)
		return false
	}
	require.NotNil(t, f.Info.Damage)
	var again bytes.Buffer
	must(f.WriteTo(&again))(t)
	o = given(kind)
	o.Decoder.Strict = true
	got := must(all(again.Bytes(), o))(t)
	require.LessOrEqual(t, len(got), len(original))
	for i := range got {
		for c := range variant.Diff(original[i], got[i]) {
			if !c.Removed {
				require.Empty(t, cmpStart(c.Old, c.New), "%v", c)
			}
		}
	}
	return true
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

// TestSaveCut cuts random saves of all kinds anywhere. The cut is noticed, and the rest can be repaired.
func TestSaveCut(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(3, 4))}
	repaired, files := 0, testenv.Cases(70, 1000)
	for i := range files {
		kind := kinds[i%len(kinds)]
		kind.Container.BlockSize = 32 // a part of a cut file can be read
		b, _ := file(t, kind, m.save(kind.Lengths)...)
		original := must(all(b, given(kind)))(t)
		cut := b[:1+m.IntN(len(b)-1)]
		got, err := all(cut, given(kind))
		if err == nil {
			require.NotEqual(t, NoLengths, kind.Lengths)
			require.Less(t, len(got), len(original), "cut between two values")
			require.Equal(t, original[:len(got)], got)
			continue
		}
		if kind.Container.Container == fileaccess.Encrypted {
			require.Error(t, err) // a wrong MD5, or a header that is cut
			continue
		}
		requireDamage(t, err, "%v", kind)
		if requireRepaired(t, cut, kind, original) {
			repaired++
		}
		got, err = all(cut, nil)
		require.Error(t, err, "%v", got)
	}
	t.Logf("%d of %d cut files repaired", repaired, files)
	require.Greater(t, repaired, files*6/10)
}

// TestZeroedEnds replaces the ends of random saves by zeros. It is noticed, unless a number or a bool
// became 0.
func TestZeroedEnds(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(5, 6))}
	repaired, legal, files := 0, 0, testenv.Cases(70, 1000)
	for i := range files {
		kind := plainKinds[i%len(plainKinds)]
		b, _ := file(t, kind, m.save(kind.Lengths)...)
		original := must(all(b, nil))(t)
		from := 1 + m.IntN(len(b)-1)
		zeroed := append(bytes.Clone(b[:from]), make([]byte, len(b)-from)...)
		got, err := all(zeroed, nil)
		if err == nil {
			changes := 0
			for i := range got {
				for c := range variant.Diff(original[i], got[i]) {
					require.True(t, isZeroed(c.Old, c.New), "%v: %v, %v", kind, c, got)
					changes++
				}
			}
			require.Len(t, got, len(original))
			require.LessOrEqual(t, changes, 1, "%v %d: %v, %v", kind, from, got, original)
			legal++
			continue
		}
		if requireRepairedZeros(t, zeroed, kind, original) {
			repaired++
		}
	}
	t.Logf("of %d files: %d with legal zeros, %d repaired", files, legal, repaired)
	require.Less(t, legal, files/10)
	require.Greater(t, repaired, files*6/10)
}

// requireRepairedZeros is requireRepaired where the last number can have become 0.
func requireRepairedZeros(t *testing.T, b []byte, kind Info, original []any) bool {
	t.Helper()
	o := given(kind)
	o.Repair = true
	f, err := read(b, o)
	if err != nil {
		return false
	}
	got := must(values(f))(t)
	o = given(kind)
	o.Decoder.Strict = true
	again := must(all(written(t, f), o))(t)
	require.Equal(t, got, again)
	require.LessOrEqual(t, len(got), len(original))
	return true
}

// TestRepairedZeros replaces the ends of random saves by zeros, and repairs them. Nothing that zeros were read
// as is left, but in the last number or text of a plain file, whose own zeros they can be.
func TestRepairedZeros(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(71, 72))}
	done, files := map[string]int{}, testenv.Cases(100, 3000)
	for i := range files {
		kind := plainKinds[i%len(plainKinds)]
		isPlain := i/len(plainKinds)%2 == 0
		if !isPlain { // the literals at its end become zeros
			kind.Container = fileaccess.Info{Container: fileaccess.Compressed, Mode: fileaccess.FastLZ}
		}
		saved := m.save(kind.Lengths)
		saved[len(saved)-1].(*variant.Dictionary).Set("list", m.value("", 3))
		b, _ := file(t, kind, saved...)
		original := must(all(b, given(kind)))(t)
		n := save.MinZeros + m.IntN(len(b)-save.MinZeros)
		if !isPlain {
			n = 1 + m.IntN(40)
		}
		from := len(b) - n
		f, err := read(append(bytes.Clone(b[:from]), make([]byte, n)...), repairing(kind))
		if err != nil {
			requireDamage(t, err)
			done["nothing left"]++
			continue
		}
		got := must(values(f))(t)
		require.LessOrEqual(t, len(got), len(original))
		zeroed := 0
		for i := range got {
			for c := range variant.Diff(original[i], got[i]) {
				if c.Removed || cmpStart(c.Old, c.New) == "" {
					continue
				}
				require.True(t, isPlain && (isZeroed(c.Old, c.New) || c.New == ""), "%v, %d of %d bytes: %s: %q became %q", kind, from, len(b), c.OldPath, c.Old, c.New)
				zeroed++
			}
		}
		require.LessOrEqual(t, zeroed, 1)
		done[fmt.Sprint(kind.Container.Container)]++
	}
	t.Log(done)
	require.Greater(t, done[fileaccess.Plain.String()], files/3)
	require.Greater(t, done[fileaccess.Compressed.String()], files/12)
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

// isZeroed reports whether now can be old with zeros in its last bytes.
func isZeroed(old, now any) bool {
	switch old.(type) {
	case int64, float64, bool, variant.Vector2, variant.Vector3, []byte:
		return true
	}
	return false
}

// TestWholeEnds: whole saves that end in zeros or nulls are good.
func TestWholeEnds(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(7, 8))}
	for i := range testenv.Cases(70, 1000) {
		kind := kinds[i%len(kinds)]
		saved := m.save(kind.Lengths)
		slots := &variant.Array{Values: make([]any, 40)}
		ends := []any{slots, 0, 0.0, make([]byte, 100), nil, variant.Vector3{}, false}
		d := saved[len(saved)-1].(*variant.Dictionary)
		d.Set("last", ends[i/len(kinds)%len(ends)])
		b, _ := file(t, kind, saved...)
		f := must(read(b, nil))(t)
		got := must(values(f))(t)
		require.Len(t, got, len(saved))
		require.True(t, f.Info.Sure)
	}
}

// TestDamageFlips flips bits of saves: each call returns, and Repair gives a file that can be read.
func TestDamageFlips(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(9, 10))}
	for i := range testenv.Cases(150, 500) {
		kind := kinds[i%len(kinds)]
		b, _ := file(t, kind, m.save(kind.Lengths)...)
		for range 4 {
			b[m.IntN(len(b))] ^= 1 << m.IntN(8)
		}
		o := given(kind)
		o.Repair = true
		o.Decoder.AllowObjects = true
		if f, err := read(b, o); err == nil {
			require.NoError(t, errOf(values(f)), "%v", f.Info.Damage)
		}
	}
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

// TestRepairRecognized: what is repaired without Lengths and Format is recognized as the same kind of file, or nothing is
// repaired.
func TestRepairRecognized(t *testing.T) {
	repaired := 0
	for _, l := range []Lengths{NoLengths, LittleEndian} {
		b, _ := file(t, Info{Lengths: l}, content())
		for cut := 0; cut < len(b); cut += testenv.Cases(5, 1) {
			f, err := read(b[:cut], &Options{Repair: true})
			if err != nil {
				continue
			}
			repaired++
			var out bytes.Buffer
			must(f.WriteTo(&out))(t)
			again, err := read(out.Bytes(), nil)
			require.NoError(t, err, "%v cut at %d", l, cut)
			require.Equal(t, f.Info.String(), again.Info.String())
		}
	}
	require.Greater(t, repaired, 40)
	packed := must(fileaccess.Compress(nil, make([]byte, 400), fileaccess.Gzip))(t)
	require.Error(t, errOf(read(append([]byte{0x90, 1, 0, 0}, packed...), &Options{Repair: true})), "a size and a compressed content are no packet")
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
}

// TestManyZeros: zeros after a save are found, few or many, and the zeros of its last value are its own.
func TestManyZeros(t *testing.T) {
	for _, l := range []Lengths{NoLengths, LittleEndian, BigEndian} {
		d := new(variant.Dictionary)
		d.Set("name", "a name that is long enough")
		d.Set("hp", 0)
		b, _ := file(t, Info{Lengths: l}, d)
		for _, n := range []int{save.MinZeros, 400, 200_000} {
			zeroed := append(bytes.Clone(b), make([]byte, n)...)
			_, err := all(zeroed, nil)
			requireDamage(t, err, "%v, %d", l, n)
			f := must(read(zeroed, repairing(Info{Lengths: l})))(t)
			require.Equal(t, b, written(t, f), "%v, %d", l, n)
		}
	}
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
