package savefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/edit"
	"github.com/gdwire/gdwire/internal/recognize"
)

const (
	minZeros  = 8        // zeros at the end of a file that can be damage
	zeroBlock = 64 << 10 // bytes that are read at once
)

// zerosAtEnd returns the offset of the zeros at the end of the content, or -1 if there are less than
// minZeros.
func zerosAtEnd(c *edit.Content) (int64, error) {
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

// checkZeros returns a DamageError if the content ends in zeros that no engine has written, as after a
// power failure: a Dictionary contains the key null twice, text ends in NUL, bytes follow a value, or
// the value that is expected cannot be read. Nulls after a value without a length are damage, too,
// unless the caller knows what the file is.
func checkZeros(c *edit.Content, known bool) error {
	from, err := zerosAtEnd(c)
	if err != nil || from < 0 {
		return damaged(err)
	}
	damage := func(cause error) error {
		return &DamageError{from, fmt.Errorf("zeros from offset %d to the end: %w", from, cause)}
	}
	scan := *c
	scan.Decoder.AllowObjects = true
	n, nulls := 0, 0
	wanted := edit.Every
	if c.Order != nil {
		wanted = c.From(from)
	}
	err = scan.Packets(wanted, func(p edit.Packet, d *gdwire.Decoder) (bool, error) {
		n++
		if nulls++; d.PeekKind() != gdwire.KindNil {
			nulls = 0
		}
		if err := scanZeros(d, from); err != nil {
			return false, err
		}
		return true, p.Finish(d)
	})
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF): // the file is cut
	case damaged(err) != err || err == errNulls || err == errNUL:
		return damage(err)
	case err == nil && !known && c.Order == nil && recognize.NullsFollow(n, nulls):
		return damage(errors.New("nulls after a value"))
	}
	return nil // a limit or an error of the Reader, which the call that reads the value returns
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
		case t.Kind() == gdwire.KindStringChunk && t.Last() && bytes.HasSuffix(t.Bytes(), []byte{0}) && d.InputOffset() > from:
			return errNUL
		}
	}
	return nil
}

// repair removes what is damaged. err is the damage that is known, or nil.
func (f *File) repair(err error) error {
	end := f.content.Size
	var known *DamageError
	if err != nil && !errors.As(err, &known) {
		return err
	}
	if from, failed := zerosAtEnd(f.content); failed == nil && from >= 0 && known != nil {
		end = from // zeros after damage are not what was written
	}
	c, bad := f.content.Repair(end)
	if known == nil {
		if bad = damaged(bad); bad == nil || !errors.As(bad, &known) {
			return bad
		}
	}
	if c == nil {
		return known
	}
	f.content, f.Info.Damage = c, known
	return nil
}
