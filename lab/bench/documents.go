package main

import (
	"bytes"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/tinylib/msgp/msgp"
)

// documentGroups compare formats on each document.
var documentGroups = slices.Concat(groupsOf("", game), groupsOf(", dialog", dialog))

// groupsOf returns the groups of a document, with a suffix to their names.
func groupsOf(suffix string, document func() *document) []group {
	return []group{
		counted("tokens"+suffix, func() []contender {
			doc := document()
			return slices.Concat(
				oursReading(doc, "tokens", doc.tokens, readTokens),
				oursReading(doc, "tokens, values taken", doc.sum, readValues),
				msgpReading(doc),
				[]contender{jsonReading(doc)},
			)
		}),
		counted("skip"+suffix, func() []contender {
			doc := document()
			return slices.Concat(
				oursReading(doc, "SkipValue", len(doc.godot), skip),
				oursReading(doc, "tokens", doc.tokens, readTokens),
				[]contender{wellformed(doc)},
				msgpSkipping(doc),
			)
		}),
		{
			name: "build" + suffix,
			setup: func(*stage) []contender {
				doc := document()
				return slices.Concat(
					oursReading(doc, "tokens, values taken", doc.sum, readValues)[:1],
					builders(doc),
				)
			},
		},
		counted("encode"+suffix, func() []contender {
			doc := document()
			return slices.Concat([]contender{ourWriting(doc), msgpWriting(doc)}, writers(doc))
		}),
		counted("copy"+suffix, func() []contender {
			doc := document()
			return slices.Concat(
				oursReading(doc, "CopyValue", len(doc.godot), copier()),
				oursReading(doc, "tokens", doc.tokens, readTokens),
			)
		}),
	}
}

// copier returns a function that copies a value and returns its size.
func copier() func(*gdwire.Decoder) int {
	var to drain
	e := gdwire.NewEncoder(&to, nil)
	return func(d *gdwire.Decoder) int {
		to.n = 0
		e.Reset(&to)
		check(gdwire.CopyValue(e, d))
		return to.n
	}
}

// oursReading returns contenders that read the document from memory and from a
// Reader.
func oursReading(doc *document, name string, want int, read func(*gdwire.Decoder) int) []contender {
	d, p := gdwire.NewDecoder(nil, nil), &plain{}
	return []contender{
		ours("gdwire "+name+", bytes", len(doc.godot), want, func() int {
			d.ResetBytes(doc.godot)
			return read(d)
		}),
		ours("gdwire "+name+", Reader", len(doc.godot), want, func() int {
			p.r.Reset(doc.godot)
			d.Reset(p)
			return read(d)
		}),
	}
}

// msgpReading returns contenders that walk over the document with msgp.
func msgpReading(doc *document) []contender {
	b := doc.msgp()
	r, p, m := msgp.NewReaderSize(nil, msgpBuffer), &plain{}, bytes.NewReader(nil)
	scratch := make([]byte, 0, 1<<10)
	return []contender{
		peer("msgp walk, bytes.Reader", len(doc.godot), doc.sum, func() int {
			m.Reset(b)
			r.Reset(m)
			return walkMsgp(r, &scratch)
		}),
		peer("msgp walk, Reader", len(doc.godot), doc.sum, func() int {
			p.r.Reset(b)
			r.Reset(p)
			return walkMsgp(r, &scratch)
		}),
		peer("msgp walk, ReadXxxBytes", len(doc.godot), doc.sum, func() int {
			sum, _ := walkMsgpBytes(b)
			return sum
		}),
	}
}

func msgpSkipping(doc *document) []contender {
	b := doc.msgp()
	r, p := msgp.NewReaderSize(nil, msgpBuffer), &plain{}
	return []contender{
		peer("msgp Skip, Reader", len(doc.godot), 0, func() int {
			p.r.Reset(b)
			r.Reset(p)
			check(r.Skip())
			return p.r.Len()
		}),
		peer("msgp Skip, bytes", len(doc.godot), 0, func() int { return len(must(msgp.Skip(b))) }),
	}
}

func wellformed(doc *document) contender {
	b := doc.cbor()
	return peer("cbor Wellformed", len(doc.godot), 0, func() int {
		check(cbor.Wellformed(b))
		return 0
	})
}

func ourWriting(doc *document) contender {
	return encoding("gdwire", len(doc.godot), doc.writeGodot)
}

func msgpWriting(doc *document) contender {
	var to drain
	w := msgp.NewWriterSize(&to, msgpBuffer)
	return peer("msgp", len(doc.godot), len(doc.msgp()), func() int {
		to.n = 0
		w.Reset(&to)
		doc.writeMsgp(w)
		check(w.Flush())
		return to.n
	})
}
