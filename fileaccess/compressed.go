package fileaccess

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
)

// Streams of PackedByteArray.compress, and compressed files, which consist of blocks.

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

// A compressed file, all integers little-endian:
//
//	 0  "GCPF"
//	 4  u32 mode
//	 8  u32 block size
//	12  u32 total, the bytes before compression
//	16  u32 compressed size of each block, total/blockSize + 1 of them
//	    the blocks
//	    "GCPF"
//
// The last block contains total%blockSize bytes. It exists even if it is empty.
const (
	modeOffset      = 4
	blockSizeOffset = 8
	totalOffset     = 12
	sizesOffset     = 16

	defaultBlockSize = 4096 // of every file that an engine writes
)

// A compressedReader reads the blocks of a compressed file.
type compressedReader struct {
	src       *source
	in        *bufio.Reader // of the blocks and the magic after them, and no more
	decoder   decoder
	ratio     int64
	blockSize int
	remaining int64 // bytes of the content in blocks not decoded yet

	sizes  []byte // compressed sizes of the blocks, as in the file
	block  int    // the next block
	offset int64  // of the next block

	large bytes.Buffer // a compressed block that is larger than in's buffer
	out   []byte       // holds a decoded block
	rest  []byte       // of out, not read yet
	err   error
}

// openCompressed reads the header and the sizes that follow the magic.
func openCompressed(src *source, o *Options) (io.Reader, Info, error) {
	var header [sizesOffset]byte
	if err := src.readFull(header[magicBytes:]); err != nil {
		return nil, Info{}, err
	}
	var (
		mode      = Mode(binary.LittleEndian.Uint32(header[modeOffset:]))
		blockSize = binary.LittleEndian.Uint32(header[blockSizeOffset:])
		total     = binary.LittleEndian.Uint32(header[totalOffset:])
		limits    = o.Limits.bounds()
	)
	codec := mode.codec()
	if codec == nil {
		return nil, Info{}, errorf(modeOffset, ErrMode, "%v", mode)
	}
	if blockSize == 0 {
		return nil, Info{}, errorf(blockSizeOffset, ErrDamaged, "block size 0")
	}
	if err := limits.check(limitBlockSize, uint64(blockSize), blockSizeOffset); err != nil {
		return nil, Info{}, err
	}
	if err := limits.check(limitSize, uint64(total), totalOffset); err != nil {
		return nil, Info{}, err
	}
	blocks := uint64(total/blockSize) + 1
	if err := limits.check(limitBlocks, blocks, totalOffset); err != nil {
		return nil, Info{}, err
	}
	sizes, err := src.readN(int64(blocks) * sizeBytes)
	if err != nil {
		return nil, Info{}, err
	}
	sum, err := sumSizes(sizes, &limits)
	if err != nil {
		return nil, Info{}, err
	}
	size := sum + magicBytes
	return &compressedReader{
		src:       src,
		in:        bufio.NewReaderSize(io.LimitReader(src, size), int(min(size, readAhead))),
		decoder:   codec.decoder(),
		ratio:     codec.ratio,
		blockSize: int(blockSize),
		remaining: int64(total),
		sizes:     sizes,
		offset:    src.n,
	}, Info{Container: Compressed, Mode: mode, BlockSize: int(blockSize), Size: int64(total)}, nil
}

// sumSizes checks the compressed sizes and returns their sum.
func sumSizes(sizes []byte, limits *bounds) (sum int64, err error) {
	longest := limits[limitBlockSize]
	longest += longest/fastlzMaxRun + 64 // of random content, which no mode makes shorter
	for i := 0; i < len(sizes); i += sizeBytes {
		size := binary.LittleEndian.Uint32(sizes[i:])
		if int64(size) > longest {
			return 0, limits.check(limitBlockSize, uint64(size), int64(sizesOffset+i))
		}
		sum += int64(size)
	}
	return sum, nil
}

