package calls

import (
	"fmt"
	"reflect"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// A caller calls a Go function with arguments from a packet.
type caller struct {
	function  reflect.Value
	arguments reflect.Type // a struct with a field for each parameter but the *Peer
	fields    int
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
	var fields []reflect.StructField
	for i := 1; i < t.NumIn(); i++ {
		in := t.In(i)
		if err := variant.Unmarshal(null, reflect.New(in).Interface()); err != nil {
			fail("parameter %d: %v", i, err)
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("A%d", i), Type: in})
	}
	return &caller{v, reflect.StructOf(fields), len(fields)}
}

var null = make([]byte, 4) // an encoded nil

// decode reads an Array of the arguments. They are allocated together, and their memory is
// the function's to keep. All arguments together use at most maxMemory.
func (c *caller) decode(d *gdwire.Decoder) (reflect.Value, error) {
	n, err := d.ReadArray()
	if err != nil {
		return reflect.Value{}, err
	}
	if n != c.fields {
		return reflect.Value{}, d.WrapError(fmt.Errorf("%d arguments: %w", n, errArguments))
	}
	arguments := reflect.New(c.arguments).Elem()
	o := variant.Options{MaxMemory: maxMemory / int64(max(n, 1))}
	for i := range n {
		if err := variant.UnmarshalDecode(d, arguments.Field(i).Addr().Interface(), o); err != nil {
			return reflect.Value{}, err
		}
	}
	return arguments, d.ReadEnd()
}

// call calls the function for p.
func (c *caller) call(p *Peer, arguments reflect.Value) error {
	var in [8]reflect.Value
	all := append(in[:0], reflect.ValueOf(p))
	for i := range c.fields {
		all = append(all, arguments.Field(i))
	}
	err, _ := c.function.Call(all)[0].Interface().(error)
	return err
}
