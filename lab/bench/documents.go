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
func groupsOf(suffix string, load func() *document) (all []group) {
	for _, g := range []struct {
		name       string
		contenders func(doc *document) []contender
	}{
		{"tokens", func(doc *document) []contender { return append(walks(doc), jsonReading(doc)) }},
		{"skip", func(doc *document) []contender {
			return append(append(oursReading(doc.godot, "SkipValue", len(doc.godot), skip), doc.wellformed()), msgpSkipping(doc)...)
		}},
		{"build", func(doc *document) []contender {
			return append(builders(doc), oursReading(doc.godot, "tokens, values taken", doc.sum, readValues)[0])
		}},
		{"encode", func(doc *document) []contender { return append(writers(doc), ourWriting(doc), msgpWriting(doc)) }},
		{"copy", func(doc *document) []contender {
			return append(oursReading(doc.godot, "CopyValue", len(doc.godot), copier()), oursReading(doc.godot, "tokens", doc.tokens, readTokens)...)
		}},
	} {
		all = append(all, group{g.name + suffix, g.name != "build", func(*stage) []contender { return g.contenders(load()) }})
	}
	return all
}

// walks returns contenders that read all tokens or values of a document.
func walks(doc *document) []contender {
	return slices.Concat(
		oursReading(doc.godot, "tokens", doc.tokens, readTokens),
		oursReading(doc.godot, "tokens, values taken", doc.sum, readValues),
		msgpReading(doc),
	)
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

// oursReading returns contenders that read a value from memory and from a Reader.
func oursReading(godot []byte, name string, want int, read func(*gdwire.Decoder) int) []contender {
	d, p := gdwire.NewDecoder(nil, nil), &plain{}
	return []contender{
		ours("gdwire "+name+", bytes", len(godot), want, func() int {
			d.ResetBytes(godot)
			return read(d)
		}),
		ours("gdwire "+name+", Reader", len(godot), want, func() int {
			p.r.Reset(godot)
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

// wellformed returns a contender that checks the document with cbor.
func (doc *document) wellformed() contender {
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
