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
	positions map[*text.Node]int64 // at which elements are added
	removed   map[*text.Node]int64 // the number of elements removed
	keys      keys
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

// keys finds keys that engines treat as equal, so a Dictionary would keep only the last: a String
// and a StringName with the same text, 0.0 and -0.0.
type keys struct {
	edited map[*text.Node]map[string][]*text.Node // by Dictionary and kin, the targets that get a new key
	taken  map[*text.Node][]takenKey              // by target, the keys of its Dictionary with the same kin as its own
	final  map[*text.Node]map[string]*text.Node   // by Dictionary and new key, as written, the targets
}

// A takenKey is a key that stays.
type takenKey struct{ text, step string }

func newKeys() keys {
	return keys{map[*text.Node]map[string][]*text.Node{}, map[*text.Node][]takenKey{}, map[*text.Node]map[string]*text.Node{}}
}

// leave forgets a Dictionary.
func (k *keys) leave(p *text.Node) {
	for _, targets := range k.edited[p] {
		for _, t := range targets {
			delete(k.taken, t)
		}
	}
	delete(k.edited, p)
	delete(k.final, p)
}

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
