package envelope

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

// FuzzFind finds envelopes in any bytes, in bounded work. The values that were found are written as they were.
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
		for _, content := range []bool{false, true} {
			s := newSearch(&Options{Content: content}, budget)
			e := s.find(b, 0)
			s.close()
			require.Greater(t, s.left, -budget*int64(2))
			if e == nil {
				continue
			}
			_ = e.String()
			e.Secret()
			got := testenv.Must(e.Write(e.Content()))(t)
			require.Equal(t, b, got)
			other := bytes.Clone(e.Content())
			if n := len(other); n > 0 {
				other[n-1]++
			}
			if got, err := e.Write(other); err == nil {
				require.NotEmpty(t, got)
			}
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
	if r.IntN(2) == 0 {
		add(header, 2)
		add(sizes, 2)
		add(sums, 1)
		l = append(l, one("B B V"))
		if !slices.ContainsFunc(l, func(t string) bool { return strings.HasSuffix(t, "r") }) {
			add("crca md5a sha256a sha256ha crcp md5p sp4 m:END!", 1)
		}
		return l, 1
	}
	add(header, 2)
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
	for i := range uint64(testenv.Cases(20, 200)) {
		f.Add(i)
	}
	for _, seed := range []uint64{1326, 2262, 2535, 5095, 5705, 7485, 9538, 9548, 10060, 10421, 11841, 12347, 13262, 13887, 14215, 14475, 18968, 19278, 25530} {
		f.Add(seed) // was written wrong once
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
		if n > 1 {
			checkCut(t, r, l, mode, values)
		}
		e := Find(whole, &Options{})
		if e == nil || !bytes.Equal(e.Content(), framed(values)) {
			require.Nil(t, e, "%s, %s: %v", l, mode, e)
			return
		}
		changed := slices.Clone(values)
		i := r.IntN(n)
		changed[i] = saved(t, 40+r.IntN(1500), i, strings.Repeat("y", 1+r.IntN(40)))
		got, err := e.Write(framed(changed))
		if errors.As(err, new(*DoubtError)) {
			return
		}
		require.NoError(t, err)
		require.Equal(t, l.build(t, changed, mode), got, "%s, %s, %d: %v", l, mode, n, e)
	})
}

// checkCut cuts the file of a layout anywhere. What is found are the whole records, and it is written as the game writes these, or
// it is not found.
func checkCut(t *testing.T, r *rand.Rand, l layout, mode string, values [][]byte) {
	whole := l.build(t, values, mode)
	l = l[:slices.Index(l, "]")+1]
	at := 1 + r.IntN(len(whole)-1)
	n := 0 // whole records
	end := 0
	for n < len(values) && len(l.build(t, values[:n+1], mode)) <= at {
		n++
		end = len(l.build(t, values[:n], mode))
	}
	e := Find(whole[:at], &Options{})
	if e == nil {
		return
	}
	name := strings.Join(l, " ") + ", " + mode
	content := e.Content()
	m := n // a body of which only bytes after it are lost
	if m < len(values) && bytes.Equal(content, framed(values[:m+1])) {
		m++
	}
	require.Equal(t, framed(values[:m]), content, "%s: %d of %d, after %d: %v", name, at, len(whole), end, e)
	if e.Err == nil {
		require.True(t, at == end || n == len(values) || n < 3 || m > n || at-end < 4, "%s: %d of %d, after %d: %v", name, at, len(whole), end, e)
		return
	}
	got, err := e.Write(content)
	if errors.As(err, new(*DoubtError)) {
		return
	}
	require.NoError(t, err, name)
	if !slices.Contains(l, "cnt4") && slices.ContainsFunc(e.Fields, func(f Field) bool { return f.Of.Count }) {
		return // a version that is equal to it
	}
	require.Equal(t, l.build(t, values[:m], mode), got, "%s: %d of %d, after %d: %v, %v", name, at, len(whole), end, e, e.Err)
	again := Find(got, &Options{})
	require.NotNil(t, again, name)
	require.Equal(t, content, again.Content(), name)
}
