package variant

import (
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
)

// Receive decodes the next packet of r, such as a *stream.Conn or *stream.Reader, into the
// variable that v points to. The packet must be exactly one value. An error for which
// stream.Skippable is true concerns this packet only. Without another packet, Receive returns the
// error of Next, such as io.EOF.
func Receive(r interface {
	Next() (*gdwire.Decoder, error)
}, v any, opts ...Options) error {
	d, err := r.Next()
	if err != nil {
		return err
	}
	err = UnmarshalDecode(d, v, opts...)
	if err == io.EOF { // a packet without a value is not the end of the stream
		return noValueError()
	}
	if n := export.BytesLeft(d); err == nil && n > 0 {
		return d.WrapError(fmt.Errorf("%d bytes after the value", n))
	}
	return err
}

// Send writes a packet with the encoding of v to w, such as a *stream.Conn or *stream.Writer. If v
// cannot be encoded, or is too long for w, nothing is written and the next packet can be.
func Send(w interface {
	WritePacket(write func(*gdwire.Encoder) error) error
}, v any) error {
	return w.WritePacket(func(e *gdwire.Encoder) error { return MarshalEncode(e, v) })
}
