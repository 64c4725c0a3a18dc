package gdwire

import (
	"bufio"

	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// Internal is for the other packages of this module, and no part of the API: its methods can
// change at any time.
var Internal exporter

type exporter struct{}

// Export returns the functions for the other packages of this module. It panics for any argument
// other than the address of internal.AllowInternalUse; other modules cannot import it.
func (exporter) Export(p *internal.NotForPublicUse) export {
	if p != &internal.AllowInternalUse {
		panic("gdwire: Internal is for the packages of this module")
	}
	return export{}
}

// The methods of an export are fast in special cases, or too special for a public API. The compiler
// inlines all but ReadText, so ReadText does the work itself: -1 % of texts of 1 to 8 bytes.
type export struct{}

// ReadPackedString reads the next string of a PackedStringArray, as ReadText does, or returns
// nil and consumes nothing if the fast path cannot read it.
func (export) ReadPackedString(d *Decoder) (text []byte) { return d.fastName() }

// StartStrings reads the start of a PackedStringArray of n strings, or returns false and consumes
// nothing if another value is next, or one for the slow path.
func (export) StartStrings(d *Decoder) (n int, ok bool) { return d.startStrings() }

// PackedLen returns the number of elements of the next value if it is a packed array of this unit that AppendPacked reads in one
// step, and false for any other.
func (export) PackedLen(d *Decoder, u wire.Unit) (n int, ok bool) { return d.packedLen(u) }

// ReadFloats reads a value of math type t into c, as ReadComponents does, or returns false and
// consumes nothing if another value is next, or one for the slow path.
func (export) ReadFloats(d *Decoder, t Type, c []float32) bool { return d.readFloats(t, c) }

// ReadNodePath reads the next value of d as a NodePath and returns its text, such as
// "/root/Player:position", in the memory of to.
//
// ReadNodePath returns nil and consumes nothing if the next value is not a NodePath, if the
// names cannot be found again in the text because one is empty or contains a separator, or if
// the NodePath is not completely in the read buffer yet or the text is longer than 100 bytes.
// Then AppendString appends the text of any NodePath, and ReadToken returns its names.
func (export) ReadNodePath(d *Decoder, to *internal.NodePathText) (text []byte) {
	return d.readShortNodePath(to)
}

// IsOneString reports whether t is the NodePathStart of a NodePath in one string: its single name
// can contain separators.
func (export) IsOneString(t Token) bool { return t.flags()&flagOldNodePath != 0 }

// WatchNodePaths makes d examine the names of skipped NodePaths, until OnlyPlainNodePaths.
func (export) WatchNodePaths(d *Decoder) { d.plainPaths = true }

// OnlyPlainNodePaths reports whether all NodePaths skipped since WatchNodePaths surely can become text. Validate reads
// others by tokens, because SkipValue takes a third of the time of a loop over tokens.
func (export) OnlyPlainNodePaths(d *Decoder) bool {
	plain := d.plainPaths
	d.plainPaths = false
	return plain
}

// NewKey returns the Key of a text.
func (export) NewKey(text string) internal.Key { return newKey(text) }

// ReadKey consumes the next value or key of d and returns true if it is the String k. Otherwise
// ReadKey consumes nothing and returns false, perhaps also for k, for example if k is not
// completely in the read buffer yet.
func (export) ReadKey(d *Decoder, k *internal.Key) bool { return d.readKey(k) }

// WriteKey writes the String k to e, or returns false and writes nothing if this is not possible
// without an error or a flush.
func (export) WriteKey(e *Encoder, k *internal.Key) bool { return e.writeKey(k) }

// Header returns the header, in Godot4, of a value of type t in 32 bits, or of a container.
func (export) Header(t Type) uint32 { return Godot4.data().forms[0].byType[t&63][0].header }

// WritePacked writes a packed array of type t to e, of n elements of unit u, encoded in data, or returns false and
// writes nothing if this is not possible without an error or a flush.
func (export) WritePacked(e *Encoder, t Type, u wire.Unit, n int, data []byte) bool {
	return e.writePacked(t, u, n, data)
}

// Window returns the bytes for values, from n on, if e writes Godot4, and how many containers can be nested in the
// next value, or -1 if no value can be written there. Where only the slow path writes, there are no bytes. Until
// Put, e knows nothing of the new values.
func (export) Window(e *Encoder) (b []byte, n, depth int) { return e.window() }

// Put counts a value in the Window that ends at n.
func (export) Put(e *Encoder, n int) error { return e.putUpTo(n) }

// Open opens an Array or Dictionary of this count that starts in the Window before n, with left values still to
// come. e does not count its earlier values, nor those in containers inside.
func (export) Open(e *Encoder, n int, t Type, count uint32, left uint64) {
	e.openLate(n, t, count, left)
}

// Sync tells e that the innermost container, opened by Open, ends at n so far, with left values still to come.
func (export) Sync(e *Encoder, n int, left uint64) { e.sync(n, left) }

// Rewind closes the containers opened by Open, down to depth, and no longer counts their value.
func (export) Rewind(e *Encoder, depth int) { e.rewind(depth) }

// LastError returns the latest error found by d since Reset, or nil: an [Error], sticky or not, or
// an error of the Reader. It reads nothing. With [errors.Is], code that passes d to a method learns
// whether the method's error is one of d.
func (export) LastError(d *Decoder) error { return d.lastError() }

// Found returns a variable of d, true if d found an error for LastError since Reset. Reading
// the variable for each packet instead of calling LastError is -5 % of Next.
func (export) Found(d *Decoder) *bool { return d.foundError() }

// BytesLeft returns the number of bytes between the position of d and the end of the input
// given by ResetN or ResetBytes, or 0 if the end is unknown.
func (export) BytesLeft(d *Decoder) int64 { return d.bytesLeft() }

// Wrapf returns an error wrapping err, with only the formatted text.
func (export) Wrapf(err error, format string, args ...any) error { return wrapf(err, format, args...) }

// Measure returns the size of values in b, readable by d, by their lengths and counts alone: of a sequence of count
// values and of those in them, as many as can be measured in a short time. rest is the number of the others, or negative if
// other values follow in b. The last value can end after b. Unless wide is set, flags of 64 bits are those of numbers.
func (export) Measure(d *Decoder, b []byte, count int64) (size, rest int64, wide bool) {
	return d.forms.measure(b, count)
}

// ResetStart is d.ResetBytes(b) for bytes after which others can follow, as with Reset: d finds their end where it reaches it.
func (export) ResetStart(d *Decoder, b []byte) { d.resetStart(b) }

// Place makes the offsets of d start at offset, and its paths at the value of this number, such as
// $2, until Reset. Place is for a value in a file, before its first token was read.
func (export) Place(d *Decoder, offset, value int64) { d.place(offset, value) }

// CopyToken writes t as WriteToken does, and a NUL in its text, as [CopyValue] does.
func (export) CopyToken(e *Encoder, t Token) error { return e.copyToken(t) }

// Forget closes e and drops the slice of ResetBytes, so that a pool of Encoders does not keep it
// in memory. Bytes then returns nil.
func (export) Forget(e *Encoder) { e.forget() }

// Refuse makes err the error of e, as Encoder.Fail does, but only until ClearError. It is for
// calls that have written nothing.
func (export) Refuse(e *Encoder, err error) error { return e.failWith(err, false) }

// ReadText reads the next key or value, a String or StringName, or the next string of a
// PackedStringArray or NodePath, and returns its text without copying it. The text is valid
// until the next call on d. The bytes between its length and capacity are those of the input: append
// must not write there. If the next value is of another type, ReadText consumes nothing and returns
// false. For text longer than a chunk, ReadText consumes nothing and returns [bufio.ErrBufferFull].
// This error is not sticky: ReadToken or a typed read can then read the value.
func (export) ReadText(d *Decoder) (text []byte, ok bool, err error) {
	if d.hasFast(d.remaining) {
		b := d.peekFast()
		switch m := le.Uint32(b[4:]) - 1; {
		case le.Uint32(b[:]) != stringHeader:
		case m < 4 && le.Uint32(b[8:])&(wire.NotASCII>>32) == 0: // wire.ShortText, with one test of the size
			return b[8:][:m+1], true, d.consumeValue(12)
		case m < 8:
			if le.Uint64(b[8:])&wire.NotASCII == 0 {
				return b[8:][:m+1], true, d.consumeValue(16)
			}
			return d.readShortText(m + 1)
		default:
			return d.readLongText(m + 1)
		}
	}
	if text := d.fastName(); text != nil {
		return text, true, nil
	}
	return d.readTextSlow()
}

// readShortText reads a String of 1 to 8 bytes, not all ASCII, for ReadText.
func (d *Decoder) readShortText(n uint32) (text []byte, ok bool, err error) {
	if b := d.peekFast(); wire.ValidShort(le.Uint64(b[8:]), n) {
		return b[8:][:n], true, d.consumeValue(8 + int(wire.Padded(n)))
	}
	return d.readTextSlow()
}

// readLongText reads a String of n bytes, other than short ASCII, for ReadText. If readTextSlow looked
// up the form again, ReadText would take 34 to 40 % more instructions for texts of 9 to 64 bytes.
func (d *Decoder) readLongText(n uint32) (text []byte, ok bool, err error) {
	if text := d.textAt(d.r+8, n); text != nil {
		return text, true, d.consumeValue(8 + int(wire.Padded(n)))
	}
	return d.readTextSlow()
}

// readTextSlow reads a text for ReadText: a StringName, one in the last bytes of the buffer, or
// one on the slow path.
func (d *Decoder) readTextSlow() (text []byte, ok bool, err error) {
	if text := d.fastText(); text != nil {
		return text, true, nil
	}
	l, err := d.look()
	if err != nil {
		return nil, false, err
	}
	typ, most := d.top().typ, uint64(d.maxChunk)
	if d.want() == wantName {
		most += uint64(d.format.nul(typ))
	} else {
		if l.expect(nil, nil); l.failed() || l.form.shape != shapeText {
			return nil, false, d.failure()
		}
		typ = l.form.typ
		l.checkHeader()
	}
	// A text longer than a chunk is left to calls that read it in parts. The error is without a path,
	// to allocate none for each such text. A copy reads the length, so that text finds it unread.
	length := l
	n := length.uint32()
	switch {
	case l.failed():
		return nil, false, d.failure()
	case uint64(n) > most:
		return nil, false, bufio.ErrBufferFull
	}
	t, err := d.result(l.text(typ))
	text = t.Bytes()
	d.drop() // no bulk read may continue this text
	return text, err == nil, err
}
