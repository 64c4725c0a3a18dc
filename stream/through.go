package stream

import (
	"errors"
	"fmt"
	"io"

	"github.com/gdwire/gdwire"
)

// ErrNotSeekable is the error of WriteThrough to what can't seek, or to a file
// opened with os.O_APPEND, where every Write goes to the end.
var ErrNotSeekable = errors.New("gdwire/stream: can't write through")

// WriteThrough is WritePacket for packets too large for memory: what write writes
// goes on to the end of the io.Writer, which has to be an [io.WriteSeeker], and the
// length is set afterwards. Until then it is 0xFFFFFFFF, which no
// Reader takes for a packet, so that a crash shows. Options.MaxPacket holds here
// as well: -1 lets packets grow up to 4 GiB, of which engines read 2.
//
// If it fails, what was written is cut off again. Where that can't be done, for
// want of a method Truncate(int64) error or because it fails, every later call
// returns why.
//
// Other calls wait until it is done: write must not make any.
func (w *Writer) WriteThrough(write func(*gdwire.Encoder) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	s, ok := w.dst.(io.WriteSeeker)
	if !ok {
		return ErrNotSeekable
	}
	start, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if err := w.through(s, start, write); err != nil {
		if left := cutBack(s, start); left != nil {
			w.err = fmt.Errorf("gdwire/stream: an unfinished packet was left behind: %w", left)
		}
		return err
	}
	return nil
}

func (w *Writer) through(s io.WriteSeeker, start int64, write func(*gdwire.Encoder) error) error {
	if err := w.writeLength(s, unfinished); err != nil {
		return err
	}
	t := &through{dst: s, max: w.options.MaxPacket}
	e := gdwire.NewEncoder(t, &w.options.Encoder)
	defer e.Release()
	if err := encode(e, write); err != nil {
		return err
	}
	if t.size == 0 {
		return noValue()
	}
	if _, err := s.Seek(start, io.SeekStart); err != nil {
		return err
	}
	if err := w.writeLength(s, uint32(t.size)); err != nil {
		return err
	}
	if at, err := s.Seek(0, io.SeekCurrent); err != nil || at != start+lengthSize {
		return errors.Join(ErrNotSeekable, err)
	}
	_, err := s.Seek(t.size, io.SeekCurrent)
	return err
}

func (w *Writer) writeLength(s io.Writer, n uint32) error {
	var b [lengthSize]byte
	w.order.PutUint32(b[:], n)
	_, err := writeAll(s, b[:])
	return err
}

// cutBack makes s end at start again.
func cutBack(s io.Seeker, start int64) error {
	t, ok := s.(interface{ Truncate(size int64) error })
	if !ok {
		return ErrNotSeekable
	}
	if err := t.Truncate(start); err != nil {
		return err
	}
	_, err := s.Seek(start, io.SeekStart)
	return err
}

// through counts what goes to dst, and lets no more than max pass.
type through struct {
	dst       io.Writer
	size, max int64
}

func (t *through) Write(b []byte) (int, error) {
	if err := tooLong(t.size, len(b), t.max); err != nil {
		return 0, err
	}
	n, err := writeAll(t.dst, b)
	t.size += int64(n)
	return n, err
}
