package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/internal/tagged"
)

// The levels of exercises, each with a score.
const (
	core     = "core"
	typed    = "typed containers"
	objects  = "objects"
	odd      = "odd input" // packets read and never written by engines, and values no writer should write
	strict   = "strict"    // the same packets, for strict readers
	prefixes = "prefixes"
	files    = "files"
	native   = "native JSON"
)

var levels = []string{core, typed, objects, odd, strict, prefixes, files, native}

// An exercise is a line for a program.
type exercise struct {
	ID    string   `json:"id"`
	Kind  string   `json:"kind"`
	Level string   `json:"level"`
	Rules []string `json:"rules"`
	Valid bool     `json:"valid"` // the right answer is not an error
	Any   bool     `json:"any"`   // all answers are right, and only a crash is a fault
	Line  string   `json:"-"`     // without the line feed

	judge func(answer []byte) (fault string) // "" is a right answer
	types func() []string                    // in the value or packet
}

// exercisesOf returns the exercises for a reader or writer of a format.
func exercisesOf(c *config) (all []exercise, err error) {
	vectors, err := vectorsOf(c.format)
	for _, v := range vectors {
		switch {
		case c.encoder && v.encode != "":
			all = append(all, v.writing(c))
		case !c.encoder && v.verdict != "":
			all = append(all, v.reading(c))
		}
	}
	return all, err
}

// levelOf returns the level of an exercise for some rules, unless odd.
func levelOf(rules []string) string {
	level := core
	for _, rule := range rules {
		switch rule {
		case "O1", "O2", "O3", "O4", "O5", "O6", "O7", "O8", "O9":
			return objects
		case "C6", "C7", "C8", "C9", "C10", "C11":
			level = typed
		}
	}
	return level
}

// A vector contains the fields for exercises from a line of any file of vectors.
type vector struct {
	id, kind, level string
	rules           []string
	value           []byte
	objects, strict bool
	verdict         string // empty: nothing for readers
	packet          []byte
	encode          string // empty: nothing for writers
	written         []byte // may be nil for a refused value

	engine bool // a line of values.jsonl
	native *string
}

// vectorsOf returns the vectors of a format that a program can know.
func vectorsOf(f gdwire.Format) (all []vector, err error) {
	values, err1 := suite.Values()
	packets, err2 := suite.Packets()
	longs, err3 := suite.Longs()
	writers, err4 := suite.Writers()
	err = errors.Join(err1, err2, err3, err4)
	add := func(formats []string, double bool, v vector) {
		// In a format of a manual nothing shows that components have 64 bits.
		if slices.Contains(formats, f.String()) && (!double || f == gdwire.Godot4) {
			all = append(all, v)
		}
	}
	for _, v := range values {
		encode := v.Encode
		if v.Double {
			encode = "" // a value does not say its precision
		}
		add(v.Formats, v.Double, vector{v.ID, kindOf(v.Value), levelOf(v.Rules), v.Rules, v.Value, v.Objects, false, suite.Valid, v.Hex, encode, v.Hex, true, v.NativeJSON})
	}
	for _, p := range packets {
		add(p.Formats, p.Double, vector{p.ID, p.Kind, levelOf(p.Rules), p.Rules, p.Value, p.Objects, p.Strict, p.Verdict, p.Hex, "", nil, false, nil})
	}
	for _, l := range longs {
		if !slices.Contains(l.Formats, f.String()) {
			continue // before the parts are joined
		}
		packet, failed := l.Hex.Bytes()
		err = errors.Join(err, failed)
		written := packet
		if l.Encode == suite.Refused {
			written = nil
		}
		kind, _, _ := strings.Cut(l.Kind, ": ") // without the count
		add(l.Formats, false, vector{l.ID, "many or long: " + kind, levelOf(l.Rules), l.Rules, l.Value.Value(), l.Objects, false, l.Verdict, packet, l.Encode, written, false, nil})
	}
	for _, w := range writers {
		add(w.Formats, false, vector{w.ID, w.Kind, odd, w.Rules, w.Value, w.Objects, false, "", nil, w.Encode, w.Hex, false, nil})
	}
	return all, err
}

