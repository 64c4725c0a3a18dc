package calls

import (
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// A caller calls a Go function with arguments from a packet.
type caller struct {
	function   reflect.Value
	arguments  reflect.Type // a struct with a field for each parameter but the *Peer
	parameters []readFunc   // of the fields
}

// A readFunc reads the next value into the variable that to points to. After ErrType and
// ErrRange, nothing is consumed.
type readFunc func(d *gdwire.Decoder, to any) error

// quick has the types of most arguments. Reading these takes a tenth of the instructions of
// variant.UnmarshalDecode, which is called for all other types, and for a value of another
// type, such as an int for a Vector2.
var quick = map[reflect.Type]readFunc{
	reflect.TypeFor[bool]():            typed((*gdwire.Decoder).ReadBool),
	reflect.TypeFor[int]():             typed(gdwire.ReadInteger[int]),
	reflect.TypeFor[int64]():           typed((*gdwire.Decoder).ReadInt),
	reflect.TypeFor[float64]():         typed((*gdwire.Decoder).ReadFloat),
	reflect.TypeFor[variant.Vector2](): typed(readVector2),
	reflect.TypeFor[variant.Vector3](): typed(readVector3),
}

func typed[T any](read func(*gdwire.Decoder) (T, error)) readFunc {
	return func(d *gdwire.Decoder, to any) (err error) {
		*to.(*T), err = read(d)
		return err
	}
}

func readVector2(d *gdwire.Decoder) (variant.Vector2, error) {
	var c [2]float64
	err := d.ReadReals(gdwire.TypeVector2, c[:])
	return variant.Vector2{X: c[0], Y: c[1]}, err
}

func readVector3(d *gdwire.Decoder) (variant.Vector3, error) {
	var c [3]float64
	err := d.ReadReals(gdwire.TypeVector3, c[:])
	return variant.Vector3{X: c[0], Y: c[1], Z: c[2]}, err
}

// newCaller returns the caller of f, or panics if f cannot be called.
func newCaller(path, method string, f any) *caller {
	fail := func(format string, args ...any) {
		panic(fmt.Sprintf("calls: %s.%s: %s", path, method, fmt.Sprintf(format, args...)))
	}
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		fail("%T is not a function", f)
	}
	t := v.Type()
	switch {
	case t.NumIn() == 0 || t.In(0) != reflect.TypeFor[*Peer]():
		fail("the first parameter of %v is not a *Peer", t)
	case t.IsVariadic():
		fail("%v is variadic", t)
	case t.NumOut() != 1 || t.Out(0) != reflect.TypeFor[error]():
		fail("%v does not return an error", t)
	}
	c := &caller{function: v}
	var fields []reflect.StructField
	for i := 1; i < t.NumIn(); i++ {
		in := t.In(i)
		if err := variant.Unmarshal(null, reflect.New(in).Interface()); err != nil {
			fail("parameter %d: %v", i, err)
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("A%d", i), Type: in})
		c.parameters = append(c.parameters, quick[in])
	}
	c.arguments = reflect.StructOf(fields)
	return c
}

var null = make([]byte, 4) // an encoded nil

// decode reads an Array of the arguments. They are allocated together, and their memory is
// the function's to keep. All arguments together use at most maxMemory.
func (c *caller) decode(d *gdwire.Decoder) (reflect.Value, error) {
	n, err := d.ReadArray()
	if err != nil {
		return reflect.Value{}, err
	}
	if n != len(c.parameters) {
		return reflect.Value{}, d.WrapError(fmt.Errorf("%d arguments: %w", n, errArguments))
	}
	arguments := reflect.New(c.arguments).Elem()
	o := variant.Options{MaxMemory: maxMemory / int64(max(n, 1))}
	for i, read := range c.parameters {
		to := arguments.Field(i).Addr().Interface()
		if read != nil && read(d, to) == nil {
			continue
		}
		if err := variant.UnmarshalDecode(d, to, o); err != nil {
			return reflect.Value{}, err
		}
	}
	return arguments, d.ReadEnd()
}

// call calls the function for p.
func (c *caller) call(p *Peer, arguments reflect.Value) error {
	var in [8]reflect.Value
	all := append(in[:0], reflect.ValueOf(p))
	for i := range c.parameters {
		all = append(all, arguments.Field(i))
	}
	err, _ := c.function.Call(all)[0].Interface().(error)
	return err
}
