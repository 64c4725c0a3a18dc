package savefile

import (
	"errors"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/edit"
)

// repair removes the damaged part. err is the known damage, or nil. Up to zeroed bytes at the end may be zeros
// in place of others.
func (f *File) repair(err error, zeroed int64) error {
	end := f.content.Size
	var known *DamageError
	if err != nil && !errors.As(err, &known) {
		return err
	}
	e := f.stack.Envelope()
	isWhole := e != nil && e.Err != nil
	if known != nil && zeroed == 0 && save.IsContainerError(known.Err) { // the zeros are part of a container with a wrong checksum
		c, bad := edit.Repair(f.content, end)
		isWhole = isWhole || bad == nil && c == f.content
	}
	if isWhole {
		f.Info.Damage = known
		return nil
	}
	var zeros *save.ZerosError
	if errors.As(err, &zeros) {
		end = min(end, roundUp(zeros.From))
		if at := (*gdwire.Error)(nil); errors.As(zeros.Err, &at) && at.Offset <= end {
			end = zeros.From // the word was changed
		}
	} else if from, failed := save.ZerosAtEnd(f.content, end); failed == nil && known != nil {
		if zeroed > 0 {
			end = max(end-zeroed, from)
		} else if from <= end-save.MinZeros {
			end = min(end, roundUp(from)) // zeros after damage replace lost bytes
		}
	}
	c, bad := edit.Repair(f.content, end)
	if known == nil {
		if bad = damaged(bad); bad == nil || !errors.As(bad, &known) {
			return bad
		}
	} else if at := (*gdwire.Error)(nil); errors.As(bad, &at) { // the first lost value
		cause := known.Err
		if e, ok := cause.(*gdwire.Error); ok {
			cause = e.Err
		}
		known.Err = &gdwire.Error{Offset: at.Offset, Path: at.Path, Err: cause}
	}
	if c == nil {
		return known
	}
	f.content, f.Info.Damage = c, known
	return nil
}

// roundUp rounds an offset up to a multiple of 4. Values consist of words of 4 bytes, and file systems lose
// whole blocks, so zeros in a word with another byte are its own.
func roundUp(offset int64) int64 { return (offset + 3) &^ 3 }
