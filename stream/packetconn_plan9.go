package stream

// peerErrors is empty: the errors of this system have no numbers.
var peerErrors []error
