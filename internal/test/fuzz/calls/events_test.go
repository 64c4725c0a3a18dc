package calls_test

import (
	"fmt"
	"io"
	"math"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/tagged"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
)

// A recorder records the events of calls on an Encoder. An event is a call or a token of a Decoder as
// text, without counts: the position of the end shows them.
type recorder struct {
	e      *gdwire.Encoder
	seed   fuzz.Seed
	keeps  bool // the events
	events []string
	open   []string // text, data, path, strings or container
	typ    gdwire.Type
	data   []byte // written so far into open text or data of that type
}

func newRecorder(w io.Writer, s fuzz.Seed) *recorder {
	return &recorder{seed: s, e: gdwire.NewEncoder(w, &gdwire.EncoderOptions{
		Format: s.Format(), DoubleReals: s.Has(fuzz.Double), AllowInvalidUTF8: s.Has(fuzz.AllowInvalidUTF8), Depth: 6, MaxBuffered: 1 << 10,
	})}
}

// took records an event if the call succeeded.
func (r *recorder) took(err error, format string, args ...any) error {
	if err == nil && r.keeps {
		r.events = append(r.events, fmt.Sprintf(format, args...))
	}
	return err
}

// tookText records a whole text.
func (r *recorder) tookText(err error, typ gdwire.Type, text string) error {
	return r.took(err, "%v %q", r.textType(typ), text)
}

// tookChunk records a token of text, which is the last chunk of an open text.
func (r *recorder) tookChunk(err error, typ gdwire.Type, text string) error {
	if r.inside() != "text" {
		return r.tookText(err, typ, text)
	}
	if err == nil {
		r.data = append(r.data, text...)
	}
	return r.ended(err)
}

// began records the start of a container, string or packed array.
func (r *recorder) began(err error, what string, typ gdwire.Type, format string, args ...any) error {
	if err == nil && r.keeps {
		r.open = append(r.open, what)
		r.typ, r.data = typ, nil
	}
	return r.took(err, format, args...)
}

func (r *recorder) beginPacked(typ gdwire.Type, n int) error {
	what := "data"
	if typ == gdwire.TypePackedStringArray {
		what = "strings"
	}
	return r.began(r.e.BeginPacked(typ, int64(n)), what, typ, "%v", typ)
}

// ended records an End. Text that was written is part of the string's event.
func (r *recorder) ended(err error) error {
	if err != nil || !r.keeps {
		return err
	}
	last := len(r.open) - 1
	switch r.open[last] {
	case "text":
		r.events[len(r.events)-1] += fmt.Sprintf("%q", r.data)
	case "data":
		r.took(nil, "data %x", r.data)
		fallthrough
	default:
		r.took(nil, "end")
	}
	r.open = r.open[:last]
	return nil
}

// textType returns the type of text that is written now: typ, or that of the open
// NodePath or PackedStringArray.
func (r *recorder) textType(typ gdwire.Type) gdwire.Type {
	switch r.inside() {
	case "path":
		return gdwire.TypeNodePath
	case "strings":
		return gdwire.TypePackedStringArray
	}
	return typ
}

func (r *recorder) inside() string {
	if len(r.open) == 0 {
		return ""
	}
	return r.open[len(r.open)-1]
}

func (r *recorder) write(data []byte) error {
	n, err := r.e.Write(data)
	r.data = append(r.data, data[:n]...)
	return err
}

// writePacked writes elements, whose numbers are bits, into data of any type.
func writePacked[T gdwire.Packable](r *recorder, bits []uint64, elements []T) error {
	err := gdwire.WritePacked(r.e, elements)
	if err != nil || len(bits) == 0 || !r.keeps {
		return err
	}
	v := tagged.Value{Type: r.typ.String(), Numbers: bits, Wide: r.wide(r.typ)}
	if r.typ == gdwire.TypePackedByteArray {
		v.Data, v.Numbers = tagged.AsNumbers(bits, func(b uint64) byte { return byte(b) }), nil
	}
	r.data = append(r.data, v.Encoding()...)
	return nil
}

// wide reports whether the numbers of a type are written in 64 bits.
func (r *recorder) wide(typ gdwire.Type) bool {
	switch f := r.seed.Format(); {
	case typ == gdwire.TypePackedInt64Array, typ == gdwire.TypePackedFloat64Array:
		return true
	case model.RealComponents[typ.String()] == 0, f == gdwire.Godot3, f == gdwire.Godot2:
		return false
	case f == gdwire.Godot4 && (typ == gdwire.TypeColor || typ == gdwire.TypePackedColorArray):
		return false
	}
	return r.seed.Has(fuzz.Double)
}

