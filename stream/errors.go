package stream

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/base/wire"
)

// Errors, what ends a connection and whose fault it is, counters, and options.

// A PacketTooLongError reports a packet that is longer than Options.MaxPacket. None of its bytes
// were decoded or written, and the next packet can be read or written.
type PacketTooLongError struct {
	Size   int64 // length of the packet in bytes; when writing, of the bytes encoded so far
	Max    int64 // Options.MaxPacket
	Offset int64 // offset in the stream of the first byte after the length; 0 when writing
}

func (e *PacketTooLongError) Error() string {
	hint := ""
	if e.Offset > 0 {
		hint = wire.LengthHint(e.Size, e.Max)
	}
	return fmt.Sprintf("gdwire/stream: offset %d: packet of %d bytes exceeds MaxPacket (%d)%s", e.Offset, e.Size, e.Max, hint)
}

// A PeerError reports that a datagram could not be sent to a peer, or that a peer did not receive
// an earlier datagram. A PeerError is [Skippable]: datagrams of other peers are not affected.
type PeerError struct {
	Addr net.Addr // the peer; nil if the system does not tell
	Err  error    // the error of the net.PacketConn
}

func (e *PeerError) Error() string {
	if e.Addr == nil {
		return "gdwire/stream: datagram: " + e.Err.Error()
	}
	return "gdwire/stream: datagram to " + e.Addr.String() + ": " + e.Err.Error()
}

// Unwrap returns e.Err.
func (e *PeerError) Unwrap() error { return e.Err }

// ErrBroken is wrapped by the errors of a connection made unusable by a timeout after a part of a
// packet, message or handshake.
var ErrBroken = errors.New("gdwire/stream: connection is broken")

// ErrServerClosed is returned by the methods of a [Server] after Drain, Shutdown or Close,
// and by [Conn.Next] after Shutdown.
var ErrServerClosed = errors.New("gdwire/stream: server closed")

// ErrPacketRate is returned by [Conn.Next] after a client sent more packets than
// PacketRate, or more bytes than ByteRate, of the Server or of [Conn.SetLimits] allows.
var ErrPacketRate = errors.New("gdwire/stream: too many packets")

// ErrSlow is returned by the calls of a connection dropped by a [Room], because packets were sent
// faster than they could be written.
var ErrSlow = errors.New("gdwire/stream: member of a room receives too slowly")

// errFull is the error of a connection beyond MaxConns.
var errFull = errors.New("gdwire/stream: too many connections")

// errAddr is the error of a connection beyond MaxConnsPerAddr.
var errAddr = errors.New("gdwire/stream: too many connections from this address")

var errNotBinary = errors.New("gdwire/stream: message is text, not binary")

// stickyError returns the error of all later calls after err left the connection unusable: an
// ErrBroken instead of a timeout, because a caller could repeat the call after a timeout.
func stickyError(err error) error {
	if isTimeout(err) {
		return fmt.Errorf("%w after: %v", ErrBroken, err)
	}
	return err
}

// isAny reports whether err is or wraps one of targets.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// isTimeout reports whether err means that a deadline passed.
func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// Skippable reports whether the next packet can be read or written after err, because err is about
// one packet or one peer of a [PacketConn]: err is or wraps a [PacketTooLongError], a [PeerError] or
// a [gdwire.Error].
func Skippable(err error) bool {
	return errors.As(err, new(*PacketTooLongError)) || errors.As(err, new(*PeerError)) || errors.As(err, new(*gdwire.Error))
}

// emptyPacket returns the error of reading a packet of no bytes.
func emptyPacket() error {
	return &gdwire.Error{Path: "$", Err: fmt.Errorf("empty packet: %w", io.ErrUnexpectedEOF)}
}

// valueCount returns the error of writing a packet with n values.
func valueCount(n int64) error {
	return &gdwire.Error{Path: "$", Err: fmt.Errorf("%w: packet of %d values, not 1", gdwire.ErrCount, n)}
}

// checkPacket returns an error if packet, written as bytes, is empty or longer than most.
func checkPacket(packet []byte, most int64) error {
	if len(packet) == 0 {
		return valueCount(0)
	}
	return checkSize(int64(len(packet)), most)
}

// checkSize returns a PacketTooLongError if size exceeds most.
func checkSize(size, most int64) error {
	if size > most {
		return &PacketTooLongError{Size: size, Max: most}
	}
	return nil
}

