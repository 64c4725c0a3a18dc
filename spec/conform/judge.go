package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/internal/tagged"
)

// judgeRead returns the fault of an answer to a packet, or "". An empty value is not compared.
func judgeRead(answer []byte, verdict string, value []byte) string {
	text, refused := refusal(answer)
	switch {
	case refused && verdict == suite.Valid:
		return "refused: " + text
	case refused:
		return ""
	case verdict == suite.Differs && bytes.HasPrefix(answer, []byte(`{`)):
		return "" // perhaps too deep for package json
	case verdict == suite.Valid && len(value) > 0:
		return compare(answer, value)
	case !isValue(answer):
		return "no value: " + quote(answer)
	case verdict == suite.Invalid:
		return "accepted: " + quote(answer)
	}
	return ""
}

// judgeWritten returns the fault of an answer to a value, or "".
func judgeWritten(answer []byte, f gdwire.Format, want *vector) string {
	text, refused := refusal(answer)
	p, err := hex.DecodeString(string(bytes.TrimSpace(answer)))
	wrote := "wrote " + quote(hex.AppendEncode(nil, p))
	switch {
	case refused && want.encode == suite.Refused:
		return ""
	case refused:
		return "refused: " + text
	case err != nil:
		return "not hexadecimal: " + quote(answer)
	case len(p) > 0 && bytes.Equal(p, want.written):
		return ""
	case want.encode == suite.Refused:
		return wrote + ", no error"
	case want.encode == suite.Exact:
		return wrote + ", not " + quote(hex.AppendEncode(nil, want.written))
	}
	value, err := decode(p, &gdwire.DecoderOptions{Format: f, AllowObjects: want.objects, Strict: true})
	if err != nil {
		return wrote + ": " + err.Error()
	}
	return compare(value, want.value)
}

// refusal reports whether an answer is an error, and returns the text of the error.
func refusal(answer []byte) (text string, refused bool) {
	if !bytes.Contains(answer, []byte(`"error"`)) {
		return "", false
	}
	var a struct {
		Error *string `json:"error"`
	}
	if json.Unmarshal(answer, &a) != nil || a.Error == nil {
		return "", false
	}
	return quote([]byte(*a.Error)), true
}

// isValue reports whether an answer is a value with a type.
func isValue(answer []byte) bool {
	var v struct{ T string }
	return json.Unmarshal(answer, &v) == nil && v.T != ""
}

// compare returns the fault of an answer other than the value want, or "".
func compare(answer, want []byte) string {
	if bytes.Equal(answer, want) {
		return ""
	}
	if !isValue(answer) {
		return "no value: " + quote(answer)
	}
	if same, err := tagged.Equal(answer, want); err != nil || !same {
		return "read " + quote(answer) + ", not " + quote(want)
	}
	return ""
}

// quote quotes and cuts text of a program for a terminal.
func quote(s []byte) string {
	const most = 60
	if len(s) > most {
		return strconv.QuoteToASCII(string(s[:most]) + "…")
	}
	return strconv.QuoteToASCII(string(s))
}

// decode returns the value at the start of p as tagged JSON.
func decode(p []byte, o *gdwire.DecoderOptions) ([]byte, error) {
	d := gdwire.NewDecoder(bytes.NewReader(p), o)
	defer d.Release()
	text, err := tagged.Append(nil, d)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && o.Strict {
		if _, end := d.ReadToken(); end != io.EOF {
			err = errors.New("bytes after the value")
		}
	}
	return text, err
}
