package view

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
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

// New returns the function defining the flags of view. The command opens recordings by openRecording.
func New(openRecording func(index string, o *open.Flags) (*page.Live, error)) func(f *shell.Flags) shell.Action {
	return func(f *shell.Flags) shell.Action {
		v := &viewer{openRecording: openRecording}
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
	openRecording func(index string, o *open.Flags) (*page.Live, error)
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
		return v.show(s, &page.Page{Live: live, Recording: filepath.Base(names[0])})
	}
	var files []*page.Source // the newest last
	for _, name := range names {
		file, err := v.source(s, name)
		if err != nil {
			return err
		}
		files = append(files, file)
		v.open.Keys.Use(file.Stack.Key()) // probably also the key of the second file
	}
	latest, name := files[len(files)-1], names[len(names)-1]
	p := &page.Page{File: latest, Command: save.DisplayName(name)}
	p.Save = func(file *page.Source, c *save.Content, backup bool) (page.Saved, error) {
		return v.save(file, c, backup)
	}
	if len(files) > 1 {
		p.Before = files[0]
		if p.Before.Name == latest.Name {
			p.Before.Name = names[0] // with its folder
		}
	}
	if latest.Path != "" {
		p.Reopen = func() (*page.Source, error) { return v.source(s, name) }
		p.Keep, p.Derive = &v.open.Keep, &v.open.Derive
	}
	return v.show(s, p)
}

// show shows a page until interrupted.
func (v *viewer) show(s *shell.Stdio, p *page.Page) error {
	ctx, end := shell.UntilEnded()
	defer end()
	serve, err := (&Server{Page: p}).Show(*v.noOpen, s.Logf)
	if err != nil {
		return err
	}
	err = serve(ctx)
	for _, edit := range p.Unsaved() {
		s.Logf("not saved: %s %s", edit.Op, shell.Cut(edit.Line, shell.PlainWidth))
	}
	return err
}

// source opens a file for a page.
func (v *viewer) source(s *shell.Stdio, name string) (*page.Source, error) {
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

// sourceOf returns the content of an input for a page.
func (v *viewer) sourceOf(in *open.Input) (*page.Source, error) {
	stat, failed := os.Stat(in.Name) // before reading, to notice a later change
	file, err := page.NewSource(in.Stack)
	if err != nil {
		return nil, err
	}
	if failed == nil && stat.Mode().IsRegular() {
		file.Path, file.Stat = in.Name, stat
	}
	file.Name = filepath.Base(in.Name)
	switch {
	case v.readOnly:
		file.ReadOnly = errors.New("the page is read-only, as -read-only says")
	case file.Path == "":
		file.ReadOnly = errors.New("only a file can be edited")
	case v.open.Skip > 0:
		file.ReadOnly = errors.New("a file with a header, which -skip skips, is not edited")
	case in.Unsure != nil:
		file.ReadOnly = in.Unsure
	case file.ReadOnly == nil:
		file.ReadOnly = shell.CheckWritable(file.Path, file.Stat)
	default:
		file.ReadOnly = in.Explain(file.ReadOnly)
	}
	return file, nil
}

// save replaces a file by one with another content, in the same container.
func (v *viewer) save(file *page.Source, c *save.Content, backup bool) (saved page.Saved, err error) {
	if backup {
		if saved.Backup, err = shell.Backup(file.Path); err != nil {
			return saved, err
		}
	}
	saved.Stat, err = shell.Replace(file.Path, file.Stat, func(out *os.File) error { return file.Stack.Write(out, c.CopyTo) })
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
