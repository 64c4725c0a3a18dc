package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/gdwire/gdwire/fileaccess"
)

// key returns the key of an encrypted file: from -password-file, -key-file, or a
// prompt on the terminal.
func (s *screen) key(name string, o *options) (*fileaccess.Key, error) {
	if o.key != nil {
		return o.key, nil
	}
	key, err := s.findKey(name, o)
	o.key = key // also for the output
	return key, err
}

func (s *screen) findKey(name string, o *options) (*fileaccess.Key, error) {
	switch {
	case o.passwordFile != "":
		b, err := os.ReadFile(o.passwordFile)
		if err != nil {
			return nil, err
		}
		return fileaccess.PasswordKey(string(trimPassword(b))), nil
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

// trimPassword drops a byte order mark and one newline, which editors and echo add.
func trimPassword(b []byte) []byte {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	b = bytes.TrimSuffix(b, []byte("\n"))
	return bytes.TrimSuffix(b, []byte("\r"))
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

// prompt asks for a password without showing it.
func prompt(tty *os.File, errs io.Writer, name string) (*fileaccess.Key, error) {
	fmt.Fprintf(errs, "Password of %s: ", printable(name))
	b, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(errs)
	if err != nil {
		return nil, err
	}
	return fileaccess.PasswordKey(string(b)), nil
}
