//go:build !unix

package main

import "os"

// maxRSS returns nothing on this system.
func maxRSS(*os.ProcessState) (int64, bool) { return 0, false }
