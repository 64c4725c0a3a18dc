package recognize

import "github.com/gdwire/gdwire"

// NullKeys finds Dictionaries with the key null twice. Zeros in place of the end of a file are read as
// nulls, and no engine writes a key twice. The zero value is ready for use.
type NullKeys struct {
	found []bool // by depth, whether the key null was found in the Dictionary there
	key   bool   // the next token starts a key
}

// Twice reports whether t, the latest token of d, is the second key null of a Dictionary.
func (n *NullKeys) Twice(d *gdwire.Decoder, t gdwire.Token) bool {
	key := n.key
	n.key = t.Kind() == gdwire.KindDictKey
	depth := d.Depth()
	switch {
	case t.Kind() == gdwire.KindDictStart:
		for len(n.found) <= depth {
			n.found = append(n.found, false)
		}
		n.found[depth] = false
	case key && t.Kind() == gdwire.KindNil:
		twice := n.found[depth]
		n.found[depth] = true
		return twice
	}
	return false
}

// NullsFollow reports whether the last of several values without lengths, which are null, can be zeros in
// place of the end of a file: all after the first are, or more than one.
func NullsFollow(values, nulls int) bool {
	return values > 1 && (nulls >= values-1 || nulls > 1)
}
