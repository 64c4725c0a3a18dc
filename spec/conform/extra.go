package main

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire/internal/suite"
)

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
