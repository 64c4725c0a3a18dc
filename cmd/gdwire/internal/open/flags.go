// Package open opens inputs as the user names them, recognizes their formats, and prints their values.
package open

import (
	"errors"
	"math"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/wire"
	"github.com/gdwire/gdwire/stream"
)

// Modes contains the choices of -compressed: the modes written by engines.
var Modes = []fileaccess.Mode{fileaccess.FastLZ, fileaccess.Deflate, fileaccess.Zstd, fileaccess.Gzip}

// Frames contains the choices of -frame.
var Frames = []save.Frame{save.Bare, save.U32, save.U32BE}

// Values are the flags about values.
type Values struct {
	Decoder gdwire.DecoderOptions // without limits; Format is 0 unless -format is given
	Frame   save.Frame

	flags *shell.Flags
}

// ValueFlags defines the flags about values. objects is the default of -objects.
func (v *Values) ValueFlags(f *shell.Flags, objects bool) {
	v.flags = f
	d := &v.Decoder
	shell.Choose(f, "format", "`FORMAT` of the values", gdwire.Formats(), &d.Format, gdwire.Format.String)
	shell.Choose(f, "frame", "`LENGTH` that precedes each packet", Frames, &v.Frame, save.Frame.String)
	f.BoolVar(&d.AllowObjects, "objects", objects, "allow serialized objects")
	f.BoolVar(&d.AllowInvalidUTF8, "any-utf8", false, "accept text that is not UTF-8")
	f.BoolVar(&d.DoubleReals, "double", false, "read math types of 64 bits in the manuals' formats")
}

// StrictFlag defines the flag about values to be read.
func (v *Values) StrictFlag(f *shell.Flags) {
	f.BoolVar(&v.Decoder.Strict, "strict", false, "refuse input that engines accept but never write")
}

// Known tells which of format and frame are chosen.
func (v *Values) Known() save.Known {
	if v.flags == nil {
		return save.Known{}
	}
	return save.Known{Format: v.flags.Given("format"), Frame: v.flags.Given("frame")}
}

// Limits are the flags for limits.
type Limits struct {
	values     gdwire.Limits
	maxPacket  int64
	maxContent int64
	given      map[string]bool // names of the flags
}

// A limit is a flag for one of the limits.
type limit struct {
	name, limit, text string
	file              int64 // the minimum limit for a regular file, raised to the size of a larger file; or 0
	set               func(*Limits, int64)
}

// limits contains a flag for each limit except for the content of containers.
var limits = []limit{
	{"max-depth", "Depth", "containers around a value [1024]", 0, func(l *Limits, n int64) { l.values.Depth = int(min(n, math.MaxInt)) }},
	{"max-elements", "Elements", "elements, pairs or properties of a container [1 Mi]", 1 << 20, func(l *Limits, n int64) { l.values.Elements = n }},
	{"max-values", "Values", "values in a top-level value [16 Mi]", 1 << 24, func(l *Limits, n int64) { l.values.Values = n }},
	{"max-string", "StringBytes", "bytes of a string [16 MiB]", 16 << 20, func(l *Limits, n int64) { l.values.StringBytes = n }},
	{"max-name", "NameBytes", "bytes of the name of a class, property or signal [1 KiB]", 0, func(l *Limits, n int64) { l.values.NameBytes = n }},
	{"max-packed", "PackedBytes", "bytes of a packed array or image [256 MiB]", 256 << 20, func(l *Limits, n int64) { l.values.PackedBytes = n }},
	{"max-bytes", "Bytes", "bytes of a top-level value [no limit]", 0, func(l *Limits, n int64) { l.values.Bytes = n }},
	{"max-packet", "MaxPacket", "bytes of a packet, and of its value if it is compressed [8 MiB]", math.MaxUint32, func(l *Limits, n int64) { l.maxPacket = n }},
}

// contentLimit is the flag for the limit of the content of containers.
var contentLimit = limit{"max-content", "Size", "bytes of the content of a compressed or encrypted file [256 MiB]", 0, func(l *Limits, n int64) { l.maxContent = n }}

// LimitFlags defines the flags for limits of values and packets.
func (l *Limits) LimitFlags(f *shell.Flags) {
	for _, one := range limits {
		l.define(f, one)
	}
}

// ContentFlag defines the flag for the limit of the content of containers.
func (l *Limits) ContentFlag(f *shell.Flags) { l.define(f, contentLimit) }

func (l *Limits) define(f *shell.Flags, one limit) {
	f.Limit(one.name, one.text, func(n int64) {
		if l.given == nil {
			l.given = map[string]bool{}
		}
		l.given[one.name] = true
		one.set(l, n)
	})
}

// raised returns limits for a file. Limits not given by flags are at least the size of the file, and the size bounds
// memory. A truncated file contains less than its counts and lengths say.
func (l Limits) raised(size int64) Limits {
	for _, one := range limits {
		if one.file > 0 && !l.given[one.name] {
			one.set(&l, max(size, one.file))
		}
	}
	return l
}

