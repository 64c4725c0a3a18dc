package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/text"
)

// A Change is a difference between the values at a path in older and newer saves.
type Change struct {
	Path string   `json:"path"`
	Kind Kind     `json:"change"`
	Old  []string `json:"old,omitempty"` // types in the older saves
	New  []string `json:"new,omitempty"` // types in the newer saves
	// Sometimes reports whether some containers lack the values at a new path.
	Sometimes bool `json:"sometimes,omitempty"`
}

// A Kind is a kind of Change.
type Kind string

// The kinds of changes.
const (
	Added     Kind = "new"       // no older save contains the key
	Gone      Kind = "gone"      // no newer save contains the key
	Retyped   Kind = "type"      // a newer save contains a type missing in all older saves
	Rekeyed   Kind = "keys"      // the same for the keys of a Dictionary used as data
	Nulled    Kind = "null"      // a newer save contains null, and no older save does
	Sometimes Kind = "sometimes" // a newer save lacks a value of all older saves
)

// String returns the change as a line for people.
func (c Change) String() string {
	is, was := typesText(c.New), typesText(c.Old)
	switch c.Kind {
	case Added:
		if c.Sometimes {
			is += ", only sometimes there"
		}
		return fmt.Sprintf("%s: new, %s", c.Path, is)
	case Gone:
		return fmt.Sprintf("%s: gone, was %s", c.Path, was)
	case Rekeyed:
		return fmt.Sprintf("%s: keys of type %s, were %s", c.Path, is, was)
	case Nulled:
		return fmt.Sprintf("%s: null for the first time, was %s", c.Path, was)
	case Sometimes:
		return fmt.Sprintf("%s: only sometimes there, was always", c.Path)
	}
	return fmt.Sprintf("%s: %s, was %s", c.Path, is, was)
}

// typesText returns types for people.
func typesText(types []string) string {
	all := slices.Clone(types)
	for i, t := range all {
		if t == nilName {
			all[i] = "null"
		}
	}
	return strings.Join(all, " or ")
}

// missing returns the elements of b not in a, except null.
func missing(a, b []string) (all []string) {
	for _, t := range b {
		if t != nilName && !slices.Contains(a, t) {
			all = append(all, t)
		}
	}
	return all
}

// A comparison collects the changes between two shapes.
type comparison struct {
	path    []byte
	changes []Change
}

// add adds a change at the path.
func (c *comparison) add(kind Kind, old, value []string) *Change {
	c.changes = append(c.changes, Change{Path: string(c.path), Kind: kind, Old: old, New: value})
	return &c.changes[len(c.changes)-1]
}

// at calls compare with a step added to the path.
func (c *comparison) at(step text.Step, compare func()) {
	n := len(c.path)
	c.path = step.Append(c.path)
	compare()
	c.path = c.path[:n]
}

// values compares the values at the path. One of the shapes can be nil.
func (c *comparison) values(old, value *Shape) {
	switch {
	case old == nil:
		c.add(Added, nil, value.Types).Sometimes = value.Sometimes
		return
	case value == nil:
		c.add(Gone, old.Types, nil)
		return
	}
	if value.Sometimes && !old.Sometimes {
		c.add(Sometimes, nil, nil)
	}
	if len(missing(old.Types, value.Types)) > 0 {
		c.add(Retyped, old.Types, value.Types)
	}
	if slices.Contains(value.Types, nilName) && !slices.Contains(old.Types, nilName) {
		c.add(Nulled, old.Types, value.Types)
	}
	c.inside(old, value)
}

// inside compares the inner values at the path.
func (c *comparison) inside(old, value *Shape) {
	if (old.Keys != nil) != (value.Keys != nil) && (old.hasFields() || value.hasFields()) {
		old, value = old.clone(), value.clone()
		for _, s := range []*Shape{old, value} {
			if s.Keys == nil {
				s.becomeData()
			}
		}
	}
	if len(old.Keys) > 0 && len(missing(old.Keys, value.Keys)) > 0 {
		c.add(Rekeyed, old.Keys, value.Keys)
	}
	if old.hasFields() && value.hasFields() {
		names := union(slices.Sorted(maps.Keys(old.Fields)), slices.Sorted(maps.Keys(value.Fields)))
		for _, name := range names {
			step := text.Step{Key: text.Value{Type: gdwire.TypeString, Text: name}}
			c.at(step, func() { c.values(old.Fields[name], value.Fields[name]) })
		}
	}
	if old.Items != nil && value.Items != nil {
		c.at(text.Step{Op: text.All}, func() { c.values(old.Items, value.Items) })
	}
}

// Saves is the shape of several saves. Each save can contain several values.
type Saves struct {
	Format string   `json:"gdwire"` // format
	Count  int      `json:"saves"`
	Values []*Shape `json:"values"`
}

// shapeFormat identifies a file of a Saves.
const shapeFormat = "shape"

// maxPositions is the maximum number of values of a file. More are packets or a log.
const maxPositions = 16

// add adds the values of a save, and returns their number. need is a phrase for
// the error about too many values, such as "need a type".
func (all *Saves) add(in *open.Input, r io.Reader, need string) (n int, err error) {
	for p := range in.Packets(r) {
		if n == len(all.Values) {
			all.Values = append(all.Values, &Shape{Sometimes: all.Count > 0})
		}
		err := p.Err
		if err == nil {
			_, _, err = all.Values[n].read(p.Decoder)
			err = p.Finish(err)
		}
		if err != nil {
			return n, shell.Prefixed(in.Name, err)
		}
		if n++; n > maxPositions {
			return n, fmt.Errorf("%s contains more than %d values, which would each %s: if they are packets, write one of them to a file of its own", in.Name, maxPositions, need)
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("%s is empty", in.Name)
	}
	for _, missing := range all.Values[n:] {
		missing.Sometimes = true
	}
	all.Count++
	return n, nil
}

// compare returns the changes from older to newer saves.
func compare(old, value *Saves) []Change {
	var c comparison
	at := func(s *Saves, i int) *Shape {
		if i < len(s.Values) {
			return s.Values[i]
		}
		return nil
	}
	for i := range max(len(old.Values), len(value.Values)) {
		c.path = text.AppendPacket(c.path[:0], int64(i))
		c.values(at(old, i), at(value, i))
	}
	return c.changes
}

// encode returns the shape as a file.
func (all *Saves) encode() ([]byte, error) {
	all.Format = shapeFormat
	b, err := json.MarshalIndent(all, "", "  ")
	return append(b, '\n'), err
}

// maxHead is the number of bytes at the start of a file that identify a shape.
const maxHead = 64

// load returns the shape in a file, or nil for other files.
func load(name string) (*Saves, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	head := make([]byte, maxHead)
	n, _ := f.Read(head) // opening the save reports the error
	_ = f.Close()
	start := strings.Join(strings.Fields(string(head[:n])), "")
	if !strings.HasPrefix(start, `{"gdwire":"`+shapeFormat+`"`) {
		return nil, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	all := &Saves{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(all); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, all.check(name)
}

// check returns an error for a shape with missing parts.
func (all *Saves) check(name string) error {
	for _, s := range all.Values {
		if !s.isWhole() {
			return fmt.Errorf("%s is not a shape: it contains null", name)
		}
	}
	return nil
}

// isWhole reports whether no Shape is null.
func (s *Shape) isWhole() bool {
	if s == nil || s.Items != nil && !s.Items.isWhole() {
		return false
	}
	for _, f := range s.Fields {
		if !f.isWhole() {
			return false
		}
	}
	return true
}
