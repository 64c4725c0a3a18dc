// Package edit changes values in encoded packets and keeps all other bytes. Counts and
// lengths around a change are corrected.
package edit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/reals"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// An Op is a kind of edit at the targets of a tree.
type Op uint8

// The kinds of edits.
const (
	Set    Op = iota // replace values
	Delete           // remove elements, pairs and properties
	Add              // add elements and pairs
	Put              // replace or add
)

// A Plan contains the splices that edit a content.
type Plan struct {
	Changes []Change // the first changes
	More    int      // the number of other changes

	content *save.Content
	edited  *table
	packets []editedPacket
}

// A Change describes a change for people.
type Change struct {
	Path string
	Text string // the new value, or "" if there is none
	Was  string // the old value, or ""
}

// maxChanges is the maximum number of Changes that a Plan describes.
const maxChanges = 1000

// An editedPacket is a packet with its splices.
type editedPacket struct {
	start, end int64
	splices    []splice
	grow       int64 // the number of bytes that they add
}

// Edit returns the plan for the edits in a tree. The texts of the tree are the new values. If
// exact is not set, a new value takes the type of the old value, or is a TypeError.
func Edit(c *save.Content, op Op, tree *text.Tree, exact bool) (*Plan, error) {
	e := &editor{Plan: Plan{content: c}, op: op, exact: exact}
	if err := e.run(tree); err != nil {
		return nil, err
	}
	return &e.Plan, nil
}

// Copy returns the plan that puts copies of the value at a path at the targets of a tree and
// replaces any values there.
func Copy(c *save.Content, from text.Path, to *text.Tree) (*Plan, error) {
	var source text.Tree
	if _, err := source.Add(from, ""); err != nil {
		return nil, err
	}
	find := &editor{Plan: Plan{content: c}, finds: true}
	if err := find.run(&source); err != nil {
		return nil, err
	}
	e := &editor{Plan: Plan{content: c}, op: Put, source: &find.found}
	if err := e.run(to); err != nil {
		return nil, err
	}
	return &e.Plan, nil
}

// Content returns the edited content. Its memory depends on the new values.
func (p *Plan) Content() *save.Content { return p.content.Edited(p.edited, p.edited.size) }

// WriteTo writes the edited content.
func (p *Plan) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.NewSectionReader(p.edited, 0, p.edited.size))
}

// An editor makes a plan.
type editor struct {
	Plan
	op     Op
	exact  bool
	finds  bool     // only found is wanted
	found  operand  // the value to copy
	source *operand // the value to put at each target, or
	values []*Value // the values to put at the targets, by their numbers; otherwise their texts

	*text.Walker
	packet    *save.Packet
	width     *reals.Width // of the packet, if that is known
	here      []splice
	positions map[*text.Node]int64 // at which elements are added
	removed   map[*text.Node]int64 // the number of elements removed
	keys      keys
}

// run walks over all packets of the tree.
func (e *editor) run(tree *text.Tree) error {
	e.edited = newTable(e.content.ReaderAt, e.content.Size)
	if len(tree.Targets) == 0 {
		return nil
	}
	e.Walker = &text.Walker{Value: e.value, Part: e.part, Leave: e.leave}
	if !e.finds && e.op != Delete {
		e.Walker.Key = e.key
	}
	ResolveReals(e.content, tree)
	remaining := tree.Packets()
	err := packets(e.content, tree, func(p *save.Packet) (bool, error) {
		remaining--
		e.Decoder = p.Decoder
		return remaining > 0, e.edit(tree, p)
	})
	if err != nil {
		return err
	}
	for _, p := range tree.Targets {
		switch {
		case p.Hits == 0:
			return notFound(e.content, p)
		case p.Hits > 1:
			return fmt.Errorf("there are %d values at %v; .value(n) is the value of the n-th pair", p.Hits, p)
		}
	}
	return e.finish()
}

// notFound returns the error for a node at which a walk found no value. It walks over the
// packet again, for this node alone, to find a similar key.
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
	err = packets(c, &tree, func(packet *save.Packet) (bool, error) {
		w := text.Walker{Decoder: packet.Decoder, Key: near.Key}
		return false, w.Walk(tree.Root(packet.Index))
	})
	switch {
	case err != nil:
		return err
	case p.Hits > 0:
		return fmt.Errorf("another of the paths leads to %v, too", p)
	}
	return near.NotFound(p)
}

// Resolve replaces the keys of a tree that can mean another key by the key that they mean, as
// Tree.Resolve does.
func Resolve(c *save.Content, tree *text.Tree) { tree.Resolve(walk(c, tree)) }

// ResolveReals is Resolve for keys with real numbers only.
func ResolveReals(c *save.Content, tree *text.Tree) {
	if tree.HasReals() {
		tree.ResolveReals(walk(c, tree))
	}
}

