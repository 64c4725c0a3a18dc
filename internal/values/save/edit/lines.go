package edit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/text"
)

// The plans of edits: of lines as people write them, path = value, of values of Go, of copies and of moves.

// AddPath adds a path to a tree.
func AddPath(tree *text.Tree, value string, op Op) error {
	p, err := WholePath(text.Parse(value))
	if err == nil {
		err = checkPath(&p, op)
	}
	if err != nil {
		return err
	}
	_, err = tree.Add(p, "")
	if last := len(p.Steps) - 1; err != nil && last >= 0 && p.Steps[last].Key.Type == gdwire.TypeInt {
		in, i := outer(p), p.Steps[last].Key.Int
		err = fmt.Errorf("%w; two elements are %s", err, text.Operand(fmt.Sprintf("%v[%d:%d]", in, i, i+2)))
	}
	return err
}

// AddLine adds a line, path = value, and returns the steps of the path, for the next line. The edit reports a text that is no value,
// with the type of the old one or of those beside it, and += of values that there is one.
func AddLine(tree *text.Tree, line string, steps []text.Step, op Op) ([]text.Step, error) {
	at, value, ok := strings.Cut(line, "[]")
	if _, err := text.Parse(at); op == Add && ok && err == nil && strings.HasPrefix(strings.TrimSpace(value), "=") {
		line = at + "[+]" + value
	}
	p, value, err := text.CutLine(line, steps)
	if (op == Set || op == Add) && value != "" && value[0] != '=' {
		err = nil
	}
	if p, err = WholePath(p, err); err == nil {
		err = checkPath(&p, op)
	}
	if err == nil {
		_, err = tree.Add(p, value)
	}
	return p.Steps, err
}

// checkPath returns an error for a path with [], and for one with a number without brackets where it can be a new key.
func checkPath(p *text.Path, op Op) error {
	if p.HasEmpty() {
		return fmt.Errorf("[] is empty: [*] is each, as %s, [+] appends, and [\"\"] is the key \"\"", text.Operand(p.String()))
	}
	if !p.Bare || op == Set || op == Delete {
		return nil
	}
	return fmt.Errorf(`nothing tells whether an index, a number or a text is meant: write %v for an index or a number, and ["1"] for a text`, p)
}

// WholePath returns an error for a path that ends in "…".
func WholePath(p text.Path, err error) (text.Path, error) {
	if err == nil && p.Cut {
		err = fmt.Errorf("%v is only the start of a path", p)
	}
	return p, err
}

// A Place is a path in a packet, and the text of a value there, or "".
type Place struct {
	Line  string // as typed
	Path  text.Path
	Value string
}

// ParsePlace parses path = value.
func ParsePlace(line string) (p Place, err error) {
	path, value, err := text.CutLine(line, nil)
	path, err = WholePath(path, err)
	return Place{line, path, value}, err
}

// Set returns the plan for setting the value at the place in a packet.
func (p *Place) Set(c *save.Content) (*Plan, error) {
	var tree text.Tree
	if _, err := tree.Add(p.Path, p.Value); err != nil {
		return nil, err
	}
	return Edit(c, Set, &tree, false)
}

// IsIn reports whether a packet has a value at the place, and this one if there is one.
func (p *Place) IsIn(c *save.Content) bool {
	if p.Value != "" {
		plan, err := p.Set(c)
		return err == nil && len(plan.Changes) == 0
	}
	var tree text.Tree
	at, err := tree.Add(p.Path, "")
	if err != nil {
		return false
	}
	ResolveReals(c, &tree)
	return Walk(c, &tree, &text.Walker{}) == nil && at.Hits > 0
}

// Hint returns what can be typed in place of the edit of an error, after "; ", or "": where else there is a path without a value, or how to
// write the value of another type in the type of the old one, or the other way.
func Hint(c *save.Content, err error, other string) string {
	var missing *text.NotFoundError
	var wrong *TypeError
	switch {
	case errors.As(err, &missing) && missing.Similar == "":
		return places(c, missing.Path)
	case missing != nil:
		if all := follow(c, missing, func(e *text.NotFoundError) string { return e.Similar }); all != "" && all != missing.Similar {
			return " There is " + text.Operand(all)
		}
		return ""
	case !errors.As(err, &wrong):
		return ""
	}
	isText := func(t string) bool {
		return t == gdwire.TypeString.String() || t == gdwire.TypeStringName.String() || t == gdwire.TypeNodePath.String()
	}
	if wrong.In != "" || other == "" {
		other = ""
	} else {
		other = "; " + other
	}
	switch v, failed := text.ParseValue(wrong.Text); {
	case isText(wrong.Old) && !isText(wrong.New) && failed == nil && v.IsKey() && v.Type != gdwire.TypeNil:
		return "; text is in quotes: " + text.Operand(wrong.Path+" = "+string(text.AppendQuoted(nil, wrong.Text)))
	case wrong.Such != "" && wrong.Text != "":
		return "; write a value such as " + example(wrong.Old, wrong.Such, wrong.Text) + other
	}
	return other
}

