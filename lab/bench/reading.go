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

// msgpReading returns contenders that walk over the document with msgp.
func msgpReading(doc *document) []contender {
	b := doc.msgp()
	r, p, m := msgp.NewReaderSize(nil, msgpBuffer), &plain{}, bytes.NewReader(nil)
	scratch := make([]byte, 0, 1<<10)
	return []contender{
		{
			name: "msgp walk, bytes.Reader", bytes: len(doc.godot), want: doc.sum,
			run: func() int {
				m.Reset(b)
				r.Reset(m)
				return walkMsgp(r, &scratch)
			},
		},
		{
			name: "msgp walk, Reader", bytes: len(doc.godot), want: doc.sum,
			run: func() int {
				p.r.Reset(b)
				r.Reset(p)
				return walkMsgp(r, &scratch)
			},
		},
		{
			name: "msgp walk, ReadXxxBytes", bytes: len(doc.godot), want: doc.sum,
			run: func() int {
				sum, _ := walkMsgpBytes(b)
				return sum
			},
		},
	}
}

func msgpSkipping(doc *document) []contender {
	b := doc.msgp()
	r, p := msgp.NewReaderSize(nil, msgpBuffer), &plain{}
	return []contender{
		{
			name: "msgp Skip, Reader", bytes: len(doc.godot),
			run: func() int {
				p.r.Reset(b)
				r.Reset(p)
				check(r.Skip())
				return p.r.Len()
			},
		},
		{
			name: "msgp Skip, bytes", bytes: len(doc.godot),
			run: func() int { return len(must(msgp.Skip(b))) },
		},
	}
}

func wellformed(doc *document) contender {
	b := doc.cbor()
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
			check(e.Flush())
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
