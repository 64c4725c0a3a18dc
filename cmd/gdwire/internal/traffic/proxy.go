package traffic

import (
	"cmp"
	"context"
	"errors"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/record"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/view"
	"github.com/gdwire/gdwire/internal/address"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/stream"
)

// Proxy defines the flags of proxy.
func Proxy(f *shell.Flags) shell.Action {
	p := &proxyFlags{}
	p.open.ValueFlags(f, false)
	p.open.StrictFlag(f)
	p.open.PacketSkipFlag(f)
	p.open.LimitFlags(f)
	f.ExtraChoice("frame", "ws", &p.webSocket)
	f.BoolVar(&p.lines, "json", false, "a line of JSON for each packet")
	f.BoolVar(&p.dropInvalid, "drop-invalid", false, "forward a packet when it is complete, and only if it is valid; serialized objects are invalid without -objects")
	record.Flag(f.FlagSet, &p.record)
	f.BoolVar(&p.view, "view", false, "show the packets in a page of the browser, too")
	p.noOpen = view.NoOpenFlag(f)
	p.changes.define(f)
	f.Int64Var(&p.packets, "n", 0, "exit after `N` packets [never]")
	return shell.Action{
		Check: func() error { return p.check(f) },
		Run:   func(s *shell.Stdio) error { return p.run(s, f.Operands[0]) },
	}
}

func (o *proxyFlags) check(f *shell.Flags) error {
	switch {
	case o.packets < 0:
		return errors.New("-n is less than 0")
	}
	if !f.Given("objects") {
		o.open.Decoder.AllowObjects = !o.dropInvalid
	}
	var err error
	if o.target, err = parseTarget(f.Operands[1]); err != nil {
		return err
	}
	if f.Operands[0], err = o.target.listenAddress(f.Operands[0]); err != nil {
		return err
	}
	switch {
	case o.target.udp && f.Given("frame"):
		return errors.New("a datagram is one value without a length: -frame is not for UDP")
	case o.target.url != nil && f.Given("frame") && !o.webSocket:
		return errors.New("the messages of a WebSocket have no lengths: -frame can only be ws")
	case f.Given("frame") && o.open.Frame == save.Bare && !o.webSocket && f.Given("skip"):
		return errors.New("-skip is for packets, and -frame none for values alone")
	}
	o.webSocket = o.webSocket || o.target.url != nil
	return nil
}

// run accepts connections and forwards them.
func (o *proxyFlags) run(s *shell.Stdio, addr string) error {
	signals, stop := shell.UntilEnded()
	defer stop()
	ctx, end := context.WithCancel(signals)
	defer end()
	defer debug.SetGCPercent(debug.SetGCPercent(40)) // packets become garbage faster than a busy machine collects it
	p := &proxyServer{Stdio: s, options: o, framing: newFraming(&o.open), end: end, remaining: cmp.Or(o.packets, -1)}
	p.framing.webSocket = o.webSocket
	listen := p.listen
	if o.target.udp {
		listen = p.listenUDP
	}
	at, forward, err := listen(addr)
	if err != nil {
		return err
	}
	p.start()
	if p.record != nil {
		p.record.Failed = func(err error) { p.logf("%v; what follows is not recorded", err) }
	}
	p.logf("listening on %s for %s", at, o.target.text)
	if o.view {
		p.live = newLive(p.framing.Reading)
		serve, err := (&view.Server{Live: p.live}).Show(*o.noOpen, p.logf)
		if err != nil {
			end()
			_, failed := forward(ctx)
			return errors.Join(err, failed)
		}
		page := make(chan struct{})
		go func() {
			defer close(page)
			_ = serve(ctx)
		}()
		defer func() { // the end of the page removes a file
			end()
			<-page
		}()
	}
	connections, err := forward(ctx)
	if err != nil {
		p.stop(err)
	}
	if p.record != nil && p.record.Close() != nil {
		p.stop(shell.ErrBad)
	}
	p.summary(connections)
	p.lines.close()
	shell.WaitOutput(signals, p.lines.done)
	return p.err
}

// start starts the output.
func (p *proxyServer) start() {
	p.held.max = max(maxHeld, maxPacket(&p.framing.Reading)*9/8) // with heads
	p.lines.maxBytes, p.lines.flush, p.lines.fail = maxWaiting, p.Out.Flush, p.stop
	p.lines.missedLine = func(missed, bytes string) line {
		return line{p.Errs, "gdwire: … " + missed + " packets (" + bytes + ") not shown\n"}
	}
	p.lines.start()
}

// listen listens for connections, and returns the address and a function. The function forwards connections
// until its context is done, and returns their number.
func (p *proxyServer) listen(addr string) (at string, forward func(context.Context) (int64, error), err error) {
	ln, recorder, err := record.Listen(addr, p.options.record)
	if err != nil {
		return "", nil, err
	}
	p.record = recorder
	return address.Text(ln.Addr()), func(ctx context.Context) (int64, error) {
		a := &acceptor{handle: p.serve, logf: p.logf}
		err := a.run(ctx, ln)
		return a.count.Load(), err
	}, nil
}

// maxDial is the maximum time for which dialing the server is tried again.
const maxDial = 2 * time.Second

// serve forwards a connection until both directions are closed.
func (p *proxyServer) serve(ctx context.Context, c *stream.Conn, number int64) {
	client := c.NetConn()                               // forward all bytes, also those outside packets
	trying, cancel := context.WithTimeout(ctx, maxDial) // then give the client's descriptor back
	server, err := retry(trying, p.logWaiting, func() (net.Conn, error) {
		return p.options.target.dial(ctx)
	})
	cancel()
	if err != nil {
		p.logConn(number, "%v", err)
		return
	}
	defer func() { _ = server.Close() }()
	defer context.AfterFunc(ctx, func() {
		_ = client.Close()
		_ = server.Close()
	})()
	p.logConn(number, "from %v", address.Text(client.RemoteAddr()))
	var both sync.WaitGroup
	for i, ends := range [2][2]net.Conn{{client, server}, {server, client}} {
		d := &direction{proxyServer: p, number: number, way: i, from: ends[0], input: ends[0], to: ends[1]}
		both.Go(func() { d.forward(ctx) })
	}
	both.Wait()
	p.logConn(number, "closed")
}
