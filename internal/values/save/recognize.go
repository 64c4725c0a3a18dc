package save

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
	"github.com/gdwire/gdwire/internal/values/text"
)

// Known reports which parts of a Reading were chosen by the caller. The rest is recognized.
type Known struct{ Format, Frame bool }

// input returns the candidates for a Reading.
func (k Known) input(o *Reading) *recognize.Input {
	in := &recognize.Input{Decoder: o.Decoder, Decompress: decompressHead}
	if k.Format {
		in.Formats = []gdwire.Format{o.Decoder.Format}
	}
	if k.Frame {
		in.Frames = []Frame{o.Frame}
	}
	return in
}

// A Recognition describes how a Reading was recognized.
type Recognition struct {
	recognize.Result
	Head   []byte // the start of the content
	Whole  bool   // Head is the whole content
	Header int    // bytes before values, if nothing else is known
	// Other is the sure reading in a format other than the only allowed one, if the content is not whole in the
	// allowed format, or nil.
	Other *recognize.Reading

	reason string // why nothing fits
	part   int    // the offset of the first value in a content not understood as a whole, or 0
	ended  error  // of a search
}

// Sure reports whether no other reading fits.
func (r *Recognition) Sure() bool { return r.Certainty == recognize.Sure && len(r.Readings) == 1 }

// IsEmpty reports whether the content is empty.
func (r *Recognition) IsEmpty() bool { return r.Certainty == recognize.Empty }

// IsDamaged reports whether even the best reading does not read all of the content.
func (r *Recognition) IsDamaged() bool { return r.Certainty == recognize.Damaged }

// IsCutShort reports whether the content ends in a value.
func (r *Recognition) IsCutShort() bool { return r.Certainty == recognize.CutShort }

// fits reports whether the best reading reads all of the content.
func (r *Recognition) fits() bool { return r.Certainty >= recognize.Probably }

// Preview returns the start of the first value in a reading, as text.
func (r *Recognition) Preview(as Reading) string {
	p := text.Printer{Brief: true, Most: 100}
	_ = NewContent(bytes.NewReader(r.Head), int64(len(r.Head)), &as).Packets(Every, func(one *Packet) (bool, error) {
		p.Decoder = one.Decoder
		return false, p.Next(0) // an invalid value is shown up to its error
	})
	return strings.ToValidUTF8(string(p.Buf[:min(len(p.Buf), p.Most)]), text.Ellipsis)
}

// An UnknownError tells why there is no best reading, as the rest of a sentence about the input.
type UnknownError struct {
	text  string
	Final bool // a choice of format and frame gives no values either
}

func (e *UnknownError) Error() string { return e.text }

// Unknown returns an UnknownError, or nil if there is a best reading.
func (r *Recognition) Unknown() error {
	switch r.Certainty {
	case recognize.Empty:
		return &UnknownError{text: "is empty"}
	case recognize.Foreign:
		return &UnknownError{"is " + r.Name + ", not values of Godot" + r.Ended(), true}
	case recognize.Converted:
		return &UnknownError{"went through a text conversion: what was no UTF-8 is EF BF BD now, and the bytes are gone", true}
	case recognize.Unknown:
		return &UnknownError{text: r.reason + r.Ended()}
	case recognize.Ambiguous:
		return &UnknownError{text: fmt.Sprintf("can be read in %d ways", len(r.Readings))}
	}
	return nil
}

// Ended tells, after a comma, why a search for values between other bytes ended, or returns "".
func (r *Recognition) Ended() string {
	if r.ended == nil {
		return ""
	}
	return ", and " + r.ended.Error()
}

// How returns how certain the best reading is, such as "probably ", or "".
func (r *Recognition) How() string {
	switch r.Certainty {
	case recognize.CutShort:
		return "cut short, probably "
	case recognize.Damaged:
		return "damaged, probably "
	case recognize.Probably:
		if r.Whole && len(r.Readings) > 1 {
			break // all readings have the same values, and nothing can follow, as it could in a pipe
		}
		return "probably "
	}
	return ""
}

