package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/stream"
)

// listenOptions holds the flags of listen.
type listenOptions struct {
	printer    printerMaker
	packets    int64 // the number of packets after which listen ends; 0 for never
	read, idle time.Duration
	record     string // -record
}

// A printerMaker is a printer's constructor and its name in -as.
type printerMaker struct {
	name       string
	newPrinter func(*stdio, *options) printer
}

var printerMakers = []printerMaker{
	{"tokens", newTokenPrinter},
	{"json", newJSONPrinter},
	{"flat", newFlatPrinter},
	{"check", newCheckPrinter},
}

// loopback is the host for addresses that are only a port.
const loopback = "127.0.0.1"

func listenFlags(fs *flag.FlagSet, o *options) {
	l := &o.listen
	l.printer, o.Frame = printerMakers[0], save.U32
	for flag, text := range map[string]string{"as": "show packets as `FORM`", "o": "the same as -as: `FORM`"} {
		choose(fs, flag, text, printerMakers, &l.printer, func(v printerMaker) string { return v.name })
	}
	recordFlag(fs, &l.record)
	fs.Int64Var(&l.packets, "n", 0, "exit after `N` packets [never]")
	fs.DurationVar(&l.read, "read-timeout", 10*time.Second, "close a connection that takes longer than `TIME` for one packet")
	fs.DurationVar(&l.idle, "idle-timeout", 0, "close a connection that sends nothing for `TIME` [never]")
}

// listenCheck checks the flags and completes the address.
func listenCheck(o *options) error {
	switch {
	case !o.Framed():
		return errors.New("listen needs length-prefixed packets: -frame u32 or u32be")
	case o.listen.packets < 0:
		return errors.New("-n is less than 0")
	}
	o.Decoder.Format = cmp.Or(o.Decoder.Format, gdwire.Godot4)
	return completeAddress(&o.operands[0])
}

// completeAddress adds the host to an address that is only a port.
func completeAddress(addr *string) error {
	if !strings.Contains(*addr, ":") {
		*addr = ":" + *addr
	}
	host, port, err := net.SplitHostPort(*addr)
	*addr = net.JoinHostPort(cmp.Or(host, loopback), port)
	return err
}

// A listener shows the packets of many connections, one at a time.
type listener struct {
	*stdio
	options *options
	quiet   bool // the printer itself shows the numbers of connection and packet
	end     context.CancelFunc

	mu        sync.Mutex
	printer   printer
	remaining int64 // number of packets until the end, or negative for no end
	bad       bool  // a packet was invalid
	err       error // the error that ended the command
}

// listen accepts connections and shows their packets.
func listen(s *stdio, o *options) error {
	signals, stop := untilEnded()
	defer stop()
	ctx, end := context.WithCancel(signals)
	defer end()
	ln, err := net.Listen("tcp", o.operands[0])
	if err != nil {
		return err
	}
	recorder, err := newRecorder(o.listen.record)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	l := &listener{
		stdio: s, options: o, end: end, remaining: cmp.Or(o.listen.packets, -1), quiet: o.listen.printer.name == "check",
	}
	if recorder != nil {
		ln = &record.Listener{Listener: ln, Recorder: recorder, Order: o.Frame.Order(), Fail: l.fail}
		defer func() { _ = recorder.Close() }()
	}
	fmt.Fprintln(s.errs, "listening on", ln.Addr())

	o.lines = true // a line for each packet, not a summary
	l.printer = o.listen.printer.newPrinter(s, o)
	so := o.Stream()
	so.ReadTimeout, so.IdleTimeout = o.listen.read, o.listen.idle
	a := &acceptor{options: *so, handle: l.serve, logf: l.logf}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := a.run(ctx, newTurnListener(ln)); err != nil {
			l.fail(err)
		}
	}()
	waitOutput(signals, done)
	if l.err == nil && l.bad && l.remaining == 0 {
		return errBad
	}
	return l.err
}

// serve shows the packets of a connection.
func (l *listener) serve(ctx context.Context, c *stream.Conn, number int64) {
	l.logConn(number, "from %v", c.RemoteAddr())
	conn := c.NetConn().(*turnConn)
	if recorded, ok := conn.Conn.(*record.Conn); ok {
		recorded.Start(number)
	}
	packets := conn.start(ctx, c)
	defer conn.stop()
	for p := range l.options.WholePackets(packets) {
		p.Connection = number
		if p.Err != nil && !stream.Skippable(p.Err) {
			if ctx.Err() == nil {
				l.logConn(number, "%v", p.Err)
			}
			return
		}
		if !l.packet(p) {
			return
		}
	}
	l.logConn(number, "closed")
}

// logf writes a message to errs, between the lines of two packets.
func (l *listener) logf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stdio.logf(format, args...)
}

// logConn writes a message about a connection to errs.
func (l *listener) logConn(number int64, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.errs, "connection %d: %s\n", number, printable(fmt.Sprintf(format, args...)))
}

// packet shows a packet and reports whether to go on.
func (l *listener) packet(p *save.Packet) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.remaining == 0 || l.err != nil {
		return false
	}
	if !l.quiet {
		fmt.Fprintf(l.errs, "connection %d, packet %d\n", p.Connection, p.Index)
	}
	err := l.printer.show(p)
	if failed := l.out.Flush(); failed != nil {
		l.stop(failed)
		return false
	}
	if err != nil {
		l.bad = true
		if err != errBad {
			l.report(err)
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
