package main

import (
	"fmt"
	"strings"
)

// A table contains a row for each job and a column for each codec, ours first.
type table struct {
	title   string // the heading above it
	head    string // of the first column
	columns []string
	rows    []row
	unit    func(n float64) string // formats ns or instructions
	alone   bool                   // without ratios to the first cell of a row
}

type row struct {
	job   string
	cells []cell
	per   float64 // the cells are divided by it, unless 0
}

// A cell is a contender, as the measurement of which it is shown.
type cell struct{ group, name string }

// summary contains the tables of times.
var summary = []table{
	{title: "Saved game", columns: documentColumns, rows: documentRows(""), unit: duration},
	{title: "Dialog", columns: documentColumns, rows: documentRows(", dialog"), unit: duration},
	{title: "Saved game as structs", columns: structColumns, rows: structRows(""), unit: duration},
	{title: "Dialog as structs", columns: structColumns, rows: structRows(", dialog"), unit: duration},
	{
		title:   "Packets and bulk data",
		columns: []string{"gdwire", "msgp", "cbor", "jsontext", "copying"},
		rows: []row{
			{job: "a packet of 64 bytes", cells: []cell{
				{"64 bytes", "gdwire tokens, bytes"}, {"64 bytes", "msgp walk, bytes.Reader"}, {"64 bytes", "cbor Wellformed"},
				{"64 bytes", "jsontext ReadToken"},
			}},
			{job: "64 MiB of float32 in", cells: []cell{{"ReadPacked, 64 MiB", "gdwire float32"}, {}, {}, {}, {"ReadPacked, 64 MiB", "io.ReadFull"}}},
			{job: "64 MiB of float32 out", cells: []cell{{"WritePacked, 64 MiB", "gdwire float32"}, {}, {}, {}, {"WritePacked, 64 MiB", "Write"}}},
			{job: "1 GiB from file to file", cells: []cell{
				{"1 GiB from file to file", "gdwire CopyValue"}, {}, {}, {}, {"1 GiB from file to file", "io.CopyBuffer"},
			}},
		},
		unit: duration,
	},
	{
		title:   "A server with 500 clients",
		columns: []string{"stream.Server", "bufio with timeouts", "bufio", "coder/websocket"},
		rows: []row{
			{"over TCP", []cell{
				{"server, 500 clients", "stream.Server"}, {"server, 500 clients", "bufio, timeouts"}, {"server, 500 clients", "bufio"},
			}, serverClients * clientRounds},
			{"over WebSocket", []cell{
				{"server, 500 clients, WebSocket", "stream.Server"}, {}, {}, {"server, 500 clients, WebSocket", "coder/websocket"},
			}, serverClients * clientRounds},
		},
		unit: duration,
	},
}

// instructionTables contains the tables of instructions.
var instructionTables = []table{
	{title: "Instructions of structs", columns: structColumns, rows: append(instructionRows("saved game", ""), instructionRows("dialog", ", dialog")...), unit: instructions},
	{title: "Instructions of texts", columns: textColumns(), rows: textRows(), unit: instructions, alone: true},
	{
		title:   "Instructions of small records and maps",
		columns: []string{"variant", "cbor", "msgpack", "json v2"},
		rows: []row{
			{"a struct by UnmarshalDecode", []cell{{"small records in", "UnmarshalDecode"}, {"small records in", "cbor.UnmarshalFirst"}}, recordCount},
			{"a struct by Elements", []cell{{"small records in", "Elements"}, {"small records in", "cbor.UnmarshalFirst"}}, recordCount},
			{"a struct by Marshal, by value", []cell{
				{"small records out", "variant.Marshal, by value"}, {"small records out", "cbor.Marshal, by value"},
				{"small records out", "msgpack.Marshal, by value"}, {"small records out", "json v2, by value"},
			}, recordCount},
			{job: "a tree of maps with 12 values, written", cells: []cell{
				{"maps and trees out", "variant.Marshal, tree"}, {"maps and trees out", "cbor.Marshal, tree"},
				{"maps and trees out", "msgpack.Marshal, tree"}, {"maps and trees out", "json v2, tree"},
			}},
			{job: "a tree of maps with 12 values, into any", cells: []cell{
				{"maps and trees in", "variant, tree into any"}, {"maps and trees in", "cbor, tree into any"},
				{"maps and trees in", "msgpack, tree into any"}, {"maps and trees in", "json v2, tree into any"},
			}},
		},
		unit: instructions,
	},
}

var documentColumns = []string{"gdwire", "msgp", "cbor", "msgpack", "jsontext", "gob"}

