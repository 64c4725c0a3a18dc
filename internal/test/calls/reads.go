// Package calls lists every call on a Decoder and an Encoder, for the tests of other packages. Its own tests make random
// sequences of them.
package calls

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/values/tagged"
)

// A Read is a call on a Decoder. It writes its results into the transcript of a Caller and returns its error. After
// temporary errors it is retried.
type Read struct {
	name   string
	window bool // the result depends on the size of the read buffer
	call   func(c *Caller) error

	// A bulk read after the call can return the rest of a payload. After all others, it begins with the next value, or is
	// an error.
	continues bool

	// Of a typed read: the kinds of the values that it reads, and how to read one. It returns
	// errUnread if another call has to. All values but those of these kinds are of a wrong type.
	fits  []gdwire.Kind
	value func(d *gdwire.Decoder) (tagged.Value, error)
}

// Run makes the call.
func (op *Read) Run(c *Caller) error {
	if op.call != nil {
		return op.call(c)
	}
	var v tagged.Value
	read, retry := false, c.retry
	if op.fits[0] == gdwire.KindStringChunk || op.fits[0] == gdwire.KindNodePathStart { // lost if a temporary error interrupts the call inside it
		retry = c.retrySkip
	}
	err := retry(func() (err error) {
		v, err = op.value(c.d)
		read = err == nil
		return err
	})
	if err == nil {
		c.Result = v.Text
		c.trace = fmt.Append(c.trace, v.Bits, v.Text)
		c.lost = c.lost || !read
	}
	return err
}

// Function returns the name of the exported function that is called, or "".
func (op *Read) Function() string {
	name, _, _ := strings.Cut(op.name, " ")
	switch name {
	case "ReadPacked", "AppendPacked", "ReadComponents", "ReadInteger", "CopyValue":
		return "gdwire." + name
	case "the", "7", "100", "all":
		return "gdwire.Decoder.Payload"
	}
	if name, _, _ = strings.Cut(name, "("); strings.HasPrefix(name, "export.") {
		return ""
	}
	return "gdwire.Decoder." + name
}

// Fits reports whether the call is a typed read of values of a kind.
func (op *Read) Fits(k gdwire.Kind) bool { return slices.Contains(op.fits, k) }

// errUnread is the result of a typed read that has read nothing.
var errUnread = errors.New("nothing read")

var (
	textKinds   = []gdwire.Kind{gdwire.KindStringChunk}
	pathKinds   = []gdwire.Kind{gdwire.KindNodePathStart}
	numberKinds = []gdwire.Kind{gdwire.KindInt32, gdwire.KindInt64, gdwire.KindFloat32, gdwire.KindFloat64}
	packedKinds = []gdwire.Kind{gdwire.KindPackedStart}
	arrayKinds  = []gdwire.Kind{gdwire.KindArrayStart}
	dictKinds   = []gdwire.Kind{gdwire.KindDictStart}
)

// bitsRead returns a call that reads a number, as bits of a type.
func bitsRead[T any](typ string, read func(d *gdwire.Decoder) (T, error), bits func(T) uint64) func(d *gdwire.Decoder) (tagged.Value, error) {
	return func(d *gdwire.Decoder) (tagged.Value, error) {
		x, err := read(d)
		return tagged.Value{Type: typ, Bits: bits(x)}, err
	}
}

// textRead returns a call that reads a text.
func textRead[T string | []byte](read func(d *gdwire.Decoder) (T, error)) func(d *gdwire.Decoder) (tagged.Value, error) {
	return func(d *gdwire.Decoder) (tagged.Value, error) {
		text, err := read(d)
		return tagged.Value{Text: string(text)}, err
	}
}

// mathRead returns a call that reads the components of the next value.
func mathRead[T gdwire.Component](bits func(T) uint64) func(d *gdwire.Decoder) (tagged.Value, error) {
	return func(d *gdwire.Decoder) (tagged.Value, error) {
		typ := gdwire.Type(d.PeekKind())
		n, _ := typ.Components()
		components := make([]T, n)
		err := gdwire.ReadComponents(d, typ, components)
		return tagged.Value{Numbers: tagged.AsNumbers(components, bits)}, err
	}
}

