package edit

import (
	"bytes"
	"cmp"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/reals"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// A source returns the new value of a target. All values are handled alike, whether they are from a text,
// from Go or copies.
type source func(*editor, *text.Node) (operand, error)

// An editor makes a plan.
type editor struct {
	Plan
	content *save.Content // before the edit
	edited  *table
	packets []editedPacket

	op     Op
	exact  bool
	source source  // of new values, unless op is Delete
	finds  bool    // only found is wanted
	found  operand // the value to copy

	*text.Walker
	packet    *save.Packet
	width     *reals.Width // of the packet, if known
	here      []splice
	positions map[*text.Node]int64    // at which elements are added
	removed   map[*text.Node]int64    // the number of elements removed
	keys      map[*text.Node]*newKeys // by Dictionary or Object
}

// splice adds a replacement of bytes.
func (e *editor) splice(s splice) { e.here = append(e.here, s) }

// changed describes a change.
func (e *editor) changed(p *text.Node, value, was string) {
	if len(e.Changes) == maxChanges {
		e.More++
		return
	}
	e.Changes = append(e.Changes, Change{p.String(), value, was})
}

// The newKeys of a Dictionary or Object show keys that engines treat as equal, so a Dictionary would keep only the last:
// a String and a StringName with the same text, 0.0 and -0.0.
type newKeys struct {
	targets map[string][]*text.Node   // that get a new key, by the kin of the key
	taken   map[*text.Node][]takenKey // by target, the keys with the same kin as its own
	final   map[string]*text.Node     // by new key, as written, the targets
	err     error                     // of a new key
}

// A takenKey is a key that stays.
type takenKey struct{ text, step string }

// isDouble reports whether real components are written with 64 bits: as others in the packet, or in
// the content before all edits, or else as the options say.
func (e *editor) isDouble() (bool, error) {
	if e.width == nil {
		w, err := e.content.RealsOf(e.packet)
		if err != nil {
			return false, err
		}
		if w == reals.Unknown {
			w = e.content.OtherReals()
		}
		e.width = &w
	}
	return *e.width == reals.Double, nil
}

// write returns the bytes of a value, with real components of 64 bits if double is set.
func (e *editor) write(v *text.Value, double bool) ([]byte, error) {
	var b bytes.Buffer
	o := e.content.Encoder
	o.DoubleReals = double
	enc := gdwire.NewEncoder(&b, &o)
	if err := cmp.Or(v.Write(enc, double), enc.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// encode returns the bytes of a value.
func (e *editor) encode(v *text.Value) ([]byte, error) {
	if !e.content.Decoder.AllowObjects && hasObjects(v) {
		return nil, gdwire.ErrObject
	}
	if err := checkPairs(v); err != nil {
		return nil, err
	}
	double := e.content.Encoder.DoubleReals
	if hasReals(v) {
		var err error
		if double, err = e.isDouble(); err != nil {
			return nil, err
		}
	}
	return e.write(v, double)
}

// packedHeader is the size of the header and count of a packed array.
const packedHeader = 8
