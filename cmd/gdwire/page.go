package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/internal/input"
)

func viewFlags(fs *flag.FlagSet, o *options) {
	fs.BoolVar(&o.noOpen, "no-open", false, "print the address of the page instead of opening a browser")
}

// viewFile shows a file in a page until it is interrupted.
func viewFile(s *stdio, o *options) error {
	in, err := s.open(o.file(), o)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	file, err := newViewSource(in, o)
	if err != nil {
		return err
	}
	ctx, end := signal.NotifyContext(context.Background(), os.Interrupt, terminated)
	defer end()
	serve, err := openPage(&view.Server{File: file, Command: in.Name}, o, s.logf)
	if err != nil {
		return err
	}
	return serve(ctx)
}

// newViewSource returns the content of an input for a page. Compressed and encrypted files, and
// pipes, are read into memory.
func newViewSource(in *input.Source, o *options) (*view.Source, error) {
	var v *view.Source
	if f, start := in.File(); f != nil {
		var err error
		if v, err = view.NewFile(f, start); err != nil {
			return nil, prefixed(in.Name, err)
		}
	} else {
		content, err := in.ReadAll()
		if err != nil {
			return nil, err
		}
		v = view.NewSource(content)
	}
	v.Name, v.Format, v.Frame, v.Options = filepath.Base(in.Name), o.Decoder.Format, o.Frame, o.Decoder
	v.Container = containerText(o.container)
	return v, nil
}

// openPage opens a page in the browser or prints its address. It returns a function that serves
// the page until ctx is done.
func openPage(page *view.Server, o *options, logf func(format string, args ...any)) (serve func(ctx context.Context) error, err error) {
	ln, err := page.Listen()
	if err != nil {
		return nil, err
	}
	remove := func() {}
	if o.noOpen {
		logf("%s", page.URL())
	} else if remove, err = page.Open(); err == nil {
		logf("the page is open in the browser; Ctrl-C ends it")
	} else {
		remove = func() {}
		logf("no browser was opened (%v): %s", err, page.URL())
	}
	return func(ctx context.Context) error {
		defer remove()
		return page.Serve(ctx, ln)
	}, nil
}