// noneRead returns a call that reads a value without content.
func noneRead(read func(d *gdwire.Decoder) error) func(d *gdwire.Decoder) (tagged.Value, error) {
	return func(d *gdwire.Decoder) (tagged.Value, error) { return tagged.Value{}, read(d) }
}

// mathKinds returns the kinds of math types.
func mathKinds(integers bool) (all []gdwire.Kind) {
	for _, typ := range gdwire.Types() {
		if n, ints := typ.Components(); n > 0 && ints == integers {
			all = append(all, gdwire.Kind(typ))
		}
	}
	return all
}

func same[T uint64 | uint8 | int64](x T) uint64 { return uint64(x) }

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// export contains the calls of package gdwire for this module.
var export = gdwire.Internal.Export(&internal.AllowInternalUse)

// Reads contains every call that reads. A new one is a line here.
var Reads []Read

func init() {
	Reads = []Read{
		{name: "ReadToken", continues: true, window: true, call: func(c *Caller) (err error) {
			c.token = gdwire.Token{}
			err = c.retry(func() error { c.token, err = c.d.ReadToken(); return err })
			if err == nil {
				c.payload = nil
				c.tokenBytes = append(c.tokenBytes[:0], c.token.Bytes()...)
				c.trace = fuzz.AppendToken(c.trace, c.token)
			}
			return err
		}},
		{name: "the bytes of an earlier token", continues: true, window: true, call: func(c *Caller) error {
			c.useToken()
			return nil
		}},
		{name: "PeekKind", call: func(c *Caller) error {
			var k gdwire.Kind
			err := c.retry(func() error {
				if k = c.d.PeekKind(); k != 0 {
					return nil
				}
				_, err := c.d.ReadToken()
				if err == nil {
					c.t.Fatal("PeekKind returned 0 before a token")
				}
				return err
			})
			c.trace = append(c.trace, byte(k))
			return err
		}},
		{name: "SkipValue", call: func(c *Caller) error { return c.retrySkip(c.d.SkipValue) }},
		{name: "SkipTo(0)", call: func(c *Caller) error { return c.retry(func() error { return c.d.SkipTo(0) }) }},
		{name: "SkipTo(depth-1)", call: func(c *Caller) error {
			depth := c.d.Depth() - 1
			return c.retry(func() error { return c.d.SkipTo(depth) })
		}},
		{name: "CopyValue", window: true, call: func(c *Caller) error {
			c.out.Reset()
			c.e.Reset(&c.out)
			err := c.retrySkip(func() error {
				if errors.Is(c.e.Err(), fuzz.ErrTemporary) { // inside a string or packed data
					return c.d.SkipValue()
				}
				return gdwire.CopyValue(c.e, c.d)
			})
			if e := c.e.Err(); errors.Is(e, fuzz.ErrTemporary) {
				c.lost = true
			} else if e != nil {
				c.moved = true // it is the Encoder's error
				c.e.ClearError()
			}
			c.retry(c.e.Flush)
			c.trace = append(c.trace, c.out.Bytes()...)
			return err
		}},
		{name: "Tokens", continues: true, window: true, call: func(c *Caller) error { return loop(c, c.d.Tokens()) }},
		{name: "Payload", continues: true, window: true, call: func(c *Caller) error {
			c.payload, c.payloadAt = c.d.Payload(), c.calls
			return nil
		}},
		{name: "7 bytes of the payload", continues: true, window: true, call: func(c *Caller) error { return c.readPayload(7) }},
		{name: "100 bytes of the payload", continues: true, window: true, call: func(c *Caller) error { return c.readPayload(100) }},
		{name: "all bytes of a new payload", continues: true, window: true, call: func(c *Caller) error {
			c.payload, c.payloadAt = c.d.Payload(), c.calls
			c.out.Reset()
			err := c.retry(func() error { _, err := c.payload.(io.WriterTo).WriteTo(&c.out); return err })
			c.trace = append(c.trace, c.out.Bytes()...)
			return err
		}},
		{name: "ReadPacked of float32", continues: true, window: true, call: func(c *Caller) error { return readPacked[float32](c) }},
		{name: "ReadPacked of byte", continues: true, window: true, call: func(c *Caller) error { return readPacked[byte](c) }},
		{name: "ReadPacked of [3]float64", continues: true, window: true, call: func(c *Caller) error { return readPacked[[3]float64](c) }},
		{name: "AppendPacked of int64", continues: true, call: func(c *Caller) error { return appendPacked[int64](c) }},
		{name: "AppendPacked of byte", continues: true, fits: packedKinds, call: func(c *Caller) error { return appendPacked[byte](c) }},
		{name: "AppendPacked of float64", continues: true, call: func(c *Caller) error { return appendPacked[float64](c) }},
		{name: "AppendPacked of [2]float32", continues: true, call: func(c *Caller) error { return appendPacked[[2]float32](c) }},
		{name: "AppendString", continues: true, fits: []gdwire.Kind{gdwire.KindStringChunk, gdwire.KindNodePathStart}, value: textRead(func(d *gdwire.Decoder) ([]byte, error) { return d.AppendString(nil) }), call: func(c *Caller) error {
			var dst []byte
			err := c.retry(func() (err error) { dst, err = c.d.AppendString(dst); return err })
			c.Result = dst
			if err == nil || !c.anyWindow {
				c.trace = append(c.trace, dst...)
			}
			return err
		}},
		{name: "WrapError", continues: true, call: func(c *Caller) error { return c.d.WrapError(errOwn) }},
		{name: "PeekType", call: func(c *Caller) error { return read(c, c.d.PeekType) }},
		{name: "ReadNil", fits: []gdwire.Kind{gdwire.KindNil}, value: noneRead((*gdwire.Decoder).ReadNil)},
		{name: "ReadBool", fits: []gdwire.Kind{gdwire.KindBool}, value: bitsRead("bool", (*gdwire.Decoder).ReadBool, bit)},
		{name: "ReadInt", fits: numberKinds, value: bitsRead("int", (*gdwire.Decoder).ReadInt, same)},
		{name: "ReadFloat", fits: numberKinds, value: bitsRead("float", (*gdwire.Decoder).ReadFloat, math.Float64bits)},
		{name: "ReadFloat32", call: func(c *Caller) error { return read(c, c.d.ReadFloat32) }},
		{name: "ReadInteger of uint8", fits: numberKinds, value: bitsRead("int", gdwire.ReadInteger[uint8], same)},
		{name: "ReadString", fits: textKinds, value: textRead((*gdwire.Decoder).ReadString)},
		{name: "ReadKey or ReadString", fits: textKinds, value: textRead(func(d *gdwire.Decoder) (string, error) {
			for text, key := range decoderKeys {
				if export.ReadKey(d, &key) {
					return text, nil
				}
			}
			return d.ReadString()
		})},
		{name: "ReadText", window: true, fits: textKinds, value: textRead(func(d *gdwire.Decoder) (string, error) {
			text, ok, err := export.ReadText(d)
			if err == bufio.ErrBufferFull || err == nil && !ok {
				err = errUnread
			}
			return string(text), err
		}), call: func(c *Caller) error {
			return c.retry(func() error {
				text, ok, err := export.ReadText(c.d)
				if err == bufio.ErrBufferFull { // it consumed nothing, as for a value that is no text
					err = nil
				}
				if err == nil {
					c.trace = fmt.Append(c.trace, ok, string(text))
				}
				return err
			})
		}},
		{name: "export.ReadPackedString or ReadString", fits: textKinds, value: textRead(func(d *gdwire.Decoder) (string, error) {
			if text := export.ReadPackedString(d); text != nil {
				return string(text), nil
			}
			return d.ReadString()
		})},
		{name: "ReadNodePath", fits: pathKinds, value: textRead((*gdwire.Decoder).ReadNodePath)},
		{name: "export.ReadNodePath or ReadNodePath", fits: pathKinds, value: textRead(func(d *gdwire.Decoder) (string, error) {
			if text := export.ReadNodePath(d, new(internal.NodePathText)); text != nil {
				return string(text), nil
			}
			return d.ReadNodePath()
		})},
		{name: "ReadObjectID", fits: []gdwire.Kind{gdwire.KindObjectID}, value: bitsRead("ObjectID", (*gdwire.Decoder).ReadObjectID, same)},
		{name: "ReadRID", fits: []gdwire.Kind{gdwire.KindRID}, value: bitsRead("RID", (*gdwire.Decoder).ReadRID, same)},
		{name: "ReadCallable", fits: []gdwire.Kind{gdwire.KindCallable}, value: noneRead((*gdwire.Decoder).ReadCallable)},
		{name: "ReadSignal", fits: []gdwire.Kind{gdwire.KindSignal}, value: func(d *gdwire.Decoder) (v tagged.Value, err error) {
			v.Text, v.Bits, err = d.ReadSignal()
			return v, err
		}},
		{name: "ReadComponents of float64", fits: mathKinds(false), value: mathRead(math.Float64bits), call: func(c *Caller) error {
			return readComponents(c, gdwire.ReadComponents[float64])
		}},
		{name: "ReadComponents of float32", call: func(c *Caller) error { return readComponents(c, gdwire.ReadComponents[float32]) }},
		{name: "export.ReadFloats or ReadComponents", call: func(c *Caller) error {
			return readComponents(c, func(d *gdwire.Decoder, typ gdwire.Type, v []float32) error {
				if export.ReadFloats(d, typ, v) {
					return nil
				}
				return gdwire.ReadComponents(d, typ, v)
			})
		}},
		{name: "ReadComponents of int32", fits: mathKinds(true), value: mathRead(func(x int32) uint64 { return uint64(x) }), call: func(c *Caller) error {
			var v [2]int32
			return read(c, func() ([2]int32, error) { return v, gdwire.ReadComponents(c.d, gdwire.TypeVector2i, v[:]) })
		}},
		{name: "ReadArray", fits: arrayKinds, call: func(c *Caller) error { return read(c, c.d.ReadArray) }},
		{name: "ReadDict", fits: dictKinds, call: func(c *Caller) error { return read(c, c.d.ReadDict) }},
		{name: "export.StartStrings or ReadToken", call: func(c *Caller) error {
			return read(c, func() (int, error) {
				if n, ok := export.StartStrings(c.d); ok {
					return n, nil
				}
				if typ, err := c.d.PeekType(); err != nil || typ != gdwire.TypePackedStringArray {
					return 0, err
				}
				t, err := c.d.ReadToken()
				if err == nil && t.Kind() == gdwire.KindDictKey {
					t, err = c.d.ReadToken()
				}
				return int(t.Len()), err
			})
		}},
		{name: "ReadEnd", call: func(c *Caller) error { return c.retry(c.d.ReadEnd) }},
		{name: "Fields", fits: dictKinds, call: func(c *Caller) error { return loop(c, c.d.Fields()) }},
		{name: "Elements", fits: []gdwire.Kind{gdwire.KindArrayStart, gdwire.KindPackedStart}, call: func(c *Caller) error { return loop(c, c.d.Elements()) }},
		{name: "Pairs", fits: dictKinds, call: func(c *Caller) error { return loop(c, c.d.Pairs()) }},
		{name: "Elements by iter.Pull", call: func(c *Caller) error { return loop(c, pulled(c.d.Elements())) }},
		{name: "Pairs by iter.Pull", call: func(c *Caller) error { return loop(c, pulled(c.d.Pairs())) }},
		{name: "Elements that panic", call: func(c *Caller) error { return loop(c, panicking(c.d.Elements())) }},
		{name: "Pairs that panic", call: func(c *Caller) error { return loop(c, panicking(c.d.Pairs())) }},
		{name: "Reset", call: func(c *Caller) error { c.reset(); return nil }},
		{name: "Release", call: func(c *Caller) error {
			c.forget()
			c.d.Release()
			if c.byte()%4 > 0 { // otherwise the next calls return ErrClosed
				c.start(c.d)
			}
			return nil
		}},
	}
}

