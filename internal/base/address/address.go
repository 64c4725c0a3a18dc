// Package address listens and dials at addresses as users write them: HOST:PORT of TCP, or unix:PATH of a
// Unix socket, in engines unix://PATH.
package address

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
)

// scheme precedes the path of a Unix socket.
const scheme = "unix:"

// Split returns the network and the address for [net.Dial]: tcp and HOST:PORT, or unix and PATH.
func Split(addr string) (network, address string) {
	path, ok := strings.CutPrefix(addr, scheme)
	if !ok {
		return "tcp", addr
	}
	return "unix", strings.TrimPrefix(path, "//")
}

// Text returns a as Split takes it. A client of a Unix socket has no address, and is "a Unix socket".
func Text(a net.Addr) string {
	switch text := a.String(); {
	case a.Network() != "unix":
		return text
	case text == "" || text == "@":
		return "a Unix socket"
	default:
		return scheme + text
	}
}

// Dial connects to addr.
func Dial(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	network, address := Split(addr)
	return d.DialContext(ctx, network, address)
}

// Listen listens at addr. The file of a Unix socket is removed when the listener is closed. The file left
// by a killed program is replaced; one at which a program listens, or that is no socket, is an error.
func Listen(addr string) (net.Listener, error) {
	network, address := Split(addr)
	ln, err := net.Listen(network, address)
	if err == nil || network != "unix" {
		return ln, err
	}
	if err := removeStale(address, err); err != nil {
		return nil, err
	}
	return net.Listen(network, address)
}

// maxPath is the length of the longest path permitted for a socket on all systems.
const maxPath = 103

// removeStale removes the file of a socket at which nobody listens, the cause of the error err of net.Listen,
// or returns an error if the file stays.
func removeStale(path string, err error) error {
	file, missing := os.Lstat(path)
	switch {
	case missing != nil && len(path) > maxPath:
		return fmt.Errorf("%w (the path has %d bytes; every system permits %d)", err, len(path), maxPath)
	case missing != nil:
		return err
	case file.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%w (the file is no socket)", err)
	}
	conn, refused := net.Dial("unix", path)
	if refused == nil {
		_ = conn.Close()
		return fmt.Errorf("%w by another program", err)
	}
	if !isAny(refused, refusals) {
		return err // a program may listen or not
	}
	if now, gone := os.Lstat(path); gone == nil && !os.SameFile(file, now) {
		return err // another program replaced the file meanwhile
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// IsReset reports whether err is about a connection reset by the other side.
func IsReset(err error) bool { return isAny(err, resets) }

func isAny(err error, of []error) bool {
	return slices.ContainsFunc(of, func(one error) bool { return errors.Is(err, one) })
}
