package debug

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/debugger"
	"github.com/gdwire/gdwire/internal/text"
	"github.com/gdwire/gdwire/variant"
)

// A command is a command of the debugger.
type command struct {
	name, operand, summary string // operand is "" if there is none
	run                    func(d *runner, ctx context.Context, operand string) error
}

var commands []command

func init() { // help refers to them
	commands = []command{
		{"tree", "", "show the nodes", (*runner).showTree},
		{"get", "NODE:PROPERTY", "show a property, its component (Main:position:x), or all of NODE", (*runner).get},
		{"set", "NODE:PROPERTY = VALUE", "change a property", (*runner).set},
		{"watch", "NODE:PROPERTY", "show a property when it changes, until the game ends or Ctrl-C", (*runner).watch},
		{"monitors", "", "show frames per second, memory and so on, until the game ends or Ctrl-C", (*runner).monitors},
		{"break", "FILE:LINE", "stop the game at a line", breakpoint(true)},
		{"clear", "FILE:LINE", "remove a breakpoint", breakpoint(false)},
		{"pause", "", "stop the game at its next line", (*runner).pause},
		{"stack", "", "show the stack and its variables, when the game is stopped", stopped((*runner).stack)},
		{"eval", "EXPRESSION", "show the value of an expression, when the game is stopped", stopped((*runner).eval)},
		{"step", "", "go to the next line, in a called function, too", stopped(proceed((*debugger.Session).Step))},
		{"next", "", "go to the next line of the function", stopped(proceed((*debugger.Session).Next))},
		{"out", "", "go to the end of the function", stopped(proceed((*debugger.Session).Out))},
		{"continue", "", "let the game run", stopped((*runner).resume)},
		{"help", "", "show the commands", (*runner).help},
	}
}

// CommandNames returns the names of the commands of the debugger.
func CommandNames() (all []string) {
	for i := range commands {
		all = append(all, commands[i].name)
	}
	return all
}

// findCommand returns the command of the given name, or nil.
func findCommand(name string) *command {
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &commands[i]
}

// A step is a command with its operand.
type step struct {
	*command
	operand string
}

func (s *step) run(ctx context.Context, d *runner) error {
	return s.command.run(d, ctx, s.operand)
}

// newStep returns the command of the given name. operand is the text after the name.
func newStep(name, operand string) (step, error) {
	c := findCommand(name)
	if c == nil {
		for _, other := range commands {
			if text.Similar(name, other.name) {
				return step{}, fmt.Errorf("no command %q of the debugger; did you mean %s?", name, other.name)
			}
		}
		return step{}, fmt.Errorf("no command %q of the debugger; help lists them", name)
	}
	if (c.operand == "") != (operand == "") {
		return step{}, fmt.Errorf("want %s", strings.TrimSpace(c.name+" "+c.operand))
	}
	return step{c, operand}, nil
}

// stepsOf returns the commands in words of a command line.
func stepsOf(words []string) (steps []step, err error) {
	for len(words) > 0 {
		n, operand := 1, ""
		if c := findCommand(words[0]); c != nil && c.operand != "" {
			n = min(2, len(words))
			if len(words) > 3 && words[2] == "=" { // set without quotes
				n = 4
			}
			operand = strings.Join(words[1:n], " ")
		}
		step, err := newStep(words[0], operand)
		if err != nil {
			return nil, err
		}
		steps, words = append(steps, step), words[n:]
	}
	return steps, nil
}

// execute runs a line, and shows any error.
func (d *runner) execute(ctx context.Context, line string) {
	name, operand, _ := strings.Cut(strings.TrimSpace(line), " ")
	if name == "" {
		return
	}
	step, err := newStep(name, strings.TrimSpace(operand))
	if err == nil {
		err = step.run(ctx, d)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.Report(err)
	}
}

