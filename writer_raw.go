package gdwire

import "io"

// WriteRaw writes a value that is already encoded in the format of e, such as one from
// another packet. WriteRaw first decodes it without limits, as a lenient Decoder does. If
// value is not exactly one valid value, the error is an [Error] with offset and path inside
// value.
func (e *Encoder) WriteRaw(value []byte) error {
	if err := e.ready(); err != nil {
		return err
	}
	if e.raw == nil {
		e.raw = new(Decoder)
	}
	d := e.raw
	d.options = DecoderOptions{
		Format: e.options.Format, AllowObjects: true, AllowInvalidUTF8: e.options.AllowInvalidUTF8, DoubleReals: e.options.DoubleReals,
		Limits:       Limits{Depth: -1, Elements: -1, Values: -1, StringBytes: -1, NameBytes: -1, PackedBytes: -1, Bytes: -1},
		wholePadding: true,
	}
	d.ResetBytes(value)
	defer d.Release()
	t, err := d.ReadToken()
	if err == io.EOF {
		return e.fail(wrapf(ErrCount, "empty raw value"))
	}
	if err != nil {
		return e.keep(err)
	}
	if _, err := e.begin(t.Type()); err != nil {
		return err
	}
	for d.Depth() > 0 {
		if d.Depth() > e.maxDepth-e.depth && d.want() <= lastValue {
			return e.fail(&LimitError{Name: limitTable[limitDepth].name, Got: int64(e.depth + d.Depth()), Max: int64(e.maxDepth)})
		}
		if _, err := d.next(); err != nil {
			return e.keep(err)
		}
	}
	if n := len(value) - int(d.InputOffset()); n > 0 {
		return e.fail(wrapf(ErrCount, "%d bytes after the raw value", n))
	}
	if err := emit(e, nil, value, nil); err != nil {
		return err
	}
	return e.completed()
}
