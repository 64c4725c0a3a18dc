//go:build !unix

package main

import "os"

// maxRSS is not known.
func maxRSS(*os.ProcessState) int { return 0 }
