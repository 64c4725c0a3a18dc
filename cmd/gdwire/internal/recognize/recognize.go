// Package recognize finds out in which format and frame bytes of unknown origin
// are, by reading them in every way that is possible.
package recognize

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// A Frame says whether and how the length of a packet precedes it.
type Frame uint8

// The frames.
const (
	Bare  Frame = iota // nothing: one value, or values one after the other
	U32                // the length of the packet, little-endian
	U32BE              // the length of the packet, big-endian
)

// String returns the frame's name in flags: none, u32 or u32be.
func (f Frame) String() string { return [...]string{"none", "u32", "u32be"}[f] }

// A Reading is a way to read the input.
type Reading struct {
	Format *gdwire.Format
	Frame  Frame
}

// String returns the flags that choose the reading.
func (r Reading) String() string {
	return "-format " + r.Format.String() + " -frame " + r.Frame.String()
}

// An Input is the start of a file or stream to recognize.
type Input struct {
	Head []byte
	Size int64 // of the whole input, -1 if it is not known
	// At reads the input beyond Head, to follow the lengths of packets to its
	// end. It may be nil.
	At io.ReaderAt
	// Formats and Frames are the candidates if some are fixed. nil: all.
	Formats []*gdwire.Format
	Frames  []Frame
	// Decoder has the options to try with, but for format, limits, Strict and
	// AllowObjects.
	Decoder gdwire.DecoderOptions
}

const (
	// HeadSize is how much of an input is read to recognize it.
	HeadSize = 64 << 10
	// PipeSize is how much of a pipe is waited for, unless its first packet is
	// shorter.
	PipeSize = 4 << 10

	minSure   = 24       // bytes that leave no doubt
	maxCut    = 16 << 20 // declared length of a packet that was cut short
	minLeaves = 3        // values that were read of a packet that was cut short
)

// A Certainty says how much a Result can be relied on.
type Certainty uint8

// The certainties, the surest last.
const (
	Unknown   Certainty = iota // nothing fits
	Foreign                    // not a value at all: Result.Name says what it is
	Empty                      // no bytes
	Ambiguous                  // several readings with different values fit equally well
	Damaged                    // most of the input can be read
	CutShort                   // the input ends too early
	Probably                   // one reading fits best
	Sure                       // one reading fits
)

// A Result is the outcome of Recognize.
type Result struct {
	Certainty Certainty
	// Readings are the readings that fit, all equally well. If it is not
	// Ambiguous, all read the same values and the first is as good as any.
	Readings []Reading
	Name     string // of a Foreign input
}

// Recognize finds the readings that fit the input best.
func Recognize(in *Input) Result {
	if r := in.bySignature(); r.Certainty != Unknown {
		return r
	}
	for _, rule := range rules {
		fits := in.try(rule)
		if len(fits) == 0 {
			continue
		}
		if rule.formats[0] == gdwire.Godot2 {
			fits = in.orNew(fits)
		}
		r := Result{Certainty: rule.certainty}
		for _, t := range fits {
			r.Readings = append(r.Readings, t.Reading)
			if t.values != fits[0].values {
				r.Certainty = Ambiguous
			}
		}
		if r.Certainty == Sure && in.known() < minSure {
			r.Certainty = Probably
		}
		return r
	}
	return in.damaged()
}

// known returns how long the input is at least.
func (in *Input) known() int64 { return max(in.Size, int64(len(in.Head))) }

// whole reports whether Head is all of the input.
func (in *Input) whole() bool { return in.Size == int64(len(in.Head)) }

