package variant_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

type Player struct {
	Name     string
	MaxHP    int `gd:",required"` // "max_hp"
	Position variant.Vector3
	Rest     *variant.Dictionary `gd:",embed"` // all other keys
}

// train takes bytes of var_to_bytes and returns bytes for bytes_to_var.
func train(data []byte) ([]byte, error) {
	var p Player
	if err := variant.Unmarshal(data, &p); err != nil {
		return nil, err // gdwire: offset 44, $.max_hp: String into Go int (Player.MaxHP)
	}
	p.MaxHP += 10
	return variant.Marshal(p)
}

// A value is decoded into a struct, changed and encoded again.
func Example() {
	for _, hp := range []any{90, "ninety"} {
		data, err := variant.Marshal(map[string]any{"name": "Ada", "max_hp": hp, "gold": 7})
		if err != nil {
			fmt.Println(err)
		}
		if data, err = train(data); err != nil {
			fmt.Println(err)
			continue
		}
		var v any
		err = variant.Unmarshal(data, &v)
		fmt.Println(v, err)
	}
	// Output:
	// {"name": "Ada", "max_hp": 100, "position": Vector3(0.0, 0.0, 0.0), "gold": 7} <nil>
	// gdwire: offset 44, $.max_hp: String into Go int (Player.MaxHP)
}