// Edit returns the plan for the edits in a tree. The texts of the tree are the new values. If
// exact is not set, a new value takes the type of the old value, or is a TypeError.
func Edit(c *save.Content, op Op, tree *text.Tree, exact bool) (*Plan, error) {
	return planned(c, tree, func(c *save.Content) (*editor, error) {
		return &editor{content: c, op: op, exact: exact, source: ofTexts}, nil
	})
}

// Copy returns the plan for putting copies of the value at a path at the targets of a tree. A copy in place of a value
// takes its type, or is a TypeError, unless exact is set.
func Copy(c *save.Content, from text.Path, to *text.Tree, exact bool) (*Plan, error) {
	return planned(c, to, func(c *save.Content) (*editor, error) {
		e, err := copier(c, Put, from, to)
		if err == nil {
			e.exact = exact
		}
		return e, err
	})
}

// copier returns the editor of copies of the value at a path.
func copier(c *save.Content, op Op, from text.Path, to *text.Tree) (*editor, error) {
	if from.IsSeveral() {
		return nil, fmt.Errorf("%v leads to several values", from)
	}
	v, err := find(c, from)
	if err == nil && slices.ContainsFunc(to.Targets, (*text.Node).IsInside) {
		b := make([]byte, v.encoding.size)
		_, err = c.ReadAt(b, v.encoding.from)
		v.encoding.bytes, v.encoding.size = append(v.encoding.bytes, b...), 0
	}
	return &editor{content: c, op: op, source: ofCopy(v)}, err
}

// planned returns the plan of the editor of a content for a tree.
func planned(c *save.Content, tree *text.Tree, of func(*save.Content) (*editor, error)) (*Plan, error) {
	return makePlan(c, func(c *save.Content, p *Plan) (*save.Content, error) {
		tree.Reset()
		e, err := of(c)
		if err == nil {
			err = e.run(tree)
		}
		return e.edits(p, err)
	})
}

// makePlan returns the plan that edit makes of the first reading of a content.
func makePlan(c *save.Content, edit func(*save.Content, *Plan) (*save.Content, error)) (first *Plan, err error) {
	edited, err := c.Edit(func(c *save.Content) (*save.Content, error) {
		p := new(Plan)
		if first == nil {
			first = p
		}
		edited, err := edit(c, p)
		if err != nil {
			return nil, err
		}
		return p.settle(c, edited)
	})
	if err != nil {
		return nil, err
	}
	first.content = edited
	return first, nil
}

// A Request is one of several edits: Put or Delete.
type Request struct {
	Op    Op
	Path  text.Path
	Value *Value // of Put
}