// rounded returns the bits of components after writing.
func (r *recorder) rounded(typ gdwire.Type, x []float64) (all []uint64) {
	for _, x := range x {
		if r.wide(typ) {
			all = append(all, math.Float64bits(x))
		} else {
			all = append(all, tagged.Widened(math.Float32bits(float32(x))))
		}
	}
	return all
}

// finish tries to complete all open containers.
func (r *recorder) finish() {
	for range 300 {
		if len(r.open) == 0 {
			break
		}
		r.e.ClearError()
		before := len(r.events)
		for _, try := range []func() error{
			func() error { return r.ended(r.e.End()) },
			func() error { return r.took(r.e.WriteNil(), "nil") },
			func() error { return r.took(r.e.WriteInt(1), "int 1") },
			func() error { return r.tookText(r.e.WriteString("z"), gdwire.TypeString, "z") },
			func() error { return r.took(r.e.WriteProperty("z"), "property %q", "z") },
			func() error { return r.write([]byte("z")) },
			func() error { return r.write([]byte("\x98")) }, // this may be inside a rune
		} {
			if len(r.events) > before || try() == nil {
				break
			}
			r.e.ClearError()
		}
	}
	r.e.ClearError()
}

// decodedEvents returns the events of calls that write the values of an input, until an error.
func decodedEvents(s fuzz.Seed, in io.Reader) (all []string, err error) {
	d := gdwire.NewDecoder(in, &gdwire.DecoderOptions{
		Format: s.Format(), DoubleReals: s.Has(fuzz.Double), AllowObjects: true, AllowInvalidUTF8: s.Has(fuzz.AllowInvalidUTF8),
		Limits: gdwire.NoLimits, MaxChunk: 16,
	})
	defer d.Release()
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	var data []byte
	packed := false
	for {
		t, err := d.ReadToken()
		if err != nil {
			return all, err
		}
		switch k := t.Kind(); k {
		case gdwire.KindNil:
			add("nil")
		case gdwire.KindBool:
			add("bool %v", t.Bool())
		case gdwire.KindInt32, gdwire.KindInt64:
			add("int %d", t.Int())
		case gdwire.KindFloat32:
			add("float %x", tagged.FloatBits(t))
		case gdwire.KindFloat64:
			add("float %x", math.Float64bits(t.Float()))
		case gdwire.KindRID:
			add("rid %d", t.ID())
		case gdwire.KindObjectID:
			add("object id %d", t.ID())
		case gdwire.KindCallable:
			add("callable")
		case gdwire.KindSignal:
			add("signal %q %d", t.Text(), t.ID())
		case gdwire.KindInputEvent:
			kind, device := t.Event()
			add("event %d %d %x", kind, device, t.Bytes())
		case gdwire.KindStringChunk:
			typ := t.Type()
			text, err := (&tagged.Reader{Decoder: d, Temporary: fuzz.ErrTemporary}).Joined(t)
			if err != nil {
				return all, err
			}
			add("%v %q", typ, text)
		case gdwire.KindNodePathStart:
			names, subnames, absolute := t.NodePath()
			add("path %d %d %v", names, subnames, absolute)
		case gdwire.KindObjectStart:
			add("object %q", t.Text())
		case gdwire.KindProperty:
			add("property %q", t.Text())
		case gdwire.KindArrayStart:
			add("array %v", t.Elem())
		case gdwire.KindDictStart:
			add("dict %v %v", t.KeyElem(), t.Elem())
		case gdwire.KindDictKey:
		case gdwire.KindPackedStart:
			data, packed = nil, t.Type() != gdwire.TypePackedStringArray
			add("%v", t.Type())
		case gdwire.KindImageStart:
			f, m, w, h := t.Image()
			data, packed = nil, true
			add("image %d %d %d %d", f, m, w, h)
		case gdwire.KindChunk:
			data = append(data, t.Bytes()...)
		case gdwire.KindEnd:
			if packed {
				add("data %x", data)
				packed = false
			}
			add("end")
		default:
			add("%v %x", t.Type(), tagged.Numbers(t.Type().String(), t.Bytes(), t.Width() == 64))
		}
	}
}
