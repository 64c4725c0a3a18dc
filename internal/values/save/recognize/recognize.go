// Package recognize finds the format and frame of bytes of unknown origin, by reading them
// in all formats and frames.
package recognize

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// A Frame is the form of the length before each packet, if any.
type Frame uint8

// The frames.
const (
	Bare  Frame = iota // no lengths: one value, or several consecutive values
	U32                // 32 bits, little-endian
	U32BE              // 32 bits, big-endian
)

var frameNames = [...]string{Bare: "none", U32: "u32", U32BE: "u32be"}

// String returns the name of the frame: none, u32 or u32be.
func (f Frame) String() string { return frameNames[f] }

// An Order is the byte order of lengths.
type Order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// Order returns the byte order of the lengths, or nil if there are none.
func (f Frame) Order() Order { return [...]Order{nil, binary.LittleEndian, binary.BigEndian}[f] }

// A Reading is a format and a frame for reading the input.
type Reading struct {
	Format gdwire.Format
	Frame  Frame
}

// String returns the flags that choose the reading.
func (r Reading) String() string {
	return "-format " + r.Format.String() + " -frame " + r.Frame.String()
}

// An Input is the start of a file or stream to recognize.
type Input struct {
	Head []byte
	Size int64 // of the whole input, or -1 if not known
	// At, if not nil, reads the input beyond Head, to follow the lengths of packets to the end.
	At io.ReaderAt
	// Formats and Frames are the candidates. nil means all.
	Formats []gdwire.Format
	Frames  []Frame
	// Skip is the number of bytes before the value in each packet. Frames are then not nil.
	Skip int64
	// Decompress, if not nil, returns the content of a packet compressed by a script, or of its start.
	// Decompress is called for packets with a header that no engine writes.
	Decompress func(packet []byte, cut bool) (Decompressed, bool)
	// Decoder contains the options of the trials. Format, limits, Strict and
	// AllowObjects are ignored.
	Decoder gdwire.DecoderOptions

	sure         bool                       // a sure reading was found
	decompressed map[packetAt]*Decompressed // results of Decompress; nil for a packet that is not compressed
}

// A Decompressed is the content of a packet compressed by a script.
type Decompressed struct {
	Content []byte // up to HeadSize bytes
	Cut     bool   // there is more
	Zeros   bool   // zeros may follow a value, to fill up the content
	Sure    bool   // the packet begins with a signature
}

// A packetAt is the extent of a packet in Head.
type packetAt struct{ offset, length int }

// decompress returns the content of the packet at an offset in Head, or nil for a packet that is not
// compressed.
func (in *Input) decompress(offset int, packet []byte, cut bool) *Decompressed {
	if in.Decompress == nil || len(packet) < minPacket || PlainHeader(packet) {
		return nil
	}
	at := packetAt{offset, len(packet)}
	c, known := in.decompressed[at]
	if !known {
		if one, ok := in.Decompress(packet, cut); ok {
			c = &one
		}
		if in.decompressed == nil {
			in.decompressed = map[packetAt]*Decompressed{}
		}
		in.decompressed[at] = c
	}
	return c
}

const (
	// HeadSize is the number of bytes of the largest input that is read whole to recognize it.
	HeadSize = 64 << 10
	// LargeSize is the number of bytes read of a larger one.
	LargeSize = 16 << 10
	// PipeSize is the same for a pipe, unless the first packet is shorter.
	PipeSize = 4 << 10

	minSure = 24 // bytes needed for Sure
)

// A Certainty tells how reliable a Result is.
type Certainty uint8

// The certainties, in ascending order.
const (
	Unknown   Certainty = iota // nothing fits
	Foreign                    // another kind of file, named by Result.Name
	Converted                  // values that were decoded and encoded as text
	Empty                      // no bytes
	Ambiguous                  // several readings with different values fit equally well
	Damaged                    // most of the input can be read
	CutShort                   // the input ends too early
	Probably                   // one reading fits best
	Sure                       // one reading fits
)

// A Result is the outcome of Recognize.
type Result struct {
	Certainty Certainty
	// Readings contains the best readings, all fitting equally well. Unless the Certainty is
	// Ambiguous, all of them read the same values.
	Readings []Reading
	Name     string  // of a Foreign input
	Evidence float64 // for the best reading, in bits
}

// Recognize returns the readings that fit the input best: the reading with the most evidence, and those
// with about as much.
func Recognize(in *Input) Result {
	if in.Skip > 0 {
		return in.skip()
	}
	if r := in.bySignature(); r.Certainty != Unknown {
		return r
	}
	all := in.trials()
	best := slices.MaxFunc(all, func(a, b *trial) int { return cmp.Compare(a.evidence, b.evidence) })
	if (best.evidence <= 0 || best.certainty() != Sure) && isConverted(in.Head) {
		return Result{Certainty: Converted}
	}
	if best.evidence <= 0 {
		return Result{}
	}
	r := Result{Certainty: best.certainty(), Readings: []Reading{best.Reading}, Evidence: best.evidence}
	for _, t := range all {
		if t == best || !t.rivals(best) {
			continue
		}
		r.Readings = append(r.Readings, t.Reading)
		if t.sum() != best.sum() || t.ending != whole && t.Frame != best.Frame {
			r.Certainty = Ambiguous
		}
	}
	return r
}

