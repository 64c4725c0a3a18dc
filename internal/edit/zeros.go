package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/recognize"
)

const (
	minZeros  = 8        // zeros at the end of a file that can be damage
	zeroBlock = 64 << 10 // bytes that are read at once
)

// ZerosAtEnd returns the offset of the zeros at the end of the content, or -1 if there are less than
// minZeros.
func (c *Content) ZerosAtEnd() (int64, error) {
	block := make([]byte, min(zeroBlock, c.Size))
	start := c.Size - int64(len(block))
	if _, err := io.ReadFull(io.NewSectionReader(c, start, c.Size-start), block); err != nil {
		return -1, err
	}
	used := int64(len(bytes.TrimRight(block, "\x00")))
	if used == 0 && start > 0 { // from the start, because a container cannot be read backward
		at := int64(0)
		for in := io.NewSectionReader(c, 0, start); ; {
			n, err := in.Read(block)
			if u := len(bytes.TrimRight(block[:n], "\x00")); u > 0 {
				used = at + int64(u) - start
			}
			at += int64(n)
			if err == io.EOF {
				break
			}
			if err != nil {
				return -1, err
			}
		}
	}
	if start+used > c.Size-minZeros {
		return -1, nil
	}
	return start + used, nil
}

// A ZerosError reports zeros in place of the end of a content, as after a power failure.
type ZerosError struct {
	From int64 // the offset of the first, or of the first null that they are read as
	Err  error // why no engine wrote them
}

func (e *ZerosError) Error() string {
	return fmt.Sprintf("zeros from offset %d to the end: %v", e.From, e.Err)
}

// Unwrap returns Err.
func (e *ZerosError) Unwrap() error { return e.Err }

// CheckZeros returns a ZerosError if the content ends in zeros that no engine has written: a Dictionary
// contains the key null twice, text ends in NUL, bytes follow a value, or the value that is expected
// cannot be read. Nulls after a value without a length are damage, too, unless known is set: the
// caller knows what the file is.
func (c *Content) CheckZeros(known bool) error {
	if c.Size == 0 {
		return nil
	}
	from, err := c.ZerosAtEnd()
	if err != nil || from < 0 {
		return err
	}
	scan := *c
	scan.Decoder.AllowObjects = true
	n, nulls := 0, 0
	null := int64(0) // the offset of the first of the nulls at the end
	wanted := Every
	if c.Order != nil {
		wanted = c.from(from)
	}
	err = scan.Packets(wanted, func(p Packet, d *gdwire.Decoder) (bool, error) {
		n++
		switch {
		case d.PeekKind() != gdwire.KindNil:
			nulls = 0
		case nulls == 0:
			null = p.Start
			fallthrough
		default:
			nulls++
		}
		if err := scanZeros(d, from); err != nil {
			return false, err
		}
		return true, p.Finish(d)
	})
	switch {
	case err == errNulls || err == errNUL:
	case err == nil && !known && c.Order == nil && recognize.NullsFollow(n, nulls):
		err = errors.New("nulls after a value")
		if null-from < minZeros { // the last zeros of the value are its own
			from = null
		}
	case !isInput(err), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, gdwire.ErrLimit), errors.Is(err, gdwire.ErrObject):
		return nil // cut, or what the call that reads the value returns
	}
	return &ZerosError{from, err}
}

var (
	errNulls = errors.New("a Dictionary with the key null twice")
	errNUL   = errors.New("text with NUL")
)

// scanZeros reads the next value and looks for damage after an offset.
func scanZeros(d *gdwire.Decoder, from int64) error {
	var keys recognize.NullKeys
	for t, err := range d.Tokens() {
		switch {
		case err != nil:
			return err
		case keys.Twice(d, t) && d.InputOffset() > from:
			return errNulls
		case t.Kind() == gdwire.KindStringChunk && t.Last() && d.InputOffset() > from && isZeroed(d, t.Bytes()):
			return errNUL
		}
	}
	return nil
}

// isZeroed reports whether a text, of which b is the last chunk, ends in zeros. No engine writes a
// name without a text in a NodePath.
func isZeroed(d *gdwire.Decoder, b []byte) bool {
	if len(b) > 0 {
		return b[len(b)-1] == 0
	}
	around, _, _ := d.StackIndex(d.Depth())
	return around == gdwire.KindNodePathStart
}