// nat64 is the network of IPv4 addresses behind a NAT64, by RFC 6052.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// addrOf returns the address by which MaxConnsPerAddr counts: an IPv4 address, also for a client
// translated by a NAT64, or the /64 network of an IPv6 address, because one client can own a whole
// /64 network. All link-local clients share a /64 network: their whole addresses count, with the
// zone. The address is zero for other networks.
func addrOf(remote net.Addr) netip.Addr {
	if remote == nil {
		return netip.Addr{}
	}
	var addr netip.Addr
	if tcp, ok := remote.(*net.TCPAddr); ok {
		addr = tcp.AddrPort().Addr()
	} else if port, err := netip.ParseAddrPort(remote.String()); err == nil {
		addr = port.Addr()
	}
	addr = addr.Unmap()
	switch {
	case nat64.Contains(addr):
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	case addr.Is6() && !addr.IsLinkLocalUnicast():
		return netip.PrefixFrom(addr.WithZone(""), 64).Masked().Addr()
	}
	return addr
}

// A rate is a number of packets or bytes in a second, if it is positive, and at once.
type rate struct {
	perSecond float64
	burst     int
}

// A bucket contains tokens, one for each packet or byte that may be read at once, and gets perSecond new
// tokens a second, up to burst.
type bucket struct {
	perSecond, burst, tokens float64
	at                       time.Time // of the latest take
}

// newBucket returns a full bucket, or nil without a limit.
func newBucket(r rate) *bucket {
	if r.perSecond <= 0 {
		return nil
	}
	full := max(cmp.Or(float64(r.burst), r.perSecond), 1)
	return &bucket{r.perSecond, full, full, time.Now()}
}

// take takes n tokens and reports whether the bucket contained so many.
func (b *bucket) take(n float64) bool {
	now := time.Now()
	b.tokens = min(b.tokens+now.Sub(b.at).Seconds()*b.perSecond, b.burst)
	b.at = now
	if b.tokens < n {
		return false
	}
	b.tokens -= n
	return true
}

// A meter limits the bytes read from a connection. The zero meter limits none.
type meter struct {
	mu     sync.Mutex
	bucket *bucket
}

// set sets the limit of a config, by default of one packet with its length at once.
func (m *meter) set(c *config) {
	r := c.bytes
	r.burst = cmp.Or(r.burst, int(min(max(r.perSecond, float64(4+c.MaxPacket)), math.MaxInt32)))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bucket = newBucket(r)
}

// take returns an ErrPacketRate if n bytes more are too many.
func (m *meter) take(n int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > 0 && m.bucket != nil && !m.bucket.take(float64(n)) {
		return ErrPacketRate
	}
	return nil
}

// A faultKind is why a connection failed.
type faultKind uint8

const (
	noFault          faultKind = iota
	handlerFault               // an error of the handler's own, or an invalid packet it did not skip
	panicFault                 // a panic
	rateFault                  // too many packets
	slowFault                  // dropped by a Room
	resetFault                 // the client reset the connection, or the network lost it
	handshakeTimeout           // the kinds of timeouts
	idleTimeout
	readTimeout
	writeTimeout
	faultKinds
)

// isTimeout reports whether a client was too slow.
func (k faultKind) isTimeout() bool { return k >= handshakeTimeout }

// isFailure reports whether a connection counts as failed. A client that vanishes is no failure.
func (k faultKind) isFailure() bool { return k != noFault && k != resetFault }

// A fault is an error of a connection, and not of its packets or its handler.
type fault struct {
	kind faultKind
	err  error
}

// faults are the latest faults of a connection.
type faults struct {
	mu          sync.Mutex
	read, write fault
}