// IsConverted reports whether the input went through a text conversion.
func (r *Recognition) IsConverted() bool { return r.Certainty == recognize.Converted }

// IsJSON reports whether the input is perhaps JSON.
func (r *Recognition) IsJSON() bool { return strings.HasSuffix(r.Name, "JSON") }

// IsRecognized reports whether a file of this content would be recognized in the reading of c, and
// whole.
func (c *Content) IsRecognized(known Known) bool {
	o := Reading{Decoder: c.Decoder, Frame: c.Frame}
	in := known.input(&o)
	in.Head, in.Size, in.At = make([]byte, min(c.Size, recognize.HeadSize)), c.Size, c
	if _, err := c.ReadAt(in.Head, 0); err != nil && err != io.EOF {
		return false
	}
	r := o.choose(in)
	return r.fits() && slices.Contains(r.Readings, c.Reading())
}

// RecognizePackets recognizes the length-prefixed packets of a connection and sets o. It returns a Reader from their
// start, and reports whether they were recognized. Packets recognized only with one of Skips count as recognized, but
// are invalid.
func (o *Reading) RecognizePackets(r io.Reader, known Known) (_ io.Reader, ok bool, err error) {
	ri := known.input(o)
	ri.Size, ri.Skip = -1, o.Skip
	if !known.Frame || !o.Framed() {
		ri.Frames = []Frame{U32, U32BE}
	}
	if err := recognize.ReadPipe(r, ri); err != nil {
		return nil, false, err
	}
	ok = len(o.choose(ri).Readings) > 0
	for i := 0; !ok && o.Skip == 0 && i < len(Skips); i++ {
		ri.Skip = int64(Skips[i])
		if got := recognize.Recognize(ri); got.Certainty >= recognize.Probably {
			ok = true
			o.Decoder.Format, o.Frame = got.Readings[0].Format, got.Readings[0].Frame
		}
	}
	return io.MultiReader(bytes.NewReader(ri.Head), r), ok, nil
}

// Skips are the most frequent sizes in bytes of a game's own prefix before the value of a packet: a type, or a type
// and a number.
var Skips = []int{1, 2, 4, 5}

// choose sets o to the best reading.
func (o *Reading) choose(ri *recognize.Input) *Recognition {
	r := &Recognition{Result: recognize.Recognize(ri), Head: ri.Head, Whole: int64(len(ri.Head)) == ri.Size}
	if len(ri.Formats) == 1 && r.Certainty < recognize.Probably {
		all := *ri
		all.Formats = nil
		if other := recognize.Recognize(&all); other.Certainty == recognize.Sure && other.Readings[0].Format != ri.Formats[0] {
			r.Other = &other.Readings[0]
		}
	}
	if len(r.Readings) == 0 {
		if ri.Skip == 0 {
			r.explain(ri)
		}
		return r
	}
	o.Decoder.Format, o.Frame, o.Rivals = r.Readings[0].Format, r.Readings[0].Frame, r.Readings[1:]
	if len(r.Readings) > 1 && o.Framed() && !r.Whole {
		for _, other := range r.Readings {
			o.Candidates = append(o.Candidates, other.Format)
		}
	}
	return r
}

// explain sets the reason why nothing fits, and names a part that is understood, also after a header, if the
// whole input is not.
func (r *Recognition) explain(ri *recognize.Input) {
	chosen := ri.Formats
	r.reason = "contains no values of Godot"
	if r.Certainty != recognize.Unknown {
		return
	}
	if len(chosen) == 1 {
		r.reason = "contains no values of " + chosen[0].String()
		if r.Other != nil {
			r.reason += ", but of " + r.Other.Format.String()
		}
		return
	}
	if at, size, t := explain.First(ri.Head, r.Whole); t > 0 {
		r.part = at
		r.reason = fmt.Sprintf("contains values that begin at offset %d (%v", at, t)
		if size > 0 {
			r.reason += fmt.Sprintf(", %d bytes", size)
		}
		r.reason += ") and are followed by something else"
	}
}

// MinZeros is the minimum number of zeros at the end of a content that can be damage.
const MinZeros = 8

const nullSize = 4 // the number of bytes of null