// runSteps runs the commands on the command line.
func (d *runner) runSteps(ctx context.Context, steps []step) error {
	for _, step := range steps {
		if err := step.run(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// readCommands runs the lines of standard input.
func (d *runner) readCommands(ctx context.Context) {
	if d.In != nil {
		for lines := bufio.NewScanner(d.In); lines.Scan(); {
			d.execute(ctx, lines.Text())
		}
	}
	d.leave(ctx)
}

// maxIndent is the maximum depth of indented nodes.
const maxIndent = 40

// showTree shows the scene tree.
func (d *runner) showTree(ctx context.Context, _ string) error {
	root, err := ask(ctx, d.session.Scene)
	if err != nil {
		return err
	}
	var b strings.Builder
	for depth, n := range root.All() {
		fmt.Fprintf(&b, "%*s%s  %s\n", 2*min(depth, maxIndent), "", oneLine(n.Name), d.Colors.Dim.Sprint(oneLine(strings.TrimSpace(n.Class+" "+n.Scene))))
	}
	return d.printf("%s", b.String())
}

// find returns the node and the name of a property at a path such as Main:hp.
func (d *runner) find(ctx context.Context, path string) (n *debugger.Node, property string, err error) {
	root, err := ask(ctx, d.session.Scene)
	if err != nil {
		return nil, "", err
	}
	name, property, _ := strings.Cut(path, ":")
	if n = root.Find(name); n != nil {
		return n, property, nil
	}
	hint := ""
	last := name[strings.LastIndexByte(name, '/')+1:]
	for _, other := range root.All() {
		if other.Name == last || text.Similar(last, other.Name) {
			hint = "; did you mean " + strings.TrimPrefix(other.Path(), root.Path()+"/") + "?"
			break
		}
	}
	return nil, "", fmt.Errorf("no node %s%s", oneLine(name), oneLine(hint))
}

// inspect returns the object and the property at a path. The property is nil for the path of a node.
func (d *runner) inspect(ctx context.Context, path string) (*debugger.Object, *debugger.Property, error) {
	n, name, err := d.find(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	o, err := ask(ctx, func(ctx context.Context) (*debugger.Object, error) { return d.session.Inspect(ctx, n.ID) })
	if err != nil || name == "" {
		return o, nil, err
	}
	name, component, _ := strings.Cut(name, ":")
	p := o.Property(name)
	if p != nil && component != "" {
		p, err = componentOf(p, component)
		return o, p, err
	}
	if p == nil {
		hint := ""
		for _, other := range o.Properties {
			if short := strings.TrimPrefix(other.Name, "Members/"); text.Similar(name, short) {
				hint = "; did you mean " + short + "?"
				break
			}
		}
		return nil, nil, fmt.Errorf("no property %s of %s%s", oneLine(name), oneLine(n.Path()), oneLine(hint))
	}
	return o, p, nil
}

// componentOf returns a component of a property, such as x of a Vector2, as a property.
func componentOf(p *debugger.Property, path string) (*debugger.Property, error) {
	var v any
	err := p.Value.Unmarshal(&v)
	if err == nil {
		v, err = variant.Get(v, strings.ReplaceAll(path, ":", "."))
	}
	var data []byte
	if err == nil {
		data, err = variant.Marshal(v)
	}
	return &debugger.Property{Name: p.Name, Value: variant.Raw{Data: data}}, err
}

// get shows a property, or all of them.
func (d *runner) get(ctx context.Context, path string) error {
	o, p, err := d.inspect(ctx, path)
	if err != nil {
		return err
	}
	if p != nil {
		return d.printf("%v\n", p.Value)
	}
	var b strings.Builder
	for _, p := range o.Properties {
		fmt.Fprintf(&b, "%s = %s\n", oneLine(strings.TrimPrefix(p.Name, "Members/")), shell.Cut(p.Value.String(), d.Width))
	}
	return d.printf("%s", b.String())
}

// set changes a property. A value keeps its type, as with the command set.
func (d *runner) set(ctx context.Context, line string) error {
	path, value, ok := strings.Cut(line, "=")
	path = strings.TrimSpace(path)
	if !ok || !strings.Contains(path, ":") {
		return fmt.Errorf("want set NODE:PROPERTY = VALUE and not %q", line)
	}
	if strings.Count(path, ":") > 1 {
		return fmt.Errorf("%s is a component: set the whole property", oneLine(path))
	}
	v, err := text.ParseValue(strings.TrimSpace(value))
	if err != nil {
		return err
	}
	o, p, err := d.inspect(ctx, path)
	if err != nil {
		return err
	}
	old, err := leading(p.Value)
	if err != nil {
		return err
	}
	if fit, ok := v.FitLike(&old); ok {
		v = fit
	} else if prefix := typePrefixes[v.Type]; !v.Exact && prefix != "" && old.Type != gdwire.TypeNil {
		return fmt.Errorf("%s is of type %v and not %v; %s%s sets another type", oneLine(path), old.Type, v.Type, prefix, strings.TrimSpace(value))
	}
	if err := d.session.SetProperty(ctx, o.ID, strings.TrimPrefix(p.Name, "Members/"), pathValue{&v}); err != nil {
		return err
	}
	_, now, err := d.inspect(ctx, path)
	if err != nil {
		return err
	}
	return d.printf("%s: %s, was %s\n", oneLine(path), shell.Cut(now.Value.String(), d.Width), shell.Cut(p.Value.String(), d.Width))
}

// leading returns a value, or only the type of a container.
func leading(r variant.Raw) (text.Value, error) {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: r.Format})
	defer d.Release()
	d.ResetBytes(r.Data)
	t, err := d.ReadToken()
	if err != nil {
		return text.Value{}, err
	}
	return text.FromToken(t, nil), nil
}

// typePrefixes contains the prefixes of values written with their type.
var typePrefixes = map[gdwire.Type]string{
	gdwire.TypeInt: "i:", gdwire.TypeFloat: "f:", gdwire.TypeString: "s:", gdwire.TypeBool: "b:",
}

// A pathValue encodes a parsed value.
type pathValue struct{ *text.Value }

func (v pathValue) MarshalVariant(e *gdwire.Encoder) error { return v.Write(e, false) }

// watchInterval is the time between two looks at a property.
const watchInterval = 100 * time.Millisecond

// watch shows a property when it changes.
func (d *runner) watch(ctx context.Context, path string) error {
	if !strings.Contains(path, ":") {
		return fmt.Errorf("want watch NODE:PROPERTY and not %q", path)
	}
	var last []byte
	for {
		_, p, err := d.inspect(ctx, path)
		if err != nil {
			return d.unlessEnded(err)
		}
		if !bytes.Equal(last, p.Value.Data) {
			last = p.Value.Data
			if err := d.printf("%s = %s\n", oneLine(path), shell.Cut(p.Value.String(), d.Width)); err != nil {
				return err
			}
		}
		select {
		case <-time.After(watchInterval):
		case <-d.session.Done():
			return d.session.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// unlessEnded returns err, or the error of the session if err only reports the end of the session.
func (d *runner) unlessEnded(err error) error {
	if errors.Is(err, debugger.ErrEnded) {
		return d.session.Err()
	}
	return err
}

// monitors shows measurements.
func (d *runner) monitors(ctx context.Context, _ string) error {
	show := func(on bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.monitoring, d.table = on, 0
	}
	show(true)
	defer show(false)
	if err := d.session.Monitor(ctx, true); err != nil {
		return d.unlessEnded(err)
	}
	return d.untilEnd(ctx)
}

// breakpoint returns a command to set or remove a breakpoint.
func breakpoint(set bool) func(*runner, context.Context, string) error {
	return func(d *runner, ctx context.Context, place string) error {
		colon := strings.LastIndexByte(place, ':')
		line, err := strconv.Atoi(place[colon+1:])
		if colon <= 0 || err != nil {
			return fmt.Errorf("want FILE:LINE, such as main.gd:19, and not %q", place)
		}
		file := place[:colon]
		if !strings.Contains(file, "://") {
			file = "res://" + file
		}
		return d.session.Breakpoint(ctx, file, line, set)
	}
}

// pause stops the game and waits for the stop.
func (d *runner) pause(ctx context.Context, _ string) error {
	if err := d.session.Break(ctx); err != nil {
		return err
	}
	_, err := ask(ctx, d.session.WaitStop)
	return err
}

// stopped returns a command waiting until the game is stopped.
func stopped(run func(*runner, context.Context, string) error) func(*runner, context.Context, string) error {
	return func(d *runner, ctx context.Context, operand string) error {
		if _, err := d.session.WaitStop(ctx); err != nil {
			return err
		}
		return run(d, ctx, operand)
	}
}

// stack shows the stack with the variables of each function.
func (d *runner) stack(ctx context.Context, _ string) error {
	stack, err := ask(ctx, d.session.Stack)
	if err != nil {
		return err
	}
	var b strings.Builder
	for i, f := range stack {
		fmt.Fprintf(&b, "%d  %s\n", i, d.Colors.Bold.Sprint(oneLine(f.String())))
		all, err := ask(ctx, func(ctx context.Context) ([]debugger.Variable, error) { return d.session.Variables(ctx, i) })
		if err != nil {
			return err
		}
		for _, v := range all {
			fmt.Fprintf(&b, "   %s %s = %s\n", d.Colors.Dim.Sprintf("%-6s", v.Scope), oneLine(v.Name), shell.Cut(v.Value.String(), d.Width))
		}
	}
	return d.printf("%s", b.String())
}

// eval shows the value of an expression.
func (d *runner) eval(ctx context.Context, expression string) error {
	v, err := ask(ctx, func(ctx context.Context) (variant.Raw, error) { return d.session.Evaluate(ctx, expression, 0) })
	if err != nil {
		return err
	}
	return d.printf("%v\n", v)
}

// resume continues the game.
func (d *runner) resume(ctx context.Context, _ string) error { return d.session.Continue(ctx) }

// proceed returns a command to let a stopped game run to another line.
func proceed(run func(*debugger.Session, context.Context) error) func(*runner, context.Context, string) error {
	return func(d *runner, ctx context.Context, _ string) error {
		if err := run(d.session, ctx); err != nil {
			return err
		}
		_, err := d.session.WaitStop(ctx)
		return err
	}
}

// help shows the commands.
func (d *runner) help(context.Context, string) error {
	var b strings.Builder
	t := shell.NewTable(&b)
	PrintCommands(t)
	_ = t.Flush()
	return d.printf("%s", b.String())
}

// PrintCommands prints the commands as rows of a table.
func PrintCommands(w io.Writer) {
	for _, c := range commands {
		fmt.Fprintf(w, "  %s %s\t%s\n", c.name, c.operand, c.summary)
	}
	fmt.Fprintln(w)
}
