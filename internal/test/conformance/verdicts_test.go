package conformance

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// forVerdicts calls f for each verdict of each engine but those of 4.3 on typed
// dictionaries, which it does not know.
func forVerdicts(t *testing.T, f func(e *model.Engine, v *model.Verdict)) {
	for i := range model.Singles {
		e := &model.Singles[i]
		out := 0
		for _, v := range e.Verdicts(t) {
			if e.Folder == "godot4.3" {
				r := model.Reference{Format: "godot4", P: v.Hex}
				if _, _ = r.Decode(); r.TypedDict {
					out++
					continue
				}
			}
			f(e, &v)
		}
		if out > 0 {
			t.Logf("%s: %d typed dictionaries left out", e.Folder, out)
		}
	}
}

// A counter counts the lines that each reason explains.
type counter map[string]int

// check fails if a reason explains nothing.
func (c counter) check(t *testing.T, reasons ...string) {
	for _, name := range reasons {
		t.Logf("%4d %s", c[name], name)
		assert.NotZero(t, c[name], "%s explains no line", name)
	}
}

// A leniency is text that an engine accepts and the Decoder rejects without
// AllowInvalidUTF8, because its text is always UTF-8.
type leniency struct {
	name  string
	only  string // the engine, if not all
	valid func([]byte) bool
}

var leniencies = []leniency{
	// Engines do not check the text after a NUL; the Decoder returns it.
	{name: "bad UTF-8 after a NUL", valid: func(b []byte) bool { return utf8.Valid(untilNUL(b)) }},
	// Surrogates, code points beyond Unicode, 5 and 6 bytes, overlong forms.
	{name: "UTF-8 as 3.2.3 has it", only: "godot3.2.3", valid: func(b []byte) bool { return validGodot3(untilNUL(b)) }},
}

func untilNUL(b []byte) []byte {
	b, _, _ = bytes.Cut(b, []byte{0})
	return b
}

// validGodot3 reports whether Godot 3 accepts text: the lead byte decides how many
// bytes have to follow. It rejects overlong forms of two bytes, and longer ones if
// neither the first two bytes nor the upper bits of the third have a bit set.
func validGodot3(b []byte) bool {
	for len(b) > 0 {
		n := 0
		switch c := b[0]; {
		case c < 0x80:
			n = 1
		case c >= 0xC2 && c < 0xE0:
			n = 2
		case c >= 0xE0 && c < 0xF0:
			n = 3
		case c >= 0xF0 && c < 0xF8:
			n = 4
		case c >= 0xF8 && c < 0xFC:
			n = 5
		case c >= 0xFC && c < 0xFE:
			n = 6
		}
		if n == 0 || n > len(b) {
			return false
		}
		for _, c := range b[1:n] {
			if c&0xC0 != 0x80 {
				return false
			}
		}
		if n > 2 && b[0]<<(n+1) == 0 && b[1] == 0x80 && b[2] < 0x80+1<<(7-n) {
			return false
		}
		b = b[n:]
	}
	return true
}

// explains reports whether e accepts p for this reason: with this check of text
// the Decoder would accept it, too.
func (l *leniency) explains(e *model.Engine, p []byte) bool {
	if l.only != "" && l.only != e.Folder {
		return false
	}
	format := e.Format.String()
	r := model.Reference{Format: format, P: p}
	if _, err := r.Decode(); err == nil {
		return false
	}
	r = model.Reference{Format: format, P: p, Valid: l.valid}
	_, err := r.Decode()
	return err == nil
}

// The Decoder accepts the packets that engines accept, and reads as many bytes of
// them.
func TestVerdicts(t *testing.T) {
	const padding = "size counts the padding that is missing"
	counts := counter{}
	forVerdicts(t, func(e *model.Engine, v *model.Verdict) {
		_, size, err := model.Decode(v.Hex, gdwire.DecoderOptions{Format: e.Format})
		agree := (err == nil) == v.Accept
		counts["agree"]++
		explained := ""
		for i := range leniencies {
			l := &leniencies[i]
			if !l.explains(e, v.Hex) {
				continue
			}
			assert.False(t, agree, "%s explains a packet without a difference: %s, %x", l.name, e.Folder, v.Hex)
			if explained == "" {
				explained = l.name
				counts[l.name]++
			}
		}
		if !agree {
			counts["agree"]--
			assert.NotEmpty(t, explained, "%s accepts: %v, we: %v, %x", e.Folder, v.Accept, err, v.Hex)
			return
		}
		if err != nil || e.Format != gdwire.Godot4 {
			return
		}
		r := model.Reference{Format: "godot4", P: v.Hex}
		must(r.Decode())(t)
		assert.Equal(t, v.Size, size+int64(r.Missing), "%s, %x", e.Folder, v.Hex)
		if r.Missing > 0 {
			counts[padding]++
		}
	})
	counts.check(t, "agree", leniencies[0].name, leniencies[1].name, padding)
}

// A habit is a change that engines make to a value between reading and writing it.
// The Decoder and Encoder keep the value.
type habit struct {
	name string
	// rare marks a known habit that no verdict here shows.
	rare bool
	// change applies the habit to one value, whose items are already changed.
	change func(e *model.Engine, v *tagged.Value) bool
}

