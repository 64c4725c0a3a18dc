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
		return []contender{
			jsonPassing(text),
			fromJSON("gdjson", text, len(game().godot)),
			fromJSON("gdjson, args before type", argsFirst(text), len(game().godot)),
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

// argsFirst returns native JSON with "args" before "type", as engines write it.
func argsFirst(text []byte) []byte {
	v := jsontext.Value(bytes.Clone(text))
	check(v.Format(jsontext.ReorderRawObjects(true)))
	return v
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
	for d := jsontext.NewDecoder(bytes.NewBuffer(text)); ; {
		t, err := d.ReadToken()
		if err == io.EOF {
			break
		}
		check(err)
		switch t.Kind() {
		case '0':
			f, err := t.Float()
			check(err)
			t = jsontext.Float(f)
		case '"':
			t = jsontext.String(t.String())
		default:
			t = t.Clone()
		}
		tokens = append(tokens, t)
	}
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
		for {
			t, err := d.ReadToken()
			if err == io.EOF {
				return sum
			}
			check(err)
			sum += takeJSON(t)
		}
	}
	return peer("jsontext", len(text), run(), run)
}

func takeJSON(t jsontext.Token) int {
	switch t.Kind() {
	case '0':
		f, err := t.Float()
		check(err)
		return int(f)
	case '"':
		return len(t.String())
	}
	return 1
}
