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
// A game needs only this file. The fields are typed variables of a class:
//
//	const Messages := preload("res://messages.gd")
//
//	var p := Messages.Packet.from_variant(peer.get_var()) # null, and an error is printed, if it is no Packet
//	var e := p.read(peer.get_var())                       # "", or ".chat.text: int into String"
//	peer.put_var(p.to_variant())
//
// Package main of the server writes the script with a line of go generate, and a flag of its own:
//
//	//go:generate go run . -gdscript ../game/messages.gd
//
// and the game sends and receives, for example over TCP:
//
//	var peer := StreamPeerTCP.new()
//	var packets := PacketPeerStream.new()
//
//	func _ready() -> void:
//		peer.connect_to_host("127.0.0.1", 7777)
//		packets.stream_peer = peer
//
//	func _process(_delta: float) -> void:
//		peer.poll()
//		while peer.get_status() == StreamPeerTCP.STATUS_CONNECTED and packets.get_available_packet_count() > 0:
//			var p := Messages.Packet.from_variant(packets.get_var())
//			if p and p.chat:
//				print(p.chat.text)
//
//	func say(text: String) -> void:
//		var p := Messages.Packet.new()
//		p.chat = Messages.Chat.new()
//		p.chat.text = text
//		packets.put_var(p.to_variant())
//
// Options.Source copies the comments of the Go types. The directory examples/chat contains a server and a game. If you begin with a script, the command gdwire
// struct prints Go types for a value written by the script.
//
// # Changes
//
// Games and servers of two versions read each other's messages. A script and Unmarshal accept the same values, but for
// the checks of the server alone (see Write), and find the same:
//
//	change                     old message, new reader   new message, old reader
//	field added                kept                      ignored
//	field removed              ignored                   kept
//	field renamed              kept                      kept
//	field renamed with was=    read                      kept
//	required field added       error                     ignored
//	int to float               read                      read
//	whole float to int         read                      read
//	int to a fraction          read                      error
//	list of wider ints         read                      read
//	list of ints to floats     error                     error
//	list to type=Array         read                      read
//	pointer to value           read                      read
//	enum value inserted        another value             another value
//	kind added to a union      read                      error
//	kind removed               error                     read
//	String to int              error                     error
//
// Kept is a variable that keeps its value, because the key is missing. So: add fields and kinds, never required ones;
// rename with was=; add values of an enum at the end; give a field of another type another name. A union is a struct of
// pointers to structs with omitzero alone: a message without a known key, but with an unknown one, is an error.
package gdscript

import (
	"bytes"
	_ "embed" // message.gd
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
)