// note keeps err, the error of a call that failed because of the connection, in side, to distinguish
// err from errors of the handler. If err is a timeout, timeout is the kind. note returns err.
func (f *faults) note(side *fault, err error, timeout faultKind) error {
	latest := fault{resetFault, err}
	switch {
	case isTimeout(err):
		latest.kind = timeout
	case err == io.EOF: // inside a packet, Next returns another error
		latest.err = io.ErrUnexpectedEOF
	case !isAny(err, append(resetErrors, io.ErrUnexpectedEOF, io.ErrClosedPipe)...): // no reset by the other side or the network
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	*side = latest
	return err
}

// of returns why a connection ended with the error of its handler. The error is the client's fault only
// if a call of the Conn returned it: a timeout of the handler's own, for example of a database, is no
// fault. If another goroutine closed the Conn after an error of its own call, that error counts.
func (f *faults) of(err error) faultKind {
	f.mu.Lock()
	defer f.mu.Unlock()
	read, write := f.read, f.write
	switch _, ok := err.(*panicError); {
	case ok:
		return panicFault
	case errors.Is(err, ErrPacketRate):
		return rateFault
	case errors.Is(err, ErrSlow):
		return slowFault
	}
	for _, f := range []fault{read, write} {
		if f.kind != noFault && errors.Is(err, f.err) && !Skippable(err) {
			return f.kind
		}
	}
	switch {
	case errors.Is(err, ErrBroken) && read.kind.isTimeout():
		return read.kind
	case errors.Is(err, ErrBroken), errors.Is(err, net.ErrClosed):
		if write.kind != noFault {
			return write.kind
		}
	}
	if err == nil || isAny(err, io.EOF, net.ErrClosed, ErrServerClosed) { // not logged
		return noFault
	}
	return handlerFault
}

// A panicError is the error of a panic.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// panicked returns the error for a recovered value, or err if recovered is nil.
func panicked(recovered any, err error) error {
	if recovered == nil {
		return err
	}
	return &panicError{recovered, debug.Stack()}
}

// Status codes of close frames, for [Conn.CloseWithCode]. A [Server] closes with
// CloseNormal if the handler returns nil or the client closed, with CloseGoingAway
// after Shutdown, with ClosePolicyViolation after a timeout or an error about a packet,
// with CloseInternalError after any other error or a panic, and with CloseTryAgainLater
// beyond MaxConns and after an [ErrSlow].
const (
	CloseNormal          = 1000
	CloseGoingAway       = 1001
	ClosePolicyViolation = 1008
	CloseInternalError   = 1011
	CloseServiceRestart  = 1012 // not used by a Server: the client should connect again
	CloseTryAgainLater   = 1013

	closeUnsupported = 1003
	closeNone        = 1005 // a close frame without a status
)

// A closeFrame is the status code and reason of a WebSocket's close frame.
type closeFrame struct {
	code   int
	reason string
}

// maxReason is the maximum length in bytes of a close frame's reason, by RFC 6455.
const maxReason = 123

// newCloseFrame returns a close frame. A reason that is too long is cut, and a code that cannot be sent replaced.
func newCloseFrame(code int, reason string) closeFrame {
	reason = strings.ToValidUTF8(reason, "\uFFFD")
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") // the last character may have been cut
	}
	// The codes registered for RFC 6455 without those that only describe a missing frame, and those of libraries and programs.
	if !(code >= 1000 && code <= 1003 || code >= 1007 && code <= 1014 || code >= 3000 && code <= 4999) {
		code = CloseInternalError
	}
	return closeFrame{code, reason}
}

// closeCode returns the status code and reason for closing a connection after err, the error of the
// handler.
func closeCode(err error, kind faultKind) (code int, reason string) {
	switch {
	case errors.Is(err, ErrServerClosed):
		return CloseGoingAway, "server is shutting down"
	case errors.Is(err, errFull):
		return CloseTryAgainLater, "server is full"
	case errors.Is(err, errAddr):
		return CloseTryAgainLater, "too many connections from this address"
	case kind == rateFault:
		return ClosePolicyViolation, "too many packets"
	case kind == slowFault:
		return CloseTryAgainLater, "too slow"
	case kind == noFault:
		return CloseNormal, ""
	case errors.Is(err, errNotBinary):
		return closeUnsupported, "binary messages only"
	case kind.isTimeout():
		return ClosePolicyViolation, "timeout"
	case Skippable(err):
		return ClosePolicyViolation, "invalid packet"
	}
	return CloseInternalError, ""
}

// Stats are the counters of a [Server] since the Server was made.
type Stats struct {
	Conns    int64 // connections open now
	Accepted int64 // connections served, now or before
	Refused  int64 // connections closed because of MaxConns, MaxConnsPerAddr or Shutdown
	Failed   int64 // connections with a failed handler or handshake, and timeouts; all were logged
	Lost     int64 // connections reset by the client or lost by the network
	TooFast  int64 // connections ended because of PacketRate or ByteRate
	TooSlow  int64 // connections dropped by a Room because they received too slowly
	Panics   int64 // panics of the Handler and the other functions of the Server

	PacketsIn  int64 // packets read, valid and invalid
	PacketsOut int64 // packets written
	BytesIn    int64 // bytes read, with lengths; from WebSockets, bytes of messages
	BytesOut   int64 // bytes written
	// Invalid counts packets that were empty, too long or invalid, or did not fit the Go type. For
	// the last packet of a connection, the handler must return the error.
	Invalid int64

	// Connections that ended because of one of these timeouts.
	HandshakeTimeouts, IdleTimeouts, ReadTimeouts, WriteTimeouts int64
}

