package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/internal/values/suite"
)

// TestEngines: the engines at hand, but for the one in a browser, answer as the vectors say.
func TestEngines(t *testing.T) {
	if !testenv.Full() {
		t.Skip("skipped without GDWIRE_FULL")
	}
	require.NoError(t, os.Chdir("../.."))
	values := testenv.Must(suite.Values())(t)
	packets := testenv.Must(suite.Packets())(t)
	for i := range engines {
		e := &engines[i]
		t.Run(e.name, func(t *testing.T) {
			program := e.command[2]
			if _, err := exec.LookPath(program); err != nil || e.command[0] != "sh" {
				t.Skipf("skipped: %q is not installed, or slow", program)
			}
			require.NoError(t, checked.Try(e.check))
			s := survey{engine: e}
			s.values(values)
			s.packets(packets)
			require.Greater(t, len(s.questions), 600)
			changes := testenv.Must(s.run())(t)
			require.Empty(t, changes)
		})
	}
}

// TestSurvey: an answer that differs from the vectors is noticed, and what differs in each run is not.
func TestSurvey(t *testing.T) {
	engine := engine{name: "4.6", format: engines[1].format, dirty: true}
	packets := []suite.Packet{{ID: "p", Formats: []string{"godot4"}, Hex: suite.Hex{2, 0, 0, 0, 1, 0, 0, 0}, Engines: map[string]suite.Answer{
		"4.6": {Accept: true, Size: 8, Reencoded: suite.Hex{2, 0, 0, 0, 1, 0, 0, 0}},
	}}, {ID: "object", Formats: []string{"godot4"}, Objects: true}}
	s := survey{engine: &engine}
	s.packets(packets)
	require.Len(t, s.questions, 1)
	require.Equal(t, []string{"object"}, s.unjudged)
	note := s.questions[0].note
	require.Empty(t, note(packets[0].Engines["4.6"]))
	require.Contains(t, note(suite.Answer{}), "accepted it: true 8 0200000001000000; now: false 0")
	require.False(t, packets[0].Engines["4.6"].Accept, "the new answer is noted")

	id := func(last byte) []byte { return []byte{0x18, 0, 1, 0, last, 0, 0, 0, 0, 0, 0, 0x80} }
	path := func(padding byte) []byte {
		return []byte{0x16, 0, 0, 0, 1, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'a', padding, 0, 0}
	}
	require.True(t, s.same(id(1), id(2)))
	require.True(t, s.same(path(0), path(1)))
	engine.dirty = false
	require.False(t, s.same(path(0), path(1)))
	require.False(t, s.same(id(1), path(0)))
}
