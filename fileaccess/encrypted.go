package fileaccess

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"crypto/rand"
	"encoding/binary"
	"hash"
	"io"
)

// openEncrypted reads the header after the magic number and, if possible, verifies the
// content.
func openEncrypted(src *source, o *Options) (io.Reader, Info, error) {
	size, err := src.size()
	if err != nil {
		return nil, Info{}, err
	}
	var header [maxHeader]byte
	if err := src.readFull(header[magicBytes:layouts[LayoutGodot3].dataOffset]); err != nil {
		return nil, Info{}, err
	}
	layout := detectLayout(header[:], size)
	l := layouts[layout]
	if err := src.readFull(header[layouts[LayoutGodot3].dataOffset:l.dataOffset]); err != nil {
		return nil, Info{}, err
	}
	length := binary.LittleEndian.Uint64(header[l.lengthOffset:])
	limits := o.Limits.bounds()
	if err := limits.check(limitSize, length, int64(l.lengthOffset)); err != nil {
		return nil, Info{}, err
	}
	info := Info{Container: Encrypted, Layout: layout, Size: int64(length)}
	key := o.Key
	if key == nil && o.AskKey != nil {
		if key, err = o.AskKey(info); err != nil {
			return nil, info, err
		}
	}
	if key == nil {
		return nil, info, ErrNoKey
	}
	start := func() *encryptedReader { return newEncryptedReader(src, layout, header[:], key) }
	r, verified, err := verify(src, start, o)
	info.Verified = verified
	return r, info, err
}

// detectLayout returns the layout of a file of size bytes, or of unknown size if size is
// negative, beginning with header. A single MD5 in 2^32 begins like the version of Godot 3; the
// size then decides.
func detectLayout(header []byte, size int64) Layout {
	fits := func(layout Layout) bool {
		l := layouts[layout]
		length := binary.LittleEndian.Uint64(header[l.lengthOffset:])
		return size >= 0 && length <= uint64(size) && int64(l.dataOffset)+padded(int64(length)) == size
	}
	if binary.LittleEndian.Uint32(header[versionOffset:]) != version || fits(LayoutGodot4) && !fits(LayoutGodot3) {
		return LayoutGodot4
	}
	return LayoutGodot3
}

// verify returns a Reader of the content and whether the content's MD5 was verified. start
// returns a Reader of the content after the header.
func verify(src *source, start func() *encryptedReader, o *Options) (r io.Reader, verified bool, err error) {
	e := start()
	if buffered := cmp.Or(o.MaxBuffered, defaultBuffered); buffered < 0 || e.remaining <= buffered {
		b, err := io.ReadAll(e)
		return bytes.NewReader(b), true, err
	}
	if src.seeker == nil {
		return e, false, nil
	}
	pos, err := src.seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return e, false, nil
	}
	if _, err := io.Copy(io.Discard, e); err != nil {
		return nil, false, err
	}
	if _, err := src.seeker.Seek(pos, io.SeekStart); err != nil {
		return nil, false, err
	}
	src.n = int64(e.dataOffset)
	return start(), true, nil
}

// chunk is the number of bytes encrypted or decrypted at once.
const chunk = 16 << 10

// An encryptedReader decrypts a content and compares its MD5 at the end.
type encryptedReader struct {
	src        *source
	crypt      func(dst, src []byte)
	sum        hash.Hash
	want       []byte // MD5
	wantOffset int64
	dataOffset int
	remaining  int64 // bytes of the content not decrypted yet
	unread     int64 // bytes not read from src yet

	buf        []byte
	start, end int    // of the bytes in buf not decrypted yet
	rest       []byte // of buf, decrypted and not read yet
	err        error
}

func newEncryptedReader(src *source, layout Layout, header []byte, key *Key) *encryptedReader {
	l := layouts[layout]
	length := int64(binary.LittleEndian.Uint64(header[l.lengthOffset:]))
	return &encryptedReader{
		src:        src,
		crypt:      layout.cipher(key, header[l.ivOffset:][:encryptedBlock], false),
		sum:        md5.New(),
		want:       header[l.md5Offset:][:md5.Size],
		wantOffset: int64(l.md5Offset),
		dataOffset: l.dataOffset,
		remaining:  length,
		unread:     padded(length),
		buf:        make([]byte, min(padded(length), chunk)),
	}
}

