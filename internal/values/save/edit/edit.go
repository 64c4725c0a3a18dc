// Package edit changes values in encoded packets and keeps all other bytes. Counts and
// lengths around a change are corrected.
package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/text"
)

// value handles a target before its value is read.
func (e *editor) value(p *text.Node) (goOn bool, err error) {
	switch {
	case p.HasInner():
		if v, err := e.operand(p); e.op == Set && err == nil && (v.isType() || v.Type == gdwire.TypePackedByteArray && p.HasInside()) {
			return true, nil // leave compares the types, and bytes the bytes
		}
		return false, fmt.Errorf("both %v and a value in it are edited", p)
	case e.finds:
		return false, e.find()
	case e.op == Move:
		return false, e.rename(p)
	case e.op == Add && isWhole(p):
		return false, fmt.Errorf("%v is a whole packet, which cannot be added", p)
	case e.op == Add:
		e.positions[p] = e.Start()
		return false, e.SkipValue()
	case e.op == Delete:
		return false, e.remove(p)
	}
	v, err := e.operand(p)
	if err == nil && v.isType() {
		return true, nil // leave compares the types
	}
	return false, e.set(p, &v, err)
}

// isWhole reports whether p is a packet, or a value in bytes.
func isWhole(p *text.Node) bool { return p.Parent() == nil || p.Step().Op == text.Inside }

// set replaces the next value. err is the error of the new one.
func (e *editor) set(p *text.Node, v *operand, err error) error {
	start, elem, n := e.InputOffset(), e.Elem(), len(v.Text)
	if v.Change != "" || err != nil {
		n = maxCopied
	}
	was, failed := read(e.Decoder, n)
	if failed != nil {
		return failed
	}
	if v.Value, err = result(p, v.Value, err, &was); err != nil {
		return err
	}
	return e.replace(p, v, &was, start, elem)
}

// result returns the value v in place of the value of a target. The type of that can tell what a text means that is no value,
// by its error err.
func result(p *text.Node, v text.Value, err error, was *oldValue) (text.Value, error) {
	wrong := (*text.SyntaxError)(nil)
	switch {
	case err == nil && v.Change == "":
		return v, nil
	case err == nil && was.cut:
		err = errors.New("the text is too long to be changed")
	case err == nil:
		v, err = v.Result(&was.Value)
	case !errors.As(err, &wrong):
		return v, err
	default:
		if loose, ok := wrong.Loose(was.Type); ok {
			return result(p, loose, nil, was)
		}
	}
	if errors.As(err, &wrong) {
		return v, &ValueError{p.String(), typeOf(&was.Value), was.such(), wrong}
	} else if err != nil {
		err = fmt.Errorf("%v: %w", p, err)
	}
	return v, err
}

