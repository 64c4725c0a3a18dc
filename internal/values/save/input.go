package save

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/values/save/recognize"
)

// export contains the calls of package gdwire for this module.
var export = gdwire.Internal.Export(&internal.AllowInternalUse)

// The maximum sizes in bytes of a content in memory. One limit would not do: a content that can stay in its file is
// held if holding is cheap, the page also holds bytes no longer in the file, and a pipe leaves no choice.
const (
	// MaxHeld limits a content read into memory although it could be read again, so that the content
	// does not change with its file. Reading a save takes 24 MiB in all, including the content.
	MaxHeld = 4 << 20
	// MaxVersion limits each version of a file kept and compared by the page.
	MaxVersion = 64 << 20
	// MaxInMemory limits a content that can be read only once. A larger one is an error.
	MaxInMemory = 1 << 30
)

// An Input is a file, a pipe or memory.
type Input struct {
	*Bytes
	Name string      // in messages, or ""
	Path string      // of the file, or "" for standard input
	Info os.FileInfo // of a regular file, or nil

	file *os.File // nil if the input is no file
}

// IsStdin reports whether a name means standard input.
func IsStdin(name string) bool { return name == "" || name == "-" }

// DisplayName returns the name of an input in messages.
func DisplayName(name string) string {
	if IsStdin(name) {
		return "standard input"
	}
	return name
}

// OpenInput opens the file of the given name, or stdin.
func OpenInput(name string, stdin io.Reader) (*Input, error) {
	in := &Input{Name: DisplayName(name), Bytes: &Bytes{Size: -1, once: stdin, name: DisplayName(name)}}
	if IsStdin(name) {
		in.file, _ = stdin.(*os.File)
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		in.once, in.file, in.Path = f, f, name
	}
	if in.file == nil {
		return in, nil
	}
	i, err := in.file.Stat()
	switch {
	case err != nil:
	case i.IsDir():
		return nil, errors.Join(fmt.Errorf("%s is a folder; its files are %[1]s/*", in.Name), in.Close())
	case i.Mode().IsRegular():
		at, _ := in.file.Seek(0, io.SeekCurrent) // others may have read a part of standard input
		size := max(i.Size()-at, 0)
		in.Info, in.Bytes = i, &Bytes{Size: size, at: io.NewSectionReader(in.file, at, size)}
	}
	return in, nil
}

// File returns an Input of a regular file without a name, read from the start.
func File(f *os.File, info os.FileInfo) *Input {
	in := At(f, info.Size())
	in.file = f
	return in
}

// At returns an Input of size bytes of r, without a name. Close does nothing.
func At(r io.ReaderAt, size int64) *Input { return &Input{Bytes: &Bytes{Size: size, at: r}} }

// Close closes the file, unless the file is standard input.
func (in *Input) Close() error {
	if in.Path == "" {
		return nil
	}
	return in.file.Close()
}

// Bytes are the bytes of an Input, or inside a layer of a save.
type Bytes struct {
	Size int64 // -1 if not known
	Err  error // after the bytes, as far as known
	Held bool  // the bytes are in memory

	at   io.ReaderAt      // a Block if Held, and nil if read in order
	open func() io.Reader // opens bytes that are read in order again, or nil
	once io.Reader        // the rest of a pipe, or nil
	read bytes.Buffer     // of the pipe so far
	name string           // of the input, in messages
}

// memory returns Bytes in memory, with the error after them.
func memory(b []byte, err error) *Bytes {
	return &Bytes{Size: int64(len(b)), Err: err, Held: true, at: Block(b)}
}

// A Block is bytes in memory.
type Block []byte

// ReadAt reads bytes from an offset on.
func (b Block) ReadAt(p []byte, at int64) (n int, err error) {
	if n = copy(p, b[min(at, int64(len(b))):]); n < len(p) {
		err = io.EOF
	}
	return n, err
}

// ResetAt makes d read the bytes of r from start to end: those of a Block where they are.
func ResetAt(d *gdwire.Decoder, r io.ReaderAt, start, end int64) {
	if b, ok := r.(Block); ok {
		export.ResetStart(d, b[start:min(end, int64(len(b)))])
		return
	}
	d.Reset(io.NewSectionReader(r, start, end-start))
}

