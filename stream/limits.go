package stream

import (
	"cmp"
	"net"
	"net/netip"
	"time"
)

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

// A bucket contains tokens, one for each packet that may be read at once, and gets perSecond new
// tokens a second, up to burst.
type bucket struct {
	perSecond, burst, tokens float64
	at                       time.Time // of the latest take
}

// newBucket returns a full bucket, or nil if perSecond is 0.
func newBucket(perSecond float64, burst int) *bucket {
	if perSecond <= 0 {
		return nil
	}
	full := max(cmp.Or(float64(burst), perSecond), 1)
	return &bucket{perSecond, full, full, time.Now()}
}

// take takes a token and reports whether the bucket contained any.
func (b *bucket) take() bool {
	now := time.Now()
	b.tokens = min(b.tokens+now.Sub(b.at).Seconds()*b.perSecond, b.burst)
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