// ConnStats describes a connection at one moment.
type ConnStats struct {
	RemoteAddr string        // of the other side, or "unknown"
	Age        time.Duration // since the Conn was made
	Idle       time.Duration // since Next began to wait for a packet; 0 while a packet arrives or is handled
	RoundTrip  time.Duration // of the latest ping of Options.PingInterval and its pong; 0 before

	PacketsIn  int64 // packets read before Next last waited, valid and invalid
	PacketsOut int64 // packets written
	BytesIn    int64 // bytes read, as in Stats
	BytesOut   int64 // bytes written
	Invalid    int64 // packets read and counted by Stats.Invalid
}

// A HandledPacket describes a packet that was handled.
type HandledPacket struct {
	Size int64         // length in bytes, as declared by the sender
	Time time.Duration // from the return of Next to the next call of Next, or the return of the handler
	// First is the time from when the Conn was made, for a Server's from accepting it, to when Next
	// returned its first packet, and 0 for later packets.
	First time.Duration
}

// counters are the Stats of a Server. Reading is counted when a Conn must wait for
// bytes, writing after each Write to the connection: no atomic operation is made for each
// packet.
type counters struct {
	accepted, refused, failed   atomic.Int64
	faults                      [faultKinds]atomic.Int64
	packetsIn, bytesIn, invalid atomic.Int64
	_                           [64]byte // another cache line: other goroutines write
	packetsOut, bytesOut        atomic.Int64
}

// stats returns the Stats of a Server with this number of connections.
func (c *counters) stats(conns int) Stats {
	return Stats{
		Conns: int64(conns), Accepted: c.accepted.Load(), Refused: c.refused.Load(), Failed: c.failed.Load(),
		PacketsIn: c.packetsIn.Load(), PacketsOut: c.packetsOut.Load(),
		BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		Invalid: c.invalid.Load(), Lost: c.faults[resetFault].Load(), Panics: c.faults[panicFault].Load(),
		TooFast: c.faults[rateFault].Load(), TooSlow: c.faults[slowFault].Load(),
		HandshakeTimeouts: c.faults[handshakeTimeout].Load(), IdleTimeouts: c.faults[idleTimeout].Load(),
		ReadTimeouts: c.faults[readTimeout].Load(), WriteTimeouts: c.faults[writeTimeout].Load(),
	}
}

// counts are the numbers of packets and bytes read.
type counts struct{ packets, bytes, invalid int64 }

// DefaultMaxPacket is the largest length of a packet in bytes unless Options say otherwise, and
// also the limit of engines encoding with their default settings.
const DefaultMaxPacket = checked.MaxPacket

// unfinished is the length of a packet until its WriteThrough ends. No complete
// packet is so long: engines read lengths as signed 32-bit numbers.
const unfinished = math.MaxUint32

// Options configures the types of this package. The zero value, like nil, selects [gdwire.Godot4]
// with default limits. [ScanComplete] merges several: a nonzero field replaces the same field of
// earlier Options. For the connections of a [Server], a timeout of 0 selects the timeout in the
// table of Server; for others, 0 means none. -1 disables a timeout.
type Options struct {
	// Format is the format of the values, unless Decoder.Format or Encoder.Format
	// is set. 0 selects Godot4.
	Format gdwire.Format
	// MaxPacket is the maximum length of a packet in bytes, read or written. A longer
	// packet is a [PacketTooLongError]. 0 selects DefaultMaxPacket; with -1, only the 32
	// bits of the length limit a packet.
	MaxPacket int64
	// BigEndianLength selects big-endian lengths, as with big_endian of a StreamPeer
	// or FileAccess. The values are little-endian even then.
	BigEndianLength bool
	// Decoder configures the reading of values. OneValue is always set.
	Decoder gdwire.DecoderOptions
	// Encoder configures the writing of values.
	Encoder gdwire.EncoderOptions

	// HandshakeTimeout is the time for the handshake of a TLS connection, and the time for [Dial]
	// to connect. 0 selects 10 seconds, also without a Server.
	HandshakeTimeout time.Duration
	// ReadTimeout is the time for reading and handling the rest of a packet of a
	// [Conn], from when the Conn must wait for the rest to the next call of Next.
	ReadTimeout time.Duration
	// WriteTimeout is the time for writing one packet, or the packets held back.
	WriteTimeout time.Duration
	// IdleTimeout is the time to wait for the first byte of a packet, or for a
	// datagram.
	IdleTimeout time.Duration

	// DrainTimeout is the time that [Server.Shutdown] leaves a client for the rest of a packet
	// already arriving. Of WriteTimeout, no more than DrainTimeout remains for each write. 0
	// selects a second, also without a Server.
	DrainTimeout time.Duration

	// PingInterval is the time between pings of a [Server] to a WebSocket whose MessageConn has a
	// method Ping, as that of [WebSocket] has, while Next waits. If there is no pong within as long
	// again, Next returns the error of IdleTimeout: most clients answer pings only while they read.
	// Pongs do not restart IdleTimeout.
	PingInterval time.Duration

	// BufferWrites holds packets back until a Conn must wait for bytes, until Flush or Close is
	// called, or until there are 16 KiB. A handler answering many packets then needs fewer system
	// calls. While Next waits, packets of other goroutines are written at once. Next does not wait
	// until packets are written, but returns the error of writing them. WebSockets ignore
	// BufferWrites.
	BufferWrites bool
}

