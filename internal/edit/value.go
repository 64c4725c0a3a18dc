package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/paths"
)

// An oldValue is a value in the input. Its text may be cut, and a container is stored without
// content.
type oldValue struct {
	paths.Value
	count int64 // of elements
	cut   bool
}

// The number of bytes of an old text that are kept.
const (
	maxShown  = 200
	maxCopied = 1 << 20 // into a packed array or as a component
)

// read reads the next value of d. Its text is cut after n bytes, or more.
func read(d *gdwire.Decoder, n int) (oldValue, error) {
	n = max(n, maxShown)
	depth := d.Depth()
	t, err := d.ReadToken()
	if err != nil {
		return oldValue{}, err
	}
	o := oldValue{Value: paths.FromToken(t, nil), count: t.Len()}
	var text []byte
	add := func(b []byte) {
		o.cut = o.cut || len(text)+len(b) > n
		text = append(text, b[:min(len(b), n-len(text))]...)
	}
	switch t.Kind() {
	case gdwire.KindStringChunk:
		add([]byte(o.Text))
		for ; err == nil && !t.Last(); add(t.Bytes()) {
			t, err = d.ReadToken()
		}
		o.Text = string(text)
	case gdwire.KindNodePathStart:
		r := paths.NewNodePathReader(d, t)
		for err == nil && t.Kind() != gdwire.KindEnd {
			var separator string
			separator, t, err = r.Next()
			add([]byte(separator))
			add(t.Bytes())
		}
		o.Text = string(text)
	case gdwire.KindPackedStart, gdwire.KindImageStart:
		if o.Type != gdwire.TypePackedByteArray && o.Type != gdwire.TypeImage {
			break
		}
		for err == nil && t.Kind() != gdwire.KindEnd {
			if t, err = d.ReadToken(); t.Kind() == gdwire.KindChunk {
				add(t.Bytes())
			}
		}
		o.Text = string(text)
	}
	return o, cmp.Or(err, d.SkipTo(depth))
}

// String describes the value.
func (o *oldValue) String() string {
	switch {
	case o.Form == paths.Declared && o.Type == gdwire.TypeObject:
		return o.Value.String()
	case o.Form == paths.Declared:
		return fmt.Sprintf("%v of %d", o.Type, o.count)
	case o.cut || len(o.Text) > maxShown:
		v := o.Value
		v.Text = v.Text[:min(len(v.Text), maxShown)]
		return v.String() + "…"
	}
	return o.Value.String()
}

// is reports whether v is the same value.
func (o *oldValue) is(v *paths.Value) bool {
	return !o.cut && o.Form != paths.Declared && v.Items == nil && o.Value.String() == v.String()
}

// plain contains the types of values that can be written without their type, and the prefix that
// gives the type.
var plain = map[gdwire.Type]string{
	gdwire.TypeInt: "i:", gdwire.TypeFloat: "f:", gdwire.TypeString: "s:", gdwire.TypeBool: "b:",
}

// fit returns v as a value of the same type as o. It returns an error if the type differs only
// because v was written without a type.
func (o *oldValue) fit(p *paths.Node, v paths.Value, byRaw bool) (paths.Value, error) {
	if fit, ok := v.FitLike(&o.Value); ok {
		return fit, nil
	}
	prefix := plain[v.Type]
	if prefix == "" || o.Type == gdwire.TypeNil {
		return v, nil
	}
	text := v.String()
	if v.Type == gdwire.TypeString {
		text = v.Text
	}
	how := prefix + text
	if byRaw {
		how = "a variant.Raw"
	}
	return v, fmt.Errorf("%v is of type %v and not %v; %s sets another type", p, o.Type, v.Type, how)
}