// Write writes a script for Godot 4.4 or later, with a class for the type of each message, a struct,
// and for each struct inside; all of them extend the class Message. The variables have the types and
// names that [variant.Marshal] gives the fields, and the zero values of Go. Write returns an error for
// types that Marshal cannot encode. Of the messages, those that are [Options] configure the script, and pointers count as
// what they point to.
//
//	struct                               class; to_variant returns a Dictionary, or an Array if it is positional
//	pointer                              the value or null; one to a struct is typed
//	struct of pointers with omitzero     union: the variable that is not null
//	slice, map                           Array[Item], Dictionary[String, Item], packed arrays
//	array                                the same, of this length
//	integer with a method String         enum of the values from -128 to 255 for which it returns a name
//	time.Time, TextMarshaler             String: for a time, send UTC and add "Z" to the text of the engine
//	Marshaler, interface, Raw, ObjectID  Variant, at first null
//	embed                                Dictionary of all other keys
//
// If a key is missing, or null for a variable that cannot be null, the variable keeps its value; with
// required, a missing key is an error, also of an object that is null. With omitzero, to_variant leaves out
// zero values, and empty Arrays and Dictionaries; it does not know the method IsZero.
//
// Longer values than max= are an error before objects are made: 8,000 objects, in 64 KB, take 0.2 s in a debug
// build of Godot, and the error of max=64 takes 2 ms. A script reading untrusted values does not exhaust the
// stack of the engine: objects can be nested 20 levels deep. The server alone checks the width of integers, the
// syntax of texts, values for a Marshaler, and whether two keys such as 1 and 1.0 are one for Go, and it alone
// reads math types into structs in a struct.
//
// To_variant writes a null in the place of an object as the zero value. An object of a class of the
// script in a Variant, also inside Arrays and Dictionaries, is written as its Dictionary or Array. Any
// other Object there, an object that contains itself, and an array of another length are errors.
//
// A class or an enum is named as its Go type, without the package: Page_Item for Page[game.Item]. A variable
// is named as its key, with a _ in place of what a name cannot contain: max_hp for max-hp. Reserved names of
// GDScript, such as class, names of classes of Godot 4.6 and 4.7, and names of variables that are those of classes, or
// begin with a capital letter or _, get a _ at the end. Two types of one name are an error. If the game has a
// class_name or an autoload of this name, the script does not load: Options give other names.
//
// A String method that returns a name for all values makes no enum. One text for many values, such as Unknown,
// is no name, nor is a text of several words. A script loads without warnings, also with all made errors but
// those about values of any type: unsafe_method_access, unsafe_property_access, unsafe_cast and
// unsafe_call_argument.
func Write(w io.Writer, messages ...any) error {
	p := planner{used: names{}, sources: names{}, types: map[string]reflect.Type{}, named: map[reflect.Type]*shape{}}
	var all []reflect.Type
	for _, m := range messages {
		t := reflect.TypeOf(m)
		if o, ok := m.(Options); ok {
			p.options.merge(o)
			continue
		}
		if t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		all = append(all, t)
	}
	if err := p.plan(all); err != nil {
		return fmt.Errorf("gdscript: %w", err)
	}
	_, err := io.WriteString(w, p.script())
	return err
}

// plan adds the classes of messages.
func (p *planner) plan(messages []reflect.Type) (err error) {
	if p.options.Source != "" {
		if p.docs, err = comments(p.options.Source); err != nil {
			return err
		}
	}
	if prefix := p.options.Prefix; prefix != "" && (!isIdentifier(prefix) || prefix[0] == '_') {
		return fmt.Errorf("the prefix %q cannot begin the name of a class", prefix)
	}
	for i, t := range messages {
		if t == nil || t.Kind() != reflect.Struct {
			return fmt.Errorf("%v is no struct", t)
		}
		p.sources[t.PkgPath()] = true
		s, err := p.shape(t, "", "Message"+strconv.Itoa(i+1))
		if err == nil && s.class == nil {
			err = fmt.Errorf("%v is encoded as no Dictionary or Array of its fields", t)
		}
		if err != nil {
			return err
		}
	}
	for i := 0; i < len(p.classes); i++ { // the fields of a class can add more
		if err := p.addFields(p.classes[i]); err != nil {
			return err
		}
	}
	return nil
}

// message.gd contains the start of a script, and after a line "# class" a class.
//
//go:embed message.gd
var template string

// script returns the script.
func (p *planner) script() string {
	base := p.used.free(p.options.Prefix + "Message")
	head, body, _ := strings.Cut(template, "# class\n")
	head = strings.NewReplacer("Message", base, "# enums", strings.Join(p.enums, "\n")).Replace(head)
	all := []string{strings.Replace(strings.TrimSuffix(head, "\n"), "\n\n\n\n", "\n\n", 1)} // without enums
	all = append(all, p.zeros...)
	for _, c := range p.classes {
		c.nameVariables(p.used)
		var variables strings.Builder
		for _, f := range c.fields {
			fmt.Fprintf(&variables, "%s\t%svar %s: %s = %s\n", p.doc(c.of, f.GoName, "\t"), f.annotation(), f.name, f.typ, f.zero)
		}
		all = append(all, "\n", p.doc(c.of, c.of.Name(), ""), strings.NewReplacer("Message", base, "NAME", c.name, "WIRE", c.wire.String(), "EMPTY", zeroOf(c.wire),
			"VARIABLES\n", variables.String(), "READ", c.read(), "WRITE", c.write()).Replace(body))
	}
	return strings.Join(all, "")
}

// A printer prints the body of a function.
type printer struct {
	bytes.Buffer
	reads bool // the function reads a value
	vars  int  // its number of local variables
}

