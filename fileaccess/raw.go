package fileaccess

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A stream of PackedByteArray.compress, without a header of the engine:
//
//	mode      bytes
//	fastlz    operations up to the end
//	deflate   a zlib stream
//	zstd      a frame
//	gzip      a member without name and time
//
// A rawReader reads such a stream in constant memory, up to an error.
type rawReader struct {
	src    *source
	in     *bufio.Reader // of src
	stream io.Reader     // the content of in
	limits bounds
	window int64 // the largest, in bytes
	n      int64 // bytes of the content
}

// openRaw opens the stream of a mode.
func openRaw(src *source, o *Options) (io.Reader, Info, error) {
	codec := o.Mode.codec()
	if codec == nil {
		return nil, Info{}, errorf(0, ErrMode, "%v", o.Mode)
	}
	size := readAhead
	if memory, ok := src.r.(interface{ Len() int }); ok {
		size = min(size, memory.Len())
	}
	r := &rawReader{src: src, in: bufio.NewReaderSize(src, size), limits: o.Limits.bounds(), window: window(o.Limits.Size)}
	if _, err := r.in.Peek(1); err != nil {
		return nil, Info{}, src.cut(err)
	}
	stream, err := codec.reader(r.in, r.window)
	if err != nil {
		return nil, Info{}, r.wrap(err)
	}
	r.stream = stream
	return r, Info{Container: Raw, Mode: o.Mode, Size: -1}, nil
}

// A decoder of zstd allocates the window declared by a frame. These are the largest windows: for a content
// within a limit, and for any content, the largest written by engines.
const (
	shortestWindow = 1 << 20
	standardWindow = 8 << 20
	longestWindow  = 128 << 20
)

// window returns the largest window for a Limits.Size. Engines write no window longer than the content.
func window(limit int64) int64 {
	switch {
	case limit < 0:
		return longestWindow
	case limit == 0:
		return standardWindow
	}
	return max(shortestWindow, min(limit, standardWindow))
}

func (r *rawReader) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err = r.stream.Read(p)
	r.n += int64(n)
	if over := r.limits.check(limitSize, uint64(r.n), r.offset()); over != nil {
		n, err = n-int(r.n-r.limits[limitSize]), over
	} else if err == io.EOF {
		err = r.end()
	} else if err != nil {
		err = r.wrap(err)
	}
	return n, err
}

// end returns io.EOF if nothing follows the stream.
func (r *rawReader) end() error {
	_, err := r.in.Peek(1)
	if err == nil {
		err = errorf(r.offset(), ErrDamaged, "%v", errAfter)
	}
	return err
}

// offset returns the number of bytes decoded.
func (r *rawReader) offset() int64 { return r.src.n - int64(r.in.Buffered()) }

// wrap returns an Error for an error of the stream, and an error of the input unchanged.
func (r *rawReader) wrap(err error) error {
	switch {
	case r.src.err != nil && r.src.err != io.EOF:
		return r.src.err
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return &Error{r.src.n, io.ErrUnexpectedEOF}
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		larger := "a larger Limits.Size"
		if r.window >= standardWindow {
			larger = "Limits.Size to be disabled"
		}
		return errorf(r.offset(), ErrLimit, "a zstd window of more than %d MiB, which needs %s", r.window>>20, larger)
	}
	return errorf(r.offset(), ErrDamaged, "%v", err)
}

// A rawWriter writes a stream as PackedByteArray.compress does, in constant memory. No content is no stream.
type rawWriter struct {
	w      io.Writer
	codec  *codec
	stream io.WriteCloser // nil before the first byte
	sticky
}

// newRawWriter returns a writer of a stream.
func newRawWriter(w io.Writer, mode Mode) (*rawWriter, error) {
	codec := mode.codec()
	if codec == nil {
		return nil, errorf(0, ErrMode, "%v", mode)
	}
	return &rawWriter{w: w, codec: codec}, nil
}

func (w *rawWriter) Write(p []byte) (n int, err error) {
	if w.err != nil || len(p) == 0 {
		return 0, w.err
	}
	if w.stream == nil {
		w.stream = w.codec.writer(&plainWriter{w: w.w})
	}
	n, w.err = w.stream.Write(p)
	return n, w.err
}

func (w *rawWriter) Close() error {
	return w.close(func() error {
		if w.stream == nil {
			return nil
		}
		return w.stream.Close()
	})
}
