//go:build !plan9

package stream

import "syscall"

// peerErrors are errors of reading that ICMP reports about a peer that an earlier
// datagram did not reach. Reading takes each from the socket: none repeats.
var peerErrors = []error{
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
}

// resetErrors are errors of a connection to another side that was lost.
var resetErrors = []error{
	syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
}
