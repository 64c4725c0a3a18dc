package savefile

import (
	"errors"

	"github.com/gdwire/gdwire/internal/edit"
)

// repair removes what is damaged. err is the damage that is known, or nil.
func (f *File) repair(err error) error {
	end := f.content.Size
	var known *DamageError
	if err != nil && !errors.As(err, &known) {
		return err
	}
	var zeros *edit.ZerosError
	if errors.As(err, &zeros) {
		end = zeros.From
	} else if from, failed := f.content.ZerosAtEnd(); failed == nil && from >= 0 && known != nil {
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
