// Package debug contains the command for talking to a running game.
package debug

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/address"
	"github.com/gdwire/gdwire/internal/debugger"
	"github.com/gdwire/gdwire/stream"
)

// New defines the flags of debug.
func New(f *shell.Flags) shell.Action {
	d := &debugFlags{}
	d.open.LimitFlags(f)
	f.BoolVar(&d.lines, "json", false, "a line of JSON for each message of the game, and no other output")
	record.Flag(f.FlagSet, &d.record)
	return shell.Action{Check: func() error { return d.check(f) }, Run: d.run}
}

// The debugFlags are the flags of debug, and its operands.
type debugFlags struct {
	open    open.Flags // limits
	addr    string
	steps   []step
	program []string // the game and its arguments, or empty
	lines   bool     // -json
	record  string   // -record
}

// editorPort is the port on which Godot's editor waits for games.
const editorPort = "6007"

// check splits the operands into the address, the commands and the program.
func (o *debugFlags) check(f *shell.Flags) (err error) {
	words := f.Operands
	o.addr = net.JoinHostPort(shell.Loopback, editorPort)
	if f.Separator >= 0 {
		words, o.program = words[:f.Separator], words[f.Separator:]
		o.addr = net.JoinHostPort(shell.Loopback, "0")
	}
	if len(words) > 0 && strings.ContainsAny(words[0], ":0123456789") && findCommand(words[0]) == nil {
		o.addr, words = words[0], words[1:]
		if err := shell.CompleteAddress(&o.addr); err != nil {
			return err
		}
	}
	o.steps, err = stepsOf(words)
	return err
}

// run waits for a game, or starts one, and shows output and errors until the game ends.
func (o *debugFlags) run(s *shell.Stdio) error {
	ends := []os.Signal{shell.Terminated}
	if !o.isInteractive(s) { // there, Ctrl-C ends single commands
		ends = append(ends, os.Interrupt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ln, recorder, err := record.Listen(o.addr, o.record)
	if err != nil {
		return err
	}
	defer func() { _ = ln.Close() }()
	accepted := ln
	if recorder != nil {
		accepted = &record.Listener{Listener: ln, Recorder: recorder, Order: binary.LittleEndian, Fail: end, Number: 1}
		defer func() { _ = recorder.Close() }()
	}
	connecting := ctx
	var game *game
	if len(o.program) > 0 {
		if game, err = startGame(ctx, o.program, ln.Addr()); err != nil {
			return err
		}
		defer game.kill()
		defer context.AfterFunc(ctx, game.kill)()
		connecting = game.running(ctx)
	} else {
		s.Logf("listening on %s for a game with --remote-debug %s", address.Text(ln.Addr()), strings.Join(remoteDebug(ln.Addr()), ", or of Godot 3 with --remote-debug "))
	}
	reading := o.open.Reading(-1)
	d := &runner{Stdio: s, lines: o.lines, decoder: reading.Decoder, results: s.Out, events: s.Out}
	if len(o.steps) > 0 && !o.lines {
		d.events = bufio.NewWriter(s.Errs) // the output is that of the commands
	}
	d.session, err = acceptGame(connecting, accepted, &stream.Options{MaxPacket: reading.MaxPacket, Decoder: reading.Decoder}, s.Logf)
	if err == nil {
		done := make(chan struct{})
		go func() {
			defer close(done)
			err = o.show(ctx, d)
		}()
		shell.WaitOutput(ctx, done)
	}
	if game != nil && err == nil && len(o.steps) == 0 {
		err = game.wait(ctx)
	}
	if errors.Is(err, context.Canceled) { // by a signal
		err = nil
	}
	return err
}

// endedTime is the time for the messages of an ended game.
const endedTime = time.Second

// acceptGame waits for a game: the first connection to send a message. Others, such as those of a
// program looking for open ports, are closed.
func acceptGame(ctx context.Context, ln net.Listener, o *stream.Options, logf func(format string, args ...any)) (*debugger.Session, error) {
	games := make(chan *debugger.Session)
	waiting, found := context.WithCancel(context.WithoutCancel(ctx)) // an ended game can have sent messages
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
					logf("a program connected that is no game: %v; waiting", cmp.Or(game.Err(), io.EOF))
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
		case <-time.After(endedTime):
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

// show shows the messages of the game while commands run.
func (o *debugFlags) show(ctx context.Context, d *runner) error {
	commands := func(ctx context.Context) error { return d.runSteps(ctx, o.steps) }
	if o.isInteractive(d.Stdio) {
		c, err := newConsole(d)
		if err != nil {
			return err
		}
		commands = c.run
	} else if len(o.steps) == 0 {
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

// isInteractive reports whether a console reads the commands.
func (o *debugFlags) isInteractive(s *shell.Stdio) bool {
	in, ok := s.In.(*os.File)
	return ok && s.IsTerminal && term.IsTerminal(int(in.Fd())) && !o.lines && len(o.steps) == 0
}
