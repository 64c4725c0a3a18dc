package explain

import "fmt"

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
	what           string
	fixed, perByte int
}{
	reading:   {"bytes read as values", 1 << 20, 6},
	unpacking: {"bytes of compressed streams", 4 << 20, 32},
	listing:   {"values", 1 << 21, 0},
	hashing:   {"bytes of checksums", 4 << 20, 24},
}

// A budget is the work left, which streams in streams share.
type budget struct {
	left  [bounds]int
	ended *BoundError
}

// newBudget returns the budget for a number of bytes.
func newBudget(size int) *budget {
	b := &budget{}
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
		b.ended = &BoundError{What: work[k].what}
	}
}

// A BoundError reports that a search reached a bound, and so found nothing: a part of a search would find a part of a file.
type BoundError struct {
	What   string // such as "bytes read as values"
	Offset int    // from which nothing was searched
}

func (e *BoundError) Error() string {
	return fmt.Sprintf("offset %d: values after other bytes were not searched from here on, because too many %s were tried before", e.Offset, e.What)
}
