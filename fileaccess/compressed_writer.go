package fileaccess

import (
	"encoding/binary"
	"io"
	"math"
)

// A CompressedWriter writes a compressed file. The sizes of all blocks precede the first
// block in the file, so the CompressedWriter keeps the compressed blocks until Close.
// Errors stay.
type CompressedWriter struct {
	w         io.Writer
	mode      Mode
	encoder   encoder
	blockSize int
	total     int64
	block     []byte // content of the next block
	sizes     []byte // compressed sizes of the blocks, as in the file
	blocks    []byte
	sticky
}

// NewCompressedWriter returns a Writer of a file that FileAccess.open_compressed
// opens. Engines read blocks of any size; a blockSize of 0 means 4096, the size that they
// write. Close writes the whole file to w and does not close w.
//
// The content of a compressed file can have 4 GiB - 1 bytes. A Write that exceeds this
// returns a [LimitError].
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
	return &CompressedWriter{w: w, mode: mode, encoder: codec.encoder(), blockSize: blockSize}, nil
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
	for len(c.block)+len(p) >= c.blockSize {
		if len(c.block) == 0 {
			c.compress(p[:c.blockSize])
			p = p[c.blockSize:]
			continue
		}
		used := c.blockSize - len(c.block)
		c.block = append(c.block, p[:used]...)
		c.compress(c.block)
		c.block, p = c.block[:0], p[used:]
	}
	c.block = append(c.block, p...)
	return n, nil
}

// compress adds a block of the file.
func (c *CompressedWriter) compress(content []byte) {
	before := len(c.blocks)
	c.blocks = c.encoder.encode(c.blocks, content)
	c.sizes = binary.LittleEndian.AppendUint32(c.sizes, uint32(len(c.blocks)-before))
}

// Close writes the file. After it succeeded, another call returns nil.
func (c *CompressedWriter) Close() error { return c.close(c.finish) }

// finish compresses the last block and writes the file.
func (c *CompressedWriter) finish() error {
	c.compress(c.block) // there is a last block even if it is empty
	header := append(make([]byte, 0, sizesOffset), magicCompressed...)
	header = binary.LittleEndian.AppendUint32(header, uint32(c.mode))
	header = binary.LittleEndian.AppendUint32(header, uint32(c.blockSize))
	header = binary.LittleEndian.AppendUint32(header, uint32(c.total))
	err := writeAll(c.w, header, c.sizes, append(c.blocks, magicCompressed...))
	c.block, c.sizes, c.blocks = nil, nil, nil
	return err
}
