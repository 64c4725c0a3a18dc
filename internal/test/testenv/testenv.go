// Package testenv contains what tests of all packages share: how many cases they run, how much
// memory they may take, and a peer that stays silent.
package testenv

import "os"

// Full reports whether tests run every case, at full size: the environment variable
// GDWIRE_FULL is set. Otherwise they run a sample, the same in each run, which takes
// seconds.
func Full() bool { return os.Getenv("GDWIRE_FULL") != "" }