// signatures start files of other kinds.
var signatures = []struct{ start, name string }{
	{"RSRC", "a resource of Godot (.res, .scn)"}, {"RSCC", "a compressed resource of Godot (.res, .scn)"},
	{"GDPC", "a package of Godot (.pck)"}, {"ECFG", "project settings of Godot (project.binary)"},
	{"GDSC", "a compiled script of Godot (.gdc)"}, {"GST2", "a texture of Godot (.ctex)"}, {"GDST", "a texture of Godot (.stex)"},
	{"\x89PNG", "a PNG image"}, {"\xff\xd8\xff", "a JPEG image"}, {"RIFF", "a RIFF file (WebP, WAV)"}, {"OggS", "an Ogg file"},
	{"\x1f\x8b", "gzip data"}, {"\x28\xb5\x2f\xfd", "Zstandard data"}, {"PK\x03\x04", "a ZIP archive"}, {"7z\xbc\xaf", "a 7-Zip archive"},
	{"\x7fELF", "an ELF program"}, {"SQLite format 3\x00", "an SQLite database"}, {"%PDF", "a PDF document"},
}

// bySignature recognizes files of other kinds.
func (in *Input) bySignature() Result {
	if len(in.Head) == 0 && in.Size <= 0 {
		return Result{Certainty: Empty}
	}
	for _, s := range signatures {
		if bytes.HasPrefix(in.Head, []byte(s.start)) {
			return Result{Certainty: Foreign, Name: s.name}
		}
	}
	switch {
	case isText(in.Head):
		start := bytes.TrimLeft(bytes.TrimPrefix(in.Head, []byte("\ufeff")), " \t\r\n")
		if len(start) > 0 && bytes.IndexByte([]byte(`{["`), start[0]) >= 0 {
			return Result{Certainty: Foreign, Name: "text, perhaps JSON for gdwire encode"}
		}
		return Result{Certainty: Foreign, Name: "text"}
	case isUTF16(in.Head):
		return Result{Certainty: Foreign, Name: "text in UTF-16, perhaps JSON for gdwire encode"}
	case len(in.Head) > 4 && len(bytes.Trim(in.Head, "\x00")) == 0:
		return Result{Certainty: Foreign, Name: "nothing but zeros"}
	}
	return Result{}
}

// isText reports whether b is text: no value is, since lengths and headers
// contain NULs.
func isText(b []byte) bool {
	if len(b) < 4 || bytes.IndexByte(b, 0) >= 0 {
		return false
	}
	const mayBeCut = utf8.UTFMax - 1
	for cut := range mayBeCut + 1 {
		if utf8.Valid(b[:len(b)-min(cut, len(b))]) {
			return true
		}
	}
	return false
}

// isUTF16 reports whether b starts with a byte order mark of UTF-16 and goes on
// with a character of ASCII.
func isUTF16(b []byte) bool {
	return len(b) >= 4 && (b[0] == 0xff && b[1] == 0xfe && b[3] == 0 && b[2] != 0 || b[0] == 0xfe && b[1] == 0xff && b[2] == 0 && b[3] != 0)
}

// A rule accepts readings in which the input makes sense in some way.
type rule struct {
	certainty Certainty
	formats   []*gdwire.Format
	strict    bool
	several   bool // values one after the other instead of one value
	accept    func(*trial) bool
}

var (
	newFormats = []*gdwire.Format{gdwire.Godot4, gdwire.Godot3}
	oldFormats = []*gdwire.Format{gdwire.Godot2}
	allFormats = []*gdwire.Format{gdwire.Godot4, gdwire.Godot3, gdwire.Godot2}
)

// rules, the surest first.
var rules = []rule{
	{certainty: Sure, formats: newFormats, strict: true, accept: func(t *trial) bool { return t.whole && !t.implausible }},
	{certainty: Probably, formats: newFormats, strict: true, accept: func(t *trial) bool { return t.whole }},
	{certainty: Probably, formats: oldFormats, strict: true, accept: func(t *trial) bool { return t.whole }},
	{certainty: Probably, formats: allFormats, strict: true, several: true, accept: func(t *trial) bool { return t.whole && !t.implausible }},
	{certainty: Probably, formats: allFormats, accept: func(t *trial) bool { return t.lenient() && t.trailing == 0 }},
	{certainty: Probably, formats: allFormats, accept: func(t *trial) bool { return t.lenient() && (t.Frame != Bare || t.zerosFollow()) }},
	{certainty: CutShort, formats: newFormats, strict: true, accept: func(t *trial) bool { return t.cutShort() && !t.implausible }},
	{certainty: CutShort, formats: newFormats, strict: true, accept: (*trial).cutShort},
	{certainty: CutShort, formats: oldFormats, strict: true, accept: (*trial).cutShort},
}

