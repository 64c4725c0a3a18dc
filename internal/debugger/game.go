package debugger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/gdwire/gdwire/variant"
)

// ErrRunning is returned by requests about the stack while the game runs.
var ErrRunning = errors.New("session: the game is not stopped")

// ErrUnsupported is wrapped by the errors of requests unknown to this version of the engine.
var ErrUnsupported = errors.New("session: not supported by this version of Godot")

// names are the names of a command or message in Godot 3 and Godot 4.
type names struct{ godot3, godot4 string }

// of returns the name in the protocol.
func (n names) of(p Protocol) string {
	if p == Godot3 {
		return n.godot3
	}
	return n.godot4
}

var (
	requestTree   = names{"request_scene_tree", "scene:request_scene_tree"}
	sceneTree     = names{"message:scene_tree", "scene:scene_tree"}
	inspectObject = names{"inspect_object", "scene:inspect_object"}
	inspected     = names{"message:inspect_object", "scene:inspect_object"}
	setProperty   = names{"set_object_property", "scene:set_object_property"}
)

// inspectObjects replaced scene:inspect_object in Godot 4.5. Later versions know both.
const inspectObjects = "scene:inspect_objects"

// Breakpoint sets or removes a breakpoint, such as "res://main.gd", 19.
func (s *Session) Breakpoint(ctx context.Context, file string, line int, set bool) error {
	return s.Send(ctx, "breakpoint", file, line, set)
}

// Break stops the game at the next line of script. [Session.WaitStop] waits for that.
func (s *Session) Break(ctx context.Context) error { return s.Send(ctx, "break") }

// A Stop is where and why a thread of the game is stopped.
type Stop struct {
	Thread      int64
	Reason      string // "Breakpoint", or the error of a script
	CanContinue bool
}

// maxStops is the maximum number of threads noted as stopped.
const maxStops = 256

