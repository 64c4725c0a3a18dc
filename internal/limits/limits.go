// Package limits defines the error of input that exceeds a limit, which the packages gdwire
// and fileaccess share.
package limits

import (
	"errors"
	"fmt"
)

// ErrLimit matches every Error.
var ErrLimit = errors.New("limit exceeded")

// An Error reports input that exceeds a limit.
type Error struct {
	Name string // the name of the option that sets the limit
	Got  int64  // the count or size in the input, as far as it is known
	Max  int64  // the limit
}

// texts describes the limited counts and sizes, by the name of the limit.
var texts = map[string]string{
	"Depth":       "value inside %d containers",
	"Elements":    "container of %d elements",
	"Values":      "container that adds up to %d values",
	"StringBytes": "string of %d bytes",
	"NameBytes":   "name of %d bytes",
	"PackedBytes": "packed data of %d bytes",
	"Bytes":       "value of at least %d bytes",
	"MaxBuffered": "container of unknown size with %d bytes so far",

	"Size":      "content of %d bytes",
	"BlockSize": "block of %d bytes",
	"Blocks":    "file of %d blocks",
}

func (e *Error) Error() string {
	text := texts[e.Name]
	if text == "" {
		text = "%d"
	}
	return fmt.Sprintf(text+" exceeds limit %s (%d)", e.Got, e.Name, e.Max)
}

// Is reports whether target is ErrLimit.
func (e *Error) Is(target error) bool { return target == ErrLimit }
