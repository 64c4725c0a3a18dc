package shell

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/gdwire/gdwire/fileaccess"
)

// Keys returns the keys of encrypted files.
type Keys struct {
	passwordFile, keyFile string
	key                   *fileaccess.Key // of the files, if known
}

// Flags defines the flags of a Keys.
func (k *Keys) Flags(f *Flags) {
	f.StringVar(&k.passwordFile, "password-file", "", "`FILE` with the password of an encrypted file, or - for standard input")
	f.StringVar(&k.keyFile, "key-file", "", "`FILE` with the key of an encrypted file: 32 bytes or 64 hexadecimal digits")
}

// Use sets the key of all other files, unless it is nil.
func (k *Keys) Use(key *fileaccess.Key) {
	if key != nil {
		k.key = key
	}
}

// Key returns the key of an encrypted file: from -password-file, -key-file, or a
// prompt on the terminal.
func (k *Keys) Key(s *Stdio, name string) (key *fileaccess.Key, err error) {
	switch {
	case k.key != nil:
		return k.key, nil
	case k.passwordFile != "" || k.keyFile != "":
		key, err = k.read(s)
		k.Use(key) // standard input is read once
		return key, err
	}
	if s.MessagesShown() {
		if tty, err := openTerminal(); err == nil {
			defer func() { _ = tty.Close() }()
			return prompt(tty, s.Errs, name)
		}
	}
	return nil, Choicef("%s is encrypted: give its password by -password-file, or its key by -key-file", name)
}

// read returns the key from the flags.
func (k *Keys) read(s *Stdio) (*fileaccess.Key, error) {
	switch k.passwordFile {
	case "":
		return readKey(k.keyFile)
	case "-":
		if s.InputRead {
			return nil, errors.New("standard input cannot be both the password and the input")
		}
		return readPassword(s.In)
	}
	f, err := os.Open(k.passwordFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readPassword(f)
}

// readPassword reads a password in UTF-8, or in UTF-16 with a byte order mark as
// written by PowerShell.
func readPassword(r io.Reader) (*fileaccess.Key, error) {
	b, err := io.ReadAll(DecodeText(r))
	return fileaccess.PasswordKey(string(trimPassword(b))), err
}

// trimPassword drops one newline, as added by editors and echo.
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

// prompt asks for a password without showing it. In the raw mode of the terminal,
// Ctrl-C and Ctrl-D are read, so that the terminal is restored.
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
	fmt.Fprintf(errs, "Password of %s: ", Printable(name)) // ReadPassword would break a long line
	password, err := t.ReadPassword("")
	if err == io.EOF {
		return nil, Choicef("no password was given")
	}
	if err != nil {
		return nil, err
	}
	return fileaccess.PasswordKey(password), nil
}
