package open

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire/internal/save"
)

// An Input is an opened input, and how it is read.
type Input struct {
	*save.Source
	save.Reading
	Operand    string // its name on the command line
	Recognized bool   // format or frame were
	Unsure     error  // why nothing is written, in a damaged file, or nil

	infof func(format string, args ...any)
}

// Packets is that of the Reading, and says after the packets how many of them are compressed.
func (in *Input) Packets(r io.Reader) iter.Seq[*save.Packet] {
	return func(yield func(*save.Packet) bool) {
		var all, packed int64
		modes := map[string]int64{}
		for p := range in.Reading.Packets(r) {
			if all++; p.Packed != nil {
				packed++
				modes[p.Packed.ModeName()]++
			}
			if !yield(p) {
				break
			}
		}
		if packed == 0 {
			return
		}
		var texts []string
		for _, mode := range Modes {
			if n := modes[mode.String()]; n > 0 {
				texts = append(texts, fmt.Sprintf("%s with %v", humanize.Comma(n), mode))
			}
		}
		in.infof("%s: %s of %s packets are compressed as by a script: %s", in.Name, humanize.Comma(packed), humanize.Comma(all), strings.Join(texts, ", "))
	}
}

// zerosError returns an error that says that the end of a file became zeros, or nil.
func zerosError(err error, name string) error {
	if zeros := (*save.ZerosError)(nil); errors.As(err, &zeros) {
		return fmt.Errorf("%s is damaged: %w; gdwire repair keeps the values before the damage; with -format and -frame, the zeros are read as values", name, zeros)
	}
	return err
}

// CheckZeros returns an error if the end of a content became zeros. Its start, by which it was recognized,
// does not show that.
func (in *Input) CheckZeros(c *save.Content) error {
	if !in.Recognized {
		return nil
	}
	return zerosError(c.CheckZeros(false), in.Name)
}

// CheckEnd returns an error if the end of a file became zeros. What comes from a pipe can be read only once, so
// that is not checked.
func (in *Input) CheckEnd() error {
	if in.Live {
		return nil
	}
	c, err := in.Content(&in.Reading)
	if err != nil {
		return err
	}
	return in.CheckZeros(c)
}
