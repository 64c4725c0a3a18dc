package stream

// peerErrors and resetErrors are empty: the errors of this system have no numbers.
var peerErrors, resetErrors []error
