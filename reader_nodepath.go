package gdwire

import "math"

// Bits of a NodePath: newNodePathBit is in its first word, the others are in its flags.
const (
	newNodePathBit   = 1 << 31
	nodePathAbsolute = 1 << 0
	nodePathProperty = 1 << 1
)

// nodePath reads the start of a NodePath.
func (d *Decoder) nodePath() (Token, error) {
	b, err := d.peek(8)
	if err != nil {
		return Token{}, err
	}
	format := d.options.Format
	n := le.Uint32(b[4:])
	if n&newNodePathBit == 0 {
		if !format.oldNodePath {
			return Token{}, d.fail(4, wrapf(ErrType, "NodePath in one string, which %v does not have", format))
		}
		if format.engine && d.options.Strict {
			return Token{}, d.strict(4, "NodePath as one string")
		}
		if err := d.checkCount(4, 1, 1, 0); err != nil {
			return Token{}, err
		}
		// The string follows in the form of a name.
		d.open(4, KindNodePathStart, TypeNodePath, 1).names = 1
		d.payload.kind = KindNodePathStart
		return newToken(KindNodePathStart, TypeNodePath, flagOldNodePath, 1), nil
	}
	if b, err = d.peek(16); err != nil {
		return Token{}, err
	}
	names, subnames, bits := n&^newNodePathBit, uint64(le.Uint32(b[8:])), le.Uint32(b[12:])
	if d.options.Strict {
		if err := d.canonicalNodePath(bits); err != nil {
			return Token{}, err
		}
	}
	flags := tokenFlags(0)
	if bits&nodePathAbsolute != 0 {
		flags |= flagAbsolute
	}
	if bits&nodePathProperty != 0 && format.property {
		flags |= flagProperty
		subnames++
	}
	total := uint64(names) + subnames
	if format.engine && total > math.MaxUint32 { // engines add in 32 bits
		if d.options.Strict {
			return Token{}, d.strict(4, "NodePath of %d names", total)
		}
		total &= math.MaxUint32
		names = uint32(min(uint64(names), total))
		subnames = total - uint64(names)
	}
	err = d.checkCount(4, total, 1, 4)
	if err == nil {
		err = d.checkLength(4, 8+4*total) // after the number of sub-names and the flags
	}
	if err != nil {
		return Token{}, err
	}
	if total > math.MaxUint32 {
		return Token{}, d.fail(4, wrapf(ErrRange, "NodePath of %d names", total))
	}
	f := d.open(16, KindNodePathStart, TypeNodePath, uint32(total))
	f.names, f.flags = names, flags
	d.payload.kind = KindNodePathStart
	return newToken(KindNodePathStart, TypeNodePath, flags, uint64(names)|subnames<<32), nil
}
