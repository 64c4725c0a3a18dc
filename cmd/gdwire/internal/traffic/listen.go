// Package traffic contains the commands about the packets of connections, live or recorded.
package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/base/address"
	"github.com/gdwire/gdwire/internal/base/quota"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/stream"
)

// Listen defines the flags of listen.
func Listen(f *shell.Flags) shell.Action {
	l := &listenFlags{printer: forms[0]}
	l.open.PacketFlags(f, true)
	l.open.Frame = save.U32
	for flag, text := range map[string]string{"as": "show packets as `FORM`", "o": "the same as -as: `FORM`"} {
		shell.Choose(f, flag, text, forms, &l.printer, func(v form) string { return v.name })
	}
	record.Flag(f.FlagSet, &l.record)
	f.Int64Var(&l.packets, "n", 0, "exit after `N` packets [never]")
	f.DurationVar(&l.read, "read-timeout", 10*time.Second, "close a connection that takes longer than `TIME` for one packet")
	f.DurationVar(&l.idle, "idle-timeout", 0, "close a connection that sends nothing for `TIME` [never]")
	return shell.Action{
		Check: func() error { return l.check(&f.Operands[0]) },
		Run:   func(s *shell.Stdio) error { return l.run(s, f.Operands[0]) },
	}
}

// The listenFlags are the flags of listen.
type listenFlags struct {
	open       open.Flags
	printer    form
	packets    int64 // the number of packets after which listen ends; 0 for never
	read, idle time.Duration
	record     string // -record
}

// A form is a constructor of Printers and its name in -as.
type form struct {
	name       string
	newPrinter open.NewPrinter
}

var forms = []form{
	{"tokens", open.NewTokenPrinter},
	{"json", open.NewJSONPrinter(gdjson.Options{})},
	{"flat", open.NewFlatPrinter},
	{"check", open.NewCheckPrinter(true)}, // a line for each packet, not a summary
}

// check checks the flags and completes the address.
func (o *listenFlags) check(addr *string) error {
	switch {
	case o.open.Frame == save.Bare:
		return errors.New("listen needs length-prefixed packets: -frame u32 or u32be")
	case o.packets < 0:
		return errors.New("-n is less than 0")
	}
	return shell.CompleteAddress(addr)
}

// A listener shows the packets of many connections, one at a time.
type listener struct {
	*shell.Stdio
	in       *open.Input // how packets are read
	quiet    bool        // the printer itself shows the numbers of connection and packet
	end      context.CancelFunc
	recorder *record.Recorder // of -record, or nil

	mu        sync.Mutex
	printer   open.Printer
	remaining int64     // number of packets until the end, or negative for no end
	bad       bool      // a packet was invalid
	proposal  sync.Once // of a -skip
	err       error     // the error that ended the command
}

// run accepts connections and shows their packets.
func (o *listenFlags) run(s *shell.Stdio, addr string) error {
	signals, stop := shell.UntilEnded()
	defer stop()
	ctx, end := context.WithCancel(signals)
	defer end()
	ln, recorder, err := record.Listen(addr, o.record)
	if err != nil {
		return err
	}
	in := &open.Input{Stack: &save.Stack{Reading: o.open.Reading(-1)}}
	in.Decoder.Format = cmp.Or(in.Decoder.Format, gdwire.Godot4)
	l := &listener{Stdio: s, in: in, end: end, recorder: recorder, remaining: cmp.Or(o.packets, -1), quiet: o.printer.name == "check"}
	if recorder != nil {
		recorder.Failed = func(err error) { l.logf("%v; what follows is not recorded", err) }
	}
	fmt.Fprintln(s.Errs, "listening on", address.Text(ln.Addr()))

	l.printer = o.printer.newPrinter(s, in)
	so := open.StreamOptions(&in.Reading)
	so.ReadTimeout, so.IdleTimeout = o.read, o.idle
	a := &acceptor{options: *so, handle: l.serve, logf: l.logf}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := a.run(ctx, &turnListener{ln, quota.New(maxHeldTurns)}); err != nil {
			l.fail(err)
		}
	}()
	shell.WaitOutput(signals, done)
	unrecorded := recorder != nil && recorder.Close() != nil
	if l.err == nil && (unrecorded || l.bad && l.remaining == 0) {
		return shell.ErrBad
	}
	return l.err
}

// serve shows the packets of a connection.
func (l *listener) serve(ctx context.Context, c *stream.Conn, number int64) {
	l.logConn(number, "from %v", address.Text(c.RemoteAddr()))
	conn := c.NetConn().(*turnConn)
	conn.recorder, conn.number = l.recorder, number
	packets := conn.start(ctx, c)
	defer conn.stop()
	var skips skipFinder
	for p := range open.WholePackets(&l.in.Reading, packets) {
		p.Connection = number
		u := l.in.Unpack(p.Raw)
		var unprefixed error
		if p.Err == nil && u.Err == nil {
			conn.head.forget()
		} else if unprefixed = conn.head.unprefixed(&l.in.Reading); unprefixed != nil {
			p.Err = unprefixed
		}
		if p.Err != nil && unprefixed == nil && !stream.Skippable(p.Err) {
			if ctx.Err() == nil {
				l.logConn(number, "%v", p.Err)
			}
			return
		}
		if !l.packet(p, &u) || unprefixed != nil {
			return
		}
		proposeSkip(&l.proposal, skips.find(p.Raw, &u, &l.in.Reading), l.logf)
	}
	l.logConn(number, "closed")
}

// logf writes a message to Errs, between the lines of two packets.
func (l *listener) logf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Stdio.Logf(format, args...)
}

// logConn writes a message about a connection to Errs.
func (l *listener) logConn(number int64, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.Errs, "connection %d: %s\n", number, shell.Printable(fmt.Sprintf(format, args...)))
}

// packet shows a packet and reports whether to go on.
func (l *listener) packet(p *save.Packet, u *save.Unpacked) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.remaining == 0 || l.err != nil {
		return false
	}
	if !l.quiet {
		how := ""
		if p.Packed != nil && p.Err == nil {
			how = ", compressed with " + p.Packed.ModeName()
		}
		if len(p.Skipped) > 0 {
			how += fmt.Sprintf(", after %#x", p.Skipped)
		}
		fmt.Fprintf(l.Errs, "connection %d, packet %d%s\n", p.Connection, p.Index, how)
	}
	err := l.printer.Show(p)
	if failed := l.Out.Flush(); failed != nil {
		l.stop(failed)
		return false
	}
	if more := following(u, &l.in.Reading, l.Width); more != "" && !l.quiet {
		fmt.Fprintf(l.Errs, "connection %d, packet %d: %s\n", p.Connection, p.Index, shell.Cut(more, l.Width))
	}
	if err != nil {
		l.bad = true
		if err != shell.ErrBad {
			l.Report(err)
		}
	}
	if l.remaining--; l.remaining == 0 {
		l.stop(nil)
		return false
	}
	return true
}

// fail ends the command with an error.
func (l *listener) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop(err)
}

// stop ends the command. l is locked.
func (l *listener) stop(err error) {
	l.err = err
	l.end()
}
