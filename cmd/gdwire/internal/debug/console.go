package debug

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
)

// A console reads commands from a terminal, with history and completion. Output of the game
// appears above the edited line.
type console struct {
	*runner
	in       *os.File
	terminal *term.Terminal
	cooked   *term.State // of the terminal while commands run
}

// newConsole returns a console. All output of d goes through the console from now on.
func newConsole(d *runner) (*console, error) {
	p := &console{runner: d, in: d.In.(*os.File)}
	state, err := term.GetState(int(p.in.Fd()))
	if err != nil {
		return nil, err
	}
	p.cooked = state
	p.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{p.in, os.Stdout}, "> ")
	p.terminal.AutoCompleteCallback = p.complete
	d.results = bufio.NewWriterSize(p.terminal, shell.BufferSize)
	d.events, d.Errs = d.results, p.terminal
	return p, nil
}

// run runs commands until Ctrl-D or the end of the game.
func (p *console) run(ctx context.Context) error {
	defer p.restore()
	if err := p.printf("help lists the commands, Tab completes them and the names of nodes, Ctrl-D ends\n"); err != nil {
		return err
	}
	lines, next := make(chan string), make(chan struct{})
	defer close(next)
	go func() {
		defer close(lines)
		for range next {
			line, err := p.terminal.ReadLine()
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	for {
		if err := p.makeRaw(); err != nil { // here, because restore comes after it
			return err
		}
		next <- struct{}{}
		select {
		case line, ok := <-lines:
			p.restore()
			if !ok {
				return nil
			}
			p.command(ctx, line)
		case <-p.session.Done():
			return p.session.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// makeRaw enters the raw mode: Ctrl-C and Ctrl-D end the input.
func (p *console) makeRaw() error {
	fd := int(p.in.Fd())
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		_ = p.terminal.SetSize(width, height)
	}
	_, err := term.MakeRaw(fd)
	return err
}

// restore leaves the raw mode.
func (p *console) restore() { _ = term.Restore(int(p.in.Fd()), p.cooked) }

// command runs a line. Ctrl-C ends only this command.
func (p *console) command(ctx context.Context, line string) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	p.execute(ctx, line)
}

// completionTime is the time for the game to send names.
const completionTime = time.Second

// complete completes the word before the cursor when Tab is pressed: the name of a command, the path
// of a node or the name of a property, as far as it is unambiguous.
func (p *console) complete(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' {
		return "", 0, false
	}
	before, after := line[:pos], line[pos:]
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	before = completed(before, p.candidates(ctx, before))
	return before + after, len(before), true
}

// maxCandidates is the maximum number of nodes completed by Tab.
const maxCandidates = 10_000

// candidates returns all lines that begin in the same way as the line, up to its last word.
func (p *console) candidates(ctx context.Context, line string) (all []string) {
	command, operand, found := strings.Cut(line, " ")
	c := findCommand(command)
	switch {
	case !found:
		for _, c := range commands {
			name := c.name
			if c.operand != "" {
				name += " "
			}
			all = append(all, name)
		}
		return all
	case c == nil || !strings.HasPrefix(c.operand, "NODE"):
		return nil
	}
	if path, _, found := strings.Cut(operand, ":"); found {
		o, _, err := p.inspect(ctx, path)
		if err != nil {
			return nil
		}
		for _, property := range o.Properties {
			all = append(all, command+" "+path+":"+strings.TrimPrefix(property.Name, "Members/"))
		}
		return all
	}
	root, err := p.session.Tree(ctx)
	if err != nil {
		return nil
	}
	for depth, n := range root.All() {
		if depth > maxIndent || len(all) == maxCandidates {
			continue // the sum of all paths could be large
		}
		path := n.Path()
		if !strings.HasPrefix(operand, "/") {
			path = strings.TrimPrefix(path, root.Path()+"/")
		}
		all = append(all, command+" "+path)
	}
	return all
}

// completed returns the longest common beginning of the candidates beginning with the line.
func completed(line string, candidates []string) string {
	longest, found := "", false
	for _, c := range candidates {
		switch {
		case !strings.HasPrefix(c, line) || c != oneLine(c):
		case !found:
			longest, found = c, true
		default:
			for !strings.HasPrefix(c, longest) {
				longest = longest[:len(longest)-1]
			}
		}
	}
	if !found {
		return line
	}
	return strings.ToValidUTF8(longest, "")
}
