package address

// refusals is empty: this system has no Unix sockets.
var refusals []error
