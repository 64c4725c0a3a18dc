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
	return s.servePage(ctx, &view.Server{File: file, Command: in.name}, o)
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

// servePage serves a page until ctx is done, and opens it in the browser or prints its address.
func (s *screen) servePage(ctx context.Context, page *view.Server, o *options) error {
	ln, err := page.Listen()
	if err != nil {
		return err
	}
	opened := false
	if !o.noOpen {
		remove, err := page.Open()
		if opened = err == nil; opened {
			defer remove()
			s.say("the page is open in the browser; Ctrl-C ends it")
		} else {
			s.say("no browser was opened: %v", err)
		}
	}
	if !opened {
		s.say("%s", page.URL())
	}
	return page.Serve(ctx, ln)
}
