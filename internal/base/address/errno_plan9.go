package address

// refusals and resets are empty: this system has no Unix sockets, and its errors have no numbers.
var refusals, resets []error
