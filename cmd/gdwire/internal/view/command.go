package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/values/save"
)

// Open opens the page in the user's browser. Other users see the arguments of a process, so the
// browser gets the name of a file, readable by the user only, that leads to the page. remove
// removes the file.
func (s *Server) Open() (remove func(), err error) {
	f, err := os.CreateTemp("", "gdwire-*.html") // readable by the user only
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.Remove(f.Name()) }
	_, err = fmt.Fprintf(f, "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"+
		"<meta http-equiv=\"refresh\" content=\"0; url=%[1]s\"><a href=\"%[1]s\">gdwire</a>\n", html.EscapeString(s.URL()))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = browser(f.Name()).Start()
	}
	if err != nil {
		remove()
		return nil, err
	}
	return remove, nil
}

// browser returns the command to open a file in the user's browser.
func browser(file string) *exec.Cmd {
	switch runtime.GOOS {
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", file)
	case "darwin":
		return exec.Command("open", file)
	}
	return exec.Command("xdg-open", file)
}

// New returns the function defining the flags of view. The command compares two files by compare, edits a
// file by edit, and opens recordings by openRecording.
func New(compare CompareFunc, edit EditFunc, ask AskFunc, openRecording func(index string, o *open.Flags) (*Live, error)) func(f *shell.Flags) shell.Action {
	return func(f *shell.Flags) shell.Action {
		v := &viewer{compare: compare, edit: edit, ask: ask, openRecording: openRecording}
		v.open.Held = true
		v.open.ValueFlags(f, true)
		v.open.FileFlags(f)
		v.open.SkipFlag(f)
		f.QuietFlag()
		v.noOpen = NoOpenFlag(f)
		f.BoolVar(&v.readOnly, "read-only", false, "edit nothing in the page")
		return shell.Action{Run: func(s *shell.Stdio) error { return v.run(s, f.Operands) }}
	}
}

// NoOpenFlag defines -no-open.
func NoOpenFlag(f *shell.Flags) *bool {
	return f.Bool("no-open", false, "print the address of the page instead of opening a browser")
}

// A viewer shows files or a recording in a page.
type viewer struct {
	open          open.Flags
	noOpen        *bool
	readOnly      bool
	compare       CompareFunc
	edit          EditFunc
	ask           AskFunc
	openRecording func(index string, o *open.Flags) (*Live, error)
}

// run shows a file, or a newer file compared with an older one, in a page until interrupted.
func (v *viewer) run(s *shell.Stdio, names []string) error {
	if len(names) == 0 {
		names = []string{""}
	}
	if len(names) == 1 && strings.HasSuffix(names[0], record.IndexName("")) {
		live, err := v.openRecording(names[0], &v.open)
		if err != nil {
			return err
		}
		return v.show(s, &Server{Live: live, Recording: filepath.Base(names[0])})
	}
	var files []*Source // the newest last
	for _, name := range names {
		file, err := v.source(s, name)
		if err != nil {
			return err
		}
		files = append(files, file)
		v.open.Keys.Use(file.stack.Key()) // probably also the key of the second file
	}
	latest, name := files[len(files)-1], names[len(names)-1]
	page := &Server{File: latest, Command: save.DisplayName(name), Compare: v.compare, Edit: v.edit, Ask: v.ask}
	page.Save = func(file *Source, c *save.Content, backup bool) (Saved, error) {
		return v.save(s, name, file, c, backup)
	}
	if len(files) > 1 {
		page.Before = files[0]
		if page.Before.Name == latest.Name {
			page.Before.Name = names[0] // with its folder
		}
	}
	if latest.Path != "" {
		page.Reopen = func() (*Source, error) { return v.source(s, name) }
	}
	return v.show(s, page)
}

// show shows a page until interrupted.
func (v *viewer) show(s *shell.Stdio, page *Server) error {
	ctx, end := shell.UntilEnded()
	defer end()
	serve, err := page.Show(*v.noOpen, s.Logf)
	if err != nil {
		return err
	}
	err = serve(ctx)
	for _, edit := range page.Unsaved() {
		s.Logf("not saved: %s %s", edit.Op, shell.Cut(edit.Line, shell.PlainWidth))
	}
	return err
}

