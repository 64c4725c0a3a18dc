// Command gdwire shows, checks, edits and converts values in the binary Variant format of
// Godot and its relatives: saved games, packets and network traffic. The format, frame and
// container of a file are recognized.
//
//	gdwire get player.hp save.bin
//	gdwire set -i 'player.hp = 999' save.bin
//
// The commands are:
//
//	Look    tokens    Show every token with its offset.
//	        json      Show each value as a line of JSON, as Godot's JSON.from_native does.
//	        flat      Show a line for each leaf, path = value, for grep and diff.
//	        get       Show the value at a path, such as player.hp, as set takes it.
//	        find      Show the path and value of each value, or key, that contains a text, in small or large letters, or a number.
//	        diff      Show the values that differ between two files: path: old -> new.
//	        unwrap    Write the content of a compressed or encrypted file.
//	        view      Show and edit a file in a page of the browser, beside its bytes, or what differs from an older one.
//	Change  set       Replace values, and keep all other bytes.
//	        add       Add keys of dictionaries, elements before [n], or elements at the end as [+].
//	        delete    Delete keys of dictionaries and elements of arrays.
//	        copy      Copy the value at PATH to the path TO.
//	        move      Rename a key, or move the value at PATH to the path TO.
//	        undo      Take back the latest edit that kept a backup: FILE.bak, or the newest of FILE.2.bak and so on, becomes FILE.
//	        wrap      Compress, encrypt or encode FILE as another file is, with its key: what unwrap wrote, edited.
//	        repair    Write what can be read of a damaged file, and say what is lost.
//	        encode    Write JSON as values.
//	        recode    Decode and re-encode, in the same or another format.
//	Watch   listen    Accept connections and show the packets that arrive.
//	        proxy     Forward connections to a server and show the packets in both directions.
//	        replay    Send what proxy -record kept to a server again, and show which answers differ and how long they take.
//	Check   check     Validate the input and print statistics.
//	        struct    Print Go types that decode saves, and encode them as the same bytes.
//	        complete  Print a script that completes commands, flags and paths in a shell.
//	        version   Show the version.
//
// gdwire FILE is gdwire flat FILE. No FILE, or -, is standard input. gdwire help COMMAND shows examples and flags, and [the manual]
// explains them.
//
// The exit status is 0 if all input is valid; 1 if some input is invalid, a password is
// wrong, a path of an edit is not found, or a file cannot be opened, read or written; 2 if the command
// line is invalid, an input is ambiguous, or a password is missing. The status of get is 3 if
// there is no value at the path. The status of diff is 0 if the files contain the same, 1 if they
// differ, and 2 for all else.
//
// [the manual]: https://github.com/gdwire/gdwire/tree/main/cmd/gdwire
package main

import (
	"os"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/saves"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/structs"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/traffic"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
)