// words replaces words in messages of packages with words of the command.
var words = strings.NewReplacer(
	"for JSON, see package gdjson", "gdwire encode makes values of JSON",
	": see packages savefile and stream", ": see -frame",
	"in the other byte order,", "in the other byte order (see -frame),",
	"a compressed file, see package savefile", "a compressed file",
	"an encrypted file, see package savefile", "an encrypted file",
	"Limits.Size to be disabled", "-max-content none", "a larger Limits.Size", "a larger -max-content")

// ErrorText returns the text of an error with a hint at the flag that helps.
func ErrorText(err error) string { return shell.Printable(words.Replace(err.Error())) + hint(err) }

func hint(err error) string {
	switch {
	case errors.Is(err, gdwire.ErrObject):
		return "; allow them with -objects"
	case errors.Is(err, gdwire.ErrUTF8):
		return "; accept it with -any-utf8"
	case errors.As(err, new(*save.LossError)):
		return "; -lossy writes that"
	}
	return limitHint(err)
}

// limitHint returns a hint at the flag for the limit in an error, or "".
func limitHint(err error) string {
	name := ""
	var limit *gdwire.LimitError
	var file *fileaccess.LimitError
	var packet *stream.PacketTooLongError
	switch {
	case errors.As(err, &limit):
		name = limit.Name
	case errors.As(err, &file):
		name = file.Name
	case errors.As(err, &packet) && wire.LengthHint(packet.Size, packet.Max) == "":
		name = "MaxPacket"
	}
	for _, l := range append(limits[:len(limits):len(limits)], contentLimit) {
		if l.limit == name {
			return "; raise it with -" + l.name
		}
	}
	return ""
}

// Flags are the flags and requirements of a command that opens files.
type Flags struct {
	Values
	Limits
	Keys shell.Keys
	Skip int64 // bytes

	Keep, Derive []int64 // offsets of numbers around the values

	raw        *fileaccess.Mode // the choice of -compressed, or nil
	packetSkip int64            // -skip of packets

	Writes   bool // the command writes values, so the input must not be damaged
	Packets  bool // packets compressed by a script are opened, to edit their values
	NonEmpty bool // the command returns an error for an input without values
	Held     bool // the command holds the content of a container in memory
	Filled   bool // bytes after the value of a packet are always an error
}

// Reading returns the Reading of a file of the given size, or of another input if size is negative.
func (o *Flags) Reading(size int64) save.Reading {
	limits := o.Limits
	if size >= 0 {
		limits = limits.raised(size)
	}
	r := save.Reading{Decoder: o.Decoder, Frame: o.Frame, MaxPacket: limits.maxPacket, MaxUnpacked: o.maxPacket, Skip: o.packetSkip}
	r.Decoder.Limits = limits.values
	return r
}

// FileFlags defines the flags about containers of files.
func (o *Flags) FileFlags(f *shell.Flags) {
	o.Keys.Flags(f)
	var modes []*fileaccess.Mode
	for i := range Modes {
		modes = append(modes, &Modes[i])
	}
	shell.Choose(f, "compressed", "the input is compressed by a script in `MODE` (needed only for fastlz that is not recognized: in a pipe, or around anything but values)", modes, &o.raw, (*fileaccess.Mode).String)
	o.ContentFlag(f)
}

// SkipFlag defines -skip.
func (o *Flags) SkipFlag(f *shell.Flags) {
	f.Size("skip", "skip `N` bytes, such as a saved game's own header, in the file or what it contains compressed or encrypted", func(n int64) { o.Skip = max(n, 0) })
}

// PacketSkipFlag defines -skip of packets.
func (o *Flags) PacketSkipFlag(f *shell.Flags) {
	f.Size("skip", "skip `N` bytes at the start of each packet, such as a type byte of the game's own", func(n int64) { o.packetSkip = max(n, 0) })
}

// WriteFlags defines the flags of a command writing new files.
func (o *Flags) WriteFlags(f *shell.Flags, objects bool) {
	o.ValueFlags(f, objects)
	o.FileFlags(f)
	f.QuietFlag()
	o.LimitFlags(f)
}

// EditFlags defines the flags of a command editing files.
func (o *Flags) EditFlags(f *shell.Flags) {
	o.WriteFlags(f, false)
	o.StrictFlag(f)
	o.HeaderFlags(f)
}

// HeaderFlags defines the flags about the bytes around values, of a command writing them again.
func (o *Flags) HeaderFlags(f *shell.Flags) {
	o.SkipFlag(f)
	f.Size("keep", "keep the number at offset `N` of the game's own header, which can be a size or something else", func(n int64) { o.Keep = append(o.Keep, n) })
	f.Size("derive", "write the number at offset `N` of the game's own header anew, as a size", func(n int64) { o.Derive = append(o.Derive, n) })
}

// ReadFlags defines the flags of a command reading files.
func (o *Flags) ReadFlags(f *shell.Flags, objects bool) {
	o.WriteFlags(f, objects)
	o.StrictFlag(f)
	o.SkipFlag(f)
}
