//go:build !plan9

package address

import "syscall"

// refusals are the errors of dialing a socket at which nobody listens, the second on Windows.
var refusals = []error{syscall.ECONNREFUSED, syscall.Errno(10061)}

// resets are the errors of a connection reset by the other side.
var resets = []error{syscall.ECONNRESET, syscall.Errno(10054)}
