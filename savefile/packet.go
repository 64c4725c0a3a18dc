package savefile

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gdwire/gdwire/internal/options"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/variant"
)

// EditPacket returns a packet without a length, as from NextRaw of package stream, with changed
// values. Every other byte stays, also after the value. Edits apply in order; see [File.Edit] for
// more about edits and errors. Options.Decoder contains the format, also for the new values, and the
// limits; other options have no effect.
//
// The caller owns the result. packet is not changed and not kept.
func EditPacket(packet []byte, edits []Edit, opts ...variant.Options) ([]byte, error) {
	c := save.NewPacket(packet, options.Of(opts, new(variant.Options)).Decoder)
	for _, e := range edits {
		if p, err := parsePath(e.path); err == nil && p.Packet != 0 {
			return nil, fmt.Errorf("savefile: %s is in another value, and a packet contains one", e.path)
		}
	}
	c, err := applied(c, edits)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(c.Size))
	_, err = io.Copy(&b, io.NewSectionReader(c, 0, c.Size))
	return b.Bytes(), err
}
