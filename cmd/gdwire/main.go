// Command gdwire shows, checks, edits and converts values in the binary Variant format of
// Godot and its relatives: saved games, packets and network traffic. It recognizes the
// format, frame and container of a file.
//
//	gdwire tokens|flat [flags] [FILE]
//	gdwire json [flags] [FILE…]
//	gdwire get [flags] PATH [FILE…]
//	gdwire find [flags] TEXT|NUMBER [FILE…]
//	gdwire diff [flags] A B
//	gdwire set|add [flags] ['PATH = VALUE'…] FILE -o FILE, or -i FILE…
//	gdwire delete [flags] PATH… FILE -o FILE, or -i FILE…
//	gdwire copy [flags] PATH TO FILE -o FILE
//	gdwire check [flags] [FILE…]
//	gdwire encode [flags] [JSONFILE]
//	gdwire recode [flags] [FILE], or -i FILE…
//	gdwire unwrap [flags] [FILE]
//	gdwire repair [flags] FILE -o FILE
//	gdwire listen [flags] ADDR
//	gdwire proxy [flags] LISTEN TARGET
//	gdwire debug [flags] [ADDR] [COMMAND…] [-- GAME…]
//	gdwire view [flags] [[OLD] FILE]
//	gdwire struct [flags] FILE…
//	gdwire complete bash|zsh|fish|powershell
//	gdwire conform [-- PROGRAM]
//	gdwire version
//
// No FILE, or -, is standard input. gdwire help COMMAND lists the flags.
//
// The exit status is 0 if all input is valid; 1 if some input is invalid, a password is
// wrong, a path is not found, or a file cannot be opened, read or written; 2 if the command
// line is invalid, an input is ambiguous, or a password is missing. That of diff is 0 if the
// files contain the same, 1 if they differ, and 2 for all else.
package main

import (
	"os"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/conform"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/debug"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/saves"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/traffic"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
)

func main() { os.Exit(program.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

var program = shell.Program{
	Groups: []shell.Group{
		{Heading: "Look", Commands: []shell.Command{
			saves.Tokens, saves.JSON, saves.Flat, saves.Get, saves.Find, saves.Diff, saves.Unwrap, view.Command(saves.Compare, traffic.OpenRecording),
		}},
		{Heading: "Change", Commands: []shell.Command{
			saves.Set, saves.Add, saves.Delete, saves.Copy, saves.Repair, saves.Encode, saves.Recode,
		}},
		{Heading: "Watch", Commands: []shell.Command{traffic.Listen, traffic.Proxy, traffic.Replay, debug.Command}},
		{Heading: "Check", Commands: []shell.Command{saves.Check, saves.Struct, shell.Complete, conform.Command, shell.Version}},
	},
	Hint:     open.LimitHint,
	Complete: open.CompletePath,
}