// documentRows returns the rows of the groups of groupsOf.
func documentRows(suffix string) []row {
	tokens, skip, build, encode := "tokens"+suffix, "skip"+suffix, "build"+suffix, "encode"+suffix
	return []row{
		{job: "read token by token", cells: []cell{
			{tokens, "gdwire tokens, bytes"}, {tokens, "msgp walk, bytes.Reader"}, {}, {}, {tokens, "jsontext ReadToken"},
		}},
		{job: "the same from a Reader", cells: []cell{{tokens, "gdwire tokens, Reader"}, {tokens, "msgp walk, Reader"}}},
		{job: "the same, msgp by its functions for bytes", cells: []cell{{tokens, "gdwire tokens, bytes"}, {tokens, "msgp walk, ReadXxxBytes"}}},
		{job: "the same, each value taken", cells: []cell{{tokens, "gdwire tokens, values taken, bytes"}, {tokens, "msgp walk, bytes.Reader"}}},
		{job: "check and skip", cells: []cell{{skip, "gdwire SkipValue, bytes"}, {skip, "msgp Skip, Reader"}, {skip, "cbor Wellformed"}}},
		{job: "read into any (gdwire: take each value)", cells: []cell{
			{build, "gdwire tokens, values taken, bytes"}, {build, "msgp ReadIntf"}, {build, "cbor Unmarshal"},
			{build, "msgpack DecodeInterface"}, {}, {build, "gob Decode"},
		}},
		{job: "write", cells: []cell{
			{encode, "gdwire"}, {encode, "msgp"}, {encode, "cbor Marshal"}, {encode, "msgpack Encode"},
			{encode, "jsontext WriteToken"}, {encode, "gob Encode"},
		}},
		{job: "read and write again", cells: []cell{{"copy" + suffix, "gdwire CopyValue, bytes"}}},
	}
}

var structColumns = []string{"variant", "cbor", "msgpack", "json v2", "json v1", "vtprotobuf", "msgp"}

// structRows returns the rows of the groups of structGroups. vtprotobuf and msgp are generated code.
func structRows(suffix string) []row {
	into, kept, from, untyped := "into structs"+suffix, "into structs, kept"+suffix, "from structs"+suffix, "into any"+suffix
	return []row{
		{job: "into new structs", cells: []cell{
			{into, "variant"}, {into, "cbor"}, {into, "msgpack"}, {into, "json v2"}, {into, "json v1"},
			{into, "vtprotobuf, generated"}, {into, "msgp, generated"},
		}},
		{job: "into structs whose memory is kept", cells: []cell{
			{kept, "variant"}, {kept, "cbor"}, {kept, "msgpack"}, {kept, "json v2"}, {kept, "json v1"}, {}, {kept, "msgp, generated"},
		}},
		{job: "from structs to bytes", cells: []cell{
			{from, "variant.Marshal"}, {from, "cbor.Marshal"}, {from, "msgpack.Marshal"}, {from, "json v2"}, {from, "json v1"},
			{from, "vtprotobuf, generated"}, {from, "msgp, generated"},
		}},
		{job: "into any", cells: []cell{
			{untyped, "variant"}, {untyped, "cbor"}, {untyped, "msgpack"}, {untyped, "json v2"}, {untyped, "json v1"},
		}},
	}
}

// instructionRows returns the rows of structRows, and one for an Encoder, with jobs that name the document.
func instructionRows(document, suffix string) (rows []row) {
	for _, r := range structRows(suffix) {
		rows = append(rows, row{job: document + ", " + r.job, cells: r.cells})
		if r.job == "from structs to bytes" {
			cells := append([]cell{{r.cells[0].group, "variant.MarshalEncode"}}, r.cells[1:]...)
			rows = append(rows, row{job: document + ", the same to an Encoder", cells: cells})
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
			r := row{job: way.job + ", " + script.name, per: textCount}
			for _, length := range textLengths {
				r.cells = append(r.cells, cell{way.group, way.codec + ", " + length.name + ", " + script.name})
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// table returns a table as Markdown, without the rows whose first cell was not measured, or "" if
// none was.
func (r *report) table(t *table) string {
	var rows strings.Builder
	for _, row := range t.rows {
		r.row(&rows, t, &row)
	}
	if rows.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("| %s | %s |\n|---%s|\n%s", t.head, strings.Join(t.columns, " | "), strings.Repeat("|--:", len(t.columns)), rows.String())
}

// row writes a row if the first of its cells was measured.
func (r *report) row(b *strings.Builder, t *table, row *row) {
	ours := r.find(row.cells[0].group, row.cells[0].name)
	if ours == nil {
		return
	}
	texts := make([]string, len(t.columns))
	for i, c := range row.cells {
		m := r.find(c.group, c.name)
		if m == nil {
			continue
		}
		text := t.unit(m.Median / max(1, row.per))
		switch {
		case t.alone:
		case m == ours:
			text = "**" + text + "**"
		default:
			text = fmt.Sprintf("%s (× %.2g)", text, ratio(m.Rounds, ours.Rounds))
		}
		texts[i] = text
	}
	fmt.Fprintf(b, "| %s | %s |\n", row.job, strings.Join(texts, " | "))
}