// replace replaces the value that was read from offset start on, in a container of a declared type.
func (e *editor) replace(p *text.Node, v *operand, was *oldValue, start int64, elem gdwire.Elem) error {
	if err := e.fit(p, v, was, elem); err != nil {
		return err
	}
	if was.is(v) || e.holds(v, was, start) {
		return nil
	}
	s, err := e.encoded(v)
	if err != nil {
		return fmt.Errorf("%v: %w", p, reason(err))
	}
	s.start, s.end = start, e.InputOffset()
	e.splice(s)
	e.changed(p, v.String(), e.shown(was, start))
	if p.Parent() != nil && p.Step().Op == text.KeyAt {
		all, err := e.newKey(p, &v.Value)
		if err == nil {
			all.replaced[start] = true
		}
		return err
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
	d := e.again(start)
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
	case isWhole(p):
		return fmt.Errorf("%v is a whole packet, which cannot be deleted", p)
	case p.Step().Op == text.KeyAt:
		return fmt.Errorf("%v is a key; .value(n) deletes the n-th pair", p)
	}
	start, at := e.Start(), e.InputOffset()
	was, err := read(e.Decoder, 0)
	if err != nil {
		return err
	}
	e.delete(p, start, e.InputOffset(), e.shown(&was, at))
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
	of, err := e.operand(p)
	v, err := e.newValue(p, of, err)
	if v, err = result(p, v, err, &oldValue{Value: part.Value}); err != nil {
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

// leave is called by the Walker after the value at p. Values in one of several are counted for each.
func (e *editor) leave(p *text.Node, c text.Container) error {
	if e.finds {
		return nil
	}
	if err := e.change(p, c); err != nil || !p.IsSeveral() {
		return err
	}
	for t := range p.Inner {
		switch {
		case t.IsEach():
			continue
		case t.Hits > 1:
			return severalAt(t)
		case t.IsTarget():
			e.hits[t] += t.Hits
		}
		t.Hits = 0
	}
	return nil
}

// severalAt returns the error of a path to pairs with the same key.
func severalAt(p *text.Node) error {
	return fmt.Errorf("there are %d values at %v; .value(n) is the value of the n-th pair", p.Hits, p)
}

// change adds elements or pairs to the container at p, and corrects its count.
func (e *editor) change(p *text.Node, c text.Container) error {
	if now := e.now; now != nil {
		e.now = nil
		e.splice(splice{start: c.Start, end: c.End, bytes: now})
		e.count(&c, int64(len(now))-c.Len)
		return nil
	}
	grow := -e.removed[p]
	delete(e.removed, p) // [*] is several containers
	if e.op == Add || e.op == Put {
		n, err := e.addTo(p, &c)
		if err != nil {
			return err
		}
		grow += n
	}
	if r := e.renamed; r != nil && r.at.Parent() == p {
		e.renamed = nil
		if err := e.addName(r, &c); err != nil {
			return err
		}
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
	if err != nil || v.Form == text.Whole && p.HasInside() { // bytes compared them
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

// find returns the value at a path.
func find(c *save.Content, at text.Path) (operand, error) {
	var tree text.Tree
	if _, err := tree.Add(at, ""); err != nil {
		return operand{}, err
	}
	e := &editor{content: c, finds: true}
	err := e.run(&tree)
	return e.found, err
}

// edits returns the edited content, and adds the changes to a plan.
func (e *editor) edits(p *Plan, err error) (*save.Content, error) {
	if err != nil {
		return nil, err
	}
	p.join(&e.Plan)
	return e.content.Edited(e.edited, e.edited.size), nil
}

// run walks over all packets of the tree.
func (e *editor) run(tree *text.Tree) error {
	e.start()
	if len(tree.Targets) == 0 {
		return nil
	}
	for _, p := range tree.Targets {
		if e.op == Add && p.IsEach() {
			return fmt.Errorf("%v leads to several values", p)
		}
	}
	e.opener = new(explain.Opener)
	ResolveReals(e.content, tree)
	if err := packets(e.content, tree, func(p *save.Packet, root *text.Node) error { return e.edit(root, p) }); err != nil {
		return err
	}
	for _, p := range tree.Targets {
		if in := p.Parent(); e.op == Put && in != nil && in.Hits > 1 && !in.IsSeveral() { // a value would be added to the first
			p = in
		}
		switch {
		case p.Hits+e.hits[p] == 0:
			return notFound(e.content, p)
		case p.Hits > 1 && !p.IsSeveral():
			return severalAt(p)
		}
	}
	return e.finish()
}

// start makes the Walker.
func (e *editor) start() {
	e.edited = newTable(e.content.ReaderAt, e.content.Size)
	e.positions, e.removed, e.keys = map[*text.Node]int64{}, map[*text.Node]int64{}, map[*text.Node]*newKeys{}
	e.hits = map[*text.Node]int32{}
	e.Walker = &text.Walker{Value: e.value, Part: e.part, Bytes: e.bytes, Leave: e.leave}
	if e.op == Move {
		e.Walker.KeyType = func(_ *text.Node, t gdwire.Type) { e.keyType = t }
	}
}

// edit makes the splices of a packet at a node.
func (e *editor) edit(root *text.Node, p *save.Packet) error {
	e.packet, e.Decoder, e.width, e.here = p, p.Decoder, nil, nil
	if err := e.Walk(root); err != nil {
		return err
	}
	end := p.Limit()
	if e.content.Frame == save.Bare {
		end = e.InputOffset()
	}
	if e.here == nil {
		return nil
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

// bytes edits the values in the bytes of the array at p. The bytes are written by leave.
func (e *editor) bytes(p *text.Node, b []byte) error {
	if p.IsTarget() {
		if v, err := e.operand(p); err != nil || !v.isType() && v.Text != string(b) {
			return fmt.Errorf("both %v and a value in it are edited", p)
		}
	}
	parse := e.opener.Open(b, e.content.Decoder.Format)
	if parse == nil {
		return nil
	}
	values, changed := parse.Values(), false
	for c := range p.Inner {
		step := c.Step()
		if step.Op != text.Inside || step.Index >= int64(len(values)) {
			continue
		}
		value, err := e.inValue(c, values[step.Index])
		if err != nil {
			return err
		}
		if value != nil {
			values[step.Index], changed = value, true
		}
	}
	if !changed {
		return nil
	}
	if at, n := parse.Secret(); n > 0 {
		return fmt.Errorf("in the bytes at %v, %s", p, save.SecretText(at, n))
	}
	next, err := parse.Rewrite(values)
	if err != nil {
		return fmt.Errorf("the bytes at %v: %v", p, err) // no offset of the file, which flags could choose
	}
	e.now = next.Levels()[0]
	return nil
}

// inValue returns a value in bytes, edited at and in a node, or nil if nothing changes.
func (e *editor) inValue(c *text.Node, value []byte) ([]byte, error) {
	in := &editor{content: save.NewPacket(value, e.content.Decoder), op: e.op, exact: e.exact, source: e.source, finds: e.finds}
	in.content.Encoder = e.content.Encoder
	in.start()
	in.opener, in.hits, in.to = e.opener, e.hits, e.to
	err := in.content.Packets(save.Every, func(p *save.Packet) (bool, error) { return false, in.edit(c, p) })
	if err == nil {
		err = in.finish()
	}
	if err != nil {
		return nil, err
	}
	e.join(&in.Plan)
	if in.finds && c.Hits > 0 {
		e.found = in.found
		if at := &e.found.encoding; at.size > 0 { // an offset in the bytes
			*at = splice{bytes: value[at.from : at.from+at.size]}
		}
	}
	if len(in.packets) == 0 {
		return nil, nil
	}
	out := make([]byte, in.edited.size)
	_, err = in.edited.ReadAt(out, 0)
	return out, err
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
	start, size := p.start+shift, p.end-p.start+p.grow
	r := io.ReaderAt(e.edited)
	if size <= save.MaxHeld {
		b := make(save.Block, size)
		if _, err := r.ReadAt(b, start); err != nil {
			return err
		}
		r, start = b, 0
	}
	_, err := save.Skip(strict, r, start, start+size)
	if err == nil {
		return nil
	}
	if _, was := save.Skip(strict, e.content.ReaderAt, p.start, p.end); was != nil {
		strict.Strict = o.Strict
		if _, err = save.Skip(strict, r, start, start+size); err == nil {
			return nil
		}
	}
	return &RefusedError{err}
}