func (c *compressedReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(c.rest) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		if c.block*sizeBytes == len(c.sizes) {
			c.err = c.end()
			continue
		}
		var n int
		if n, c.err = c.next(p); n > 0 {
			return n, nil
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// next decodes the next block into p, if p is long enough, and returns the number of bytes
// in n. Otherwise it decodes the block into rest. The error comes after what could be decoded before it.
func (c *compressedReader) next(p []byte) (n int, err error) {
	block, cut := c.compressed()
	size := min(int64(c.blockSize), c.remaining)
	// Checked because out is allocated for the content.
	if most := c.ratio * int64(max(len(block), fastlzMin)); size > most && cut == nil {
		return 0, errorf(c.offset, ErrDamaged, "block %d: %d bytes cannot be compressed to %d", c.block, size, len(block))
	} else if cut != nil {
		size = min(size, most)
	}
	direct := size <= int64(len(p))
	if !direct {
		if int64(cap(c.out)) < size {
			c.out = make([]byte, size)
		}
		p = c.out
	}
	if n, err = c.decoder.decode(p[:size], block); cut != nil {
		err = cut
	} else if err != nil {
		err = errorf(c.offset, ErrDamaged, "block %d: %v", c.block, err)
		if _, ok := c.decoder.(*fastlzDecoder); ok {
			n, _ = c.decoder.decode(p[:size], bytes.TrimRight(block, "\x00")) // zeros in place of the end are literals
		}
	}
	c.remaining -= size
	c.offset += int64(len(block))
	c.block++
	if direct {
		return n, err
	}
	c.rest = p[:n]
	return 0, err
}

// compressed reads the next block, or its start before an error. It is valid until the next read.
func (c *compressedReader) compressed() ([]byte, error) {
	n := int(binary.LittleEndian.Uint32(c.sizes[c.block*sizeBytes:]))
	if n <= c.in.Size() {
		b, err := c.in.Peek(n)
		if err == nil {
			_, err = c.in.Discard(n)
		}
		return b, c.src.cut(err)
	}
	c.large.Reset()
	_, err := io.CopyN(&c.large, c.in, int64(n))
	return c.large.Bytes(), c.src.cut(err)
}

// end returns io.EOF if the magic follows the last block.
func (c *compressedReader) end() error {
	magic, err := c.in.Peek(magicBytes)
	if err != nil {
		return c.src.cut(err)
	}
	if string(magic) != magicCompressed {
		return errorf(c.offset, ErrDamaged, "no %s after the last block", magicCompressed)
	}
	return io.EOF
}

// A CompressedWriter writes a compressed file. The sizes of all blocks precede the first
// block in the file, so the CompressedWriter keeps the compressed blocks until Close, or moves them
// in a file that can also be read. Errors stay.
type CompressedWriter struct {
	w         io.Writer
	mode      Mode
	encoder   encoder
	blockSize int
	total     int64
	block     []byte   // content of the next block
	sizes     []byte   // compressed sizes of the blocks, as in the file
	full      [][]byte // compressed blocks, in pieces that are not copied to grow
	blocks    []byte   // the next ones
	sticky

	// When blocks first is a piece, writing begins if w allows to move it later.
	file  file  // w, or nil: full holds the pieces until Close
	begun bool  // blocks are written to file
	start int64 // offset of the compressed file in file
	moved int64 // bytes of blocks in file, where the sizes will be
}

// NewCompressedWriter returns a Writer of a file that FileAccess.open_compressed
// opens. Engines read blocks of any size; a blockSize of 0 means 4096, the size that they
// write. Close completes the file and does not close w.
//
// If w is an [*os.File] that can also be read, such as one of os.Create, blocks are written at once and moved by Close.
// Otherwise, also if w embeds an *os.File, Close writes the whole file in order.
//
// The content of a compressed file can have 4 GiB - 1 bytes. A Write that exceeds this
// returns a [LimitError]. NewReader needs higher [Limits] for content of more than 256 MiB, blocks of more than
// 1 MiB, and more than 1<<20 blocks.
func NewCompressedWriter(w io.Writer, mode Mode, blockSize int) (*CompressedWriter, error) {
	codec := mode.codec()
	if codec == nil {
		return nil, errorf(0, ErrMode, "%v", mode)
	}
	if blockSize == 0 {
		blockSize = defaultBlockSize
	}
	if blockSize < 0 || blockSize > maxBuffered {
		return nil, &Error{0, &LimitError{Name: limitTable[limitBlockSize].name, Got: int64(blockSize), Max: maxBuffered}}
	}
	return &CompressedWriter{w: w, file: fileOf(w), mode: mode, encoder: codec.encoder(), blockSize: blockSize}, nil
}

// Write adds p to the content.
func (c *CompressedWriter) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if total := c.total + int64(len(p)); total > math.MaxUint32 {
		c.err = &Error{c.total, &LimitError{Name: limitTable[limitSize].name, Got: total, Max: math.MaxUint32}}
		return 0, c.err
	}
	c.total += int64(len(p))
	n := len(p)
	for c.err == nil && len(c.block)+len(p) >= c.blockSize {
		if len(c.block) == 0 {
			c.err = c.compress(p[:c.blockSize])
			p = p[c.blockSize:]
			continue
		}
		used := c.blockSize - len(c.block)
		c.block = append(c.block, p[:used]...)
		c.err = c.compress(c.block)
		c.block, p = c.block[:0], p[used:]
	}
	if c.err != nil {
		return n - len(p), c.err
	}
	c.block = append(c.block, p...)
	return n, nil
}

// pieceSize is the size from which on compressed blocks are a piece.
const pieceSize = 1 << 20

// compress adds a block of the file.
func (c *CompressedWriter) compress(content []byte) error {
	if len(c.blocks) >= pieceSize {
		if err := c.endPiece(); err != nil {
			return err
		}
	}
	before := len(c.blocks)
	c.blocks = c.encoder.encode(c.blocks, content)
	c.sizes = binary.LittleEndian.AppendUint32(c.sizes, uint32(len(c.blocks)-before))
	return nil
}

// endPiece writes blocks to the file, or keeps them.
func (c *CompressedWriter) endPiece() error {
	if c.file != nil && !c.begun {
		c.skipHeader()
	}
	if !c.begun {
		c.full, c.blocks = append(c.full, c.blocks), make([]byte, 0, pieceSize+min(c.blockSize, pieceSize))
		return nil
	}
	_, err := c.file.WriteAt(c.blocks, c.start+sizesOffset+c.moved)
	c.moved += int64(len(c.blocks))
	c.blocks = c.blocks[:0]
	return err
}

// skipHeader sets start and begun if bytes written to the file can be read again. Otherwise the file becomes nil, and is changed
// at most where it will be written.
func (c *CompressedWriter) skipHeader() {
	var magic [magicBytes]byte
	var err error
	if c.start, err = c.file.Seek(0, io.SeekCurrent); err == nil { // an error for a pipe
		_, err = c.file.WriteAt([]byte(magicCompressed), c.start) // for a file opened with os.O_APPEND
	}
	_, _ = c.file.ReadAt(magic[:], c.start) // nothing of a device, or with os.O_WRONLY
	if c.begun = err == nil && string(magic[:]) == magicCompressed; !c.begun {
		c.file = nil
	}
}

// Close completes the file. After it succeeded, another call returns nil.
func (c *CompressedWriter) Close() error { return c.close(c.finish) }

// finish compresses the last block and writes what is not written.
func (c *CompressedWriter) finish() error {
	if err := c.compress(c.block); err != nil { // there is a last block even if it is empty
		return err
	}
	header := append(make([]byte, 0, sizesOffset), magicCompressed...)
	header = binary.LittleEndian.AppendUint32(header, uint32(c.mode))
	header = binary.LittleEndian.AppendUint32(header, uint32(c.blockSize))
	header = binary.LittleEndian.AppendUint32(header, uint32(c.total))
	head, full, tail := [][]byte{header, c.sizes}, c.full, append(c.blocks, magicCompressed...)
	sizes := int64(len(c.sizes))
	c.block, c.sizes, c.full, c.blocks = nil, nil, nil, nil
	if !c.begun {
		return writeAll(c.w, append(append(head, full...), tail)...)
	}
	if err := c.moveBlocks(sizes); err != nil {
		return err
	}
	if err := writeAll(c.w, head...); err != nil {
		return err
	}
	if _, err := c.file.Seek(c.moved, io.SeekCurrent); err != nil {
		return err
	}
	return writeAll(c.w, tail)
}

// moveBlocks moves the blocks in the file by n bytes, from the last to the first.
func (c *CompressedWriter) moveBlocks(n int64) error {
	piece := make([]byte, min(c.moved, pieceSize))
	for end := c.start + sizesOffset + c.moved; end > c.start+sizesOffset; end -= int64(len(piece)) {
		piece = piece[:min(int64(len(piece)), end-c.start-sizesOffset)]
		at := end - int64(len(piece))
		if _, err := c.file.ReadAt(piece, at); err != nil {
			return err
		}
		if _, err := c.file.WriteAt(piece, at+n); err != nil {
			return err
		}
	}
	return nil
}
