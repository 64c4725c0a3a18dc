package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Workflows run only actions and images that can't change, with the rights that they name.
func TestWorkflowsPinned(t *testing.T) {
	t.Chdir("../../..")
	files := must(filepath.Glob(".github/workflows/*.yml"))(t)
	require.NotEmpty(t, files)
	uses, pinned := regexp.MustCompile(`\buses: .*`), regexp.MustCompile(`^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, name := range files {
		b := must(os.ReadFile(name))(t)
		lines := uses.FindAllString(string(b), -1)
		require.NotEmpty(t, lines, name)
		for _, line := range lines {
			assert.Regexp(t, pinned, line, name)
		}
		assert.Equal(t, len(lines), strings.Count(string(b), "\n      - uses:"), name)
		assert.Regexp(t, `(?m)^permissions:( \{\}|\n  contents: read)\n[^ ]`, string(b), "%s: rights of all jobs", name)
		assert.Equal(t, strings.Count(string(b), "actions/checkout@"), strings.Count(string(b), "persist-credentials: false"), name)
	}
	b, err := os.ReadFile(".ci/Dockerfile")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^FROM \S+@sha256:[0-9a-f]{64}$`, string(b))
}
