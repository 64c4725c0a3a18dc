package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/gdwire/gdwire/internal/text"
)

// Saves is the shape of several saves. Each of them can contain several values.
type Saves struct {
	Format string   `json:"gdwire"` // format
	Count  int      `json:"saves"`
	Values []*Shape `json:"values"`
}

// format says what a file is that contains a Saves.
const format = "shape"

// maxPositions is the maximum number of values of a file. More are packets or a log.
const maxPositions = 16

// add adds a save, of which all can use parts.
func (all *Saves) add(values []*Shape) {
	for i := range max(len(all.Values), len(values)) {
		switch {
		case i >= len(values):
			all.Values[i].Sometimes = true
		case i >= len(all.Values):
			values[i].Sometimes = all.Count > 0
			all.Values = append(all.Values, values[i])
		default:
			all.Values[i].merge(values[i])
		}
	}
	all.Count++
}

// compare returns the changes from older saves to newer ones.
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
	all.Format = format
	b, err := json.MarshalIndent(all, "", "  ")
	return append(b, '\n'), err
}

// maxHead is the number of bytes at the start of a file that tell whether it is a shape.
const maxHead = 64

// load returns the shape in a file, or nil if the file is not one.
func load(name string) (*Saves, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	head := make([]byte, maxHead)
	n, _ := f.Read(head) // another error is that of opening a save
	_ = f.Close()
	start := strings.Join(strings.Fields(string(head[:n])), "")
	if !strings.HasPrefix(start, `{"gdwire":"`+format+`"`) {
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

// check returns an error for a shape without parts that encode writes.
func (all *Saves) check(name string) error {
	for _, s := range all.Values {
		if !s.isWhole() {
			return fmt.Errorf("%s is not a shape: it contains null", name)
		}
	}
	return nil
}

// isWhole reports whether there are no null in place of a Shape.
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