// ConnLimits are limits of one connection, for [Conn.SetLimits]. A limit of 0 is not changed, and -1 disables a limit.
type ConnLimits struct {
	// MaxPacket, ReadTimeout, WriteTimeout and IdleTimeout are those of [Options].
	MaxPacket                              int64
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration
	// PacketRate and PacketBurst are those of the [Server], and change together, as do ByteRate and
	// ByteBurst.
	PacketRate  float64
	PacketBurst int
	ByteRate    float64
	ByteBurst   int
}

// serverTimeouts replace timeouts of 0 in the Options of a Server.
var serverTimeouts = Options{
	HandshakeTimeout: 10 * time.Second,
	ReadTimeout:      10 * time.Second,
	WriteTimeout:     10 * time.Second,
	IdleTimeout:      5 * time.Minute,
	DrainTimeout:     time.Second,
	PingInterval:     30 * time.Second, // less than the 60 s of nginx
}

// timeouts returns the timeout fields.
func (o *Options) timeouts() [6]*time.Duration {
	return [...]*time.Duration{&o.HandshakeTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.IdleTimeout, &o.DrainTimeout, &o.PingInterval}
}

// withTimeouts returns o with the timeouts of standard in place of timeouts of 0.
func (o Options) withTimeouts(standard Options) *Options {
	from := standard.timeouts()
	for i, t := range o.timeouts() {
		*t = cmp.Or(*t, *from[i])
	}
	return &o
}

// order returns the byte order of lengths.
func (o *Options) order() binary.ByteOrder {
	if o.BigEndianLength {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// A config holds Options with all defaults set, and the Encoders of all Writers with this config.
// The Conns of a Server share a config.
type config struct {
	Options
	rate     rate       // of packets, of a Server
	bytes    rate       // the same, of bytes
	encoders *sync.Pool // of *gdwire.Encoder, closed
}

// newConfig returns the config for o. A nil o is the zero value.
func newConfig(o *Options) *config {
	s := new(config)
	if o != nil {
		s.Options = *o
	}
	s.Decoder.Format = cmp.Or(s.Decoder.Format, s.Format)
	s.Encoder.Format = cmp.Or(s.Encoder.Format, s.Format)
	s.Decoder.OneValue = true
	s.HandshakeTimeout = cmp.Or(s.HandshakeTimeout, serverTimeouts.HandshakeTimeout)
	s.DrainTimeout = cmp.Or(s.DrainTimeout, serverTimeouts.DrainTimeout)
	s.MaxPacket = cmp.Or(s.MaxPacket, DefaultMaxPacket)
	s.disable()
	s.encoders = &sync.Pool{New: func() any { return gdwire.NewEncoder(nil, &s.Encoder) }}
	return s
}

// disable replaces negative values, which disable a limit.
func (s *config) disable() {
	for _, t := range s.timeouts() {
		*t = max(*t, 0)
	}
	if s.MaxPacket < 0 || s.MaxPacket >= unfinished {
		s.MaxPacket = unfinished - 1
	}
}

// with returns a config with other limits.
func (s *config) with(l ConnLimits) *config {
	changed := *s
	changed.MaxPacket = cmp.Or(l.MaxPacket, s.MaxPacket)
	changed.ReadTimeout = cmp.Or(l.ReadTimeout, s.ReadTimeout)
	changed.WriteTimeout = cmp.Or(l.WriteTimeout, s.WriteTimeout)
	changed.IdleTimeout = cmp.Or(l.IdleTimeout, s.IdleTimeout)
	if l.PacketRate != 0 {
		changed.rate = rate{l.PacketRate, l.PacketBurst}
	}
	if l.ByteRate != 0 {
		changed.bytes = rate{l.ByteRate, l.ByteBurst}
	}
	changed.disable()
	return &changed
}