// A Caller makes the calls that a script chooses and records their results.
type Caller struct {
	Result any // of the latest call without an error: what it returned or filled

	t       testing.TB
	d       *gdwire.Decoder
	start   func(d *gdwire.Decoder) // resets d to the input
	script  []byte
	trace   []byte
	places  []byte   // the trace without what the calls returned
	errs    []byte   // Err and LastError after each call
	failing bool     // the Reader returns temporary errors
	lost    bool     // an error of the Reader interrupted a call that does not continue
	log     []string // the names of the calls

	token      gdwire.Token // the latest
	tokenBytes []byte       // a copy of its Bytes
	payload    io.Reader
	payloadAt  int // the number of calls before the payload was taken

	continues bool // the latest call allows that a bulk read continues a payload
	restarts  int  // the number of calls of Reset and Release
	anyWindow bool // make no call whose result depends on the read buffer
	failed    bool // an error that stays was found after some chunks, or none, by the read buffer
	calls     int  // the number of calls that have read
	loops     int  // the number of loops so far
	depth     int  // the number of nested loops
	offset    int64
	moved     bool // the error of the latest call can be in an earlier value

	e   *gdwire.Encoder
	out bytes.Buffer
}

// NewCaller returns a Caller for calls on d, whose arguments are bytes of the script.
func NewCaller(t testing.TB, d *gdwire.Decoder, script ...byte) *Caller {
	return &Caller{t: t, d: d, e: gdwire.NewEncoder(nil, &gdwire.EncoderOptions{Format: d.Options().Format, Depth: -1}), script: script}
}

