package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/reals"
	"github.com/gdwire/gdwire/internal/text"
)

// An oldValue is a value in the input. Its text may be cut, and a container is stored without
// content.
type oldValue struct {
	text.Value
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
	o := oldValue{Value: text.FromToken(t, nil), count: t.Len()}
	var content []byte
	add := func(b []byte) {
		o.cut = o.cut || len(content)+len(b) > n
		content = append(content, b[:min(len(b), n-len(content))]...)
	}
	switch t.Kind() {
	case gdwire.KindStringChunk:
		add([]byte(o.Text))
		for ; err == nil && !t.Last(); add(t.Bytes()) {
			t, err = d.ReadToken()
		}
		o.Text = string(content)
	case gdwire.KindNodePathStart:
		r := text.NewNodePathReader(d, t)
		for err == nil && t.Kind() != gdwire.KindEnd {
			var separator string
			separator, t, err = r.Next()
			add([]byte(separator))
			add(t.Bytes())
		}
		o.Text = string(content)
	case gdwire.KindPackedStart, gdwire.KindImageStart:
		if o.Type != gdwire.TypePackedByteArray && o.Type != gdwire.TypeImage {
			break
		}
		for err == nil && t.Kind() != gdwire.KindEnd {
			if t, err = d.ReadToken(); t.Kind() == gdwire.KindChunk {
				add(t.Bytes())
			}
		}
		o.Text = string(content)
	}
	return o, cmp.Or(err, d.SkipTo(depth))
}

// String describes the value.
func (o *oldValue) String() string {
	switch {
	case o.Form == text.Declared && o.Type == gdwire.TypeObject:
		return o.Value.String()
	case o.Form == text.Declared:
		return fmt.Sprintf("%v of %d", o.Type, o.count)
	case o.cut || len(o.Text) > maxShown:
		v := o.Value
		v.Text = v.Text[:min(len(v.Text), maxShown)]
		return v.String() + "…"
	}
	return o.Value.String()
}

// is reports whether v is the same value.
func (o *oldValue) is(v *operand) bool {
	return !o.cut && !v.cut && o.Form != text.Declared && v.Form != text.Declared && v.Items == nil && o.Value.String() == v.Value.String()
}

// encode returns the bytes of a value.
func (e *editor) encode(v *text.Value) ([]byte, error) {
	if !e.content.Decoder.AllowObjects && hasObjects(v) {
		return nil, gdwire.ErrObject
	}
	if err := checkPairs(v); err != nil {
		return nil, err
	}
	double := e.content.Encoder.DoubleReals
	if hasReals(v) {
		var err error
		if double, err = e.isDouble(); err != nil {
			return nil, err
		}
	}
	return e.write(func(enc *gdwire.Encoder) error { return v.Write(enc, double) }, double)
}

// write returns the bytes that a function writes.
func (e *editor) write(f func(*gdwire.Encoder) error, double bool) ([]byte, error) {
	var b bytes.Buffer
	o := e.content.Encoder
	o.DoubleReals = double
	enc := gdwire.NewEncoder(&b, &o)
	if err := cmp.Or(f(enc), enc.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// isDouble reports whether real components are written with 64 bits: as others in the packet, or in
// the content before all edits, or else as the options say.
func (e *editor) isDouble() (bool, error) {
	if e.width == nil {
		w, err := e.content.RealsOf(e.packet)
		if err != nil {
			return false, err
		}
		if w == reals.Unknown {
			w = e.content.OtherReals()
		}
		e.width = &w
	}
	return *e.width == reals.Double, nil
}

// hasReals reports whether v contains a math type or packed array whose width is that of the engine.
func hasReals(v *text.Value) bool {
	return reals.Differ(v.Type) || slices.ContainsFunc(v.Items, func(v text.Value) bool { return hasReals(&v) })
}

// hasObjects reports whether v contains a serialized object.
func hasObjects(v *text.Value) bool {
	return v.Type == gdwire.TypeObject && (v.Form != text.Whole || v.Items != nil) ||
		slices.ContainsFunc(v.Items, func(v text.Value) bool { return hasObjects(&v) })
}

// encodePart returns the bytes of v that replace a part, and v as a value of the part's type.
func (e *editor) encodePart(p *text.Node, part *text.Part, v text.Value) ([]byte, text.Value, error) {
	want := part.Value.Type
	fit, ok := v.Fit(want)
	if !ok || fit.Form != text.Whole || v.Exact && v.Type != want {
		return nil, v, fmt.Errorf("%v is in a %v: %v is not of type %v", p, part.In, &v, want)
	}
	var b []byte
	var err error
	if want == gdwire.TypeString {
		b, err = e.write(func(enc *gdwire.Encoder) error {
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
