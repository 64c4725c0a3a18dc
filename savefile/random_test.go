package savefile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

// errOf returns the error of a call that returns a value, too.
func errOf[V any](_ V, err error) error { return err }

// password is the password of all encrypted files of the tests.
var password = fileaccess.PasswordKey("hunter2")

// kinds contains all kinds of files of the formats that engines write today.
var kinds = func() (all []Info) {
	var containers []fileaccess.Info
	for m := fileaccess.FastLZ; m <= fileaccess.Gzip; m++ {
		containers = append(containers, fileaccess.Info{Container: fileaccess.Compressed, Mode: m}, fileaccess.Info{Container: fileaccess.Raw, Mode: m})
	}
	containers = append(containers, fileaccess.Info{}, fileaccess.Info{Container: fileaccess.Encrypted},
		fileaccess.Info{Base64: fileaccess.Base64{Text: true, Line: 76, Break: "\r\n", End: "\r\n"}})
	for _, f := range []gdwire.Format{gdwire.Godot4, gdwire.Godot3} {
		for l := NoLengths; l <= BigEndian; l++ {
			for _, c := range containers {
				i := Info{Format: f, Lengths: l, Container: c}
				if c.Container == fileaccess.Encrypted {
					i.Key = password
					if f == gdwire.Godot3 {
						i.Container.Layout = fileaccess.LayoutGodot3
					}
				}
				all = append(all, i)
			}
		}
	}
	return all
}()

// A maker makes random saved games.
type maker struct {
	*rand.Rand
	ints []string // the paths of ints in the latest save
}

// save returns the values of a save: a Dictionary with the int "hp", and sometimes others. Without
// lengths there is one. Half of the saves end in zeros or nulls of their own.
func (m *maker) save(l Lengths) (all []any) {
	m.ints = nil
	n := 1
	if l != NoLengths && m.IntN(3) == 0 {
		n = 2 + m.IntN(2)
	}
	for i := range n {
		d := new(variant.Dictionary)
		root := "$"
		if i > 0 {
			root = fmt.Sprint("$", i)
		}
		d.Set("version", 3)
		d.Set("name", m.text())
		m.fill(d, root, 1+m.IntN(4))
		d.Set("hp", m.IntN(1000))
		m.ints = append(m.ints, root+".hp")
		ends := []any{&variant.Array{Values: make([]any, 40)}, 0, 0.0, make([]byte, 100), nil, variant.Vector3{}, false}
		if end := m.IntN(2 * len(ends)); end < len(ends) {
			d.Set("last", ends[end])
		}
		all = append(all, d)
	}
	return all
}

// fill adds random pairs.
func (m *maker) fill(d *variant.Dictionary, path string, depth int) {
	for i := range m.IntN(7) {
		key := fmt.Sprintf("k%d%s", i, []string{"", "_x"}[m.IntN(2)])
		d.Set(key, m.value(path+"."+key, depth-1))
	}
}

func (m *maker) value(path string, depth int) any {
	switch n := m.IntN(12); {
	case n < 3 && depth > 0:
		d := new(variant.Dictionary)
		m.fill(d, path, depth)
		return d
	case n < 5 && depth > 0:
		a := new(variant.Array)
		for i := range m.IntN(6) {
			a.Values = append(a.Values, m.value(fmt.Sprintf("%s[%d]", path, i), depth-1))
		}
		return a
	}
	return m.leaf(path)
}

func (m *maker) leaf(path string) any {
	switch m.IntN(10) {
	case 0:
		return nil
	case 1:
		return m.IntN(2) == 1
	case 2:
		return float64(m.IntN(2000)-1000) / 8
	case 3:
		return variant.Vector2{X: float64(m.IntN(100)) / 4, Y: 1.5}
	case 4:
		return variant.Vector3{X: float64(m.IntN(100)) / 4, Y: -1, Z: 2}
	case 5:
		b := make([]byte, m.IntN(20))
		for i := range b {
			b[i] = byte(1 + m.IntN(255))
		}
		return b
	case 6:
		return variant.NodePath("/root/" + m.text())
	case 7, 8:
		return m.text()
	}
	m.ints = append(m.ints, path)
	return m.IntN(1 << 20)
}

func (m *maker) text() string {
	const letters = "abcdefghij ABC_äß中"
	r := []rune(letters)
	b := make([]rune, 1+m.IntN(13))
	for i := range b {
		b[i] = r[m.IntN(len(r))]
	}
	return string(b)
}

// file returns the bytes of a file, and of its content.
func file(t *testing.T, info Info, values ...any) (all, content []byte) {
	t.Helper()
	f := must(New(info, values...))(t)
	all = written(t, f)
	f.Info.Container = fileaccess.Info{}
	return all, written(t, f)
}

func written(t *testing.T, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	n := must(f.WriteTo(&b))(t)
	require.EqualValues(t, b.Len(), n)
	return b.Bytes()
}

// read opens a file in memory.
func read(b []byte, o *Options) (*File, error) {
	if o == nil {
		o = new(Options)
	}
	o.Container.Key = password
	return Read(bytes.NewReader(b), int64(len(b)), o)
}

// given returns Options with the kind of a file.
func given(i Info) *Options {
	o := &Options{Lengths: i.Lengths, Decoder: gdwire.DecoderOptions{Format: i.Format}}
	o.Container.Base64 = i.Container.Base64.Text
	o.Container.Raw, o.Container.Mode = i.Container.Container == fileaccess.Raw, i.Container.Mode
	return o
}

// values returns all values of a file.
func values(f *File) (all []any, err error) {
	for d, damage := range f.Values() {
		if damage != nil {
			return all, damage
		}
		var v any
		if err = variant.UnmarshalDecode(d, &v); err == nil {
			all = append(all, v)
		} // otherwise the next iteration is a DamageError
	}
	return all, err
}

// requireWritten: f is written as b, or an encrypted file with another IV.
func requireWritten(t *testing.T, f *File, b []byte) {
	t.Helper()
	again := written(t, f)
	if f.Info.Container.Container != fileaccess.Encrypted {
		require.True(t, bytes.Equal(b, again))
		return
	}
	require.Len(t, again, len(b))
	a := must(read(b, nil))(t)
	c := must(read(again, nil))(t)
	a.Info.Container, c.Info.Container = fileaccess.Info{}, fileaccess.Info{}
	require.True(t, bytes.Equal(written(t, a), written(t, c)))
}

// TestRandom opens random saves of all kinds, and writes them again to the same bytes, also after an edit and its
// opposite.
func TestRandom(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(1, 2))}
	for i := range testenv.Cases(140, 2000) {
		want := kinds[i%len(kinds)]
		saved := m.save(want.Lengths)
		b, content := file(t, want, saved...)
		f, err := read(b, nil)
		require.NoError(t, err, "%v", want)
		require.True(t, f.Info.Sure)
		require.Equal(t, want.String(), f.Info.String())
		require.Len(t, must(values(f))(t), len(saved))
		requireWritten(t, f, b)

		path := m.ints[m.IntN(len(m.ints))]
		var old, now int
		require.NoError(t, f.Get(path, &old))
		require.NoError(t, f.Edit(Set(path, old^1)))
		require.NoError(t, f.Get(path, &now))
		require.Equal(t, old^1, now)
		require.NotEqual(t, content, contentOf(t, f))
		require.NoError(t, f.Edit(Set(path, old)))
		requireWritten(t, f, b)
	}
}
