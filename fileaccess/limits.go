package fileaccess

import (
	"fmt"
	"math"
)

// Limits bound the files that a Reader accepts. In each field 0 means the default and -1 no
// limit. Each is checked before anything is read or allocated for the number that
// the file declares. A file that exceeds one is a [LimitError].
type Limits struct {
	// Size is how many bytes a compressed or encrypted file may hold after
	// decoding. Default: 256 MiB.
	Size int64
	// BlockSize is how many bytes one block of a compressed file may take,
	// compressed or not. Engines write blocks of 4096 bytes. Default: 1 MiB. It
	// is never more than 1 GiB.
	BlockSize int64
	// Blocks is how many blocks a compressed file may have. Four bytes are kept
	// for each. Default: 1<<20, which is 4 GiB in blocks of 4096 bytes. It is
	// never more than 1<<28.
	Blocks int64
}

// A limit is a field of Limits.
type limit uint8

const (
	limitSize limit = iota
	limitBlockSize
	limitBlocks
	numLimits
)

// maxBuffered bounds memory for blocks and their sizes where no limit does, so
// that lengths are an int everywhere.
const maxBuffered = 1 << 30

var limitTable = [numLimits]struct {
	name, text    string
	standard, max int64
}{
	limitSize:      {"Size", "content of %d bytes", 256 << 20, math.MaxInt64 - 1<<10},
	limitBlockSize: {"BlockSize", "block of %d bytes", 1 << 20, maxBuffered},
	limitBlocks:    {"Blocks", "file of %d blocks", 1 << 20, maxBuffered / sizeBytes},
}

// bounds are Limits with the defaults filled in.
type bounds [numLimits]int64

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

// A LimitError reports a file that exceeds one of the [Limits], or content that
// is too long for a compressed file. It is [ErrLimit].
type LimitError struct {
	Name string // the field of Limits
	Got  int64  // declared by the file
	Max  int64  // allowed by the limit
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

// Is reports whether target is ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }
