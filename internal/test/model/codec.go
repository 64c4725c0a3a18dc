package model

import (
	"bytes"
	"errors"
	"io"

	"github.com/gdwire/gdwire"
)

// Decode reads the value at the start of p.
func Decode(p []byte, o gdwire.DecoderOptions) (v Value, size int64, err error) {
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(p)
	v, err = Read(d)
	return v, d.InputOffset(), err
}

// Encode writes v by typed calls.
func Encode(v *Value, o gdwire.EncoderOptions, unknown bool) ([]byte, error) {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &o)
	err := first(writeValue(e, v, unknown), e.Close)
	return b.Bytes(), err
}

// Rewrite re-encodes the first value of p token by token.
func Rewrite(p []byte, from gdwire.DecoderOptions, to gdwire.EncoderOptions) ([]byte, error) {
	d := gdwire.NewDecoder(bytes.NewReader(p), &from)
	defer d.Release()
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &to)
	for t, err := range d.Tokens() {
		if err != nil {
			return nil, err
		}
		if err := e.WriteToken(t); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), e.Close()
}

// Copy re-encodes the first value of p by Copy.
func Copy(p []byte, from gdwire.DecoderOptions, to gdwire.EncoderOptions) ([]byte, error) {
	d := gdwire.NewDecoder(nil, &from)
	defer d.Release()
	d.ResetBytes(p)
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &to)
	err := first(gdwire.CopyValue(e, d), e.Close)
	return b.Bytes(), err
}

// Tokens describes the tokens of all values in p, each on a line.
func Tokens(p []byte, o gdwire.DecoderOptions) (lines []string, err error) {
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(p)
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			var e *gdwire.Error
			if errors.As(err, &e) && e.Offset < d.InputOffset() {
				panic("a token was handed out in spite of " + err.Error())
			}
			return lines, err
		}
		lines = append(lines, t.String())
	}
}

// CleanPaths returns p with zeros as padding of NodePath names. The offsets of
// tokens show where that is.
func CleanPaths(p []byte, f gdwire.Format) []byte {
	p = bytes.Clone(p)
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: f, AllowObjects: true, AllowInvalidUTF8: true, Limits: gdwire.NoLimits})
	d.ResetBytes(bytes.Clone(p))
	for tok, err := range d.Tokens() {
		if err != nil {
			break // a damaged packet: nothing after it is read
		}
		if tok.Kind() == gdwire.KindStringChunk && tok.Type() == gdwire.TypeNodePath && tok.Last() {
			end := int(d.InputOffset())
			clear(p[end-int(-tok.Len()&3) : end])
		}
	}
	return p
}
