package save

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save/recognize"
)

// MinZeros is the minimum number of zeros at the end of a content that can be damage.
const MinZeros = 8

const nullSize = 4 // the number of bytes of null

const zeroBlock = 64 << 10 // bytes read at once

// ZerosAtEnd returns the offset of the zeros at the end of size bytes of r, or size if there are none.
func ZerosAtEnd(r io.ReaderAt, size int64) (int64, error) {
	block := make([]byte, min(zeroBlock, size))
	start := size - int64(len(block))
	if _, err := io.ReadFull(io.NewSectionReader(r, start, size-start), block); err != nil {
		return size, err
	}
	used := int64(len(bytes.TrimRight(block, "\x00")))
	if used == 0 && start > 0 { // from the start, because a container cannot be read backward
		for at := int64(0); at < start; at += zeroBlock {
			part := block[:min(zeroBlock, start-at)]
			if _, err := io.ReadFull(io.NewSectionReader(r, at, int64(len(part))), part); err != nil {
				return size, err
			}
			if u := len(bytes.TrimRight(part, "\x00")); u > 0 {
				used = at + int64(u) - start
			}
		}
	}
	return start + used, nil
}

// A ZerosError reports zeros in place of the end of a content, as after a power failure.
type ZerosError struct {
	From int64 // the offset of the first zero, or of the first null read from zeros
	Err  error // why no engine wrote them
}

func (e *ZerosError) Error() string {
	return fmt.Sprintf("zeros from offset %d to the end: %s", e.From, strings.TrimPrefix(e.Err.Error(), "gdwire: "))
}

// Unwrap returns Err.
func (e *ZerosError) Unwrap() error { return e.Err }

// A Zeros watches for values and tokens that no engine writes, but that result from reading zeros. The
// zero value is ready for use. All offsets are in the content.
type Zeros struct {
	keys  recognize.NullKeys
	found error // the latest sign of zeros, or nil
	after int64 // the offset after this sign

	err    error // of the value with the number failed
	failed int

	start         int64 // the offset of the latest value
	good          int64 // the offset after the latest value other than null
	values, nulls int   // the number of values, and of nulls at the end
	null          int64 // the offset of the first of these
	own           int64 // the offset of the nulls that end the value before these nulls, or 0
}

// Value notes that d reads a value at an offset.
func (z *Zeros) Value(d *gdwire.Decoder, at int64) {
	z.values++
	z.start = at
	switch {
	case d.PeekKind() != gdwire.KindNil:
		z.nulls, z.own = 0, 0
	case z.nulls == 0:
		z.null = at
		fallthrough
	default:
		z.nulls++
	}
}

// Token notes t, the latest token of d, ending at an offset. For the second key null of a
// Dictionary, Token returns an error, not always due to zeros.
func (z *Zeros) Token(d *gdwire.Decoder, t gdwire.Token, end int64) error {
	switch t.Kind() {
	case gdwire.KindNil:
		if z.own == 0 && z.nulls == 0 {
			z.own = end - nullSize
		}
	case gdwire.KindEnd:
	default:
		z.own = 0
	}
	if z.keys.Twice(d, t) {
		z.note(d, end, errNulls)
		return z.found
	}
	if t.Kind() == gdwire.KindStringChunk && t.Last() && isZeroed(d, t.Bytes()) {
		z.note(d, end, errNUL)
	}
	return nil
}

// Good notes that the latest value ends at an offset. If nothing was found in the value, zeros before its end
// are its own.
func (z *Zeros) Good(end int64) {
	if z.nulls == 0 && z.after <= z.start {
		z.good = end
	}
}

// note notes a sign of zeros.
func (z *Zeros) note(d *gdwire.Decoder, end int64, err error) {
	z.found, z.after = &gdwire.Error{Offset: end, Path: string(d.AppendPath(nil)), Err: err}, end
}

// Error notes an error of the latest value. An error that is not about the content is no damage.
func (z *Zeros) Error(err error) {
	if IsDamage(err) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, gdwire.ErrLimit) && !errors.Is(err, gdwire.ErrObject) {
		z.err, z.failed = err, z.values
	}
}

// End returns a ZerosError if the zeros from an offset on to the end explain a noted sign or error, or nil.
// Unless nullsFit is set, nulls after a value are a sign.
func (z *Zeros) End(from int64, nullsFit bool) error {
	switch {
	case z.found != nil && z.after > from:
		return &ZerosError{max(from, z.good), z.found}
	case z.err != nil && z.failed == z.values:
		return &ZerosError{max(from, z.good), z.err}
	case nullsFit || !recognize.NullsFollow(z.values, z.nulls):
		return nil
	case z.null-from >= MinZeros:
	case z.own > 0: // the last nulls of the value are as likely to be zeros in place of others
		from = max(from, z.own)
	default: // the last zeros of the value are its own
		from = z.null
	}
	return &ZerosError{from, errors.New("nulls after a value")}
}

// CheckZeros returns a ZerosError if the content ends in zeros that no engine writes: a Dictionary
// contains the key null twice, text ends in NUL, bytes follow a value, or the expected value cannot
// be read. Nulls after a value without a length are also damage, unless known is set because the
// caller chose format and lengths.
func (c *Content) CheckZeros(known bool) error {
	if c.Size == 0 {
		return nil
	}
	from, err := ZerosAtEnd(c, c.Size)
	if err != nil || from > c.Size-MinZeros {
		return err
	}
	scan := *c
	scan.Decoder.AllowObjects = true
	wanted := Every
	if c.Frame != Bare {
		wanted = c.from(from)
	}
	var z Zeros
	err = scan.Packets(wanted, func(p *Packet) (bool, error) {
		z.Value(p.Decoder, p.Offset)
		for t, err := range p.Tokens() {
			if err == io.EOF { // a length without a value
				break
			}
			if err != nil {
				return false, err
			}
			_ = z.Token(p.Decoder, t, p.InputOffset())
			if z.found != nil && z.after > from {
				return false, z.found
			}
		}
		err := p.Finish(nil)
		if err == nil {
			z.Good(p.InputOffset())
		}
		return true, err
	})
	if err == nil || IsDamage(err) {
		z.Error(err)
		return z.End(from, known || c.Frame != Bare || err != nil)
	}
	return nil // the call reading the value returns this error
}

var (
	errNulls = errors.New("a Dictionary with the key null twice")
	errNUL   = errors.New("text with NUL")
)

// isZeroed reports whether a text with the last chunk b ends in zeros. No engine writes a
// name without a text in a NodePath.
func isZeroed(d *gdwire.Decoder, b []byte) bool {
	if len(b) > 0 {
		return b[len(b)-1] == 0
	}
	around, _, _ := d.StackIndex(d.Depth())
	return around == gdwire.KindNodePathStart
}
