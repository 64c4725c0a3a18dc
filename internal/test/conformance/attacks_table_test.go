package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing/iotest"
)

// An attack is an input that tries to exhaust or crash its reader.
type attack struct {
	// Name describes the input.
	Name string
	// Format is the name of its format; "" is godot4.
	Format string
	// Objects reports whether it requires a Decoder with AllowObjects.
	Objects bool
	// ByteByByte reports whether its Reader returns one byte at a time.
	ByteByByte bool
	// Parts are the parts of the input, in order.
	Parts []attackPart
	// Limited is part of the error's text with default limits, and Unlimited
	// without limits. "" means that the input is valid.
	Limited, Unlimited string
	// Depth is the number of nested containers if there are no limits.
	Depth int64
	// Keys reports whether these containers have keys.
	Keys bool
	// Row is its description in the table of the README, or "" if it is not in
	// the table. Others is the table's last column, the effect on other decoders.
	Row, Others string
}

// A attackPart is a repeated sequence of bytes.
type attackPart struct {
	Bytes []byte
	Times int64
}

// Cells returns the first three cells of its row in the README: description, size
// in bytes, and error.
func (a *attack) Cells() string {
	end := a.Limited
	if name, ok := strings.CutPrefix(end, "exceeds limit "); ok {
		name, _, _ = strings.Cut(name, " ")
		end = "`" + name + "`"
	} else if end == "" {
		end = "no error"
	}
	size := fmt.Sprint(a.Size())
	for i := len(size) - 3; i > 0; i -= 3 {
		size = size[:i] + "," + size[i:]
	}
	return fmt.Sprintf("| %s | %s | %s |", a.Row, size, end)
}

// Size returns the length of the input in bytes.
func (a *attack) Size() (n int64) {
	for _, p := range a.Parts {
		n += int64(len(p.Bytes)) * p.Times
	}
	return n
}

// Bytes returns the input in memory.
func (a *attack) Bytes() []byte {
	var b []byte
	for _, p := range a.Parts {
		b = append(b, bytes.Repeat(p.Bytes, int(p.Times))...)
	}
	return b
}

// Reader returns a Reader that generates the input.
func (a *attack) Reader() io.Reader {
	var all []io.Reader
	for _, p := range a.Parts {
		all = append(all, io.LimitReader(&cycle{b: p.Bytes}, int64(len(p.Bytes))*p.Times))
	}
	if a.ByteByByte {
		return iotest.OneByteReader(io.MultiReader(all...))
	}
	return io.MultiReader(all...)
}

// A cycle is a Reader of the same bytes again and again.
type cycle struct {
	b  []byte
	at int
}

func (c *cycle) Read(p []byte) (n int, err error) {
	for n < len(p) {
		m := copy(p[n:], c.b[c.at:])
		n, c.at = n+m, (c.at+m)%len(c.b)
	}
	return n, nil
}

// Type ids and header flags of Godot 4.
const (
	idNil        = 0
	idString     = 4
	idStringName = 21
	idNodePath   = 22
	idObject     = 24
	idSignal     = 26
	idDictionary = 27
	idArray      = 28
	idBytes      = 29
	idInt32s     = 30
	idStrings    = 34
	idVector4s   = 38
	idUnknown    = 200

	wideFlag = 1 << 16 // components of 64 bits
	builtin  = 1 << 16 // the declared type of elements or keys is a built-in type,
	class    = 2 << 16 // a class,
	script   = 3 << 16 // or a script
	values   = 1 << 2  // factor: the same for the type of values

	newNodePath = 1 << 31 // the flag in a NodePath's first word
)

// Type ids of Godot 2.
const (
	idImage2      = 15
	idNodePath2   = 16
	idInputEvent2 = 19
)

const (
	mega = 1 << 20

	ended   = "unexpected EOF"
	typed   = "type id"
	badText = "invalid UTF-8"

	// A name must fit in a token, so NameBytes cannot be disabled.
	nameLimit = "exceeds limit NameBytes (1073741824)"
)

// limit returns the error's text for a limit with its default value.
func limit(name string) string {
	return fmt.Sprintf("exceeds limit %s (%d)", name, map[string]int64{
		"Depth": 1024, "Elements": 1 << 20, "Values": 1 << 24, "StringBytes": 16 << 20, "NameBytes": 1 << 10, "PackedBytes": 256 << 20,
	}[name])
}