var habits = []habit{
	{name: "a string ends at its first NUL", change: func(_ *model.Engine, v *tagged.Value) bool {
		return v.ChangeTexts(func(s string) string { return string(untilNUL([]byte(s))) })
	}},
	{name: "a byte order mark is dropped", rare: true, change: func(_ *model.Engine, v *tagged.Value) bool {
		return v.ChangeTexts(func(s string) string { return strings.TrimPrefix(s, "\ufeff") })
	}},
	{name: "a NaN of 32 bits is quieted and gets 64", change: func(_ *model.Engine, v *tagged.Value) bool {
		x := math.Float64frombits(v.Bits)
		if v.Type != "float" || v.Wide || x == x {
			return false
		}
		v.Wide, v.Bits = true, v.Bits|1<<51
		return true
	}},
	{name: "a number of 64 bits that fits 32 gets these", change: func(_ *model.Engine, v *tagged.Value) bool {
		x := math.Float64frombits(v.Bits)
		fits := v.Type == "int" && int64(v.Bits) == int64(int32(v.Bits)) || v.Type == "float" && float64(float32(x)) == x
		if !v.Wide || !fits {
			return false
		}
		v.Wide = false
		return true
	}},
	{name: "single precision reads 64 bits and writes 32", change: func(e *model.Engine, v *tagged.Value) bool {
		if model.RealComponents[v.Type] == 0 || !v.Wide {
			return false
		}
		v.Wide = false
		for i, bits := range v.Numbers {
			v.Numbers[i] = tagged.Widened(math.Float32bits(float32(math.Float64frombits(bits))))
		}
		return true
	}},
	{name: "an object is a stand-in with an id of its own", change: func(_ *model.Engine, v *tagged.Value) bool {
		if v.Type != "ObjectID" || v.Bits == 0 {
			return false
		}
		v.Bits = 1
		return true
	}},
	{name: "an object of id 0 is nil", rare: true, change: func(_ *model.Engine, v *tagged.Value) bool {
		if v.Type != "ObjectID" || v.Bits != 0 {
			return false
		}
		*v = tagged.Value{Type: "Nil"}
		return true
	}},
	{name: "every class is EncodedObjectAsID", change: func(_ *model.Engine, v *tagged.Value) bool {
		changed := false
		for _, d := range []*tagged.Declared{&v.Key, &v.Elem} {
			if as := (tagged.Declared{Kind: 2, Name: "EncodedObjectAsID"}); (d.Kind > 1 || d.Name == "Object") && *d != as {
				*d, changed = as, true
			}
		}
		return changed
	}},
	{name: "an empty path is not absolute to 3.2.3", change: func(e *model.Engine, v *tagged.Value) bool {
		if e.Format != gdwire.Godot3 || !v.Absolute || len(v.Names)+len(v.Subnames) > 0 {
			return false
		}
		v.Absolute = false
		return true
	}},
	{name: "a StringName becomes a String as a key of 4.3", rare: true, change: func(e *model.Engine, v *tagged.Value) bool {
		changed := false
		for i := 0; e.Folder == "godot4.3" && v.Type == "Dictionary" && i < len(v.Items); i += 2 {
			if v.Items[i].Type == "StringName" {
				v.Items[i].Type, changed = "String", true
			}
		}
		return changed
	}},
	{name: "of equal keys the last value counts", rare: true, change: func(e *model.Engine, v *tagged.Value) bool {
		if v.Type != "Dictionary" {
			return false
		}
		var items []tagged.Value
	pairs:
		for i := 0; i < len(v.Items); i += 2 {
			for j := 0; j < len(items); j += 2 {
				if equalKeys(e, &items[j], &v.Items[i]) {
					items[j+1] = v.Items[i+1]
					continue pairs
				}
			}
			items = append(items, v.Items[i:i+2]...)
		}
		changed := len(items) < len(v.Items)
		v.Items = items
		return changed
	}},
}

// equalKeys reports whether two keys are equal to an engine.
func equalKeys(e *model.Engine, a, b *tagged.Value) bool {
	if a.Type == "ObjectID" || a.Type == "Dictionary" && e.Format == gdwire.Godot3 {
		return false // compared by identity
	}
	one := func(v *tagged.Value) tagged.Value {
		w := v.Plain().AnyNaN()
		if w.Type == "StringName" {
			w.Type = "String"
		}
		zero := math.Float64bits(math.Copysign(0, -1))
		if w.Type == "float" && w.Bits == zero {
			w.Bits = 0
		}
		return w
	}
	return reflect.DeepEqual(one(a), one(b))
}

