package gdjson_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/variant"
)

// exampleSave is a small saved game.
func exampleSave() []byte {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	e.BeginDict(3)
	e.WriteString("name")
	e.WriteString("Ada")
	e.WriteString("hp")
	e.WriteInt(7)
	e.WriteString("pos")
	gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{1, 2.5})
	e.End()
	if err := e.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// show writes the next value of r as JSON, for people and jq: {"name":"Ada","hp":7}
func show(w io.Writer, r io.Reader) error {
	d := gdwire.NewDecoder(r, nil)
	defer d.Release()
	return gdjson.ToJSON(w, d, gdjson.Options{Plain: true})
}

// Plain JSON is for people and tools, and lossy.
func Example() {
	fmt.Println(show(os.Stdout, bytes.NewReader(exampleSave())))
	// Output: {"name":"Ada","hp":7,"pos":[1.0,2.5]}<nil>
}

// Native JSON contains everything that the value does.
func ExampleToJSON() {
	d := gdwire.NewDecoder(bytes.NewReader(exampleSave()), nil)
	defer d.Release()
	if err := gdjson.ToJSON(os.Stdout, d, gdjson.Options{Indent: "  "}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"type": "Dictionary", "args": [
	//   "s:name", "s:Ada",
	//   "s:hp", "i:7",
	//   "s:pos", {"type": "Vector2", "args": [1.0, 2.5]}
	// ]}
}

// A file of several values becomes lines of JSON, one for each value.
func ExampleToJSON_lines() {
	save := exampleSave()
	d := gdwire.NewDecoder(bytes.NewReader(append(save, save...)), nil)
	defer d.Release()
	for {
		err := gdjson.ToJSON(os.Stdout, d, gdjson.Options{Plain: true})
		if err == io.EOF {
			break
		}
		fmt.Println()
		if err != nil {
			fmt.Println(err)
			break
		}
	}
	// Output:
	// {"name":"Ada","hp":7,"pos":[1.0,2.5]}
	// {"name":"Ada","hp":7,"pos":[1.0,2.5]}
}

// A value is converted to JSON, edited as text and converted back.
func ExampleFromJSON() {
	var text strings.Builder
	d := gdwire.NewDecoder(bytes.NewReader(exampleSave()), nil)
	defer d.Release()
	if err := gdjson.ToJSON(&text, d); err != nil {
		fmt.Println(err)
		return
	}

	edited := strings.Replace(text.String(), `"s:hp","i:7"`, `"s:hp","i:100"`, 1)

	var save bytes.Buffer
	e := gdwire.NewEncoder(&save, nil)
	defer e.Close()
	if err := gdjson.FromJSON(e, strings.NewReader(edited)); err != nil {
		fmt.Println(err)
		return
	}
	d.Reset(&save)
	if err := gdjson.ToJSON(os.Stdout, d, gdjson.Options{Plain: true}); err != nil {
		fmt.Println(err)
	}
	// Output: {"name":"Ada","hp":100,"pos":[1.0,2.5]}
}

// A text is a value as native JSON, in place of Go values: Marshal and Unmarshal of package variant call its methods.
type text struct{ bytes.Buffer }

func (t *text) MarshalVariant(e *gdwire.Encoder) error   { return gdjson.FromJSON(e, t) }
func (t *text) UnmarshalVariant(d *gdwire.Decoder) error { return gdjson.ToJSON(t, d) }

// A part of a message is JSON, for example of a web page. Files of package savefile and packets of package stream can
// contain JSON in the same way.
func ExampleFromJSON_methods() {
	type message struct {
		Name  string
		Value text
	}
	m := message{Name: "Ada"}
	m.Value.WriteString(`{"type":"Vector2","args":[1,2.5]}`)
	data, err := variant.Marshal(&m)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(variant.Raw{Data: data})
	var read message
	err = variant.Unmarshal(data, &read)
	fmt.Println(read.Value.String(), err)
	// Output:
	// {"name": "Ada", "value": Vector2(1.0, 2.5)}
	// {"type":"Vector2","args":[1.0,2.5]} <nil>
}

// An Error contains the offset and the JSON pointer of the invalid value.
func ExampleFromJSON_error() {
	e := gdwire.NewEncoder(io.Discard, nil)
	defer e.Close()
	const text = `{"type":"Dictionary","args":["s:pos",{"type":"Vector2","args":[1.0]}]}`
	err := gdjson.FromJSON(e, strings.NewReader(text))
	fmt.Println(err)
	var fault *gdjson.Error
	if errors.As(err, &fault) && errors.Is(err, gdwire.ErrCount) {
		fmt.Println(text[fault.Offset:], "at", fault.Pointer)
	}
	// Output:
	// gdjson: offset 62, "/args/1/args": 1 args instead of 2 in a Vector2
	// [1.0]}]} at /args/1/args
}

// Lines of JSON become several values, one after the other.
func ExampleSplitValues() {
	const lines = `{"name": "Ada"}
		{"name": "Bob"}`
	var wire bytes.Buffer
	e := gdwire.NewEncoder(&wire, nil)
	defer e.Close()
	values := bufio.NewScanner(strings.NewReader(lines))
	values.Split(gdjson.SplitValues())
	for values.Scan() {
		if err := gdjson.FromJSON(e, bytes.NewReader(values.Bytes()), gdjson.Options{Plain: true}); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := values.Err(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(wire.Len(), "bytes")
	// Output: 64 bytes
}
