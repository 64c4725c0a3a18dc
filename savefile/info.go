package savefile

import (
	"cmp"
	"fmt"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
)

// Info describes a file, or how to write one.
type Info struct {
	// Format is the format of the values. For New, 0 selects Godot4.
	Format gdwire.Format
	// Lengths says whether a length precedes each value. For New, 0 selects LittleEndian.
	Lengths Lengths
	// DoubleReals reports whether math types have components of 64 bits, as engines of double
	// precision write them; a Color and integers always have 32. Open finds the first such value in
	// the first 4 MiB of the content. WriteTo does not change the components, and Edit writes
	// components of the same size as the values around.
	DoubleReals bool
	// Container is the container: plain, compressed by FileAccess or a script, or encrypted.
	Container fileaccess.Info
	// Key is the key of an encrypted file.
	Key *fileaccess.Key `json:"-"`
	// Sure reports whether no other reading fits. Nothing depends on Sure: see File.Edit. Writers
	// ignore Sure.
	Sure bool
	// Around lists the parts that the game itself wrote around the values, in the order of offsets: a header, a
	// trailer, or records, and the numbers and checksums in these for Save to rewrite; of records, the parts of the
	// first, and wrong parts. Writers ignore Around.
	Around []Part
	// Damage describes the part removed by Options.Repair, or is nil. Writers ignore Damage.
	Damage *DamageError
}

// A Part is a part of the bytes that a game wrote around the values.
type Part struct {
	// Offset and Size are in bytes of the content of the container.
	Offset, Size int64
	// What is "header", "trailer", "records", or the kind of a number or checksum: "size", "size of the content",
	// "number of records", "CRC-32", "Adler-32", "MD5", "SHA-1" or "SHA-256". For records, What describes the part in
	// the first record. A "checksum with a secret" is a guess: 16 bytes or more that look like a checksum and cannot be
	// computed, so the game perhaps refuses the file with other values.
	What string
	// Derived reports whether Save rewrites the part if the values are others.
	Derived bool
	// Doubtful reports whether the part can be something else than What. A part that is also Derived can be a version:
	// then Save returns an error instead of changing the part, unless Options.Keep or Derive contains its Offset.
	Doubtful bool
	// Wrong reports whether the part does not match its values, although in other records it does. Save keeps a wrong
	// part unless its values are changed.
	Wrong bool
}

// String returns a description such as "godot4, lengths, zstd", without the key.
func (i Info) String() string {
	text := i.Format.String() + ", " + i.Lengths.String()
	if c := i.Container.String(); c != fileaccess.Plain.String() {
		text += ", " + c
	}
	return text
}

// withDefaults returns i with values for the fields that can be 0.
func (i Info) withDefaults() Info {
	i.Format = cmp.Or(i.Format, gdwire.Godot4)
	i.Lengths = cmp.Or(i.Lengths, LittleEndian)
	return i
}

// Lengths says whether a length precedes each value.
type Lengths uint8

// The kinds of lengths. Options.Lengths can be 0: recognize.
const (
	NoLengths    Lengths = iota + 1 // var_to_bytes
	LittleEndian                    // store_var
	BigEndian                       // store_var with big_endian
)

var lengthsNames = [...]string{NoLengths: "no lengths", LittleEndian: "lengths", BigEndian: "big-endian lengths"}

// frame returns the frame of valid Lengths. Both are in the same order.
func (l Lengths) frame() save.Frame { return save.Frame(l - 1) }

// lengthsOf returns the Lengths of a frame.
func lengthsOf(f save.Frame) Lengths { return Lengths(f) + 1 }

// valid reports whether l is one of the constants.
func (l Lengths) valid() bool { return l > 0 && int(l) < len(lengthsNames) }

// String returns "no lengths", "lengths" or "big-endian lengths".
func (l Lengths) String() string {
	if !l.valid() {
		return fmt.Sprintf("Lengths(%d)", uint8(l))
	}
	return lengthsNames[l]
}

// Options configures [Open], [Read] and [Load]. The zero value, like nil, recognizes everything. Load merges
// several: a nonzero field replaces the same field of earlier Options.
type Options struct {
	// Decoder configures reading. If Decoder.Format is 0, the format is recognized.
	Decoder gdwire.DecoderOptions
	// Lengths says whether a length precedes each value. 0 means to recognize this.
	Lengths Lengths
	// Container contains the key or password of an encrypted file, and limits. Content compressed by a script
	// is recognized. A file that fits a known Format and Lengths is not taken for FastLZ, unless Raw and Mode
	// select FastLZ.
	Container fileaccess.Options
	// Skip is the size in bytes of a header that the game wrote before the values: in a compressed or encrypted file in
	// its content. The header is written again unchanged.
	Skip int64
	// Keep and Derive contain the offsets of doubtful numbers in Info.Around: Save leaves the numbers in Keep unchanged
	// and rewrites the numbers in Derive.
	Keep, Derive []int64
	// Repair opens a damaged file up to its damage: complete values, and of the damaged value the
	// longest valid start, closed properly. A number of 64 bits, or a null, is also missing if the
	// zeros of a zeroed end begin inside, because a part of the number can be lost. Open and Read then
	// read all of the file. Info.Damage describes the missing part, with the path of the first lost
	// value.
	Repair bool
}
