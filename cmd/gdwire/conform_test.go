package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
)

// TestConform: the command itself and the readers of the specification are right about every
// vector of every format.
func TestConform(t *testing.T) {
	for _, f := range gdwire.Formats() {
		name := f.String()
		commands := []string{"conform -format " + name, "conform -encoder -format " + name}
		for _, reader := range []string{"python3 ../../spec/reader.py", "node ../../spec/reader.mjs"} {
			if _, err := exec.LookPath(strings.Fields(reader)[0]); err != nil {
				t.Logf("%s is skipped: %v", reader, err)
				continue
			}
			commands = append(commands, "conform -format "+name+" -- "+reader+" "+name)
		}
		for _, command := range commands {
			r := runWith(nil, strings.Fields(command)...)
			require.Equal(t, statusGood, r.status, "%s: %s%s", command, r.out, r.err)
			require.Regexp(t, `^`+name+`: (\d+) of (\d+) right\n$`, r.out)
			require.Empty(t, r.err)
			words := strings.Fields(r.out)
			require.Equal(t, words[1], words[3])
		}
	}
}

func TestConformFaults(t *testing.T) {
	r := runWith(nil, "conform", "-v", "--", "cat")
	require.Equal(t, statusBad, r.status)
	require.Empty(t, r.err)
	require.Contains(t, r.out, "kind ")
	require.Regexp(t, `(?m)^length past the end +T2 +\d+ of \d+ +p4-\d+ no value: `, r.out)
	require.Regexp(t, `(?m)^g4-0001 no value.*\n  00000000$`, r.out)
	require.Regexp(t, `\ngodot4: 0 of \d+ right\n$`, r.out)

	for _, c := range []struct{ program, fault string }{
		{"true", "wrong number of answers: 0 to "},
		{"head -n 3", "wrong number of answers: 3 to "},
		{"./no-such-program", "no-such-program"},
		{"yes {}", "wrong number of answers: more than "},
	} {
		r := runWith(nil, append([]string{"conform", "--"}, strings.Fields(c.program)...)...)
		require.Equal(t, statusBad, r.status, c.program)
		require.Contains(t, r.err, c.fault, c.program)
		require.NotContains(t, r.out, " right", c.program)
	}
	for _, command := range []string{"conform -timeout 0s", "conform -format godot5", "conform cat", "conform -format godot4 cat -- x"} {
		require.Equal(t, statusUsage, runWith(nil, strings.Fields(command)...).status, command)
	}
}

// TestConformLate: a program that stops answering is killed, also if a child of it has its output.
func TestConformLate(t *testing.T) {
	for _, c := range []struct{ timeout, script, fault string }{
		{"10ms", "exec sleep 600", "sh: answer to g4-0001: nothing for 10ms; -timeout waits longer"},
		{"10ms", "sleep 20 & wait", "sh: answer to g4-0001: nothing for 10ms"},
		{"3s", `while read -r line; do echo '{"t":"Nil"}'; done; exec sleep 600`, "sh: after the last answer: nothing for 3s"},
		{"5m", `while read -r line; do echo '{"t":"Nil"}'; done; exit 3`, "sh: after the last answer: exit status 3"},
		{"5m", "exit 3", "sh: answer to g4-0001: exit status 3"},
	} {
		t.Run(c.script, func(t *testing.T) {
			t.Parallel()
			r := runWith(nil, "conform", "-timeout", c.timeout, "--", "sh", "-c", c.script)
			require.Equal(t, statusBad, r.status)
			require.Contains(t, r.err, c.fault)
			require.NotContains(t, r.out, " right")
		})
	}
}