const zeroBlock = 64 << 10 // bytes in which zeros mostly begin

// A Tail finds the zeros at the end of the bytes written to it.
type Tail struct {
	Size int64
	From int64 // the offset of the zeros
}

func (t *Tail) Write(b []byte) (int, error) {
	if used := len(bytes.TrimRight(b, "\x00")); used > 0 {
		t.From = t.Size + int64(used)
	}
	t.Size += int64(len(b))
	return len(b), nil
}

// ZerosAtEnd returns the offset of the zeros at the end of size bytes of r, or size if there are none.
func ZerosAtEnd(r io.ReaderAt, size int64) (int64, error) {
	for start := max(0, size-zeroBlock); ; start = 0 { // all again from the start, because a container cannot be read backward
		t := Tail{start, start}
		if _, err := io.Copy(&t, io.NewSectionReader(r, start, size-start)); t.Size < size {
			return size, cmp.Or(err, io.ErrUnexpectedEOF)
		}
		if t.From > start || start == 0 {
			return t.From, nil
		}
	}
}

// A ZerosError reports zeros in place of the end of a content, as after a power failure.
type ZerosError struct {
	From int64 // the offset of the first zero, or of the first null read from zeros
	Err  error // why no engine wrote them
}

func (e *ZerosError) Error() string {
	return fmt.Sprintf("zeros from offset %d to the end: %s", e.From, strings.TrimPrefix(e.Err.Error(), "gdwire: "))
}

// Unwrap returns Err.
func (e *ZerosError) Unwrap() error { return e.Err }

// A Zeros watches for values and tokens that no engine writes, but that result from reading zeros. The
// zero value is ready for use. All offsets are in the content.
type Zeros struct {
	keys  recognize.NullKeys
	found error // the latest sign of zeros, or nil
	after int64 // the offset after this sign

	err    error // of the value with the number failed
	failed int

	start         int64 // the offset of the latest value
	good          int64 // the offset after the latest value other than null
	values, nulls int   // the number of values, and of nulls at the end
	null          int64 // the offset of the first of these
	own           int64 // the offset of the nulls that end the value before these nulls, or 0
}

// Value notes that d reads a value at an offset.
func (z *Zeros) Value(d *gdwire.Decoder, at int64) {
	z.values++
	z.start = at
	switch {
	case d.PeekKind() != gdwire.KindNil:
		z.nulls, z.own = 0, 0
	case z.nulls == 0:
		z.null = at
		fallthrough
	default:
		z.nulls++
	}
}

// Token notes t, the latest token of d, ending at an offset. For the second key null of a
// Dictionary, Token returns an error, not always due to zeros.
func (z *Zeros) Token(d *gdwire.Decoder, t gdwire.Token, end int64) error {
	switch t.Kind() {
	case gdwire.KindNil:
		if z.own == 0 && z.nulls == 0 {
			z.own = end - nullSize
		}
	case gdwire.KindEnd:
	default:
		z.own = 0
	}
	if z.keys.Next(d, t) > 1 {
		z.note(d, end, errNulls)
		return z.found
	}
	if t.Kind() == gdwire.KindStringChunk && t.Last() && isZeroed(d, t.Bytes()) {
		z.note(d, end, ErrNUL)
	}
	return nil
}

// Good notes that the latest value ends at an offset. If nothing was found in the value, zeros before its end
// are its own.
func (z *Zeros) Good(end int64) {
	if z.nulls == 0 && z.after <= z.start {
		z.good = end
	}
}

// note notes a sign of zeros.
func (z *Zeros) note(d *gdwire.Decoder, end int64, err error) {
	z.found, z.after = &gdwire.Error{Offset: end, Path: string(d.AppendPath(nil)), Err: err}, end
}

// Error notes an error of the latest value. An error that is not about the content is no damage.
func (z *Zeros) Error(err error) {
	if IsDamage(err) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, gdwire.ErrLimit) && !errors.Is(err, gdwire.ErrObject) {
		z.err, z.failed = err, z.values
	}
}

