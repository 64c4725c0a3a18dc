package text

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
)

// A Tree contains paths of several packets. One walk over a packet finds all paths of the
// packet. Paths with the same start share their Nodes.
type Tree struct {
	Targets []*Node // in the order of Add

	roots map[int64]*Node
	vague map[*Node]*vague // by parent
	cut   bool             // a key ends in "…"
	reals bool             // a key contains real numbers
	free  []Node           // memory for nodes
	buf   []byte
}

// A Node is a location in a Tree: of a packet, or of a value reached by a step from the parent.
type Node struct {
	// Text is the argument text of Add.
	Text string
	// Hits is the number of values found here by a walk.
	Hits int32

	target int32 // the number in Targets, from 1; 0 on the way to targets
	parent *Node
	step   string           // of the path; while a Walker is in one of several values, the step to this one
	keys   bool             // a node in this node has a container as its key
	pairs  bool             // a node in this node is of a pair by its number
	each   bool             // the step leads to several values; no other node is in the parent
	count  int32            // of nodes in this node
	inner  *Node            // the latest node added to this node
	next   *Node            // the node added to the parent before
	index  map[string]*Node // the nodes in this node by step, if there are more than maxUnindexed
}

// maxUnindexed is the maximum number of nodes in a node searched without an index.
const maxUnindexed = 8

// Add adds a path, or returns an error for a path added before, unless the path ends in [+]. Two paths that can lead to the same value,
// because one leads to several, are an error, too.
func (t *Tree) Add(p Path, text string) (*Node, error) {
	at := t.root(p.Packet)
	twice := len(t.roots) > 1 && t.roots[AllPackets] != nil
	for i := range p.Steps {
		at = t.addChild(at, &p.Steps[i])
		twice = twice || at.next != nil && (at.each || at.next.each)
	}
	switch {
	case twice:
		return nil, fmt.Errorf("%v and another of the paths can lead to the same value: edit one after the other", p)
	case at.target > 0:
		return nil, fmt.Errorf("%v occurs twice", at)
	}
	t.Targets = append(t.Targets, at)
	at.Text, at.target = text, int32(len(t.Targets))
	return at, nil
}