// encode returns the bytes of a value.
func (e *editor) encode(v *paths.Value) ([]byte, error) {
	if !e.content.Decoder.AllowObjects && hasObjects(v) {
		return nil, gdwire.ErrObject
	}
	if err := checkPairs(v); err != nil {
		return nil, err
	}
	double, err := e.isDouble(v)
	if err != nil {
		return nil, err
	}
	return e.encoded(func(enc *gdwire.Encoder) error { return v.Write(enc, double) }, double)
}

// encoded returns the bytes that write writes.
func (e *editor) encoded(write func(*gdwire.Encoder) error, double bool) ([]byte, error) {
	var b bytes.Buffer
	o := e.content.Encoder
	o.DoubleReals = double
	enc := gdwire.NewEncoder(&b, &o)
	if err := cmp.Or(write(enc), enc.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// isDouble reports whether math types in v are written with 64 bits, as others in the packet.
func (e *editor) isDouble(v *paths.Value) (bool, error) {
	if !hasReals(v) {
		return e.content.Encoder.DoubleReals, nil
	}
	return e.packetIsDouble()
}

// packetIsDouble reports whether the packet contains math types of 64 bits. It reads the packet for
// that once.
func (e *editor) packetIsDouble() (bool, error) {
	if e.content.Encoder.DoubleReals {
		return true, nil
	}
	if e.double == nil {
		o := e.content.Decoder
		o.OneValue, o.AllowObjects = true, true
		d := gdwire.NewDecoder(nil, &o)
		defer d.Release()
		e.content.Place(d, e.packet)
		double, err := HasDoubleReals(d)
		if err != nil {
			return false, err
		}
		e.double = &double
	}
	return *e.double, nil
}

// hasReals reports whether v contains a math type or packed array with a width that differs
// between engines.
func hasReals(v *paths.Value) bool {
	n, integers := v.Type.Components()
	return n > 0 && !integers || v.Type.Element() > gdwire.TypeString ||
		slices.ContainsFunc(v.Items, func(v paths.Value) bool { return hasReals(&v) })
}

// hasObjects reports whether v contains a serialized object.
func hasObjects(v *paths.Value) bool {
	return v.Type == gdwire.TypeObject && (v.Form != paths.Whole || v.Items != nil) ||
		slices.ContainsFunc(v.Items, func(v paths.Value) bool { return hasObjects(&v) })
}

// HasDoubleReals reads the next value and reports whether it contains math types of 64 bits.
func HasDoubleReals(d *gdwire.Decoder) (double bool, err error) {
	for t, err := range d.Tokens() {
		if err != nil {
			return false, err
		}
		double = double || holdsDoubles(t)
	}
	return double, nil
}

// holdsDoubles reports whether a token holds components or elements that only engines with double
// precision write.
func holdsDoubles(t gdwire.Token) bool {
	if t.Width() != 64 {
		return false
	}
	n, _ := t.Type().Element().Components()
	return n > 0 || t.Components() > 0
}

// encodePart returns the bytes of v that replace a part, and v as a value of the part's type.
func (e *editor) encodePart(p *paths.Node, part *paths.Part, v paths.Value) ([]byte, paths.Value, error) {
	want := part.Value.Type
	fit, ok := v.Fit(want)
	if !ok || fit.Form != paths.Whole || v.Exact && v.Type != want {
		return nil, v, fmt.Errorf("%v is in a %v: %v is not of type %v", p, part.In, &v, want)
	}
	var b []byte
	var err error
	if want == gdwire.TypeString {
		b, err = e.encoded(func(enc *gdwire.Encoder) error {
			return firstError(func() error { return enc.BeginPacked(part.In, 1) },
				func() error { return enc.WriteString(fit.Text) }, enc.End)
		}, false)
		b = b[min(len(b), packedHeader):]
	} else {
		b, err = part.Append(nil, &fit)
	}
	if err != nil {
		return nil, v, fmt.Errorf("%v: %w", p, reason(err))
	}
	return b, fit, nil
}

// packedHeader is the size of the header and count of a packed array.
const packedHeader = 8
