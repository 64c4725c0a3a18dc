//go:build !race

package gdwire

const raceEnabled = false
