package save

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/gdwire/gdwire/internal/save/recognize"
)

// An AmbiguousError reports output that would differ between several readings of the input fitting about equally
// well.
type AmbiguousError struct{ Readings []recognize.Reading }

func (e *AmbiguousError) Error() string {
	var flags []string
	for _, r := range e.Readings {
		flags = append(flags, r.String())
	}
	return fmt.Sprintf("can be read in %d ways, in which this would write other bytes; choose one: %s", len(flags), strings.Join(flags, " or "))
}

// maxReadings is the maximum number of readings for which output is made.
const maxReadings = 4

// Agree returns an AmbiguousError unless write writes the same bytes, or returns an error, for all readings of the
// content that fit about equally well. Agree returns the error of the first reading, c. If there is no other, write is
// not called.
func (c *Content) Agree(write func(as *Content, w io.Writer) error) error {
	if len(c.rivals) == 0 {
		return nil
	}
	e := &AmbiguousError{}
	var first error
	var want []byte
	same := len(c.rivals) < maxReadings
	for _, as := range append([]*Content{c}, c.rivals...) {
		e.Readings = append(e.Readings, as.Reading())
		if !same {
			continue
		}
		sum := sha256.New()
		err := write(as, sum)
		if as == c {
			first, want = err, sum.Sum(nil)
		}
		same = (err == nil) == (first == nil) && (err != nil || bytes.Equal(sum.Sum(nil), want))
	}
	if same {
		return first
	}
	return e
}

// Reading returns how the content is read.
func (c *Content) Reading() recognize.Reading {
	return recognize.Reading{Format: c.Decoder.Format, Frame: c.Frame}
}

// Edit returns the content returned by edit for c, if edit makes the same bytes of all readings of the content that
// fit about equally well. The result can be read in these ways, too.
func (c *Content) Edit(edit func(*Content) (*Content, error)) (*Content, error) {
	if err := c.checkEnd(); err != nil {
		return nil, err
	}
	edited, err := edit(c)
	if len(c.rivals) == 0 {
		return edited, err
	}
	var rivals []*Content
	err = c.Agree(func(as *Content, w io.Writer) error {
		next, err := edited, err
		if as != c {
			next, err = edit(as)
			rivals = append(rivals, next)
		}
		if err == nil {
			_, err = io.Copy(w, io.NewSectionReader(next, 0, next.Size))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	edited.rivals = rivals
	return edited, nil
}