// words encodes numbers of 32 bits.
func words(w ...uint32) (b []byte) {
	for _, w := range w {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func once(b []byte) attackPart              { return attackPart{b, 1} }
func times(n int64, w ...uint32) attackPart { return attackPart{words(w...), n} }
func letters(n int64) attackPart            { return attackPart{[]byte("a"), n} }
func parts(p ...attackPart) []attackPart    { return p }
func sent(w ...uint32) []attackPart         { return parts(once(words(w...))) }
func textPacket(id uint32, s string) []attackPart {
	n := uint32(len(s))
	return parts(once(words(id, n)), once([]byte(s)), once(make([]byte, -n&3)))
}

// allAttacks returns the table.
func allAttacks() []attack {
	all := append(countAttacks(), nestedAttacks()...)
	all = append(all, containerAttacks()...)
	all = append(all, nameAttacks()...)
	return append(all, textAttacks()...)
}

// countAttacks returns inputs of few bytes that declare large counts.
func countAttacks() (all []attack) {
	const most, negative = 1<<31 - 1, 1<<32 - 1
	for _, c := range []struct {
		name    string
		format  string
		head    []uint32
		limited string
		// engines read a negative count as 0
		negativeIsZero bool
	}{
		{name: "array", head: []uint32{idArray}, limited: limit("Elements")},
		{name: "typed array", head: []uint32{idArray | builtin, 2}, limited: limit("Elements")},
		{name: "dictionary", head: []uint32{idDictionary}, limited: limit("Elements")},
		{name: "string", head: []uint32{idString}, limited: limit("StringBytes")},
		{name: "StringName", head: []uint32{idStringName}, limited: limit("StringBytes")},
		{name: "byte array", head: []uint32{idBytes}, limited: limit("PackedBytes")},
		{name: "int array", head: []uint32{idInt32s}, limited: limit("PackedBytes")},
		{name: "array of four doubles", head: []uint32{idVector4s | wideFlag}, limited: limit("PackedBytes")},
		{name: "string array", head: []uint32{idStrings}, limited: limit("Elements"), negativeIsZero: true},
		{name: "string of a string array", head: []uint32{idStrings, 1}, limited: limit("StringBytes")},
		{name: "class name", head: []uint32{idObject}, limited: limit("NameBytes")},
		{name: "object", head: []uint32{idObject, 1, 'A'}, limited: limit("Elements"), negativeIsZero: true},
		{name: "signal name", head: []uint32{idSignal}, limited: limit("NameBytes")},
		{name: "class name of elements", head: []uint32{idArray | class}, limited: limit("NameBytes")},
		{name: "script of values", head: []uint32{idDictionary | values*script}, limited: limit("NameBytes")},
		{name: "NodePath of one string", format: "godot2", head: []uint32{idNodePath2}, limited: limit("StringBytes")},
	} {
		for _, n := range []uint32{most, negative} {
			if c.format != "" && n == negative {
				continue // bit 31 marks a NodePath of several names
			}
			for tail := 0; tail == 0 || len(c.head)+1+tail <= 4; tail++ {
				a := attack{
					Name: fmt.Sprintf("%s of %d and %d bytes", c.name, n, 4*tail), Format: c.format, Objects: true,
					Parts: parts(once(words(c.head...)), once(words(n)), times(int64(tail), idNil)), Limited: c.limited, Unlimited: ended, Depth: 1,
				}
				switch {
				case c.limited == limit("NameBytes"):
					a.Unlimited = nameLimit
				case c.negativeIsZero && n == negative:
					a.Limited, a.Unlimited = "", ""
				}
				all = append(all, a)
			}
		}
	}
	for i := range all {
		switch a := &all[i]; a.Name {
		case "array of 2147483647 and 0 bytes":
			a.Row, a.Others = "a count of 2^31-1", "34 GB in a Go decoder, a JavaScript one aborts"
		case "array of 2147483647 and 8 bytes":
			a.Row, a.Others = "the same and 8 bytes more", "51 GB in a Rust decoder"
		case "string of 4294967295 and 0 bytes":
			a.Row = "a string of 2^32-1 bytes"
		}
	}
	return append(all,
		attack{Name: "signal name of 1073741824 and 0 bytes", Parts: sent(idSignal, 1<<30), Limited: limit("NameBytes"), Unlimited: ended},
		attack{Name: "NodePath of 2147483647 names", Parts: sent(idNodePath, newNodePath|most, 0, 0), Limited: limit("Elements"), Unlimited: ended, Depth: 1},
		attack{Name: "NodePath of 2147483647 sub-names", Parts: sent(idNodePath, newNodePath, most, 0), Limited: limit("Elements"), Unlimited: ended, Depth: 1},
		attack{Name: "NodePath of 4294967295 sub-names", Parts: sent(idNodePath, newNodePath, negative, 0), Limited: limit("Elements"), Unlimited: ended, Depth: 1},
		attack{Name: "NodePath with counts that overflow", Parts: sent(idNodePath, newNodePath|1, negative, 0), Depth: 1},
		attack{Name: "NodePath of 6442450942 names", Format: "manual4", Parts: sent(15, newNodePath|most, negative, 0), Limited: limit("Elements"), Unlimited: "NodePath of 6442450942 names"},
		attack{Name: "image of 4294967295 bytes", Format: "godot2", Parts: sent(idImage2, 0, 0, 1, 1, negative), Limited: limit("PackedBytes"), Unlimited: ended, Depth: 1},
	)
}

// nestedAttacks returns deeply nested containers without a value inside.
func nestedAttacks() (all []attack) {
	for _, c := range []struct {
		name  string
		level []uint32
		row   string
	}{
		{"arrays", []uint32{idArray, 1}, "100,000 nested arrays"},
		{"typed arrays", []uint32{idArray | builtin, idArray, 1}, ""},
		{"dictionaries", []uint32{idDictionary, 1, idNil}, "100,000 nested dictionaries"},
		{"dictionaries with names", []uint32{idDictionary, 1, idString, 1, 'k'}, ""},
		{"keys", []uint32{idDictionary, 1}, "100,000 dictionaries as keys"},
		{"objects", []uint32{idObject, 1, 'A', 1, 1, 'p'}, ""},
	} {
		for _, n := range []int64{100_000, 10 * million} {
			a := attack{
				Name: fmt.Sprintf("%d nested %s", n, c.name), Objects: true, Parts: parts(times(n, c.level...)),
				Limited: limit("Depth"), Unlimited: ended, Depth: n, Keys: !strings.HasSuffix(c.name, "arrays"), Row: c.row,
			}
			switch {
			case n == 100_000 && c.row != "":
				a.Others = "Godot 3.2.3 crashes"
			case c.name == "arrays":
				a.Row = "10,000,000 nested arrays"
			default:
				a.Row = ""
			}
			all = append(all, a)
		}
	}
	return all
}

// containerAttacks returns inputs with many containers, or with invalid types.
func containerAttacks() (all []attack) {
	all = []attack{
		{Name: "a chain of arrays, each of 1048576", Parts: parts(times(1000, idArray, 1<<20)),
			Limited: limit("Values"), Unlimited: ended, Depth: 1000, Row: "1000 nested arrays of 1<<20 each"},
		{Name: "a chain of dictionaries, each of 1048576", Parts: parts(times(1000, idDictionary, 1<<20)),
			Limited: limit("Values"), Unlimited: ended, Depth: 1000, Keys: true},
		{Name: "a chain of arrays, each of one too many", Parts: sent(idArray, 1<<20, idArray, 1<<20+1),
			Limited: limit("Elements"), Unlimited: ended, Depth: 2},
	}
	const many = 64 << 10
	for _, c := range []struct {
		name  string
		empty []uint32
	}{
		{"arrays", []uint32{idArray, 0}},
		{"dictionaries", []uint32{idDictionary, 0}},
		{"strings", []uint32{idString, 0}},
		{"string arrays", []uint32{idStrings, 0}},
		{"byte arrays", []uint32{idBytes, 0}},
		{"NodePaths", []uint32{idNodePath, newNodePath, 0, 0}},
	} {
		a := attack{Name: fmt.Sprintf("%d empty %s", many, c.name), Parts: parts(once(words(idArray, many)), times(many, c.empty...)), Depth: 2}
		if c.name == "dictionaries" {
			a.Row = "65,536 empty dictionaries"
		}
		all = append(all, a)
	}
	return append(all,
		attack{Name: "elements of an unknown type", Parts: sent(idArray|builtin, idUnknown, 1<<20), Limited: typed, Unlimited: typed, Row: "elements of an unknown type"},
		attack{Name: "elements of a negative type", Parts: sent(idArray|builtin, 1<<32-1, 1), Limited: typed, Unlimited: typed},
		attack{Name: "values of an unknown type", Parts: sent(idDictionary|builtin|values*builtin, 2, idUnknown, 1), Limited: typed, Unlimited: typed},
		attack{Name: "elements of no type", Parts: sent(idArray|builtin, 0, 0), Depth: 1},
		attack{Name: "all flags", Parts: sent(idArray|0xFFFFFF00, 0, 0), Depth: 1},
		attack{Name: "an unknown type", Parts: sent(idUnknown), Limited: typed, Unlimited: typed},
		attack{Name: "an InputEvent of 11 bytes", Format: "godot2", Parts: sent(idInputEvent2, 0, 0, 11), Limited: "InputEvent of type", Unlimited: "InputEvent of type", Row: "an InputEvent of 11 bytes"},
		attack{Name: "an InputEvent of no bytes", Format: "godot2", Parts: sent(idInputEvent2, 0, 0, 0), Limited: "InputEvent of type", Unlimited: "InputEvent of type"},
		attack{Name: "a key event without a key", Format: "godot2", Parts: sent(idInputEvent2, 1, 0, 12), Limited: "InputEvent of type", Unlimited: "InputEvent of type"},
		attack{Name: "an InputEvent of 4294967295 bytes", Format: "godot2", Parts: sent(idInputEvent2, 0, 0, 1<<32-1), Limited: limit("NameBytes"), Unlimited: nameLimit, Row: "an InputEvent of 2^32-1 bytes"},
		attack{Name: "an InputEvent of 4294967288 bytes", Format: "godot2", Parts: sent(idInputEvent2, 1, 0, 1<<32-8), Limited: limit("NameBytes"), Unlimited: nameLimit},
	)
}

// nameAttacks returns long names, which tokens hold whole.
func nameAttacks() []attack {
	long := func(name string, p ...attackPart) attack {
		return attack{Name: name, Objects: true, Parts: p, Limited: limit("NameBytes"), Depth: 1}
	}
	row := long("a class name of a megabyte", once(words(idObject, mega)), letters(mega), once(words(0)))
	row.Row = row.Name
	slow := long("a class name of a megabyte, byte by byte", row.Parts...)
	slow.ByteByByte = true
	return []attack{
		row, slow,
		{Name: "20000 bytes of a name of a gigabyte", Parts: parts(once(words(idSignal, 1<<30)), letters(20_000)), Limited: limit("NameBytes"), Unlimited: ended},
		long("a property of a megabyte", once(words(idObject, 1, 'A', 1, mega)), letters(mega), once(words(idNil))),
		long("a signal of a megabyte", once(words(idSignal, mega)), letters(mega), once(words(0, 0))),
		long("elements of a class of a megabyte", once(words(idArray|class, mega)), letters(mega), once(words(0))),
		long("keys and values of a script of a megabyte", once(words(idDictionary|script|values*script, mega)), letters(mega),
			once(words(mega)), letters(mega), once(words(0))),
	}
}

// textAttacks returns strings and packed data that are incomplete, that arrive in small
// pieces, or that are not UTF-8.
func textAttacks() (all []attack) {
	all = []attack{
		{Name: "a string whose end is never sent", Parts: parts(once(words(idString, 16<<20)), letters(1000)), Limited: ended, Unlimited: ended, Depth: 1, Row: "a string whose end is never sent"},
		{Name: "an array whose end is never sent", Parts: parts(once(words(idBytes, 256<<20)), letters(1000)), Limited: ended, Unlimited: ended, Depth: 1},
		{Name: "a name whose end is never sent", Parts: parts(once(words(idSignal, 1<<10)), letters(1000)), Limited: ended, Unlimited: ended},
		{Name: "a string of a megabyte, byte by byte", ByteByByte: true, Parts: parts(once(words(idString, mega)), letters(mega)), Depth: 1, Row: "a string of a megabyte, byte by byte"},
		{Name: "a byte array of a megabyte, byte by byte", ByteByByte: true, Parts: parts(once(words(idBytes, mega)), letters(mega)), Depth: 1},
		{Name: "arrays of a megabyte, byte by byte", ByteByByte: true, Parts: parts(once(words(idArray, mega/8)), times(mega/8, idArray, 0)), Depth: 2},
		{Name: "a megabyte with a bad byte at its end", Parts: parts(once(words(idString, mega)), letters(mega-1), once([]byte{0xFF})),
			Limited: badText, Unlimited: badText, Depth: 1, Row: "a megabyte with a bad byte at its end"},
	}
	for _, bad := range []string{
		"\x80", "\xff", "\xc0\x80", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xed\xa0\x80", "\xed\xbf\xbf",
		"\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xe2\x82a", "\x00\x80",
	} {
		all = append(all, attack{Name: fmt.Sprintf("text of %x", bad), Parts: textPacket(idString, bad), Limited: badText, Unlimited: badText})
	}
	return all
}