// lenient reports whether a lenient reading makes sense.
func (t *trial) lenient() bool {
	return t.whole && t.plainHeader && (t.Frame != Bare || !t.implausible)
}

// zerosFollow reports whether nothing but zeros follows the value, as in a
// buffer that was larger.
func (t *trial) zerosFollow() bool {
	return t.leaves > 0 && len(bytes.Trim(t.input.Head[t.used:], "\x00")) == 0
}

// candidates returns the formats and frames that a rule may try.
func (in *Input) candidates(r rule) (formats []*gdwire.Format, frames []Frame) {
	formats, frames = r.formats, []Frame{U32, U32BE, Bare}
	if in.Formats != nil {
		formats = in.Formats
	}
	if in.Frames != nil {
		frames = in.Frames
	}
	if r.several {
		if in.Frames != nil && in.Frames[0] != Bare {
			return nil, nil
		}
		frames = []Frame{Bare}
	}
	return formats, frames
}

// try returns the trials that a rule accepts, which are framed or bare: framed
// beats bare.
func (in *Input) try(r rule) (fits []*trial) {
	formats, frames := in.candidates(r)
	for _, frame := range frames {
		if frame == Bare && len(fits) > 0 {
			break
		}
		for _, format := range formats {
			if t := in.read(Reading{format, frame}, r.strict, r.several); r.accept(t) {
				fits = append(fits, t)
			}
		}
	}
	if r.certainty == CutShort {
		return furthest(fits)
	}
	if in.Size < 0 { // a length in the other byte order is huge
		fits = least(fits, func(t *trial) int64 { return t.declared })
	}
	return least(fits, func(t *trial) int64 { return int64(t.trailing) })
}

// least returns the trials with the least of something.
func least(fits []*trial, of func(*trial) int64) []*trial {
	best := int64(math.MaxInt64)
	for _, t := range fits {
		best = min(best, of(t))
	}
	return slices.DeleteFunc(fits, func(t *trial) bool { return of(t) > best })
}

// furthest returns the trials that read more values than the others.
func furthest(fits []*trial) []*trial {
	most := 0
	for _, t := range fits {
		most = max(most, t.leaves)
	}
	return slices.DeleteFunc(fits, func(t *trial) bool { return t.leaves < most-minLeaves })
}

// orNew adds readings in newer formats with the same values: Godot 2 takes any
// padding, and damaged padding is likelier than Godot 2.
func (in *Input) orNew(fits []*trial) (all []*trial) {
	for _, old := range fits {
		for _, format := range newFormats {
			t := in.read(Reading{format, old.Frame}, false, false)
			if t.lenient() && t.values == old.values && in.Formats == nil {
				all = append(all, t)
			}
		}
	}
	return append(all, fits...)
}

// damaged returns the reading that gets clearly further than all others: in most
// good packets or, for one packet, in bytes.
func (in *Input) damaged() Result {
	var best *trial
	second := 0 // bytes
	formats, frames := in.candidates(rule{formats: allFormats})
	for _, frame := range frames {
		for _, format := range formats {
			t := in.read(Reading{format, frame}, false, false)
			if !t.plainHeader {
				continue
			}
			if best != nil && !t.further(best) {
				best, t = t, best
			}
			if best != nil && best.values != t.values {
				second = max(second, best.used)
			}
			best = t
		}
	}
	if best == nil || best.leaves < minLeaves || best.good == 0 && best.used < 2*second {
		return Result{}
	}
	return Result{Certainty: Damaged, Readings: []Reading{best.Reading}}
}

// further reports whether a reading got further than another. The length of a
// packet that was damaged is likelier to be near the truth the smaller it is.
func (t *trial) further(other *trial) bool {
	return cmp.Or(cmp.Compare(t.good, other.good), cmp.Compare(t.used, other.used), cmp.Compare(other.declared, t.declared)) > 0
}