func (c *Caller) byte() byte {
	if len(c.script) == 0 {
		return 0
	}
	b := c.script[0]
	c.script = c.script[1:]
	return b
}

// retry makes a call again as long as the Reader's errors are temporary.
func (c *Caller) retry(call func() error) error {
	for range 1 << 16 {
		err := call()
		if err != fuzz.ErrTemporary {
			return err
		}
		c.failing = true
	}
	c.t.Fatal("a call that never ends")
	return nil
}

// retrySkip makes a call that skips or reads a whole value. If a temporary error interrupts it
// inside the value, it skips the rest of that.
func (c *Caller) retrySkip(call func() error) error {
	depth := c.d.Depth()
	return c.retry(func() error {
		if c.d.Depth() > depth {
			return c.d.SkipTo(depth)
		}
		return call()
	})
}

func (c *Caller) reset() {
	c.forget()
	c.start(c.d)
}

// forget drops what is known of the input before Reset or Release.
func (c *Caller) forget() {
	c.offset, c.failed, c.continues = 0, false, false
	c.restarts++
	c.moved = true
	c.payload, c.token = nil, gdwire.Token{}
}

// errOwn is an error of the program.
var errOwn = errors.New("own error")

// pulled is a loop that is not entered as a function: calls can come between its iterations, and after the end of a loop
// around it.
func pulled[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		next, stop := iter.Pull2(seq)
		defer stop()
		for x, err, ok := next(); ok && yield(x, err); {
			x, err, ok = next()
		}
	}
}

