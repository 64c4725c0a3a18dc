package main

import (
	"fmt"
	"strings"
)

// A table contains a row for each job and a column for each codec, ours first.
type table struct {
	title        string // the heading above it
	head         string // of the first column
	columns      []string
	rows         []row
	instructions bool // in place of times
	alone        bool // without ratios to the first cell of a row
}

// A row contains measurements of a group.
type row struct {
	job, group string
	names      []string // the contender of each column, or ""
	per        float64  // the measurements are divided by it, unless 0
}

// rowOf returns a row of measurements that are not divided.
func rowOf(job, group string, names ...string) row { return row{job, group, names, 0} }

// summary contains the tables of the README.
var summary = []table{
	{title: "Saved game", columns: documentColumns, rows: documentRows("")},
	{title: "Dialog", columns: documentColumns, rows: documentRows(", dialog")},
	{title: "Saved game as structs", columns: structColumns, rows: structRows("")},
	{title: "Dialog as structs", columns: structColumns, rows: structRows(", dialog")},
	{
		title:   "Packets and bulk data",
		columns: []string{"gdwire", "msgp", "cbor", "jsontext", "copying"},
		rows: []row{
			rowOf("a packet of 64 bytes", "64 bytes", "gdwire tokens, bytes", "msgp walk, bytes.Reader", "cbor Wellformed", "jsontext ReadToken"),
			rowOf("64 MiB of float32 in", "ReadPacked, 64 MiB", "gdwire float32", "", "", "", "io.ReadFull"),
			rowOf("64 MiB of float32 out", "WritePacked, 64 MiB", "gdwire float32", "", "", "", "Write"),
			rowOf("1 GiB from file to file", "1 GiB from file to file", "gdwire CopyValue", "", "", "", "io.CopyBuffer"),
		},
	},
	{
		title:   "A server with 500 clients",
		columns: []string{"stream.Server", "bufio with timeouts", "bufio", "coder/websocket"},
		rows: []row{
			{"over TCP", "server, 500 clients", []string{"stream.Server", "bufio, timeouts", "bufio"}, serverClients * clientRounds},
			{"over WebSocket", "server, 500 clients, WebSocket", []string{"stream.Server", "", "", "coder/websocket"}, serverClients * clientRounds},
		},
	},
	{title: "Instructions of structs", columns: structColumns, rows: append(instructionRows("saved game", ""), instructionRows("dialog", ", dialog")...), instructions: true},
	{title: "Instructions of texts", columns: textColumns(), rows: textRows(), instructions: true, alone: true},
	{
		title:   "Instructions of small records and maps",
		columns: []string{"variant", "cbor", "cbor, sorted", "msgpack", "json v2"},
		rows: []row{
			{"a struct by UnmarshalDecode", "small records in", []string{"UnmarshalDecode", "cbor.UnmarshalFirst"}, recordCount},
			{"a struct by Elements", "small records in", []string{"Elements", "cbor.UnmarshalFirst"}, recordCount},
			{"a struct by Marshal, by value", "small records out", []string{
				"variant.Marshal, by value", "cbor.Marshal, by value", "", "msgpack.Marshal, by value", "json v2, by value",
			}, recordCount},
			rowOf("a tree of maps with 12 values, written", "maps and trees out",
				"variant.Marshal, tree", "cbor.Marshal, tree", "cbor, sorted, tree", "msgpack.Marshal, tree", "json v2, tree"),
			rowOf("a tree of maps with 12 values, into any", "maps and trees in",
				"variant, tree into any", "cbor, tree into any", "", "msgpack, tree into any", "json v2, tree into any"),
		},
		instructions: true,
	},
}

var documentColumns = []string{"gdwire", "msgp", "cbor", "msgpack", "jsontext", "gob"}

