package gdwire

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/testsize"
)

// The README has the programs and types of the code, and SECURITY.md its limits.
func TestREADME(t *testing.T) {
	b, err := os.ReadFile("README.md")
	require.NoError(t, err)
	readme := string(b)

	for _, program := range []string{"examples/save/main.go", "examples/server/main.go"} {
		t.Run(program, func(t *testing.T) {
			source, err := os.ReadFile(program)
			require.NoError(t, err)
			require.True(t, strings.Contains(readme, "```go\n"+string(source)+"```\n"), "the README has another program")
		})
	}
	require.LessOrEqual(t, strings.Count(readme, "\n"), 250, "lines")

	b, err = os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	sizes := [...]string{
		limitDepth: "1024", limitElements: "1<<20", limitValues: "1<<24", limitString: "16 MiB",
		limitName: "1 KiB", limitPacked: "256 MiB", limitBytes: "none",
	}
	numbers := map[string]int64{
		"1024": 1024, "1<<20": 1 << 20, "1<<24": 1 << 24, "16 MiB": 16 << 20,
		"1 KiB": 1 << 10, "256 MiB": 256 << 20, "none": math.MaxInt64,
	}
	for i, size := range sizes {
		require.Contains(t, string(b), fmt.Sprintf("| `Limits.%s` | %s", limitTable[i].name, size))
		require.Equal(t, limitTable[i].standard, numbers[size])
	}

	types := "| types |"
	for _, f := range Formats() {
		types += " " + strconv.Itoa(len(f.types)) + " |"
	}
	require.Contains(t, readme, types)
	for _, f := range Formats() {
		require.Contains(t, readme, "`"+f.String()+"`")
	}
	require.Contains(t, readme, (&Error{Offset: 34, Path: `$.player.inventory[3]`,
		Err: &LimitError{Name: "StringBytes", Got: 4294967295, Max: 16 << 20}}).Error())
	require.True(t, strings.HasPrefix(readme, "gdwire "), "one sentence first")
}

// TestREADMEOutput runs the README's programs and compares what they print.
func TestREADMEOutput(t *testing.T) {
	if !testsize.Full() {
		t.Skip("skipped: builds programs")
	}
	run := func(stdin []byte, program string) []byte {
		c := exec.CommandContext(t.Context(), "go", "run", program)
		c.Stdin = bytes.NewReader(stdin)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, err := c.Output()
		require.NoError(t, err, "%s: %s", program, &stderr)
		return out
	}

	tokens := run(run(nil, "./examples/write"), "./examples/read")
	want, err := os.ReadFile("examples/read/output.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), string(tokens))

	save, err := os.ReadFile("testdata/godot4.7-dev/save_game_large.bin")
	require.NoError(t, err)
	healed := run(save, "./examples/save")
	require.Len(t, healed, len(save))
	changed := 0
	for i := range save {
		if save[i] != healed[i] {
			changed++
		}
	}
	require.Equal(t, 2, changed, "bytes of the one number that the program sets")
}
