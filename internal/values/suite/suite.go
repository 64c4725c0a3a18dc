// Package suite reads the vectors of spec/vectors. The README there describes each field.
package suite

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gdwire/gdwire/spec"
)

// A Value is a line of values.jsonl: a value and its bytes.
type Value struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Since      string          `json:"since"`
	Formats    []string        `json:"formats"`
	Engines    []string        `json:"engines,omitempty"`
	Rules      []string        `json:"rules"`
	Objects    bool            `json:"objects,omitempty"`
	Double     bool            `json:"double,omitempty"`
	Value      json.RawMessage `json:"value"`
	Hex        Hex             `json:"hex"`
	Encode     string          `json:"encode"`
	NativeJSON *string         `json:"native_json,omitempty"`
}

// The kinds of Encode.
const (
	Exact   = "exact" // an encoder writes these bytes
	ByValue = "value" // an encoder may write other bytes of the same value
	Refused = "error" // an encoder refuses the value, or writes the bytes if there are any
)

// A Packet is a line of packets.jsonl: a damaged or odd packet.
type Packet struct {
	ID      string            `json:"id"`
	Kind    string            `json:"kind"`
	Formats []string          `json:"formats"`
	Rules   []string          `json:"rules"`
	Verdict string            `json:"verdict"`
	Strict  bool              `json:"strict,omitempty"`
	Objects bool              `json:"objects,omitempty"`
	Double  bool              `json:"double,omitempty"`
	Value   json.RawMessage   `json:"value,omitempty"`
	Hex     Hex               `json:"hex"`
	Refuse  *int              `json:"refuse,omitempty"`
	Engines map[string]Answer `json:"engines,omitempty"`
}

// UnmarshalJSON decodes a packet. If an answer contains Size and no Reencoded, the engine wrote the bytes read.
func (p *Packet) UnmarshalJSON(text []byte) error {
	type plain Packet
	if err := json.Unmarshal(text, (*plain)(p)); err != nil {
		return err
	}
	for name, a := range p.Engines {
		if a.Reencoded == nil && a.Size > 0 {
			a.Reencoded = p.read(a)
			p.Engines[name] = a
		}
	}
	return nil
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (p Packet) MarshalJSON() ([]byte, error) {
	type plain Packet
	p.Engines = maps.Clone(p.Engines)
	for name, a := range p.Engines {
		if a.Size > 0 && bytes.Equal(a.Reencoded, p.read(a)) {
			a.Reencoded = nil
			p.Engines[name] = a
		}
	}
	return Lines([]plain{plain(p)})
}

// read returns the bytes of the packet consumed by an engine.
func (p *Packet) read(a Answer) Hex { return p.Hex[:min(a.Size, int64(len(p.Hex)))] }

// The verdicts on packets.
const (
	Valid   = "valid"
	Invalid = "invalid"
	Differs = "differs" // engines disagree with each other or with the rules
)

// An Answer is the result of an engine for a packet.
type Answer struct {
	Accept    bool  `json:"accept"`
	Size      int64 `json:"size,omitempty"`
	Reencoded Hex   `json:"reencoded,omitempty"`
}

// A Long is a line of long.jsonl: a packet, a value or both, in short parts.
type Long struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Formats []string `json:"formats"`
	Rules   []string `json:"rules"`
	Objects bool     `json:"objects,omitempty"`
	Verdict string   `json:"verdict,omitempty"` // empty: no packet for readers
	Encode  string   `json:"encode,omitempty"`  // empty: no value for writers
	Value   Parts    `json:"value,omitempty"`
	Hex     Parts    `json:"hex,omitempty"`
}

// A Written is a line of writers.jsonl: a value for writers to refuse, or to write as these bytes.
type Written struct {
	ID      string          `json:"id"`
	Kind    string          `json:"kind"`
	Formats []string        `json:"formats"`
	Rules   []string        `json:"rules"`
	Objects bool            `json:"objects,omitempty"`
	Encode  string          `json:"encode"`
	Value   json.RawMessage `json:"value"`
	Hex     Hex             `json:"hex,omitempty"`
}

// A Text is a line of text.jsonl: a value as text, and its packet.
type Text struct {
	ID      string   `json:"id"`
	Formats []string `json:"formats"`
	Rules   []string `json:"rules"`
	Text    string   `json:"text"`
	Read    bool     `json:"read,omitempty"` // the text is read and not written
	Verdict string   `json:"verdict"`
	Objects bool     `json:"objects,omitempty"`
	Hex     Hex      `json:"hex,omitempty"`
}

