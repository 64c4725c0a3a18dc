package explain

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// FuzzFind explains any bytes, in bounded work: the parts are all bytes, and the values that were found are written as they were.
func FuzzFind(f *testing.F) {
	for line := range strings.Lines(layouts) {
		tokens := strings.Fields(line)
		if len(tokens) == 0 {
			continue
		}
		var values [][]byte
		for i := range int(tokens[0][0] - '0') {
			values = append(values, saved(f, 40+100*i, i, "Ada"))
		}
		for _, mode := range []string{"plain", "fastlz", "zstd"} {
			f.Add(layout(tokens[1:]).build(f, values, mode))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := newSearch(nil, len(b))
		p := s.find(b, s.Formats, 0)
		require.Greater(t, s.left(), int64(-fixedWork)) // the last value or stream can exceed the bound
		if p == nil {
			return
		}
		require.Equal(t, b, p.Bytes())
		_ = p.String()
		p.Secret()
		require.Equal(t, b, testenv.Must(p.Write(p.Values()))(t))
		if p = Find(b, nil); p == nil || len(p.Content()) == 0 {
			return
		}
		other := bytes.Clone(p.Content())
		other[len(other)-1]++
		if got, err := p.WithContent(other); err == nil {
			require.NotEmpty(t, got.Bytes())
		}
	})
}

// randomLayout returns a layout of random tokens.
func randomLayout(r *rand.Rand) (l layout, records int) {
	one := func(all string) string { w := strings.Fields(all); return w[r.IntN(len(w))] }
	add := func(all string, most int) {
		for range r.IntN(most + 1) {
			l = append(l, one(all))
		}
	}
	const header = "m:SAVE m:AB m:GAMEDATA p:name p:MyGame u32=1 u32=3 u16=2 U32=5 u64=1732550400 f32=1.5 u8=1 rnd8"
	const sizes = "sc4 sp4 Sc4 Sp4 sc8 sp8 st4 sr4 sp2 Sp2"
	const sums = "crcp crcc CRCp md5p md5c sha1p sha256p sha256c md5hp sha256hc sha256sp crcr md5r adlp"
	add(header, 2)
	if r.IntN(2) == 0 {
		add(sizes, 2)
		add(sums, 1)
		l = append(l, one("B B V"))
		if !slices.ContainsFunc(l, func(t string) bool { return strings.HasSuffix(t, "r") }) {
			add("crca md5a sha256a sha256ha crcp md5p sp4 m:END!", 1)
		}
		return l, 1
	}
	add("cnt4", 1)
	l = append(l, "[")
	add("idx4 tim4 tim8 u8=3 u16=9 u32=70", 1)
	l = append(l, one("sp4 Sp4 sp2 sp8 sr4 st4"))
	add(strings.NewReplacer("sha256sp", "", "crcr", "", "md5r", "").Replace(sums), 1)
	l = append(l, "B")
	add("crcp crca u32=70", 1)
	l = append(l, "]")
	add("crca md5a", 1)
	return l, 2 + r.IntN(6)
}

// FuzzWrite writes values in random layouts, and others in what it finds. The bytes are those of the game, or there is an error.
func FuzzWrite(f *testing.F) {
	for i := range uint64(testenv.Cases(20, 150)) {
		f.Add(i)
	}
	for _, seed := range []uint64{1326, 2262, 2535, 5095, 5705, 7485, 9538, 9548, 10060, 10421, 11841, 12347, 13262, 18968, 19278, 25530, 177, 1321, 1436, 1587, 13887, 14475, 1394, 1763,
		160, 325, 507, 1126, 1941, 1943, 8000587} {
		f.Add(seed) // was written wrong once, or called damaged
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		l, n := randomLayout(r)
		mode := []string{"plain", "plain", "zstd", "gzip", "zlib", "fastlz"}[r.IntN(6)]
		var values [][]byte
		for i := range n {
			values = append(values, saved(t, 40+r.IntN(1500), i, strings.Repeat("x", 1+r.IntN(20))))
		}
		whole := l.build(t, values, mode)
		p := Find(whole, nil)
		if p == nil || !bytes.Equal(p.Content(), framed(values)) {
			require.Nil(t, p, "%s, %s: %v", l, mode, p)
			return
		}
		if p.Err != nil || p.IsDamaged() { // which is not edited
			require.True(t, slices.ContainsFunc(l, func(t string) bool { return t == "st4" }), "%s, %s: %v, %v", l, mode, p, p.Err)
			return
		}
		changed := slices.Clone(values)
		i := r.IntN(n)
		changed[i] = saved(t, 40+r.IntN(1500), i, strings.Repeat("y", 1+r.IntN(40)))
		got, err := p.Write(changed)
		if _, secret := p.Secret(); secret > 0 || errors.As(err, new(*DoubtError)) {
			return // the command asks
		}
		if err != nil {
			require.ErrorContains(t, err, "does not fit")
			return
		}
		require.Equal(t, l.build(t, changed, mode), got, "%s, %s, %d: %v", l, mode, n, p)
	})
}
