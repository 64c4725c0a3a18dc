package stream

import (
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/checked"
)

// ErrNotSeekable is returned by WriteThrough if the io.Writer cannot seek, or is a file opened with
// os.O_APPEND, because every Write to such a file goes to the end.
var ErrNotSeekable = errors.New("gdwire/stream: writer cannot seek")

// WriteThrough writes a packet that is too large for memory. The io.Writer must be an
// [io.WriteSeeker]. The output of write is appended at the end, and the length is set when write
// returns. Until then the length is 0xFFFFFFFF, accepted by no Reader: a crash is noticed.
// Options.MaxPacket applies: with -1 packets can have up to 4 GiB. Engines read up to 2 GiB.
//
// If WriteThrough fails, or write panics, the packet is removed with the method Truncate(int64)
// error of the io.Writer. If that fails or there is no such method, every later call returns an
// error that says so.
//
// Other calls wait until WriteThrough returns, so write must not make any.
func (w *Writer) WriteThrough(write func(*gdwire.Encoder) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	s, ok := w.dst.(io.WriteSeeker)
	if !ok || w.message != nil {
		return ErrNotSeekable
	}
	start, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSeekable, err)
	}
	done := false
	defer func() {
		if done {
			return
		}
		if err := truncate(s, start); err != nil {
			w.err = fmt.Errorf("gdwire/stream: an unfinished packet remains: %w", err)
		}
	}()
	err = w.writeThrough(s, start, write)
	done = err == nil
	return err
}

// writeThrough writes a packet at start, the end of s.
func (w *Writer) writeThrough(s io.WriteSeeker, start int64, write func(*gdwire.Encoder) error) error {
	if err := w.writeLength(s, unfinished); err != nil {
		return err
	}
	content := &packetWriter{dst: s, max: w.config.MaxPacket}
	if err := w.config.encodeTo(content, write); err != nil {
		return err
	}
	if _, err := s.Seek(start, io.SeekStart); err != nil {
		return err
	}
	if err := w.writeLength(s, uint32(content.size)); err != nil {
		return err
	}
	if offset, err := s.Seek(0, io.SeekCurrent); err != nil || offset != start+lengthSize {
		return errors.Join(ErrNotSeekable, err)
	}
	_, err := s.Seek(content.size, io.SeekCurrent)
	return err
}

func (w *Writer) writeLength(s io.Writer, n uint32) error {
	var b [lengthSize]byte
	w.order.PutUint32(b[:], n)
	_, err := checked.Write(s, b[:])
	return err
}

// truncate removes the bytes from offset end on from s, and seeks there.
func truncate(s io.Seeker, end int64) error {
	t, ok := s.(interface{ Truncate(size int64) error })
	if !ok {
		return ErrNotSeekable
	}
	if err := t.Truncate(end); err != nil {
		return err
	}
	_, err := s.Seek(end, io.SeekStart)
	return err
}
