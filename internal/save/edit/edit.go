// Package edit changes values in encoded packets and keeps all other bytes. Counts and
// lengths around a change are corrected.
package edit

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// Edit returns the plan for the edits in a tree. The texts of the tree are the new values. If
// exact is not set, a new value takes the type of the old value, or is a TypeError.
func Edit(c *save.Content, op Op, tree *text.Tree, exact bool) (*Plan, error) {
	return planned(c, tree, func(c *save.Content) (*editor, error) {
		return &editor{content: c, op: op, exact: exact, source: ofTexts}, nil
	})
}

// Copy returns the plan for putting copies of the value at a path at the targets of a tree,
// replacing any values there.
func Copy(c *save.Content, from text.Path, to *text.Tree) (*Plan, error) {
	return planned(c, to, func(c *save.Content) (*editor, error) {
		var source text.Tree
		if _, err := source.Add(from, ""); err != nil {
			return nil, err
		}
		find := &editor{content: c, finds: true}
		err := find.run(&source)
		return &editor{content: c, op: Put, source: ofCopy(find.found)}, err
	})
}

// planned returns the plan of the editor of a content for a tree.
func planned(c *save.Content, tree *text.Tree, of func(*save.Content) (*editor, error)) (*Plan, error) {
	var first *editor
	edited, err := c.Edit(func(c *save.Content) (*save.Content, error) {
		tree.Reset()
		e, err := of(c)
		if err == nil {
			err = e.run(tree)
		}
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = e
		}
		return c.Edited(e.edited, e.edited.size), nil
	})
	if err != nil {
		return nil, err
	}
	first.Plan.content = edited
	return &first.Plan, nil
}

// run walks over all packets of the tree.
func (e *editor) run(tree *text.Tree) error {
	e.edited = newTable(e.content.ReaderAt, e.content.Size)
	if len(tree.Targets) == 0 {
		return nil
	}
	e.positions, e.removed, e.keys = map[*text.Node]int64{}, map[*text.Node]int64{}, map[*text.Node]*newKeys{}
	e.Walker = &text.Walker{Value: e.value, Part: e.part, Leave: e.leave}
	if !e.finds && e.op != Delete {
		e.Walker.Key = e.key
	}
	ResolveReals(e.content, tree)
	if err := packets(e.content, tree, func(p *save.Packet) error { return e.edit(tree, p) }); err != nil {
		return err
	}
	for _, p := range tree.Targets {
		if in := p.Parent(); e.op == Put && in != nil && in.Hits > 1 { // a value would be added to the first
			p = in
		}
		switch {
		case p.Hits == 0:
			return notFound(e.content, p)
		case p.Hits > 1:
			return fmt.Errorf("there are %d values at %v; .value(n) is the value of the n-th pair", p.Hits, p)
		}
	}
	return e.finish()
}

// edit makes the splices of a packet.
func (e *editor) edit(tree *text.Tree, p *save.Packet) error {
	e.packet, e.Decoder, e.width, e.here = p, p.Decoder, nil, nil
	if err := e.Walk(tree.Root(p.Index)); err != nil {
		return err
	}
	if e.here == nil {
		return nil
	}
	end := p.Limit()
	if e.content.Frame == save.Bare {
		end = e.InputOffset()
	}
	sortSplices(e.here)
	for i := 1; i < len(e.here); i++ {
		if e.here[i].start < e.here[i-1].end {
			return errors.New("two of the paths lead to the same bytes")
		}
	}
	e.packets = append(e.packets, editedPacket{start: p.Offset, end: end, splices: e.here})
	return nil
}

// finish makes the edited content and verifies its packets.
func (e *editor) finish() error {
	var all []splice
	for i := range e.packets {
		p := &e.packets[i]
		for i := range p.splices {
			p.grow += p.splices[i].grow()
		}
		if e.content.Frame != save.Bare {
			size := p.end - p.start + p.grow
			if size > math.MaxUint32 {
				return errors.New("the packet would be too long for a length of 32 bits")
			}
			length := e.content.Frame.Order().AppendUint32(nil, uint32(size))
			all = append(all, splice{start: p.start - lengthSize, end: p.start, bytes: length})
		}
		all = append(all, p.splices...)
		p.splices = nil
	}
	e.edited = e.edited.splice(all)
	shift := int64(0)
	for i := range e.packets {
		p := &e.packets[i]
		if err := e.verify(p, shift); err != nil {
			return err
		}
		shift += p.grow
	}
	return nil
}

