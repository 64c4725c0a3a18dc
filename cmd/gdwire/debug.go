package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/internal/debugger"
	"github.com/gdwire/gdwire/stream"
)

// debugOptions holds the flags and operands of debug.
type debugOptions struct {
	addr    string
	steps   []debugStep
	program []string // the game and its arguments, or empty
	record  string   // -record
}

// editorPort is the port on which Godot's editor waits for games.
const editorPort = "6007"

func debugFlags(fs *flag.FlagSet, o *options) {
	fs.BoolVar(&o.lines, "json", false, "a line of JSON for each message of the game, and no other output")
	recordFlag(fs, &o.debug.record)
}

// debugCheck splits the operands into the address, the commands and the program.
func debugCheck(o *options) (err error) {
	d := &o.debug
	words := o.operands
	d.addr = net.JoinHostPort(loopback, editorPort)
	if o.separator >= 0 {
		words, d.program = words[:o.separator], words[o.separator:]
		d.addr = net.JoinHostPort(loopback, "0")
	}
	if len(words) > 0 && strings.ContainsAny(words[0], ":0123456789") && findDebugCommand(words[0]) == nil {
		d.addr, words = words[0], words[1:]
		if err := completeAddress(&d.addr); err != nil {
			return err
		}
	}
	d.steps, err = debugSteps(words)
	return err
}

// A debugger shows what a game does, and runs commands.
type runner struct {
	*stdio
	options *options
	session *debugger.Session

	mu         sync.Mutex    // held while something is shown
	results    *bufio.Writer // of commands
	events     *bufio.Writer // what the game does
	monitoring bool          // measurements are shown
	table      int           // lines of the table of measurements that was shown last, and is refreshed
	alone      bool          // nobody gives commands, so that a game that stops is continued
}

// debugGame waits for a game, or starts it, and shows what it does until it ends.
func debugGame(s *stdio, o *options) error {
	ends := []os.Signal{terminated}
	if !s.isInteractive(o) { // there, Ctrl-C ends single commands
		ends = append(ends, os.Interrupt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ln, err := net.Listen("tcp", o.debug.addr)
	if err != nil {
		return err
	}
	defer func() { _ = ln.Close() }()
	recorder, err := newRecorder(o.debug.record)
	if err != nil {
		return err
	}
	accepted := ln
	if recorder != nil {
		accepted = &record.Listener{Listener: ln, Recorder: recorder, Order: binary.LittleEndian, Fail: end, Number: 1}
		defer func() { _ = recorder.Close() }()
	}
	connecting := ctx
	var game *game
	if len(o.debug.program) > 0 {
		if game, err = startGame(ctx, o.debug.program, ln.Addr().String()); err != nil {
			return err
		}
		defer game.kill()
		defer context.AfterFunc(ctx, game.kill)()
		connecting = game.running(ctx)
	} else {
		s.logf("listening on %v for a game with --remote-debug tcp://%[1]v, or of Godot 3 with --remote-debug %[1]v", ln.Addr())
	}
	d := &runner{stdio: s, options: o, results: s.out, events: s.out}
	if len(o.debug.steps) > 0 && !o.lines {
		d.events = bufio.NewWriter(s.errs) // so that the output is that of the commands
	}
	d.session, err = s.acceptGame(connecting, accepted, &stream.Options{MaxPacket: o.MaxPacket, Decoder: o.Decoder})
	if err == nil {
		done := make(chan struct{})
		go func() {
			defer close(done)
			err = d.run(ctx)
		}()
		waitOutput(ctx, done)
	}
	if game != nil && err == nil && len(o.debug.steps) == 0 {
		err = game.wait(ctx)
	}
	if errors.Is(err, context.Canceled) { // by a signal
		err = nil
	}
	return err
}

// acceptGame waits for a game: the first connection from which a message arrives. Others, such as
// those of a program that looks for open ports, are closed.
func (s *stdio) acceptGame(ctx context.Context, ln net.Listener, o *stream.Options) (*debugger.Session, error) {
	games := make(chan *debugger.Session)
	waiting, found := context.WithCancel(context.WithoutCancel(ctx)) // a game that has ended can have sent messages
	var sessions sync.WaitGroup
	failed := make(chan struct{}) // closed after err is set
	var err error
	var mu sync.Mutex // of the log
	accepting, stop := context.WithCancel(ctx)
	go func() {
		for {
			var game *debugger.Session
			if game, err = debugger.Accept(accepting, ln, o); err != nil {
				close(failed)
				return
			}
			sessions.Go(func() {
				_, err := game.Protocol(waiting)
				if err == nil {
					select {
					case games <- game:
						return
					case <-waiting.Done():
					}
				} else if waiting.Err() == nil {
					mu.Lock()
					s.logf("a program connected that is no game: %v; waiting", cmp.Or(game.Err(), io.EOF))
					mu.Unlock()
				}
				_ = game.Close()
			})
		}
	}()
	var game *debugger.Session
	select {
	case game = <-games:
		stop()
		<-failed
	case <-failed:
		ended := make(chan struct{})
		go func() { sessions.Wait(); close(ended) }()
		select {
		case game = <-games:
		case <-ended:
		case <-time.After(grace):
		}
	}
	stop()
	found()
	sessions.Wait()
	if game != nil {
		return game, nil
	}
	return nil, err
}

// run shows what the game does while it runs commands.
func (d *runner) run(ctx context.Context) error {
	commands := d.runSteps
	if d.isInteractive(d.options) {
		c, err := newConsole(d)
		if err != nil {
			return err
		}
		commands = c.run
	} else if len(d.options.debug.steps) == 0 {
		go d.readCommands(ctx)
		commands = d.untilEnd
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		for m, err := range d.session.Events(ctx) {
			d.show(ctx, m, err)
		}
	}()
	err := commands(ctx)
	_ = d.session.Close()
	<-shown
	return err
}

// runSteps runs the commands on the command line.
func (d *runner) runSteps(ctx context.Context) error {
	for _, step := range d.options.debug.steps {
		if err := step.run(ctx, d); err != nil {
			return err
		}
	}
	return nil
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

// A game is a program that was started.
type game struct {
	command *exec.Cmd
	output  *tail
	done    chan struct{} // closed when it ended
	err     error         // after done
}

// startGame starts a program as a game that connects to addr.
func startGame(ctx context.Context, program []string, addr string) (*game, error) {
	g := &game{output: new(tail), done: make(chan struct{})}
	if !isGodot3(ctx, program[0]) {
		addr = "tcp://" + addr
	}
	args := append([]string{"--remote-debug", addr}, program[1:]...)
	g.command = exec.Command(program[0], args...)
	ownGroup(g.command)
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

// isGodot3 reports whether a program prints that its version is Godot 3.
func isGodot3(ctx context.Context, program string) bool {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	c := exec.CommandContext(ctx, program, "--version")
	c.WaitDelay = time.Second // of a script whose child keeps the output open
	out, _ := c.Output()      // other programs print something else
	return bytes.HasPrefix(out, []byte("3."))
}

// running returns a context that is done when the game ends, with a cause that contains what the
// game printed.
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
		killGroup(g.command.Process)
		<-g.done
	}
}

// A tail is the end of an output.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTail is the number of bytes that a tail keeps.
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