// End returns a ZerosError if the zeros of a tail explain a noted sign or error, or nil. Unless nullsFit is set, nulls after a value
// are a sign. Fewer than MinZeros explain the last text alone.
func (z *Zeros) End(t Tail, nullsFit bool) error {
	from := t.From
	switch {
	case t.Size-from < MinZeros && (z.after < t.Size || !errors.Is(z.found, ErrNUL)):
		return nil
	case z.found != nil && z.after > from:
		return &ZerosError{max(from, z.good), z.found}
	case z.err != nil && z.failed == z.values:
		return &ZerosError{max(from, z.good), z.err}
	case nullsFit || !recognize.NullsFollow(z.values, z.nulls):
		return nil
	case z.null-from >= MinZeros:
	case z.own > 0: // the last nulls of the value are as likely to be zeros in place of others
		from = max(from, z.own)
	default: // the last zeros of the value are its own
		from = z.null
	}
	return &ZerosError{from, errors.New("nulls after a value")}
}

// CheckZeros returns a ZerosError if the content ends in zeros that no engine writes: a Dictionary
// contains the key null twice, text ends in NUL, bytes follow a value, or the expected value cannot
// be read. Nulls after a value without a length are also damage, unless known is set because the
// caller chose format and lengths.
func (c *Content) CheckZeros(known bool) error {
	var end [MinZeros]byte
	if c.Size < MinZeros {
		return nil
	} else if n, err := c.ReadAt(end[:], c.Size-MinZeros); n < MinZeros {
		return checked.NoEOF(err)
	} else if end != [MinZeros]byte{} && !c.endsInNUL(end[:]) {
		return nil
	}
	from, err := ZerosAtEnd(c, c.Size)
	if err != nil {
		return err
	}
	scan := *c
	scan.Decoder.AllowObjects, scan.from = true, from
	var z Zeros
	err = scan.Packets(Every, func(p *Packet) (bool, error) {
		z.Value(p.Decoder, p.Offset)
		for t, err := range p.Tokens() {
			if err == io.EOF { // a length without a value
				break
			}
			if err != nil {
				return false, err
			}
			_ = z.Token(p.Decoder, t, p.InputOffset())
			if z.found != nil && z.after > from {
				return false, z.found
			}
		}
		err := p.Finish(nil)
		if err == nil {
			z.Good(p.InputOffset())
		}
		return true, err
	})
	if err == nil || IsDamage(err) {
		z.Error(err)
		return z.End(Tail{c.Size, from}, known || c.Frame != Bare || err != nil)
	}
	return nil // the call reading the value returns this error
}

// endsInNUL reports whether a text of a small content can end with it, and NUL be its last letter, by the last bytes of a short text.
// end is the last of these. To read all values takes as long as the program does.
func (c *Content) endsInNUL(end []byte) bool {
	const longest, header, text, stringName = 512, 8, 4, 21
	if last := bytes.TrimRight(end, "\x00"); len(last) == len(end) || last[len(last)-1] < ' ' || c.Size > recognize.HeadSize {
		return false
	}
	b := make([]byte, min(c.Size, longest)&^3)
	if n, _ := c.ReadAt(b, c.Size-int64(len(b))); n < len(b) {
		return false
	}
	for at := len(b) - header; at >= 0; at -= lengthSize {
		if b[at] != text && b[at] != stringName {
			continue
		}
		n, letters := int64(U32.Order().Uint32(b[at+lengthSize:])), b[at+header:]
		if (n+3)&^3 == int64(len(letters)) && n > 0 && letters[n-1] == 0 {
			return true
		}
	}
	return false
}

var (
	errNulls = errors.New("a Dictionary with the key null twice")
	// ErrNUL is the error of a text that no engine writes.
	ErrNUL = errors.New("text with NUL")
)

// isZeroed reports whether a text with the last chunk b ends in zeros. No engine writes a
// name without a text in a NodePath.
func isZeroed(d *gdwire.Decoder, b []byte) bool {
	if len(b) > 0 {
		return b[len(b)-1] == 0
	}
	around, _, _ := d.StackIndex(d.Depth())
	return around == gdwire.KindNodePathStart
}
