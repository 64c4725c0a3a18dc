//go:build !unix

package main

import "os"

// maxRSS knows nothing here.
func maxRSS(*os.ProcessState) (int64, bool) { return 0, false }
