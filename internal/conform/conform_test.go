package conform

import (
	"bytes"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/suite"
)

// answers returns right answers to exercises of Decoding.
func answers(t testing.TB, all []Exercise, f gdwire.Format) []string {
	lines := make([]string, len(all))
	for i, e := range all {
		digits, objects, _ := strings.Cut(e.Line, " ")
		p, err := hex.DecodeString(digits)
		require.NoError(t, err)
		text, err := Decode(p, f, objects != "")
		if err != nil {
			text = []byte(`{"error":"x"}`)
		}
		lines[i] = string(text)
	}
	return lines
}

func TestConformJudge(t *testing.T) {
	all, err := Decoding(gdwire.Godot3)
	require.NoError(t, err)
	right := answers(t, all, gdwire.Godot3)
	judge := func(lines []string) ([]Fault, error) { return Judge(all, strings.NewReader(strings.Join(lines, "\n"))) }

	faults, err := judge(right)
	require.NoError(t, err)
	require.Empty(t, faults)
	require.Empty(t, Table(all, faults))

	for _, n := range []int{0, 1, len(right) - 1} {
		_, err = judge(right[:n])
		require.ErrorIs(t, err, ErrAnswers)
	}
	_, err = judge(append(right[:len(right):len(right)], "{}"))
	require.ErrorIs(t, err, ErrAnswers)
	_, err = Judge(all, io.LimitReader(endless{}, maxAnswer+1))
	require.ErrorContains(t, err, "too long")

	for _, c := range []struct{ answer, fault string }{
		{`{"error":"a\u001bb"}`, `refused: "a\x1bb"`}, {`{"t":"bool"}`, "read "}, {"\x1b", `no value: "\x1b"`}, {"", "no value"}, {`{"t":"Nil"} {}`, "no value"}, {"22", "no value"},
	} {
		wrong := append([]string{c.answer}, right[1:]...)
		faults, err = judge(wrong)
		require.NoError(t, err)
		require.Len(t, faults, 1)
		require.True(t, strings.HasPrefix(faults[0].Text, c.fault), faults[0].Text)
		require.Equal(t, []string{"S1", "G1", "A1", "A2", "A3"}, Table(all, faults)[0].Rules, "other exercises with all of these rules are right")
	}

	// A program that refuses everything, and one that accepts everything.
	for answer, first := range map[string]string{`{"error":""}`: "refused: ", `{"t":"Nil"}`: "accepted: "} {
		faults, err = judge(strings.Split(strings.Repeat(answer+"\n", len(all)), "\n")[:len(all)])
		require.NoError(t, err)
		count := 0
		for _, row := range Table(all, faults) {
			require.LessOrEqual(t, len(row.Faults), row.Count)
			require.NotEmpty(t, row.Rules)
			for _, f := range row.Faults {
				if strings.HasPrefix(f.Text, first) {
					count++
				}
			}
		}
		require.Greater(t, count, 200)
	}
}

// TestConformValues: a wrong value is a fault wherever a value is known.
func TestConformValues(t *testing.T) {
	all, err := Decoding(gdwire.Godot4)
	require.NoError(t, err)
	faults, err := Judge(all, strings.NewReader(strings.Repeat(`{"t":"Rect2","v":[9.0,9.0,9.0,9.0]}`+"\n", len(all))))
	require.NoError(t, err)
	packets, err := suite.Packets()
	require.NoError(t, err)
	right := 0
	for _, p := range packets {
		if slices.Contains(p.Formats, "godot4") && (p.Verdict == suite.Differs || p.Verdict == suite.Valid && p.Value == nil) {
			right++
		}
	}
	require.Len(t, faults, len(all)-right)
	require.Less(t, right, 30)
}

// TestEncoding: each exercise of an encoder has right answers and wrong ones.
func TestEncoding(t *testing.T) {
	all, err := Encoding(gdwire.Godot4)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, answer := range []string{"", "x", "00", `{"error":"x"}`, "ffffffff"} {
		faults, err := Judge(all, strings.NewReader(strings.Repeat(answer+"\n", len(all))))
		require.NoError(t, err)
		require.Len(t, faults, len(all))
	}
}

// FuzzJudge: no answers panic, and only right ones are without a fault.
func FuzzJudge(f *testing.F) {
	var all [2][]Exercise
	for i, exercises := range []func(gdwire.Format) ([]Exercise, error){Decoding, Encoding} {
		some, err := exercises(gdwire.Godot3)
		require.NoError(f, err)
		from := []int{114, 80}[i] // values and packets; only values
		all[i] = some[from : from+20]
	}
	f.Add([]byte(strings.Join(answers(f, all[0], gdwire.Godot3), "\n")), false)
	for _, e := range all[1] {
		f.Add([]byte(e.Line), true)
	}
	f.Add([]byte(strings.Repeat(`{"t":"Array","v":[`, 3000)), false)
	f.Add([]byte("1300000000000000\n\n\x00"), true)
	f.Fuzz(func(t *testing.T, answers []byte, encoder bool) {
		exercises := all[0]
		if encoder {
			exercises = all[1]
		}
		faults, err := Judge(exercises, bytes.NewReader(answers))
		if lines := bytes.Count(answers, []byte("\n")); err == nil && lines < len(exercises)-1 {
			t.Fatalf("%d lines answer %d exercises", lines, len(exercises))
		}
		for _, row := range Table(exercises, faults) {
			for _, fault := range row.Faults {
				if strings.ContainsFunc(fault.Text, func(r rune) bool { return r < ' ' || r > '~' }) {
					t.Fatalf("%q is not printable", fault.Text)
				}
			}
		}
	})
}

// endless is a Reader of a line that does not end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
