package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/gdwire/gdwire/fileaccess"
)

// key returns the key of an encrypted file: from -password-file, -key-file, or a
// prompt on the terminal.
func (s *stdio) key(name string, o *options) (*fileaccess.Key, error) {
	if o.key != nil {
		return o.key, nil
	}
	key, err := s.findKey(name, o)
	o.key = key // also for the output
	return key, err
}

// findKey returns the key from the flags or the prompt.
func (s *stdio) findKey(name string, o *options) (*fileaccess.Key, error) {
	switch {
	case o.passwordFile == "-":
		if s.inputRead {
			return nil, errors.New("standard input cannot be both the password and the input")
		}
		return readPassword(s.in)
	case o.passwordFile != "":
		f, err := os.Open(o.passwordFile)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		return readPassword(f)
	case o.keyFile != "":
		return readKey(o.keyFile)
	}
	if _, ok := terminal(s.errs); ok {
		if tty, err := openTerminal(); err == nil {
			defer func() { _ = tty.Close() }()
			return prompt(tty, s.errs, name)
		}
	}
	return nil, choiceError{fmt.Errorf("%s is encrypted: give its password by -password-file, or its key by -key-file", name)}
}

// readPassword reads a password in UTF-8, or in UTF-16 with a byte order mark, as
// PowerShell writes it.
func readPassword(r io.Reader) (*fileaccess.Key, error) {
	b, err := io.ReadAll(transform.NewReader(r, unicode.BOMOverride(encoding.Nop.NewDecoder())))
	return fileaccess.PasswordKey(string(trimPassword(b))), err
}

// trimPassword drops one newline, which editors and echo add.
func trimPassword(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}

// readKey reads a key of 32 bytes or 64 hexadecimal digits.
func readKey(name string) (*fileaccess.Key, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var key fileaccess.Key
	if len(b) == len(key) {
		copy(key[:], b)
		return &key, nil
	}
	if digits := bytes.TrimSpace(b); len(digits) == 2*len(key) {
		if _, err := hex.Decode(key[:], digits); err == nil {
			return &key, nil
		}
	}
	return nil, fmt.Errorf("%s contains neither 32 bytes nor 64 hexadecimal digits", name)
}

// prompt asks for a password without showing it. The terminal is in raw mode, so that
// Ctrl-C and Ctrl-D are read and leave it as it was.
func prompt(tty *os.File, errs io.Writer, name string) (*fileaccess.Key, error) {
	state, err := term.MakeRaw(int(tty.Fd()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = term.Restore(int(tty.Fd()), state) }()
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{tty, errs}, "")
	fmt.Fprintf(errs, "Password of %s: ", printable(name)) // ReadPassword would break a long line
	password, err := t.ReadPassword("")
	if err == io.EOF {
		return nil, choiceError{errors.New("no password was given")}
	}
	if err != nil {
		return nil, err
	}
	return fileaccess.PasswordKey(password), nil
}
