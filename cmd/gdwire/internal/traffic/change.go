package traffic

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/save/edit"
	"github.com/gdwire/gdwire/internal/text"
)

// The changeFlags are the flags of proxy to change or drop packets.
type changeFlags struct {
	set    []place // -set, in order
	dropIf []place // -drop-if
}

// A place is a path in a packet, and a value for it.
type place struct {
	line  string // as written by the user
	path  text.Path
	value string // as text, or "" if there is none
}

// define defines the flags.
func (c *changeFlags) define(f *shell.Flags) {
	f.Func("set", "apply `'PATH = VALUE'`, as gdwire set does, to packets that have a value at PATH; may be given several times", func(s string) error {
		return addPlace(&c.set, s, true)
	})
	f.Func("drop-if", "drop packets that have a value at `PATH`; PATH = VALUE drops those with this value; may be given several times", func(s string) error {
		return addPlace(&c.dropIf, s, false)
	})
}

// any reports whether there are such flags.
func (c *changeFlags) any() bool { return len(c.set)+len(c.dropIf) > 0 }

// addPlace adds a place. A place that is not to be set can be a path alone.
func addPlace(all *[]place, line string, set bool) error {
	p := place{line: line}
	var err error
	if p.path, err = text.Parse(line); err != nil || set {
		p.path, p.value, err = text.CutLine(line, nil)
	}
	several := slices.ContainsFunc(p.path.Steps, func(s text.Step) bool { return s.Op == text.All })
	switch {
	case err != nil:
		return err
	case p.path.Cut:
		return fmt.Errorf("%v is only the start of a path", p.path)
	case p.path.Packet != 0:
		return fmt.Errorf("%v is in another packet, and each is looked at alone", p.path)
	case several && p.value != "":
		return fmt.Errorf("%v leads to several values", p.path)
	}
	if !set && p.value != "" {
		if v, err := text.ParseValue(p.value); err == nil && (v.Items != nil || v.Type == gdwire.TypeArray || v.Type == gdwire.TypeDictionary) {
			return errors.New("only values that contain no others are compared")
		}
	}
	*all = append(*all, p)
	return nil
}

// set returns the plan for setting the value at the place in a packet.
func (p *place) set(c *save.Content) (*edit.Plan, error) {
	var tree text.Tree
	if _, err := tree.Add(p.path, p.value); err != nil {
		return nil, err
	}
	return edit.Edit(c, edit.Set, &tree, false)
}

// isIn reports whether a packet has a value at the place, and this one if there is one.
func (p *place) isIn(c *save.Content) bool {
	if p.value != "" {
		plan, err := p.set(c)
		return err == nil && len(plan.Changes) == 0
	}
	var tree text.Tree
	if _, err := tree.Add(p.path, ""); err != nil {
		return false
	}
	edit.ResolveReals(c, &tree)
	w := &text.Walker{
		Value: func(*text.Node) (bool, error) { return false, text.ErrFound },
		Part:  func(*text.Node, text.Part) error { return text.ErrFound },
	}
	return c.Packets(save.Every, func(one *save.Packet) (bool, error) {
		w.Decoder = one.Decoder
		return false, w.Walk(tree.Root(0))
	}) == text.ErrFound
}

// drops reports whether a valid packet is dropped.
func (c *changeFlags) drops(packet []byte, o *save.Reading) bool {
	for i := range c.dropIf {
		if c.dropIf[i].isIn(save.NewPacket(packet, o.Decoder)) {
			return true
		}
	}
	return false
}

// change returns a valid packet with the values of -set, and reports whether it differs. fail is called for a
// value that the packet cannot take.
func (c *changeFlags) change(packet []byte, o *save.Reading, fail func(line string, err error)) (changed []byte, differs bool) {
	for i := range c.set {
		p := &c.set[i]
		plan, err := p.set(save.NewPacket(packet, o.Decoder))
		if errors.As(err, new(*text.NotFoundError)) {
			continue
		}
		var b bytes.Buffer
		if err == nil && len(plan.Changes) > 0 {
			_, err = plan.WriteTo(&b)
		}
		switch {
		case err != nil:
			fail(p.line, err)
		case b.Len() > 0:
			packet, differs = b.Bytes(), true
		}
	}
	return packet, differs
}
