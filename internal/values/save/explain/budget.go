package explain

import (
	"fmt"
	"math"
)

// A bound is a kind of work.
type bound uint8

const (
	reading   bound = iota // bytes read as values
	unpacking              // bytes of streams, compressed or in base64
	listing                // bodies
	hashing                // bytes hashed, for each row of bodies
	bounds
)

// work is what a search may do at most: for all inputs, and for each byte.
var work = [bounds]struct {
	done           string
	fixed, perByte int
}{
	reading:   {"bytes were read as values", 1 << 20, 6},
	unpacking: {"bytes were decompressed", 4 << 20, 32},
	listing:   {"values were found", 1 << 21, 0},
	hashing:   {"bytes were hashed", 4 << 20, 24},
}

// A budget is the work left, which streams in streams share.
type budget struct {
	size  int // of the input
	left  [bounds]int
	ended *BoundError
}

// newBudget returns the budget for a number of bytes. With 32 bits it stops to grow at 32 MiB.
func newBudget(size int) *budget {
	b := &budget{size: min(size, math.MaxInt/64)}
	for k := range b.left {
		b.left[k] = work[k].fixed + work[k].perByte*size
	}
	return b
}

// take reports whether there was a budget for n more. If not, the search ends.
func (b *budget) take(k bound, n int) bool {
	if b.left[k] -= n; b.left[k] < 0 {
		b.end(k)
	}
	return b.left[k] >= 0
}

func (b *budget) end(k bound) {
	if b.ended == nil {
		b.ended = &BoundError{Done: work[k].done, Most: work[k].fixed + work[k].perByte*b.size}
	}
}

// A BoundError reports that a search reached a bound, and so found nothing: a part of a search would find a part of a file.
type BoundError struct {
	Offset int // from which nothing was searched
	Most   int
	Done   string // so often, such as "bytes were read as values"
}

func (e *BoundError) Error() string {
	return fmt.Sprintf("values between other bytes were searched up to offset %d only, after %d %s; if there are bytes before a value, skip them", e.Offset, e.Most, e.Done)
}
