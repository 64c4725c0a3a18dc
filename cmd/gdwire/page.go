package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/fileaccess"
)

func viewFlags(fs *flag.FlagSet, o *options) {
	fs.BoolVar(&o.noOpen, "no-open", false, "print the address of the page instead of opening a browser")
}

// viewFile shows a file in a page until it is interrupted.
func viewFile(s *screen, o *options) error {
	in, err := s.open(o.file(), o)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	file, err := in.viewed(o)
	if err != nil {
		return err
	}
	ctx, end := signal.NotifyContext(context.Background(), os.Interrupt, terminated)
	defer end()
	serve, err := openPage(&view.Server{File: file, Command: in.name}, o, s.say)
	if err != nil {
		return err
	}
	return serve(ctx)
}

// viewed returns the content of the input for a page. A container, and a pipe, is read into
// memory.
func (in *source) viewed(o *options) (*view.Source, error) {
	var v *view.Source
	var err error
	if f, ok := in.file.(*os.File); ok && !in.live && o.container.Container == fileaccess.Plain {
		v, err = view.NewFile(f, o.skip)
	} else {
		var content []byte
		content, err = io.ReadAll(io.LimitReader(in, maxInMemory+1))
		if err == nil && len(content) > maxInMemory {
			err = errors.New("the content is larger than 1 GiB")
		}
		v = view.NewSource(content)
	}
	if err != nil {
		return nil, prefixed(in.name, err)
	}
	v.Name, v.Format, v.Frame, v.Options = filepath.Base(in.name), o.decoder.Format, o.frame, o.decoder
	v.Container = containerText(o.container)
	return v, nil
}

// openPage opens a page in the browser or prints its address. It returns a function that serves
// the page until ctx is done.
func openPage(page *view.Server, o *options, say func(format string, args ...any)) (serve func(ctx context.Context) error, err error) {
	ln, err := page.Listen()
	if err != nil {
		return nil, err
	}
	remove := func() {}
	if o.noOpen {
		say("%s", page.URL())
	} else if remove, err = page.Open(); err == nil {
		say("the page is open in the browser; Ctrl-C ends it")
	} else {
		remove = func() {}
		say("no browser was opened (%v): %s", err, page.URL())
	}
	return func(ctx context.Context) error {
		defer remove()
		return page.Serve(ctx, ln)
	}, nil
}