// With returns a tree with another path and text in place of those of a target, given by its path.
func (t *Tree) With(at, path, text string) (*Tree, error) {
	other := new(Tree)
	for _, p := range t.Targets {
		one, value := p.String(), p.Text
		if one == at {
			one, value = path, text
		}
		parsed, err := Parse(one)
		if err == nil {
			_, err = other.Add(parsed, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return other, nil
}

// Root returns the node of a packet, or of all packets, or nil if there is no path in the packet.
func (t *Tree) Root(packet int64) *Node { return cmp.Or(t.roots[packet], t.roots[AllPackets]) }

// In calls walk with the node of a packet.
func (t *Tree) In(packet int64, walk func(*Node) error) error {
	p := t.Root(packet)
	if p.each {
		step := p.step
		p.step = string(AppendPacket(nil, packet))
		defer func() { p.step = step }()
	}
	return walk(p)
}

// Packets returns the number of packets with paths.
func (t *Tree) Packets() int {
	if t.roots[AllPackets] != nil {
		return math.MaxInt
	}
	return len(t.roots)
}

func (t *Tree) root(packet int64) *Node {
	p := t.roots[packet]
	if p == nil {
		if t.roots == nil {
			t.roots = map[int64]*Node{}
		}
		p = t.newNode()
		p.step, p.each = string(AppendPacket(nil, packet)), packet == AllPackets
		t.roots[packet] = p
	}
	return p
}

// newNode returns memory for a node, allocated in blocks because there can be a million nodes.
func (t *Tree) newNode() *Node {
	if len(t.free) == 0 {
		t.free = make([]Node, min(1+len(t.Targets), 512))
	}
	p := &t.free[0]
	t.free = t.free[1:]
	return p
}

// addChild returns the node reached from p by a step, and adds it if there is none.
func (t *Tree) addChild(p *Node, s *Step) *Node {
	t.buf = s.Append(t.buf[:0])
	if s.Op == End { // each [+] adds an element, and needs a node of its own
		t.buf = fmt.Append(t.buf, len(t.Targets))
	}
	if c := p.child(t.buf); c != nil {
		return c
	}
	c := t.newNode()
	c.parent, c.step, c.each = p, s.text, s.IsSeveral()
	if s.text != string(t.buf) {
		c.step = string(t.buf)
	}
	p.add(c)
	p.keys = p.keys || s.Op == Child && s.Key.isContainerKey()
	p.pairs = p.pairs || s.Op == KeyAt || s.Op == ValueAt
	t.note(p, c, s)
	return c
}

// child returns the node reached from p by a step, or nil if there is none.
func (p *Node) child(step []byte) *Node {
	if p.index != nil {
		return p.index[string(step)]
	}
	for c := p.inner; c != nil; c = c.next {
		if c.step == string(step) {
			return c
		}
	}
	return nil
}

// add adds a node to p.
func (p *Node) add(c *Node) {
	c.next, p.inner = p.inner, c
	p.count++
	if p.index != nil {
		p.index[c.step] = c
	} else if p.count > maxUnindexed {
		p.index = map[string]*Node{}
		for c := range p.Inner {
			p.index[c.step] = c
		}
	}
}

// rename gives a node in p another step.
func (p *Node) rename(c *Node, step string) {
	if p.index != nil {
		delete(p.index, c.step)
		p.index[step] = c
	}
	c.step = step
}

// IsTarget reports whether the path of the node was added, and not only longer paths.
func (p *Node) IsTarget() bool { return p.target > 0 }

// Number returns the index of the node in Targets.
func (p *Node) Number() int { return int(p.target) - 1 }

// HasInner reports whether there are nodes in p.
func (p *Node) HasInner() bool { return p.inner != nil }

// HasInside reports whether there are nodes of values in the bytes of p.
func (p *Node) HasInside() bool {
	for c := range p.Inner {
		if c.isInside() {
			return true
		}
	}
	return false
}

func (p *Node) isInside() bool { return strings.HasPrefix(p.step, insideStep) }

// IsInside reports whether the node is of a value in the bytes of another, or in such a value.
func (p *Node) IsInside() bool { return p != nil && (p.isInside() || p.parent.IsInside()) }

// IsEach reports whether the last step of the path leads to several values.
func (p *Node) IsEach() bool { return p.each }

// IsSeveral reports whether the path can lead to several values.
func (p *Node) IsSeveral() bool { return p != nil && (p.each || p.parent.IsSeveral()) }

// Parent returns the node of the container, or nil for the node of a packet.
func (p *Node) Parent() *Node { return p.parent }

// Inner iterates over the nodes in p, in no order.
func (p *Node) Inner(yield func(*Node) bool) {
	for c := p.inner; c != nil; c = c.next {
		if !yield(c) {
			return
		}
	}
}

// Step returns the last step of the path.
func (p *Node) Step() Step {
	if strings.HasPrefix(p.step, appendStep) {
		return Step{Op: End}
	}
	parsed, err := Parse(p.step)
	if err != nil || len(parsed.Steps) != 1 { // the node of a packet
		return Step{}
	}
	return parsed.Steps[0]
}

// String returns the path, and during a walk the path of one of several values.
func (p *Node) String() string {
	if p == nil {
		return ""
	}
	step := p.step
	if strings.HasPrefix(step, appendStep) {
		step = appendStep
	}
	return p.parent.String() + step
}

// Reset makes t the same as before all walks.
func (t *Tree) Reset() {
	for _, root := range t.roots {
		root.resetHits()
	}
}

// resetHits makes p and all nodes inside the same as before a walk.
func (p *Node) resetHits() {
	p.Hits = 0
	for c := range p.Inner {
		c.resetHits()
	}
}

// vague contains the nodes in a node with a key that can mean another key than the one printed as their step.
type vague struct {
	cut   []*Node            // text ending in "…"
	reals map[string][]*Node // real numbers, by their text when they are rounded to 32 bits
}

// note notes the node of a step, if the key can mean another one.
func (t *Tree) note(p, c *Node, s *Step) {
	isCut := s.Key.Type == gdwire.TypeString && strings.HasSuffix(s.Key.Text, Ellipsis)
	isReal := s.Key.hasReals()
	if s.Op != Child || !isCut && !isReal {
		return
	}
	if t.vague == nil {
		t.vague = map[*Node]*vague{}
	}
	v := t.vague[p]
	if v == nil {
		v = &vague{reals: map[string][]*Node{}}
		t.vague[p] = v
	}
	if isReal {
		t.reals = true
		rounded := s.Key.rounded()
		v.reals[rounded] = append(v.reals[rounded], c)
	} else {
		t.cut = true
		v.cut = append(v.cut, c)
	}
}

// hasReals reports whether v is of a math type with real components.
func (v *Value) hasReals() bool {
	n, integers := v.Type.Components()
	return n > 0 && !integers
}

// rounded returns the text of a key with numbers rounded to 32 bits.
func (v *Value) rounded() string {
	key := *v
	key.Single, key.Numbers = false, nil
	for _, x := range v.Numbers {
		key.Numbers = append(key.Numbers, Round32(x)+0) // -0.0 + 0 is 0.0
	}
	return key.String()
}

// A Walker reads a value, calls functions for the nodes of a Tree, and skips all other
// values. Each function can be nil.
type Walker struct {
	*gdwire.Decoder
	// Value is called when the value at a target is next. It reads the value, or returns true
	// to let the Walker read the value and find the nodes inside.
	Value func(p *Node) (goOn bool, err error)
	// Part is called for an element of a packed array or a component at a target.
	Part func(p *Node, part Part) error
	// Key is called for each key of a Dictionary or Object, with the node of the container, and
	// returns the node of the value, or nil for the node with this key.
	Key func(p *Node, key *Step) *Node
	// KeyType is called with the type of each key of a Dictionary, also of keys for which Key is not called, because
	// they are too long for a path, or containers.
	KeyType func(p *Node, t gdwire.Type)
	// Bytes is called with the bytes of a PackedByteArray, if there are nodes of values in them. WalkInside walks over these.
	Bytes func(p *Node, b []byte) error
	// Leave is called after a value read by the Walker.
	Leave func(p *Node, c Container) error

	err     error // which ends the walk
	start   int64
	elem    gdwire.Elem
	key     []byte
	numbers [16]float64
}

// A Container describes an Array, Dictionary, Object or packed array. Values of other kinds
// are containers without elements.
type Container struct {
	Kind      gdwire.Kind // of the first token
	Type      gdwire.Type
	Class     string      // of an Object
	Key, Elem gdwire.Elem // the declared types
	Len       int64
	Bits      int   // of each number of a packed array
	From      int64 // the offset of its header
	Start     int64 // the offset after the count, where the first element starts
	End       int64 // the offset after the last element, before padding
}

// Start returns the offset of the start of the element, pair or property with the latest value.
// A pair starts with its key.
func (w *Walker) Start() int64 { return w.start }

// Elem returns the declared type of the next value, for which Value was called.
func (w *Walker) Elem() gdwire.Elem { return w.elem }

// Walk reads the next value, at p.
func (w *Walker) Walk(p *Node) error {
	w.start, w.elem, w.err = w.InputOffset(), gdwire.Elem{}, nil
	w.walk(p)
	return w.err
}

// WalkInside walks over the values in the bytes at p.
func (w *Walker) WalkInside(p *Node, values [][]byte) error {
	outer := w.Decoder
	defer func() { w.Decoder = outer }()
	for c := range p.Inner {
		step := c.Step()
		if step.Op != Inside || step.Index >= int64(len(values)) {
			continue
		}
		o := outer.Options()
		w.Decoder = gdwire.NewDecoder(nil, &o)
		w.ResetBytes(values[step.Index])
		err := w.Walk(c)
		w.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *Walker) walk(p *Node) {
	p.Hits++
	read := p.HasInner()
	if p.IsTarget() && w.Value != nil {
		if read, w.err = w.Value(p); !read || w.err != nil {
			return
		}
	}
	if !read {
		w.err = w.SkipValue()
		return
	}
	depth, from := w.Depth(), w.InputOffset()
	t, err := w.ReadToken()
	if err != nil {
		w.err = err
		return
	}
	c := Container{From: from, Kind: t.Kind(), Type: t.Type(), Len: t.Len(), Bits: t.Width(), Start: w.InputOffset()}
	w.inside(p, t, &c)
	if w.err == nil {
		w.err = w.SkipTo(depth)
	}
	if w.err != nil || w.Leave == nil {
		return
	}
	if c.End == 0 {
		c.End = w.InputOffset()
	}
	w.err = w.Leave(p, c)
}

// inside finds the nodes in the value starting with t.
func (w *Walker) inside(p *Node, t gdwire.Token, c *Container) {
	switch t.Kind() {
	case gdwire.KindArrayStart, gdwire.KindDictStart:
		if len(t.Bytes()) > 0 { // of most containers, no types are declared
			c.Key, c.Elem = t.KeyElem(), t.Elem()
		}
	case gdwire.KindObjectStart:
		c.Class = t.Text()
	}
	switch {
	case !p.HasInner():
	case t.Kind() == gdwire.KindArrayStart:
		w.array(p, c)
	case t.Kind() == gdwire.KindDictStart:
		w.dictionary(p, c)
	case t.Kind() == gdwire.KindObjectStart:
		w.object(p, c)
	case t.Kind() == gdwire.KindPackedStart:
		w.packed(p, c)
	case t.Components() > 0:
		w.components(p, mathPart(t, w.InputOffset()))
	}
}

// array reads the elements of an Array, up to the last node.
func (w *Walker) array(p *Node, c *Container) {
	w.eachElement(p, c, func(node *Node) {
		w.start, w.elem = w.InputOffset(), c.Elem
		w.next(node)
	})
}

// eachElement calls read for each element of c, up to the last node: with the node, or nil. Another node at the
// same index finds nothing.
func (w *Walker) eachElement(p *Node, c *Container, read func(*Node)) {
	i := int64(0)
	for index, node := range p.elements(c.Len) {
		for ; i < index && w.err == nil; i++ {
			read(nil)
		}
		if i == index && w.err == nil {
			read(node)
			i++
		}
	}
}

// several returns the node for several values in the container at p, or nil if there is none.
func (p *Node) several() *Node {
	if p.inner == nil || !p.inner.each {
		return nil
	}
	return p.inner
}

// elements iterates over the nodes in an array of n elements, in order. A negative index counts from the end.
func (p *Node) elements(n int64) iter.Seq2[int64, *Node] {
	return func(yield func(int64, *Node) bool) {
		if c := p.several(); c != nil {
			several := c.step
			defer func() { c.step = several }()
			step := c.Step()
			for i, after := step.In(n); i < after; i++ {
				if c.step = string(AppendIndex(nil, i)); !yield(i, c) {
					return
				}
			}
			return
		}
		type element struct {
			index int64
			node  *Node
		}
		var all []element
		for c := range p.Inner {
			if digits, ok := strings.CutPrefix(c.step, "["); ok {
				i, err := strconv.ParseInt(strings.TrimSuffix(digits, "]"), 10, 64)
				if i < 0 {
					i += n
				}
				if err == nil && i >= 0 && i < n {
					all = append(all, element{i, c})
				}
			}
		}
		slices.SortFunc(all, func(a, b element) int { return cmp.Compare(a.index, b.index) })
		for _, e := range all {
			if !yield(e.index, e.node) {
				return
			}
		}
	}
}

// next reads the next value, or skips it if p is nil.
func (w *Walker) next(p *Node) {
	switch {
	case w.err != nil:
	case p == nil:
		w.err = w.SkipValue()
	default:
		w.walk(p)
	}
}

// dictionary reads the pairs of a Dictionary.
func (w *Walker) dictionary(p *Node, c *Container) {
	every, leave := p.every()
	defer leave()
	for i := int64(0); i < c.Len && w.err == nil; i++ {
		start := w.InputOffset()
		w.start = start
		if _, w.err = w.ReadToken(); w.err != nil { // DictKey
			return
		}
		key, value := w.pair(p, i)
		if key != nil {
			w.elem = c.Key
			w.walk(key)
		} else if byKey := w.byKey(p); value == nil {
			value = byKey
		}
		if value == nil && every != nil {
			if len(w.key) == 0 {
				w.key = AppendValueAt(w.key, i)
			}
			value, every.step = every, string(w.key)
		}
		w.start, w.elem = start, c.Elem
		w.next(value)
	}
}

// pair returns the nodes of the key and the value of pair i by its number, or nil.
func (w *Walker) pair(p *Node, i int64) (key, value *Node) {
	if !p.pairs {
		return nil, nil
	}
	w.key = AppendKeyAt(w.key[:0], i)
	key = p.child(w.key)
	w.key = AppendValueAt(w.key[:0], i)
	return key, p.child(w.key)
}

// every returns the node for each value in the Dictionary or Object at p, or nil if there is none, and a function to call after the last.
func (p *Node) every() (*Node, func()) {
	c := p.several()
	if c == nil || c.step != everyStep {
		return nil, func() {}
	}
	return c, func() { c.step = everyStep }
}

// byKey reads a key and returns the node of its value, or nil if there is none. The step is in w.key, unless it is too long for a path.
func (w *Walker) byKey(p *Node) *Node {
	w.key = w.key[:0]
	depth := w.Depth()
	t, err := w.ReadToken()
	if w.KeyType != nil && err == nil {
		w.KeyType(p, t.Type())
	}
	if k := t.Kind(); err == nil && p.keys && (isContainer(k) || k == gdwire.KindPackedStart) {
		return w.byContainer(p, t, depth)
	}
	var step Step
	ok := false
	if err == nil {
		step, ok, err = KeyStep(w.Decoder, t, w.numbers[:0], func(*NodePathReader, []byte) error { return w.SkipTo(depth) })
	}
	if w.err = err; err != nil || !ok {
		return nil
	}
	return w.node(p, &step)
}

// byContainer reads the rest of a key, a container that starts with t, and returns the node of its value, or nil if
// there is none.
func (w *Walker) byContainer(p *Node, t gdwire.Token, depth int) *Node {
	key := Printer{Decoder: w.Decoder, Buf: []byte{'['}, Most: MaxKey}
	err := key.Value(t, 0)
	if err == ErrLong {
		w.err = w.SkipTo(depth)
		return nil
	}
	w.err = err
	return p.child(append(key.Buf, ']'))
}

// node returns the node reached from p by a step, or nil if there is none. A String in a path
// also matches a StringName.
func (w *Walker) node(p *Node, step *Step) *Node {
	if w.Key != nil {
		if c := w.Key(p, step); c != nil {
			return c
		}
	}
	w.key = step.Append(w.key[:0])
	c := p.child(w.key)
	if c == nil && step.Key.Type == gdwire.TypeStringName {
		name, n := *step, len(w.key)
		name.Key.Type = gdwire.TypeString
		w.key = name.Append(w.key)
		c = p.child(w.key[n:])
		w.key = w.key[:n]
	}
	return c
}

// object reads the properties of an Object.
func (w *Walker) object(p *Node, c *Container) {
	every, leave := p.every()
	defer leave()
	for i := int64(0); i < c.Len && w.err == nil; i++ {
		start := w.InputOffset()
		t, err := w.ReadToken()
		if err != nil {
			w.err = err
			return
		}
		step := Step{Key: FromToken(t, nil)}
		byName := w.node(p, &step)
		if byName == nil && every != nil {
			byName, every.step = every, string(w.key)
		}
		_, value := w.pair(p, i)
		w.start, w.elem = start, gdwire.Elem{}
		w.next(cmp.Or(value, byName))
	}
}

// MaxBytes is the maximum size of a PackedByteArray whose bytes are searched for values.
const MaxBytes = 64 << 20

// packed reads the elements of a packed array, up to the last node.
func (w *Walker) packed(p *Node, c *Container) {
	if c.Type == gdwire.TypePackedStringArray {
		w.strings(p, c)
		return
	}
	if c.Type == gdwire.TypePackedByteArray {
		c.Bits = 8
	}
	n, _ := c.Type.Element().Components()
	size := int64(max(n, 1) * c.Bits / 8)
	c.End = c.Start + c.Len*size
	if c.Type == gdwire.TypePackedByteArray && w.Bytes != nil && c.Len <= MaxBytes && p.HasInside() {
		var content []byte
		if content, w.err = io.ReadAll(w.Payload()); w.err == nil {
			w.err = w.Bytes(p, content)
		}
		return
	}
	var t gdwire.Token
	start, end, offset := int64(0), int64(0), int64(0) // of the chunk t
	for i, node := range p.elements(c.Len) {
		for i >= end && w.err == nil {
			offset = w.InputOffset()
			t, w.err = w.ReadToken()
			start, end = end, end+t.Len()
		}
		if w.err != nil {
			return
		}
		at := (i - start) * size
		part := Part{In: c.Type, Value: Element(t, t.Bytes()[at:at+size], w.numbers[:0]), Bits: c.Bits, Offset: offset + at, Size: size}
		if w.part(node, part); w.err != nil {
			return
		}
	}
}

// strings reads the elements of a PackedStringArray, up to the last node.
func (w *Walker) strings(p *Node, c *Container) {
	w.eachElement(p, c, func(node *Node) {
		offset := w.InputOffset()
		t, err := w.ReadToken()
		switch w.err = err; {
		case err != nil:
		case node != nil:
			v := Value{Type: gdwire.TypeString}
			if v.Text, w.err = text(w.Decoder); w.err == nil {
				w.part(node, Part{In: c.Type, Value: v, Offset: offset, Size: w.InputOffset() - offset})
			}
		case !t.Last():
			w.err = w.SkipValue()
		}
	})
}

// part calls Part for a part and for its components, if they are targets.
func (w *Walker) part(p *Node, part Part) {
	p.Hits++
	w.start = part.Offset
	if p.IsTarget() && w.Part != nil {
		w.err = w.Part(p, part)
	}
	if w.err == nil {
		w.components(p, part)
	}
}

// components finds the nodes in a part.
func (w *Walker) components(p *Node, part Part) {
	for c := range p.Inner {
		step := c.Step()
		inner, ok := part.Component(step.Key.Text)
		if ok && step.Op == Child && step.Key.Type == gdwire.TypeString && w.err == nil {
			w.part(c, inner)
		}
	}
}

// ErrFound ends a walk after its only target was found.
var ErrFound = errors.New("found")