// panicking is a loop that is left by a panic.
func panicking[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		defer func() {
			if r := recover(); r != nil && r != errOwn {
				panic(r)
			}
		}()
		for x, err := range seq {
			if !yield(x, err) {
				panic(errOwn)
			}
		}
	}
}

// loop makes some calls in each iteration of a loop over tokens, keys or indices.
func loop[T any](c *Caller, seq iter.Seq2[T, error]) (err error) {
	c.loops++
	for x, e := range seq {
		if err != nil {
			c.t.Fatalf("a loop goes on after %v", err)
		}
		if err = e; err != nil {
			continue
		}
		key, isKey := any(x).([]byte)
		was := string(key)
		c.continues = !isKey
		switch x := any(x).(type) {
		case gdwire.Token:
			c.trace = fuzz.AppendToken(c.trace, x)
		case int:
			c.trace = append(c.trace, byte(x))
		}
		c.trace = append(c.trace, key...)
		left := c.body()
		if string(key) != was {
			c.t.Fatalf("the key %q became %q in the loop's body", was, key)
		}
		if left {
			break
		}
	}
	c.moved = true
	return err
}

// body makes some calls inside a loop and reports whether to leave it.
func (c *Caller) body() (leave bool) {
	c.depth++
	for range c.byte() % 4 {
		if c.depth > 3 {
			break
		}
		c.next()
	}
	c.depth--
	return c.byte()%8 == 7
}

// useToken reads the bytes of the latest token. They are unchanged, or Bytes
// panics because the token is stale.
func (c *Caller) useToken() {
	defer func() {
		if r := recover(); r != nil && !strings.HasPrefix(fmt.Sprint(r), "gdwire: token used after the next call") {
			panic(r)
		}
	}()
	if b := c.token.Bytes(); len(b) > 0 && !bytes.Equal(b, c.tokenBytes) {
		c.t.Fatalf("the bytes %x of a token became %x", c.tokenBytes, b)
	}
}

