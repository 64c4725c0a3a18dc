// Package conformance tests the public API: that all formats are read and written as
// the engines do, that hostile and huge input takes little memory, and the promises that
// all packages make together.
package conformance