// A field of a message names its type. The program decodes that field first, and then the same
// bytes as a struct for the type.
func ExampleRaw_union() {
	type Move struct {
		Type string // the key that names the type, which the sender writes, too
		To   variant.Vector2
	}
	type Chat struct{ Type, Text string }
	show := func(kind string, content variant.Raw) error {
		switch kind {
		case "move":
			var m Move
			if err := content.Unmarshal(&m); err != nil {
				return err
			}
			fmt.Println("move to", m.To)
		case "chat":
			var c Chat
			if err := content.Unmarshal(&c); err != nil {
				return err
			}
			fmt.Println("chat:", c.Text)
		default:
			return fmt.Errorf("unknown type %q", kind)
		}
		return nil
	}
	// The members of the message depend on its type.
	receive := func(packet variant.Raw) error {
		var message struct{ Type string }
		if err := packet.Unmarshal(&message); err != nil {
			return err
		}
		return show(message.Type, packet)
	}
	// In the other form of a union, the content is a separate field.
	receiveEnvelope := func(packet variant.Raw) error {
		var envelope struct {
			Type    string
			Payload variant.Raw
		}
		if err := packet.Unmarshal(&envelope); err != nil {
			return err
		}
		return show(envelope.Type, envelope.Payload)
	}
	send := func(v any, receive func(variant.Raw) error) {
		data, err := variant.Marshal(v)
		var packet variant.Raw // of variant.Receive(c, &packet), which sets its format
		if err == nil {
			err = variant.Unmarshal(data, &packet)
		}
		if err == nil {
			err = receive(packet)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	send(Move{"move", variant.Vector2{X: 1, Y: 2}}, receive)
	send(Chat{"chat", "hello"}, receive)
	send(map[string]any{"type": "dance"}, receive)
	send(map[string]any{"type": "move", "payload": map[string]any{"to": variant.Vector2{X: 3, Y: 4}}}, receiveEnvelope)
	// Output:
	// move to Vector2(1.0, 2.0)
	// chat: hello
	// unknown type "dance"
	// move to Vector2(3.0, 4.0)
}

// A Dictionary keeps the order of its pairs and holds keys of any type.
func ExampleDictionary() {
	var inventory variant.Dictionary
	inventory.Set("sword", 1)
	inventory.Set("potion", 5)
	inventory.Set(variant.Vector2i{X: 3, Y: 4}, "chest")
	inventory.Set(variant.StringName("sword"), 2) // the same key
	inventory.Delete("potion")

	data, err := variant.Marshal(&inventory)
	if err != nil {
		fmt.Println(err)
		return
	}
	var v any
	if err := variant.Unmarshal(data, &v); err != nil {
		fmt.Println(err)
		return
	}
	d, ok := v.(*variant.Dictionary)
	if !ok {
		fmt.Printf("%T instead of a Dictionary\n", v)
		return
	}
	for key, value := range d.All() {
		fmt.Println(key, value)
	}
	chest, ok := d.Get(variant.Vector2i{X: 3, Y: 4})
	fmt.Println(d.Len(), chest, ok)
	fmt.Println(d)
	// Output:
	// sword 2
	// Vector2i(3, 4) chest
	// 2 chest true
	// {"sword": 2, Vector2i(3, 4): "chest"}
}

// Unknown keys are kept when a struct is decoded and encoded again.
func Example_unknownKeys() {
	type Player struct {
		Name string
		HP   int
		Rest *variant.Dictionary `gd:",embed"`
	}
	data, err := variant.Marshal(map[string]any{"hp": 3, "mod_jetpack": true, "name": "Ada"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var p Player
	if err := variant.Unmarshal(data, &p); err != nil {
		fmt.Println(err)
		return
	}
	p.HP += 10
	if data, err = variant.Marshal(p); err != nil {
		fmt.Println(err)
		return
	}
	var all map[string]any
	if err := variant.Unmarshal(data, &all); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(all)
	// Output: map[hp:13 mod_jetpack:true name:Ada]
}

// Vec3 is a vector type as in math libraries.
type Vec3 [3]float32

// Rotation is a struct with the components of a Quaternion.
type Rotation struct{ X, Y, Z, W float32 }

// A program can use its own vector types. To encode an array of four floats, or a
// struct, it needs a tag with the type; to decode, it needs none.
func Example_ownVectorTypes() {
	type Body struct {
		Position Vec3
		Rotation Rotation `gd:",type=Quaternion"`
		Path     []Vec3   // a PackedVector3Array, read and written as a whole
	}
	data, err := variant.Marshal(Body{
		Position: Vec3{1, 2, 3},
		Rotation: Rotation{W: 1},
		Path:     []Vec3{{1, 0, 0}, {2, 0, 0}},
	})

	if err != nil {
		fmt.Println(err)
		return
	}
	var v map[string]any
	if err := variant.Unmarshal(data, &v); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%T %T %T\n", v["position"], v["rotation"], v["path"])
	var b Body
	if err := variant.Unmarshal(data, &b); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b)
	// Output:
	// variant.Vector3 variant.Quaternion []variant.Vector3
	// {[1 2 3] {0 0 0 1} [[1 0 0] [2 0 0]]}
}

// The records of a large file or connection are decoded one at a time. The default limit
// of 16 Mi values is disabled. The loop continues after a record that does not fit.
func ExampleElements() {
	type Score struct {
		Player string
		Points int32
	}
	packet, err := variant.Marshal([]any{
		Score{"Ada", 12},
		map[string]any{"player": "Bo", "points": "many"},
		Score{"Cy", 3},
	})

	if err != nil {
		fmt.Println(err)
		return
	}
	d := gdwire.NewDecoder(bytes.NewReader(packet), &gdwire.DecoderOptions{
		Limits: gdwire.Limits{Elements: -1, Values: -1},
	})
	defer d.Release()
	total := 0
	for score, err := range variant.Elements[Score](d) {
		var bad *variant.TypeError
		switch {
		case errors.As(err, &bad):
			fmt.Println(err)
		case err != nil:
			fmt.Println("the input ends here:", err)
			return
		default:
			total += int(score.Points)
		}
	}
	fmt.Println(total)
	// Output:
	// gdwire: offset 120, $[1].points: String into Go int32 (Score.Points)
	// 15
}

// The pairs of a Dictionary are decoded one at a time.
func ExampleEntries() {
	packet, err := variant.Marshal(map[string]int{"a": 1, "b": 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := gdwire.NewDecoder(bytes.NewReader(packet), nil)
	defer d.Release()
	for e, err := range variant.Entries[string, int](d) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Key, e.Value)
	}
	// Output:
	// a 1
	// b 2
}

// A positional struct is an Array of its fields, without keys.
func Example_positional() {
	type Tile struct {
		_    struct{} `gd:",array"`
		X, Y int
		Kind variant.StringName
	}
	data, err := variant.Marshal([]Tile{{X: 1, Y: 2, Kind: "wall"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var v any
	if err := variant.Unmarshal(data, &v); err != nil {
		fmt.Println(err)
		return
	}
	if a, ok := v.(*variant.Array); ok {
		fmt.Println(a.Values[0].(*variant.Array).Values...)
	}
	var tiles []Tile
	if err := variant.Unmarshal(data, &tiles); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tiles[0].Kind)
	// Output:
	// 1 2 wall
	// wall
}

// Dice is encoded as a String such as "2d6". It is decoded from such a String, or from an
// int, the number of dice with six sides.
type Dice struct{ Count, Sides int }

func (d Dice) MarshalVariant(e *gdwire.Encoder) error {
	return e.WriteString(fmt.Sprintf("%dd%d", d.Count, d.Sides))
}

func (d *Dice) UnmarshalVariant(from *gdwire.Decoder) error {
	n, err := gdwire.ReadInteger[int](from)
	if err == nil {
		*d = Dice{n, 6}
		return nil
	}
	if !errors.Is(err, gdwire.ErrType) {
		return err
	}
	text, err := from.ReadString() // a wrong type consumed nothing
	if err != nil {
		return err
	}
	if _, err := fmt.Sscanf(text, "%dd%d", &d.Count, &d.Sides); err != nil {
		return fmt.Errorf("no dice: %w", err)
	}
	return nil
}

func ExampleMarshaler() {
	data, err := variant.Marshal([]any{Dice{2, 20}, 3, "two"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var dice []Dice
	err = variant.Unmarshal(data, &dice)
	fmt.Println(dice, err)
	// Output: [{2 20} {3 6}] gdwire: offset 28, $[2]: String into Go variant_test.Dice: no dice: expected integer
}

// A server answers an invalid message with an error and continues.
func ExampleTypeError() {
	type Attack struct {
		Target string
		Damage uint8
	}
	answer := func(packet []byte) string {
		var a Attack
		err := variant.Unmarshal(packet, &a, variant.Options{RejectUnknown: true, MaxMemory: 1 << 20})
		var bad *variant.TypeError
		switch {
		case err == nil:
			return "ok"
		case errors.Is(err, variant.ErrUnknownKey), errors.Is(err, variant.ErrDuplicateKey):
			return "no such key"
		case errors.Is(err, gdwire.ErrRange):
			return "out of range"
		case errors.As(err, &bad):
			return "bad " + strings.ToLower(bad.Field)
		case errors.Is(err, gdwire.ErrLimit):
			return "too large"
		}
		return "invalid"
	}
	for _, message := range []any{
		Attack{"orc", 7},
		map[string]any{"target": "orc", "damage": 256},
		map[string]any{"target": variant.RID(1)},
		map[string]any{"god_mode": true},
		strings.Repeat("x", 2000),
	} {
		packet, err := variant.Marshal(message)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(answer(packet))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		packet := make([]byte, random.IntN(100))
		for i := range packet {
			packet[i] = byte(random.Uint32() >> 24)
		}
		answer(packet) // whatever it is
	}
	// Output:
	// ok
	// out of range
	// bad attack.target
	// no such key
	// bad
}

// Calls of package gdwire read the containers of a stream, and package variant the values
// in them.
func ExampleMarshalEncode() {
	var out bytes.Buffer
	e := gdwire.NewEncoder(&out, nil)
	e.BeginArray(2)
	e.WriteString("spawn")
	variant.MarshalEncode(e, map[string]int{"hp": 5})
	e.End()
	if err := e.Close(); err != nil { // the first error of all these calls
		fmt.Println(err)
		return
	}

	d := gdwire.NewDecoder(&out, nil)
	defer d.Release()
	for i, err := range d.Elements() {
		if err != nil {
			fmt.Println(err)
			return
		}
		var v any
		if err := variant.UnmarshalDecode(d, &v); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d %T\n", i, v)
	}
	// Output:
	// 0 string
	// 1 *variant.Dictionary
}

// A Column stores any value in a column of bytes (BLOB, bytea, VARBINARY).
type Column[T any] struct{ V T }

var (
	_ driver.Valuer = Column[int]{}
	_ sql.Scanner   = (*Column[int])(nil)
)

func (c Column[T]) Value() (driver.Value, error) { return variant.Marshal(c.V) }

func (c *Column[T]) Scan(src any) error {
	*c = Column[T]{} // nothing of another row stays
	switch src := src.(type) {
	case nil: // NULL is the zero value
		return nil
	case []byte: // which belongs to the driver: Unmarshal keeps no part of it
		return variant.Unmarshal(src, &c.V)
	default:
		return fmt.Errorf("%T is not a column of bytes", src)
	}
}

// Values of any type are arguments of database/sql, and are scanned from a row:
//
//	_, err := db.Exec("INSERT INTO players (id, state) VALUES (?, ?)", id, Column[Player]{p})
//	err = db.QueryRow("SELECT state FROM players WHERE id = ?", id).Scan(&column)
func Example_sql() {
	type Player struct {
		Name string
		HP   int
	}
	b, err := Column[Player]{Player{"Ada", 99}}.Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	var p Column[Player]
	fmt.Println(p.Scan(b), p.V)
	fmt.Println(p.Scan(nil), p.V)
	fmt.Println(p.Scan("text"))
	fmt.Println(p.Scan([]byte("text")))
	// Output:
	// <nil> {Ada 99}
	// <nil> { 0}
	// string is not a column of bytes
	// gdwire: offset 0, $: unknown godot4 type id 116; the input is text: for JSON, see package gdjson
}

// An element that was removed is one difference, although the others have another index after it.
func ExampleDiff() {
	type Save struct {
		HP    int
		Items []any
		Quest int `gd:",omitzero"`
	}
	before, err := variant.Marshal(Save{HP: 10, Items: []any{"sword", "torch", "map"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := variant.Marshal(Save{HP: 7, Items: []any{"torch", "map"}, Quest: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	var a, b any
	if err := errors.Join(variant.Unmarshal(before, &a), variant.Unmarshal(after, &b)); err != nil {
		fmt.Println(err)
		return
	}
	for c := range variant.Diff(a, b) {
		switch {
		case c.Added:
			fmt.Printf("%s: %v, was not there\n", c.NewPath, c.New)
		case c.Removed:
			fmt.Printf("%s: was %v, is not there\n", c.OldPath, c.Old)
		default:
			fmt.Printf("%s: %v, was %v\n", c.NewPath, c.New, c.Old)
		}
	}
	// Output:
	// $.hp: 7, was 10
	// $.items[0]: was sword, is not there
	// $.quest: 3, was not there
}

// Marshal encodes what Unmarshal decodes. A nil slice is an empty array.
func ExampleMarshal() {
	type player struct {
		Name  string
		MaxHP int
		Tags  []string `gd:",type=Array[StringName]"`
	}
	data, err := variant.Marshal(player{Name: "Ada", MaxHP: 90})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(variant.Raw{Data: data})
	// Output: {"name": "Ada", "max_hp": 90, "tags": Array[StringName]([])}
}

// Unmarshal into an any stores a tree, which prints as gdwire does.
func ExampleUnmarshal() {
	data, err := variant.Marshal(map[string]any{"pos": variant.Vector2{X: 1, Y: 2.5}, "hp": 90})
	if err != nil {
		fmt.Println(err)
		return
	}
	var v any
	fmt.Println(variant.Unmarshal(data, &v), v)
	var player struct {
		HP  int8
		Pos string
	}
	fmt.Println(variant.Unmarshal(data, &player), player.HP)
	// Output:
	// <nil> {"hp": 90, "pos": Vector2(1.0, 2.5)}
	// gdwire: offset 40, $.pos: Vector2 into Go string (struct.Pos) 90
}

// A test of a program reports every bad tag of a type by encoding and decoding its zero value.
func Example_checkTags() {
	check := func(v any) error { // a pointer to the zero value
		data, err := variant.Marshal(v)
		if err == nil {
			err = variant.Unmarshal(data, v)
		}
		return err
	}
	type player struct {
		Name string
		HP   int `gd:",omitempty"`
	}
	fmt.Println(check(&player{}))
	fmt.Println(check(&struct{ Name string }{}))
	// Output:
	// variant: variant_test.player.HP: tag has unknown option "omitempty"
	// <nil>
}
