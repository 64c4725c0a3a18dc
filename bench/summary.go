package main

import (
	"fmt"
	"strings"
)

// A table of the summary contains a row for each job and a column for each codec, ours first.
type table struct {
	title   string
	columns []string
	rows    []row
}

type row struct {
	job   string
	cells []cell
}

// A cell is a contender's time.
type cell struct{ group, name string }

// summary contains the tables of the summary.
var summary = []table{
	{"Saved game", documentColumns, documentRows("")},
	{"Dialog", documentColumns, documentRows(", dialog")},
	{"Saved game as structs", structColumns, structRows("")},
	{"Dialog as structs", structColumns, structRows(", dialog")},
	{
		"Packets and bulk data",
		[]string{"gdwire", "msgp", "cbor", "jsontext", "copying"},
		[]row{
			{"a packet of 64 bytes", []cell{
				{"64 bytes", "gdwire tokens, bytes"}, {"64 bytes", "msgp walk, bytes.Reader"}, {"64 bytes", "cbor Wellformed"},
				{"64 bytes", "jsontext ReadToken"},
			}},
			{"64 MiB of float32 in", []cell{{"ReadPacked, 64 MiB", "gdwire float32"}, {}, {}, {}, {"ReadPacked, 64 MiB", "io.ReadFull"}}},
			{"64 MiB of float32 out", []cell{{"WritePacked, 64 MiB", "gdwire float32"}, {}, {}, {}, {"WritePacked, 64 MiB", "Write"}}},
			{"1 GiB from file to file", []cell{
				{"1 GiB from file to file", "gdwire CopyValue"}, {}, {}, {}, {"1 GiB from file to file", "io.CopyBuffer"},
			}},
		},
	},
}

var documentColumns = []string{"gdwire", "msgp", "cbor", "msgpack", "jsontext", "gob"}

// documentRows returns the rows of the groups of groupsOf.
func documentRows(suffix string) []row {
	tokens, skip, build, encode := "tokens"+suffix, "skip"+suffix, "build"+suffix, "encode"+suffix
	return []row{
		{"read token by token", []cell{
			{tokens, "gdwire tokens, bytes"}, {tokens, "msgp walk, bytes.Reader"}, {}, {}, {tokens, "jsontext ReadToken"},
		}},
		{"the same from a Reader", []cell{{tokens, "gdwire tokens, Reader"}, {tokens, "msgp walk, Reader"}}},
		{"check and skip", []cell{{skip, "gdwire SkipValue, bytes"}, {skip, "msgp Skip, Reader"}, {skip, "cbor Wellformed"}}},
		{"read into any (gdwire: take each value)", []cell{
			{build, "gdwire tokens, values taken, bytes"}, {build, "msgp ReadIntf"}, {build, "cbor Unmarshal"},
			{build, "msgpack DecodeInterface"}, {}, {build, "gob Decode"},
		}},
		{"write", []cell{
			{encode, "gdwire"}, {encode, "msgp"}, {encode, "cbor Marshal"}, {encode, "msgpack Encode"},
			{encode, "jsontext WriteToken"}, {encode, "gob Encode"},
		}},
		{"read and write again", []cell{{"copy" + suffix, "gdwire CopyValue, bytes"}}},
	}
}

var structColumns = []string{"variant", "cbor", "msgpack", "json v2", "json v1", "protobuf", "vtprotobuf", "msgp"}

// structRows returns the rows of the groups of structGroups. protobuf, vtprotobuf and msgp are
// generated code.
func structRows(suffix string) []row {
	into, kept, from, untyped := "into structs"+suffix, "into structs, kept"+suffix, "from structs"+suffix, "into any"+suffix
	return []row{
		{"into new structs", []cell{
			{into, "variant"}, {into, "cbor"}, {into, "msgpack"}, {into, "json v2"}, {into, "json v1"},
			{into, "protobuf, generated"}, {into, "vtprotobuf, generated"}, {into, "msgp, generated"},
		}},
		{"into structs whose memory is kept", []cell{
			{kept, "variant"}, {kept, "cbor"}, {kept, "msgpack"}, {kept, "json v2"}, {kept, "json v1"}, {}, {}, {kept, "msgp, generated"},
		}},
		{"from structs to bytes", []cell{
			{from, "variant.Marshal"}, {from, "cbor.Marshal"}, {from, "msgpack.Marshal"}, {from, "json v2"}, {from, "json v1"},
			{from, "protobuf, generated"}, {from, "vtprotobuf, generated"}, {from, "msgp, generated"},
		}},
		{"into any", []cell{
			{untyped, "variant"}, {untyped, "cbor"}, {untyped, "msgpack"}, {untyped, "json v2"}, {untyped, "json v1"},
		}},
	}
}

// summary writes the tables of the summary that were measured.
func (r *report) summary(b *strings.Builder) {
	for _, t := range summary {
		var rows strings.Builder
		for _, row := range t.rows {
			r.summaryRow(&rows, row.job, row.cells, len(t.columns))
		}
		if rows.Len() > 0 {
			fmt.Fprintf(b, "\n## %s\n\n| | %s |\n|---%s|\n%s", t.title, strings.Join(t.columns, " | "), strings.Repeat("|--:", len(t.columns)), rows.String())
		}
	}
}

// summaryRow writes a row if the first of its cells was measured.
func (r *report) summaryRow(b *strings.Builder, job string, cells []cell, columns int) {
	ours := r.find(cells[0].group, cells[0].name)
	if ours == nil {
		return
	}
	texts := make([]string, columns)
	for i, c := range cells {
		if m := r.find(c.group, c.name); m == ours {
			texts[i] = "**" + duration(m.Median) + "**"
		} else if m != nil {
			texts[i] = fmt.Sprintf("%s (× %.2g)", duration(m.Median), ratio(m.Rounds, ours.Rounds))
		}
	}
	fmt.Fprintf(b, "| %s | %s |\n", job, strings.Join(texts, " | "))
}