// readPayload reads from the latest Payload, which can be stale.
func (c *Caller) readPayload(n int) error {
	if c.payload == nil {
		return nil
	}
	buf := make([]byte, n)
	done := 0
	err := c.retry(func() error {
		n, err := io.ReadFull(c.payload, buf[done:])
		if done += n; err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		return err
	})
	if c.payloadAt != c.calls {
		if done > 0 || err == nil {
			c.t.Fatalf("%d bytes of a payload that is over, and %v", done, err)
		}
	}
	c.trace = append(c.trace, buf[:done]...)
	return err
}

func read[T any](c *Caller, call func() (T, error)) error {
	var v T
	err := c.retry(func() (err error) { v, err = call(); return err })
	if c.Result = v; err == nil {
		c.trace = fmt.Append(c.trace, v)
	}
	return err
}

func readComponents[T gdwire.Component](c *Caller, call func(*gdwire.Decoder, gdwire.Type, []T) error) error {
	typ, v := gdwire.Type(c.byte()), make([]T, c.byte()%17)
	return read(c, func() ([]T, error) { return v, call(c.d, typ, v) })
}

func readPacked[T gdwire.Packable](c *Caller) error {
	dst := make([]T, c.byte()%9)
	n := 0
	err := c.retry(func() error {
		k, err := gdwire.ReadPacked(c.d, dst[n:])
		n += k
		return err
	})
	c.Result = dst[:n]
	c.trace = fmt.Append(c.trace, dst[:n])
	return err
}

func appendPacked[T gdwire.Packable](c *Caller) error {
	var dst []T
	err := c.retry(func() (err error) { dst, err = gdwire.AppendPacked(c.d, dst); return err })
	c.Result = dst
	if err == nil || !c.anyWindow {
		c.trace = fmt.Append(c.trace, dst)
	}
	return err
}

// next makes the next call of the script and checks the properties that hold after
// every call.
func (c *Caller) next() {
	b := c.byte()
	op := &Reads[int(b)%len(Reads)]
	if b >= 200 || c.anyWindow && op.window { // mostly go forward
		op = &Reads[0]
		if c.anyWindow {
			op = c.wholeToken()
		}
	}
	c.log = append(c.log, op.name)
	offset, depth, moved := c.d.InputOffset(), c.d.Depth(), c.moved
	calls, mayContinue, restarts := c.calls, c.continues, c.restarts
	switch op.name {
	case "the bytes of an earlier token":
	case "Payload", "7 bytes of the payload", "100 bytes of the payload": // read nothing but that
	case "all bytes of a new payload":
		c.calls++
	default:
		c.calls++
		c.moved = c.moved && op.name == "WrapError" // which reads nothing
	}
	err := op.Run(c)
	after := c.d.InputOffset()
	if c.restarts == restarts { // a loop whose body starts anew leaves the Decoder where the body did
		c.continues = op.continues
	}
	if bulk := strings.HasPrefix(op.name, "Append") || strings.HasPrefix(op.name, "ReadPacked"); bulk && err == nil && !mayContinue && after == offset {
		c.t.Fatalf("%s returned a payload that an earlier call had read", op.name)
	}
	if err != nil && after == offset && c.d.Depth() == depth && c.calls == calls+1 {
		c.calls = calls // it consumed nothing: a payload may be read on
	}
	if c.payloadAt == calls && (strings.HasPrefix(op.name, "ReadPacked") || strings.HasPrefix(op.name, "Append")) {
		c.payloadAt = c.calls // it may have read a part of the payload
	}
	if after < c.offset {
		c.t.Fatalf("%s moved from offset %d back to %d", op.name, c.offset, after)
	}
	c.offset = after
	c.note(op.name, err)
	if err != nil && !moved && !c.moved {
		c.checkError(op.name, err, after == offset && c.d.Depth() == depth)
	}
}

// wholeToken chooses a call that reads the next token in one piece, however small
// the read buffer is.
func (c *Caller) wholeToken() *Read {
	name := "ReadToken"
	switch c.retryKind() {
	case gdwire.KindStringChunk:
		name = "AppendString"
	case gdwire.KindChunk:
		name = "SkipTo(depth-1)"
	}
	for i := range Reads {
		if Reads[i].name == name {
			return &Reads[i]
		}
	}
	panic(name)
}

