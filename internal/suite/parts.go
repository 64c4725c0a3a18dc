package suite

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
)

// Parts is a long text as a list of short ones, so that a file with a packet of 65,537 elements stays small.
type Parts []Part

// A Part is a text, repeated unless Repeat is 0. A text without repetition is a string in JSON.
type Part struct {
	Repeat int    `json:"repeat"`
	Text   string `json:"text"`
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.Repeat == 0 {
		return json.Marshal(p.Text)
	}
	type repetition Part
	return json.Marshal(repetition(p))
}

// UnmarshalJSON decodes a part: a string or a repetition.
func (p *Part) UnmarshalJSON(text []byte) error {
	*p = Part{}
	if bytes.HasPrefix(text, []byte(`"`)) {
		return json.Unmarshal(text, &p.Text)
	}
	type repetition Part
	return json.Unmarshal(text, (*repetition)(p))
}

// join returns the whole text. In a repetition, "{i}" is replaced by the result of index for 0, 1, ….
func (p Parts) join(index func(b []byte, i int) []byte) (text []byte) {
	for _, part := range p {
		if part.Repeat == 0 {
			text = append(text, part.Text...)
			continue
		}
		between := strings.Split(part.Text, "{i}")
		for i := range part.Repeat {
			text = append(text, between[0]...)
			for _, s := range between[1:] {
				text = append(index(text, i), s...)
			}
		}
	}
	return text
}

// Value returns the text of a value in JSON, where "{i}" is a decimal number.
func (p Parts) Value() []byte {
	return p.join(func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(i), 10) })
}

// Bytes returns the bytes of hexadecimal digits, where "{i}" is a u32.
func (p Parts) Bytes() ([]byte, error) {
	var h Hex
	err := h.UnmarshalText(p.join(func(b []byte, i int) []byte {
		return hex.AppendEncode(b, binary.LittleEndian.AppendUint32(nil, uint32(i)))
	}))
	return h, err
}