// note notes whether a thread stops or continues. s is locked.
func (s *Session) note(m *Message) {
	switch m.Name {
	case "debug_enter", "debug_exit":
	default:
		return
	}
	s.stops = slices.DeleteFunc(s.stops, func(old *Stop) bool { return old.Thread == m.Thread })
	if stop, ok := m.Event().(*Stop); ok && len(s.stops) < maxStops {
		s.stops = append(s.stops, stop)
	}
	if len(s.stops) == 0 { // nothing about the stack is answered any more
		s.waiters = slices.DeleteFunc(s.waiters, func(w *waiter) bool {
			if w.stack {
				close(w.done)
			}
			return w.stack
		})
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// Stopped returns where the game is stopped, or nil if it runs. If several threads are stopped,
// Stopped returns the first of them, and commands concern this thread until it continues.
func (s *Session) Stopped() *Stop {
	stop, _ := s.stopped()
	return stop
}

// stopped returns where the game is stopped, and a channel that is closed when this changes.
func (s *Session) stopped() (*Stop, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.stops) == 0 {
		return nil, s.changed
	}
	return s.stops[0], s.changed
}

// WaitStop waits until the game is stopped.
func (s *Session) WaitStop(ctx context.Context) (*Stop, error) {
	for {
		stop, changed := s.stopped()
		if stop != nil {
			return stop, nil
		}
		if err := s.wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// Continue lets a stopped game run.
func (s *Session) Continue(ctx context.Context) error { return s.proceed(ctx, "continue") }

// Step runs a stopped game to the next line, which can be in a function called by this line.
func (s *Session) Step(ctx context.Context) error { return s.proceed(ctx, "step") }

// Next runs a stopped game to the next line of the same function.
func (s *Session) Next(ctx context.Context) error { return s.proceed(ctx, "next") }

// Out runs a stopped game to the end of the function. Godot 3 lacks this command.
func (s *Session) Out(ctx context.Context) error {
	if p, err := s.Protocol(ctx); err != nil || p == Godot3 {
		return errors.Join(err, fmt.Errorf("%w: out", ErrUnsupported))
	}
	return s.proceed(ctx, "out")
}

// proceed sends a command to the stopped thread, and waits until the thread runs or the game ended.
func (s *Session) proceed(ctx context.Context, command string) error {
	stop, changed := s.stopped()
	if stop == nil {
		return ErrRunning
	}
	if err := s.send(ctx, nil, stop.Thread, command, nil); err != nil {
		return err
	}
	for now := stop; now == stop; now, changed = s.stopped() {
		err := s.wait(ctx, changed)
		if errors.Is(err, ErrEnded) { // a game running to its end can forget to report it
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// askStack sends a command to the stopped thread. read is called with the messages after the command, in
// the goroutine reading them, and reports as a waiter's take does.
func (s *Session) askStack(ctx context.Context, read func(*Message) (taken, last bool), command string, args ...any) error {
	stop := s.Stopped()
	if stop == nil {
		return ErrRunning
	}
	finished := false
	w := &waiter{stack: true, take: func(m *Message) (taken, last bool) {
		taken, last = read(m)
		finished = finished || last
		return taken, last
	}}
	err := s.ask(ctx, w, stop.Thread, command, args...)
	if err == nil && !finished {
		return ErrRunning
	}
	return err
}

// A Frame is a function on the stack and its current line.
type Frame struct {
	File, Function string
	Line           int
}

func (f Frame) String() string { return fmt.Sprintf("%s:%d in %s", f.File, f.Line, f.Function) }

// Stack returns the functions of a stopped game, the innermost first.
func (s *Session) Stack(ctx context.Context) ([]Frame, error) {
	var m *Message
	if err := s.askStack(ctx, one("stack_dump", &m), "get_stack_dump"); err != nil {
		return nil, err
	}
	return m.stack()
}

// stack decodes a stack_dump.
func (m *Message) stack() (frames []Frame, err error) {
	c := &cursor{m: m}
	if m.Protocol != Godot3 {
		return c.frames(func(f *Frame) [3]any { return [3]any{&f.File, &f.Line, &f.Function} }), c.err
	}
	for c.i < len(m.Data) && c.err == nil {
		frames = append(frames, next[Frame](c))
	}
	return frames, c.err
}

// frames decodes a number of values and then these values, three of each frame. fields returns the
// fields of a frame in their order.
func (c *cursor) frames(fields func(*Frame) [3]any) (frames []Frame) {
	for n := next[int64](c); n >= 3 && c.err == nil; n -= 3 {
		var f Frame
		for _, field := range fields(&f) {
			c.scan(field)
		}
		frames = append(frames, f)
	}
	return frames
}

// A Scope is where a variable is declared.
type Scope int

// The scopes of variables.
const (
	Local Scope = iota
	Member
	Global
)

func (s Scope) String() string {
	if s < Local || s > Global {
		return fmt.Sprintf("Scope(%d)", int(s))
	}
	return [...]string{"local", "member", "global"}[s]
}

// A Variable is a variable visible to a function of the stack.
type Variable struct {
	Name  string
	Scope Scope
	Value variant.Raw // nil if the value is larger than 1 MiB, or with Godot 3 8 MiB
}

// Variables returns the variables of a function on the stack of a stopped game, by its index in
// [Session.Stack]: local variables, members of self, and global variables.
func (s *Session) Variables(ctx context.Context, frame int) ([]Variable, error) {
	var all []Variable
	var failed error
	missing, size := int64(-1), int64(0)
	err := s.askStack(ctx, func(m *Message) (taken, last bool) {
		switch {
		case m.Name == "stack_frame_vars" && m.Protocol == Godot3:
			all, failed = m.variables()
			return true, true
		case m.Name == "stack_frame_vars" && missing < 0:
			failed = m.Scan(&missing)
		case m.Name == "stack_frame_var" && missing > 0:
			missing--
			size += m.size()
			v, err := m.variable()
			if all, failed = append(all, v), errors.Join(failed, err); size > maxMessage {
				failed = fmt.Errorf("session: variables exceed %d bytes", maxMessage)
			}
		default:
			return false, false
		}
		return true, missing <= 0 || failed != nil
	}, "get_stack_frame_vars", frame)
	if err != nil { // the reply may still come, and write the variables
		return nil, err
	}
	return all, failed
}

// variables decodes the stack_frame_vars of Godot 3: for each scope a number, then names and values.
func (m *Message) variables() (all []Variable, err error) {
	c := &cursor{m: m}
	for scope := Local; scope <= Global && c.err == nil; scope++ {
		for n := next[int64](c); n > 0 && c.err == nil; n-- {
			all = append(all, Variable{next[string](c), scope, c.raw()})
		}
	}
	return all, c.err
}

// variable decodes a variable of Godot 4: name, scope, type since 4.1, and value.
func (m *Message) variable() (v Variable, err error) {
	c := &cursor{m: m}
	v.Name, v.Scope = next[string](c), next[Scope](c)
	if len(m.Data) > 3 {
		c.raw()
	}
	v.Value = c.raw()
	return v, c.err
}

// Evaluate returns the value of an expression in a function on the stack of a stopped game, by its
// index in [Session.Stack]. It needs Godot 4.4. The value of an invalid expression is nil, and
// the game reports an [Error].
func (s *Session) Evaluate(ctx context.Context, expression string, frame int) (variant.Raw, error) {
	if p, err := s.Protocol(ctx); err != nil || p != Godot42 {
		return variant.Raw{}, errors.Join(err, fmt.Errorf("%w: evaluate", ErrUnsupported))
	}
	var m *Message
	if err := s.askStack(ctx, one("evaluation_return", &m), "evaluate", expression, frame); err != nil {
		return variant.Raw{}, err
	}
	v, err := m.variable()
	return v.Value, err
}

// A Node is a node of the scene tree.
type Node struct {
	Name, Class string
	ID          variant.ObjectID
	Scene       string // the file with this node as root, with Godot 4, or ""
	Parent      *Node  // nil for the root
	Children    []*Node
}

// Tree returns the root of the scene tree.
func (s *Session) Tree(ctx context.Context) (*Node, error) {
	p, err := s.Protocol(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.Request(ctx, sceneTree.of(p), requestTree.of(p))
	if err != nil {
		return nil, err
	}
	return m.tree()
}

// scenePoll is the time between two requests of Scene.
const scenePoll = 50 * time.Millisecond

// Scene returns the root of the scene tree once the tree contains a scene. A game starts without
// one, and does not report the first.
func (s *Session) Scene(ctx context.Context) (*Node, error) {
	for {
		root, err := s.Tree(ctx)
		if err != nil || len(root.Children) > 0 {
			return root, err
		}
		select {
		case <-time.After(scenePoll):
		case <-s.done: // Tree returns why
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// maxDepth is the maximum depth of a scene tree.
const maxDepth = 1024

// tree decodes a scene tree: nodes in their order, each with the number of its children.
func (m *Message) tree() (*Node, error) {
	c := &cursor{m: m}
	root := &Node{}
	type parent struct {
		node    *Node
		missing int64 // children
	}
	open := []parent{{root, 1}}
	for len(open) > 0 && c.err == nil {
		top := &open[len(open)-1]
		if top.missing <= 0 {
			open = open[:len(open)-1]
			continue
		}
		top.missing--
		children := next[int64](c)
		n := &Node{Name: next[string](c), Class: next[string](c), ID: c.id(), Parent: top.node}
		if m.Protocol != Godot3 {
			n.Scene = next[string](c)
			c.raw() // flags of the editor
		}
		top.node.Children = append(top.node.Children, n)
		if open = append(open, parent{n, children}); len(open) > maxDepth {
			return nil, fmt.Errorf("session: scene tree with more than %d levels", maxDepth)
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	root = root.Children[0]
	root.Parent = nil
	return root, nil
}

// All iterates over the node, at depth 0, and over all nodes inside, in their order in the tree.
func (n *Node) All() iter.Seq2[int, *Node] {
	return func(yield func(int, *Node) bool) { n.each(0, yield) }
}

func (n *Node) each(depth int, yield func(int, *Node) bool) bool {
	if !yield(depth, n) {
		return false
	}
	for _, child := range n.Children {
		if !child.each(depth+1, yield) {
			return false
		}
	}
	return true
}

// Path returns the path of the node, such as /root/Main.
func (n *Node) Path() string {
	var names []string
	for ; n != nil; n = n.Parent {
		names = append(names, n.Name)
	}
	names = append(names, "")
	slices.Reverse(names)
	return strings.Join(names, "/")
}

// Find returns the node at a path, such as /root/Main/Player or, from n, Main/Player, or nil if
// there is none.
func (n *Node) Find(path string) *Node {
	if rest, ok := strings.CutPrefix(path, "/"); ok {
		for n.Parent != nil {
			n = n.Parent
		}
		name, rest, _ := strings.Cut(rest, "/")
		if name != n.Name {
			return nil
		}
		path = rest
	}
	for path != "" {
		name, rest, _ := strings.Cut(path, "/")
		i := slices.IndexFunc(n.Children, func(c *Node) bool { return c.Name == name })
		if i < 0 {
			return nil
		}
		n, path = n.Children[i], rest
	}
	return n
}

// An Object describes an object as the inspector of the editor does.
type Object struct {
	ID         variant.ObjectID
	Class      string
	Properties []Property
}

// A Property is a property of an object.
type Property struct {
	Name  string // of a variable of a script, Members/ and its name
	Usage int64  // PROPERTY_USAGE flags
	Value variant.Raw
}

// headings are the PROPERTY_USAGE flags of headings in the inspector, not of properties: groups
// and categories, with Godot 4 also subgroups.
func headings(p Protocol) int64 {
	if p == Godot3 {
		return 128 | 256
	}
	return 64 | 128 | 256
}

// Property returns the property of the given name, with or without Members/, or nil if there is none.
func (o *Object) Property(name string) *Property {
	for _, prefix := range []string{"", "Members/"} {
		for i := range o.Properties {
			if p := &o.Properties[i]; p.Name == prefix+name {
				return p
			}
		}
	}
	return nil
}

// Inspect returns the properties of an object: of a node by its ID in the tree, or of a value of a
// variable. The game does not answer if there is no such object.
func (s *Session) Inspect(ctx context.Context, id variant.ObjectID) (*Object, error) {
	p, err := s.Protocol(ctx)
	if err != nil {
		return nil, err
	}
	var o *Object
	var failed error
	w := &waiter{take: func(m *Message) (taken, last bool) {
		got, err := m.object(p)
		if got == nil || err == nil && got.ID != id {
			return false, false
		}
		o, failed = got, err
		s.inspect = m.Name // s is locked
		return true, true
	}}
	command, args := inspectObject.of(p), []any{int64(id)}
	if p == Godot42 {
		s.mu.Lock()
		known := s.inspect
		s.mu.Unlock()
		several := []any{[]any{int64(id)}, false}
		if known == "" { // one of the two is unknown to the game, which prints a warning
			err = s.Send(ctx, command, args...)
		}
		if known != command {
			command, args = inspectObjects, several
		}
	}
	if err := errors.Join(err, s.ask(ctx, w, mainThread, command, args...), failed); err != nil {
		return nil, err
	}
	return o, nil
}

// object decodes the reply about an object, or returns nil if the message is something else.
func (m *Message) object(p Protocol) (*Object, error) {
	c := &cursor{m: m}
	if m.Name == inspectObjects {
		c = c.inside()
	} else if m.Name != inspected.of(p) {
		return nil, nil
	}
	o := &Object{ID: c.id(), Class: next[string](c)}
	for _, v := range next[[]propertyData](c) {
		if v.Usage&headings(p) == 0 {
			o.Properties = append(o.Properties, Property{v.Name, v.Usage, v.Value})
		}
	}
	return o, c.err
}

// propertyData is an encoded Property.
type propertyData struct {
	_          struct{} `gd:",array"`
	Name       string
	Type, Hint int64
	HintText   string
	Usage      int64
	Value      variant.Raw
}

// SetProperty sets a property of an object. The game converts the value if possible, and otherwise
// reports nothing.
func (s *Session) SetProperty(ctx context.Context, id variant.ObjectID, property string, value any) error {
	p, err := s.Protocol(ctx)
	if err != nil {
		return err
	}
	return s.Send(ctx, setProperty.of(p), int64(id), property, value)
}