// skip recognizes packets without their first bytes.
func (in *Input) skip() (best Result) {
	for _, frame := range in.Frames {
		after := *in
		after.Skip, after.Frames, after.Head, after.decompressed = 0, []Frame{frame}, nil, nil
		for head := in.Head; len(head) >= lengthSize; {
			length := int64(frame.length(head))
			if length < in.Skip {
				break
			}
			packet := head[lengthSize:][:min(length, int64(len(head)-lengthSize))]
			after.Head = frame.Order().AppendUint32(after.Head, uint32(length-in.Skip))
			after.Head = append(after.Head, packet[min(in.Skip, int64(len(packet))):]...)
			head = head[lengthSize+len(packet):]
		}
		if in.Size >= 0 {
			after.Size = int64(len(after.Head))
		}
		if r := Recognize(&after); r.Evidence > best.Evidence {
			best = r
		}
	}
	return best
}

// trials returns the best trial of each candidate. Once a trial is sure, only trials with the same end are added.
func (in *Input) trials() (all []*trial) {
	frames, formats := in.Frames, in.Formats
	if frames == nil {
		frames = []Frame{U32, U32BE, Bare}
	}
	if formats == nil {
		formats = []gdwire.Format{gdwire.Godot4, gdwire.Godot3, gdwire.Godot2}
	}
	in.sure = false
	open := false // a value can be packets
	var ends [len(frameNames)]int64
	for _, frame := range frames {
		ends[frame] = in.lengthsEnd(frame)
	}
	for _, first := range []bool{true, false} { // first the frames that can be sure
		for _, frame := range frames {
			mayBeWhole := frame == Bare || in.Size < 0 || ends[frame] == in.Size
			if mayBeWhole != first || in.sure && !first && !(open && in.startsWith(frame)) {
				continue
			}
			for _, format := range formats {
				if t := in.best(Reading{format, frame}, ends[frame]); !in.sure || t.ending == whole || open && t.ending == cut {
					all = append(all, t)
					in.sure = in.sure || t.certainty() == Sure
					open = open || t.open
				}
			}
		}
	}
	return all
}

// startsWith reports whether the head can start with a whole packet.
func (in *Input) startsWith(f Frame) bool {
	n := f.length(in.Head)
	return n >= minPacket && n%4 == 0 && int64(n) <= int64(len(in.Head)-lengthSize)
}

// best returns the best trial of a reading.
func (in *Input) best(r Reading, end int64) *trial {
	t := in.try(r, end, manner{strict: true})
	switch {
	case in.sure:
	case t.trailing:
		t = t.orBetter(in.try(r, end, manner{strict: true, several: true}))
	case t.ending == damaged && t.refused:
		t = t.orBetter(in.try(r, end, manner{}))
	}
	return t
}

// known returns the minimum size of the input.
func (in *Input) known() int64 { return max(in.Size, int64(len(in.Head))) }

// whole reports whether Head is the whole input.
func (in *Input) whole() bool { return in.Size == int64(len(in.Head)) }

// signatures contains the first bytes of other kinds of files.
var signatures = []struct{ start, name string }{
	{"RSRC", "a resource of Godot (.res, .scn)"}, {"RSCC", "a compressed resource of Godot (.res, .scn)"},
	{"GDPC", "a package of Godot (.pck)"}, {"ECFG", "project settings of Godot (project.binary)"},
	{"GDSC", "a compiled script or cached shader of Godot (.gdc, .cache)"}, {"GST2", "a texture of Godot (.ctex)"}, {"GDST", "a texture of Godot (.stex)"},
	{"\x89PNG", "a PNG image"}, {"\xff\xd8\xff", "a JPEG image"}, {"RIFF", "a RIFF file (WebP, WAV)"}, {"OggS", "an Ogg file"},
	{"\x1f\x8b", "gzip data"}, {"\x28\xb5\x2f\xfd", "Zstandard data"}, {"PK\x03\x04", "a ZIP archive"}, {"7z\xbc\xaf", "a 7-Zip archive"},
	{"\x7fELF", "an ELF program"}, {"SQLite format 3\x00", "an SQLite database"}, {"%PDF", "a PDF document"},
}

