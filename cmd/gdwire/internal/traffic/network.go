package traffic

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/netem"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
)

// The networkFlags are the flags of proxy for a bad network.
type networkFlags struct {
	netem.Conditions
	cut time.Duration // after which a connection ends; 0 for never
}

// define defines the flags.
func (n *networkFlags) define(f *shell.Flags) {
	f.DurationVar(&n.Delay, "delay", 0, "forward what arrives after `TIME`, such as 80ms, in each direction")
	f.DurationVar(&n.Jitter, "jitter", 0, "vary the delay by up to `TIME`, in each direction")
	f.Func("rate", "forward at most `RATE`, such as 1Mbit or 256kbit a second, in each direction", parsed(&n.Rate, parseRate))
	f.Func("drop", "lose a `SHARE` of the packets of WebSockets and UDP, such as 2%", parsed(&n.Drop, parseShare))
	f.Func("duplicate", "forward a `SHARE` of the packets of UDP twice", parsed(&n.Duplicate, parseShare))
	f.Func("reorder", "delay a `SHARE` of the packets of UDP by 100ms more, so that others overtake them", parsed(&n.Reorder, parseShare))
	f.DurationVar(&n.cut, "cut", 0, "end each connection after `TIME`")
	f.Uint64Var(&n.Seed, "seed", 0, "`N` selects the random choices; the same N makes the same [another each time]")
}

// check checks the flags for a target.
func (n *networkFlags) check(f *shell.Flags, t *target, webSocket bool) error {
	switch {
	case n.Delay < 0 || n.Jitter < 0 || n.cut < 0:
		return errors.New("-delay, -jitter or -cut is less than 0")
	case n.Drop > 0 && !t.udp && !webSocket:
		return errors.New("-drop needs a target udp:HOST:PORT, ws://HOST or wss://HOST, or -frame ws: TCP loses no packets")
	case (n.Duplicate > 0 || n.Reorder > 0) && !t.udp:
		return errors.New("-duplicate and -reorder need a target udp:HOST:PORT: others deliver each packet once and in order")
	case f.Given("seed") && !n.bad():
		return errors.New("-seed needs -delay, -jitter, -rate, -drop, -duplicate, -reorder or -cut")
	}
	if !f.Given("seed") {
		n.Seed = uint64(rand.Uint32())
	}
	return nil
}

// bad reports whether the flags change anything.
func (n *networkFlags) bad() bool {
	return n.cut > 0 || n.Conditions != netem.Conditions{Seed: n.Seed}
}

// parsed returns the setter of a flag.
func parsed(dst *float64, parse func(string) (float64, error)) func(string) error {
	return func(s string) (err error) {
		*dst, err = parse(s)
		return err
	}
}

// parseShare parses a share in percent.
func parseShare(s string) (float64, error) {
	number, ok := strings.CutSuffix(s, "%")
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(n >= 0 && n <= 100) {
		return 0, errors.New("want a share from 0% to 100%, such as 2% or 0.5%")
	}
	return n / 100, nil
}

// rates are the units of rates, in bits a second.
var rates = []struct {
	unit string
	bits float64
}{{"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}, {"bit", 1}}

// parseRate parses a rate in bits a second.
func parseRate(s string) (float64, error) {
	for _, r := range rates {
		if number, ok := strings.CutSuffix(s, r.unit); ok {
			if n, err := strconv.ParseFloat(number, 64); err == nil && n*r.bits >= 1 && !math.IsInf(n, 0) {
				return n * r.bits, nil
			}
			break
		}
	}
	return 0, errors.New("want a rate such as 1Mbit, 256kbit or 9600bit, each a second")
}

// A sender forwards bytes: a *netem.Link, or a directSender.
type sender interface {
	Send(b []byte) (sent bool, err error) // a packet, or a piece of a stream
	SendAll(b []byte) error               // bytes other than packets
	Close() error                         // waits until all is forwarded
}

// A directSender forwards at once.
type directSender func(b []byte) error

func (d directSender) Send(b []byte) (bool, error) { return true, d(b) }
func (d directSender) SendAll(b []byte) error      { return d(b) }
func (d directSender) Close() error                { return nil }
