// Package conformance has tests of promises that all packages make together.
package conformance
