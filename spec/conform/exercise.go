package main

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/suite"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// Exercises for a program, and what judges its answers.

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
func vectorsOf(f gdwire.Format) ([]vector, error) { return vectors[f]() }

// vectors contains vectorsOf, which takes long for the parts of long vectors.
var vectors = func() map[gdwire.Format]func() ([]vector, error) {
	all := map[gdwire.Format]func() ([]vector, error){}
	for _, f := range gdwire.Formats() {
		all[f] = sync.OnceValues(func() ([]vector, error) { return readVectors(f) })
	}
	return all
}()

func readVectors(f gdwire.Format) (all []vector, err error) {
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
		add(v.Formats, v.Double, vector{v.ID, "a " + typeOf(v.Value), levelOf(v.Rules), v.Rules, v.Value, v.Objects, false, suite.Valid, v.Hex, encode, v.Hex, true, v.NativeJSON})
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

// typeOf returns the type of a value in JSON, or "" if it is no value.
func typeOf(value []byte) string {
	var v struct{ T string }
	_ = json.Unmarshal(value, &v)
	return v.T
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
	case typeOf(answer) == "":
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

// compare returns the fault of an answer other than the value want, or "".
func compare(answer, want []byte) string {
	if bytes.Equal(answer, want) {
		return ""
	}
	if typeOf(answer) == "" {
		return "no value: " + quote(answer)
	}
	if same, err := tagged.Equal(answer, want); err != nil || !same {
		return "read " + quote(answer) + ", not " + quote(want)
	}
	return ""
}

// quote quotes and cuts text of a program for a terminal.
func quote(s []byte) string { return strconv.QuoteToASCII(cut(string(s), 60)) }

// cut shortens text to most bytes.
func cut(text string, most int) string {
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
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

// extraExercises returns the exercises for further abilities of a program: prefixes, files and native_json.
func extraExercises(c *config, can []string) (all []exercise, err error) {
	var vectors []vector
	if len(can) > 0 {
		if vectors, err = vectorsOf(c.format); err != nil {
			return nil, err
		}
	}
	for _, name := range can {
		var some []exercise
		switch name {
		case "prefixes":
			some = prefixExercises(c, vectors)
		case "files":
			some, err = fileExercises(c)
		case "native_json":
			some = nativeExercises(c, vectors)
		default:
			err = fmt.Errorf("the program says that it can %q; known are prefixes, files and native_json", name)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, err
}

// prefixExercises returns beginnings of packets. A reader of a stream waits for more: rule B6.
func prefixExercises(c *config, vectors []vector) (all []exercise) {
	for _, v := range vectors {
		n := len(v.packet)
		cuts := []int{0, 1, 3, 4, 5, 8, n / 2, n - 5, n - 4, n - 1}
		slices.Sort(cuts)
		for _, cut := range slices.Compact(cuts) {
			if v.engine && cut >= 0 && cut < n {
				e := v.exercise(c)
				e.Kind, e.Level, e.Rules, e.Line = "partial input", prefixes, []string{"B6"}, line(v.packet[:cut], v.objects)+" prefix"
				e.judge = judgePrefix
				all = append(all, e)
			}
		}
	}
	return all
}

func judgePrefix(answer []byte) string {
	var a struct{ More bool }
	if json.Unmarshal(answer, &a) != nil || !a.More {
		return "does not wait for more: " + quote(answer)
	}
	return ""
}

// fileExercises returns the files of files.jsonl. A program answers the content in hexadecimal.
func fileExercises(c *config) (all []exercise, err error) {
	lines, err := suite.Files()
	if err != nil {
		return nil, err
	}
	for _, f := range lines {
		if f.Container == "plain" {
			continue
		}
		data := []byte(f.Hex)
		if f.File != "" {
			if data, err = os.ReadFile(filepath.Join(c.files, filepath.FromSlash(f.File))); err != nil {
				return nil, fmt.Errorf("%w: -files names the directory of %s", err, f.File)
			}
		}
		text := hex.EncodeToString(data) + " file"
		if f.Password != "" {
			text += " password=" + f.Password
		}
		if len(f.Key) > 0 {
			text += " key=" + hex.EncodeToString(f.Key)
		}
		if f.Container == "raw" {
			text += " mode=" + f.Mode + " size=" + strconv.Itoa(f.Size)
		}
		e := exercise{ID: f.ID, Kind: "file", Level: files, Rules: f.Rules, Valid: f.Verdict != suite.Invalid, Line: text}
		e.types = func() []string { return nil }
		e.judge = func(answer []byte) string { return judgeFile(answer, &f) }
		all = append(all, e)
		if f.Edit == nil {
			continue
		}
		sum := md5.Sum(f.Edited)
		edited := suite.File{Size: len(f.Edited), MD5: sum[:]}
		if e.Valid = f.Edited != nil; !e.Valid {
			edited.Verdict = suite.Invalid
		}
		e.Line += " edit=" + hex.EncodeToString(f.Edit)
		e.judge = func(answer []byte) string { return judgeFile(answer, &edited) }
		all = append(all, e)
	}
	return all, nil
}

func judgeFile(answer []byte, f *suite.File) string {
	text, refused := refusal(answer)
	content, err := hex.DecodeString(string(bytes.TrimSpace(answer)))
	switch {
	case refused && f.Verdict == suite.Invalid:
		return ""
	case refused:
		return "refused: " + text
	case err != nil:
		return "not hexadecimal: " + quote(answer)
	case f.Verdict == suite.Invalid:
		return "accepted: " + quote(answer)
	case !f.Has(content):
		return fmt.Sprintf("read %d bytes with another digest, not %d bytes", len(content), f.Size)
	}
	return ""
}

// nativeExercises returns packets. A program answers the value in native JSON.
func nativeExercises(c *config, vectors []vector) (all []exercise) {
	for _, v := range vectors {
		if v.native == nil {
			continue
		}
		e, want := v.exercise(c), []byte(*v.native)
		e.Level, e.Valid, e.Line = native, *v.native != "null" || v.kind == "a Nil", e.Line+" json"
		e.judge = func(answer []byte) string {
			if _, refused := refusal(answer); refused && !e.Valid || sameNative(answer, want) {
				return ""
			}
			return "wrote " + quote(answer) + ", not " + quote(want)
		}
		all = append(all, e)
	}
	return all
}

// sameNative reports whether native JSON is equal except for digits not written by engines: rule J1.
func sameNative(answer, want []byte) bool {
	var a, b any
	return json.Unmarshal(answer, &a) == nil && json.Unmarshal(want, &b) == nil && nearly(a, b)
}

func nearly(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, nearly)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, nearly)
	case float64:
		b, ok := b.(float64)
		return ok && near(a, b)
	case string:
		b, ok := b.(string)
		x, isFloat := strings.CutPrefix(a, "f:")
		y, areFloats := strings.CutPrefix(b, "f:")
		if !ok || !isFloat || !areFloats {
			return ok && a == b
		}
		p, err := strconv.ParseFloat(x, 64)
		q, failed := strconv.ParseFloat(y, 64)
		return a == b || err == nil && failed == nil && near(p, q)
	}
	return a == b
}

// near reports whether engines write a and b alike.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-14*max(1, math.Abs(a), math.Abs(b))
}
