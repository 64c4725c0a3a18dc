// Package gdscript writes classes of GDScript for Go types, so that a game and its server have one
// definition of their messages.
//
//	type Packet struct { // the message is the field that is not nil
//		Chat *Chat `gd:",omitzero"`
//		Quit *Quit `gd:",omitzero"`
//	}
//
//	type Chat struct {
//		Text string `gd:",required"`
//	}
//
//	type Quit struct{}
//
//	// generate writes the script, if a program is called as: go run . -gdscript ../game/messages.gd
//	func generate(name string) error {
//		var script bytes.Buffer
//		if err := gdscript.Write(&script, Packet{}); err != nil {
//			return err
//		}
//		return os.WriteFile(name, script.Bytes(), 0o666)
//	}
//
// This file is all that a game needs. A class has the fields as typed variables:
//
//	const Messages := preload("res://messages.gd")
//
//	var p := Messages.Packet.from_variant(peer.get_var()) # null, and an error is printed, if it is no Packet
//	var e := p.read(peer.get_var())                       # "", or ".chat.text: int into String"
//	peer.put_var(p.to_variant())
//
// The directory examples/chat contains a server and a game. Those who begin with a script print Go types for a
// value that it wrote by the command gdwire struct.
package gdscript

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
)

// Write writes a script of Godot 4.4 or later. It contains a class for the type of each message, a struct, and for each
// struct in it, and these extend the class Message. The variables have the types and names that
// [variant.Marshal] gives the fields, and the zero values of Go. Write returns an error for types that Marshal
// cannot encode, and for a key that is no name in GDScript.
//
//	struct                               class; in to_variant a Dictionary, or an Array if it is positional
//	pointer                              the value or null; a pointer to a struct is typed
//	slices, maps                         Array[Item], Dictionary[String, Item], packed arrays
//	array                                the same, of this length
//	integer with a method String         enum of the values from 0 to 255 for which it returns a name
//	time.Time, TextMarshaler             String
//	Marshaler, interface, Raw, ObjectID  Variant
//	embed                                Dictionary of all other keys
//
// A variable whose key is missing, or null if that is no value of it, keeps its value; required makes a missing key an
// error. With omitzero, to_variant leaves out the zero value of Go, and an empty Array or Dictionary; a method IsZero is not
// known to the script. Integers are not checked against their width in Go, and texts not against their
// syntax: the server does. Objects can be nested 20 levels deep: a script that reads what a stranger sent never
// exhausts the engine's stack.
//
// Names that GDScript reserves and names of variables that begin with a capital letter or _ get a _ at their end: class
// becomes class_. Write does not know the classes of the engine, such as Timer: a type of this name is an error of
// the engine when it loads the script.
func Write(w io.Writer, messages ...any) error {
	p := planner{used: names{}, named: map[reflect.Type]*shape{}}
	for i, m := range messages {
		t := reflect.TypeOf(m)
		if t == nil || t.Kind() != reflect.Struct {
			return fmt.Errorf("gdscript: %v is no struct", t)
		}
		s, err := p.shape(t, "", "Message"+strconv.Itoa(i+1))
		if err == nil && s.class == nil {
			err = fmt.Errorf("%v is encoded as no Dictionary or Array of its fields", t)
		}
		if err != nil {
			return fmt.Errorf("gdscript: %w", err)
		}
	}
	for i := 0; i < len(p.classes); i++ { // the fields of one can need more
		if err := p.addFields(p.classes[i]); err != nil {
			return fmt.Errorf("gdscript: %w", err)
		}
	}
	out := &printer{base: p.used.free("Message")}
	out.script(p.enums, p.classes)
	_, err := w.Write(out.Bytes())
	return err
}