// walk returns a function that walks over all packets of a tree.
func walk(c *save.Content, tree *text.Tree) func(*text.Walker) error {
	return func(w *text.Walker) error {
		remaining := tree.Packets()
		return packets(c, tree, func(p *save.Packet) (bool, error) {
			remaining--
			w.Decoder = p.Decoder
			return remaining > 0, w.Walk(tree.Root(p.Index))
		})
	}
}

// packets calls yield for each packet with a path in the tree, as Packets does.
func packets(c *save.Content, tree *text.Tree, yield func(*save.Packet) (bool, error)) error {
	return c.Packets(func(index int64) bool { return tree.Root(index) != nil }, yield)
}

// edit makes the splices of a packet.
func (e *editor) edit(tree *text.Tree, p *save.Packet) error {
	e.packet, e.width, e.here = p, nil, nil
	e.positions, e.removed, e.keys = nil, nil, newKeys()
	if err := e.Walk(tree.Root(p.Index)); err != nil {
		return err
	}
	if e.here == nil {
		return nil
	}
	end := p.Limit()
	if e.content.Order == nil {
		end = e.InputOffset()
	}
	sortSplices(e.here)
	for i := 1; i < len(e.here); i++ {
		if e.here[i].start < e.here[i-1].end {
			return errors.New("two of the paths lead to the same bytes")
		}
	}
	e.Plan.packets = append(e.Plan.packets, editedPacket{start: p.Offset, end: end, splices: e.here})
	return nil
}

// finish makes the edited content and verifies its packets.
func (e *editor) finish() error {
	var all []splice
	for i := range e.Plan.packets {
		p := &e.Plan.packets[i]
		for i := range p.splices {
			p.grow += p.splices[i].grow()
		}
		if e.content.Order != nil {
			size := p.end - p.start + p.grow
			if size > math.MaxUint32 {
				return errors.New("the packet would be too long for a length of 32 bits")
			}
			length := make([]byte, lengthSize)
			e.content.Order.PutUint32(length, uint32(size))
			all = append(all, splice{start: p.start - lengthSize, end: p.start, bytes: length})
		}
		all = append(all, p.splices...)
		p.splices = nil
	}
	e.edited = e.edited.splice(all)
	shift := int64(0)
	for i := range e.Plan.packets {
		p := &e.Plan.packets[i]
		if err := e.verify(p, shift); err != nil {
			return err
		}
		shift += p.grow
	}
	return nil
}

// verify checks an edited packet, which has moved by shift and grown. If engines could have written
// the packet before the edit, it must be so after the edit; otherwise it must be readable.
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

// A RefusedError reports an edit after which engines would not read the packet.
type RefusedError struct{ err error }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("engines would not read the edited packet: %v", e.err)
}

// Unwrap returns the error of the packet.
func (e *RefusedError) Unwrap() error { return e.err }

// splice adds a replacement of bytes.
func (e *editor) splice(s splice) { e.here = append(e.here, s) }

// changed describes a change.
func (e *editor) changed(p *text.Node, value, was string) {
	if len(e.Changes) == maxChanges {
		e.More++
		return
	}
	e.Changes = append(e.Changes, Change{p.String(), value, was})
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
		e.position(p, e.Start())
		return false, e.SkipValue()
	case e.op == Delete:
		return false, e.remove(p)
	}
	v, err := e.operand(p)
	if err != nil || v.isType() {
		return true, err // leave compares the types
	}
	return false, e.set(p, &v)
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
	if was.is(v) {
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
	if e.removed == nil {
		e.removed = map[*text.Node]int64{}
	}
	e.removed[p.Parent()]++
	e.splice(splice{start: start, end: end})
	e.changed(p, "", was)
}

// position notes that an element is added at an offset.
func (e *editor) position(p *text.Node, offset int64) {
	if e.positions == nil {
		e.positions = map[*text.Node]int64{}
	}
	e.positions[p] = offset
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
		e.position(p, part.Offset)
		return nil
	case e.op == Delete && element:
		e.delete(p, part.Offset, part.Offset+part.Size, part.Value.String())
		return nil
	case e.op == Add, e.op == Delete:
		return fmt.Errorf("%v is a component of a %v", p, part.In)
	}
	v, err := e.newValue(p)
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

// leave adds elements or pairs to the container at p, and corrects its count. The Walker calls it
// after the value at p.
func (e *editor) leave(p *text.Node, c text.Container) error {
	if e.finds {
		return nil
	}
	defer e.keys.leave(p) // there can be a million Dictionaries
	grow := -e.removed[p]
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

// checkDeclared checks that a line such as $.a = Array[int] states the type of the existing
// value.
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

// countBytes returns the bytes that change a count from old to n.
func countBytes(old, n int64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(n))
	if high := b[3]; high == 0 && old>>24 == 0 {
		b = b[:3] // the high bit may mark a shared container
	}
	return b
}

// reason returns the cause of an encoding error, without offset and path.
func reason(err error) error {
	if e := (*gdwire.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
