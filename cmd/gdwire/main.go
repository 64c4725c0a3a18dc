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

	"github.com/gdwire/gdwire/cmd/gdwire/internal/debug"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/saves"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/traffic"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
)

func main() { os.Exit(program.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

var program = shell.Program{Hint: open.LimitHint, Complete: open.CompletePath, Groups: []shell.Group{
	{Heading: "Look", Commands: []shell.Command{
		{Name: "tokens", Operands: "[FILE]", Max: 1, Summary: "Show every token with its offset.",
			New: saves.Tokens},
		{Name: "json", Operands: "[FILE…]", Max: -1, Summary: "Show each value as a line of JSON, as Godot's JSON.from_native does.",
			New: saves.JSON},
		{Name: "flat", Operands: "[FILE]", Max: 1, Summary: "Show a line for each leaf, path = value, for grep and diff.",
			New: saves.Flat},
		{Name: "get", Operands: "PATH [FILE…]", Min: 1, Max: -1, Summary: "Show the value at a path, such as player.hp, as set takes it.",
			New: saves.Get},
		{Name: "find", Operands: "TEXT|NUMBER [FILE…]", Min: 1, Max: -1, Summary: "Show the path and value of each value, or key, that contains a text or number.",
			New: saves.Find},
		{Name: "diff", Operands: "A B", Min: 2, Max: 2, Summary: "Show the values that differ between two files: path: old -> new.",
			Compares: true, New: saves.Diff},
		{Name: "unwrap", Operands: "[FILE]", Max: 1, Summary: "Write the content of a compressed or encrypted file.",
			Binary: true, New: saves.Unwrap},
		{Name: "view", Operands: "[[OLD] FILE]", Max: 2, Summary: "Show a file in a page of the browser, beside its bytes, or what differs from an older one.",
			New: view.New(saves.Compare, traffic.OpenRecording)},
	}},
	{Heading: "Change", Commands: []shell.Command{
		{Name: "set", Operands: "['PATH = VALUE'…] FILE…", Min: 1, Max: -1, Summary: "Replace values, and keep all other bytes. Without PATH = VALUE read such lines from standard input.",
			Details: saves.PrintValues, Binary: true, Edits: true, New: saves.Set},
		{Name: "add", Operands: "['PATH = VALUE'…] FILE…", Min: 1, Max: -1, Summary: "Add keys of dictionaries, elements before [n], or elements at the end as [+].",
			Details: saves.PrintValues, Binary: true, Edits: true, New: saves.Add},
		{Name: "delete", Operands: "PATH… FILE…", Min: 2, Max: -1, Summary: "Delete keys of dictionaries and elements of arrays.",
			Binary: true, Edits: true, New: saves.Delete},
		{Name: "copy", Operands: "PATH TO FILE…", Min: 3, Max: -1, Summary: "Copy the value at PATH to the path TO.",
			Binary: true, Edits: true, New: saves.Copy},
		{Name: "repair", Operands: "FILE", Min: 1, Max: 1, Summary: "Write what can be read of a damaged file, and say what is lost.",
			Binary: true, New: saves.Repair},
		{Name: "encode", Operands: "[JSONFILE]", Max: 1, Summary: "Write JSON as values. Up to 1 GiB.",
			Binary: true, Edits: true, New: saves.Encode},
		{Name: "recode", Operands: "[FILE…]", Max: -1, Summary: "Decode and re-encode, in the same or another format.",
			Binary: true, Edits: true, New: saves.Recode},
	}},
	{Heading: "Watch", Commands: []shell.Command{
		{Name: "listen", Operands: "ADDR", Min: 1, Max: 1, Summary: "Accept connections and show the packets that arrive.",
			New: traffic.Listen},
		{Name: "proxy", Operands: "LISTEN TARGET", Min: 2, Max: 2, Summary: "Forward connections to a server and show the packets in both directions.",
			New: traffic.Proxy},
		{Name: "replay", Operands: "PREFIX ADDR", Min: 2, Max: 2, Summary: "Send what proxy -record kept to a server again, and show which answers differ and how long they take.",
			New: traffic.Replay},
		{Name: "debug", Operands: "[ADDR] [COMMAND…] [-- GAME…]", Max: -1, Summary: "Show what a running game does, its nodes and variables, and change them.",
			Details: debug.PrintCommands, New: debug.New},
	}},
	{Heading: "Check", Commands: []shell.Command{
		{Name: "check", Operands: "[FILE…]", Max: -1, Summary: "Validate the input and print statistics.",
			New: saves.Check},
		{Name: "struct", Operands: "FILE…", Min: 1, Max: -1, Summary: "Print Go types for saves, which give back every byte of them.",
			New: saves.Struct},
		{Name: "complete", Operands: "bash|zsh|fish|powershell", Min: 1, Max: -1, Summary: "Print a script that completes commands, flags and paths in a shell.",
			New: shell.Complete},
		{Name: "version", Summary: "Show the version.",
			New: shell.Version},
	}},
}}
