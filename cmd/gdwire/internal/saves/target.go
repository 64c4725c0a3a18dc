package saves

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/values/save"
)

// errEmpty reports input without values.
var errEmpty = errors.New("the input is empty; nothing was written")

// An output describes how to write values.
type output struct {
	save.Reading
	container fileaccess.Info
	key       *fileaccess.Key // of an encrypted input, or nil
	stack     *save.Stack     // the layers around the values
}

// A target holds the properties of the output set by -to. nil keeps the property of the input.
type target struct {
	format    *gdwire.Format
	frame     *save.Frame
	container *fileaccess.Info
}

// containers maps the names in -to to containers.
var containers = map[string]fileaccess.Info{}

func init() {
	all := []fileaccess.Info{{}, {Container: fileaccess.Encrypted}, {Base64: fileaccess.Base64{Text: true}}}
	for _, m := range open.Modes {
		all = append(all, fileaccess.Info{Container: fileaccess.Compressed, Mode: m}, fileaccess.Info{Container: fileaccess.Raw, Mode: m})
	}
	for _, i := range all {
		containers[i.String()] = i
	}
}

// flag defines -to.
func (t *target) flag(f *shell.Flags) {
	f.Choices("to", partNames()...)
	f.Func("to", "`PARTS` of the output, separated by commas: a format; none, u32 or u32be; plain, fastlz, deflate, zstd, gzip, encrypted, raw-fastlz, … as scripts compress, or base64. Other parts are as in the input. A pipe gets compressed or encrypted output when it is complete", func(s string) error {
		for part := range strings.SplitSeq(s, ",") {
			if err := t.add(strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		return nil
	})
}

// partNames returns the parts of -to.
func partNames() (all []string) {
	for _, f := range gdwire.Formats() {
		all = append(all, f.String())
	}
	for _, f := range open.Frames {
		all = append(all, f.String())
	}
	return append(all, slices.Sorted(maps.Keys(containers))...)
}

// add adds a part of -to. A second part of the same kind is an error.
func (t *target) add(part string) error {
	if f := new(gdwire.Format); f.UnmarshalText([]byte(part)) == nil {
		return setOnce(&t.format, f, "format", part)
	}
	for _, f := range open.Frames {
		if f.String() == part {
			return setOnce(&t.frame, &f, "length", part)
		}
	}
	info, ok := containers[part]
	if !ok {
		return fmt.Errorf("%q is no part: want any of %s", part, strings.Join(partNames(), ", "))
	}
	return setOnce(&t.container, &info, "container", part)
}

// setOnce sets *dst, or returns an error if it is not nil.
func setOnce[T any](dst **T, v *T, kind, part string) error {
	if *dst != nil {
		return fmt.Errorf("%q is a second %s", part, kind)
	}
	*dst = v
	return nil
}

// apply returns the output with the properties in t, and the other properties of the input.
func (t *target) apply(w output) output {
	if t.format != nil {
		w.Decoder.Format = *t.format
	}
	if t.frame != nil {
		w.Frame = *t.frame
	}
	if t.container != nil {
		w.container = *t.container
	}
	if w.container.Container == fileaccess.Encrypted && (t.container != nil || t.format != nil) {
		w.container.Layout = fileaccess.LayoutGodot4
		if f := w.Decoder.Format; f == gdwire.Godot3 || f == gdwire.Godot2 {
			w.container.Layout = fileaccess.LayoutGodot3
		}
	}
	return w
}
