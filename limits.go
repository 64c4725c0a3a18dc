package gdwire

import (
	"fmt"
	"math"
)

// Limits bounds the input that a Decoder accepts. In each field, zero selects the
// default and -1 disables the limit. A declared count or length is checked before the
// declared bytes are read. Input exceeding a limit is a [LimitError].
type Limits struct {
	// Depth is the maximum number of arrays, dictionaries and objects around a
	// value. Default: 1024, as in the engines.
	Depth int
	// Elements is the maximum count of elements, pairs, properties, names or
	// strings in one array, dictionary, object, NodePath or PackedStringArray.
	// Default: 1<<20.
	Elements int64
	// Values is the maximum sum of these counts in one top-level value, plus one
	// for the value itself. A pair or property counts as two. Default: 1<<24.
	Values int64
	// StringBytes is the maximum length of a string in bytes. Default: 16 MiB.
	StringBytes int64
	// NameBytes is the maximum length in bytes of the name of a class, property
	// or signal, of a script's path, and of the data of an InputEvent: tokens
	// hold them whole. Default: 1 KiB. The limit is at most 1 GiB, even if
	// disabled.
	NameBytes int64
	// PackedBytes is the maximum size in bytes of the elements of a packed array
	// of numbers, vectors or colors, and of the data of an image. Default:
	// 256 MiB.
	PackedBytes int64
	// Bytes is the maximum size in bytes of one top-level value. Default: no
	// limit.
	Bytes int64
}

// NoLimits disables every limit, for values checked before or from a trusted source.
var NoLimits = Limits{Depth: -1, Elements: -1, Values: -1, StringBytes: -1, NameBytes: -1, PackedBytes: -1, Bytes: -1}

// A limit identifies a field of Limits, or EncoderOptions.MaxBuffered. The slow path checks each in
// the order of the fields of a token, so that the error does not depend on how much of the token
// was received; the fast path checks all at once and leaves larger tokens and the errors to the
// slow path.
type limit uint8

const (
	limitDepth limit = iota
	limitElements
	limitValues
	limitString
	limitName
	limitPacked
	limitBytes
	limitBuffered
	numLimits
)

// maxName is the maximum of Limits.NameBytes, so that the length of a name fits an
// int on all machines.
const maxName = 1 << 30

const defaultBuffered = 8 << 20

// limitTable contains the names of the limits, the words of errors for a count or size, and the
// defaults.
var limitTable = [numLimits]struct {
	name, text string
	standard   int64
}{
	limitDepth:    {"Depth", "value inside %d containers", 1024},
	limitElements: {"Elements", "container of %d elements", 1 << 20},
	limitValues:   {"Values", "container that adds up to %d values", 1 << 24},
	limitString:   {"StringBytes", "string of %d bytes", 16 << 20},
	limitName:     {"NameBytes", "name of %d bytes", 1 << 10},
	limitPacked:   {"PackedBytes", "packed data of %d bytes", 256 << 20},
	limitBytes:    {"Bytes", "value of at least %d bytes", math.MaxInt64},
	limitBuffered: {"MaxBuffered", "container of unknown size with %d bytes so far", defaultBuffered},
}

// bounds holds the limits of a Decoder, with defaults in place of zeros and math.MaxInt64 for
// disabled limits, so that each check is one comparison.
type bounds [numLimits]int64

func (l Limits) bounds() (b bounds) {
	for i, v := range [...]int64{
		limitDepth: int64(l.Depth), limitElements: l.Elements, limitValues: l.Values, limitString: l.StringBytes,
		limitName: l.NameBytes, limitPacked: l.PackedBytes, limitBytes: l.Bytes,
	} {
		b[i] = limit(i).or(v)
	}
	b[limitName] = min(b[limitName], maxName)
	return b
}

// or returns v, the default if v is 0, or the greatest int64 if v is negative.
func (l limit) or(v int64) int64 {
	switch {
	case v < 0:
		return math.MaxInt64
	case v == 0:
		return limitTable[l].standard
	default:
		return v
	}
}

// check returns a LimitError if got exceeds the limit.
func (b *bounds) check(l limit, got uint64) error {
	if got <= uint64(b[l]) {
		return nil
	}
	return &LimitError{Name: limitTable[l].name, Got: int64(min(got, math.MaxInt64)), Max: b[l]}
}

// A LimitError reports input exceeding one of the [Limits], or a container of
// Unknown count exceeding [EncoderOptions].MaxBuffered. It wraps [ErrLimit].
type LimitError struct {
	Name string // name of the field of Limits or EncoderOptions
	Got  int64  // the declared count or size, or the part seen so far
	Max  int64  // the limit
}

func (e *LimitError) Error() string {
	text := "%d" // for limits of other packages, such as MaxMemory of variant
	for _, l := range &limitTable {
		if l.name == e.Name {
			text = l.text
		}
	}
	return fmt.Sprintf(text+" exceeds limit %s (%d)", e.Got, e.Name, e.Max)
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }

// DecoderOptions configures a Decoder. The zero value selects [Godot4] with the default
// [Limits], as lenient as the engines.
type DecoderOptions struct {
	// Format is the format of the input. 0 selects Godot4.
	Format Format
	// Limits bounds the input.
	Limits Limits
	// MaxChunk is the maximum number of bytes of text or elements in one token.
	// A string of up to MaxChunk bytes is one chunk, and the boundaries of
	// chunks depend only on MaxChunk. 0 selects DefaultMaxChunk. The minimum is
	// 16 and the maximum 1 GiB; other values are adjusted.
	MaxChunk int
	// AllowObjects permits serialized objects. They name classes and scripts for
	// an engine to create, so forward them only from trusted senders.
	AllowObjects bool
	// Strict refuses input that engines accept but never write, as listed in
	// the package documentation.
	Strict bool
	// AllowInvalidUTF8 accepts invalid UTF-8 in text.
	AllowInvalidUTF8 bool
	// DoubleReals selects 64 bits for the components of math types and of packed
	// vectors and colors in the formats of manuals. The header of a value in
	// Godot4 contains the width.
	DoubleReals bool
	// OneValue makes the Decoder return io.EOF after the first value, as engines
	// do for a packet.
	OneValue bool

	wholePadding bool // missing padding is an error
}

// EncoderOptions configures an Encoder. The zero value selects [Godot4].
type EncoderOptions struct {
	// Format is the format of the output. 0 selects Godot4.
	Format Format
	// Depth is the maximum number of arrays, dictionaries and objects around a
	// value. 0 selects 1024, the limit of the engines; -1 disables the limit.
	Depth int
	// MaxBuffered is the maximum size in bytes of a container of [Unknown] count,
	// kept in memory by the Encoder until its End. 0 selects 8 MiB; -1 disables the
	// limit.
	MaxBuffered int64
	// AllowInvalidUTF8 writes text without checking for UTF-8 and NULs. Engines end a text at a
	// NUL, or show U+FFFD in its place. CopyValue and WriteRaw keep a NUL.
	AllowInvalidUTF8 bool
	// DoubleReals makes WriteComponents and BeginPacked write components of 64 bits, as
	// engines with double precision do, but not in Godot2 and Godot3.
	DoubleReals bool
}
