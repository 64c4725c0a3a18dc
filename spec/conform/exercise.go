package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/internal/tagged"
)

// The levels of exercises, in which scores are counted.
const (
	core     = "core"
	typed    = "typed containers"
	objects  = "objects"
	odd      = "odd input" // packets that engines read and never write, and values that no writer should write
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
	Valid bool     `json:"valid"` // it has another answer than an error
	Any   bool     `json:"any"`   // all answers are right, and only a crash is a fault
	Line  string   `json:"-"`     // without the line feed

	judge func(answer []byte) (fault string) // "" is a right answer
	types func() []string                    // in the value or packet
}

// exercisesOf returns the exercises for a reader or writer of a format.
func exercisesOf(c *config) (all []exercise, err error) {
	if c.encoder {
		return encoding(c)
	}
	return decoding(c)
}

// levelOf returns the level of an exercise that shows some rules and is not odd.
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

// decoding returns the exercises for a reader.
func decoding(c *config) (all []exercise, err error) {
	add := func(e exercise, verdict string, p, value []byte, allowed bool) {
		e.Valid, e.Any, e.Line = verdict == suite.Valid, verdict == suite.Differs, line(p, allowed)
		e.types = func() []string { return typesOf(p, c.format) }
		e.judge = func(answer []byte) string { return judgeRead(answer, verdict, value) }
		all = append(all, e)
	}
	err = eachVector(c.format, func(v *suite.Value) error {
		add(exercise{ID: v.ID, Kind: kindOf(v.Value), Level: levelOf(v.Rules), Rules: v.Rules}, suite.Valid, v.Hex, v.Value, v.Objects)
		return nil
	}, func(p *suite.Packet) error {
		e := exercise{ID: p.ID, Kind: p.Kind, Level: levelOf(p.Rules), Rules: p.Rules}
		verdict := p.Verdict
		switch {
		case c.strict && p.Strict:
			e.Level, verdict = strict, suite.Invalid
		case p.Strict || verdict == suite.Differs:
			e.Level = odd
		}
		add(e, verdict, p.Hex, p.Value, p.Objects)
		return nil
	}, func(l *suite.Long) error {
		if l.Verdict == "" {
			return nil
		}
		p, err := l.Hex.Bytes()
		add(exercise{ID: l.ID, Kind: longKind(l), Level: levelOf(l.Rules), Rules: l.Rules}, l.Verdict, p, l.Value.Value(), l.Objects)
		return err
	})
	return all, err
}

// encoding returns the exercises for a writer.
func encoding(c *config) (all []exercise, err error) {
	add := func(e exercise, w written, value []byte) {
		e.Valid, e.Line = w.encode != suite.Refused, string(value)
		e.types = func() []string { return typesIn(value) }
		e.judge = func(answer []byte) string { return judgeWritten(answer, c.format, w) }
		all = append(all, e)
	}
	err = eachVector(c.format, func(v *suite.Value) error {
		if v.Double {
			return nil // a value does not say its precision
		}
		var value bytes.Buffer
		if err := json.Compact(&value, v.Value); err != nil {
			return err
		}
		add(exercise{ID: v.ID, Kind: kindOf(v.Value), Level: levelOf(v.Rules), Rules: v.Rules}, written{v.Encode, v.Hex, value.Bytes(), v.Objects}, value.Bytes())
		return nil
	}, nil, func(l *suite.Long) error {
		if l.Encode == "" {
			return nil
		}
		p, err := l.Hex.Bytes()
		if l.Encode == suite.Refused {
			p = nil
		}
		add(exercise{ID: l.ID, Kind: longKind(l), Level: levelOf(l.Rules), Rules: l.Rules}, written{l.Encode, p, l.Value.Value(), l.Objects}, l.Value.Value())
		return err
	})
	if err != nil {
		return nil, err
	}
	lines, err := suite.Writers()
	for _, l := range lines {
		if slices.Contains(l.Formats, c.format.String()) {
			add(exercise{ID: l.ID, Kind: l.Kind, Level: odd, Rules: l.Rules}, written{l.Encode, l.Hex, l.Value, l.Objects}, l.Value)
		}
	}
	return all, err
}

// eachVector calls functions for the values, packets and long lines of a format that a program can know.
func eachVector(f gdwire.Format, value func(*suite.Value) error, packet func(*suite.Packet) error, long func(*suite.Long) error) error {
	values, err := suite.Values()
	if err != nil {
		return err
	}
	packets, err := suite.Packets()
	if err != nil {
		return err
	}
	longs, err := suite.Longs()
	if err != nil {
		return err
	}
	// In a format of a manual nothing shows that components have 64 bits.
	known := func(formats []string, double bool) bool {
		return slices.Contains(formats, f.String()) && (!double || f == gdwire.Godot4)
	}
	for i := range values {
		if v := &values[i]; known(v.Formats, v.Double) {
			if err := value(v); err != nil {
				return fmt.Errorf("%s: %w", v.ID, err)
			}
		}
	}
	for i := range packets {
		if p := &packets[i]; packet != nil && known(p.Formats, p.Double) {
			if err := packet(p); err != nil {
				return fmt.Errorf("%s: %w", p.ID, err)
			}
		}
	}
	for i := range longs {
		if l := &longs[i]; known(l.Formats, false) {
			if err := long(l); err != nil {
				return fmt.Errorf("%s: %w", l.ID, err)
			}
		}
	}
	return nil
}

// line returns the line for a packet.
func line(p []byte, allowed bool) string {
	if allowed {
		return hex.EncodeToString(p) + " objects"
	}
	return hex.EncodeToString(p)
}

// kindOf returns the kind of a value, its type.
func kindOf(value []byte) string {
	var v struct{ T string }
	if json.Unmarshal(value, &v) != nil {
		return "value"
	}
	return "a " + v.T
}

// longKind returns the kind of a long line without its count.
func longKind(l *suite.Long) string {
	kind, _, _ := strings.Cut(l.Kind, ": ")
	return "many or long: " + kind
}

// typesOf returns the names of the types in a packet, up to its fault.
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

// without leaves out what c skips, and returns how much that is. It returns an error for a name that no
// exercise has.
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
