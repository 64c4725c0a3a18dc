package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// TestPicture: the picture is that of a run.
func TestPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it builds the command")
	}
	t.Chdir("..")
	svg := testenv.Must(draw(scenes))(t)
	have := testenv.Must(os.ReadFile("../cmd/gdwire/terminal.svg"))(t)
	require.Equal(t, string(have), string(svg), "go run ./picture >../cmd/gdwire/terminal.svg")
}

func TestSpans(t *testing.T) {
	require.Equal(t, `a<tspan fill="#a6e3a1">&lt;b&gt;</tspan>c`, spans("a\x1b[32m<b>\x1b[0mc"))
}
