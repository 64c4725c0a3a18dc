package edit

import (
	"fmt"
	"io"

	"github.com/gdwire/gdwire/internal/save"
)

// An Op is a kind of edit at the targets of a tree.
type Op uint8

// The kinds of edits.
const (
	Set    Op = iota // replace values
	Delete           // remove elements, pairs and properties
	Add              // add elements and pairs
	Put              // replace or add
)

// A Plan contains the splices that edit a content.
type Plan struct {
	Changes []Change // the first changes
	More    int      // the number of other changes

	content *save.Content // after the edit
}

// maxChanges is the maximum number of Changes that a Plan describes.
const maxChanges = 1000

// A Change describes a change for people.
type Change struct {
	Path string
	Text string // the new value, or "" if there is none
	Was  string // the old value, or ""
}

// An editedPacket is a packet with its splices.
type editedPacket struct {
	start, end int64
	splices    []splice
	grow       int64 // the number of bytes that they add
}

// Content returns the edited content. Its memory depends on the new values.
func (p *Plan) Content() *save.Content { return p.content }

// WriteTo writes the edited content.
func (p *Plan) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.NewSectionReader(p.content, 0, p.content.Size))
}

// An ExistsError reports a path to add, at which there is a value.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return "there is a value at " + e.Path }

// A RefusedError reports an edit after which engines would not read the packet.
type RefusedError struct{ err error }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("engines would not read the edited packet: %v", e.err)
}

// Unwrap returns the error of the packet.
func (e *RefusedError) Unwrap() error { return e.err }
