//go:build race

package fileaccess_test

const raceEnabled = true
