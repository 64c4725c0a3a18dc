package gdwire

import (
	"math"
	"math/bits"
	"strings"
)

// WriteNodePath writes a NodePath from its text, such as "/root/Player:position:x". As
// engines do, it omits empty names and a colon at the end. Two colons in a row, which
// engines call invalid, are [ErrRange].
func (e *Encoder) WriteNodePath(nodePath string) error {
	if e.writeShortNodePath(nodePath) {
		return nil
	}
	forms, err := e.begin(TypeNodePath)
	if err != nil {
		return err
	}
	if err := checkName(e, nodePath); err != nil {
		return err
	}
	names, subnames, _ := strings.Cut(nodePath, ":")
	parts := [...]struct{ text, separator string }{{names, "/"}, {subnames, ":"}}
	size, counts := int64(16), [2]uint32{}
	for i, part := range parts {
		for rest := part.text; rest != ""; {
			var name string
			if name, rest, _ = strings.Cut(rest, part.separator); name != "" {
				size += 4 + int64(padded(uint32(len(name))))
				counts[i]++
			} else if i == 1 {
				return e.fail(wrapf(ErrRange, "NodePath with two colons in a row"))
			}
		}
	}
	if size > maxName {
		return e.fail(wrapf(ErrRange, "NodePath of %d bytes is too long", size))
	}
	b, err := e.room(int(size))
	if err != nil {
		return err
	}
	flags := uint32(0)
	if strings.HasPrefix(names, "/") {
		flags = nodePathAbsolute
	}
	putNodePath(b, forms[0].header, counts[0], counts[1], flags)
	end := b[:16]
	for _, part := range parts {
		for rest := part.text; rest != ""; {
			var name string
			if name, rest, _ = strings.Cut(rest, part.separator); name != "" {
				end = appendName(end, name)
			}
		}
	}
	return e.value(b)
}

// shortNodePath is the size of the longest text that writeShortNodePath writes.
const shortNodePath = 64

// writeShortNodePath writes a NodePath on the fast path, in one pass over its text, eight
// bytes at a time. It returns false if it has written nothing: WriteNodePath then handles
// rare texts and errors. It saves 23 % of the time of writing the structs of the large saved
// game.
func (e *Encoder) writeShortNodePath(text string) bool {
	// No encoding is longer than that of one-byte names.
	const most = fastSize + 4*(shortNodePath+1)
	n := e.n
	if len(text) > shortNodePath || n > e.valueLim-most || e.left == 0 {
		return false
	}
	var counts [2]uint32
	b := e.buf[n : n+most+8]
	size, start, part := fastSize, 0, 0
	for i := 0; i <= len(text); i += 8 {
		word := short(text[i:])
		if word&notASCII != 0 {
			return false
		}
		ends := equalBytes(word, '/') | equalBytes(word, ':')
		if rest := len(text) - i; rest < 8 {
			ends |= 0x80 << (8 * rest) // the end of the text
		}
		for ; ends != 0; ends &= ends - 1 {
			end := i + bits.TrailingZeros64(ends)/8
			colon := end < len(text) && text[end] == ':'
			if part == 1 && !colon && end < len(text) {
				continue // a slash in a sub-name
			}
			if name := text[start:end]; name != "" {
				le.PutUint32(b[size:], uint32(len(name)))
				size += 4 + putText(b[size+4:], name)
				counts[part&1]++
			} else if part == 1 {
				return false
			}
			if start = end + 1; colon {
				part = 1
			}
		}
	}
	flags := uint32(0)
	if text != "" && text[0] == '/' {
		flags = nodePathAbsolute
	}
	putNodePath(b, e.forms[TypeNodePath][0].header, counts[0], counts[1], flags)
	e.take(size)
	return true
}

// equalBytes returns a word with the highest bit set in each byte in which word, which is
// ASCII, has c.
func equalBytes(word uint64, c byte) uint64 {
	const ones = 0x0101010101010101
	return ^((word ^ ones*uint64(c)) + 0x7F*ones) & (0x80 * ones)
}

// putText puts short text and its padding into b and returns their size. It overwrites up to
// 8 bytes after them.
func putText(b []byte, text string) int {
	if len(text) <= 8 {
		le.PutUint64(b, short(text))
	} else {
		le.PutUint32(b[len(text)&^3:], 0)
		copy(b, text)
	}
	return int(padded(uint32(len(text))))
}

// putNodePath puts the head of a NodePath into b.
func putNodePath(b []byte, header, names, subnames, flags uint32) {
	le.PutUint32(b, header)
	le.PutUint32(b[4:], names|newNodePathBit)
	le.PutUint32(b[8:], subnames)
	le.PutUint32(b[12:], flags)
}

// BeginNodePath begins a NodePath with the given numbers of names and sub-names. Write each
// with WriteString, then call End.
func (e *Encoder) BeginNodePath(names, subnames int, absolute bool) error {
	if names < 0 || subnames < 0 {
		return e.fail(wrapf(ErrRange, "NodePath of %d names and %d sub-names", names, subnames))
	}
	flags := tokenFlags(0)
	if absolute {
		flags = flagAbsolute
	}
	return e.beginNodePath(int64(names), int64(subnames), flags)
}

func (e *Encoder) beginNodePath(names, subnames int64, flags tokenFlags) error {
	if b := e.fast(); b != nil && flags&^flagAbsolute == 0 && names+subnames <= math.MaxInt32 {
		putNodePath(b[:], e.forms[TypeNodePath][0].header, uint32(names), uint32(subnames), uint32(flags/flagAbsolute)*nodePathAbsolute)
		e.n += fastSize
		f := e.push(KindNodePathStart, TypeNodePath, uint32(names+subnames))
		f.names, f.flags = uint32(names), flags
		e.fastNames(0)
		return nil
	}
	forms, err := e.begin(TypeNodePath)
	if err != nil {
		return err
	}
	f := frame{kind: KindNodePathStart, typ: TypeNodePath, names: uint32(names), flags: flags}
	if names > math.MaxInt32 { // Bit 31 of the count says which form the path has.
		return e.fail(wrapf(ErrRange, "NodePath of %d names", names))
	}
	if err := e.declare(names+subnames, &f); err != nil {
		return err
	}
	format := e.options.Format
	bits := uint32(0)
	if flags&flagAbsolute != 0 {
		bits |= nodePathAbsolute
	}
	if flags&flagProperty != 0 && format.keepProperty && subnames > 0 {
		bits |= nodePathProperty
		subnames--
	}
	var head [16]byte
	putNodePath(head[:], forms[0].header, uint32(names), uint32(subnames), bits)
	if flags&flagOldNodePath == 0 {
		return startLong(e, &f, head[:], "", nil)
	}
	if !format.oldNodePath {
		return e.fail(wrapf(ErrType, "%v has no NodePath of one string", format))
	}
	return startLong(e, &f, head[:4], "", nil) // The length of the string follows.
}
