package fileaccess

import (
	"fmt"
	"math"
)

// Limits bounds the files accepted by a Reader. In each field, 0 selects the default and -1
// disables the limit. A number in the file is checked before anything is read or allocated for
// it. A file exceeding a limit is a [LimitError].
type Limits struct {
	// Size is the maximum size in bytes of the content of a compressed or
	// encrypted file. Default: 256 MiB.
	Size int64
	// BlockSize is the maximum size in bytes of a block of a compressed file before compression. After it, a block can
	// be longer by 1/32 and 64 bytes. Engines write blocks of 4096 bytes. Default: 1 MiB; at most 1 GiB, even if disabled.
	BlockSize int64
	// Blocks is the maximum number of blocks of a compressed file. Each block needs 4 bytes of
	// memory. Default: 1<<20, 4 GiB in blocks of 4096 bytes; at most 1<<28, even if disabled.
	Blocks int64
}

// A limit identifies a field of Limits.
type limit uint8

const (
	limitSize limit = iota
	limitBlockSize
	limitBlocks
	numLimits
)

// maxBuffered bounds the memory for blocks and their sizes if limits are disabled, so that
// lengths fit an int on all machines.
const maxBuffered = 1 << 30

// sizeBytes is the size of the compressed size of a block.
const sizeBytes = 4

// limitTable contains the names of the limits, the texts for a size or count in errors, the
// defaults, and the greatest values.
var limitTable = [numLimits]struct {
	name, text    string
	standard, max int64
}{
	limitSize:      {"Size", "content of %d bytes", 256 << 20, math.MaxInt64 - 1<<10},
	limitBlockSize: {"BlockSize", "block of %d bytes", 1 << 20, maxBuffered},
	limitBlocks:    {"Blocks", "file of %d blocks", 1 << 20, maxBuffered / sizeBytes},
}

// bounds stores the Limits with defaults in place of zeros.
type bounds [numLimits]int64

// bounds returns the Limits with defaults in place of zeros.
func (l Limits) bounds() (b bounds) {
	for i, v := range [...]int64{limitSize: l.Size, limitBlockSize: l.BlockSize, limitBlocks: l.Blocks} {
		switch {
		case v < 0:
			v = math.MaxInt64
		case v == 0:
			v = limitTable[i].standard
		}
		b[i] = min(v, limitTable[i].max)
	}
	return b
}

// check returns an Error at offset if got exceeds the limit.
func (b *bounds) check(l limit, got uint64, offset int64) error {
	if got <= uint64(b[l]) {
		return nil
	}
	return &Error{offset, &LimitError{Name: limitTable[l].name, Got: int64(min(got, math.MaxInt64)), Max: b[l]}}
}

// A LimitError reports a file exceeding one of the [Limits], or content too long for a
// compressed file, and wraps [ErrLimit].
type LimitError struct {
	Name string // name of the field of Limits
	Got  int64  // declared by the file
	Max  int64  // allowed by the limit
}

func (e *LimitError) Error() string {
	text := "%d"
	for _, l := range &limitTable {
		if l.name == e.Name {
			text = l.text
		}
	}
	return fmt.Sprintf(text+" exceeds limit %s (%d)", e.Got, e.Name, e.Max)
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }
