package edit

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/values/reals"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/text"
)

// What an edit consists of: pieces, values, errors, and what is said of them.

// lengthSize is the size of the length of a packet.
const lengthSize = 4

// A splice replaces bytes of the content.
type splice struct {
	start, end int64
	bytes      []byte
	from, size int64 // of bytes of the content to use, after bytes
	joined     bool  // of several, in bytes of its own
}

// grow returns the number of bytes added by the splice.
func (s *splice) grow() int64 { return int64(len(s.bytes)) + s.size - (s.end - s.start) }

// sortSplices sorts splices by offset. Those at the same offset stay in order.
func sortSplices(all []splice) {
	slices.SortStableFunc(all, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
}

// A table is an edited content: pieces of the content before all edits, and new bytes.
type table struct {
	r    io.ReaderAt // before all edits
	all  []piece
	size int64
}

// A piece is a part of a table.
type piece struct {
	at, size int64  // in the table
	bytes    []byte // if nil:
	from     int64  // the offset of its bytes in r
}

// newTable returns the table of a content without edits, or r if r is a table.
func newTable(r io.ReaderAt, size int64) *table {
	if t, ok := r.(*table); ok {
		return t
	}
	return &table{r: r, all: []piece{{size: size}}, size: size}
}

// splice returns the table with sorted splices. t does not change.
func (t *table) splice(all []splice) *table {
	n := &table{r: t.r, all: make([]piece, 0, len(t.all)+2*len(all))}
	at := int64(0)
	for i := range all {
		s := &all[i]
		n.addFrom(t, at, s.start)
		n.add(piece{bytes: s.bytes, size: int64(len(s.bytes))})
		n.addFrom(t, s.from, s.from+s.size)
		at = s.end
	}
	n.addFrom(t, at, t.size)
	return n
}

// add adds a piece at the end, unless it is empty.
func (t *table) add(p piece) {
	if p.size > 0 {
		p.at = t.size
		t.all = append(t.all, p)
		t.size += p.size
	}
}

// addFrom adds the bytes of another table from start to end.
func (t *table) addFrom(other *table, start, end int64) {
	for i := other.find(start); start < end; i++ {
		p := other.all[i]
		skipped := start - p.at
		p.size = min(p.size-skipped, end-start)
		if p.bytes != nil {
			p.bytes = p.bytes[skipped:][:p.size]
		}
		p.from += skipped
		start += p.size
		t.add(p)
	}
}

// find returns the index of the piece with the byte at an offset.
func (t *table) find(at int64) int {
	return sort.Search(len(t.all), func(i int) bool { return at < t.all[i].at+t.all[i].size })
}

// ReadAt reads bytes of the edited content.
func (t *table) ReadAt(b []byte, at int64) (n int, err error) {
	for i := t.find(at); n < len(b); i++ {
		if i == len(t.all) {
			return n, io.EOF
		}
		p := &t.all[i]
		skipped := at - p.at
		part := b[n:][:min(int64(len(b)-n), p.size-skipped)]
		if p.bytes != nil {
			copy(part, p.bytes[skipped:])
		} else if read, err := t.r.ReadAt(part, p.from+skipped); read < len(part) {
			return n + read, checked.NoEOF(err) // the file can have become shorter
		}
		n += len(part)
		at += int64(len(part))
	}
	return n, nil
}

// countBytes returns the bytes that change a count from old to n.
func countBytes(old, n int64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(n))
	if high := b[3]; high == 0 && old>>24 == 0 {
		b = b[:3] // the high bit may mark a shared container
	}
	return b
}

// An oldValue is a value in the input. Its text may be cut, and a container is stored without
// content.
type oldValue struct {
	text.Value
	count int64 // of elements
	cut   bool
}

// The number of bytes kept of an old text.
const (
	maxShown  = 200
	maxCopied = 1 << 20 // into a packed array or as a component
)

// read reads the next value of d. Its text is cut after n bytes, or more.
func read(d *gdwire.Decoder, n int) (oldValue, error) {
	n = max(n, maxShown)
	depth := d.Depth()
	t, err := d.ReadToken()
	if err != nil {
		return oldValue{}, err
	}
	o := oldValue{Value: text.FromToken(t, nil), count: t.Len()}
	var content []byte
	add := func(b []byte) {
		o.cut = o.cut || len(content)+len(b) > n
		content = append(content, b[:min(len(b), n-len(content))]...)
	}
	switch t.Kind() {
	case gdwire.KindStringChunk:
		add([]byte(o.Text))
		for ; err == nil && !t.Last(); add(t.Bytes()) {
			t, err = d.ReadToken()
		}
		o.Text = string(content)
	case gdwire.KindNodePathStart:
		r := text.NewNodePathReader(d, t)
		for err == nil && t.Kind() != gdwire.KindEnd {
			var separator string
			separator, t, err = r.Next()
			add([]byte(separator))
			add(t.Bytes())
		}
		o.Text = string(content)
	case gdwire.KindPackedStart, gdwire.KindImageStart:
		if o.Type != gdwire.TypePackedByteArray && o.Type != gdwire.TypeImage {
			break
		}
		for err == nil && t.Kind() != gdwire.KindEnd {
			if t, err = d.ReadToken(); t.Kind() == gdwire.KindChunk {
				add(t.Bytes())
			}
		}
		o.Text = string(content)
	}
	return o, cmp.Or(err, d.SkipTo(depth))
}

// String describes the value.
func (o *oldValue) String() string {
	switch {
	case o.Form == text.Declared && o.Type == gdwire.TypeObject:
		return o.Value.String()
	case o.Form == text.Declared:
		return fmt.Sprintf("%v of %d", o.Type, o.count)
	case o.cut || len(o.Text) > maxShown:
		v := o.Value
		v.Text = v.Text[:min(len(v.Text), maxShown)]
		return v.String() + "…"
	}
	return o.Value.String()
}

// such returns a value as an example of its type, or "" for null and a container.
func (o *oldValue) such() string {
	const most = 40 // bytes of a text
	v := o.Value
	switch {
	case v.Type == gdwire.TypeNil || v.Form != text.Whole:
		return ""
	case v.Type == gdwire.TypeBool:
		return "true or false"
	case len(v.Text) > most:
		v.Text = strings.ToValidUTF8(v.Text[:most], "")
	}
	return v.String()
}

// hasReals reports whether v contains a math type or packed array with the width of the engine's
// reals.
func hasReals(v *text.Value) bool {
	return reals.Differ(v.Type) || slices.ContainsFunc(v.Items, func(v text.Value) bool { return hasReals(&v) })
}

// hasObjects reports whether v contains a serialized object.
func hasObjects(v *text.Value) bool {
	return v.Type == gdwire.TypeObject && (v.Form != text.Whole || v.Items != nil) ||
		slices.ContainsFunc(v.Items, func(v text.Value) bool { return hasObjects(&v) })
}

// typeOf returns the name of the type of a value, with declared types.
func typeOf(v *text.Value) string {
	if v.Bare {
		return v.String()
	}
	if v.Type == gdwire.TypeObject || v.Key == (gdwire.Elem{}) && v.Elem == (gdwire.Elem{}) {
		return v.Type.String()
	}
	return text.Value{Type: v.Type, Form: text.Declared, Key: v.Key, Elem: v.Elem}.String()
}

// keyText returns a text that is equal for keys treated as equal by engines.
func keyText(key *text.Value) string {
	k := *key
	if k.Type == gdwire.TypeStringName {
		k.Type = gdwire.TypeString
	}
	k.Single = false
	k.Numbers = slices.Clone(k.Numbers)
	for i := range k.Numbers {
		k.Numbers[i] += 0 // -0.0 + 0 is 0.0
	}
	return k.String()
}

// checkPairs returns an error for a Dictionary or Object in v that contains a key twice.
func checkPairs(v *text.Value) error {
	seen := map[string]bool{}
	for i := range v.Items {
		item := &v.Items[i]
		if err := checkPairs(item); err != nil {
			return err
		}
		if v.Type != gdwire.TypeDictionary && v.Type != gdwire.TypeObject || i%2 == 1 {
			continue
		}
		value := keyText(item)
		if seen[value] {
			return fmt.Errorf("the key %v occurs twice; engines keep the last value", item)
		}
		seen[value] = true
	}
	return nil
}

// A Value is a new value of Go.
type Value struct {
	// Plain, if not nil, is the value, which Encode does not encode then.
	Plain *text.Value
	// Encode returns the encoding of the value.
	Encode func(gdwire.EncoderOptions) ([]byte, error)
	// Exact reports whether the value keeps its type, whatever the type of the old value is.
	Exact bool
}

// An operand is a new value: of a text, of Go, or a copy of a value in the content. In an encoded
// operand, a container is stored without content.
type operand struct {
	oldValue
	exact    bool   // keeps its type, even in a container of a declared type
	copied   bool   // is a value of the content
	encoding splice // without a place; empty for the value of a text
	format   gdwire.Format
	narrow   *Value // encodes the value again if the packet contains no math types of 64 bits, or nil
	failed   error  // because the format of the content does not know the value, unless converted
}

// A TypeError reports a new value of another type than the old value.
type TypeError struct {
	Path     string
	Old, New string // the types
	Such     string // the start of the old value, as an example of its type, or ""
	Text     string // the text of the new value, or ""
	In       string // the type of the packed array or math value that consists of such values, or ""
}

func (e *TypeError) Error() string {
	if e.In != "" {
		return fmt.Sprintf("%s is of type %s, as all in a %s, and not %s", e.Path, e.Old, e.In, e.New)
	}
	if e.Old == gdwire.TypeFloat.String() && e.New == gdwire.TypeInt.String() { // others are converted
		return e.Path + " is a float, which cannot hold this int"
	}
	return fmt.Sprintf("%s is of type %s and not %s", e.Path, e.Old, e.New)
}

// Target returns the path and the text of the target.
func (e *TypeError) Target() (path, value string) { return e.Path, e.Text }

// Unwrap returns gdwire.ErrType.
func (e *TypeError) Unwrap() error { return gdwire.ErrType }

// A ValueError reports a text that is no value.
type ValueError struct {
	Path string
	Old  string // the type of the old value
	Such string // the start of the old value, as an example of its type
	Err  *text.SyntaxError
}

func (e *ValueError) Error() string {
	switch e.Old {
	case gdwire.TypeNil.String():
		return e.Path + ": " + e.Err.Reason + e.quoted()
	case gdwire.TypeString.String(), gdwire.TypeStringName.String(), gdwire.TypeNodePath.String():
		return fmt.Sprintf("%s is of type %s: %s%s", e.Path, e.Old, e.Err.Reason, e.quoted())
	}
	such := ""
	if e.Such != "" {
		such = ", such as " + example(e.Old, e.Such, e.Err.Text)
	}
	return fmt.Sprintf("%s is of type %s%s: %s%s", e.Path, e.Old, such, e.Err.Reason, e.meant())
}

// meant returns the line with the change or color that the text means perhaps, after "; ", or "".
func (e *ValueError) meant() string {
	typed := e.Err.Text
	if color := text.SimilarColor(typed); e.Old == gdwire.TypeColor.String() && color != "" {
		return "; " + text.Operand(e.Path+" = "+color)
	} else if len(typed) > 2 && strings.IndexByte("+-*/", typed[0]) >= 0 && typed[1] == ' ' {
		return "; " + text.Operand(e.Path+" "+typed[:1]+"="+typed[1:])
	}
	return ""
}

// example returns the old value as an example of its type, or the number in a code such as #ff that was typed for an int.
func example(old, such, typed string) string {
	if digits, ok := strings.CutPrefix(typed, "#"); ok && old == gdwire.TypeInt.String() {
		return "0x" + digits
	}
	return such
}

// quoted returns how to write the text as a value, if it can be meant.
func (e *ValueError) quoted() string {
	if e.Err.Quoted == "" {
		return ""
	}
	return fmt.Sprintf("; text is in quotes: %s", text.Operand(e.Path+" = "+e.Err.Quoted))
}

// Target returns the path and the text of the target.
func (e *ValueError) Target() (path, value string) { return e.Path, e.Err.Text }

// Unwrap returns the error of the text.
func (e *ValueError) Unwrap() error { return e.Err }

// isEncoded reports whether v has an encoding.
func (v *operand) isEncoded() bool { return v.encoding.bytes != nil || v.encoding.size > 0 }

// isType reports whether v is a type, such as Array[int], and not a value.
func (v *operand) isType() bool { return v.Form == text.Declared && !v.isEncoded() }

// decoder returns a Decoder of a value of Go, encoded with math types of 64 bits.
func (v *operand) decoder() *gdwire.Decoder {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{
		Format: v.format, AllowObjects: true, AllowInvalidUTF8: true, DoubleReals: true, Limits: gdwire.NoLimits,
	})
	d.ResetBytes(v.encoding.bytes)
	return d
}

// is reports whether v is the same value.
func (o *oldValue) is(v *operand) bool {
	return !o.cut && !v.cut && o.Form != text.Declared && v.Form != text.Declared && v.Items == nil && o.Value.String() == v.Value.String()
}

// reason returns the cause of an encoding error, without offset and path.
func reason(err error) error {
	if e := (*gdwire.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// An Op is a kind of edit at the targets of a tree.
type Op uint8

// The kinds of edits.
const (
	Set    Op = iota // replace values
	Delete           // remove elements, pairs and properties
	Add              // add elements and pairs
	Put              // replace or add
	Move             // give pairs and properties another key, or add and remove
)

// A Plan contains the splices for editing a content.
type Plan struct {
	Changes []Change // the first changes
	More    int      // the number of other changes
	Also    []string // the paths of Apply, and of the first of several values that a path leads to
	// Suspects reports whether there are values that can be checksums of changed ones, so that Checksum says more.
	Suspects bool

	content *save.Content // after the edit
}

// maxChanges is the maximum number of Changes in a Plan.
const maxChanges = 1000

// A Change describes a change for people.
type Change struct {
	Path string
	Text string // the new value, or "" if there is none
	Was  string // the old value, or ""
}

// add adds a change.
func (p *Plan) add(c Change) {
	if len(p.Changes) == maxChanges {
		p.More++
		return
	}
	p.Changes = append(p.Changes, c)
}

// join adds the changes of another plan.
func (p *Plan) join(other *Plan) {
	p.More += other.More
	p.Also = append(p.Also, other.Also...)
	for _, c := range other.Changes {
		p.add(c)
	}
}

// An editedPacket is a packet with its splices.
type editedPacket struct {
	start, end int64
	splices    []splice
	grow       int64 // the number of bytes added by splices
}

// Content returns the edited content. The memory for the content depends on the new values.
func (p *Plan) Content() *save.Content { return p.content }

// An ExistsError reports a path to add where there is a value already.
type ExistsError struct{ Path, Text string }

func (e *ExistsError) Error() string { return "there is a value at " + e.Path }

// Target returns the path and the text of the target.
func (e *ExistsError) Target() (path, value string) { return e.Path, e.Text }

// A RefusedError reports an edit after which engines would not read the packet.
type RefusedError struct{ err error }

func (e *RefusedError) Error() string {
	why := e.err.Error()
	if at := (*gdwire.Error)(nil); errors.As(e.err, &at) { // the offset is in no file
		why = at.Path + ": " + strings.TrimPrefix(at.Err.Error(), gdwire.ErrStrict.Error()+": ")
	}
	return "engines would not read the edited packet: " + why
}

// Unwrap returns the error of the packet.
func (e *RefusedError) Unwrap() error { return e.err }

// packets calls yield for each packet with a path in the tree.
func packets(c *save.Content, tree *text.Tree, yield func(*save.Packet, *text.Node) error) error {
	remaining := tree.Packets()
	wanted := func(index int64) bool { return tree.Root(index) != nil }
	return c.Packets(wanted, func(p *save.Packet) (bool, error) {
		remaining--
		return remaining > 0, tree.In(p.Index, func(root *text.Node) error { return yield(p, root) })
	})
}

// Inside makes a Walker find the nodes of values in the bytes of PackedByteArrays.
func Inside(w *text.Walker) {
	opener := new(explain.Opener)
	w.Bytes = func(p *text.Node, b []byte) error {
		parse := opener.Open(b, w.Options().Format)
		if parse == nil {
			return nil
		}
		return w.WalkInside(p, parse.Values())
	}
}

// Walk walks over all packets of a tree.
func Walk(c *save.Content, tree *text.Tree, w *text.Walker) error {
	Inside(w)
	return packets(c, tree, func(p *save.Packet, root *text.Node) error {
		w.Decoder = p.Decoder
		return w.Walk(root)
	})
}

// notFound returns the error for a node where a walk found no value.
func notFound(c *save.Content, p *text.Node) error {
	path, err := text.Parse(p.String())
	if err != nil {
		return err
	}
	err = Find(c, path)
	if missing := (*text.NotFoundError)(nil); errors.As(err, &missing) {
		missing.Value = p.Text
	}
	return cmp.Or(err, fmt.Errorf("another of the paths leads to %v, too", p))
}

// Find returns an error if a path leads to no value, with the most similar key.
func Find(c *save.Content, path text.Path) error {
	var tree text.Tree
	p, err := tree.Add(path, "")
	if err != nil {
		return err
	}
	var near text.Nearest
	if err := Walk(c, &tree, &text.Walker{Key: near.Key}); err != nil || p.Hits > 0 {
		return err
	}
	return near.NotFound(p)
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

// Changed iterates over the paths in the tree of a plan, and those that were changed also.
func (p *Plan) Changed(tree *text.Tree) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := range Targets(tree) {
			if !yield(at) {
				return
			}
		}
		slices.Values(p.Also)(yield)
	}
}

// Targets iterates over the paths in a tree.
func Targets(tree *text.Tree) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range tree.Targets {
			if !yield(p.String()) {
				return
			}
		}
	}
}
