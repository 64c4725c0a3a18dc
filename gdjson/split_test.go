package gdjson

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// split returns the values of text, which arrives in the way that arrives makes it.
func split(t *testing.T, text []byte, lenient bool, arrives func(io.Reader) io.Reader) (values []string) {
	s := bufio.NewScanner(arrives(bytes.NewReader(text)))
	s.Buffer(nil, 1<<30)
	s.Split(SplitValues(Options{Lenient: lenient}))
	for s.Scan() {
		values = append(values, s.Text())
	}
	require.NoError(t, s.Err(), "%q", text)
	return values
}

func whole(r io.Reader) io.Reader { return r }

func TestSplitValues(t *testing.T) {
	none := []string{}
	for _, c := range []struct {
		text    string
		want    []string
		lenient []string // nil if they are the same
	}{
		{"", nil, nil},
		{" \n\t", nil, nil},
		{"1", []string{"1"}, nil},
		{" 1 2\n", []string{"1", "2"}, nil},
		{"01 -.5 1.", []string{"01", "-.5", "1."}, nil},
		{`"a" "b"`, []string{`"a"`, `"b"`}, nil},
		{`"a\"b\\""c"`, []string{`"a\"b\\"`, `"c"`}, nil},
		{`[1,[2,"]"],{"a":"}"}]{}[]`, []string{`[1,[2,"]"],{"a":"}"}]`, `{}`, `[]`}, nil},
		{`[1,]`, []string{`[1,]`}, nil},
		{"[\"\x01\v\"]", []string{"[\"\x01\v\"]"}, nil},
		{"1\v2", []string{"1", "\v2"}, []string{"1", "2"}},
		{"\x01", []string{"\x01"}, none},
		{"\x01\x02", []string{"\x01", "\x02"}, none},
		{`1,2`, []string{"1,2"}, nil},
		{`1"a"`, []string{`1"a"`}, nil},
		{`1[2]`, []string{`1[2]`}, nil},
		{`, 1`, []string{",", "1"}, nil},
		{`] 1`, []string{"]", "1"}, nil},
		{`[1}2`, []string{"[1}", "2"}, nil},
		{`[1`, []string{"[1"}, nil},
		{`"a`, []string{`"a`}, nil},
		{`"a\`, []string{`"a\`}, nil},
	} {
		for _, lenient := range []bool{false, true} {
			want := c.want
			if lenient && c.lenient != nil {
				want = c.lenient
			}
			if len(want) == 0 {
				want = nil
			}
			for _, arrives := range []func(io.Reader) io.Reader{whole, iotest.OneByteReader, iotest.DataErrReader} {
				require.Equal(t, want, split(t, []byte(c.text), lenient, arrives), "%q", c.text)
			}
		}
	}
}

func TestSplitValuesLimit(t *testing.T) {
	s := bufio.NewScanner(strings.NewReader("[" + strings.Repeat("1,", 100) + "1]"))
	s.Buffer(nil, 100)
	s.Split(SplitValues())
	require.False(t, s.Scan())
	require.Equal(t, bufio.ErrTooLong, s.Err())
}

// pieces returns a Reader that returns random pieces of r.
func pieces(random *rand.Rand) func(io.Reader) io.Reader {
	return func(r io.Reader) io.Reader {
		return readerFunc(func(b []byte) (int, error) { return r.Read(b[:min(len(b), 1+random.IntN(8))]) })
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// trimmed returns text without the white space around it.
func trimmed(text []byte, lenient bool) string {
	from := space(text, 0, whiteSpace(lenient))
	to := len(text)
	for to > from && space(text[:to], to-1, whiteSpace(lenient)) == to {
		to--
	}
	return string(text[from:to])
}

// Values that FromJSON reads alone are split from a text of several, in whichever pieces they arrive.
func TestSplitRandomValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, lenient := range []bool{false, true} {
		var valid []string
		for _, value := range texts {
			for _, value := range []string{value, "[" + value + "]", `{"k":` + value + `,"]":[` + value + "," + value + `]}`} {
				if one := (&text{json: []byte(value), lenient: lenient}); len(value) < 1000 && one.scan() {
					valid = append(valid, value)
				}
			}
		}
		require.Greater(t, len(valid), 50)
		space := []string{" ", "\n", "\r\n", "\t "}
		if lenient {
			space = append(space, "\v", "\x00", "\x01\x1f")
		}
		for range 1000 {
			var text []byte
			var want []string
			for range r.IntN(6) {
				value := valid[r.IntN(len(valid))]
				text = append(append(text, value...), space[r.IntN(len(space))]...)
				want = append(want, trimmed([]byte(value), lenient))
			}
			require.Equal(t, want, split(t, text, lenient, pieces(r)), "%q", text)
		}
	}
}
