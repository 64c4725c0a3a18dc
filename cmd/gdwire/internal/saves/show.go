package saves

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/values/save"
)

// Tokens defines the flags of tokens.
var Tokens = shows(open.NewTokenPrinter)

// Flat defines the flags of flat.
var Flat = shows(open.NewFlatPrinter)

// shows returns the flags of a command showing the packets of a file.
func shows(newPrinter open.NewPrinter) func(*shell.Flags) shell.Action {
	return func(f *shell.Flags) shell.Action {
		var o open.Flags
		o.ReadFlags(f, true)
		f.OutputFlag()
		return shell.Action{Run: func(s *shell.Stdio) error { return o.ShowFile(s, f.File(), newPrinter) }}
	}
}

// JSON defines the flags of json.
func JSON(f *shell.Flags) shell.Action {
	var o open.Flags
	o.ReadFlags(f, true)
	j := jsonFlags(f)
	return shell.Action{File: func(s *shell.Stdio, name string) error { return o.ShowFile(s, name, open.NewJSONPrinter(*j)) }}
}

// indent begins a line once for each container around its value.
const indent = "  "

// jsonFlags defines the flags of a command showing JSON.
func jsonFlags(f *shell.Flags) *gdjson.Options {
	f.OutputFlag()
	o := &gdjson.Options{}
	f.BoolVar(&o.Plain, "plain", false, "plain JSON, for people and jq; it is lossy")
	f.BoolFunc("indent", "a line for each element", func(string) error {
		o.Indent = indent
		return nil
	})
	return o
}

// Check defines the flags of check.
func Check(f *shell.Flags) shell.Action {
	o := open.Flags{NonEmpty: true}
	o.ReadFlags(f, false)
	lines := f.Bool("json", false, "a line of JSON for each value or packet")
	return shell.Action{
		Check: func() (err error) { f.Operands, err = filesOf(f.Operands); return err },
		File:  func(s *shell.Stdio, name string) error { return check(s, &o, name, *lines) },
	}
}

// filesOf returns names, with the files in a folder in place of the folder.
func filesOf(names []string) (all []string, err error) {
	for _, name := range names {
		inside, notFolder := os.ReadDir(name)
		if notFolder != nil {
			all = append(all, name)
			continue
		}
		before := len(all)
		for _, file := range inside {
			if file.Type().IsRegular() {
				all = append(all, filepath.Join(name, file.Name()))
			}
		}
		if len(all) == before {
			return nil, fmt.Errorf("there are no files in the folder %s", name)
		}
	}
	return all, nil
}

// check validates a file. A file without values is an error.
func check(s *shell.Stdio, o *open.Flags, name string, lines bool) error {
	var n int64
	err := o.ShowFile(s, name, func(s *shell.Stdio, in *open.Input) open.Printer {
		return open.NewCheckPrinter(lines)(s, in).Counting(&n)
	})
	if err == nil && n == 0 {
		return fmt.Errorf("%s is empty", save.DisplayName(name))
	}
	return err
}

// Unwrap defines the flags of unwrap.
func Unwrap(f *shell.Flags) shell.Action {
	var o open.Flags
	o.FileFlags(f)
	o.SkipFlag(f)
	f.OutputFlag()
	f.Binary = false // showText looks
	return shell.Action{Run: func(s *shell.Stdio) error { return unwrap(s, &o, f.File()) }}
}

// showText writes text to a terminal, such as that of a ConfigFile, or returns an error for other bytes.
func showText(s *shell.Stdio, r io.Reader) error {
	const most = 1 << 20 // bytes
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	isOther := func(c rune) bool {
		return c == utf8.RuneError || !unicode.IsPrint(c) && !strings.ContainsRune("\n\r\t", c)
	}
	if err == nil && (len(b) > most || bytes.ContainsFunc(b, isOther)) {
		return shell.ErrBinary
	}
	_, failed := s.Out.Write(b)
	return cmp.Or(err, failed)
}

// unwrap writes the content of a compressed or encrypted file, or the values inside the bytes of a game.
func unwrap(s *shell.Stdio, o *open.Flags, name string) error {
	in, err := o.OpenStack(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if in.IsPlain() {
		return fmt.Errorf("%s is neither compressed nor encrypted as by Godot", in.Name)
	}
	if around := in.Around(); around != "" && in.Container().IsPlain() {
		s.Infof("%s contains values %s", in.Name, around)
	}
	content := in.Unwrapped()
	if s.IsTerminal {
		return showText(s, content.Reader())
	}
	n, err := io.Copy(s.Out, s.Progress(content.Reader(), content.Size))
	s.Clear()
	if save.IsContainerError(err) && n > 0 {
		return &shell.PartError{Err: err, Bytes: n}
	}
	return err
}

// Wrap defines the flags of wrap.
func Wrap(f *shell.Flags) shell.Action {
	o := &open.Flags{Writes: true}
	o.FileFlags(f)
	o.SkipFlag(f)
	f.SaveFlag()
	like := f.String("like", "", "compress and encrypt as `FILE` is, with its key")
	check := func() error {
		if *like == "" {
			return errors.New("wrap needs -like FILE, a file that is compressed or encrypted")
		}
		return nil
	}
	return shell.Action{Check: check, Run: func(s *shell.Stdio) error { return wrap(s, o, *like, f.File()) }}
}

// wrap writes what unwrap writes, edited, as it is in another file.
func wrap(s *shell.Stdio, o *open.Flags, like, name string) error {
	outside, err := o.OpenStack(s, like)
	if err != nil {
		return err
	}
	defer func() { _ = outside.Close() }()
	if outside.IsPlain() {
		return fmt.Errorf("%s is neither compressed nor encrypted as by Godot", outside.Name)
	}
	in, err := open.File(s, name, false)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	return o.Rewrite(s, outside.Wrapping(), outside.Container(), outside.Key(), func(w io.Writer) error {
		_, err := io.Copy(w, in.Reader())
		return err
	})
}
