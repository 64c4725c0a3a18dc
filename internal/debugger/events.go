package debugger

import (
	"context"
	"fmt"
	"time"
)

// Output contains lines printed by the game.
type Output struct{ Lines []Line }

// A Line is a text printed by the game with one call.
type Line struct {
	Text string
	Kind LineKind
}

func (l Line) String() string { return l.Text }

// A LineKind is how a text was printed.
type LineKind int

// How a text is printed.
const (
	Printed LineKind = iota // by print
	Failure                 // by printerr
	Rich                    // by print_rich, with BBCode
)

// An Error is an error or a warning of a script or of the engine.
type Error struct {
	Time           time.Duration // since the start of the game
	File, Function string        // in the engine's source, or of a script
	Line           int
	Text           string // the failed condition, or the text of push_error
	Detail         string // or ""
	Warning        bool
	Stack          []Frame // of the script, the innermost first
}

// String returns the text of the error and its location.
func (e *Error) String() string {
	text, kind := e.Text, "error"
	if e.Detail != "" {
		text = e.Detail // the condition says less
	}
	if e.Warning {
		kind = "warning"
	}
	return fmt.Sprintf("%s: %s (%s:%d in %s)", kind, text, e.File, e.Line, e.Function)
}

// Continued reports that a stopped thread of the game runs.
type Continued struct{ Thread int64 }

// Monitors are measurements of the game, in the order of the constants of class Performance.
// They come every second: with Godot 4 after [Session.Monitor].
type Monitors struct {
	Protocol Protocol
	Values   []float64
}

// monitors are the first constants of class Performance. Times are in seconds, memory is in bytes.
var monitors = map[bool][]string{
	true:  {"fps", "process", "physics", "memory", "memory dynamic", "memory max", "memory dynamic max", "message buffer", "objects", "resources", "nodes", "orphan nodes"},
	false: {"fps", "process", "physics", "navigation", "memory", "memory max", "message buffer", "objects", "resources", "nodes", "orphan nodes"},
}

// Name returns the name of the i-th value, such as "fps" or "memory", or "" for a value
// specific to a version of the engine.
func (m *Monitors) Name(i int) string {
	names := monitors[m.Protocol == Godot3]
	if i < 0 || i >= len(names) {
		return ""
	}
	return names[i]
}

// Event decodes a message sent by all versions of Godot, and returns an *Output, *Error, *Stop,
// *Continued or *Monitors. It returns nil for all others, such as those of the game's own
// EngineDebugger.send_message, and an error for an invalid message.
func (m *Message) Event() any {
	decode := events[m.Name]
	if decode == nil {
		return nil
	}
	c := &cursor{m: m}
	e := decode(c)
	if c.err != nil {
		return c.err
	}
	return e
}

var events = map[string]func(*cursor) any{
	"output":                    (*cursor).output,
	"error":                     (*cursor).error,
	"debug_enter":               (*cursor).stop,
	"debug_exit":                func(c *cursor) any { return &Continued{c.m.Thread} },
	"performance":               (*cursor).monitors,
	"performance:profile_frame": (*cursor).monitors,
}

func (c *cursor) stop() any {
	return &Stop{Thread: c.m.Thread, CanContinue: next[bool](c), Reason: next[string](c)}
}

// output decodes lines: in Godot 3 each with its kind, in Godot 4 all lines and then their kinds.
func (c *cursor) output() any {
	o := new(Output)
	if c.m.Protocol == Godot3 {
		for c.i < len(c.m.Data) && c.err == nil {
			l := next[line](c)
			o.Lines = append(o.Lines, Line{l.Text, l.Kind})
		}
		return o
	}
	texts, kinds := next[[]string](c), next[[]LineKind](c)
	for i, text := range texts {
		l := Line{Text: text}
		if i < len(kinds) {
			l.Kind = kinds[i]
		}
		o.Lines = append(o.Lines, l)
	}
	return o
}

// line is an encoded Line of Godot 3.
type line struct {
	_    struct{} `gd:",array"`
	Text string
	Kind LineKind
}

// error decodes an error and the stack after it. In Godot 3 the error is an Array, with function and
// file in another order.
func (c *cursor) error() any {
	e := new(Error)
	head := c
	if c.m.Protocol == Godot3 {
		head = c.inside()
	}
	var clock [4]time.Duration // hours, minutes, seconds, milliseconds
	for i := range clock {
		clock[i] = next[time.Duration](head)
	}
	e.Time = clock[0]*time.Hour + clock[1]*time.Minute + clock[2]*time.Second + clock[3]*time.Millisecond
	places := [2]*string{&e.File, &e.Function}
	if c.m.Protocol == Godot3 {
		places = [2]*string{&e.Function, &e.File}
	}
	for _, place := range places {
		head.scan(place)
	}
	e.Line, e.Text, e.Detail, e.Warning = next[int](head), next[string](head), next[string](head), next[bool](head)
	if c.err == nil {
		c.err = head.err
	}
	e.Stack = c.frames(func(f *Frame) [3]any { return [3]any{&f.File, &f.Function, &f.Line} })
	return e
}

func (c *cursor) monitors() any {
	m := &Monitors{Protocol: c.m.Protocol}
	if c.m.Protocol == Godot3 {
		m.Values = next[[]float64](c)
		return m
	}
	for c.i < len(c.m.Data) && c.err == nil {
		m.Values = append(m.Values, next[float64](c))
	}
	return m
}

// Monitor turns the event [Monitors] on or off. Godot 3 always sends it.
func (s *Session) Monitor(ctx context.Context, on bool) error {
	p, err := s.Protocol(ctx)
	if err != nil || p == Godot3 {
		return err
	}
	return s.Send(ctx, "profiler:performance", on)
}