// Skip skips a value in the bytes of r from start to end, and returns its size.
func Skip(o gdwire.DecoderOptions, r io.ReaderAt, start, end int64) (size int64, err error) {
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	ResetAt(d, r, start, end)
	err = d.SkipValue()
	return d.InputOffset(), err
}

// Live reports whether the bytes are those of a pipe or terminal, where more can arrive at any time. They are read once.
func (b *Bytes) Live() bool { return b.once != nil }

// Reader returns a Reader of all bytes, and then of Err.
func (b *Bytes) Reader() io.Reader {
	switch {
	case b.at != nil && b.Err != nil:
		return io.MultiReader(io.NewSectionReader(b.at, 0, b.Size), checked.Failed{Err: b.Err})
	case b.at != nil:
		return io.NewSectionReader(b.at, 0, b.Size)
	case b.open != nil:
		return b.open()
	}
	return io.MultiReader(bytes.NewReader(b.read.Bytes()), b.once)
}

// start returns a Reader of all bytes that keeps what it reads of a pipe for the next Reader.
func (b *Bytes) start() io.Reader {
	if !b.Live() {
		return b.Reader()
	}
	return io.MultiReader(bytes.NewReader(b.read.Bytes()), io.TeeReader(b.once, &b.read))
}

// peek returns the first n bytes, or fewer if there are not as many.
func (b *Bytes) peek(n int) []byte {
	head := make([]byte, n)
	n, _ = io.ReadFull(b.start(), head)
	return head[:n]
}

// hold reads up to MaxHeld bytes that are not of a pipe into memory.
func (b *Bytes) hold() *Bytes {
	if b.Live() || b.Held || b.Size < 0 || b.Size > MaxHeld {
		return b
	}
	return memory(b.buffer(MaxHeld))
}

// upTo returns all bytes, or nil if they are more than most, damaged or those of a pipe.
func (b *Bytes) upTo(most int64) []byte {
	if b.Live() || b.Size > most {
		return nil
	}
	all, err := b.buffer(most)
	if int64(len(all)) > most || err != nil && err != b.Err {
		return nil
	}
	return all
}

// buffer reads all bytes into memory, or one more than most, with the error after them.
func (b *Bytes) buffer(most int64) ([]byte, error) {
	var start []byte
	if b.at != nil { // a container can declare more than it contains
		start = make([]byte, 0, int(min(b.Size, MaxVersion))+bytes.MinRead)
	}
	all := bytes.NewBuffer(start)
	_, err := all.ReadFrom(io.LimitReader(b.Reader(), most+1))
	return all.Bytes(), err
}

// after returns the bytes after the first n.
func (b *Bytes) after(n int64) *Bytes {
	rest := *b
	rest.Size, rest.read = max(b.Size-n, -1), bytes.Buffer{}
	skip := func(r io.Reader) io.Reader {
		if _, err := io.CopyN(io.Discard, r, n); err != nil {
			return checked.Failed{Err: err}
		}
		return r
	}
	switch {
	case b.at != nil:
		rest.at = io.NewSectionReader(b.at, n, b.Size-n)
	case b.open != nil:
		rest.open = func() io.Reader { return skip(b.open()) }
	default:
		rest.once = skip(b.Reader())
	}
	return &rest
}

// ReadAll reads all bytes into memory.
func (b *Bytes) ReadAll() ([]byte, error) {
	all, err := b.buffer(MaxInMemory)
	return all, cmp.Or(err, b.checkInMemory(int64(len(all))))
}

// checkInMemory returns an error if so many bytes are too many for memory.
func (b *Bytes) checkInMemory(size int64) error {
	if size > MaxInMemory {
		return fmt.Errorf("%s is larger than 1 GiB, the limit in memory", b.name)
	}
	return nil
}

// readerAt returns a reader of the bytes at any offset, and their number. Those of a pipe are first read into memory.
func (b *Bytes) readerAt() (io.ReaderAt, int64, error) {
	switch {
	case b.at != nil:
		return b.at, b.Size, nil
	case b.open != nil && b.Size >= 0:
		return &rewinder{in: b.open(), open: b.open}, b.Size, nil
	}
	all, err := b.ReadAll()
	*b = *memory(all, err)
	return b.at, b.Size, err
}

// A rewinder reads any part of the Reader returned by open, although such a Reader can be read only from the
// start. The latest 256 KiB are kept; for earlier offsets, open is called again.
type rewinder struct {
	in     io.Reader
	open   func() io.Reader
	at     int64  // the offset after the latest bytes
	latest []byte // up to keptBytes
	err    error  // after the latest bytes
}

