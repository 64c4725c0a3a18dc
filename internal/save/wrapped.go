package save

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save/envelope"
	"github.com/gdwire/gdwire/internal/save/recognize"
)

// Recognize recognizes the content and sets the unknown parts of o to the best reading, if there is one.
// Afterwards the content can be read from the start. If the content itself is not surely values, Recognize
// looks for values after a header or before a trailer of the game, or in records, as base64 text, and as a
// stream of FastLZ, none with a signature at the start; s is then the Source of these values.
func (s *Source) Recognize(o *Reading, known Known) (*Recognition, error) {
	before := *o
	plain, err := s.recognize(o, known)
	o.head = err == nil && !plain.Whole && !o.Framed() && !(known.Format && known.Frame)
	if err != nil || plain.Sure() && !s.isRivalled(o, plain) || plain.IsEmpty() || plain.IsConverted() {
		return plain, err
	}
	if got := s.around(before, known, plain); got != nil {
		*s, *o = *got.source, got.reading
		return got.recognition, nil
	}
	for _, n := range []int{plain.part - lengthSize, plain.part} {
		if n > 0 && s.readsAfter(n, plain, before, known) {
			plain.Header, plain.reason = n, fmt.Sprintf("contains no values of Godot in its first %d bytes", n)
			break
		}
	}
	if plain.Sure() || s.Container.Container != fileaccess.Plain {
		return plain, nil
	}
	for _, find := range []func(*Source, Reading, Known, *Recognition) *wrapped{(*Source).base64, (*Source).fastlz} {
		if got := find(s, before, known, plain); got != nil {
			*s, *o = *got.source, got.reading
			return got.recognition, nil
		}
	}
	if rest := bytes.TrimLeft(plain.Head, " \t\ufeff"); plain.Certainty == recognize.Foreign && len(rest) < len(plain.Head) && isBase64(rest) {
		plain.Header = len(plain.Head) - len(rest)
		plain.Name = "perhaps base64 text after other bytes"
	}
	return plain, nil
}

// readsAfter reports whether all of the content is values after a header of n bytes, as if the header was skipped.
// readsAfter returns false for a pipe, because a pipe can be read only once.
func (s *Source) readsAfter(n int, r *Recognition, o Reading, known Known) bool {
	in := *s
	if r.Whole {
		in.at = section(r.Head)
	}
	if !in.rewind() || in.skip(int64(n), false) != nil || s.Container.IsPlain() && in.openContainer(s.options.Container) != nil {
		return false
	}
	after, err := in.recognize(&o, known)
	return err == nil && after.fits() && in.checkValues(&o) == nil
}

// FindContainer is Recognize for a known reading: values in base64 text and in a stream of FastLZ are found.
// FindContainer does not wait for a pipe.
func (s *Source) FindContainer(o *Reading) error {
	if s.Live || s.at == nil {
		return nil
	}
	as := *o
	_, err := s.Recognize(&as, Known{Format: true, Frame: true})
	return err
}

// fastlz returns the values in the content as a stream of FastLZ, or nil if there are none. plain describes the
// content otherwise.
func (s *Source) fastlz(o Reading, known Known, plain *Recognition) *wrapped {
	co := s.options.Container
	co.Raw, co.Mode, co.Base64 = true, fileaccess.FastLZ, s.Container.Base64.Text
	whole := plain.Whole || s.at != nil
	if !whole && plain.Unknown() == nil || !s.isFastLZ(plain, &o, known) {
		return nil // a pipe can be read only once
	}
	if whole && known.Format && known.Frame { // Sure says nothing then
		written := o
		written.Decoder.Strict = true // to a lenient Decoder, many streams are values, too
		if s.fromStart(plain).checkValues(&written) == nil {
			return nil
		}
	}
	in := s.fromStart(plain)
	if err := in.openContainer(co); err != nil || in.Err != nil || plain.Head[0]>>5 > 0 && in.Size >= 0 && in.Size < envelope.FastLZLevel2 {
		return nil
	}
	r, err := in.Recognize(&o, known)
	if err != nil || !r.fits() || plain.fits() && !r.Sure() || whole && in.checkValues(&o) != nil {
		return nil
	}
	return &wrapped{in, o, r}
}

// base64 returns the values in the content as base64 text, or nil if there are none.
func (s *Source) base64(o Reading, known Known, plain *Recognition) *wrapped {
	if plain.Unknown() == nil || s.Container.Base64.Text || !isBase64(plain.Head) {
		return nil
	}
	in := s.fromStart(plain)
	if in.at == nil {
		text, err := in.ReadAll()
		if err != nil {
			return nil
		}
		in.at = section(text)
		in.rewind()
	}
	co := s.options.Container
	co.Base64 = true
	if err := in.openContainer(co); err != nil || in.Err != nil && in.Size < minCutText {
		return nil
	}
	r, err := in.Recognize(&o, known)
	isKnown := in.Container.Container != fileaccess.Plain || r.Certainty == recognize.Foreign && in.Size >= minCutText
	if err != nil || r.Unknown() != nil && !isKnown {
		return nil
	}
	return &wrapped{in, o, r}
}

// minCutText is the minimum content of a cut or damaged text.
const minCutText = 24

// isBase64 reports whether text begins like base64.
func isBase64(head []byte) bool {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n"
	return len(head) >= 8 && len(bytes.Trim(bytes.TrimRight(head, " \t\r\n"), digits)) == 0
}

// fromStart returns a Source like s, read from the start. r describes the content.
func (s *Source) fromStart(r *Recognition) *Source {
	in := *s
	if in.packed != nil { // of base64
		in.at = in.packed
	} else if r.Whole { // the content of a pipe, too
		in.at = section(r.Head)
	}
	in.Held, in.packed, in.again = false, nil, nil
	in.rewind()
	return &in
}

// isFastLZ reports whether a content begins like a stream of FastLZ. Of zeros and many other bytes a stream can consist, so
// the content of a stream of more than maxAround bytes must begin like values before all of it is decompressed.
func (s *Source) isFastLZ(of *Recognition, o *Reading, known Known) bool {
	r, err := fileaccess.NewReader(bytes.NewReader(of.Head), &fileaccess.Options{
		Raw: true, Mode: fileaccess.FastLZ, Limits: fileaccess.Limits{Size: recognize.HeadSize},
	})
	var head []byte
	if err == nil {
		head, err = io.ReadAll(r)
	}
	isCut := !of.Whole && errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, fileaccess.ErrLimit)
	if s.Size <= maxAround {
		return err == nil && len(head) >= fastlzFilled || isCut
	}
	in := known.input(o)
	in.Head, in.Size = head, -1
	return isCut && recognize.Recognize(in).Certainty >= recognize.Ambiguous
}

// checkValues returns an error if the content contains anything else than whole values.
func (s *Source) checkValues(o *Reading) error {
	c, err := s.Content(o)
	if err != nil {
		return err
	}
	c.Decoder.AllowObjects, c.Decoder.Limits = true, gdwire.NoLimits
	if err := c.CheckLengths(); err != nil {
		return err
	}
	return c.Packets(Every, func(p *Packet) (bool, error) { return true, p.Finish(nil) })
}
