package text

import (
	"math"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// MaxKey is the maximum length of a key in a path, in bytes. Pairs with a longer key are
// .key(n) and .value(n).
const MaxKey = 1 << 10

// KeyStep reads the key starting with t and returns the step to the value. For a key that
// cannot be part of a path, it calls long, for a NodePath with its reader and the text
// read so far, and returns false.
func KeyStep(d *gdwire.Decoder, t gdwire.Token, numbers []float64, long func(r *NodePathReader, text []byte) error) (Step, bool, error) {
	switch t.Kind() {
	case gdwire.KindStringChunk:
		if !t.Last() || len(t.Bytes()) > MaxKey {
			return Step{}, false, long(nil, nil)
		}
	case gdwire.KindNodePathStart:
		r := NewNodePathReader(d, t)
		text, whole, err := r.Short()
		if err != nil {
			return Step{}, false, err
		}
		if !whole || r.ambiguous {
			return Step{}, false, long(r, text)
		}
		return Step{Key: Value{Type: gdwire.TypeNodePath, Text: string(text)}}, true, nil
	}
	key := FromToken(t, numbers)
	if !key.IsKey() || slices.ContainsFunc(key.Numbers, otherNaN) {
		return Step{}, false, long(nil, nil)
	}
	return Step{Key: key}, true, nil
}

// nan is the NaN of engines' constant NAN, and of nan in paths and values.
var nan = math.Float64frombits(0x7FF8 << 48)

// otherNaN reports whether x is a NaN with other bits than nan. Both are printed the same.
func otherNaN(x float64) bool { return x != x && math.Float64bits(x) != math.Float64bits(nan) }

// A NodePathReader reads the names of a NodePath and their separators.
type NodePathReader struct {
	d         *gdwire.Decoder
	names     wire.NodePathNames
	started   bool // something was read
	ended     bool // the End was read
	ambiguous bool // the text of another NodePath is the same
}

// NewNodePathReader returns a reader of the NodePath starting with the latest token.
func NewNodePathReader(d *gdwire.Decoder, start gdwire.Token) *NodePathReader {
	names, _, absolute := start.NodePath()
	return &NodePathReader{d: d, names: wire.NamesOf(names, absolute, false)} // one string is as ambiguous
}

// Short reads up to MaxKey bytes and reports whether these are the whole NodePath.
func (r *NodePathReader) Short() (text []byte, whole bool, err error) {
	for len(text) <= MaxKey {
		separator, t, err := r.Next()
		text = append(text, separator...)
		if err != nil || t.Kind() == gdwire.KindEnd {
			return text, true, err
		}
		text = append(text, t.Bytes()...)
	}
	return text, false, nil
}

// Next returns the next chunk of a name with the separator before it, or reads the End, and
// returns the End again in later calls.
func (r *NodePathReader) Next() (separator string, t gdwire.Token, err error) {
	if r.ended {
		return "", gdwire.End(), nil
	}
	t, err = r.d.ReadToken()
	if err != nil {
		return "", t, err
	}
	if !r.started {
		r.started, separator = true, r.names.Start()
	}
	if t.Kind() == gdwire.KindEnd {
		r.ended = true
		return separator, t, nil
	}
	next, wrong := r.names.Next(t.Bytes(), t.Last())
	r.ambiguous = r.ambiguous || wrong != nil
	if next != 0 {
		separator += string(rune(next))
	}
	return separator, t, nil
}
