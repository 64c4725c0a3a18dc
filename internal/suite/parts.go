package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Parts is a long text as a list of short ones, so that a file with a packet of 65,537 elements stays small.
type Parts []Part

// A Part is a text, which is repeated unless Repeat is 0.
type Part struct {
	Text   string
	Repeat int
}

// repetition is a Part that is repeated, in JSON. The others are strings.
type repetition struct {
	Repeat int    `json:"repeat"`
	Text   string `json:"text"`
}

// MarshalJSON encodes a part as UnmarshalJSON decodes it.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.Repeat == 0 {
		return json.Marshal(p.Text)
	}
	return json.Marshal(repetition{p.Repeat, p.Text})
}

// UnmarshalJSON decodes a part: a string or a repetition.
func (p *Part) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte(`"`)) {
		p.Repeat = 0
		return json.Unmarshal(text, &p.Text)
	}
	var r repetition
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	*p = Part{r.Text, r.Repeat}
	return nil
}

// join returns the whole text. In a repetition, "{i}" stands for what index returns for 0, 1, ….
func (p Parts) join(index func(int) string) string {
	var b strings.Builder
	for _, part := range p {
		if part.Repeat == 0 {
			b.WriteString(part.Text)
		}
		if !strings.Contains(part.Text, "{i}") {
			b.WriteString(strings.Repeat(part.Text, part.Repeat))
			continue
		}
		for i := range part.Repeat {
			b.WriteString(strings.ReplaceAll(part.Text, "{i}", index(i)))
		}
	}
	return b.String()
}

// Value returns the text of a value in JSON, where "{i}" is a decimal number.
func (p Parts) Value() []byte { return []byte(p.join(strconv.Itoa)) }

// Bytes returns the bytes of hexadecimal digits, where "{i}" is a u32.
func (p Parts) Bytes() ([]byte, error) {
	var h Hex
	err := h.UnmarshalText([]byte(p.join(func(i int) string {
		return fmt.Sprintf("%02x%02x%02x%02x", byte(i), byte(i>>8), byte(i>>16), byte(i>>24))
	})))
	return h, err
}