func (c *Caller) retryKind() (k gdwire.Kind) {
	c.retry(func() error {
		if k = c.d.PeekKind(); k != 0 {
			return nil
		}
		_, err := c.d.ReadToken()
		return err
	})
	return k
}

// note writes the position of the Decoder after a call into the transcript.
func (c *Caller) note(name string, err error) {
	text := fmt.Sprint(err)
	if e := (*gdwire.Error)(nil); c.anyWindow && errors.As(err, &e) {
		text = fmt.Sprint(e.Path, e.Err) // the latest chunk, and so the offset, may differ
		if c.failed && err != c.d.Err() {
			text = e.Err.Error() // and so its path, after a text that a chunk has begun
		}
	}
	c.trace = fmt.Appendf(c.trace, " %s %v ", name, text)
	if e := (*gdwire.Error)(nil); errors.As(err, &e) {
		text = e.Err.Error() // after a lost call, the latest token is another
	}
	c.places = fmt.Appendf(c.places, " %s %v ", name, text)
	start := len(c.trace)
	path := c.d.AppendPath(nil)
	if !utf8.Valid(path) {
		c.t.Fatalf("after %s the path is %q", name, path)
	}
	if e := (*gdwire.Error)(nil); errors.As(err, &e) && !errors.Is(err, gdwire.ErrType) && !errors.Is(err, gdwire.ErrRange) && !errors.Is(err, gdwire.ErrCount) {
		c.failed = true // a loop that is left after it returns no error of its own
	}
	if err == nil && !c.failed || !c.anyWindow {
		c.trace = fmt.Appendf(c.trace, "%d %d %s", c.d.InputOffset(), c.d.Depth(), path)
		for i := -1; i <= c.d.Depth()+1; i++ {
			kind, index, count := c.d.StackIndex(i)
			c.trace = fmt.Append(c.trace, kind, index, count)
			if open := 0 <= i && i <= c.d.Depth(); !open && (kind != 0 || index != -1 || count != -1) {
				c.t.Fatalf("after %s, StackIndex(%d) is %v, %d, %d at depth %d", name, i, kind, index, count, c.d.Depth())
			}
		}
	}
	c.noteErrors(name)
	c.trace = append(c.trace, '\n')
	c.places = append(c.places, c.trace[start:]...)
	if e := (*gdwire.Error)(nil); errors.As(err, &e) {
		if !utf8.ValidString(e.Path) || e.Offset < 0 {
			c.t.Fatalf("%s: the path of %q at %d", name, e.Path, e.Offset)
		}
	}
}

// noteErrors writes the errors that the Decoder remembers into the transcript.
func (c *Caller) noteErrors(name string) {
	last := export.LastError(c.d)
	if last == io.EOF {
		c.t.Fatalf("after %s, the end of the input is LastError", name)
	}
	c.errs = fmt.Appendf(c.errs, "%s: Err %v, LastError %v\n", name, c.d.Err(), last)
}

// checkError expects that an error stays, or that the call consumed nothing.
func (c *Caller) checkError(name string, err error, unmoved bool) {
	if unmoved || err == io.EOF && (strings.HasPrefix(name, "ReadPacked") || strings.HasSuffix(name, "payload")) {
		return // the end of the array or payload
	}
	if k := c.retryKind(); k != 0 {
		c.t.Fatalf("%s consumed something, returned %v, and %v is next", name, err, k)
	}
	again := c.retry(func() error { _, err := c.d.ReadToken(); return err })
	if err != io.EOF && fuzz.ErrorText(again) != fuzz.ErrorText(err) {
		c.t.Fatalf("%s returned %v, and then ReadToken %v", name, err, again)
	}
}

// decoderKeys are texts of the known packets.
var decoderKeys = func() map[string]internal.Key {
	all := map[string]internal.Key{}
	for _, text := range []string{"", "a", "key", "name", "path", "position", "velocity", "max_health", "inventory"} {
		all[text] = export.NewKey(text)
	}
	return all
}()

// plain hides every method of a Reader but Read.
func plain(b []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(b)} }
