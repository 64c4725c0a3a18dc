package main

import (
	"cmp"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/variant"
)

func viewFlags(fs *flag.FlagSet, o *options) {
	fs.BoolVar(&o.noOpen, "no-open", false, "print the address of the page instead of opening a browser")
}

// viewFile shows a file, or a newer file compared with an older one, in a page until it is interrupted.
func viewFile(s *stdio, o *options) error {
	names := o.operands
	if len(names) == 0 {
		names = []string{o.file()}
	}
	if len(names) == 1 && strings.HasSuffix(names[0], record.IndexName("")) {
		live, err := openRecording(names[0], o)
		if err != nil {
			return err
		}
		return showPage(&view.Server{Live: live, Recording: filepath.Base(names[0])}, s, o)
	}
	var files []*view.Source // the newest last
	for _, name := range names {
		one := *o
		file, closer, err := openSource(s, name, &one)
		if err != nil {
			return err
		}
		defer func() { _ = closer.Close() }()
		files = append(files, file)
		o.key = one.key // probably that of the second file, too
	}
	latest, name := files[len(files)-1], names[len(names)-1]
	page := &view.Server{File: latest, Command: save.DisplayName(name), Compare: compareSources(o)}
	if len(files) > 1 {
		page.Before = files[0]
		if page.Before.Name == latest.Name {
			page.Before.Name = names[0] // with its folder
		}
	}
	if latest.Path != "" {
		page.Reopen = func() (*view.Source, error) {
			one := *o
			file, _, err := openSource(s, name, &one) // which the page reads as long as it is shown
			return file, err
		}
	}
	return showPage(page, s, o)
}

// showPage shows a page until it is interrupted.
func showPage(page *view.Server, s *stdio, o *options) error {
	ctx, end := untilEnded()
	defer end()
	serve, err := openPage(page, o, s.logf)
	if err != nil {
		return err
	}
	return serve(ctx)
}

// openSource opens a file for the page.
func openSource(s *stdio, name string, o *options) (*view.Source, io.Closer, error) {
	in, err := s.open(name, o)
	if err != nil {
		return nil, nil, err
	}
	file, err := newViewSource(in, o)
	if err != nil {
		_ = in.Close()
		return nil, nil, err
	}
	return file, in, nil
}

// compareSources returns a function that compares two files as diff does.
func compareSources(o *options) view.CompareFunc {
	return func(ctx context.Context, before, after *view.Source, yield func(view.Change) bool) (note string, err error) {
		var sides [2]*side
		for i, source := range []*view.Source{before, after} {
			one := *o
			one.Candidates, one.Frame = nil, source.Frame
			one.Decoder, one.maxMemory = source.Options, maxCompared
			one.Decoder.Format, one.Decoder.AllowObjects = source.Format, true
			sides[i] = &side{name: source.Name, r: source.ReaderAt(), size: source.Size, options: &one}
		}
		send := func(change view.Change) error {
			change.Old, change.New = cut(change.Old, plainWidth), cut(change.New, plainWidth)
			if ctx.Err() != nil || !yield(change) {
				return errLoopEnded
			}
			return nil
		}
		c := comparer{
			tree: func(c variant.Change) error {
				change := view.Change{Path: c.NewPath}
				if c.Removed {
					change.Path, change.At = c.OldPath, placeOf(&c)
				}
				if !c.Added {
					change.Old, err = sides[0].text(c.Old)
				}
				if !c.Removed && err == nil {
					change.New, err = sides[1].text(c.New)
				}
				return cmp.Or(err, send(change))
			},
			leaf: func(old, value *leaf) error {
				var change view.Change
				if old != nil {
					change.Path, change.Old = old.path, old.text
				}
				if value != nil {
					change.Path, change.New = value.path, value.text
				}
				return send(change)
			},
			byPosition: func(int64) { note = "large files are compared by position" },
		}
		if max(sides[0].size, sides[1].size) > maxAligned {
			c.byPosition(0)
			err = c.leaves(sides[0], sides[1], 0)
		} else {
			err = c.compare(sides[0], sides[1])
		}
		if err == errLoopEnded {
			err = ctx.Err()
		}
		return note, err
	}
}

// placeOf returns the path of a value that was removed as if only its containers had moved since, or ""
// if that is its path.
func placeOf(c *variant.Change) string {
	p, err := text.Parse(c.OldPath)
	if n := len(p.Steps); err == nil && n > 0 {
		if place := string(p.Steps[n-1].Append([]byte(c.NewPath))); place != c.OldPath {
			return place
		}
	}
	return ""
}

// maxAligned is the size in bytes of the largest file that the page compares with its elements
// aligned. Tests change it.
var maxAligned = int64(64 << 20)

// maxCompared is the memory in bytes that the values of each of two files may take that are compared as
// trees.
const maxCompared = 256 << 20

// newViewSource returns the content of an input for a page. Compressed and encrypted files, and
// pipes, are read into memory.
func newViewSource(in *save.Source, o *options) (*view.Source, error) {
	stat, err := os.Stat(in.Name) // before it is read, so that a later change is noticed
	store, failed := in.Store(view.InMemory)
	if failed != nil {
		return nil, failed
	}
	v := &view.Source{Store: store}
	if err == nil && stat.Mode().IsRegular() {
		v.Path, v.Stat = in.Name, stat
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
