package savefile

import (
	"cmp"
	"encoding/binary"
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
	// precision write them; a Color and integers have 32 in any. Open finds the first such value in
	// the first 4 MiB of the content. WriteTo does not change them, and Edit writes those of the
	// other values around.
	DoubleReals bool
	// Container is the container: plain, compressed by FileAccess or a script, or encrypted.
	Container fileaccess.Info
	// Key is the key of an encrypted file.
	Key *fileaccess.Key `json:"-"`
	// Sure reports whether no other reading fits. It decides nothing: see File.Edit. Writers ignore it.
	Sure bool
	// Around lists what the game has written around the values of its own, in the order of offsets: a header, a trailer, or records, and
	// the numbers and checksums in these that Save writes anew; of records, those of the first, and those that are wrong. Writers ignore it.
	Around []Part
	// Damage describes the part that Options.Repair has removed, or is nil. Writers ignore it.
	Damage *DamageError
}

// A Part is a part of what a game has written around the values.
type Part struct {
	// Offset and Size are in bytes of the content of the container.
	Offset, Size int64
	// What is "header", "trailer", "records", or what a number or checksum is: "size", "size of the content", "number of records",
	// "CRC-32", "Adler-32", "MD5", "SHA-1" or "SHA-256". In records, it is the one in the first. A "checksum with a secret" is a guess:
	// 16 bytes or more that look like one and cannot be computed, so that the game perhaps refuses the file with other values.
	What string
	// Derived reports whether Save writes the part anew if the values are others.
	Derived bool
	// Doubtful reports whether the part can be something else than What. If it is Derived as well, it can be a version: then Save
	// returns an error instead of changing it, unless Options.Keep or Derive contains its Offset.
	Doubtful bool
	// Wrong reports whether the part is not right for its values, as it is in other records. Save keeps it unless these are changed.
	Wrong bool
}

// String returns a description such as "godot4, lengths, zstd". It does not contain the key.
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

// lengths contains the name and frame of each kind of Lengths.
var lengths = [...]struct {
	name  string
	frame save.Frame
}{
	NoLengths:    {"no lengths", save.Bare},
	LittleEndian: {"lengths", save.U32},
	BigEndian:    {"big-endian lengths", save.U32BE},
}

// order returns the byte order of the lengths, or nil if there are none.
func (l Lengths) order() binary.ByteOrder { return lengths[l].frame.Order() }

// valid reports whether l is one of the constants.
func (l Lengths) valid() bool { return l > 0 && int(l) < len(lengths) }

// String returns "no lengths", "lengths" or "big-endian lengths".
func (l Lengths) String() string {
	if !l.valid() {
		return fmt.Sprintf("Lengths(%d)", uint8(l))
	}
	return lengths[l].name
}

// lengthsOf returns the Lengths of a frame.
func lengthsOf(f save.Frame) Lengths {
	for l := NoLengths; ; l++ {
		if lengths[l].frame == f {
			return l
		}
	}
}

// Options configures [Open], [Read] and [Load]. The zero value, like nil, recognizes everything. Load merges
// several: a field that is not zero replaces that of earlier Options.
type Options struct {
	// Decoder configures reading. If its Format is 0, the format is recognized.
	Decoder gdwire.DecoderOptions
	// Lengths says whether a length precedes each value. If it is 0, that is recognized.
	Lengths Lengths
	// Container contains the key or password of an encrypted file, and limits. What a script compressed
	// is recognized. A file that fits a known Format and Lengths is taken for no FastLZ: Raw and Mode say it.
	Container fileaccess.Options
	// Skip is the size in bytes of a header that the game has written before the values: in a compressed or encrypted file in
	// its content. It is written again as it was.
	Skip int64
	// Keep and Derive contain the offsets of numbers around the values that Save keeps, and of those that it writes anew, where
	// Info.Around says that this is doubtful.
	Keep, Derive []int64
	// Repair opens a damaged file up to its damage: complete values, and of the damaged value
	// the longest valid start, closed properly. A number of 64 bits, or a null, is also missing if the zeros
	// of a zeroed end begin in it, because a part of it can be lost. Open and Read then read all of
	// the file. Info.Damage describes the missing part, with the path of the first value that is lost.
	Repair bool
}
