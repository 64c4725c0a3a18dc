package model

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/tagged"
	"github.com/gdwire/gdwire/internal/test/fuzz"
)

// Read reads the next value of d, token by token. It repeats calls after temporary errors.
func Read(d *gdwire.Decoder) (tagged.Value, error) {
	return (&tagged.Reader{Decoder: d, Temporary: fuzz.ErrTemporary}).Value()
}

// ReadBulk is Read by the calls that read whole strings and arrays.
func ReadBulk(d *gdwire.Decoder) (tagged.Value, error) {
	return (&tagged.Reader{Decoder: d, Bulk: true, Temporary: fuzz.ErrTemporary}).Value()
}

// Again repeats f after temporary errors.
func Again(f func() error) error {
	for {
		if err := f(); err != fuzz.ErrTemporary {
			return err
		}
	}
}

// Decode reads the value at the start of p.
func Decode(p []byte, o gdwire.DecoderOptions) (v tagged.Value, size int64, err error) {
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(p)
	v, err = Read(d)
	return v, d.InputOffset(), err
}

// Encode writes v by typed calls.
func Encode(v *tagged.Value, o gdwire.EncoderOptions, unknown bool) ([]byte, error) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &o)
	err := (&tagged.Writer{Encoder: e, Unknown: unknown, Pieces: true}).Value(v)
	err = cmp.Or(err, e.Close())
	return b.Bytes(), err
}

// Rewrite re-encodes the first value of p token by token.
func Rewrite(p []byte, from gdwire.DecoderOptions, to gdwire.EncoderOptions) ([]byte, error) {
	d := gdwire.NewDecoder(bytes.NewReader(p), &from)
	defer d.Release()
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &to)
	for t, err := range d.Tokens() {
		if err != nil {
			return nil, err
		}
		if err := e.WriteToken(t); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), e.Close()
}

// Copy re-encodes the first value of p by Copy.
func Copy(p []byte, from gdwire.DecoderOptions, to gdwire.EncoderOptions) ([]byte, error) {
	d := gdwire.NewDecoder(nil, &from)
	defer d.Release()
	d.ResetBytes(p)
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &to)
	err := gdwire.CopyValue(e, d)
	err = cmp.Or(err, e.Close())
	return b.Bytes(), err
}

// Tokens describes the tokens of all values in p, each on a line.
func Tokens(p []byte, o gdwire.DecoderOptions) (lines []string, err error) {
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(p)
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			if e, ok := errors.AsType[*gdwire.Error](err); ok && e.Offset < d.InputOffset() {
				panic("a token was handed out in spite of " + err.Error())
			}
			return lines, err
		}
		lines = append(lines, t.String())
	}
}

// CleanPaths returns p with zeros as padding of NodePath names. The offsets of
// tokens show where that is.
func CleanPaths(p []byte, f gdwire.Format) []byte {
	return Cleared(p, f, func(t gdwire.Token) int64 {
		if t.Kind() == gdwire.KindStringChunk && t.Type() == gdwire.TypeNodePath && t.Last() {
			return -t.Len() & 3
		}
		return 0
	})
}

// Cleared returns p with zeros in the last bytes of tokens, as many as n returns.
func Cleared(p []byte, f gdwire.Format, n func(gdwire.Token) int64) []byte {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: f, AllowObjects: true, AllowInvalidUTF8: true, Limits: gdwire.NoLimits})
	defer d.Release()
	d.ResetBytes(bytes.Clone(p))
	p = bytes.Clone(p)
	for t, err := range d.Tokens() {
		if err != nil {
			break // a damaged packet: nothing after it is read
		}
		clear(p[d.InputOffset()-n(t) : d.InputOffset()])
	}
	return p
}

// Replace calls f with packet, of Godot4, with another value in place of each value in it: of
// every type and shape that the official engine wrote, or a value that a field seldom holds.
func Replace(t testing.TB, packet []byte, f func(packet []byte)) {
	var values [][]byte
	for i := range Engines {
		if e := &Engines[i]; e.Folder == "godot4.6" {
			for _, v := range e.Vectors(t) {
				values = append(values, v.Hex)
			}
		}
	}
	for _, text := range []string{
		"<int+1> 0000000001000000", // beyond int32
		"<int> ffffffff",
		"<float> 0000c03f",
		"<float> 0000e040",           // a whole number
		"<float+1> 000000000000f041", // and beyond int32
		"<float> 0000807f",           // infinity
		"<String> 01000000 ff000000", // not UTF-8
		"<String> ffffffff",
		"<Array> ffffffff",
		"63000000",
		"<Dictionary> 01000000",
		"<Dictionary> 01000000 <String> 04000000 6e616d65 <String> 07000000 4d616c6c6f727900",
	} {
		values = append(values, Build(t, gdwire.Godot4, text))
	}
	for _, at := range places(t, packet) {
		for _, v := range values {
			f(slices.Concat(packet[:at[0]], v, packet[at[1]:]))
		}
	}
}

// places returns the starts and ends of all values in packet, keys included.
func places(t testing.TB, packet []byte) (all [][2]int64) {
	d := gdwire.NewDecoder(nil, nil)
	defer d.Release()
	d.ResetBytes(packet)
	var open []int64 // the starts of the open containers
	for {
		start := d.InputOffset()
		token, err := d.ReadToken()
		if err == io.EOF {
			return all
		}
		must(t, err)
		switch {
		case token.Kind() == gdwire.KindDictKey:
			continue
		case d.Depth() > len(open):
			open = append(open, start)
			continue
		case token.Kind() == gdwire.KindEnd:
			start, open = open[len(open)-1], open[:len(open)-1]
		}
		all = append(all, [2]int64{start, d.InputOffset()})
	}
}
