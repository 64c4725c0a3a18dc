package traffic

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
)

// A recordedFile is the file of one direction of a connection.
type recordedFile struct {
	*os.File
	framing framing
	next    func() (message, error)
	offset  int64 // after the latest message
}

// OpenRecording returns the packets of a recording, in the order of forwarding. A page shows the
// latest of them.
func OpenRecording(index string, o *open.Flags) (live *view.Live, err error) {
	f, err := os.Open(index)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	prefix := strings.TrimSuffix(index, record.IndexName(""))
	files := map[string]*recordedFile{}
	defer func() {
		for _, r := range files {
			_ = r.Close()
		}
	}()
	live = newLive(o.Reading(-1))
	for p, err := range record.ReadIndex(f) {
		if err != nil {
			return nil, shell.Prefixed(index, err)
		}
		name := record.FileName(prefix, p.Connection, p.Direction)
		r := files[name]
		if r == nil {
			if r, err = openRecorded(name, o); err != nil {
				return nil, err
			}
			files[name] = r
		}
		packet, err := r.packet(p)
		if err != nil {
			return nil, shell.Prefixed(name, err)
		}
		at := time.Unix(0, 0).UTC().Add(p.Time)
		u := r.framing.Unpack(packet)
		live.Add(at, p.Connection, p.Direction == record.FromClient, &u, r.framing.Decoder)
	}
	return live, nil
}

func openRecorded(name string, o *open.Flags) (*recordedFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r := &recordedFile{File: f, framing: newFraming(o)}
	r.framing.Decoder.AllowObjects = true
	m, err := newMessages(f, &r.framing, func(string) {})
	if err != nil {
		return nil, errors.Join(shell.Prefixed(name, err), f.Close())
	}
	r.next = m.next
	return r, nil
}

// packet returns a packet of the index, after the packets of earlier calls.
func (r *recordedFile) packet(p record.Packet) ([]byte, error) {
	for r.offset <= p.Offset {
		m, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		at := r.offset
		r.offset += m.size
		if at == p.Offset && m.packet != nil {
			return m.packet, nil
		}
	}
	return nil, fmt.Errorf("there is no packet at offset %d, as the index says", p.Offset)
}
