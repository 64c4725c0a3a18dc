package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// versionOf returns the name and hash in an engine's answer about its version.
func versionOf(text []byte) (string, error) {
	var info struct{ String, Hash string }
	err := json.Unmarshal(text, &info)
	return info.String + " " + info.Hash, err
}

// vectors asks the named engines, or all, and shows the changed answers.
func vectors(names []string, all, write bool) {
	values, packets := testenv.Checked(suite.Values()), testenv.Checked(suite.Packets())
	for i := range engines {
		e := &engines[i]
		if len(names) > 0 && !slices.Contains(names, e.name) {
			continue
		}
		e.check()
		s := survey{engine: e, all: all}
		s.values(values)
		s.packets(packets)
		changes := testenv.Checked(s.run())
		for _, text := range changes {
			fmt.Println(text)
		}
		fmt.Printf("%s: %d of %d answers have changed; cannot judge %v\n", e.name, len(changes), len(s.questions), s.unjudged)
	}
	if write {
		writeLines("values", values)
		writeLines("packets", packets)
	}
}

func writeLines[T any](name string, all []T) {
	testenv.Check(os.WriteFile("spec/vectors/"+name+".jsonl", testenv.Checked(suite.Lines(all)), 0o644))
}

// A survey asks an engine about vectors.
type survey struct {
	*engine
	all       bool
	questions []question
	unjudged  []string // ids of vectors about which answers say nothing
}

// A question is a packet and a function for the answer: note returns the change, or "".
type question struct {
	id, line string
	note     func(suite.Answer) string
}

func (s *survey) ask(id string, p []byte, objects bool, note func(suite.Answer) string) {
	line := hex.EncodeToString(p)
	if objects {
		line += " objects"
	}
	s.questions = append(s.questions, question{id, line, note})
}

// values asks whether the engine writes a value that it read as the same bytes. If it reads another
// value, such as an empty path that is not absolute, its answer says nothing.
func (s *survey) values(all []suite.Value) {
	for i := range all {
		v := &all[i]
		known := slices.Contains(v.Engines, s.name)
		if !slices.Contains(v.Formats, s.format.String()) || !known && !s.all {
			continue
		}
		s.ask(v.ID, v.Hex, v.Objects, func(a suite.Answer) string {
			same := a.Accept && s.same(v.Hex, a.Reencoded)
			switch {
			case same == known:
				return ""
			case a.Accept && !s.sameValue(v.Hex, a.Reencoded):
				s.unjudged = append(s.unjudged, v.ID)
				return ""
			case same:
				v.Engines = append(slices.Clone(v.Engines), s.name)
				return "writes it, too"
			}
			v.Engines = slices.DeleteFunc(slices.Clone(v.Engines), func(name string) bool { return name == s.name })
			return fmt.Sprintf("writes %x, not %x", a.Reencoded, v.Hex)
		})
	}
}

// packets asks about odd packets. Those with serialized objects are left out: their
// classes are no engine's.
func (s *survey) packets(all []suite.Packet) {
	for i := range all {
		p := &all[i]
		old, known := p.Engines[s.name]
		if !slices.Contains(p.Formats, s.format.String()) || !known && !s.all && !p.Objects {
			continue
		}
		if p.Objects {
			s.unjudged = append(s.unjudged, p.ID)
			continue
		}
		s.ask(p.ID, p.Hex, false, func(a suite.Answer) string {
			if known && a.Accept == old.Accept && a.Size == old.Size && s.same(old.Reencoded, a.Reencoded) {
				return ""
			}
			if p.Engines = maps.Clone(p.Engines); p.Engines == nil {
				p.Engines = map[string]suite.Answer{}
			}
			p.Engines[s.name] = a
			if !known {
				return fmt.Sprintf("accepts it: %v", a.Accept)
			}
			return fmt.Sprintf("accepted it: %v %d %x; now: %v %d %x", old.Accept, old.Size, old.Reencoded, a.Accept, a.Size, a.Reencoded)
		})
	}
}

// same reports whether packets are equal but for the bytes that differ in each run.
func (s *survey) same(a, b []byte) bool {
	return bytes.Equal(s.masked(a), s.masked(b))
}

// sameValue reports whether packets contain the same value but for ids of objects.
func (s *survey) sameValue(a, b []byte) bool {
	o := gdwire.DecoderOptions{Format: s.format, AllowObjects: true}
	x, _, err := model.Decode(s.masked(a), o)
	y, _, failed := model.Decode(s.masked(b), o)
	return err == nil && failed == nil && reflect.DeepEqual(x.Plain().AnyNaN(), y.Plain().AnyNaN())
}

// masked returns a packet with zeros in ids of objects, and in the padding of names if the engine leaves
// memory content there.
func (s *survey) masked(p []byte) []byte {
	if s.dirty {
		p = model.CleanPaths(p, s.format)
	}
	return model.Cleared(p, s.format, func(t gdwire.Token) int64 {
		if k := t.Kind(); k == gdwire.KindObjectID || k == gdwire.KindSignal {
			return 8
		}
		return 0
	})
}

// run asks all questions and returns the changes.
func (s *survey) run() (changes []string, err error) {
	if len(s.questions) == 0 {
		return nil, nil
	}
	var lines strings.Builder
	for _, q := range s.questions {
		lines.WriteString(q.line + "\n")
	}
	c := s.start("judge")
	c.Stdin = strings.NewReader(lines.String())
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	answers := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(answers) != len(s.questions) {
		return nil, fmt.Errorf("%s: %d answers to %d packets", s.name, len(answers), len(s.questions))
	}
	for i, q := range s.questions {
		var a suite.Answer
		if err := json.Unmarshal(answers[i], &a); err != nil {
			return nil, fmt.Errorf("%s: answer to %s: %w", s.name, q.id, err)
		}
		if text := q.note(a); text != "" {
			changes = append(changes, fmt.Sprintf("%s: %s %s", q.id, s.name, text))
		}
	}
	return changes, nil
}