// Apply returns the plan for edits in their order. The content is read once for as many edits as do not depend on each
// other.
func Apply(c *save.Content, all []Request) (*Plan, error) {
	return makePlan(c, func(c *save.Content, p *Plan) (*save.Content, error) {
		var err error
		for rest := all; len(rest) > 0 && err == nil; {
			n := independent(rest)
			c, err = applyAll(c, rest[:n], p)
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
func applyAll(c *save.Content, all []Request, p *Plan) (*save.Content, error) {
	next, err := applyOnce(c, all, p)
	if err == nil || len(all) == 1 {
		return next, err
	}
	half := len(all) / 2
	if c, err = applyAll(c, all[:half], p); err != nil {
		return nil, err
	}
	return applyAll(c, all[half:], p)
}

// applyOnce makes requests of the same kind in one walk.
func applyOnce(c *save.Content, all []Request, p *Plan) (*save.Content, error) {
	var tree text.Tree
	values := make([]*Value, len(all))
	for i := range all {
		if _, err := tree.Add(all[i].Path, ""); err != nil {
			return nil, err
		}
		values[i] = all[i].Value
		p.Also = append(p.Also, all[i].Path.String())
	}
	e := &editor{content: c, op: all[0].Op, source: ofGo(values)}
	return e.edits(p, e.run(&tree))
}

// MoveTo returns the plan for moving the value at a path to the only target of a tree, where no value is yet: a new key, [+], or
// [n], before which it is added. A pair or property that stays in its container keeps its place, and can be in one of several.
func MoveTo(c *save.Content, from text.Path, tree *text.Tree) (*Plan, error) {
	to, err := text.Parse(tree.Targets[0].String())
	last := len(to.Steps) - 1
	if last < 0 || len(from.Steps) == 0 || to.Steps[last].IsSeveral() || !from.IsSeveral() && from.Contains(&to) {
		return nil, cmp.Or(err, fmt.Errorf("%v cannot be moved to %v", from, to))
	}
	in, added := outer(to), to.Steps[last]
	return makePlan(c, func(c *save.Content, p *Plan) (*save.Content, error) {
		of, err := around(c, to)
		if err != nil {
			return nil, err
		}
		isArray := of.Kind == gdwire.KindArrayStart || of.Kind == gdwire.KindPackedStart
		through := in.Contains(&from)
		if through && len(from.Steps) == len(to.Steps) && !isArray && added.Op == text.Child && !from.Steps[last].IsSeveral() {
			e := &editor{content: c, op: Move, to: added.Key}
			return e.makeAt(from, p)
		}
		tree.Reset()
		e, err := copier(c, Add, from, tree)
		if err == nil {
			err = e.run(tree)
		}
		if c, err = e.edits(p, err); err != nil {
			return nil, err
		}
		gone := text.Path{Packet: from.Packet, Steps: slices.Clone(from.Steps)}
		if index := &gone.Steps[min(last, len(from.Steps)-1)].Key.Int; through && isArray {
			if *index < 0 || added.Key.Int < 0 {
				return nil, errors.New("indexes of elements that are moved count from the start")
			}
			if added.Op == text.Child && *index >= added.Key.Int { // it moved
				*index++
			}
		}
		return (&editor{content: c, op: Delete}).makeAt(gone, p)
	})
}

// around returns the container that a path leads into.
func around(c *save.Content, path text.Path) (in text.Container, err error) {
	var tree text.Tree
	at, err := tree.Add(path, "")
	if err != nil {
		return in, err
	}
	ResolveReals(c, &tree)
	err = Walk(c, &tree, &text.Walker{Leave: func(p *text.Node, one text.Container) error {
		if p == at.Parent() {
			in = one
		}
		return nil
	}})
	return in, err
}

// CanAdd reports whether a value can be added at a path: there is a container for it, and the path ends with a new key or with [+].
func CanAdd(c *save.Content, at string) bool {
	path, err := text.Parse(at)
	if err != nil || len(path.Steps) == 0 {
		return false
	}
	switch in, _ := around(c, path); in.Kind {
	case gdwire.KindDictStart:
		return path.Steps[len(path.Steps)-1].Op == text.Child
	case gdwire.KindArrayStart, gdwire.KindPackedStart:
		return path.Steps[len(path.Steps)-1].Op == text.End
	}
	return false
}

// Meant returns the only path that one without a value can mean, or "": by keys of the same text, an index in quotes, or, if it
// names no packet, in the only one that has it.
func Meant(c *save.Content, missing *text.NotFoundError, anywhere bool) string {
	if meant := follow(c, missing, func(e *text.NotFoundError) string { return e.Meant }); meant != "" {
		return meant
	}
	path, _ := text.Parse(missing.Path)
	for i := range path.Steps {
		step, in := &path.Steps[i], text.Path{Packet: path.Packet, Steps: path.Steps[:i+1]}
		if n, err := strconv.ParseInt(step.Key.Text, 10, 64); err == nil && step.Op == text.Child && Find(c, in) != nil {
			*step = text.Step{Key: text.Value{Type: gdwire.TypeInt, Int: n}}
		}
	}
	if Find(c, path) == nil || anywhere && path.Packet == 0 && inOne(c, &path) {
		return path.String()
	}
	return ""
}

// follow returns the path with a value that others without one lead to, each the next of the error of the one before, or "".
func follow(c *save.Content, missing *text.NotFoundError, next func(*text.NotFoundError) string) string {
	for at := next(missing); at != ""; at = next(missing) {
		path, err := text.Parse(at)
		if err = cmp.Or(err, Find(c, path)); err == nil {
			return at
		} else if !errors.As(err, &missing) {
			break
		}
	}
	return ""
}

// inOne sets the packet of a path to the only one that has it, and reports whether there is one.
func inOne(c *save.Content, path *text.Path) bool {
	path.Packet = text.AllPackets
	var tree text.Tree
	at, err := tree.Add(*path, "")
	if err != nil {
		return false
	}
	n, w := 0, &text.Walker{}
	Inside(w)
	err = packets(c, &tree, func(p *save.Packet, root *text.Node) error {
		before := at.Hits
		w.Decoder = p.Decoder
		err := w.Walk(root)
		if at.Hits > before {
			n++
			path.Packet = p.Index
		}
		return err
	})
	return err == nil && n == 1
}

// places returns the paths that are meant perhaps by one without a value, after "; ", or "".
func places(c *save.Content, missing string) string {
	path, _ := text.Parse(missing)
	if other, ok := path.Renumbered(); ok && Find(c, other) == nil {
		return "; there is " + text.Operand(other.String())
	}
	if part := partOf(c, path); part != "" {
		return "; " + part
	}
	for n := len(path.Steps); n > max(0, len(path.Steps)-3); n-- { // the last two can lead into a vector
		switch all := elsewhere(c, path, n); len(all) {
		case 0:
		case 1:
			return "; there is " + all[0]
		default:
			last := len(all) - 1
			return fmt.Sprintf("; there are %s and %s", strings.Join(all[:last], ", "), all[last])
		}
	}
	return ""
}

// partOf returns what is in the value that a path without a value leads into: the components of a math type, the value in bytes, or
// how many elements.
func partOf(c *save.Content, path text.Path) string {
	last := len(path.Steps) - 1
	if last < 0 {
		return ""
	}
	in := outer(path)
	v, err := find(c, in)
	array, _ := around(c, path)
	inside := text.Path{Packet: path.Packet, Steps: slices.Insert(slices.Clone(path.Steps), last, text.Step{Op: text.Inside})}
	switch names := text.ComponentNames(v.Type); {
	case err != nil:
		return ""
	case names != nil:
		return fmt.Sprintf("%v is a %v of %s", in, v.Type, strings.Join(names, ", "))
	case v.Type == gdwire.TypePackedByteArray && Find(c, inside) == nil:
		return "there is " + text.Operand(inside.String())
	case (array.Kind == gdwire.KindArrayStart || array.Kind == gdwire.KindPackedStart) && path.Steps[last].Key.Type == gdwire.TypeInt:
		return fmt.Sprintf("%v has %d elements", in, array.Len)
	}
	return ""
}

// elsewhere returns the paths to values by the steps of a path, with others between the first n of them, in any packet, as operands. The elements
// of an array are one path. If more than three are found, those in all packets are one, and the last is "others" if there are more.
func elsewhere(c *save.Content, path text.Path, n int) []string {
	const most, tried, keys = 3, 8, 10_000
	var one, inEach []string
	same, meant := false, 0 // without other steps, which are not looked for then; the number of keys
	add := func(all *[]string, found text.Path) {
		if s := found.String(); len(*all) < tried && !slices.Contains(*all, s) {
			*all = append(*all, s)
		}
	}
	last := path.Steps[n-1].Key.Text
	_ = c.Packets(save.Every, func(p *save.Packet) (bool, error) {
		var inKey, isMeant bool
		for t, err := range p.AllTokens {
			if err != nil || len(inEach) == tried || meant == keys {
				return false, err
			}
			if isMeant {
				meant++
				found, err := text.Parse(string(p.AppendPath(nil)))
				found, ok := path.Within(found, n)
				if isSame := len(found.Steps) == len(path.Steps); ok && err == nil && (isSame || !same) {
					if isSame && !same {
						one, inEach, same = nil, nil, true
					}
					add(&one, found)
					found.Packet = text.AllPackets
					add(&inEach, found)
				}
			}
			isKey := inKey && t.Kind() == gdwire.KindStringChunk && t.Last() || t.Kind() == gdwire.KindProperty
			inKey, isMeant = t.Kind() == gdwire.KindDictKey, isKey && strings.EqualFold(t.Text(), last)
		}
		return true, nil
	})
	adds := path.Steps[len(path.Steps)-1].Op == text.End && !CanAdd(c, path.String())
	noPath := func(s string) bool {
		path, err := text.Parse(s)
		return !(adds && CanAdd(c, s)) && cmp.Or(err, Find(c, path)) != nil
	}
	one, inEach = slices.DeleteFunc(one, noPath), slices.DeleteFunc(inEach, noPath)
	if len(one) > most && len(inEach) < len(one) {
		one = inEach
	}
	if len(one) > most {
		one = append(one[:most], "others")
	}
	for i, path := range one {
		one[i] = text.Operand(path)
	}
	return one
}

// makeAt makes the edit at a path.
func (e *editor) makeAt(at text.Path, p *Plan) (*save.Content, error) {
	var tree text.Tree
	_, err := tree.Add(at, "")
	if err == nil {
		err = e.run(&tree)
	}
	return e.edits(p, err)
}
