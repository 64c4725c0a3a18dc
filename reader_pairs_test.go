package gdwire

import (
	"bytes"
	"fmt"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// pairs is a Dictionary of three pairs, and a string after it.
func pairs(t *testing.T) []byte {
	return encoded(t, nil, func(e *Encoder) {
		require.NoError(t, e.BeginDict(3))
		for i := range 3 {
			require.NoError(t, e.BeginArray(1))
			require.NoError(t, e.WriteString("key"))
			require.NoError(t, e.End())
			require.NoError(t, e.BeginDict(1))
			require.NoError(t, e.WriteInt(int64(i)))
			require.NoError(t, e.WriteString("value"))
			require.NoError(t, e.End())
		}
		require.NoError(t, e.End())
		require.NoError(t, e.WriteString("next"))
	})
}

// The loop continues with the next pair after a body that reads any part of a pair.
func TestPairs(t *testing.T) {
	readTokens := func(n int) func(d *Decoder) error {
		return func(d *Decoder) error {
			for range n {
				if _, err := d.ReadToken(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	bodies := map[string]func(d *Decoder) error{
		"key and value": func(d *Decoder) error {
			for range 2 {
				if err := d.SkipValue(); err != nil {
					return err
				}
			}
			return nil
		},
	}
	for n := range 10 { // DictKey, three of the key, five of the value
		bodies[fmt.Sprint(n, " tokens")] = readTokens(n)
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(iotest.OneByteReader(bytes.NewReader(pairs(t))), &DecoderOptions{MaxChunk: 16})
			defer d.Release()
			n := 0
			for i, err := range d.Pairs() {
				require.NoError(t, err)
				require.Equal(t, n, i)
				n++
				require.NoError(t, body(d))
			}
			require.Equal(t, 3, n)
			s, err := d.ReadString()
			require.NoError(t, err)
			require.Equal(t, "next", s)
		})
	}
}

func TestPairsReadPast(t *testing.T) {
	for n := 3; n <= 6; n++ {
		d := NewDecoder(bytes.NewReader(pairs(t)), nil)
		var last error
		for _, err := range d.Pairs() {
			if last = err; err != nil {
				break
			}
			for range n {
				require.NoError(t, d.SkipValue())
			}
		}
		require.ErrorIs(t, last, ErrCount)
		d.Release()
	}
	d := NewDecoder(bytes.NewReader(append(pairs(t), pairs(t)...)), nil)
	defer d.Release()
	var last error
	for _, err := range d.Pairs() {
		if last = err; err != nil {
			break
		}
		require.NoError(t, d.SkipTo(0))
		_, err = d.ReadString()
		require.NoError(t, err)
		_, err = d.ReadDict() // another of the same depth
		require.NoError(t, err)
	}
	require.ErrorIs(t, last, ErrCount)
}

func TestPairsErrors(t *testing.T) {
	b := pairs(t)
	d := NewDecoder(nil, nil)
	defer d.Release()
	d.ResetBytes(b[len(b)-12:])
	for _, err := range d.Pairs() {
		require.ErrorIs(t, err, ErrType)
	}
	s, err := d.ReadString()
	require.NoError(t, err)
	require.Equal(t, "next", s)

	d.ResetBytes(b)
	for range d.Pairs() {
		break
	}
	s, err = d.ReadString()
	require.NoError(t, err, "the rest is skipped")
	require.Equal(t, "next", s)

	for cut := 8; cut < len(b)-12; cut++ {
		d.Reset(bytes.NewReader(b[:cut]))
		var last error
		for _, err := range d.Pairs() {
			last = err
		}
		require.Error(t, last, cut)
	}
}
