package shell

import (
	"cmp"
	"net"
	"strings"
)

// Loopback is the host for addresses that are only a port.
const Loopback = "127.0.0.1"

// CompleteAddress adds the host to an address that is only a port.
func CompleteAddress(addr *string) error {
	if !strings.Contains(*addr, ":") {
		*addr = ":" + *addr
	}
	host, port, err := net.SplitHostPort(*addr)
	*addr = net.JoinHostPort(cmp.Or(host, Loopback), port)
	return err
}
