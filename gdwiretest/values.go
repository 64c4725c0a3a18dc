package gdwiretest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// Encode returns the encoding of v, as [variant.Marshal] does. If v cannot be encoded, the test fails and
// ends.
func Encode(t testing.TB, v any, opts ...variant.Options) []byte {
	t.Helper()
	packet, err := variant.Marshal(v, opts...)
	if err != nil {
		t.Fatalf("gdwiretest: %v", err)
	}
	return packet
}

// maxDifferences is the maximum number of differences reported by Equal.
const maxDifferences = 20

// Equal reports whether two values are encoded as the same value. If not, the test fails with the
// differences by their paths, as in [variant.Diff], and goes on.
//
// The values are Go values with an encoding in [gdwire.Godot4], such as structs, maps, and the values that Unmarshal
// stores in an any. A [variant.Raw] is encoded bytes in its format. A struct equals its Dictionary, an int differs from
// a float, and the order of pairs does not matter. Components of math types are compared as 32 bits, as they are
// encoded.
func Equal(t testing.TB, got, want any) bool {
	t.Helper()
	changes := slices.Collect(variant.Diff(tree(t, want), tree(t, got)))
	if len(changes) == 0 {
		return true
	}
	var b strings.Builder
	for i, c := range changes {
		if i == maxDifferences {
			fmt.Fprintf(&b, "\n\tand %d more", len(changes)-i)
			break
		}
		switch {
		case c.Added:
			fmt.Fprintf(&b, "\n\t%s: got %s more", c.NewPath, text(c.New))
		case c.Removed:
			fmt.Fprintf(&b, "\n\t%s: want %s, which is missing", c.OldPath, text(c.Old))
		default:
			fmt.Fprintf(&b, "\n\t%s: got %s, want %s", c.NewPath, text(c.New), text(c.Old))
		}
	}
	t.Errorf("gdwiretest: values differ:%s", b.String())
	return false
}

// lenient are options that keep everything in a value.
var lenient = variant.Options{
	Decoder: gdwire.DecoderOptions{AllowObjects: true, AllowInvalidUTF8: true},
	Encoder: gdwire.EncoderOptions{AllowInvalidUTF8: true},
}

// tree returns v as in an any.
func tree(t testing.TB, v any) (x any) {
	t.Helper()
	if raw, ok := v.(variant.Raw); ok {
		if err := raw.Unmarshal(&x, lenient); err != nil {
			t.Fatalf("gdwiretest: %v", err)
		}
		v, x = x, nil // encoded again, by the same options as the other
	}
	if err := variant.Unmarshal(Encode(t, v, lenient), &x, lenient); err != nil {
		t.Fatalf("gdwiretest: %v", err)
	}
	return x
}

// maxText is the maximum length in bytes of a value in a message.
const maxText = 100

// text returns the text of a value, cut after maxText bytes.
func text(v any) string {
	data, _ := variant.Marshal(v, lenient) // as in tree
	s := variant.Raw{Data: data}.String()
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + " …"
	}
	return s
}
