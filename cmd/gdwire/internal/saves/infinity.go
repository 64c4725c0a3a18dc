package saves

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/enginejson"
)

// jq reads infinity, 1e99999 in Godot's JSON, as the largest finite number and writes that.
const (
	infinity = "1e99999"
	largest  = "7976931348623157" // the digits of the largest number after the point
	jqHint   = "jq writes infinity as this number: use -like with the original, or write " + infinity
)

// A numberIn is a number in JSON text.
type numberIn struct {
	pointer  string
	start    int
	text     string
	infinite bool // 1e99999
}

// largeNumbers returns the numbers in text that are infinity or the largest finite number.
func largeNumbers(text []byte, lenient bool) (all []numberIn) {
	standard := bytes.NewBuffer(enginejson.Standard(text, lenient))
	d := jsontext.NewDecoder(standard, jsontext.AllowDuplicateNames(true))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return all // the encoder reports it
		}
		if t.Kind() != '0' {
			continue
		}
		number := t.String()
		x, _ := strconv.ParseFloat(number, 64)
		if a := math.Abs(x); a == math.MaxFloat64 || math.IsInf(a, 0) {
			start := int(d.InputOffset()) - len(number)
			all = append(all, numberIn{string(d.StackPointer()), start, number, math.IsInf(a, 0)})
		}
	}
}

// restoreInfinity replaces the largest finite number in text by infinity where the old value
// contains infinity. It returns the number of replacements. A replacement is as long as the
// number, and the offsets of errors stay those in the input.
func restoreInfinity(text, old []byte, do gdwire.DecoderOptions, jo gdjson.Options) (restored []byte, n int) {
	if !bytes.Contains(text, []byte(largest)) {
		return text, 0
	}
	do.AllowObjects = true
	d := gdwire.NewDecoder(nil, &do)
	defer d.Release()
	d.ResetBytes(old)
	var was bytes.Buffer
	if err := gdjson.ToJSON(&was, d, jo); err != nil {
		return text, 0
	}
	infinite := map[string]bool{}
	for _, number := range largeNumbers(was.Bytes(), false) {
		infinite[number.pointer] = number.infinite
	}
	restored = bytes.Clone(text)
	for _, number := range largeNumbers(text, jo.Lenient) {
		if number.infinite || !infinite[number.pointer] {
			continue
		}
		sign := number.text[:strings.IndexByte(number.text, '1')]
		copy(restored[number.start:], fmt.Sprintf("%-*s", len(number.text), sign+infinity))
		n++
	}
	return restored, n
}

// explainLargest adds a hint to an error about the largest finite number: jq writes it instead
// of infinity.
func explainLargest(err error, text []byte, lenient bool) error {
	e := (*gdjson.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	for _, number := range largeNumbers(text, lenient) {
		if !number.infinite && number.pointer == e.Pointer {
			return fmt.Errorf("%w; %s", err, jqHint)
		}
	}
	return err
}

// noteLargest notes the first largest finite number in text, which may have been infinity.
func noteLargest(s *shell.Stdio, text []byte, lenient bool) {
	if !bytes.Contains(text, []byte(largest)) {
		return
	}
	for _, number := range largeNumbers(text, lenient) {
		if !number.infinite {
			s.NoteAtEnd("%s at %s: %s", number.text, number.pointer, jqHint)
			return
		}
	}
}
