// Package conform measures a program by the vectors of spec/vectors. It writes a line for each
// vector to the program and judges the line that the program answers: SPEC.md, section 18.
package conform

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/internal/tagged"
)

// maxAnswer is the maximum number of bytes of an answer.
const maxAnswer = 16 << 20

// An Exercise is a line for a program.
type Exercise struct {
	ID    string
	Kind  string
	Rules []string
	Line  string                         // without the line feed
	judge func(answer []byte) (f string) // the fault of an answer, or ""
}

// Decoding returns the exercises for a program that reads packets of a format.
func Decoding(f gdwire.Format) (all []Exercise, err error) {
	err = vectors(f, func(v *suite.Value) {
		all = append(all, Exercise{v.ID, kindOf(v), v.Rules, line(v.Hex, v.Objects), func(answer []byte) string {
			if text, refused := refusal(answer); refused {
				return "refused: " + text
			}
			return compare(answer, v.Value)
		}})
	}, func(p *suite.Packet) {
		all = append(all, Exercise{p.ID, p.Kind, p.Rules, line(p.Hex, p.Objects), func(answer []byte) string {
			text, refused := refusal(answer)
			switch {
			case !refused && !isValue(answer):
				return "no value: " + quote(string(answer))
			case refused && p.Verdict == suite.Valid:
				return "refused: " + text
			case !refused && p.Verdict == suite.Invalid:
				return "accepted: " + quote(string(answer))
			case p.Value != nil:
				return compare(answer, p.Value)
			}
			return ""
		}})
	})
	return all, err
}

// Encoding returns the exercises for a program that writes packets of a format.
func Encoding(f gdwire.Format) (all []Exercise, err error) {
	err = vectors(f, func(v *suite.Value) {
		if v.Double {
			return // a value does not say its precision
		}
		var text bytes.Buffer
		if err := json.Compact(&text, v.Value); err != nil {
			return // it is JSON: suite parsed it
		}
		all = append(all, Exercise{v.ID, kindOf(v), v.Rules, text.String(), func(answer []byte) string {
			if text, refused := refusal(answer); refused {
				return "refused: " + text
			}
			p, err := hex.DecodeString(string(bytes.TrimSpace(answer)))
			switch {
			case err != nil:
				return "not hexadecimal: " + quote(string(answer))
			case bytes.Equal(p, v.Hex):
				return ""
			case v.Encode == suite.Exact:
				return "wrote " + quote(hex.EncodeToString(p)) + ", not " + quote(hex.EncodeToString(v.Hex))
			}
			value, err := Decode(p, f, v.Objects)
			if err != nil {
				return err.Error()
			}
			return compare(value, v.Value)
		}})
	}, func(*suite.Packet) {})
	return all, err
}

// vectors calls functions for the values and packets of a format that a program can know.
func vectors(f gdwire.Format, value func(*suite.Value), packet func(*suite.Packet)) error {
	values, err := suite.Values()
	if err != nil {
		return err
	}
	packets, err := suite.Packets()
	if err != nil {
		return err
	}
	// In a format of a manual nothing shows that components have 64 bits.
	known := func(formats []string, double bool) bool {
		return slices.Contains(formats, f.String()) && (!double || f == gdwire.Godot4)
	}
	for i := range values {
		if v := &values[i]; known(v.Formats, v.Double) {
			value(v)
		}
	}
	for i := range packets {
		if p := &packets[i]; known(p.Formats, p.Double) {
			packet(p)
		}
	}
	return nil
}

// kindOf returns the kind of a value, its type.
func kindOf(v *suite.Value) string {
	var value struct{ T string }
	if json.Unmarshal(v.Value, &value) != nil {
		return "value" // it is JSON: suite parsed it
	}
	return "a " + value.T
}

func line(p []byte, objects bool) string {
	if objects {
		return hex.EncodeToString(p) + " objects"
	}
	return hex.EncodeToString(p)
}

// refusal reports whether an answer is an error, and returns its text.
func refusal(answer []byte) (text string, refused bool) {
	var a struct {
		Error *string `json:"error"`
	}
	if json.Unmarshal(answer, &a) != nil || a.Error == nil {
		return "", false
	}
	return quote(*a.Error), true
}

// isValue reports whether an answer is a value with a type.
func isValue(answer []byte) bool {
	var v struct{ T string }
	return json.Unmarshal(answer, &v) == nil && v.T != ""
}

// compare returns the fault of an answer that is not the value want, or "".
func compare(answer, want []byte) string {
	if !isValue(answer) {
		return "no value: " + quote(string(answer))
	}
	if same, err := tagged.Equal(answer, want); err != nil || !same {
		return "read " + quote(string(answer)) + ", not " + quote(string(want))
	}
	return ""
}

// quote quotes text of a program for a terminal, and cuts it.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.QuoteToASCII(s)
}

// Decode returns the value at the start of p as tagged JSON.
func Decode(p []byte, f gdwire.Format, objects bool) ([]byte, error) {
	d := gdwire.NewDecoder(bytes.NewReader(p), &gdwire.DecoderOptions{Format: f, AllowObjects: objects})
	defer d.Release()
	text, err := tagged.Append(nil, d)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}

// A Fault is a wrong answer.
type Fault struct {
	*Exercise
	Text string
}

// ErrAnswers reports that a program answered fewer lines than it was asked, or more.
var ErrAnswers = errors.New("wrong number of answers")

// Judge reads an answer for each exercise from r, and returns those that are wrong. After an error
// of r or ErrAnswers, it returns the faults up to there.
func Judge(all []Exercise, r io.Reader) (faults []Fault, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxAnswer)
	for i := range all {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				return faults, fmt.Errorf("answer to %s: %w", all[i].ID, err)
			}
			return faults, fmt.Errorf("%w: %d to %d lines", ErrAnswers, i, len(all))
		}
		if text := all[i].judge(lines.Bytes()); text != "" {
			faults = append(faults, Fault{&all[i], text})
		}
	}
	if lines.Scan() {
		return faults, fmt.Errorf("%w: more than %d", ErrAnswers, len(all))
	}
	if err := lines.Err(); err != nil {
		return faults, fmt.Errorf("after the last answer: %w", err)
	}
	return faults, nil
}

// A Row contains the faults of one kind.
type Row struct {
	Kind   string
	Rules  []string
	Count  int // exercises of the kind
	Faults []Fault
}

// Table groups faults by kind, in the order of the exercises. Rules are those that no exercise with
// a right answer shows, if there are any, and otherwise all of the faults.
func Table(all []Exercise, faults []Fault) (rows []Row) {
	counts, wrong, passed := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, f := range faults {
		wrong[f.ID] = true
	}
	for _, e := range all {
		counts[e.Kind]++
		for _, rule := range e.Rules {
			passed[rule] = passed[rule] || !wrong[e.ID]
		}
	}
	for _, f := range faults {
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Kind == f.Kind })
		if i < 0 {
			i, rows = len(rows), append(rows, Row{Kind: f.Kind, Count: counts[f.Kind]})
		}
		rows[i].Faults = append(rows[i].Faults, f)
	}
	for i := range rows {
		var some, every []string
		for _, f := range rows[i].Faults {
			for _, rule := range f.Rules {
				if strings.HasPrefix(rule, "J") || rule == "B6" || slices.Contains(every, rule) { // of no packet as such
					continue
				}
				every = append(every, rule)
				if !passed[rule] {
					some = append(some, rule)
				}
			}
		}
		if rows[i].Rules = some; len(some) == 0 {
			rows[i].Rules = every
		}
	}
	return rows
}
