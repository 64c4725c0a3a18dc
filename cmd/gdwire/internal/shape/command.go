package shape

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
)

// New defines the flags of shape.
func New(f *shell.Flags) shell.Action {
	c := &command{open: open.Flags{NonEmpty: true}}
	c.open.ReadFlags(f, true)
	f.OutputFlag()
	f.BoolVar(&c.lines, "json", false, "a line of JSON for each change")
	f.StringVar(&c.write, "write", "", "keep the shape of the new saves in `FILE`, which can be OLD later")
	return shell.Action{
		Check: func() error {
			if len(f.Operands) == 1 && c.write == "" {
				return errors.New("name the newer saves, too, or keep the shape of these: -write FILE")
			}
			return nil
		},
		Run: func(s *shell.Stdio) error { return c.run(s, f.Operands) },
	}
}

// A command compares the shapes of saves, or writes a shape.
type command struct {
	open  open.Flags
	lines bool   // -json
	write string // -write
}

// run compares the saves of the first name with the saves of the others.
func (c *command) run(s *shell.Stdio, names []string) error {
	old, err := c.read(s, names[:1])
	if err != nil {
		return err
	}
	value := old
	var changes []Change
	if len(names) > 1 {
		if value, err = c.read(s, names[1:]); err != nil {
			return err
		}
		changes = compare(old, value)
	}
	if err := c.show(s, changes); err != nil {
		return err
	}
	if c.write != "" {
		b, err := value.encode()
		if err == nil {
			err = s.WriteFile(c.write, b)
		}
		if err != nil {
			return err
		}
		s.Infof("%s: the shape of %s", c.write, english.Plural(value.Count, "save", ""))
	}
	if len(changes) > 0 {
		return shell.ErrBad
	}
	if len(names) > 1 {
		s.Infof("no change of shape from %s to %s", english.Plural(old.Count, "older save", ""), english.Plural(value.Count, "newer one", ""))
	}
	return nil
}

// show shows changes.
func (c *command) show(s *shell.Stdio, changes []Change) error {
	lines := json.NewEncoder(s.Out)
	lines.SetEscapeHTML(false)
	for _, change := range changes {
		var err error
		if c.lines {
			err = lines.Encode(change)
		} else {
			_, err = fmt.Fprintln(s.Out, shell.Printable(change.String()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read returns the shape of all saves in files and folders, or the shape in a file of -write.
func (c *command) read(s *shell.Stdio, names []string) (*Saves, error) {
	all := &Saves{}
	for _, name := range names {
		info, err := os.Stat(name)
		if !save.IsStdin(name) && err != nil {
			return nil, err
		}
		switch {
		case save.IsStdin(name) || !info.IsDir() && !info.Mode().IsRegular():
			err = c.addFile(s, all, name)
		case info.IsDir():
			err = c.addFolder(s, all, name)
		default:
			var kept *Saves
			if kept, err = load(name); err == nil && kept == nil {
				err = c.addFile(s, all, name)
			} else if err == nil && len(names) > 1 {
				err = fmt.Errorf("%s is a shape, and saves cannot be added to it: name it alone", name)
			} else if err == nil {
				return kept, nil
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if all.Count == 0 {
		return nil, fmt.Errorf("%s contains no saves", strings.Join(names, ", "))
	}
	for _, v := range all.Values {
		v.finish()
	}
	return all, nil
}

// addFolder adds the saves in a folder and the folders in it. Other and hidden files are left out.
func (c *command) addFolder(s *shell.Stdio, all *Saves, folder string) error {
	return filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		switch hidden := strings.HasPrefix(entry.Name(), ".") && name != folder; {
		case err != nil:
			return err
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || !entry.Type().IsRegular():
			return nil
		}
		err = c.addFile(s, all, name)
		if other := (*save.UnknownError)(nil); errors.As(err, &other) {
			s.Infof("%s is left out: it %v", name, other)
			return nil
		}
		return err
	})
}

// addFile adds a save.
func (c *command) addFile(s *shell.Stdio, all *Saves, name string) error {
	in, err := c.open.Open(s, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	c.open.Keys.Use(in.Key) // probably also the key of the others
	if err := in.CheckEnd(); err != nil {
		return err
	}
	_, err = all.add(in, in, "have a shape")
	return err
}
