package interop

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// must returns what its call returned, or ends the test after an error: must(call())(t).
func must[V any](v V, err error) func(testing.TB) V { return testenv.Must(v, err) }

func must2[V, W any](v V, w W, err error) func(testing.TB) (V, W) { return testenv.Must2(v, w, err) }

var seed = flag.Uint64("seed", uint64(rand.Uint32()), "the seed of random values and packets")

// withRandom returns the files of scripts and random.gd.
func withRandom(t *testing.T, name string) map[string]string {
	t.Helper()
	files := scripts(t, name)
	files["random.gd"] = string(must(os.ReadFile(filepath.Join("testdata", "random.gd")))(t))
	return files
}

// A sample is a value that the engine made.
type sample struct {
	Bytes []byte
	JSON  string // the engine's native JSON of the value, or ""
}

// TestValues lets the engine create random values, which gdwire decodes and encodes
// again by tokens, by Go values and by native JSON. The engine compares the results
// with its values.
func TestValues(t *testing.T) {
	count := 2000
	if testing.Short() {
		count = 300
	}
	for _, kind := range []string{"all", "json"} {
		t.Run(kind, func(t *testing.T) {
			t.Logf("-seed %d", *seed)
			out, err := browser.Run(t.Context(), Program{
				Files: withRandom(t, "values.gd"),
				Args:  []string{strconv.FormatUint(*seed, 10), strconv.Itoa(count), kind},
				Socket: func(ctx context.Context, ws *websocket.Conn) error {
					for range (count + 99) / 100 {
						if err := answerValues(ctx, ws); err != nil {
							return err
						}
					}
					return nil
				},
			})
			require.NoError(t, err, strings.Join(out.Lines, "\n"))
			t.Log(out.Lines[len(out.Lines)-1])
			require.Contains(t, out.Lines[len(out.Lines)-1], " 0 differ")
		})
	}
}

// answerValues reads a batch of samples, sends back the result of remake for each, and
// compares the values that the engine reads from the JSON.
func answerValues(ctx context.Context, ws *websocket.Conn) error {
	_, message, err := ws.Read(ctx)
	if err != nil {
		return err
	}
	var samples []sample
	if err := variant.Unmarshal(message, &samples); err != nil {
		return err
	}
	answers := make([]map[string]any, len(samples))
	for i, s := range samples {
		if answers[i], err = remake(s); err != nil {
			return fmt.Errorf("%x: %w", s.Bytes, err)
		}
	}
	if message, err = variant.Marshal(&variant.Array{Values: anys(answers)}); err != nil {
		return err
	}
	if err := ws.Write(ctx, websocket.MessageBinary, message); err != nil {
		return err
	}
	if _, message, err = ws.Read(ctx); err != nil {
		return err
	}
	var read [][]byte
	if err := variant.Unmarshal(message, &read); err != nil {
		return err
	}
	for i, b := range read {
		if err := compare(samples[i].Bytes, b); err != nil {
			return fmt.Errorf("%v\nread by the engine: %w", answers[i]["json"], err)
		}
	}
	return nil
}

// compare returns an error if two encoded values differ by more than the last digits
// of floats.
func compare(a, b []byte) error {
	var x, y any
	if err := errors.Join(variant.Unmarshal(a, &x), variant.Unmarshal(b, &y)); err != nil {
		return err
	}
	if d := difference(reflect.ValueOf(x), reflect.ValueOf(y)); d != "" {
		return fmt.Errorf("%x\nis not %x\nvalue%s", a, b, d)
	}
	return nil
}

func anys[T any](s []T) []any {
	all := make([]any, len(s))
	for i, v := range s {
		all[i] = v
	}
	return all
}

// remake decodes and encodes a value in several ways and returns the bytes, which must
// be those of the engine, and the JSON.
func remake(s sample) (map[string]any, error) {
	made := map[string]any{}
	recoded, err := copyOf(s.Bytes, &gdwire.DecoderOptions{Strict: true})
	if err != nil {
		return nil, err
	}
	made["tokens"] = recoded
	var v any
	if err := variant.Unmarshal(s.Bytes, &v); err != nil {
		return nil, err
	}
	if made["variant"], err = variant.Marshal(v); err != nil {
		return nil, err
	}
	var text strings.Builder
	d := gdwire.NewDecoder(bytes.NewReader(s.Bytes), nil)
	defer d.Release()
	if err := gdjson.ToJSON(&text, d); err != nil {
		return nil, err
	}
	if made["gdjson"], err = fromJSON(text.String()); err != nil {
		return nil, fmt.Errorf("%s: %w", text.String(), err)
	}
	for way, b := range made {
		if !bytes.Equal(recoded, b.([]byte)) {
			return nil, fmt.Errorf("%s made %x", way, b)
		}
	}
	const nodePath = "\x16\x00\x00\x00" // its padding contains memory content
	if !bytes.Equal(recoded, s.Bytes) && !bytes.Contains(s.Bytes, []byte(nodePath)) {
		return nil, fmt.Errorf("recoded as %x", recoded)
	}
	if s.JSON == "" {
		return made, nil
	}
	made["json"] = text.String()
	b, err := fromJSON(s.JSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.JSON, err)
	}
	if err := compare(s.Bytes, b); err != nil {
		return nil, fmt.Errorf("%s: %w", s.JSON, err)
	}
	return made, nil
}

func fromJSON(text string) ([]byte, error) {
	var out bytes.Buffer
	e := gdwire.NewEncoder(&out, nil)
	err := cmp.Or(gdjson.FromJSON(e, strings.NewReader(text)), e.Close())
	return out.Bytes(), err
}

// difference describes the first difference between two values, and returns "" if there
// is none. It ignores the digits of floats that the engine does not write.
func difference(a, b reflect.Value) string {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		if !a.IsValid() && !b.IsValid() {
			return ""
		}
		return fmt.Sprintf(": %v and %v", a, b)
	}
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		x, y := a.Float(), b.Float()
		if x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-13+1e-13*math.Abs(x) ||
			a.Kind() == reflect.Float32 && math.Abs(x-y) <= 1e-6*math.Abs(x) {
			return ""
		}
		return fmt.Sprintf(": %v and %v", x, y)
	case reflect.Pointer, reflect.Interface:
		if d, ok := a.Interface().(*variant.Dictionary); ok && a.Kind() == reflect.Pointer {
			return differentPair(d, b.Interface().(*variant.Dictionary))
		}
		return difference(a.Elem(), b.Elem())
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return fmt.Sprintf(": %d and %d elements", a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := difference(a.Index(i), b.Index(i)); d != "" {
				return fmt.Sprintf("[%d]%s", i, d)
			}
		}
		return ""
	case reflect.Struct:
		for i := range a.NumField() {
			if d := difference(a.Field(i), b.Field(i)); d != "" {
				return fmt.Sprintf(".%s%s", a.Type().Field(i).Name, d)
			}
		}
		return ""
	default:
		if a.Equal(b) {
			return ""
		}
		return fmt.Sprintf(": %v and %v", a, b)
	}
}

// differentPair compares the pairs of two Dictionaries in order.
func differentPair(a, b *variant.Dictionary) string {
	if a.Key != b.Key || a.Value != b.Value {
		return fmt.Sprintf(": types %v, %v and %v, %v", a.Key, a.Value, b.Key, b.Value)
	}
	list := func(d *variant.Dictionary) (all []any) {
		for k, v := range d.All() {
			all = append(all, k, v)
		}
		return all
	}
	return difference(reflect.ValueOf(list(a)), reflect.ValueOf(list(b)))
}