func main() { os.Exit(program.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

var program = shell.Program{ErrorText: open.ErrorText, Complete: open.CompletePath, Words: words, FlagWords: flagWords, Shows: "flat", Groups: []shell.Group{
	{Heading: "Look", Commands: []shell.Command{
		{Name: "tokens", Operands: "[FILE]", Max: 1, Summary: "Show every token with its offset.", Examples: `
gdwire tokens save.bin
gdwire tokens -format godot4 -frame none packet.bin`,
			New: saves.Tokens},
		{Name: "json", Operands: "[FILE…]", Max: -1, Summary: "Show each value as a line of JSON, as Godot's JSON.from_native does.", Examples: `
gdwire json save.bin
gdwire json -plain -indent save.bin
gdwire json traffic-1-client.bin -o traffic.jsonl`,
			New: saves.JSON},
		{Name: "flat", Operands: "[FILE]", Max: 1, Summary: "Show a line for each leaf, path = value, for grep and diff.", Examples: `
gdwire flat save.bin
gdwire flat -password-file password.txt secret.save`,
			New: saves.Flat},
		{Name: "get", Operands: "PATH [FILE…]", Min: 1, Max: -1, Summary: "Show the value at a path, such as player.hp, as set takes it. If only other values of a file have it, show it of each.", Examples: `
gdwire get player.hp save.bin
gdwire get 'player.items[-1].name' save.bin
gdwire get 'player.items[*].id' saves/*.bin
gdwire get -raw player.portrait save.bin -o portrait.png`,
			Details: saves.PrintPaths, Gets: true, New: saves.Get},
		{Name: "find", Operands: "TEXT|NUMBER [FILE…]", Min: 1, Max: -1, Summary: "Show the path and value of each value, or key, that contains a text, in small or large letters, or a number.", Examples: `
gdwire find sword save.bin
gdwire find 87 saves/*.bin`,
			New: saves.Find},
		{Name: "diff", Operands: "A B", Min: 2, Max: 2, Summary: "Show the values that differ between two files: path: old -> new.", Examples: `
gdwire diff old.bin save.bin
gdwire diff -json old.bin save.bin
gdwire diff -stat -ignore saved_at old.bin save.bin`,
			Compares: true, New: saves.Diff},
		{Name: "unwrap", Operands: "[FILE]", Max: 1, Summary: "Write the content of a compressed or encrypted file.", Examples: `
gdwire unwrap game.save -o game.bin
gdwire unwrap -password-file password.txt secret.save -o secret.bin`,
			Binary: true, New: saves.Unwrap},
		{Name: "view", Operands: "[[OLD] FILE]", Max: 2, Summary: "Show and edit a file in a page of the browser, beside its bytes, or what differs from an older one.", Examples: `
gdwire view save.bin
gdwire view old.bin save.bin
gdwire view traffic.index.jsonl`,
			New: view.New(traffic.OpenRecording)},
	}},
	{Heading: "Change", Commands: []shell.Command{
		{Name: "set", Operands: "['PATH = VALUE'…] FILE…", Min: 1, Max: -1, Summary: "Replace values, and keep all other bytes. Without PATH = VALUE read such lines from standard input.", Examples: `
gdwire set -i 'player.hp = 999' save.bin
gdwire set 'player.gold += 100' 'player.name = "Ada"' save.bin -o new.bin
gdwire set -i -force 'player.items = null' saves/*.bin
gdwire set -n 'player.items[*].id += 100' save.bin
gdwire set -i -backup 'player.items[0:2].id *= 2' save.bin`,
			Details: saves.PrintValues, Binary: true, Edits: true, New: saves.Set},
		{Name: "add", Operands: "['PATH = VALUE'…] FILE…", Min: 1, Max: -1, Summary: "Add keys of dictionaries, elements before [n], or elements at the end as [+].", Examples: `
gdwire add -i 'player.title = "Sir"' save.bin
gdwire add 'player.items[+] = {"id": 3, "name": "bow"}' save.bin -o new.bin`,
			Details: saves.PrintValues, Binary: true, Edits: true, New: saves.Add},
		{Name: "delete", Operands: "PATH… FILE…", Min: 2, Max: -1, Summary: "Delete keys of dictionaries and elements of arrays.", Examples: `
gdwire delete -i player.quest save.bin
gdwire delete 'player.items[0]' player.quest save.bin -o new.bin
gdwire delete -n 'player.items[0:2]' save.bin`,
			Details: saves.PrintPaths, Binary: true, Edits: true, New: saves.Delete},
		{Name: "copy", Operands: "PATH TO FILE…", Min: 2, Max: -1, Summary: "Copy the value at PATH to the path TO.", Examples: `
gdwire copy -i 'player.items[0]' 'player.items[+]' save.bin
gdwire copy player.name title save.bin -o new.bin`,
			Details: saves.PrintPaths, Binary: true, Edits: true, New: saves.Copy},
		{Name: "move", Operands: "PATH TO FILE…", Min: 2, Max: -1, Summary: "Rename a key, or move the value at PATH to the path TO.", Examples: `
gdwire move -i player.gold player.coins save.bin
gdwire move 'player.items[1]' 'player.items[0]' save.bin -o new.bin`,
			Details: saves.PrintPaths, Binary: true, Edits: true, New: saves.Move},
		{Name: "undo", Operands: "FILE…", Min: 1, Max: -1, Summary: "Take back the latest edit that kept a backup: FILE.bak, or the newest of FILE.2.bak and so on, becomes FILE.", Examples: `
gdwire undo save.bin
gdwire undo -redo save.bin`,
			New: shell.Undo},
		{Name: "wrap", Operands: "[FILE]", Max: 1, Summary: "Compress, encrypt or encode FILE as another file is, with its key: what unwrap wrote, edited.", Examples: `
gdwire wrap -like game.save edited.json -o new.save
gdwire wrap -like secret.save -password-file password.txt settings.cfg -o secret.save`,
			Binary: true, Edits: true, New: saves.Wrap},
		{Name: "repair", Operands: "FILE", Min: 1, Max: 1, Summary: "Write what can be read of a damaged file, and say what is lost.", Examples: `
gdwire repair damaged.save -o repaired.save`,
			Binary: true, New: saves.Repair},
		{Name: "encode", Operands: "[JSONFILE]", Max: 1, Summary: "Write JSON as values. The input is at most 1 GiB long.", Examples: `
gdwire encode -plain -frame u32 level.json -o level.save
gdwire encode -like game.save game.json -o game.save`,
			Binary: true, Edits: true, New: saves.Encode},
		{Name: "recode", Operands: "[FILE…]", Max: -1, Summary: "Decode and re-encode, in the same or another format.", Examples: `
gdwire recode -to godot4,zstd old.save -o new.save
gdwire recode -to godot3 -lossy save.bin -o old.save
gdwire recode -i -to plain saves/*.bin
gdwire recode -to encrypted -password-file password.txt save.bin -o secret.save`,
			Details: saves.PrintLosses, Binary: true, Edits: true, New: saves.Recode},
	}},
	{Heading: "Watch", Commands: []shell.Command{
		{Name: "listen", Operands: "ADDR", Min: 1, Max: 1, Summary: "Accept connections and show the packets that arrive. ADDR is a port, HOST:PORT or unix:PATH.", Examples: `
gdwire listen 7000
gdwire listen -as flat -n 100 0.0.0.0:7000
gdwire listen unix:game.sock`,
			New: traffic.Listen},
		{Name: "proxy", Operands: "LISTEN TARGET", Min: 2, Max: 2, Summary: "Forward connections to a server and show the packets in both directions. LISTEN is a port, HOST:PORT or unix:PATH; TARGET is HOST:PORT, unix:PATH, tls:HOST:PORT, udp:HOST:PORT, ws://HOST or wss://HOST.", Examples: `
gdwire proxy 7000 game.example.com:7777
gdwire proxy -record traffic 7000 game.example.com:7777
gdwire proxy -view 6007 127.0.0.1:6008
gdwire proxy -set 'damage = 100' -drop-if chat 7000 127.0.0.1:7777
gdwire proxy 7000 udp:game.example.com:7777`,
			New: traffic.Proxy},
		{Name: "replay", Operands: "PREFIX ADDR", Min: 2, Max: 2, Summary: "Send what proxy -record kept to a server again, and show which answers differ and how long they take.", Examples: `
gdwire replay traffic 127.0.0.1:7777
gdwire replay -speed 0 traffic 127.0.0.1:7777`,
			New: traffic.Replay},
	}},
	{Heading: "Check", Commands: []shell.Command{
		{Name: "check", Operands: "[FILE…]", Max: -1, Summary: "Validate the input and print statistics.", Examples: `
gdwire check save.bin
gdwire check saves/*.bin
gdwire check -strict -json save.bin`,
			New: saves.Check},
		{Name: "struct", Operands: "FILE…", Min: 1, Max: -1, Summary: "Print Go types that decode saves, and encode them as the same bytes. For messages of a game that begin as a script, package gdscript writes classes for the types.", Examples: `
gdwire struct save.bin
gdwire struct -package game -type State saves/*.bin -o state.go
gdwire struct -required saves/*.bin`,
			New: structs.New},
		{Name: "complete", Operands: "bash|zsh|fish|powershell", Min: 1, Max: -1, Summary: "Print a script that completes commands, flags and paths in a shell.", Examples: `
gdwire complete bash
gdwire complete powershell`,
			Words: []string{"bash", "zsh", "fish", "powershell"}, New: shell.Complete},
		{Name: "version", Summary: "Show the version.", Examples: `
gdwire version`,
			New: shell.Version},
	}},
}}

// flagWords contains flags by their names in other programs, "" if the value is an operand.
var flagWords = map[string]string{"exclude": "ignore", "except": "ignore", "dry-run": "n", "output": "o", "out": "o", "in-place": "i", "inplace": "i", "w": "i", "write": "i", "port": "", "addr": ""}

// words are commands of jq, gron, git and others. Those with a Command are another name of it.
var words = []shell.Word{
	{Names: "cat show print dump less head ls", Command: "flat"},
	{Names: "jq query select", Command: "get"},
	{Names: "gron", Command: "flat"},
	{Names: "ungron", Answer: "gdwire set reads the lines of flat: gdwire set -i FILE <LINES"},
	{Names: "count len length wc", Command: "get -length"},
	{Names: "grep search", Command: "find"},
	{Names: "edit update replace put change", Answer: "gdwire set changes a value, and encode -like writes JSON that was edited"},
	{Names: "insert append push", Command: "add"},
	{Names: "rm remove del unset drop", Command: "delete"},
	{Names: "cp", Command: "copy"},
	{Names: "mv rename", Command: "move"},
	{Names: "revert restore-backup", Command: "undo"},
	{Names: "redo", Command: "undo -redo"},
	{Names: "convert transcode export compress encrypt", Answer: "gdwire json FILE -o JSONFILE writes JSON, gdwire encode JSONFILE -o FILE makes values of it, and gdwire recode -to converts format, lengths and container"},
	{Names: "import pack build write", Answer: "gdwire encode writes JSON as values"},
	{Names: "decode parse read", Command: "json"},
	{Names: "cmp compare log blame", Command: "diff"},
	{Names: "validate verify lint info stat status file", Command: "check"},
	{Names: "decompress decrypt extract unpack unzip gunzip", Command: "unwrap"},
	{Names: "fix recover fsck", Command: "repair"},
	{Names: "restore", Answer: "gdwire undo takes back the latest edit with -backup, and gdwire repair writes what can be read of a damaged file"},
	{Names: "open browse gui ui", Command: "view"},
	{Names: "serve server", Answer: "gdwire listen accepts connections and shows their packets"},
	{Names: "sniff capture record mitm", Answer: "gdwire proxy shows and records the packets of a connection"},
	{Names: "types codegen generate shape schema", Command: "struct"},
}
