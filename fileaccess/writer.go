package fileaccess

import "io"

// NewWriter returns a Writer of a file of the kind that info describes: plain, compressed,
// encrypted with key, or a raw stream, and in base64 text if info.Base64 says so. Close completes the file and does not close w.
func NewWriter(w io.Writer, info Info, key *Key) (io.WriteCloser, error) {
	if info.Base64.Text {
		text := newBase64Writer(w, info.Base64)
		info.Base64 = Base64{}
		file, err := NewWriter(text, info, key)
		if err != nil {
			return nil, err
		}
		return &textWriter{file: file, text: text}, nil
	}
	var out io.WriteCloser
	var err error
	switch info.Container {
	case Plain:
		out = &plainWriter{w: w}
	case Compressed:
		out, err = NewCompressedWriter(w, info.Mode, info.BlockSize)
	case Encrypted:
		out, err = NewEncryptedWriter(w, info.Layout, key)
	case Raw:
		out, err = newRawWriter(w, info.Mode)
	default:
		err = errorf(0, ErrContainer, "%d", info.Container)
	}
	if err != nil {
		return nil, err // not a nil pointer in an interface
	}
	return out, nil
}
