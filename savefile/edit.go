package savefile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/edit"
	"github.com/gdwire/gdwire/internal/save/outfile"
	"github.com/gdwire/gdwire/variant"
)

// An Edit is one change of a [File].
type Edit struct {
	op    edit.Op
	path  string
	value any
}

// Set sets the value at a path. If only the last step of the path leads to nothing and is a key, or
// [+] at the end of an array, Set adds the value. The value takes the type and declared types of the
// old value, unless the old value is nil: the int 2 becomes 2.0, and a string a StringName, and
// likewise integers in vectors, and the elements of Arrays, packed arrays and Dictionaries. A value
// that cannot take the type is an error wrapping [gdwire.ErrType]. A [variant.Raw] is written
// unchanged, and so can be of any type.
func Set(path string, value any) Edit { return Edit{edit.Put, path, value} }

// Delete removes an element, pair or property.
func Delete(path string) Edit { return Edit{edit.Delete, path, nil} }

// Edit changes values and keeps every other byte of the content; counts and lengths around them are
// corrected. Edits apply in order; if one fails, f is unchanged. Reading calls see the result, Save
// writes it. The memory for edits depends on the new values and not on the file.
//
// Many edits in one call take hardly longer than a single edit, unless they delete elements of
// arrays or use paths such as .value(3).
//
// If a file can be read in other formats or with other lengths about as well, edits must write the same bytes in all of
// them; otherwise Edit returns an [*AmbiguousError]. The reading of a damaged file is a guess: to edit a damaged file,
// set Format and Lengths in the Options of Open.
func (f *File) Edit(edits ...Edit) error {
	c, err := applied(f.content, edits)
	if ambiguous := (*save.AmbiguousError)(nil); errors.As(err, &ambiguous) {
		return f.ambiguous(ambiguous)
	}
	if errors.As(err, new(*save.GuessError)) {
		return fmt.Errorf("savefile: it is only probable that the file, which is damaged, is %v: to edit it, set Format and Lengths in the Options of Open", f.opened)
	}
	if err == nil {
		f.content = c
	}
	return err
}

// An AmbiguousError reports an edit of a file with several readings that fit about equally well, if the edit would
// write different bytes in each reading. Options.Decoder.Format and Lengths choose a reading.
type AmbiguousError struct {
	// Readings describes the file in each reading. They differ in Format or Lengths.
	Readings []Info
}

func (e *AmbiguousError) Error() string {
	var all []string
	for _, r := range e.Readings {
		all = append(all, r.String())
	}
	return "savefile: the file can be " + strings.Join(all, " or ") + ", in which the edit would write other bytes: set Format and Lengths in the Options of Open"
}

// ambiguous returns the AmbiguousError of an edit of f.
func (f *File) ambiguous(e *save.AmbiguousError) error {
	all := &AmbiguousError{}
	for _, r := range e.Readings {
		i := f.opened
		i.Format, i.Lengths = r.Format, lengthsOf(r.Frame)
		all.Readings = append(all.Readings, i)
	}
	return all
}

// applied returns a content after edits.
func applied(c *save.Content, edits []Edit) (*save.Content, error) {
	requests := make([]edit.Request, len(edits))
	for i, e := range edits {
		path, err := parsePath(e.path)
		if err != nil {
			return nil, err
		}
		requests[i] = edit.Request{Op: e.op, Path: path, Value: newValue(e.value)}
	}
	c, err := edit.Apply(c, requests)
	if err == nil {
		return c, nil
	}
	if d := damaged(err); d != err {
		return nil, d
	}
	if wrong := (*edit.TypeError)(nil); errors.As(err, &wrong) {
		return nil, fmt.Errorf("savefile: %w; a variant.Raw sets another type", err)
	}
	return nil, notFound(err)
}

// newValue returns a Go value for an edit.
func newValue(v any) *edit.Value {
	exact := false
	switch v.(type) {
	case variant.Raw, *variant.Raw:
		exact = true
	}
	return &edit.Value{Exact: exact, Encode: func(o gdwire.EncoderOptions) ([]byte, error) {
		return variant.Marshal(v, variant.Options{Encoder: o})
	}}
}

// Save writes f to the file of the given name: to a new file in the same folder, synced, and
// renamed when complete, so that a file of this name is replaced or unchanged. Save follows
// symbolic links; other hard links of the file keep the old content. If f was opened by this name
// and another program changed the file since, Save returns an error wrapping [ErrChanged].
//
// The new file keeps the owner and permissions of the old, and on Linux access lists and extended
// attributes; where the system does not allow this, nobody gets more rights than before. On
// Windows, a file of more than 4 MiB cannot be replaced while f is open.
func (f *File) Save(name string) error {
	out, err := outfile.Create(name, outfile.IgnoreSignals)
	if err != nil {
		return err
	}
	own := f.stat != nil && out.Read(f.name, f.stat)
	err = f.write(out.File)
	stat, failed := out.Stat()
	if err = errors.Join(err, failed); err != nil {
		out.Abandon()
		return named(err, name)
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if own {
		f.stat = stat
	}
	return nil
}
