package shell

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/gdwire/gdwire/internal/address"
)

// Loopback is the host for addresses that are only a port.
const Loopback = "127.0.0.1"

// CompleteAddress adds the host to an address that is only a port. unix:PATH is complete.
func CompleteAddress(addr *string) error {
	if network, path := address.Split(*addr); network == "unix" {
		if path == "" {
			return errors.New("want the path of a socket: unix:PATH")
		}
		return nil
	}
	if !strings.Contains(*addr, ":") {
		*addr = ":" + *addr
	}
	host, port, err := net.SplitHostPort(*addr)
	if err != nil {
		return err
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("%q is no port: want PORT, HOST:PORT or unix:PATH", port)
	}
	*addr = net.JoinHostPort(cmp.Or(host, Loopback), port)
	return nil
}
