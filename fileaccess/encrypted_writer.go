package fileaccess

import (
	"crypto/md5"
	"crypto/rand"
	"encoding/binary"
	"hash"
	"io"
)

// An EncryptedWriter writes an encrypted file. The MD5 and the length of the content precede
// the content in the file. If w is an io.WriterAt and io.Seeker, such as an *os.File, the
// EncryptedWriter writes the header last; otherwise it keeps the content until Close. Errors
// stay.
type EncryptedWriter struct {
	w      io.Writer
	layout Layout
	iv     []byte
	crypt  func(dst, src []byte)
	sum    hash.Hash
	length int64
	buf    []byte // of the content, not encrypted yet
	sticky

	// When buf first holds a chunk, writing begins if w allows to write the header later.
	tried  bool
	header io.WriterAt // nil: buf holds the whole content until Close
	start  int64       // offset of the header in w
}

// NewEncryptedWriter returns a Writer of a file that FileAccess.open_encrypted
// opens with key, or open_encrypted_with_pass with its password. Close completes the file
// and does not close w. Without Close the header is missing and the file cannot be opened.
//
// The file is encrypted as engines do it. Its MD5 detects damage, but does not authenticate
// the file.
func NewEncryptedWriter(w io.Writer, layout Layout, key *Key) (*EncryptedWriter, error) {
	if int(layout) >= len(layouts) {
		return nil, errorf(0, ErrLayout, "%d", layout)
	}
	if key == nil {
		return nil, ErrNoKey
	}
	iv := make([]byte, encryptedBlock)
	rand.Read(iv) // never fails
	return &EncryptedWriter{w: w, layout: layout, iv: iv, crypt: layout.cipher(key, iv, true), sum: md5.New()}, nil
}

// Write adds p to the content.
func (e *EncryptedWriter) Write(p []byte) (n int, err error) {
	for e.err == nil && len(p) > 0 {
		used := min(len(p), chunk-len(e.buf)%chunk)
		e.buf = append(e.buf, p[:used]...)
		e.sum.Write(p[:used])
		e.length += int64(used)
		n += used
		p = p[used:]
		if len(e.buf) >= chunk {
			e.err = e.flush()
		}
	}
	return n, e.err
}

// flush encrypts and writes buf, which holds whole blocks, if w allows to write
// the header later.
func (e *EncryptedWriter) flush() (err error) {
	if !e.tried {
		e.tried = true
		if err := e.skipHeader(); err != nil {
			return err
		}
	}
	if e.header == nil {
		return nil
	}
	e.crypt(e.buf, e.buf)
	err = writeAll(e.w, e.buf)
	e.buf = e.buf[:0]
	return err
}

// skipHeader sets header and start, and moves w to the first byte after the
// header, if w can do that.
func (e *EncryptedWriter) skipHeader() error {
	f, ok := e.w.(interface {
		io.WriterAt
		io.Seeker
	})
	if !ok {
		return nil
	}
	start, err := f.Seek(0, io.SeekCurrent)
	if err != nil { // a pipe, as a file
		return nil
	}
	// A file opened with os.O_APPEND returns an error here and writes nothing.
	blank := make([]byte, layouts[e.layout].dataOffset)
	if _, err := f.WriteAt(blank, start); err != nil {
		return nil
	}
	e.header, e.start = f, start
	_, err = f.Seek(start+int64(len(blank)), io.SeekStart)
	return err
}

// Close completes the file. After it succeeded, another call returns nil.
func (e *EncryptedWriter) Close() error { return e.close(e.finish) }

// finish writes the last blocks and the header. Only now are the MD5 and the length known.
func (e *EncryptedWriter) finish() error {
	e.buf = append(e.buf, make([]byte, padded(e.length)-e.length)...)
	e.crypt(e.buf, e.buf)
	header, data := e.appendHeader(nil), e.buf
	e.buf = nil
	if e.header == nil {
		return writeAll(e.w, header, data)
	}
	if err := writeAll(e.w, data); err != nil {
		return err
	}
	_, err := e.header.WriteAt(header, e.start)
	return err
}

func (e *EncryptedWriter) appendHeader(b []byte) []byte {
	b = append(b, magicEncrypted...)
	if e.layout == LayoutGodot3 {
		b = binary.LittleEndian.AppendUint32(b, version)
	}
	b = e.sum.Sum(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.length))
	if e.layout == LayoutGodot4 {
		b = append(b, e.iv...)
	}
	return b
}