// line prints a line after tabs.
func (p *printer) line(tabs int, format string, args ...any) {
	fmt.Fprintf(p, strings.Repeat("\t", tabs)+format+"\n", args...)
}

// local prints a local variable and returns its name.
func (p *printer) local(tabs int, letter, typ, value string) string {
	name := p.name(letter)
	p.line(tabs, "var %s: %s = %s", name, typ, value)
	return name
}

// name returns a name for a local variable.
func (p *printer) name(letter string) string {
	p.vars++
	return "_" + letter + strconv.Itoa(p.vars)
}

// read returns the body of the function read.
func (c *class) read() string {
	p, isDictionary := printer{reads: true}, c.wire == gdwire.TypeDictionary
	var keys []string
	for _, f := range c.fields {
		keys = append(keys, quote(f.Key))
	}
	p.line(2, "if _v == null: return %s", c.ofNull())
	if c.sources > 0 && isDictionary {
		p.line(2, "if not _v is Dictionary: _v = _fields(_v, [%s], %#x)", strings.Join(keys, ", "), c.sources)
	}
	p.line(2, "if not _v is %s: return _not(_v, \"%[1]s\")", c.wire)
	p.line(2, "var _d: %s = _v", c.wire)
	if isDictionary {
		p.line(2, "if _d.is_typed(): _d = {}.merged(_d) # in which no key is an error")
		for _, f := range c.fields {
			for _, was := range f.Was {
				keys = append(keys, quote(was))
				p.line(2, "if _d.has(%s):", quote(was))
				p.line(3, "if _d.has(%s): return %s", quote(f.Key), quote(": duplicate key "+quote(f.Key)))
				p.line(3, "_d = _d.merged({%s: _d[%s]})", quote(f.Key), quote(was))
			}
		}
	}
	if c.isUnion {
		p.check(2, "_kind(_d, ["+strings.Join(keys, ", ")+"])", `""`)
	}
	p.line(2, "var _x: Variant")
	for i, f := range c.fields {
		if f.Embed {
			p.line(2, "_d = _d.duplicate()")
			p.line(2, "for _k: String in [%s]: if _d.erase(_k): continue", strings.Join(keys, ", "))
			p.line(2, "%s = %s", f.name, p.value(2, f.shape, "_d", `""`))
			continue
		}
		get, has, path := "_d.get("+quote(f.Key)+")", "_d.has("+quote(f.Key)+")", c.path(i)
		if !isDictionary {
			has = fmt.Sprintf("_d.size() > %d", i)
			get = fmt.Sprintf("_d[%d] if %s else null", i, has)
		}
		p.line(2, "_x = %s", get)
		p.line(2, "if _x != null%s:", map[bool]string{true: " or " + has}[f.class != nil && f.class.ofNull() != `""`])
		p.line(3, "%s = %s", f.name, p.value(3, f.notNull(), "_x", path))
		if f.canBeNull() {
			p.line(2, "elif %s: %s = null", has, f.name)
		}
		if f.Required {
			p.line(2, "elif not %s: return %s + \": is missing\"", has, path)
		}
	}
	return p.String()
}

// write returns the body of the function _write.
func (c *class) write() string {
	p := printer{}
	for i, f := range c.fields {
		path := c.path(i)
		switch {
		case f.Embed:
			p.line(2, "_d.merge(%s)", p.value(2, f.shape, f.name, `""`))
		case c.wire == gdwire.TypeArray:
			p.line(2, "_d.append(%s)", p.value(2, f.shape, f.name, path))
		case !f.OmitZero:
			p.line(2, "_d[%s] = %s", quote(f.Key), p.value(2, f.shape, f.name, path))
		case f.canBeNull() || f.isPlain() || f.elem != nil && f.length == "":
			p.line(2, map[bool]string{false: "if %s != %s:", true: "if not is_same(%s, %s):"}[f.orNumber], f.name, f.zero)
			p.line(3, "_d[%s] = %s", quote(f.Key), p.value(3, f.notNull(), f.name, path))
		default: // values with objects are compared in their encoded form
			z := p.local(2, "z", f.typ, f.zero)
			v, zero := p.value(2, f.shape, f.name, path), p.value(2, f.shape, z, path)
			p.line(2, "if %s != %s: _d[%s] = %[1]s", v, zero, quote(f.Key))
		}
	}
	return p.String()
}

