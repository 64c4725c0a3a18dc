package gdwire

import (
	"fmt"
	"math"
)

// Limits bound what a Decoder believes. In each field zero stands for the
// default and -1 for no limit. A limit is asked before the bytes it is about are
// read or counted on; going beyond it is a [LimitError].
type Limits struct {
	// Depth is how many arrays, dictionaries and objects may stand around a
	// value. Default: 1024, as in the engines.
	Depth int
	// Elements is how many elements, pairs, properties, names or strings one
	// array, dictionary, object, NodePath or PackedStringArray may announce.
	// Default: 1<<20.
	Elements int64
	// Values is how many of these one top-level value may announce in all,
	// itself included; a pair or a property counts as two. Default: 1<<24.
	Values int64
	// StringBytes is how long one string may be. Default: 16 MiB.
	StringBytes int64
	// NameBytes is how long the name of a class, property or signal, a script's
	// path or the data of an InputEvent may be: tokens hold these whole.
	// Default: 1 KiB. It is never more than 1 GiB.
	NameBytes int64
	// PackedBytes is how many bytes the elements of one packed array of numbers,
	// vectors or colours, or the data of an image may take. Default: 256 MiB.
	PackedBytes int64
	// Bytes is how many bytes one top-level value may take. Default: no limit.
	Bytes int64
}

// A limit is a field of Limits.
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

// maxName bounds a name where no limit does, so that its length is an int
// everywhere.
const maxName = 1 << 30

const defaultBuffered = 8 << 20

var limitTable = [numLimits]struct {
	name, text string
	standard   int64
}{
	limitDepth:    {"Depth", "value inside %d containers", 1024},
	limitElements: {"Elements", "container of %d elements", 1 << 20},
	limitValues:   {"Values", "container that makes it %d values", 1 << 24},
	limitString:   {"StringBytes", "string of %d bytes", 16 << 20},
	limitName:     {"NameBytes", "name of %d bytes", 1 << 10},
	limitPacked:   {"PackedBytes", "packed data of %d bytes", 256 << 20},
	limitBytes:    {"Bytes", "value of at least %d bytes", math.MaxInt64},
	limitBuffered: {"Buffered", "container of unknown size with %d bytes so far", defaultBuffered},
}

// bounds are Limits with every default put in.
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

// or returns v, or what zero and negative numbers stand for.
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

// check returns a LimitError if got is beyond the limit.
func (b *bounds) check(l limit, got uint64) error {
	if got <= uint64(b[l]) {
		return nil
	}
	return &LimitError{Name: limitTable[l].name, Got: int64(min(got, math.MaxInt64)), Max: b[l]}
}

// A LimitError says that input goes beyond one of the [Limits], or that a
// container of Unknown count goes beyond [EncoderOptions].Buffered. It is
// [ErrLimit].
type LimitError struct {
	Name string // the limit's field
	Got  int64  // what the input wants
	Max  int64  // what the limit allows
}

func (e *LimitError) Error() string {
	text := "%d"
	for _, l := range limitTable {
		if l.name == e.Name {
			text = l.text
		}
	}
	return fmt.Sprintf(text+" exceeds limit %s (%d)", e.Got, e.Name, e.Max)
}

// Is makes a LimitError an ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }
