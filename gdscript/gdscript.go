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

// Write writes a script of Godot 4.4 or later. It contains a class for the type of each message, a
// struct, and for each struct in it; all of them extend the class Message. The variables have the types
// and names that [variant.Marshal] gives the fields, and the zero values of Go. Write returns an error
// for types that Marshal cannot encode, and for keys that are no names in GDScript.
//
//	struct                               class; to_variant returns a Dictionary, or an Array if it is positional
//	pointer                              the value or null; one to a struct is typed
//	struct of pointers with omitzero     union: the variable that is not null
//	slice, map                           Array[Item], Dictionary[String, Item], packed arrays
//	array                                the same, of this length
//	integer with a method String         enum of the values from 0 to 255 for which it returns a name
//	time.Time, TextMarshaler             String
//	Marshaler, interface, Raw, ObjectID  Variant, at first null
//	embed                                Dictionary of all other keys
//
// A variable whose key is missing, or null unless it can be null, keeps its value; with required, a
// missing key is an error. With omitzero, to_variant leaves out zero values, and empty Arrays and
// Dictionaries; it does not know the method IsZero. A script does not check the width of integers and
// the syntax of texts: the server does. A script that reads what a stranger sent does not exhaust the
// stack of the engine: objects can be nested 20 levels deep.
//
// Names that GDScript reserves, such as class, and names of variables that begin with a capital letter
// or _ get a _ at their end. Write does not know the classes of the engine: a type named Timer is an
// error of the engine when it loads the script.
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
