package debug

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/debugger"
)

// A runner shows the messages of a game, and runs commands.
type runner struct {
	*shell.Stdio
	lines   bool                  // -json
	decoder gdwire.DecoderOptions // of values
	session *debugger.Session

	mu         sync.Mutex    // held while something is shown
	results    *bufio.Writer // of commands
	events     *bufio.Writer // of messages of the game
	monitoring bool          // measurements are shown
	table      int           // lines of the latest table of measurements, to refresh it
	alone      bool          // nobody gives commands, and a stopped game is continued
}

// printf shows the result of a command, unless -json is given.
func (d *runner) printf(format string, args ...any) error {
	return d.fprintf(d.results, format, args...)
}

// eventf shows a message of the game, unless -json is given.
func (d *runner) eventf(format string, args ...any) { _ = d.fprintf(d.events, format, args...) }

func (d *runner) fprintf(w *bufio.Writer, format string, args ...any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lines {
		return nil
	}
	d.table = 0
	fmt.Fprintf(w, format, args...)
	return w.Flush()
}

// untilEnd waits for the end of the game.
func (d *runner) untilEnd(ctx context.Context) error {
	select {
	case <-d.session.Done():
		return d.session.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answerTime is the time for the game to answer.
const answerTime = 10 * time.Second

// errNoAnswer reports a game that did not answer in time.
var errNoAnswer = fmt.Errorf("the game did not answer within %v", answerTime)

// ask calls f with a context for one answer of the game.
func ask[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, errNoAnswer)
	defer cancel()
	return f(ctx)
}

// A game is a started program.
type game struct {
	command *exec.Cmd
	output  *tail
	done    chan struct{} // closed when it ended
	err     error         // after done
}

// remoteDebug returns the operands of --remote-debug for Godot 4 and for Godot 3 to connect to addr. Godot 3
// knows no Unix sockets.
func remoteDebug(addr net.Addr) []string {
	if addr.Network() != "unix" {
		return []string{"tcp://" + addr.String(), addr.String()}
	}
	path := addr.String()
	if whole, err := filepath.Abs(path); err == nil { // the game runs in a folder of its own
		path = whole
	}
	return []string{"unix://" + path}
}

// startGame starts a program as a game connecting to addr.
func startGame(ctx context.Context, program []string, addr net.Addr) (*game, error) {
	g := &game{output: new(tail), done: make(chan struct{})}
	operands, version := remoteDebug(addr), 0
	if isGodot3(ctx, program[0]) {
		version = 1
	}
	if version >= len(operands) {
		return nil, errors.New("a game of Godot 3 cannot connect to a Unix socket")
	}
	args := append([]string{"--remote-debug", operands[version]}, program[1:]...)
	g.command = exec.Command(program[0], args...)
	shell.OwnGroup(g.command)
	g.command.Stdout, g.command.Stderr = g.output, g.output
	if err := g.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(g.done)
		if err := g.command.Wait(); err != nil {
			g.err = fmt.Errorf("%s: %w", program[0], err)
		}
	}()
	return g, nil
}

// versionTime is the time for a program to print its version.
const versionTime = 5 * time.Second

// isGodot3 reports whether a program prints a version of Godot 3.
func isGodot3(ctx context.Context, program string) bool {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	c := exec.CommandContext(ctx, program, "--version")
	c.WaitDelay = time.Second // of a script with a child keeping the output open
	out, _ := c.Output()      // other programs print something else
	return bytes.HasPrefix(out, []byte("3."))
}

// running returns a context that is done when the game ends, with a cause containing the output of the game.
func (g *game) running(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		<-g.done
		text := "the game ended before it connected"
		if g.err != nil {
			text += ": " + g.err.Error()
		}
		end(fmt.Errorf("%s\n%s", text, g.output))
	}()
	return ctx
}

// wait waits for the end of the game and returns its error.
func (g *game) wait(ctx context.Context) error {
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// kill ends the game.
func (g *game) kill() {
	select {
	case <-g.done:
	default:
		shell.KillGroup(g.command.Process)
		<-g.done
	}
}

// A tail is the end of an output.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTail is the number of bytes kept by a tail.
const maxTail = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = append(t.text[:0], t.text[max(len(t.text)-maxTail, 0):]...)
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
