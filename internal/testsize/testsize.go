// Package testsize says how many cases the tests of this module run, and with how much
// memory.
package testsize

import "os"

// Full reports whether tests run every case, at full size: the environment variable
// GDWIRE_FULL is set. Otherwise they run a sample, the same in each run, which takes
// seconds.
func Full() bool { return os.Getenv("GDWIRE_FULL") != "" }
