package model

import (
	"io"
	"slices"
	"testing"

	"github.com/gdwire/gdwire"
)

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
