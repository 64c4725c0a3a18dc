//go:build !plan9

package stream

import "syscall"

// peerErrors are read errors that ICMP reports about a peer not reached by an earlier datagram.
// Reading takes each from the socket: none repeats.
var peerErrors = []error{
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
}

// resetErrors are errors of a lost connection.
var resetErrors = []error{
	syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
}
