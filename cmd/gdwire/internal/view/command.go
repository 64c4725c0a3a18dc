package view

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
)

// New returns the function that defines the flags of view. It compares two files by compare, and opens recordings by
// openRecording.
func New(compare CompareFunc, openRecording func(index string, o *open.Flags) (*Live, error)) func(f *shell.Flags) shell.Action {
	return func(f *shell.Flags) shell.Action {
		v := &viewer{compare: compare, openRecording: openRecording}
		v.open.ValueFlags(f, true)
		v.open.FileFlags(f)
		v.open.SkipFlag(f)
		f.QuietFlag()
		v.noOpen = NoOpenFlag(f)
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
	compare       CompareFunc
	openRecording func(index string, o *open.Flags) (*Live, error)
}

// run shows a file, or a newer file compared with an older one, in a page until it is interrupted.
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
		in, err := v.open.Open(s, name)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		file, err := sourceOf(in)
		if err != nil {
			return err
		}
		files = append(files, file)
		v.open.Keys.Use(in.Key) // probably also that of the second file
	}
	latest, name := files[len(files)-1], names[len(names)-1]
	page := &Server{File: latest, Command: save.DisplayName(name), Compare: v.compare}
	if len(files) > 1 {
		page.Before = files[0]
		if page.Before.Name == latest.Name {
			page.Before.Name = names[0] // with its folder
		}
	}
	if latest.Path != "" {
		page.Reopen = func() (*Source, error) {
			in, err := v.open.Open(s, name) // which the page reads as long as it is shown
			if err != nil {
				return nil, err
			}
			file, err := sourceOf(in)
			if err != nil {
				_ = in.Close()
			}
			return file, err
		}
	}
	return v.show(s, page)
}

// show shows a page until it is interrupted.
func (v *viewer) show(s *shell.Stdio, page *Server) error {
	ctx, end := shell.UntilEnded()
	defer end()
	serve, err := page.Show(*v.noOpen, s.Logf)
	if err != nil {
		return err
	}
	return serve(ctx)
}

// sourceOf returns the content of an input for a page. Compressed and encrypted files, and
// pipes, are read into memory.
func sourceOf(in *open.Input) (*Source, error) {
	stat, err := os.Stat(in.Name) // before it is read: a later change is noticed
	store, failed := in.Store(inMemory)
	if failed != nil {
		return nil, failed
	}
	v := &Source{Store: store}
	if err == nil && stat.Mode().IsRegular() {
		v.Path, v.Stat = in.Name, stat
	}
	v.Name, v.Format, v.Frame, v.Options = filepath.Base(in.Name), in.Decoder.Format, in.Frame, in.Decoder
	v.Container = open.ContainerText(&in.Container)
	return v, nil
}

// Show opens the page in the browser, or with noOpen prints its address. It returns a function that serves
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
