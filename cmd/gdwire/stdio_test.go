package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoControlCharacters: no output of any command holds a character that a
// terminal obeys.
func TestNoControlCharacters(t *testing.T) {
	const evil = "\x1b[31m\x07\x7f\u009b2J\u202e\u2066\r"
	file := filepath.Join(t.TempDir(), "evil")
	value := wire(27, 4, 4, evil, 4, evil, 21, evil, 22, uint32(0x80000001), 0, 0, evil, 4, "m", 34, 1, evil+"\x00", 4, "s", 26, evil, uint64(0))
	require.NoError(t, os.WriteFile(file, framed(value, wire(27, 1, 4, evil, 99), wire(0x2001c, evil, 1, 99), wire(24, evil, 1, evil, 99)), 0o600))
	for _, args := range []string{
		"tokens", "json", "json -plain", "json -indent", "flat", "check", "check -json", "get $", "get m[0]", "get nothing", "set m[0]=1", "set m[0]='x'", "recode -to godot3",
		"encode -like FILE", "unwrap", "json -frame u64",
	} {
		t.Run(args, func(t *testing.T) {
			words := strings.Fields(strings.Replace(args, "FILE", file, 1))
			words = append(words, "-format", "godot4", "-objects")
			if !strings.Contains(args, "-frame") {
				words = append(words, "-frame", "u32")
			}
			if words[0] != "encode" {
				words = append(words, file)
			}
			if words[0] == "set" || words[0] == "recode" {
				words = append(words, "-o", file+".out")
			}
			r := runWith(nil, words...)
			for _, c := range "\x1b\x07\x7f\u009b\u202e\u2066\r" {
				require.NotContains(t, r.out+r.err, string(c))
			}
		})
	}
	r := runWith(nil, "json", "no\x1bfile")
	require.Contains(t, r.err, `no\x1bfile`)
}
