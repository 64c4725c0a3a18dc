package edit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// packets calls yield for each packet with a path in the tree.
func packets(c *save.Content, tree *text.Tree, yield func(*save.Packet) error) error {
	remaining := tree.Packets()
	wanted := func(index int64) bool { return tree.Root(index) != nil }
	return c.Packets(wanted, func(p *save.Packet) (bool, error) {
		remaining--
		return remaining > 0, yield(p)
	})
}

// Walk walks over all packets of a tree.
func Walk(c *save.Content, tree *text.Tree, w *text.Walker) error {
	return packets(c, tree, func(p *save.Packet) error {
		w.Decoder = p.Decoder
		return w.Walk(tree.Root(p.Index))
	})
}

// Resolve replaces the keys of a tree that can mean another key by the other key, as Tree.Resolve
// does.
func Resolve(c *save.Content, tree *text.Tree) {
	tree.Resolve(func(w *text.Walker) error { return Walk(c, tree, w) })
}

// ResolveReals is Resolve for keys with real numbers only.
func ResolveReals(c *save.Content, tree *text.Tree) {
	if tree.HasReals() {
		tree.ResolveReals(func(w *text.Walker) error { return Walk(c, tree, w) })
	}
}

// notFound returns the error for a node where a walk found no value. To find a similar key,
// notFound walks over the packet again, for this node alone.
func notFound(c *save.Content, p *text.Node) error {
	path, err := text.Parse(p.String())
	if err != nil {
		return err
	}
	var tree text.Tree
	if p, err = tree.Add(path, ""); err != nil {
		return err
	}
	var near text.Nearest
	switch err := Walk(c, &tree, &text.Walker{Key: near.Key}); {
	case err != nil:
		return err
	case p.Hits > 0:
		return fmt.Errorf("another of the paths leads to %v, too", p)
	}
	elsewhere := ""
	err = c.Packets(func(index int64) bool { return index != path.Packet }, func(packet *save.Packet) (bool, error) {
		elsewhere = Elsewhere(packet, path)
		return elsewhere == "", nil
	})
	if err == nil && elsewhere != "" {
		return fmt.Errorf("%w; there is %s", near.NotFound(p), elsewhere)
	}
	return near.NotFound(p)
}

// Elsewhere returns the path that leads to a value in a packet with the steps of another path, or "" if none does.
func Elsewhere(packet *save.Packet, path text.Path) string {
	var tree text.Tree
	path.Packet = packet.Index
	p, err := tree.Add(path, "")
	if err = cmp.Or(err, packet.Err); err == nil {
		err = (&text.Walker{Decoder: packet.Decoder}).Walk(tree.Root(packet.Index))
	}
	if err != nil || p.Hits == 0 {
		return ""
	}
	return p.String()
}

// value handles a target before its value is read.
func (e *editor) value(p *text.Node) (goOn bool, err error) {
	switch {
	case p.HasInner():
		if v, err := e.operand(p); e.op == Set && err == nil && v.isType() {
			return true, nil // leave compares the types
		}
		return false, fmt.Errorf("both %v and a value in it are edited", p)
	case e.finds:
		return false, e.find()
	case e.op == Add && p.Parent() == nil:
		return false, fmt.Errorf("%v is a whole packet, which cannot be added", p)
	case e.op == Add:
		e.positions[p] = e.Start()
		return false, e.SkipValue()
	case e.op == Delete:
		return false, e.remove(p)
	}
	v, err := e.operand(p)
	if wrong := (*text.SyntaxError)(nil); errors.As(err, &wrong) {
		return false, e.noValue(p, wrong)
	}
	if err != nil || v.isType() {
		return true, err // leave compares the types
	}
	return false, e.set(p, &v)
}

// noValue returns the error of the text of a target that is no value, with the type of the next value.
func (e *editor) noValue(p *text.Node, wrong *text.SyntaxError) error {
	was, err := read(e.Decoder, 0)
	if err != nil {
		return err
	}
	return &ValueError{p.String(), typeOf(&was.Value), was.such(), wrong}
}

// set replaces the next value.
func (e *editor) set(p *text.Node, v *operand) error {
	start, elem := e.InputOffset(), e.Elem()
	was, err := read(e.Decoder, len(v.Text))
	if err != nil {
		return err
	}
	if v.Value, err = v.Result(&was.Value); err != nil {
		return fmt.Errorf("%v: %w", p, err)
	}
	if err := e.fit(p, v, &was, elem); err != nil {
		return err
	}
	if was.is(v) || e.holds(v, &was, start) {
		return nil
	}
	s, err := e.encoded(v)
	if err != nil {
		return fmt.Errorf("%v: %w", p, reason(err))
	}
	s.start, s.end = start, e.InputOffset()
	e.splice(s)
	e.changed(p, v.String(), was.String())
	if p.Parent() != nil && p.Step().Op == text.KeyAt {
		return e.newKey(p, &v.Value)
	}
	return nil
}

// errOther ends a comparison with another value.
var errOther = errors.New("another value")

