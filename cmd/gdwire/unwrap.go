package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
)

// unwrap writes the content of a compressed or encrypted file.
func unwrap(s *stdio, o *options) error {
	in, err := s.openContainer(o.file(), o)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if o.container.Container == fileaccess.Plain {
		return fmt.Errorf("%s is neither compressed nor encrypted as by FileAccess", in.Name)
	}
	n, err := io.Copy(s.out, s.progress(in, in.Size))
	s.clear()
	if save.IsContainerError(err) && n > 0 {
		return &partError{err, n}
	}
	return err
}

// version shows the version of the module.
func version(s *stdio, _ *options) error {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	_, err := fmt.Fprintln(s.out, "gdwire", v)
	return err
}
