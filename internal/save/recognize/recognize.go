// Package recognize finds the format and frame of bytes of unknown origin, by reading them
// in all formats and frames.
package recognize

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// A Frame is the form of the length that precedes each packet, if any.
type Frame uint8

// The frames.
const (
	Bare  Frame = iota // no lengths: one value, or several that follow each other
	U32                // 32 bits, little-endian
	U32BE              // 32 bits, big-endian
)

// String returns the name of the frame: none, u32 or u32be.
func (f Frame) String() string { return [...]string{"none", "u32", "u32be"}[f] }

// Order returns the byte order of the lengths, or nil if there are none.
func (f Frame) Order() binary.ByteOrder {
	return [...]binary.ByteOrder{nil, binary.LittleEndian, binary.BigEndian}[f]
}

// A Reading is a format and a frame in which the input can be read.
type Reading struct {
	Format gdwire.Format
	Frame  Frame
}

// String returns the flags that choose the reading.
func (r Reading) String() string {
	return "-format " + r.Format.String() + " -frame " + r.Frame.String()
}

// An Input is the start of a file or stream to recognize.
type Input struct {
	Head []byte
	Size int64 // of the whole input, or -1 if it is not known
	// At, if not nil, reads the input beyond Head, to follow the lengths of packets
	// to its end.
	At io.ReaderAt
	// Formats and Frames are the candidates. nil means all.
	Formats []gdwire.Format
	Frames  []Frame
	// Decoder contains the options of the trials. Format, limits, Strict and
	// AllowObjects are ignored.
	Decoder gdwire.DecoderOptions
}

const (
	// HeadSize is the number of bytes that are read to recognize an input.
	HeadSize = 64 << 10
	// PipeSize is the same for a pipe, unless its first packet is shorter.
	PipeSize = 4 << 10

	minSure   = 24 // bytes that are enough for Sure
	minLeaves = 3  // minimum number of values in a truncated packet
	nearTie   = 16 // a damaged input is not taken for one that is so many times longer
)

// A Certainty tells how reliable a Result is.
type Certainty uint8

// The certainties, in ascending order.
const (
	Unknown   Certainty = iota // nothing fits
	Foreign                    // another kind of file, named by Result.Name
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
	// Readings contains the readings that fit best, all equally well. Unless the
	// Certainty is Ambiguous, all of them read the same values.
	Readings []Reading
	Name     string // of a Foreign input
}

// Recognize returns the readings that fit the input best.
func Recognize(in *Input) Result {
	if r := in.bySignature(); r.Certainty != Unknown {
		return r
	}
	s := newSearch(in)
	if r := s.apply(sureRules); r.Certainty != Unknown {
		return r
	}
	// Lengths that add up to the size of the input are hardly an accident. If no
	// format fits, the input is then damaged, and not something else.
	for _, frame := range s.frames() {
		if frame != Bare && s.addUp(frame) {
			only := &search{Input: in, trials: s.trials, ends: s.ends, frame: &frame}
			if r := only.guess(); r.Certainty != Unknown {
				return r
			}
		}
	}
	return s.guess()
}

// HeaderSize returns the number of bytes that a game has written before values, as far as these are
// recognized after them, or 0.
func HeaderSize(in *Input) int {
	for n := 1; n <= maxHeader && n+minSure <= len(in.Head); n++ {
		after := *in
		after.Head = in.Head[n:]
		if after.Size >= 0 {
			after.Size -= int64(n)
		}
		if in.At != nil {
			after.At = io.NewSectionReader(in.At, int64(n), after.Size)
		}
		if newSearch(&after).apply(sureRules).Certainty == Sure {
			return n
		}
	}
	return 0
}

// maxHeader is the maximum size in bytes of a header that HeaderSize finds.
const maxHeader = 256

// A search looks for the readings of an input.
type search struct {
	*Input
	trials map[attempt]*trial
	ends   map[Frame]int64 // the offset at which the lengths end, from those after the head on
	frame  *Frame          // the only candidate with lengths that add up to the size of the input, or nil
}

func newSearch(in *Input) *search {
	return &search{Input: in, trials: map[attempt]*trial{}, ends: map[Frame]int64{}}
}

// An attempt is a way to read an input.
type attempt struct {
	Reading
	strict, several bool
}

// guess returns the readings that fit if none is sure.
func (s *search) guess() Result {
	if r := s.apply(unsureRules); r.Certainty != Unknown {
		return r
	}
	return s.damaged()
}

// apply returns the readings of the first rule that accepts any.
func (s *search) apply(rules []rule) Result {
	for _, rule := range rules {
		fits := s.try(rule)
		if len(fits) == 0 {
			continue
		}
		if rule.formats[0] == gdwire.Godot2 {
			fits = s.withNewerFormats(fits)
		}
		r := Result{Certainty: rule.certainty}
		for _, t := range fits {
			r.Readings = append(r.Readings, t.Reading)
			if t.values != fits[0].values || t.cut && t.Frame != fits[0].Frame {
				r.Certainty = Ambiguous
			}
		}
		if r.Certainty == Sure && s.known() < minSure {
			r.Certainty = Probably
		}
		return r
	}
	return Result{}
}