// bySignature recognizes files of other kinds.
func (in *Input) bySignature() Result {
	if len(in.Head) == 0 && in.Size <= 0 {
		return Result{Certainty: Empty}
	}
	for _, s := range signatures {
		if bytes.HasPrefix(in.Head, []byte(s.start)) {
			return Result{Certainty: Foreign, Name: s.name}
		}
	}
	switch {
	case isText(in.Head, in.whole()):
		if isJSON(in.Head) {
			return Result{Certainty: Foreign, Name: "text, perhaps JSON"}
		}
		return Result{Certainty: Foreign, Name: "text"}
	case isUTF16(in.Head):
		return Result{Certainty: Foreign, Name: "text in UTF-16, perhaps JSON"}
	case len(in.Head) > 4 && len(bytes.Trim(in.Head, "\x00")) == 0:
		return Result{Certainty: Foreign, Name: "nothing but zeros"}
	}
	return Result{}
}

// isText reports whether b, whole or cut, is text. Encoded values are not text, because lengths and headers contain
// NULs.
func isText(b []byte, whole bool) bool {
	const rare = 32 // bytes of text for each control character
	controls := 0
	for _, c := range b {
		if c == 0 {
			return false
		} else if isControl(c) {
			controls++
		}
	}
	if len(b) < 4 || controls*rare > len(b) {
		return false
	}
	return utf8.Valid(b) || !whole && isUTF8(b)
}

// isUTF8 reports whether b is the start of UTF-8.
func isUTF8(b []byte) bool {
	const mayBeCut = utf8.UTFMax - 1
	for cut := range mayBeCut + 1 {
		if utf8.Valid(b[:len(b)-min(cut, len(b))]) {
			return true
		}
	}
	return false
}

// isConverted reports whether values were decoded and encoded as text: bytes that were no UTF-8 are now U+FFFD, also
// where no text can be, because text follows its length.
func isConverted(b []byte) bool {
	if !bytes.Contains(b, []byte("\ufffd")) || !isUTF8(b) {
		return false
	}
	for start := 0; start < len(b); start++ { // of a possible text
		end := start
		for end < len(b) && !isControl(b[end]) {
			end++
		}
		if i := bytes.LastIndex(b[start:end], []byte("\ufffd")); i >= 0 {
			if length := start - lengthSize; length < 0 || int64(U32.length(b[length:])) < int64(i+len("\ufffd")) {
				return true
			}
		}
		start = end
	}
	return false
}

// isJSON reports whether a text begins like JSON, and not like a scene or configuration: [gd_scene format=3].
func isJSON(b []byte) bool {
	start := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\ufeff")), " \t\r\n")
	switch {
	case bytes.HasPrefix(start, []byte("{")), bytes.HasPrefix(start, []byte(`"`)):
		return true
	case !bytes.HasPrefix(start, []byte("[")):
		return false
	}
	start = bytes.TrimLeft(start[1:], " \t\r\n")
	name := bytes.TrimLeft(start, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	switch string(start[:len(start)-len(name)]) {
	case "", "true", "false", "null", "nan", "inf", "NaN", "Infinity":
		return true
	}
	return false
}

// isUTF16 reports whether b starts with a byte order mark of UTF-16 and an ASCII character.
func isUTF16(b []byte) bool {
	return len(b) >= 4 && (b[0] == 0xff && b[1] == 0xfe && b[3] == 0 && b[2] != 0 || b[0] == 0xfe && b[1] == 0xff && b[2] == 0 && b[3] != 0)
}

// ReadHead reads the first bytes of r into in.Head: all, if there are fewer than HeadSize, and otherwise LargeSize. If r ends
// before, ReadHead sets in.Size.
func ReadHead(r io.Reader, in *Input) (err error) {
	size := int64(HeadSize)
	if in.Size > size {
		size = LargeSize
	}
	head := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err = head.ReadFrom(io.LimitReader(r, size))
	in.Head = head.Bytes()
	switch n := int64(len(in.Head)); {
	case err != nil:
	case n < size:
		in.Size = n
	case n == HeadSize && in.Size != n:
		in.Head = in.Head[:LargeSize]
	}
	return err
}

// ReadPipe is ReadHead for a pipe. Its sender can wait for an answer, so ReadPipe reads only until packets are recognized or
// PipeSize bytes are received.
func ReadPipe(r io.Reader, in *Input) error {
	head := make([]byte, PipeSize)
	for n := 0; n < len(head); {
		m, err := r.Read(head[n:])
		n += m
		in.Head = head[:n]
		if err == io.EOF {
			in.Size = int64(n)
			return nil
		}
		if err != nil || in.framed() {
			return err
		}
	}
	return nil
}

// framed reports whether the head is recognized as length-prefixed packets of any format.
func (in *Input) framed() bool {
	r := Recognize(in)
	return (r.Certainty >= Probably || r.Certainty == Ambiguous) && r.Readings[0].Frame != Bare
}