// keptBytes is the number of latest bytes to keep. Reading in order, as an edit with splices does,
// steps back by less.
const keptBytes = 256 << 10

// ReadAt also returns an error received with its last bytes, because no other call would.
func (r *rewinder) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		if start := r.at - int64(len(r.latest)); at < start {
			r.in, r.at, r.latest, r.err = r.open(), 0, r.latest[:0], nil
			continue
		} else if at < r.at {
			n += copy(p[n:], r.latest[at-start:])
			continue
		} else if err = r.err; err == nil {
			r.read()
		}
		if err != nil {
			return n, err
		}
	}
	if r.err != io.EOF && off+int64(n) == r.at {
		err = r.err
	}
	return n, err
}

// read reads more of the content.
func (r *rewinder) read() {
	if r.latest == nil {
		r.latest = make([]byte, 0, keptBytes)
	}
	if len(r.latest) == cap(r.latest) {
		half := len(r.latest) / 2
		r.latest = r.latest[:copy(r.latest, r.latest[half:])]
	}
	var n int
	n, r.err = r.in.Read(r.latest[len(r.latest):cap(r.latest)])
	r.latest = r.latest[:len(r.latest)+n]
	r.at += int64(n)
}

const (
	// lengthSize is the size of a length in bytes.
	lengthSize = 4
	// minPacket is the size of the shortest value, null.
	minPacket = 4
)

// IsContainerError reports whether err is about a compressed or encrypted file, for example because
// the file ends early.
func IsContainerError(err error) bool {
	var e *fileaccess.Error
	return errors.As(err, &e)
}

// detect is fileaccess.Detect for the bytes that start reads. A stream of zlib is one if the bytes can be decompressed.
func detect(head []byte, start func() io.Reader) fileaccess.Info {
	info := fileaccess.Detect(head)
	if info.Container == fileaccess.Raw && info.Mode == fileaccess.Deflate && !isZlib(start()) {
		info = fileaccess.Info{Size: -1}
	}
	return info
}

// isZlib reports whether a stream with a header of zlib can be decompressed. Packets with a length can begin with the same
// bytes.
func isZlib(in io.Reader) bool {
	const sniffed, enough = 4 << 10, 64 // bytes read, and of the content
	r, err := fileaccess.NewReader(io.LimitReader(in, sniffed), &fileaccess.Options{Raw: true, Mode: fileaccess.Deflate})
	if err != nil {
		return false
	}
	n, err := io.ReadFull(r, make([]byte, enough))
	if errors.As(err, new(*fileaccess.Error)) { // a cut stream
		return errors.Is(err, io.ErrUnexpectedEOF) && n >= minPacket
	}
	return err == nil || err == io.EOF || err == io.ErrUnexpectedEOF // the content is shorter
}

// fastlzFilled is the size to which engines fill up a shorter content with zeros before FastLZ.
const fastlzFilled = 16

// withoutFill returns a Reader of the content of a FastLZ stream without the zeros filling up a shorter value.
func withoutFill(content io.Reader) io.Reader {
	in := bufio.NewReader(content)
	b, err := in.Peek(fastlzFilled + 1)
	if err != io.EOF || len(b) != fastlzFilled {
		return in
	}
	return bytes.NewReader(b[:valueEnd(b, []gdwire.Format{gdwire.Godot4, gdwire.Godot3}, []recognize.Frame{recognize.Bare, recognize.U32, recognize.U32BE})])
}

// valueEnd returns the end of the first value in b, in one of the formats and frames, if only zeros follow, and
// otherwise the length of b.
func valueEnd(b []byte, formats []gdwire.Format, frames []recognize.Frame) int {
	for _, format := range formats {
		for _, frame := range frames {
			start, order := int64(0), frame.Order()
			if order != nil {
				start = lengthSize
			}
			n, err := Skip(gdwire.DecoderOptions{Format: format, Strict: true, AllowObjects: true}, Block(b), start, int64(len(b)))
			if end := start + n; err == nil && (order == nil || int64(order.Uint32(b)) == n) && len(bytes.Trim(b[end:], "\x00")) == 0 {
				return int(end)
			}
		}
	}
	return len(b)
}