// exercise returns the fields common to all exercises of a vector.
func (v *vector) exercise(c *config) exercise {
	return exercise{
		ID: v.id, Kind: v.kind, Level: v.level, Rules: v.rules, Valid: true, Line: line(v.packet, v.objects),
		types: func() []string { return typesOf(v.packet, c.format) },
	}
}

// reading returns the exercise for a reader.
func (v *vector) reading(c *config) exercise {
	e, verdict := v.exercise(c), v.verdict
	switch {
	case c.strict && v.strict:
		e.Level, verdict = strict, suite.Invalid
	case v.strict || verdict == suite.Differs:
		e.Level = odd
	}
	e.Valid, e.Any = verdict == suite.Valid, verdict == suite.Differs
	e.judge = func(answer []byte) string { return judgeRead(answer, verdict, v.value) }
	return e
}

// writing returns the exercise for a writer.
func (v *vector) writing(c *config) exercise {
	e := v.exercise(c)
	e.Valid, e.Line = v.encode != suite.Refused, string(v.value)
	e.types = func() []string { return typesIn(v.value) }
	e.judge = func(answer []byte) string { return judgeWritten(answer, c.format, v) }
	return e
}

// line returns the line for a packet.
func line(p []byte, allowed bool) string {
	if allowed {
		return hex.EncodeToString(p) + " objects"
	}
	return hex.EncodeToString(p)
}

// kindOf returns the kind of a value, such as "a String".
func kindOf(value []byte) string {
	var v struct{ T string }
	if json.Unmarshal(value, &v) != nil {
		return "value"
	}
	return "a " + v.T
}

// typesOf returns the names of the types in a packet, up to the fault.
func typesOf(p []byte, f gdwire.Format) (names []string) {
	d := gdwire.NewDecoder(bytes.NewReader(p), &gdwire.DecoderOptions{Format: f, AllowObjects: true})
	defer d.Release()
	for t, err := range d.Tokens() {
		if err != nil {
			break
		}
		names = append(names, t.Type().String())
	}
	return names
}

var typeMember = regexp.MustCompile(`"t":\s*"(\w+)"`)

// typesIn returns the names of the types in tagged JSON.
func typesIn(value []byte) (names []string) {
	for _, m := range typeMember.FindAllSubmatch(value, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// without leaves out and counts the exercises skipped by c. It returns an error for a name without
// exercises.
func without(all []exercise, c *config) (kept []exercise, skipped int, err error) {
	used := map[string]bool{}
	for i := range all {
		e := &all[i]
		skip := false
		for _, name := range c.skip {
			if id, _ := path.Match(name, e.ID); id || slices.Contains(e.Rules, name) || slices.Contains(e.types(), name) {
				skip, used[name] = true, true
			}
		}
		if skip {
			skipped++
		} else {
			kept = append(kept, *e)
		}
	}
	for _, name := range c.skip {
		if !used[name] {
			return nil, 0, fmt.Errorf("-skip %s: no vector of %v has such a rule, id or type", name, c.format)
		}
	}
	return kept, skipped, nil
}

// own returns the answer of package gdwire to a line.
func own(c *config, line string) []byte {
	var answer []byte
	var err error
	if c.encoder {
		answer, err = tagged.Encode([]byte(line), &gdwire.EncoderOptions{Format: c.format})
		answer = hex.AppendEncode(nil, answer)
	} else {
		digits, allowed, _ := strings.Cut(line, " ")
		var p []byte
		if p, err = hex.DecodeString(digits); err == nil {
			answer, err = decode(p, &gdwire.DecoderOptions{Format: c.format, AllowObjects: allowed != "", Strict: c.strict})
		}
	}
	if err != nil {
		answer, _ = json.Marshal(map[string]string{"error": err.Error()}) // strings are never an error
	}
	return answer
}