// source opens a file for a page.
func (v *viewer) source(s *shell.Stdio, name string) (*Source, error) {
	in, err := v.open.Open(s, name)
	if err != nil {
		return nil, err
	}
	file, err := v.sourceOf(in)
	if err != nil || file.Data != nil { // or the page reads the file as long as it is shown
		_ = in.Close()
	}
	return file, err
}

// sourceOf returns the content of an input for a page. Compressed and encrypted files, and
// pipes, are read into memory.
func (v *viewer) sourceOf(in *open.Input) (*Source, error) {
	stat, err := os.Stat(in.Name) // before reading, to notice a later change
	store, failed := in.Store(save.MaxVersion)
	if failed != nil {
		return nil, failed
	}
	file := &Source{Store: store}
	if err == nil && stat.Mode().IsRegular() {
		file.Path, file.Stat = in.Name, stat
	}
	file.Name, file.Format, file.Frame, file.Options = filepath.Base(in.Name), in.Decoder.Format, in.Frame, in.Decoder
	info := in.Container()
	file.Container, file.stack = open.ContainerText(&info), in.Stack
	file.ReadOnly = v.whyReadOnly(in, file)
	return file, file.unpack()
}

// unpack puts the values of packets compressed by a script in place of these. The file is not edited then,
// because its values are at other offsets.
func (s *Source) unpack() error {
	if s.Data == nil {
		return nil
	}
	data, packets, err := s.content().Unpacked(save.MaxVersion)
	if err != nil || packets == 0 {
		return err
	}
	s.Store = save.InMemory(data)
	s.Container += fmt.Sprintf(", compressed packets: %d", packets)
	s.ReadOnly = cmp.Or(s.ReadOnly, "a file of packets that are compressed is not edited")
	return nil
}

// whyReadOnly returns why a file is not edited, or "".
func (v *viewer) whyReadOnly(in *open.Input, file *Source) string {
	switch {
	case v.readOnly:
		return "the page is read-only, as -read-only says"
	case file.Path == "":
		return "only a file can be edited"
	case v.open.Skip > 0:
		return "a file with a header, which -skip skips, is not edited"
	case in.Unsure != nil:
		return in.Unsure.Error()
	}
	if err := cmp.Or(in.CheckZeros(file.content()), shell.CheckWritable(file.Path, file.Stat)); err != nil {
		return err.Error()
	}
	return ""
}

// save replaces a file by one with another content, in the same container.
func (v *viewer) save(s *shell.Stdio, name string, file *Source, c *save.Content, backup bool) (saved Saved, err error) {
	if !file.stack.Container().IsPlain() { // nothing may follow it
		again := *s
		again.Edits = true
		in, err := v.open.OpenStack(&again, name)
		if err != nil {
			return saved, err
		}
		_, err = io.Copy(io.Discard, in.Unwrapped().Reader())
		if err = errors.Join(err, in.Close()); err != nil {
			return saved, err
		}
	}
	if backup {
		if saved.Backup, err = shell.Backup(file.Path); err != nil {
			return saved, err
		}
	}
	saved.Stat, err = shell.Replace(file.Path, file.Stat, func(out *os.File) error {
		return file.stack.Write(out, func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(c, 0, c.Size))
			return err
		})
	})
	if err != nil && backup { // the file is unchanged
		_ = os.Remove(saved.Backup)
		saved.Backup = ""
	}
	return saved, err
}

// Show opens the page in the browser, or with noOpen prints its address, and returns a function to serve
// the page until ctx is done.
func (s *Server) Show(noOpen bool, logf func(format string, args ...any)) (serve func(ctx context.Context) error, err error) {
	ln, err := s.Listen()
	if err != nil {
		return nil, err
	}
	remove := func() {}
	if noOpen {
		logf("%s", s.URL())
	} else if remove, err = s.Open(); err == nil {
		logf("the page is open in the browser; Ctrl-C ends it")
	} else {
		remove = func() {}
		logf("no browser was opened (%v): %s", err, s.URL())
	}
	return func(ctx context.Context) error {
		defer remove()
		return s.Serve(ctx, ln)
	}, nil
}
