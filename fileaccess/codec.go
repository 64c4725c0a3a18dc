package fileaccess

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// A Mode is a compression mode: FileAccess.CompressionMode of the engines.
type Mode uint32

// The modes. Brotli is only recognized, because no engine writes it.
const (
	FastLZ  Mode = iota // the engines' default
	Deflate             // a zlib stream
	Zstd
	Gzip
	Brotli
)

// String returns the mode's name in lower case, such as "zstd".
func (m Mode) String() string {
	if int64(m) < int64(len(codecs)) {
		return codecs[m].name
	}
	return fmt.Sprintf("mode %d", uint32(m))
}

// codec returns the codec of the mode's blocks, or nil if the mode is not supported.
func (m Mode) codec() *codec {
	if int64(m) < int64(len(codecs)) && codecs[m].decoder != nil {
		return &codecs[m]
	}
	return nil
}

// A codec creates a decoder and an encoder for all blocks of a file in a mode, and a reader and
// a writer of the mode's streams.
type codec struct {
	name string
	// ratio is the maximum number of bytes decoded from a byte of a block.
	ratio    int64
	decoder  func() decoder
	encoder  func() encoder
	encoders sync.Pool // of Compress
	// reader returns a reader of the content of in, with a maximum window in bytes. It reads no
	// byte after the end of the stream.
	reader func(in *bufio.Reader, window int64) (io.Reader, error)
	writer func(w io.Writer) io.WriteCloser
}

// A decoder fills dst with the content of block, which must have the length of dst.
type decoder interface {
	decode(dst, block []byte) error
}

// An encoder appends a block with the content src to dst.
type encoder interface {
	encode(dst, src []byte) []byte
}

var codecs = [...]codec{
	FastLZ: {
		name:    "fastlz",
		ratio:   fastlzRatio,
		decoder: func() decoder { return new(fastlzDecoder) },
		encoder: func() encoder { return new(fastlzEncoder) },
		reader:  func(in *bufio.Reader, _ int64) (io.Reader, error) { return newFastLZReader(in) },
		writer:  func(w io.Writer) io.WriteCloser { return &fastlzWriter{w: w} },
	},
	Deflate: {
		name:    "deflate",
		ratio:   deflateRatio,
		decoder: func() decoder { return &streamDecoder{reset: resetZlib()} },
		encoder: func() encoder { return &streamEncoder{w: zlib.NewWriter(nil)} },
		reader:  func(in *bufio.Reader, _ int64) (io.Reader, error) { return resetZlib()(in) },
		writer:  func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	},
	Zstd: {
		name:    "zstd",
		ratio:   128 << 10 / 4, // a block of 128 KiB of the same byte takes 4 bytes
		decoder: func() decoder { return zstdDecoder{sharedZstdDecoder()} },
		encoder: func() encoder { return zstdEncoder{sharedZstdEncoder()} },
		reader:  zstdReader,
		writer:  zstdWriter,
	},
	Gzip: {
		name:    "gzip",
		ratio:   deflateRatio,
		decoder: func() decoder { return &streamDecoder{reset: resetGzip()} },
		encoder: func() encoder { return &streamEncoder{w: gzip.NewWriter(nil)} },
		reader:  func(in *bufio.Reader, _ int64) (io.Reader, error) { return resetGzip()(in) },
		writer:  func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	},
	Brotli: {name: "brotli"},
}

// deflateRatio is the maximum ratio of deflate: 258 bytes in two bits.
const deflateRatio = 1032

// A streamDecoder decodes blocks with a package that reads streams.
type streamDecoder struct {
	in    bytes.Reader
	reset func(in io.Reader) (io.Reader, error)
	probe [1]byte
}

// resetZlib returns a function returning a zlib reader of in, the same reader in each call,
// because a new one allocates a window of 32 KiB.
func resetZlib() func(io.Reader) (io.Reader, error) {
	var z io.ReadCloser
	return func(in io.Reader) (_ io.Reader, err error) {
		if z == nil {
			z, err = zlib.NewReader(in)
			return z, err
		}
		return z, z.(zlib.Resetter).Reset(in, nil)
	}
}

// resetGzip returns a function returning a gzip reader of in, the same in each call. The reader ends after the first
// member, the only one of an engine.
func resetGzip() func(io.Reader) (io.Reader, error) {
	var z gzip.Reader
	return func(in io.Reader) (io.Reader, error) {
		err := z.Reset(in)
		if err == nil {
			z.Multistream(false)
		}
		return &z, err
	}
}

func (d *streamDecoder) decode(dst, block []byte) error {
	d.in.Reset(block)
	r, err := d.reset(&d.in)
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(r, dst); err == io.EOF || err == io.ErrUnexpectedEOF {
		return errShort
	} else if err != nil {
		return err
	}
	// The checksum is verified by the read that returns io.EOF.
	if _, err := io.ReadFull(r, d.probe[:]); err == nil {
		return errLong
	} else if err != io.EOF {
		return err
	}
	if d.in.Len() > 0 {
		return errAfter
	}
	return nil
}

// A streamEncoder encodes blocks with a package that writes streams.
type streamEncoder struct {
	w interface {
		io.WriteCloser
		Reset(io.Writer)
	}
	out appender
}

func (e *streamEncoder) encode(dst, src []byte) []byte {
	e.out = dst
	e.w.Reset(&e.out)
	_, err := e.w.Write(src)
	if err := errors.Join(err, e.w.Close()); err != nil {
		panic(err) // an appender returns no errors
	}
	dst, e.out = e.out, nil
	return dst
}

// An appender is a Writer that appends to itself.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// The zstd package's DecodeAll and EncodeAll can be called from many goroutines and start none,
// so all files share one decoder and one encoder.
var (
	sharedZstdDecoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
		if err != nil {
			panic(err) // the options are right
		}
		return d
	})
	sharedZstdEncoder = sync.OnceValue(func() *zstd.Encoder {
		// Frames without a checksum and of an empty block, as engines write them.
		e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true),
			zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithWindowSize(1<<20))
		if err != nil {
			panic(err) // the options are right
		}
		return e
	})
)

type zstdDecoder struct{ d *zstd.Decoder }

func (d zstdDecoder) decode(dst, block []byte) error {
	// The capacity is a limit on the decoded bytes: out is dst.
	out, err := d.d.DecodeAll(block, dst[:0:len(dst)])
	if err == nil && len(out) < len(dst) {
		err = errShort
	}
	return err
}

type zstdEncoder struct{ e *zstd.Encoder }

func (e zstdEncoder) encode(dst, src []byte) []byte { return e.e.EncodeAll(src, dst) }

// zstdReader returns a reader that starts no goroutines, and so needs no Close.
func zstdReader(in *bufio.Reader, window int64) (io.Reader, error) {
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
}

// zstdWriter returns a writer that starts no goroutines.
func zstdWriter(w io.Writer) io.WriteCloser {
	e, err := zstd.NewWriter(w, zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // the options are right
	}
	return e
}
