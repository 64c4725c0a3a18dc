package save

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save/recognize"
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

	reason   string  // why nothing fits
	part     int     // the offset of the first value in a content not understood as a whole, or 0
	evidence float64 // for the best reading
}

// Sure reports whether no other reading fits.
func (r *Recognition) Sure() bool { return r.Certainty == recognize.Sure && len(r.Readings) == 1 }

// IsEmpty reports whether the content is empty.
func (r *Recognition) IsEmpty() bool { return r.Certainty == recognize.Empty }

// IsDamaged reports whether even the best reading does not read all of the content.
func (r *Recognition) IsDamaged() bool { return r.Certainty == recognize.Damaged }

// IsCut reports whether the content ends in a value or packet.
func (r *Recognition) IsCut() bool { return r.Certainty == recognize.CutShort }

// fits reports whether the best reading reads all of the content.
func (r *Recognition) fits() bool { return r.Unknown() == nil && !r.IsDamaged() && !r.IsCut() }

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
		return &UnknownError{text: "is " + r.Name + ", not values of Godot"}
	case recognize.Converted:
		return &UnknownError{"went through a text conversion: what was no UTF-8 is EF BF BD now, and the bytes are gone", true}
	case recognize.Unknown:
		return &UnknownError{text: r.reason}
	case recognize.Ambiguous:
		return &UnknownError{text: fmt.Sprintf("can be read in %d ways", len(r.Readings))}
	}
	return nil
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

// recognize is Recognize for the unchanged content.
func (s *Source) recognize(o *Reading, known Known) (*Recognition, error) {
	ri := known.input(o)
	ri.Size = s.Size
	if s.at != nil {
		ri.At = s.at
	}
	err := recognize.ReadHead(s.Reader, ri, s.Live)
	switch {
	case IsContainerError(err) && len(ri.Head) > 0: // read the head, and then this error
		ri.Size = int64(len(ri.Head))
	case err != nil:
		return nil, err
	}
	s.Reader = io.MultiReader(bytes.NewReader(ri.Head), s.Reader)
	return o.choose(ri), nil
}

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
	if err := recognize.ReadHead(r, ri, true); err != nil {
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
	r.evidence = ri.Evidence
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
	if p, ok := recognize.FindPart(ri); ok {
		r.part = p.Offset
		r.reason = fmt.Sprintf("contains values that begin at offset %d (%v", p.Offset, p.Type)
		if p.Size > 0 {
			r.reason += fmt.Sprintf(", %d bytes", p.Size)
		}
		r.reason += ") and are followed by something else"
	}
}