func (e *encryptedReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(e.rest) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.err = e.fill()
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// fill decrypts at least one block into rest. With the last block it returns io.EOF or ErrPassword.
func (e *encryptedReader) fill() error {
	if e.remaining > 0 {
		e.end = copy(e.buf, e.buf[e.start:e.end])
		room := min(int64(len(e.buf)-e.end), e.unread)
		n, err := io.ReadAtLeast(e.src, e.buf[e.end:][:room], encryptedBlock-e.end)
		if err != nil {
			return e.src.cut(err)
		}
		e.unread -= int64(n)
		e.end += n
		e.start = e.end &^ (encryptedBlock - 1)
		e.crypt(e.buf[:e.start], e.buf[:e.start])
		e.rest = e.buf[:min(int64(e.start), e.remaining)]
		e.sum.Write(e.rest)
		e.remaining -= int64(len(e.rest))
	}
	if e.remaining > 0 {
		return nil
	}
	if !bytes.Equal(e.sum.Sum(nil), e.want) {
		return &Error{e.wantOffset, ErrPassword}
	}
	return io.EOF
}

// An EncryptedWriter writes an encrypted file. The MD5 and the length of the content precede
// the content in the file. If w is an [*os.File], the EncryptedWriter writes the header last;
// otherwise, also if w embeds an *os.File, it keeps the content until Close. Errors stay.
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
	file  file  // w, or nil: buf holds the whole content until Close
	begun bool  // file is written from after the header on
	start int64 // offset of the header in file
}

// NewEncryptedWriter returns a Writer of a file for FileAccess.open_encrypted with key, or
// open_encrypted_with_pass with the password of key. Close completes the file and does not
// close w. Without Close the header is missing and the file cannot be opened.
//
// The file is encrypted as engines do. The MD5 detects damage, but does not authenticate the file.
func NewEncryptedWriter(w io.Writer, layout Layout, key *Key) (*EncryptedWriter, error) {
	if int(layout) >= len(layouts) {
		return nil, errorf(0, ErrLayout, "%d", layout)
	}
	if key == nil {
		return nil, ErrNoKey
	}
	iv := make([]byte, encryptedBlock)
	rand.Read(iv) // never fails
	return &EncryptedWriter{w: w, file: fileOf(w), layout: layout, iv: iv, crypt: layout.cipher(key, iv, true), sum: md5.New()}, nil
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
	if e.file != nil && !e.begun {
		if err := e.skipHeader(); err != nil {
			return err
		}
	}
	if !e.begun {
		return nil
	}
	e.crypt(e.buf, e.buf)
	err = writeAll(e.w, e.buf)
	e.buf = e.buf[:0]
	return err
}

// skipHeader sets start and begun, and moves the file to the first byte after the header. If the file cannot do that, it becomes
// nil.
func (e *EncryptedWriter) skipHeader() (err error) {
	blank := make([]byte, layouts[e.layout].dataOffset)
	if e.start, err = e.file.Seek(0, io.SeekCurrent); err == nil { // an error for a pipe
		_, err = e.file.WriteAt(blank, e.start) // for a file opened with os.O_APPEND, to which nothing is written
	}
	if err != nil {
		e.file = nil
		return nil
	}
	e.begun = true
	_, err = e.file.Seek(e.start+int64(len(blank)), io.SeekStart)
	return err
}

// Close completes the file. Another call after success returns nil.
func (e *EncryptedWriter) Close() error { return e.close(e.finish) }

// finish writes the last blocks and the header. Only now are the MD5 and the length known.
func (e *EncryptedWriter) finish() error {
	e.buf = append(e.buf, make([]byte, padded(e.length)-e.length)...)
	e.crypt(e.buf, e.buf)
	header, data := e.appendHeader(nil), e.buf
	e.buf = nil
	if !e.begun {
		return writeAll(e.w, header, data)
	}
	if err := writeAll(e.w, data); err != nil {
		return err
	}
	_, err := e.file.WriteAt(header, e.start)
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
