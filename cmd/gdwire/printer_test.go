package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/suite"
)

// TestCommandPlain: without a terminal, the output contains no escape sequences for any input.
func TestCommandPlain(t *testing.T) {
	in := framed(wire(4, "\x1b[31mred\x07"), wire(27, 1, 4, "\x1b]0;title\x07", 99), wire(2, 7), wire(28, 1),
		wire(0x2001c, "\x1b[2J\n", 0), wire(26, "\x1b", uint64(0)), wire(0x6001b, "\x07", 2, 0), wire(22, uint32(0x80000001), 0, 0, "\x1b"))
	for _, command := range []string{"tokens", "json", "check", "check -json"} {
		t.Run(command, func(t *testing.T) {
			r := runWith(in, append(strings.Fields(command), "-frame", "u32")...)
			require.Equal(t, statusBad, r.status)
			require.NotContains(t, r.out+r.err, "\x1b")
			require.NotContains(t, r.out+r.err, "\x07")
		})
	}
}

// TestCommandLive: a packet is shown before the next one arrives.
func TestCommandLive(t *testing.T) {
	for _, command := range []string{"tokens", "json", "check -json"} {
		t.Run(command, func(t *testing.T) {
			in, feed := io.Pipe()
			shown, out := io.Pipe()
			done := make(chan int)
			go func() {
				done <- run(fixed(append(strings.Fields(command), "-frame", "u32")), in, out, io.Discard)
				out.Close()
			}()
			line := make([]byte, 200)
			large := wire(34, 1, "x\x00", make([]byte, 40_000)) // bytes follow its value
			for _, packet := range [][]byte{wire(2, 5), large, wire(2, 5)} {
				must(feed.Write(framed(packet)))(t)
				_, err := shown.Read(line)
				require.NoError(t, err)
			}
			feed.Close()
			go io.Copy(io.Discard, shown)
			require.Zero(t, <-done)
		})
	}
}

// TestCommandVerdicts: all printers agree on the valid packets, and show a line for each.
func TestCommandVerdicts(t *testing.T) {
	suitePackets := must(suite.Packets())(t)
	for _, folder := range []string{"godot3.2.3", "godot4.3", "godot4.7-dev"} {
		var packets [][]byte
		for _, p := range suitePackets {
			if _, ok := p.Engines[strings.TrimPrefix(folder, "godot")]; ok {
				packets = append(packets, p.Hex)
			}
		}
		for _, flags := range []string{"", "-strict", "-objects", "-any-utf8"} {
			lines := func(command string) []string {
				args := strings.Fields(command + " -frame u32 -format " + engines[folder] + " " + flags)
				r := runWith(framed(packets...), args...)
				require.Equal(t, statusBad, r.status)
				return strings.SplitAfter(strings.TrimSuffix(r.out, "\n"), "\n")
			}
			checked, shown := lines("check -json"), lines("json")
			require.Len(t, checked, len(packets))
			require.Len(t, shown, len(packets))
			tokens := strings.Join(lines("tokens"), "")
			require.Equal(t, len(packets), strings.Count(tokens, "packet "))
			good, noJSON := 0, 0
			for i, line := range checked {
				var v struct{ OK bool }
				require.NoError(t, json.Unmarshal([]byte(line), &v))
				if v.OK {
					good++
					if flags == "-any-utf8" {
						continue // JSON is UTF-8
					}
					if !json.Valid([]byte(shown[i])) { // a NodePath that cannot be read back from its text
						require.Contains(t, shown[i], `"np:`)
						noJSON++
					}
				}
			}
			require.Greater(t, good, 40)
			require.Less(t, noJSON, 5)
		}
	}
}