// value prints code for a value of shape s in the variable x, and returns an expression of the value for a variable, or
// of the value to send. The code returns an error text if x does not fit: path, an expression of the text before, and why.
func (p *printer) value(tabs int, s *shape, x, path string) string {
	switch {
	case s.class != nil && p.reads:
		o := p.local(tabs, "o", s.typ, s.zero)
		p.check(tabs, fmt.Sprintf("%s.read(%s, _depth + 1)", o, x), path)
		return o
	case s.class != nil:
		o := p.local(tabs, "o", s.typ, fmt.Sprintf("%s if %[1]s != null else %s", x, s.zero))
		d := p.local(tabs, "d", s.class.wire.String(), zeroOf(s.class.wire))
		p.check(tabs, fmt.Sprintf("%s._write(%s, _depth + 1)", o, d), path)
		return d
	case p.reads:
		p.accept(tabs, s, x, path)
	case s.isPlain():
		return x
	case s.pointer != nil:
		v := p.local(tabs, "v", "Variant", "null")
		p.line(tabs, "if %s != null:", x)
		p.line(tabs+1, "%s = %s", v, p.value(tabs+1, s.pointer, x, path))
		return v
	case s.holdsAny:
		a := p.local(tabs, "a", "Array", "[]")
		p.check(tabs, fmt.Sprintf("_plain(%s, _depth + 1, %s)", x, a), path)
		return a + "[0]"
	}
	if s.elem == nil {
		return x
	}
	return p.elements(tabs, s, x, path)
}

// accept prints code that makes x a value of the accepted type and length, or returns an error text.
func (p *printer) accept(tabs int, s *shape, x, path string) {
	if s.accepts == "" {
		return
	}
	is := fmt.Sprintf("%s is %s", x, s.accepts)
	if s.orNumber {
		is = fmt.Sprintf("(%s or %s is int or %[2]s is float)", is, x)
	}
	if s.like != "" {
		p.line(tabs, "if not %s: %s = _as(%[2]s, %s)", is, x, s.like)
	}
	p.line(tabs, "if not %s: return %s + _not(%s, %q)", is, path, x, s.accepts)
	if s.max > 0 {
		p.line(tabs, `if %s > %d: return %s + ": length %%d, more than %[2]d" %% %[1]s`, fmt.Sprintf(s.size, x), s.max, path)
	}
	if s.length != "" {
		p.line(tabs, `if %s.size() != %s: return %s + ": %%d elements into %[2]s" %% %[1]s.size()`, x, s.length, path)
	}
}

// check prints a call that returns an error text, which is returned after path.
func (p *printer) check(tabs int, call, path string) {
	e := p.local(tabs, "e", "String", call)
	p.line(tabs, `if %s != "": return %s + %[1]s`, e, path)
}

// elements prints a loop over the elements of an Array or Dictionary, see value.
func (p *printer) elements(tabs int, s *shape, x, path string) string {
	typ, empty, loop := "Array", "[]", "int in "+x+".size()"
	if s.key != nil {
		typ, empty, loop = "Dictionary", "{}", "Variant in "+x
	}
	if p.reads {
		typ = s.typ
	}
	all, i := p.local(tabs, "a", typ, empty), p.name("i")
	path += " + _at(" + i + ")"
	p.line(tabs, "for %s: %s:", i, loop)
	v := p.local(tabs+1, "x", "Variant", x+"["+i+"]")
	at := all + ".append(%s)"
	if s.key != nil {
		at = all + "[" + p.value(tabs+1, s.key, i, path) + "] = %s"
	}
	elem := s.elem
	if p.reads && elem.class == nil {
		p.line(tabs+1, "if %s == null: %s", v, fmt.Sprintf(at, elem.zero))
		p.line(tabs+1, "else:")
		elem, tabs = elem.notNull(), tabs+1
	}
	p.line(tabs+1, at, p.value(tabs+1, elem, v, path))
	return all
}