// holds reports whether v is the text of a container, the old value at offset start. Encoding the text could
// change bytes that the text does not show, such as the padding of a NodePath.
func (e *editor) holds(v *operand, was *oldValue, start int64) bool {
	if v.isEncoded() || v.Items == nil && v.Form != text.Empty || was.Form != text.Declared || !v.IsLike(&was.Value) {
		return false
	}
	o := e.content.Decoder
	o.Limits = gdwire.NoLimits // the value was read with limits before
	d := gdwire.NewDecoder(io.NewSectionReader(e.content, start, e.InputOffset()-start), &o)
	defer d.Release()
	want := v.Value.Append(nil)
	p := text.Printer{Decoder: d}
	p.Flush = func() error {
		if !bytes.HasPrefix(want, p.Buf) {
			return errOther
		}
		want, p.Buf = want[len(p.Buf):], p.Buf[:0]
		return nil
	}
	return p.Next(0) == nil && bytes.Equal(want, p.Buf)
}

// find reads the value to copy.
func (e *editor) find() error {
	start := e.InputOffset()
	was, err := read(e.Decoder, maxCopied)
	e.found = operand{oldValue: was, exact: true, encoding: splice{from: start, size: e.InputOffset() - start}}
	return err
}

// remove removes the next value from its container.
func (e *editor) remove(p *text.Node) error {
	switch {
	case p.Parent() == nil:
		return fmt.Errorf("%v is a whole packet, which cannot be deleted", p)
	case p.Step().Op == text.KeyAt:
		return fmt.Errorf("%v is a key; .value(n) deletes the n-th pair", p)
	}
	start := e.Start()
	was, err := read(e.Decoder, 0)
	if err != nil {
		return err
	}
	e.delete(p, start, e.InputOffset(), was.String())
	return nil
}

func (e *editor) delete(p *text.Node, start, end int64, was string) {
	e.removed[p.Parent()]++
	e.splice(splice{start: start, end: end})
	e.changed(p, "", was)
}

// part handles a target that is a part of a value.
func (e *editor) part(p *text.Node, part text.Part) error {
	element := part.In.Element() != 0
	switch {
	case p.HasInner():
		return fmt.Errorf("both %v and a value in it are edited", p)
	case e.finds:
		e.found = operand{oldValue: oldValue{Value: part.Value}, exact: true}
		e.found.Numbers = slices.Clone(part.Value.Numbers)
		return nil
	case e.op == Add && element:
		e.positions[p] = part.Offset
		return nil
	case e.op == Delete && element:
		e.delete(p, part.Offset, part.Offset+part.Size, part.Value.String())
		return nil
	case e.op == Add, e.op == Delete:
		return fmt.Errorf("%v is a component of a %v", p, part.In)
	}
	v, err := e.newValue(p)
	if wrong := (*text.SyntaxError)(nil); errors.As(err, &wrong) {
		was := oldValue{Value: part.Value}
		return &ValueError{p.String(), part.Value.Type.String(), was.such(), wrong}
	}
	if err == nil {
		v, err = v.Result(&part.Value)
	}
	if err != nil {
		return err
	}
	b, v, err := e.encodePart(p, &part, v)
	if err != nil || part.Value.String() == v.String() {
		return err
	}
	e.splice(splice{start: part.Offset, end: part.Offset + part.Size, bytes: b})
	e.changed(p, v.String(), part.Value.String())
	return nil
}

// leave adds elements or pairs to the container at p, and corrects its count. The Walker calls
// leave after the value at p.
func (e *editor) leave(p *text.Node, c text.Container) error {
	if e.finds {
		return nil
	}
	defer delete(e.keys, p) // there can be a million Dictionaries
	grow := -e.removed[p]
	delete(e.removed, p) // [*] is several containers
	if e.op == Add || e.op == Put {
		n, err := e.addTo(p, &c)
		if err != nil {
			return err
		}
		grow += n
	}
	if err := e.checkKeys(p, &c); err != nil {
		return err
	}
	if e.op == Set {
		return e.checkDeclared(p, &c)
	}
	if grow != 0 {
		e.count(&c, grow)
	}
	return nil
}

// checkDeclared checks that a line such as $.a = Array[int] states the type of the existing value.
func (e *editor) checkDeclared(p *text.Node, c *text.Container) error {
	if !p.IsTarget() {
		return nil
	}
	v, err := text.ParseValue(p.Text)
	if err != nil {
		return err
	}
	have := text.Value{Type: c.Type, Form: text.Declared, Key: c.Key, Elem: c.Elem, Text: c.Class}
	if c.Kind != gdwire.KindArrayStart && c.Kind != gdwire.KindDictStart && c.Kind != gdwire.KindObjectStart && c.Kind != gdwire.KindPackedStart {
		return fmt.Errorf("%v is of type %v and not %v; only values and empty containers can be set", p, c.Type, &v)
	}
	if have.String() != v.String() {
		return fmt.Errorf("%v is %v and not %v; only values and empty containers can be set", p, &have, &v)
	}
	return nil
}

// count corrects the count of a container and the padding of a PackedByteArray.
func (e *editor) count(c *text.Container, grow int64) {
	n := c.Len + grow
	b := countBytes(c.Len, n)
	at := c.Start - 4
	e.splice(splice{start: at, end: at + int64(len(b)), bytes: b})
	if c.Type == gdwire.TypePackedByteArray {
		end := e.InputOffset()
		e.splice(splice{start: c.End, end: end, bytes: make([]byte, -n&3)})
	}
}
