//go:build !plan9

package address

import "syscall"

// refusals are the errors of dialing a socket at which nobody listens. The second is that of Windows.
var refusals = []error{syscall.ECONNREFUSED, syscall.Errno(10061)}

// resets are the errors of a connection that the other side reset.
var resets = []error{syscall.ECONNRESET, syscall.Errno(10054)}
