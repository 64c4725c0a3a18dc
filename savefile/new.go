package savefile

import (
	"bytes"
	"fmt"
	"math"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/variant"
)

// New returns a File in memory with the encodings of values, to be written as info says.
// Of info, Format and Lengths can be zero: Godot4, and lengths as store_var writes them.
func New(info Info, values ...any) (*File, error) {
	info = info.withDefaults()
	if !info.Lengths.valid() {
		return nil, fmt.Errorf("savefile: unknown %v", info.Lengths)
	}
	info.Sure, info.Damage = true, nil
	c := &save.Content{
		Frame:   info.Lengths.frame(),
		Decoder: gdwire.DecoderOptions{Format: info.Format, AllowObjects: true, DoubleReals: info.DoubleReals},
		Encoder: gdwire.EncoderOptions{Format: info.Format, DoubleReals: info.DoubleReals, Depth: -1},
	}
	var all []byte
	for i, v := range values {
		b, err := variant.Marshal(v, variant.Options{Encoder: c.Encoder})
		if err != nil {
			return nil, fmt.Errorf("savefile: value %d: %w", i, err)
		}
		if c.Frame != save.Bare {
			if all, err = appendLength(all, c.Frame, int64(len(b))); err != nil {
				return nil, err
			}
		}
		all = append(all, b...)
	}
	c.ReaderAt, c.Size = bytes.NewReader(all), int64(len(all))
	return &File{Info: info, opened: info, content: c, stack: new(save.Stack)}, nil
}

// appendLength appends the length of a value.
func appendLength(dst []byte, frame save.Frame, n int64) ([]byte, error) {
	if n > math.MaxUint32 {
		return nil, fmt.Errorf("savefile: a value of %d bytes is too long for a length of 32 bits", n)
	}
	return frame.Order().AppendUint32(dst, uint32(n)), nil
}
