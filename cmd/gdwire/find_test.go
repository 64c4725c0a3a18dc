package main

import (
	"bufio"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/text"
)

// contains reports whether the value of a line of flat, or a key, contains a text or number.
func contains(v *text.Value, wanted string) bool {
	number, isFloat := 0.0, false
	if w, err := text.ParseValue(wanted); err == nil {
		if w, ok := w.Fit(gdwire.TypeFloat); ok {
			number, isFloat = w.Numbers[0], true
		}
	}
	switch {
	case v.Type == gdwire.TypeInt:
		return isFloat && float64(v.Int) == number
	case isFloat && slices.ContainsFunc(v.Numbers, func(x float64) bool { return x == number || math.IsNaN(x) && math.IsNaN(number) }):
		return true
	case v.Type == gdwire.TypePackedByteArray || v.Type == gdwire.TypeImage || v.Form != text.Whole:
		return false
	}
	return strings.Contains(strings.ToLower(v.Text), strings.ToLower(wanted)) || strings.EqualFold(v.String(), wanted)
}

// foundIn returns the lines that find shows, made of those of flat.
func foundIn(t *testing.T, flat, wanted string) (found []string) {
	var last []text.Step
	isKey := func(s *text.Step) bool {
		return s.Op == text.Child && s.Key.Type != gdwire.TypeInt && contains(&s.Key, wanted)
	}
	for line := range strings.Lines(flat) {
		line = strings.TrimSuffix(line, "\n")
		p, v := must2(text.ParseLine(line))(t)
		same := 0
		for same < min(len(p.Steps), len(last)) && string(p.Steps[same].Append(nil)) == string(last[same].Append(nil)) {
			same++
		}
		last = p.Steps
		for i := same; i < len(p.Steps)-1; i++ {
			if isKey(&p.Steps[i]) {
				found = append(found, text.Path{Packet: p.Packet, Steps: p.Steps[:i+1]}.String()+": a key")
			}
		}
		if contains(&v, wanted) || len(p.Steps) > 0 && isKey(&p.Steps[len(p.Steps)-1]) {
			found = append(found, line)
		}
	}
	return found
}

// TestFind: find shows the lines of flat that contain a text or number, in values that engines wrote and random saves.
func TestFind(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	file := filepath.Join(t.TempDir(), "save")
	hits := 0
	check := func(b []byte, format, wanted string) {
		require.NoError(t, os.WriteFile(file, b, 0o600))
		flags := []string{"-format", format, "-frame", "u32", "--"}
		want := foundIn(t, runWith(nil, slices.Concat([]string{"flat"}, flags, []string{file})...).out, wanted)
		r := runWith(nil, slices.Concat([]string{"find"}, flags, []string{wanted, file})...)
		require.Equal(t, strings.Join(append(want, ""), "\n"), r.out, wanted)
		require.Equal(t, len(want) > 0, r.status == statusGood)
		hits += len(want)
	}
	texts := []string{"a", "1", "-1", "0.5", "true", "NULL", `"a"`, "é", "Vector2(1.0, 2.0)", "Node", "root", "x", "nan", "255", "0.1", `&"a"`, `^"a"`}
	for _, folder := range slices.Sorted(maps.Keys(engines)) { // in one order: a failure can be repeated
		format := engines[folder]
		for i, v := range sample(t, folder) {
			if v.Name == "dict_equal_keys" {
				continue
			}
			for j, wanted := range texts {
				if full() || i%len(texts) == j {
					check(framed([]byte(v.Hex)), format, wanted)
				}
			}
		}
	}
	for range 100 {
		check(framed(gdwiretest.Encode(t, randomSave(random, 3))), "godot4", []string{"a", "gold", "items", "1", "Ada", "0.5", "true", "s"}[random.IntN(8)])
	}
	long := strings.Repeat("0123456789", 10_000)
	check(framed(wire(27, 2, 4, long+"KEY", 4, long+"Value", 4, "b", 28, 2, 4, long+"needle"+long, 22, uint32(0x80000001), 0, 0, long+"needle")), "godot4", "Needle")
	check(framed(wire(27, 1, 4, long+"KEY", 4, long+"Value")), "godot4", "9key")
	require.Greater(t, hits, 300)
}

// TestFindAtOnce: find shows what it has found before it waits for more input.
func TestFindAtOnce(t *testing.T) {
	in, feed := io.Pipe()
	shown, out := io.Pipe()
	status := make(chan int)
	go func() {
		status <- run([]string{"find", "Ada", "-format", "godot4", "-frame", "none"}, in, out, io.Discard)
		_ = out.Close()
	}()
	must(feed.Write(wire(28, 3, 4, "Ada", 4, "Bob")))(t)
	lines := bufio.NewReader(shown)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "$[0] = \"Ada\"\n", line)
	must(feed.Write(wire(4, "ada")))(t)
	require.NoError(t, feed.Close())
	line = must(lines.ReadString('\n'))(t)
	require.Equal(t, "$[2] = \"ada\"\n", line)
	require.Zero(t, <-status)
}
