package main

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

// gdjsonGroups compare gdjson with jsontext, which does the half of its work that
// is JSON.
var gdjsonGroups = []group{
	{name: "JSON out", setup: func(*stage) []contender {
		text := nativeJSON(game().godot)
		return []contender{jsonWriting(text), toJSON(game().godot, text)}
	}},
	{name: "JSON in", setup: func(*stage) []contender {
		text := nativeJSON(game().godot)
		// "args" before "type", as engines write it.
		reordered := jsontext.Value(bytes.Clone(text))
		check(reordered.Format(jsontext.ReorderRawObjects(true)))
		return []contender{
			jsonPassing(text),
			fromJSON("gdjson", text, len(game().godot)),
			fromJSON("gdjson, args before type", reordered, len(game().godot)),
		}
	}},
}

// nativeJSON returns a value as native JSON.
func nativeJSON(wire []byte) []byte {
	var b bytes.Buffer
	d := gdwire.NewDecoder(bytes.NewReader(wire), nil)
	defer d.Release()
	check(gdjson.ToJSON(&b, d))
	return b.Bytes()
}

func toJSON(wire, text []byte) contender {
	d, m := gdwire.NewDecoder(nil, nil), &drain{}
	return ours("gdjson", len(text), len(text), func() int {
		m.n = 0
		d.ResetBytes(wire)
		check(gdjson.ToJSON(m, d))
		return m.n
	})
}

// jsonWriting writes the tokens of text. Numbers are formatted, as gdjson must do.
func jsonWriting(text []byte) contender {
	var tokens []jsontext.Token
	eachToken(jsontext.NewDecoder(bytes.NewBuffer(text)), func(t jsontext.Token) {
		switch t.Kind() {
		case '0':
			t = jsontext.Float(must(t.Float()))
		case '"':
			t = jsontext.String(t.String())
		default:
			t = t.Clone()
		}
		tokens = append(tokens, t)
	})
	m := &drain{}
	e := jsontext.NewEncoder(m)
	run := func() int {
		m.n = 0
		e.Reset(m)
		for _, t := range tokens {
			check(e.WriteToken(t))
		}
		return m.n
	}
	return peer("jsontext", len(text), run(), run)
}

// eachToken calls f for each token of d.
func eachToken(d *jsontext.Decoder, f func(jsontext.Token)) {
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			return
		}
		check(err)
		f(t)
	}
}

func fromJSON(name string, text []byte, want int) contender {
	r, m := bytes.NewReader(nil), &drain{}
	e := gdwire.NewEncoder(m, nil)
	return ours(name, len(text), want, func() int {
		m.n = 0
		r.Reset(text)
		e.Reset(m)
		check(gdjson.FromJSON(e, r))
		return m.n
	})
}

// jsonPassing reads the tokens of text, and takes the values of numbers and strings.
func jsonPassing(text []byte) contender {
	r := bytes.NewReader(nil)
	d := jsontext.NewDecoder(r)
	run := func() (sum int) {
		r.Reset(text)
		d.Reset(r)
		eachToken(d, func(t jsontext.Token) {
			switch t.Kind() {
			case '0':
				sum += int(must(t.Float()))
			case '"':
				sum += len(t.String())
			default:
				sum++
			}
		})
		return sum
	}
	return peer("jsontext", len(text), run(), run)
}