// Habits that no verdict shows have the known results.
func TestVerdictHabits(t *testing.T) {
	for _, c := range []struct{ folder, packet, want string }{
		{"godot4.7-dev", "<String> 04000000 efbbbf61", "<String> 01000000 61000000"},
		{"godot4.7-dev", "<Array> 01000000 <Object+1> 00000000 00000000", "<Array> 01000000 <Nil>"},
		{"godot4.3", "<Dictionary> 01000000 <StringName> 00000000 <Nil>", "<Dictionary> 01000000 <String> 00000000 <Nil>"},
		{"godot4.7-dev", "<Dictionary> 01000000 <StringName> 00000000 <Nil>", "<Dictionary> 01000000 <StringName> 00000000 <Nil>"},
		{"godot4.7-dev", "<Dictionary> 03000000 <String> 00000000 <Nil> <Nil> <Nil> <StringName> 00000000 <bool> 01000000",
			"<Dictionary> 02000000 <String> 00000000 <bool> 01000000 <Nil> <Nil>"},
		{"godot3.2.3", "<Dictionary> 02000000 <float> 00000080 <Nil> <float> 00000000 <bool> 00000000", "<Dictionary> 01000000 <float> 00000080 <bool> 00000000"},
		{"godot3.2.3", "<Dictionary> 02000000 <Dictionary> 00000000 <Nil> <Dictionary> 00000000 <Nil>",
			"<Dictionary> 02000000 <Dictionary> 00000000 <Nil> <Dictionary> 00000000 <Nil>"},
		{"godot4.3", "<Dictionary> 02000000 <Dictionary> 00000000 <Nil> <Dictionary> 00000000 <Nil>", "<Dictionary> 01000000 <Dictionary> 00000000 <Nil>"},
		{"godot4.3", "<Dictionary> 02000000 <int> 01000000 <Nil> <float> 0000803f <Nil>", "<Dictionary> 02000000 <int> 01000000 <Nil> <float> 0000803f <Nil>"},
	} {
		t.Run(c.folder+" "+c.packet, func(t *testing.T) {
			for i := range model.Engines {
				e := &model.Engines[i]
				if e.Folder != c.folder {
					continue
				}
				got, _ := must2(model.Decode(model.Build(t, e.Format, c.packet), gdwire.DecoderOptions{Format: e.Format}))(t)
				want, _ := must2(model.Decode(model.Build(t, e.Format, c.want), gdwire.DecoderOptions{Format: e.Format}))(t)
				changed := false
				for i := range habits {
					changed = habits[i].apply(e, &got) || changed
				}
				assert.Equal(t, c.packet != c.want, changed, c.packet)
				assert.Equal(t, want, got, c.packet)
			}
		})
	}
}

func TestVerdictUTF8OfGodot3(t *testing.T) {
	for text, want := range map[string]bool{
		"a\u00e9\u20ac\U0001F600": true, "\xed\xa0\x80": true, "\xf4\x90\x80\x80": true, "\xf7\xbf\xbf\xbf": true,
		"\xf8\x88\x80\x80\x80": true, "\xfc\x84\x80\x80\x80\x80": true, "\xe0\x81\x80": true, "\xe0\x80\x90": true, "\xf0\x80\x88\x80": true,
		"\x80": false, "\xc0\x80": false, "\xc1\xbf": false, "\xe0\x80\x80": false, "\xe0\x80\x8f": false, "\xf0\x80\x87\xbf": false,
		"\xfe": false, "\xff": false, "\xe2\x82": false, "\xe2a\x82": false,
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			assert.Equal(t, want, validGodot3([]byte(text)), "%x", text)
		})
	}
}

// apply applies the habit to v and all values in it.
func (h *habit) apply(e *model.Engine, v *tagged.Value) bool {
	changed := false
	for i := range v.Items {
		changed = h.apply(e, &v.Items[i]) || changed
	}
	return h.change(e, v) || changed
}

// An accepted packet is re-encoded as the engine does, apart from the habits.
func TestVerdictsReencoded(t *testing.T) {
	const dropped = "wrong elements of a typed container are converted or dropped"
	counts := counter{}
	forVerdicts(t, func(e *model.Engine, v *model.Verdict) {
		o := gdwire.DecoderOptions{Format: e.Format}
		tree, _, err := model.Decode(v.Hex, o)
		if !v.Accept || err != nil {
			return
		}
		again := must(model.Copy(v.Hex, o, gdwire.EncoderOptions{Format: e.Format}))(t)
		if tree.Holds(tagged.HasWrongTypes) { // these are copied
			counts[dropped]++
			return
		}
		theirs := v.Reencoded
		if e.Dirty {
			theirs = model.CleanPaths(theirs, e.Format)
		}
		same := bytes.Equal(again, theirs)
		if same {
			counts["same"]++
		}
		want, _ := must2(model.Decode(theirs, o))(t)
		for i := range habits {
			h := &habits[i]
			if h.apply(e, &tree) {
				assert.False(t, same, "%s explains a packet without a difference: %s, %x", h.name, e.Folder, v.Hex)
				counts[h.name]++
			}
			if strings.HasPrefix(h.name, "an object is") {
				h.apply(e, &want) // its id differs in each run
			}
		}
		assert.Equal(t, want, tree, "%s, %x, written again %x", e.Folder, v.Hex, v.Reencoded)
	})
	names := []string{"same", dropped}
	for _, h := range habits {
		if !h.rare {
			names = append(names, h.name)
		}
	}
	counts.check(t, names...)
}
