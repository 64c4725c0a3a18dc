package gdwire_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// player is the result of an engine's var_to_bytes({"id": 7, "name": "Ada", "pos":
// Vector3(1, 2, 3), "tags": ["a", "b"]}).
func player() []byte {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	e.BeginDict(4)
	e.WriteString("id")
	e.WriteInt(7)
	e.WriteString("name")
	e.WriteString("Ada")
	e.WriteString("pos")
	gdwire.WriteComponents(e, gdwire.TypeVector3, []float64{1, 2, 3})
	e.WriteString("tags")
	e.BeginArray(2)
	e.WriteString("a")
	e.WriteString("b")
	e.End()
	e.End()
	if err := e.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// answer takes bytes of var_to_bytes and returns bytes for bytes_to_var.
func answer(request []byte) ([]byte, error) {
	var player struct {
		Name  string
		MaxHP int // "max_hp"
	}
	if err := variant.Unmarshal(request, &player); err != nil {
		return nil, err // gdwire: offset 24, $.max_hp: String into Go int (struct.MaxHP)
	}
	return variant.Marshal(map[string]any{"hello": player.Name})
}

// Package variant reads and writes Go values. Most programs need no other.
func Example() {
	for _, hp := range []any{90, "ninety"} {
		request, err := variant.Marshal(map[string]any{"name": "Ada", "max_hp": hp})
		if err != nil {
			fmt.Println(err)
		}
		response, err := answer(request)
		fmt.Println(len(response), err)
	}
	// Output:
	// 36 <nil>
	// 0 gdwire: offset 24, $.max_hp: String into Go int (struct.MaxHP)
}

// writePlayer and readPlayer handle messages of a known shape, and printTokens any value.
func writePlayer(conn io.Writer) error {
	e := gdwire.NewEncoder(conn, nil)
	e.BeginDict(2)
	e.WriteString("name")
	e.WriteString("Ada")
	e.WriteString("pos")
	gdwire.WriteComponents(e, gdwire.TypeVector3, []float64{1, 2, 3})
	e.End()
	return e.Close()
}

func readPlayer(conn io.Reader, p *Player) error {
	d := gdwire.NewDecoder(conn, nil)
	defer d.Release()
	for key, err := range d.Fields() {
		if err != nil {
			return err // gdwire: offset 34, $.player.inventory[3]: …
		}
		switch string(key) {
		case "name":
			p.Name, err = d.ReadString()
		case "pos":
			err = gdwire.ReadComponents(d, gdwire.TypeVector3, p.Pos[:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func printTokens(d *gdwire.Decoder) error {
	for t, err := range d.Tokens() {
		if err != nil {
			return err
		}
		fmt.Printf("%s: %v\n", d.AppendPath(nil), t)
	}
	return nil
}

// A message is written and read by typed calls, and read by tokens.
func Example_levels() {
	var conn bytes.Buffer
	if err := writePlayer(&conn); err != nil {
		fmt.Println(err)
	}
	packet := bytes.Clone(conn.Bytes())
	var p Player
	fmt.Println(readPlayer(&conn, &p), p)

	d := gdwire.NewDecoder(bytes.NewReader(packet), nil)
	defer d.Release()
	fmt.Println(printTokens(d))
	// Output:
	// <nil> {0 Ada [1 2 3]}
	// $: DictStart 2
	// $.key(0): DictKey
	// $.key(0): StringChunk String "name"
	// $.name: StringChunk String "Ada"
	// $.key(1): DictKey
	// $.key(1): StringChunk String "pos"
	// $.pos: Vector3 [1 2 3]
	// $: End
	// <nil>
}

// Begin calls take the number of elements, then the elements follow. The first
// error stays, so it is enough to check Close.
func ExampleEncoder() {
	var packet bytes.Buffer
	e := gdwire.NewEncoder(&packet, nil)
	e.BeginDict(2)
	e.WriteString("hp")
	e.WriteInt(100)
	e.WriteString("at")
	gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{0.5, -1})
	e.End()
	if err := e.Close(); err != nil { // or that of the first call that failed
		fmt.Println(err)
	}
	fmt.Print(hex.Dump(packet.Bytes()))
	// Output:
	// 00000000  1b 00 00 00 02 00 00 00  04 00 00 00 02 00 00 00  |................|
	// 00000010  68 70 00 00 02 00 00 00  64 00 00 00 04 00 00 00  |hp......d.......|
	// 00000020  02 00 00 00 61 74 00 00  05 00 00 00 00 00 00 3f  |....at.........?|
	// 00000030  00 00 80 bf                                       |....|
}

// ReadToken returns the tokens of one value after another.
func ExampleDecoder() {
	d := gdwire.NewDecoder(bytes.NewReader(player()), nil)
	defer d.Release()
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t)
	}
	// Output:
	// DictStart 4
	// DictKey
	// StringChunk String "id"
	// Int32 7
	// DictKey
	// StringChunk String "name"
	// StringChunk String "Ada"
	// DictKey
	// StringChunk String "pos"
	// Vector3 [1 2 3]
	// DictKey
	// StringChunk String "tags"
	// ArrayStart 2
	// StringChunk String "a"
	// StringChunk String "b"
	// End
	// End
}

// A Player is read by hand, without reflection.
type Player struct {
	ID   int32
	Name string
	Pos  [3]float64
}

// read reads the next value. Fields skips unknown keys and values that the body
// does not read. A value of a wrong type, or an id beyond 32 bits, is an Error
// with its offset and path.
func (p *Player) read(d *gdwire.Decoder) error {
	for key, err := range d.Fields() {
		switch string(key) {
		case "id":
			p.ID, err = gdwire.ReadInteger[int32](d)
		case "name":
			p.Name, err = d.ReadString()
		case "pos":
			err = gdwire.ReadComponents(d, gdwire.TypeVector3, p.Pos[:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Typed reads fill a struct by hand. Most programs use package variant instead.
func ExampleDecoder_Fields() {
	var p Player
	d := gdwire.NewDecoder(bytes.NewReader(player()), nil)
	defer d.Release()
	fmt.Println(p.read(d))
	fmt.Printf("%+v\n", p)

	// A hostile packet: {"id": {"name": "Mallory"}, "name": "Ada"}.
	var packet bytes.Buffer
	e := gdwire.NewEncoder(&packet, nil)
	e.BeginDict(2)
	e.WriteString("id")
	e.BeginDict(1)
	e.WriteString("name")
	e.WriteString("Mallory")
	e.End()
	e.WriteString("name")
	e.WriteString("Ada")
	e.End()
	d.Reset(&packet)
	fmt.Println(p.read(d))
	// Output:
	// <nil>
	// {ID:7 Name:Ada Pos:[1 2 3]}
	// gdwire: offset 20, $.id: got Dictionary, want int
}

// readStrings reads an Array of strings or a PackedStringArray. The slice grows
// as the strings arrive.
func readStrings(d *gdwire.Decoder) (list []string, err error) {
	for _, err := range d.Elements() {
		if err != nil {
			return nil, err
		}
		s, err := d.ReadString()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// The same function reads an Array and a PackedStringArray.
func ExampleDecoder_Elements() {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	e.BeginArray(2)
	e.WriteString("sword")
	e.WriteStringName("shield")
	e.End()
	e.BeginPacked(gdwire.TypePackedStringArray, 2)
	e.WriteString("map")
	e.WriteString("lamp")
	e.End()
	e.BeginArray(1)
	e.WriteInt(7)
	e.End()
	if err := e.Close(); err != nil {
		fmt.Println(err)
	}

	d := gdwire.NewDecoder(&b, nil)
	defer d.Release()
	for range 3 {
		fmt.Println(readStrings(d))
	}
	// Output:
	// [sword shield] <nil>
	// [map lamp] <nil>
	// [] gdwire: offset 76, $[0]: got int, want String
}

// setName copies a value and replaces what is at $.name. The new value takes the
// place of any old one, a container included.
func setName(e *gdwire.Encoder, d *gdwire.Decoder, name string) error {
	var path []byte
	for t, err := range d.Tokens() {
		if err != nil {
			return err
		}
		path = d.AppendPath(path[:0])
		if s := string(path); s != `$.name` && s != `$[&"name"]` { // the key is a String or a StringName
			e.WriteToken(t)
			continue
		}
		e.WriteString(name)
		if err := d.SkipTo(1); err != nil { // the rest of a value of several tokens
			return err
		}
	}
	return e.Close()
}

// One value of a large save is replaced and everything else is copied, in
// constant memory.
func ExampleDecoder_SkipTo() {
	var edited bytes.Buffer
	d := gdwire.NewDecoder(bytes.NewReader(player()), nil)
	defer d.Release()
	e := gdwire.NewEncoder(&edited, nil)
	defer e.Close()
	fmt.Println(setName(e, d, "Grace"))

	var p Player
	d.Reset(&edited)
	fmt.Println(p.read(d), p)
	// Output:
	// <nil>
	// <nil> {7 Grace [1 2 3]}
}

// checkPacket returns an error for objects, strings over 1 KiB and keys named "script".
func checkPacket(packet io.Reader) error {
	d := gdwire.NewDecoder(packet, &gdwire.DecoderOptions{Limits: gdwire.Limits{StringBytes: 1024}})
	defer d.Release()
	isKey := false
	for t, err := range d.Tokens() {
		if err != nil {
			return err
		}
		switch k := t.Kind(); {
		case k == gdwire.KindObjectID:
			return d.WrapError(errors.New("no objects here"))
		case isKey && k == gdwire.KindStringChunk && string(t.Bytes()) == "script":
			return d.WrapError(errors.New(`no key "script" here`))
		}
		isKey = t.Kind() == gdwire.KindDictKey
	}
	return nil
}

// A filter's errors have the offset and path of the value. It uses constant memory.
func ExampleDecoder_WrapError() {
	var packet bytes.Buffer
	e := gdwire.NewEncoder(&packet, nil)
	e.BeginArray(2)
	e.WriteInt(1)
	e.BeginDict(1)
	e.WriteString("script")
	e.WriteString("res://evil.gd")
	e.End()
	e.End()
	e.Close()
	fmt.Println(checkPacket(bytes.NewReader(player())))
	fmt.Println(checkPacket(&packet))
	// Output:
	// <nil>
	// gdwire: offset 24, $[1].key(0): no key "script" here
}

// Each value of a tree with its path.
func ExampleDecoder_AppendPath() {
	d := gdwire.NewDecoder(bytes.NewReader(player()), nil)
	defer d.Release()
	for t, err := range d.Tokens() {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch t.Kind() {
		case gdwire.KindDictKey, gdwire.KindEnd:
		default:
			fmt.Printf("%s = %v\n", d.AppendPath(nil), t)
		}
	}
	// Output:
	// $ = DictStart 4
	// $.key(0) = StringChunk String "id"
	// $.id = Int32 7
	// $.key(1) = StringChunk String "name"
	// $.name = StringChunk String "Ada"
	// $.key(2) = StringChunk String "pos"
	// $.pos = Vector3 [1 2 3]
	// $.key(3) = StringChunk String "tags"
	// $.tags = ArrayStart 2
	// $.tags[0] = StringChunk String "a"
	// $.tags[1] = StringChunk String "b"
}

// A name that is not UTF-8 is replaced. Other errors stay.
func ExampleEncoder_ClearError() {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	names := []string{"Ada", "\xff"}
	e.BeginArray(len(names))
	for _, name := range names {
		if err := e.WriteString(name); errors.Is(err, gdwire.ErrUTF8) {
			fmt.Println(e.ClearError())
			e.WriteString(strings.ToValidUTF8(name, "?"))
		}
	}
	e.End()
	fmt.Println(e.Close())

	d := gdwire.NewDecoder(&b, nil)
	defer d.Release()
	for t := range d.Tokens() {
		fmt.Println(t)
	}
	// Output:
	// gdwire: offset 20, $[1]: invalid UTF-8
	// <nil>
	// ArrayStart 2
	// StringChunk String "Ada"
	// StringChunk String "?"
	// End
}

// A function that cannot complete a value calls Fail, so that its caller does not complete
// the value by mistake.
func ExampleEncoder_Fail() {
	writeScore := func(e *gdwire.Encoder, points int64) error {
		e.BeginDict(1)
		e.WriteString("points")
		if points < 0 {
			return e.Fail(errors.New("negative score"))
		}
		e.WriteInt(points)
		return e.End()
	}
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	writeScore(e, -1)
	e.WriteInt(0)
	e.End()
	fmt.Println(e.Close())
	fmt.Println(b.Len())
	// Output:
	// gdwire: offset 24, $.value(0): negative score
	// 0
}

// An Encoder writes the tokens that a Decoder returns.
func ExampleEncoder_WriteToken() {
	var echo bytes.Buffer
	d := gdwire.NewDecoder(bytes.NewReader(player()), nil)
	e := gdwire.NewEncoder(&echo, nil)
	for t, err := range d.Tokens() {
		if err == nil {
			err = e.WriteToken(t)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(e.Close(), bytes.Equal(echo.Bytes(), player()))
	// Output: <nil> true
}

// Tokens made by functions replace others.
func ExampleVector() {
	moved := gdwire.Vector(gdwire.TypeVector2, 0.5, -1)
	fmt.Println(moved, moved.Width())
	fmt.Println(gdwire.Vector(gdwire.TypeVector2, 1, 2, 3) == gdwire.Token{})
	e := gdwire.NewEncoder(os.Stdout, nil)
	fmt.Println(e.WriteToken(gdwire.Vector(gdwire.TypeString)))
	// Output:
	// Vector2 [0.5 -1] 32
	// true
	// gdwire: offset 0, $: not a token
}

// A value is converted from Godot 3 to Godot 4.
func ExampleCopyValue() {
	var old, value bytes.Buffer
	e := gdwire.NewEncoder(&old, &gdwire.EncoderOptions{Format: gdwire.Godot3})
	e.BeginArray(2)
	gdwire.WriteComponents(e, gdwire.TypeColor, []float64{1, 0.5, 0, 1})
	e.WriteNodePath("/root/Main:visible")
	e.End()
	e.Close()
	fmt.Printf("%x\n", old.Bytes())

	d := gdwire.NewDecoder(&old, &gdwire.DecoderOptions{Format: gdwire.Godot3})
	e = gdwire.NewEncoder(&value, &gdwire.EncoderOptions{Format: gdwire.Godot4})
	err := gdwire.CopyValue(e, d)
	fmt.Printf("%x %v\n", value.Bytes(), err)
	// Output:
	// 13000000020000000e0000000000803f0000003f000000000000803f0f00000002000080010000000100000004000000726f6f74040000004d61696e0700000076697369626c6500
	// 1c00000002000000140000000000803f0000003f000000000000803f1600000002000080010000000100000004000000726f6f74040000004d61696e0700000076697369626c6500 <nil>
}

// A filter drops every Object: elements of Arrays disappear, other objects become nil. A
// count precedes the elements, and how many remain is known only at their end, so the Arrays
// get the count Unknown, for which the Encoder buffers the outermost one, up to MaxBuffered
// bytes. Nothing else is held in memory.
func ExampleCopyValue_dropObjects() {
	filter := func(e *gdwire.Encoder, d *gdwire.Decoder) error {
		for {
			switch d.PeekKind() {
			case gdwire.KindObjectID, gdwire.KindObjectStart:
				if err := d.SkipValue(); err != nil {
					return err
				}
				if open, _, _ := d.StackIndex(d.Depth()); open != gdwire.KindArrayStart {
					e.WriteNil()
				}
				continue
			}
			t, err := d.ReadToken()
			if err == io.EOF {
				return e.Close()
			}
			if err != nil {
				return err
			}
			if t.Kind() == gdwire.KindArrayStart {
				t = gdwire.ArrayStart(gdwire.Unknown, t.Elem())
			}
			if err := e.WriteToken(t); err != nil {
				return err
			}
		}
	}

	var in, out bytes.Buffer
	e := gdwire.NewEncoder(&in, nil)
	e.BeginArray(3)
	e.WriteInt(1)
	e.BeginObject("Node", 1)
	e.WriteProperty("name")
	e.WriteString("a")
	e.End()
	e.BeginDict(1)
	e.WriteString("target")
	e.WriteObjectID(7)
	e.End()
	e.End()
	if err := e.Close(); err != nil {
		fmt.Println(err)
		return
	}

	d := gdwire.NewDecoder(&in, &gdwire.DecoderOptions{AllowObjects: true})
	if err := filter(gdwire.NewEncoder(&out, nil), d); err != nil {
		fmt.Println(err)
		return
	}
	d.Reset(&out)
	for t, err := range d.Tokens() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t)
	}
	// Output:
	// ArrayStart 2
	// Int32 1
	// DictStart 1
	// DictKey
	// StringChunk String "target"
	// Nil
	// End
	// End
}

// A packed array is appended to a slice, which grows as elements arrive and not by
// the declared count. Vectors of 32 and 64 bits are converted.
func ExampleAppendPacked() {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	e.BeginPacked(gdwire.TypePackedFloat32Array, 3)
	gdwire.WritePacked(e, []float32{1, 2, 3})
	e.End()
	double := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{DoubleReals: true})
	double.BeginPacked(gdwire.TypePackedVector3Array, gdwire.Unknown)
	gdwire.WritePacked(double, [][3]float64{{1, 2, 3}, {4, 5, 6}})
	double.End()

	d := gdwire.NewDecoder(&b, nil)
	floats, err := gdwire.AppendPacked[float32](d, nil)
	fmt.Println(floats, err)
	vectors, err := gdwire.AppendPacked[[3]float32](d, nil)
	fmt.Println(vectors, err)
	// Output:
	// [1 2 3] <nil>
	// [[1 2 3] [4 5 6]] <nil>
}

// A large array is read in pieces into one slice.
func ExampleReadPacked() {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	e.BeginPacked(gdwire.TypePackedInt32Array, 5)
	gdwire.WritePacked(e, []int32{1, 2, 3, 4, 5})
	e.End()

	d := gdwire.NewDecoder(&b, nil)
	d.ReadToken()
	piece := make([]int32, 2)
	for {
		n, err := gdwire.ReadPacked(d, piece)
		if err == io.EOF && n == 0 {
			break
		}
		fmt.Println(piece[:n])
	}
	// Output:
	// [1 2]
	// [3 4]
	// [5]
}

// A typed dictionary of arrays whose sizes are unknown until the channel is
// closed.
func ExampleEncoder_BeginTypedDict() {
	type score struct {
		player string
		points int64
	}
	scores := make(chan score, 3)
	scores <- score{"Ada", 3}
	scores <- score{"Ada", 5}
	scores <- score{"Bob", 8}
	close(scores)

	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	e.BeginTypedDict(gdwire.Unknown, gdwire.Elem{Type: gdwire.TypeString}, gdwire.Elem{Type: gdwire.TypeArray})
	player := ""
	for s := range scores {
		if s.player != player {
			if player != "" {
				e.End()
			}
			player = s.player
			e.WriteString(player)
			e.BeginTypedArray(gdwire.Unknown, gdwire.Elem{Type: gdwire.TypeInt})
		}
		e.WriteInt(s.points)
	}
	e.End()
	e.End()
	fmt.Println(e.Close())

	d := gdwire.NewDecoder(&b, nil)
	for t := range d.Tokens() {
		fmt.Println(t)
	}
	// Output:
	// <nil>
	// DictStart 2 [String, Array]
	// DictKey
	// StringChunk String "Ada"
	// ArrayStart 2 [int]
	// Int32 3
	// Int32 5
	// End
	// DictKey
	// StringChunk String "Bob"
	// ArrayStart 1 [int]
	// Int32 8
	// End
	// End
}

// A string of any length is copied to a file.
func ExampleDecoder_Payload() {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	e.WriteString(strings.Repeat("long ", 3))

	d := gdwire.NewDecoder(&b, &gdwire.DecoderOptions{Limits: gdwire.Limits{StringBytes: -1}})
	if t, err := d.ReadToken(); err != nil || t.Kind() != gdwire.KindStringChunk {
		return
	}
	n, err := io.Copy(os.Stdout, d.Payload())
	fmt.Println(n, err)
	// Output: long long long 15 <nil>
}

// A length is checked against the limits before it is used.
func ExampleLimits() {
	hostile := []byte("\x1c\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\xff\xff\xff\xff")
	d := gdwire.NewDecoder(bytes.NewReader(hostile), &gdwire.DecoderOptions{
		Limits: gdwire.Limits{StringBytes: 1 << 20, Bytes: 8 << 20},
	})
	err := d.SkipValue()
	fmt.Println(err)
	var limit *gdwire.LimitError
	if errors.As(err, &limit) {
		fmt.Println(limit.Name, limit.Got, limit.Max, errors.Is(err, gdwire.ErrLimit))
	}
	// Output:
	// gdwire: offset 12, $[0]: string of 4294967295 bytes exceeds limit StringBytes (1048576)
	// StringBytes 4294967295 1048576 true
}

// An Error contains the offset and path of invalid input.
func ExampleError() {
	cut := player()[:70]
	d := gdwire.NewDecoder(bytes.NewReader(cut), nil)
	err := d.SkipValue()
	var e *gdwire.Error
	if errors.As(err, &e) {
		fmt.Println(e.Offset, e.Path, e.Err == io.ErrUnexpectedEOF)
	}
	// Output: 70 $.pos true
}

// The format is an option. As a flag, it accepts the names of all formats.
func ExampleFormat() {
	var f gdwire.Format
	flags := flag.NewFlagSet("program", flag.ContinueOnError)
	flags.TextVar(&f, "format", gdwire.Godot4, "the `format` of the values")
	if err := flags.Parse([]string{"-format", "godot2"}); err != nil {
		fmt.Println(err)
		return
	}
	d := gdwire.NewDecoder(strings.NewReader("\x14\x00\x00\x00\x00\x00\x00\x00"), &gdwire.DecoderOptions{Format: f})
	t, err := d.ReadToken()
	fmt.Println(f, t, err, f.Has(gdwire.TypeImage), f.Has(gdwire.TypeSignal))
	fmt.Println(f.UnmarshalText([]byte("godot-3")))
	for _, f := range gdwire.Formats() {
		fmt.Print(f, " ")
	}
	// Output:
	// godot2 DictStart 0 <nil> true false
	// gdwire: unknown format "godot-3", not one of godot4, godot3, godot2, manual4, manual3, manual30
	// godot4 godot3 godot2 manual4 manual3 manual30
}

// A datagram or a WebSocket message is one packet. ResetBytes does not copy it.
func ExampleDecoder_ResetBytes() {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{OneValue: true})
	defer d.Release()
	for _, message := range [][]byte{
		[]byte("\x02\x00\x00\x00\x07\x00\x00\x00"),
		[]byte("\x01\x00\x00\x00\x01\x00\x00\x00 and bytes that engines ignore...."),
	} {
		d.ResetBytes(message)
		for t, err := range d.Tokens() {
			fmt.Println(t, err)
		}
		_, err := d.ReadToken()
		fmt.Println(err, int64(len(message))-d.InputOffset())
	}
	// Output:
	// Int32 7 <nil>
	// EOF 0
	// Bool true <nil>
	// EOF 34
}

// The tokens of a value, and how many values it consists of: keys and elements, but no names.
func ExampleDecoder_Tokens() {
	e := gdwire.NewEncoder(nil, nil)
	e.ResetBytes(nil)
	_ = e.BeginDict(1)
	_ = e.WriteString("path")
	_ = e.WriteNodePath("/root/Player")
	_ = e.End()
	d := gdwire.NewDecoder(nil, nil)
	d.ResetBytes(e.Bytes())
	values := 0
	for t, err := range d.Tokens() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t)
		if t.IsValue() {
			values++
		}
	}
	fmt.Println("values:", values)
	// Output:
	// DictStart 1
	// DictKey
	// StringChunk String "path"
	// NodePathStart 2:0 absolute
	// StringChunk NodePath "root"
	// StringChunk NodePath "Player"
	// End
	// End
	// values: 3
}

// ReadToken reads numbers of either width, and returns io.EOF after the last value.
func ExampleDecoder_ReadToken() {
	e := gdwire.NewEncoder(nil, nil)
	e.ResetBytes(nil)
	_ = e.WriteInt(5)
	_ = e.WriteInt(1 << 40)
	d := gdwire.NewDecoder(nil, nil)
	d.ResetBytes(e.Bytes())
	for {
		t, err := d.ReadToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t.Kind(), t.Int(), t.Width())
	}
	// Output:
	// Int32 5 32
	// Int64 1099511627776 64
}
