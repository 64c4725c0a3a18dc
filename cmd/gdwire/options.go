package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

// options are what the flags say.
type options struct {
	decoder   gdwire.DecoderOptions
	framing   framing
	maxPacket int64
	json      bool // of check
	listen    listenOptions
	operand   string // what stands behind the flags
}

// A framing is how packets lie in the input.
type framing struct {
	name      string
	framed    bool // behind their length; otherwise values stand back to back
	bigEndian bool // so is the length
}

var framings = []framing{
	{name: "none"},
	{name: "u32", framed: true},
	{name: "u32be", framed: true, bigEndian: true},
}

func newOptions() *options {
	return &options{decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}, framing: framings[0]}
}

// define makes the flags that all subcommands have.
func (o *options) define(fs *flag.FlagSet) {
	d := &o.decoder
	choose(fs, "format", "`FORMAT` of the values", gdwire.Formats(), &d.Format, (*gdwire.Format).String)
	choose(fs, "frame", "`LENGTH` in front of each packet", framings, &o.framing, func(f framing) string { return f.name })
	fs.BoolVar(&d.AllowObjects, "objects", false, "let objects in full pass")
	fs.BoolVar(&d.Strict, "strict", false, "refuse what engines read but never write")
	fs.BoolVar(&d.AnyUTF8, "any-utf8", false, "let text pass that is not UTF-8")
	fs.BoolVar(&d.DoubleReals, "double", false, "maths types have 64 bits in the manuals' formats")
	for _, l := range []struct {
		name, text string
		set        func(int64)
	}{
		{"max-depth", "containers around a value [1024]", func(n int64) { d.Limits.Depth = int(n) }},
		{"max-elements", "elements, pairs or properties of a container [1 Mi]", func(n int64) { d.Limits.Elements = n }},
		{"max-values", "values in a top-level value [16 Mi]", func(n int64) { d.Limits.Values = n }},
		{"max-string", "bytes of a string [16 MiB]", func(n int64) { d.Limits.StringBytes = n }},
		{"max-name", "bytes of a class's, property's or signal's name [1 KiB]", func(n int64) { d.Limits.NameBytes = n }},
		{"max-packed", "bytes of a packed array or image [256 MiB]", func(n int64) { d.Limits.PackedBytes = n }},
		{"max-bytes", "bytes of a top-level value [no limit]", func(n int64) { d.Limits.Bytes = n }},
		{"max-packet", "bytes of a packet behind its length [8 MiB]", func(n int64) { o.maxPacket = n }},
	} {
		fs.Func(l.name, "at most `N` "+l.text, func(s string) error {
			n, err := strconv.ParseInt(s, 10, strconv.IntSize)
			if err == nil && n < -1 {
				err = strconv.ErrRange
			}
			if err != nil {
				return errors.New("not a number, 0 for the default or -1 for no limit")
			}
			l.set(n)
			return nil
		})
	}
}

// choose makes a flag whose value is the name of one of the choices. The first
// is the default.
func choose[T any](fs *flag.FlagSet, flag, text string, choices []T, dst *T, name func(T) string) {
	var names []string
	for _, c := range choices {
		names = append(names, name(c))
	}
	list := strings.Join(names, ", ")
	fs.Func(flag, text+": "+list, func(s string) error {
		for i, n := range names {
			if n == s {
				*dst = choices[i]
				return nil
			}
		}
		return fmt.Errorf("none of %s", list)
	})
}

// stream returns the options for packets behind their length.
func (o *options) stream() *stream.Options {
	return &stream.Options{
		MaxPacket: o.maxPacket, BigEndianLength: o.framing.bigEndian,
		Decoder: o.decoder, Encoder: o.encoder(),
	}
}

// encoder returns the options for writing what was read.
func (o *options) encoder() gdwire.EncoderOptions {
	return gdwire.EncoderOptions{
		Format: o.decoder.Format, AnyUTF8: o.decoder.AnyUTF8, DoubleReals: o.decoder.DoubleReals,
		Depth: -1, // the Decoder has a limit already
	}
}