// verify checks an edited packet, moved by shift and grown. If engines could have written the
// packet before the edit, they must be able to write the edited packet; otherwise the packet must
// be readable.
func (e *editor) verify(p *editedPacket, shift int64) error {
	o := e.content.Decoder
	strict := o
	strict.Strict, strict.AllowObjects = true, true
	strict.Limits = gdwire.NoLimits
	strict.Limits.Depth = o.Limits.Depth
	check := func(o gdwire.DecoderOptions, r io.ReaderAt, start, end int64) error {
		d := gdwire.NewDecoder(io.NewSectionReader(r, start, end-start), &o)
		defer d.Release()
		return d.SkipValue()
	}
	edited := func(o gdwire.DecoderOptions) error {
		return check(o, e.edited, p.start+shift, p.end+shift+p.grow)
	}
	err := edited(strict)
	if err != nil && check(strict, e.content, p.start, p.end) != nil {
		o.AllowObjects, o.Limits = true, strict.Limits
		err = edited(o)
	}
	if err != nil {
		return &RefusedError{err}
	}
	return nil
}

// A Request is one of several edits: Put or Delete.
type Request struct {
	Op    Op
	Path  text.Path
	Value *Value // of Put
}

// Apply returns the content after edits in their order. The content is read once for as many edits
// as do not depend on each other.
func Apply(c *save.Content, all []Request) (*save.Content, error) {
	return c.Edit(func(c *save.Content) (*save.Content, error) {
		var err error
		for rest := all; len(rest) > 0 && err == nil; {
			n := independent(rest)
			c, err = applyAll(c, rest[:n])
			rest = rest[n:]
		}
		return c, err
	})
}

// independent returns the number of requests at the start of all that can be made at once: the result,
// if any, is the same as if they were made one after the other.
func independent(all []Request) int {
	for i := range all {
		if all[i].Op != all[0].Op || !all[i].isIndependent() {
			return max(i, 1)
		}
	}
	return len(all)
}

// isIndependent reports whether the path leads to the same value after other independent requests of the same
// kind. Deleting an element moves the elements after it, and adding an element moves those counted from the end;
// a pair can have several paths by its number, and if its key is a StringName.
func (r *Request) isIndependent() bool {
	for i := range r.Path.Steps {
		s := &r.Path.Steps[i]
		isIndex, last := s.Key.Type == gdwire.TypeInt, i == len(r.Path.Steps)-1
		switch {
		case s.Op != text.Child && s.Op != text.End, s.Key.Type == gdwire.TypeStringName,
			isIndex && (s.Key.Int < 0 || last && r.Op == Delete):
			return false
		}
	}
	return true
}

// applyAll makes independent requests at once. If this fails, because one is in the value of
// another or for any other reason, applyAll makes the first half before the other.
func applyAll(c *save.Content, all []Request) (*save.Content, error) {
	next, err := applyOnce(c, all)
	if err == nil || len(all) == 1 {
		return next, err
	}
	half := len(all) / 2
	if c, err = applyAll(c, all[:half]); err != nil {
		return nil, err
	}
	return applyAll(c, all[half:])
}

// applyOnce makes requests of the same kind in one walk.
func applyOnce(c *save.Content, all []Request) (*save.Content, error) {
	var tree text.Tree
	values := make([]*Value, len(all))
	for i := range all {
		if _, err := tree.Add(all[i].Path, ""); err != nil {
			return nil, err
		}
		values[i] = all[i].Value
	}
	e := &editor{content: c, op: all[0].Op, source: ofGo(values)}
	err := e.run(&tree)
	if err != nil {
		return nil, err
	}
	return c.Edited(e.edited, e.edited.size), nil
}
