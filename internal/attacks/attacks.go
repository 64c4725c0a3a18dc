// Package attacks holds what hostile senders send: the table that the tests hold
// gdwire to, and that bench/attacks measures.
package attacks

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// An Attack is input made to hurt whoever reads it.
type Attack struct {
	// Name says what is sent.
	Name string
	// Format is the name of the format it is in; "" is godot4.
	Format string
	// Objects: it goes against readers that allow objects in full.
	Objects bool
	// ByteByByte: the connection gives no more than a byte at a time.
	ByteByByte bool
	// Parts are the bytes, one behind the other.
	Parts []Part
	// Limited is what the error says when limits are as they are by default, and
	// Unlimited when there are none. "" is no error: it is a value like any other.
	Limited, Unlimited string
	// Depth is how many levels it opens without limits. Keys: they have keys.
	Depth int64
	Keys  bool
	// Row is what the README calls it, if it stands there, and Others what the same
	// did to other decoders.
	Row, Others string
}

// A Part is bytes that come so many times.
type Part struct {
	Bytes []byte
	Times int64
}

// Cells are the first cells of its row: what is sent, in how many bytes, and how
// that ends.
func (a *Attack) Cells() string {
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

// Size returns how many bytes are sent.
func (a *Attack) Size() (n int64) {
	for _, p := range a.Parts {
		n += int64(len(p.Bytes)) * p.Times
	}
	return n
}

// Bytes returns what is sent.
func (a *Attack) Bytes() []byte {
	var b []byte
	for _, p := range a.Parts {
		b = append(b, bytes.Repeat(p.Bytes, int(p.Times))...)
	}
	return b
}

// Reader returns a Reader of what is sent, which makes it as it is asked for.
func (a *Attack) Reader() io.Reader {
	r := &reader{parts: a.Parts}
	if a.ByteByByte {
		return &byByte{r}
	}
	return r
}

// A reader stands at bytes into what its first part sends.
type reader struct {
	parts []Part
	at    int64
}

func (r *reader) Read(p []byte) (n int, err error) {
	for n < len(p) && len(r.parts) > 0 {
		part := r.parts[0]
		size := int64(len(part.Bytes))
		if r.at == size*part.Times {
			r.parts, r.at = r.parts[1:], 0
			continue
		}
		m := copy(p[n:], part.Bytes[r.at%size:])
		n += m
		r.at += int64(m)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

type byByte struct{ r *reader }

func (r *byByte) Read(p []byte) (int, error) { return r.r.Read(p[:min(1, len(p))]) }

// Ids of Godot 4 and its flags, as headers have them.
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

	wide    = 1 << 16 // components of 64 bits
	builtin = 1 << 16 // elements or keys are of a built-in type,
	class   = 2 << 16 // a class,
	script  = 3 << 16 // a script's
	values  = 1 << 2  // times this: values are

	newPath = 1 << 31 // in a NodePath's first word
)

// Ids of Godot 2.
const (
	idImage2      = 15
	idNodePath2   = 16
	idInputEvent2 = 19
)

const (
	million = 1_000_000
	mega    = 1 << 20

	ended = "unexpected EOF"
	typed = "wrong type"
	text  = "invalid UTF-8"

	// A name has to fit a token, so that there always is a limit on it.
	nameLimit = "exceeds limit NameBytes (1073741824)"
)

// limit is what the error says of a limit at its default.
func limit(name string) string {
	return fmt.Sprintf("exceeds limit %s (%d)", name, map[string]int64{
		"Depth": 1024, "Elements": 1 << 20, "Values": 1 << 24, "StringBytes": 16 << 20, "NameBytes": 1 << 10, "PackedBytes": 256 << 20,
	}[name])
}

// words are numbers of 32 bits as they are sent.
func words(w ...uint32) (b []byte) {
	for _, w := range w {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func once(b []byte) Part              { return Part{b, 1} }
func times(n int64, w ...uint32) Part { return Part{words(w...), n} }
func letters(n int64) Part            { return Part{[]byte("a"), n} }
func parts(p ...Part) []Part          { return p }
func sent(w ...uint32) []Part         { return parts(once(words(w...))) }
func textOf(id uint32, s string) []Part {
	n := uint32(len(s))
	return parts(once(words(id, n)), once([]byte(s)), once(make([]byte, -n&3)))
}

// All returns the table.
func All() []Attack {
	all := append(counts(), nested()...)
	all = append(all, containers()...)
	all = append(all, names()...)
	return append(all, texts()...)
}

// counts are lies in 8 to 16 bytes.
func counts() (all []Attack) {
	const most, negative = 1<<31 - 1, 1<<32 - 1
	for _, c := range []struct {
		name    string
		format  string
		head    []uint32
		limited string
		// What comes back where engines read a negative count as none.
		none bool
	}{
		{name: "array", head: []uint32{idArray}, limited: limit("Elements")},
		{name: "typed array", head: []uint32{idArray | builtin, 2}, limited: limit("Elements")},
		{name: "dictionary", head: []uint32{idDictionary}, limited: limit("Elements")},
		{name: "string", head: []uint32{idString}, limited: limit("StringBytes")},
		{name: "StringName", head: []uint32{idStringName}, limited: limit("StringBytes")},
		{name: "byte array", head: []uint32{idBytes}, limited: limit("PackedBytes")},
		{name: "int array", head: []uint32{idInt32s}, limited: limit("PackedBytes")},
		{name: "array of four doubles", head: []uint32{idVector4s | wide}, limited: limit("PackedBytes")},
		{name: "string array", head: []uint32{idStrings}, limited: limit("Elements"), none: true},
		{name: "string of a string array", head: []uint32{idStrings, 1}, limited: limit("StringBytes")},
		{name: "class name", head: []uint32{idObject}, limited: limit("NameBytes")},
		{name: "object", head: []uint32{idObject, 1, 'A'}, limited: limit("Elements"), none: true},
		{name: "signal name", head: []uint32{idSignal}, limited: limit("NameBytes")},
		{name: "class name of elements", head: []uint32{idArray | class}, limited: limit("NameBytes")},
		{name: "script of values", head: []uint32{idDictionary | values*script}, limited: limit("NameBytes")},
		{name: "path of one string", format: "godot2", head: []uint32{idNodePath2}, limited: limit("StringBytes")},
	} {
		for _, n := range []uint32{most, negative} {
			if c.format != "" && n == negative {
				continue // that is a count of names
			}
			for tail := 0; tail == 0 || len(c.head)+1+tail <= 4; tail++ {
				a := Attack{
					Name: fmt.Sprintf("%s of %d and %d bytes", c.name, n, 4*tail), Format: c.format, Objects: true,
					Parts: parts(once(words(c.head...)), once(words(n)), times(int64(tail), idNil)), Limited: c.limited, Unlimited: ended, Depth: 1,
				}
				switch {
				case c.limited == limit("NameBytes"):
					a.Unlimited = nameLimit
				case c.none && n == negative:
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
		Attack{Name: "signal name of 1073741824 and 0 bytes", Parts: sent(idSignal, 1<<30), Limited: limit("NameBytes"), Unlimited: ended},
		Attack{Name: "path of 2147483647 names", Parts: sent(idNodePath, newPath|most, 0, 0), Limited: limit("Elements"), Unlimited: ended, Depth: 1},
		Attack{Name: "path of 2147483647 sub-names", Parts: sent(idNodePath, newPath, most, 0), Limited: limit("Elements"), Unlimited: ended, Depth: 1},
		Attack{Name: "path of 4294967295 sub-names", Parts: sent(idNodePath, newPath, negative, 0), Limited: limit("Elements"), Unlimited: ended, Depth: 1},
		Attack{Name: "path whose counts overflow", Parts: sent(idNodePath, newPath|1, negative, 0), Depth: 1},
		Attack{Name: "path of 6442450942 names", Format: "manual4", Parts: sent(15, newPath|most, negative, 0), Limited: limit("Elements"), Unlimited: "out of range"},
		Attack{Name: "image of 4294967295 bytes", Format: "godot2", Parts: sent(idImage2, 0, 0, 1, 1, negative), Limited: limit("PackedBytes"), Unlimited: ended, Depth: 1},
	)
}

// nested are containers that never come to a value.
func nested() (all []Attack) {
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
			a := Attack{
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

// containers are many, or of something odd.
func containers() (all []Attack) {
	all = []Attack{
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
		{"paths", []uint32{idNodePath, newPath, 0, 0}},
	} {
		a := Attack{Name: fmt.Sprintf("%d empty %s", many, c.name), Parts: parts(once(words(idArray, many)), times(many, c.empty...)), Depth: 2}
		if c.name == "dictionaries" {
			a.Row = "65,536 empty dictionaries"
		}
		all = append(all, a)
	}
	return append(all,
		Attack{Name: "elements of a type that there is not", Parts: sent(idArray|builtin, 39, 1<<20), Limited: typed, Unlimited: typed, Row: "elements of a type that there is not"},
		Attack{Name: "elements of a negative type", Parts: sent(idArray|builtin, 1<<32-1, 1), Limited: typed, Unlimited: typed},
		Attack{Name: "values of a type that there is not", Parts: sent(idDictionary|builtin|values*builtin, 2, 255, 1), Limited: typed, Unlimited: typed},
		Attack{Name: "elements of no type", Parts: sent(idArray|builtin, 0, 0), Depth: 1},
		Attack{Name: "every flag there is", Parts: sent(idArray|0xFFFFFF00, 0, 0), Depth: 1},
		Attack{Name: "a type that there is not", Parts: sent(39), Limited: typed, Unlimited: typed},
		Attack{Name: "an InputEvent of 11 bytes", Format: "godot2", Parts: sent(idInputEvent2, 0, 0, 11), Limited: "out of range", Unlimited: "out of range", Row: "an InputEvent of 11 bytes"},
		Attack{Name: "an InputEvent of no bytes", Format: "godot2", Parts: sent(idInputEvent2, 0, 0, 0), Limited: "out of range", Unlimited: "out of range"},
		Attack{Name: "a key event without a key", Format: "godot2", Parts: sent(idInputEvent2, 1, 0, 12), Limited: "out of range", Unlimited: "out of range"},
		Attack{Name: "an InputEvent of 4294967295 bytes", Format: "godot2", Parts: sent(idInputEvent2, 0, 0, 1<<32-1), Limited: limit("NameBytes"), Unlimited: nameLimit, Row: "an InputEvent of 2^32-1 bytes"},
		Attack{Name: "an InputEvent of 4294967288 bytes", Format: "godot2", Parts: sent(idInputEvent2, 1, 0, 1<<32-8), Limited: limit("NameBytes"), Unlimited: nameLimit},
	)
}

// names are long ones, which tokens hold whole.
func names() []Attack {
	long := func(name string, p ...Part) Attack {
		return Attack{Name: name, Objects: true, Parts: p, Limited: limit("NameBytes"), Depth: 1}
	}
	row := long("a class name of a megabyte", once(words(idObject, mega)), letters(mega), once(words(0)))
	row.Row = row.Name
	slow := long("a class name of a megabyte, byte by byte", row.Parts...)
	slow.ByteByByte = true
	return []Attack{
		row, slow,
		{Name: "20000 bytes of a name of a gigabyte", Parts: parts(once(words(idSignal, 1<<30)), letters(20_000)), Limited: limit("NameBytes"), Unlimited: ended},
		long("a property of a megabyte", once(words(idObject, 1, 'A', 1, mega)), letters(mega), once(words(idNil))),
		long("a signal of a megabyte", once(words(idSignal, mega)), letters(mega), once(words(0, 0))),
		long("elements of a class of a megabyte", once(words(idArray|class, mega)), letters(mega), once(words(0))),
		long("keys and values of a script of a megabyte", once(words(idDictionary|script|values*script, mega)), letters(mega),
			once(words(mega)), letters(mega), once(words(0))),
	}
}

// texts are text and data: without an end, in small pieces, of bad characters.
func texts() (all []Attack) {
	all = []Attack{
		{Name: "a string whose end is never sent", Parts: parts(once(words(idString, 16<<20)), letters(1000)), Limited: ended, Unlimited: ended, Depth: 1, Row: "a string whose end is never sent"},
		{Name: "an array whose end is never sent", Parts: parts(once(words(idBytes, 256<<20)), letters(1000)), Limited: ended, Unlimited: ended, Depth: 1},
		{Name: "a name whose end is never sent", Parts: parts(once(words(idSignal, 1<<10)), letters(1000)), Limited: ended, Unlimited: ended},
		{Name: "a string of a megabyte, byte by byte", ByteByByte: true, Parts: parts(once(words(idString, mega)), letters(mega)), Depth: 1, Row: "a string of a megabyte, byte by byte"},
		{Name: "a byte array of a megabyte, byte by byte", ByteByByte: true, Parts: parts(once(words(idBytes, mega)), letters(mega)), Depth: 1},
		{Name: "arrays of a megabyte, byte by byte", ByteByByte: true, Parts: parts(once(words(idArray, mega/8)), times(mega/8, idArray, 0)), Depth: 2},
		{Name: "a megabyte with a bad byte at its end", Parts: parts(once(words(idString, mega)), letters(mega-1), once([]byte{0xFF})),
			Limited: text, Unlimited: text, Depth: 1, Row: "a megabyte with a bad byte at its end"},
	}
	for _, bad := range []string{
		"\x80", "\xff", "\xc0\x80", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xed\xa0\x80", "\xed\xbf\xbf",
		"\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xe2\x82a", "\x00\x80",
	} {
		all = append(all, Attack{Name: fmt.Sprintf("text of %x", bad), Parts: textOf(idString, bad), Limited: text, Unlimited: text})
	}
	return all
}
