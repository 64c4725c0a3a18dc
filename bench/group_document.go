package main

import (
	"bytes"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/tinylib/msgp/msgp"
)

// documentGroups compare formats on the saved game.
var documentGroups = []group{
	{
		name:  "tokens",
		about: "Every token or value of the document, in order.",
		setup: func(*stage) []contender {
			doc := game()
			return append(
				oursReading(doc, "tokens", doc.tokens, readTokens),
				append(
					oursReading(doc, "tokens, values taken", doc.sum, readValues),
					msgpReading(doc, "walk", doc.sum)...)...)
		},
	},
	{
		name:  "skip",
		about: "The document is checked and nothing of it wanted.",
		setup: func(*stage) []contender {
			doc := game()
			return append(
				append(oursReading(doc, "SkipValue", len(doc.godot), skip), oursReading(doc, "tokens", doc.tokens, readTokens)...),
				wellformed(doc), msgpSkip(doc), msgpSkipBytes(doc))
		},
	},
	{
		name:  "encode",
		about: "The document by typed calls, from the same list of steps.",
		setup: func(*stage) []contender {
			doc := game()
			return []contender{ourWriting(doc), msgpWriting(doc)}
		},
	},
	{
		name:  "copy",
		about: "The document from a Decoder to an Encoder, beside the Decoder alone.",
		setup: func(*stage) []contender {
			doc := game()
			var to drain
			e := gdwire.NewEncoder(&to, nil)
			copyValue := func(d *gdwire.Decoder) int {
				to.n = 0
				e.Reset(&to)
				check(gdwire.CopyValue(e, d))
				return to.n
			}
			return append(oursReading(doc, "CopyValue", len(doc.godot), copyValue),
				oursReading(doc, "tokens", doc.tokens, readTokens)...)
		},
	},
}

// oursReading reads the document from memory and from a plain Reader.
func oursReading(doc *document, name string, want int, read func(*gdwire.Decoder) int) []contender {
	d, p := gdwire.NewDecoder(nil, nil), &plain{}
	return []contender{
		{
			name: "gdwire " + name + ", bytes", ours: true, bytes: len(doc.godot), want: want,
			run: func() int {
				d.ResetBytes(doc.godot)
				return read(d)
			},
		},
		{
			name: "gdwire " + name + ", Reader", ours: true, bytes: len(doc.godot), want: want,
			run: func() int {
				p.r.Reset(doc.godot)
				d.Reset(p)
				return read(d)
			},
		},
	}
}

// msgpReading does so for msgp.
func msgpReading(doc *document, name string, want int) []contender {
	b := doc.msgp()
	r, p, m := msgp.NewReaderSize(nil, msgpBuffer), &plain{}, bytes.NewReader(nil)
	scratch := make([]byte, 0, 1<<10)
	return []contender{
		{
			name: "msgp " + name + ", bytes.Reader", bytes: len(doc.godot), want: want,
			run: func() int {
				m.Reset(b)
				r.Reset(m)
				return walkMsgp(r, &scratch)
			},
		},
		{
			name: "msgp " + name + ", Reader", bytes: len(doc.godot), want: want,
			run: func() int {
				p.r.Reset(b)
				r.Reset(p)
				return walkMsgp(r, &scratch)
			},
		},
		{
			name: "msgp " + name + ", ReadXxxBytes", bytes: len(doc.godot), want: want,
			run: func() int {
				sum, _ := walkMsgpBytes(b)
				return sum
			},
		},
	}
}

func msgpSkip(doc *document) contender {
	b := doc.msgp()
	r, p := msgp.NewReaderSize(nil, msgpBuffer), &plain{}
	return contender{
		name: "msgp Skip, Reader", bytes: len(doc.godot),
		run: func() int {
			p.r.Reset(b)
			r.Reset(p)
			check(r.Skip())
			return p.r.Len()
		},
	}
}

func msgpSkipBytes(doc *document) contender {
	b := doc.msgp()
	return contender{
		name: "msgp Skip, bytes", bytes: len(doc.godot),
		run: func() int { return len(must(msgp.Skip(b))) },
	}
}

func wellformed(doc *document) contender {
	b := must(cbor.Marshal(doc.tree))
	return contender{
		name: "cbor Wellformed", bytes: len(doc.godot),
		run: func() int {
			check(cbor.Wellformed(b))
			return 0
		},
	}
}

func ourWriting(doc *document) contender {
	var to drain
	e := gdwire.NewEncoder(&to, nil)
	return contender{
		name: "gdwire", ours: true, bytes: len(doc.godot), want: len(doc.godot),
		run: func() int {
			to.n = 0
			e.Reset(&to)
			doc.writeGodot(e)
			check(e.Close())
			return to.n
		},
	}
}

func msgpWriting(doc *document) contender {
	var to drain
	w := msgp.NewWriterSize(&to, msgpBuffer)
	return contender{
		name: "msgp", bytes: len(doc.godot), want: len(doc.msgp()),
		run: func() int {
			to.n = 0
			w.Reset(&to)
			doc.writeMsgp(w)
			check(w.Flush())
			return to.n
		},
	}
}