// known returns the minimum size of the input.
func (in *Input) known() int64 { return max(in.Size, int64(len(in.Head))) }

// whole reports whether Head is all of the input.
func (in *Input) whole() bool { return in.Size == int64(len(in.Head)) }

// signatures contains the first bytes of other kinds of files.
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
		if isJSON(in.Head) {
			return Result{Certainty: Foreign, Name: "text, perhaps JSON"}
		}
		return Result{Certainty: Foreign, Name: "text"}
	case isUTF16(in.Head):
		return Result{Certainty: Foreign, Name: "text in UTF-16, perhaps JSON"}
	case len(in.Head) > 4 && len(bytes.Trim(in.Head, "\x00")) == 0:
		return Result{Certainty: Foreign, Name: "nothing but zeros"}
	}
	return Result{}
}

// isText reports whether b is text. Encoded values are not, because lengths and headers contain
// NULs.
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

// isJSON reports whether a text begins as JSON does, and not as a scene or configuration: [gd_scene format=3].
func isJSON(b []byte) bool {
	start := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\ufeff")), " \t\r\n")
	switch {
	case bytes.HasPrefix(start, []byte("{")), bytes.HasPrefix(start, []byte(`"`)):
		return true
	case !bytes.HasPrefix(start, []byte("[")):
		return false
	}
	start = bytes.TrimLeft(start[1:], " \t\r\n")
	name := bytes.TrimLeft(start, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	switch string(start[:len(start)-len(name)]) {
	case "", "true", "false", "null", "nan", "inf", "NaN", "Infinity":
		return true
	}
	return false
}

// isUTF16 reports whether b starts with a byte order mark of UTF-16 and an ASCII character.
func isUTF16(b []byte) bool {
	return len(b) >= 4 && (b[0] == 0xff && b[1] == 0xfe && b[3] == 0 && b[2] != 0 || b[0] == 0xfe && b[1] == 0xff && b[2] == 0 && b[3] != 0)
}

// A rule accepts readings by a criterion.
type rule struct {
	certainty Certainty
	formats   []gdwire.Format
	strict    bool
	several   bool // several values instead of one
	accept    func(*trial) bool
}

var (
	newFormats = []gdwire.Format{gdwire.Godot4, gdwire.Godot3}
	oldFormats = []gdwire.Format{gdwire.Godot2}
	allFormats = []gdwire.Format{gdwire.Godot4, gdwire.Godot3, gdwire.Godot2}
)

// sureRules accept canonical values that are all of the input.
var sureRules = []rule{
	{certainty: Sure, formats: newFormats, strict: true, accept: func(t *trial) bool { return t.canBeSure() && !t.implausible }},
	{certainty: Sure, formats: newFormats, strict: true, accept: (*trial).canBeSure},
}

// canBeSure reports whether a reading can be the only one. Any bytes can be read as a math type, but then some
// components are often denormal; in a container or after lengths a game has computed them.
func (t *trial) canBeSure() bool {
	return t.whole && !t.nullKeys && !(t.denormal && t.headers == 1 && t.Frame == Bare)
}

// unsureRules contains the other rules in descending order of certainty.
var unsureRules = []rule{
	{certainty: Probably, formats: oldFormats, strict: true, accept: func(t *trial) bool { return t.whole }},
	{certainty: Probably, formats: allFormats, strict: true, several: true, accept: func(t *trial) bool {
		return t.whole && !t.implausible && !t.nullKeys && !t.nullsFollow()
	}},
	{certainty: Probably, formats: allFormats, accept: func(t *trial) bool { return t.lenient() && t.trailing == 0 }},
	{certainty: Damaged, formats: allFormats, accept: func(t *trial) bool { return t.lenient() && t.Frame == Bare && t.zerosFollow() }},
	{certainty: CutShort, formats: newFormats, strict: true, accept: func(t *trial) bool { return t.cutShort() && !t.implausible }},
	{certainty: CutShort, formats: newFormats, strict: true, accept: (*trial).cutShort},
	{certainty: CutShort, formats: oldFormats, strict: true, accept: (*trial).cutShort},
	{certainty: Probably, formats: newFormats, strict: true, accept: func(t *trial) bool { return t.whole && !t.nullKeys }},
	{certainty: Damaged, formats: newFormats, strict: true, accept: func(t *trial) bool { return t.whole }},
}

// lenient reports whether a lenient reading is plausible.
func (t *trial) lenient() bool {
	return t.whole && t.plainHeader && !t.nullKeys && (t.Frame != Bare || !t.implausible)
}

// zerosFollow reports whether only zeros follow the value, as after a power failure.
func (t *trial) zerosFollow() bool {
	return t.leaves > 0 && len(bytes.Trim(t.search.Head[t.used:], "\x00")) == 0
}

// frames returns the candidates, first the frames with lengths.
func (s *search) frames() []Frame {
	switch {
	case s.frame != nil:
		return []Frame{*s.frame}
	case s.Frames != nil:
		return s.Frames
	}
	return []Frame{U32, U32BE, Bare}
}

// formats returns the candidates among the formats of a rule.
func (s *search) formats(all []gdwire.Format) []gdwire.Format {
	if s.Formats != nil {
		return s.Formats
	}
	return all
}

// try returns the trials that a rule accepts, with lengths if there are any, and otherwise
// without.
func (s *search) try(r rule) (fits []*trial) {
	for _, frame := range s.frames() {
		if frame == Bare && len(fits) > 0 && r.certainty != CutShort {
			break
		}
		if frame != Bare && r.several {
			continue
		}
		for _, format := range s.formats(r.formats) {
			if t := s.read(attempt{Reading{format, frame}, r.strict, r.several}); r.accept(t) {
				fits = append(fits, t)
			}
		}
	}
	switch r.certainty {
	case CutShort:
		return nearest(furthest(fits))
	case Sure:
		fits = mostValues(fits)
	}
	if len(fits) > 0 && fits[0].Frame == Bare && !s.whole() { // which can end anywhere after the head
		fits = append(fits, s.cutLike(fits[0])...)
	}
	if s.Size < 0 { // lengths in the wrong byte order are huge
		fits = least(fits, func(t *trial) int64 { return t.end })
	}
	return least(fits, func(t *trial) int64 { return int64(t.trailing) })
}

// cutLike returns the trials with lengths that read, up to the end of the input, half as many values as t or more.
func (s *search) cutLike(t *trial) (all []*trial) {
	for _, frame := range s.frames() {
		for _, format := range s.formats(newFormats) {
			other := s.read(attempt{Reading: Reading{format, frame}, strict: true})
			if frame != Bare && other.cutShort() && 2*other.leaves > t.leaves {
				all = append(all, other)
			}
		}
	}
	return all
}

// least returns the trials with the least value of a function.
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

// nearest returns the trial that declares the smallest size of the input, and the trials whose size is less than
// nearTie times as large. A length in the wrong byte order is often huge, but can also be small.
func nearest(fits []*trial) []*trial {
	least := int64(math.MaxInt64 / nearTie)
	for _, t := range fits {
		least = min(least, t.end)
	}
	return slices.DeleteFunc(fits, func(t *trial) bool { return t.end/nearTie >= least })
}

// mostValues removes the trials that read less than half as many values as another. Any 48 bytes
// are a Transform3D, but few are a Dictionary of Godot 3.
func mostValues(fits []*trial) []*trial {
	most := 0
	for _, t := range fits {
		most = max(most, t.headers)
	}
	return slices.DeleteFunc(fits, func(t *trial) bool { return 2*t.headers < most })
}

// withNewerFormats returns fits and, before them, readings in newer formats with the same values.
// Godot 2 accepts any padding, and damaged padding is more likely than Godot 2.
func (s *search) withNewerFormats(fits []*trial) (all []*trial) {
	for _, old := range fits {
		for _, format := range newFormats {
			t := s.read(attempt{Reading: Reading{format, old.Frame}})
			if t.lenient() && t.values == old.values && s.Formats == nil {
				all = append(all, t)
			}
		}
	}
	return append(all, fits...)
}

// damaged returns the reading that reads most of the input: valid packets or, in a single
// packet, bytes. Unless lengths add up to the input, it must read clearly more than all
// others.
func (s *search) damaged() Result {
	var all []*trial
	for _, frame := range s.frames() {
		for _, format := range s.formats(allFormats) {
			if t := s.read(attempt{Reading: Reading{format, frame}}); t.plainHeader || s.frame != nil {
				all = append(all, t)
			}
		}
	}
	if len(all) == 0 {
		return Result{}
	}
	best := slices.MaxFunc(all, byRead)
	second := 0 // bytes that are read as other values
	for _, t := range all {
		if t.values != best.values {
			second = max(second, t.used)
		}
	}
	switch {
	case s.frame != nil && best.headers >= minLeaves:
	case best.leaves < minLeaves || best.good == 0 && best.used < 2*second:
		return Result{}
	}
	r := Result{Certainty: Damaged}
	for _, t := range nearest(slices.DeleteFunc(all, func(t *trial) bool {
		return t.Format != best.Format || t.values != best.values || byRead(t, best) < 0
	})) {
		r.Readings = append(r.Readings, t.Reading)
	}
	if len(r.Readings) > 1 {
		r.Certainty = Ambiguous
	}
	return r
}

// byRead compares how much two trials read.
func byRead(a, b *trial) int { return cmp.Or(cmp.Compare(a.good, b.good), cmp.Compare(a.used, b.used)) }