// documentRows returns the rows of the groups of groupsOf.
func documentRows(suffix string) []row {
	tokens, skip, build, encode := "tokens"+suffix, "skip"+suffix, "build"+suffix, "encode"+suffix
	return []row{
		rowOf("read token by token", tokens, "gdwire tokens, bytes", "msgp walk, bytes.Reader", "", "", "jsontext ReadToken"),
		rowOf("the same from a Reader", tokens, "gdwire tokens, Reader", "msgp walk, Reader"),
		rowOf("the same, msgp by its functions for bytes", tokens, "gdwire tokens, bytes", "msgp walk, ReadXxxBytes"),
		rowOf("the same, each value taken", tokens, "gdwire tokens, values taken, bytes", "msgp walk, bytes.Reader"),
		rowOf("check and skip", skip, "gdwire SkipValue, bytes", "msgp Skip, Reader", "cbor Wellformed"),
		rowOf("read into any (gdwire: take each value)", build,
			"gdwire tokens, values taken, bytes", "msgp ReadIntf", "cbor Unmarshal", "msgpack DecodeInterface", "", "gob Decode"),
		rowOf("write", encode, "gdwire", "msgp", "cbor Marshal", "msgpack Encode", "jsontext WriteToken", "gob Encode"),
		rowOf("read and write again", "copy"+suffix, "gdwire CopyValue, bytes"),
	}
}

var structColumns = []string{"variant", "cbor", "msgpack", "json v2", "json v1", "vtprotobuf", "msgp"}

// structRows returns the rows of the groups of structGroups. vtprotobuf and msgp are generated code.
func structRows(suffix string) []row {
	return []row{
		rowOf("into new structs", "into structs"+suffix,
			"variant", "cbor", "msgpack", "json v2", "json v1", "vtprotobuf, generated", "msgp, generated"),
		rowOf("into structs whose memory is kept", "into structs, kept"+suffix,
			"variant", "cbor", "msgpack", "json v2", "json v1", "", "msgp, generated"),
		rowOf("from structs to bytes", "from structs"+suffix,
			"variant.Marshal", "cbor.Marshal", "msgpack.Marshal", "json v2", "json v1", "vtprotobuf, generated", "msgp, generated"),
		rowOf("into any", "into any"+suffix, "variant", "cbor", "msgpack", "json v2", "json v1"),
	}
}

// instructionRows returns the rows of structRows, and one for an Encoder, with jobs that name the document.
func instructionRows(document, suffix string) (rows []row) {
	for _, r := range structRows(suffix) {
		rows = append(rows, rowOf(document+", "+r.job, r.group, r.names...))
		if r.job == "from structs to bytes" {
			rows = append(rows, rowOf(document+", the same to an Encoder", r.group, append([]string{"variant.MarshalEncode"}, r.names[1:]...)...))
		}
	}
	return rows
}

func textColumns() (names []string) {
	for _, length := range textLengths {
		names = append(names, length.name)
	}
	return names
}

// textRows returns a row for each call and script, and of cbor's strings.
func textRows() (rows []row) {
	for _, way := range []struct{ job, group, codec string }{
		{"ReadText", "texts, ReadText", "gdwire"},
		{"ReadString", "texts, ReadString", "gdwire"},
		{"cbor.Unmarshal into strings", "texts, ReadString", "cbor"},
		{"SkipValue", "texts, SkipValue", "gdwire"},
		{"WriteString", "texts, WriteString", "gdwire"},
	} {
		for _, script := range scripts {
			if way.codec == "cbor" && script.packed {
				continue // it has one way to write strings
			}
			r := row{job: way.job + ", " + script.name, group: way.group, per: textCount}
			for _, length := range textLengths {
				r.names = append(r.names, way.codec+", "+length.name+", "+script.name)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// table returns a table as Markdown, without the rows whose first cell was not measured, or "" if
// none was.
func (r *report) table(t *table) string {
	measured, unit := r.Times, duration
	if t.instructions {
		measured, unit = r.Instructions, instructions
	}
	var rows strings.Builder
	for _, row := range t.rows {
		ours := measured[row.group][row.names[0]]
		if ours == nil {
			continue
		}
		texts := make([]string, len(t.columns))
		for i, name := range row.names {
			m := measured[row.group][name]
			if m == nil {
				continue
			}
			texts[i] = unit(m.median() / max(1, row.per))
			switch {
			case t.alone:
			case m == ours:
				texts[i] = "**" + texts[i] + "**"
			default:
				texts[i] += fmt.Sprintf(" (× %.2g)", ratio(m, ours))
			}
		}
		fmt.Fprintf(&rows, "| %s | %s |\n", row.job, strings.Join(texts, " | "))
	}
	if rows.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("| %s | %s |\n|---%s|\n%s", t.head, strings.Join(t.columns, " | "), strings.Repeat("|--:", len(t.columns)), rows.String())
}
