package fuzz

import (
	"encoding/binary"
	"math"

	"github.com/gdwire/gdwire"
)

// AppendToken appends the content of a token: all that its methods return.
func AppendToken(b []byte, t gdwire.Token) []byte {
	le := binary.LittleEndian
	b = append(b, byte(t.Kind()), byte(t.Type()), byte(t.Width()))
	if t.Last() {
		b = append(b, 1)
	}
	b = le.AppendUint64(b, uint64(t.Len()))
	switch t.Kind() {
	case gdwire.KindNodePathStart:
		names, subnames, absolute := t.NodePath()
		b = le.AppendUint64(le.AppendUint64(b, uint64(names)), uint64(subnames))
		if absolute {
			b = append(b, 1)
		}
	case gdwire.KindInputEvent:
		event, device := t.Event()
		b = le.AppendUint32(le.AppendUint32(b, event), device)
	case gdwire.KindFloat32, gdwire.KindFloat64:
		b = le.AppendUint64(b, math.Float64bits(t.Float()))
	case gdwire.KindArrayStart, gdwire.KindDictStart:
		if len(t.Bytes()) > 0 {
			b = appendElem(appendElem(b, t.KeyElem()), t.Elem())
		}
		return b // without the padding of names
	case gdwire.KindBool:
		if t.Bool() {
			b = append(b, 1)
		}
	default:
		b = le.AppendUint64(le.AppendUint64(b, uint64(t.Int())), t.ID())
	}
	return append(b, t.Bytes()...)
}

func appendElem(b []byte, e gdwire.Elem) []byte {
	b = append(b, byte(e.Type), byte(len(e.Class)), byte(len(e.Script)))
	return append(append(b, e.Class...), e.Script...)
}
