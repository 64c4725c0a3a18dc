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
// rare texts and errors. Without it, Marshal takes 36 % more instructions.
func (e *Encoder) writeShortNodePath(text string) bool {
	// No encoding is longer than that of one-byte names.
	const most = fastSize + 4*(shortNodePath+1)
	n := e.n
	if len(text) > shortNodePath || n > e.valueLim-most || e.left == 0 {
		return false
	}
	b := (*[most + 8]byte)(e.buf[n:])
	from, flags := 0, uint32(0)
	if text != "" && text[0] == '/' {
		from, flags = 1, nodePathAbsolute
	}
	var source [shortNodePath + 8]byte // the text, followed by zeros
	copy(source[:], text)
	var counts [2]uint32 // of names and sub-names
	part, size := 0, fastSize
	for from < len(text) { // from is after a separator
		to := size + 4
		var word, colons, ends uint64
		for {
			word = le.Uint64(source[from : from+8 : from+8])
			if word&notASCII != 0 {
				return false
			}
			colons = equalBytes(word, ':')
			ends = colons
			if part == 0 {
				ends |= equalBytes(word, '/')
			}
			if ends != 0 || len(text)-from <= 8 {
				break
			}
			le.PutUint64(b[to:to+8:to+8], word)
			from, to = from+8, to+8
		}
		end := ends & -ends      // the highest bit of the separator
		rest := len(text) - from // the bytes of the name in word
		if end != 0 {
			rest = bits.TrailingZeros64(end) / 8
			word &= end>>7 - 1
		}
		le.PutUint64(b[to:to+8:to+8], word)
		from += rest + 1
		if length := to + rest - size - 4; length > 0 {
			le.PutUint32(b[size:size+4:size+4], uint32(length))
			size += 4 + int(padded(uint32(length)))
			counts[part&1]++
		} else if part == 1 {
			return false
		}
		if colons&end != 0 {
			part = 1
		}
	}
	putNodePath(b[:], e.forms[TypeNodePath][0].header, counts[0], counts[1], flags)
	e.take(size)
	return true
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
	flags := tokenFlags(0)
	if absolute {
		flags = flagAbsolute
	}
	return e.beginNodePath(int64(names), int64(subnames), flags)
}

func (e *Encoder) beginNodePath(names, subnames int64, flags tokenFlags) error {
	short := uint64(names) <= math.MaxInt32 && uint64(subnames) <= math.MaxInt32-uint64(names)
	if b := e.fast(); b != nil && flags&^flagAbsolute == 0 && short {
		putNodePath(b[:], e.forms[TypeNodePath][0].header, uint32(names), uint32(subnames), uint32(flags/flagAbsolute)*nodePathAbsolute)
		e.n += fastSize
		f := e.push(KindNodePathStart, TypeNodePath, uint32(names+subnames), 0)
		f.names, f.flags = uint32(names), flags
		e.fastNames(0)
		return nil
	}
	forms, err := e.begin(TypeNodePath)
	if err != nil {
		return err
	}
	f := frame{kind: KindNodePathStart, typ: TypeNodePath, names: uint32(names), count: uint32(names + subnames), flags: flags}
	// Bit 31 of the number of names says which form the path has.
	if names < 0 || names > math.MaxInt32 || subnames < 0 || subnames > e.maxCount(&f)-names {
		return e.fail(wrapf(ErrRange, "NodePath of %d names and %d sub-names", names, subnames))
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
