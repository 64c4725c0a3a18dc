package main

import (
	"bytes"

	"github.com/fxamacker/cbor/v2"
	"github.com/gdwire/gdwire"
	"github.com/tinylib/msgp/msgp"
)

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