// A Stream is a line of framing.jsonl: packets after their lengths.
type Stream struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Rules   []string `json:"rules"`
	Formats []string `json:"formats"`
	Frame   string   `json:"frame"`
	Hex     Hex      `json:"hex,omitempty"`
	File    string   `json:"file,omitempty"`
	Packets []Hex    `json:"packets"`
	Verdict string   `json:"verdict"`
}

// A File is a line of files.jsonl: a compressed or encrypted file, data compressed by a script, or values with bytes of a game
// around them.
type File struct {
	ID        string   `json:"id"`
	Kind      string   `json:"kind,omitempty"`
	Rules     []string `json:"rules"`
	File      string   `json:"file,omitempty"`
	Hex       Hex      `json:"hex,omitempty"`
	Container string   `json:"container"`
	Mode      string   `json:"mode,omitempty"`
	Engine    string   `json:"engine,omitempty"`
	Password  string   `json:"password,omitempty"`
	Key       Hex      `json:"key,omitempty"`
	Verdict   string   `json:"verdict,omitempty"`
	Around    []Around `json:"around,omitempty"`
	Size      int      `json:"size"`
	MD5       Hex      `json:"md5"`
	Edit      Hex      `json:"edit,omitempty"`     // another content
	Edited    Hex      `json:"edited,omitempty"`   // the file with this content; nil if a writer must refuse the content
	Repaired  Hex      `json:"repaired,omitempty"` // if it is damaged
}

// Around is a part of the bytes around values.
type Around struct {
	Offset   int    `json:"offset"`
	Size     int    `json:"size"`
	What     string `json:"what"`
	Doubtful bool   `json:"doubtful,omitempty"`
}

// Has reports whether the content of the file is p.
func (f *File) Has(p []byte) bool {
	sum := md5.Sum(p)
	return len(p) == f.Size && bytes.Equal(sum[:], f.MD5)
}

// A Score counts answers to lines.
type Score struct {
	Right int `json:"right"`
	Of    int `json:"of"`
}

// Add adds another score.
func (s *Score) Add(other Score) { s.Right, s.Of = s.Right+other.Right, s.Of+other.Of }

func (s Score) String() string {
	if s.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", s.Right, s.Of)
}

// A LevelScore contains the scores of a level in a report of spec/conform.
type LevelScore struct {
	Level   string `json:"level"`
	Valid   Score  `json:"valid"`   // exercises to be answered
	Invalid Score  `json:"invalid"` // exercises to be refused
}

// Sum returns the scores of all levels.
func Sum(levels []LevelScore) (all LevelScore) {
	all.Level = "all"
	for _, l := range levels {
		all.Valid.Add(l.Valid)
		all.Invalid.Add(l.Invalid)
	}
	return all
}

// Hex contains bytes, in JSON as hexadecimal digits.
type Hex []byte

// MarshalText returns hexadecimal digits.
func (h Hex) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// UnmarshalText decodes hexadecimal digits.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.AppendDecode(nil, text)
	return err
}

// The lines of each file, parsed once. The returned slice belongs to the caller; memory referred to by
// the elements is shared.
var (
	Values  = reader[Value]("values")
	Packets = reader[Packet]("packets")
	Streams = reader[Stream]("framing")
	Files   = reader[File]("files")
	Longs   = reader[Long]("long")
	Writers = reader[Written]("writers")
	Texts   = reader[Text]("text")
)

// ValuesOf returns the values written by an engine, such as 4.6.
func ValuesOf(engine string) ([]Value, error) {
	all, err := Values()
	return slices.DeleteFunc(all, func(v Value) bool { return !slices.Contains(v.Engines, engine) }), err
}

// Lines returns vectors as the lines of a file.
func Lines[T any](all []T) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, v := range all {
		if err := e.Encode(v); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func reader[T any](name string) func() ([]T, error) {
	once := sync.OnceValues(func() (all []T, err error) {
		text, err := spec.Files.ReadFile("vectors/" + name + ".jsonl")
		for line := range bytes.Lines(text) {
			var v T
			if err := json.Unmarshal(line, &v); err != nil {
				return nil, fmt.Errorf("%s.jsonl, line %d: %w", name, len(all)+1, err)
			}
			all = append(all, v)
		}
		return all, err
	})
	return func() ([]T, error) {
		all, err := once()
		return slices.Clone(all), err
	}
}

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
		const digits = 8
		text = slices.Grow(text, part.Repeat*(len(part.Text)+digits))
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
