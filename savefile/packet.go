package savefile

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gdwire/gdwire/internal/options"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/variant"
)

// EditPacket returns a packet with changed values, such as NextRaw of package stream returns, without its
// length. Every other byte stays, those after the value, too. Edits apply in order, as those of
// [File.Edit], which says more of them and of the errors. The format, also of the new values, and the
// limits are those of Options.Decoder; other options have no effect.
//
// The result is the caller's. packet stays as it is and is not kept.
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
