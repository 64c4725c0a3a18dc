// Package hook has functions of package gdwire for the other packages of this module. They
// are fast in special cases and too special for a public API. Package gdwire sets them.
package hook

// AppendNodePath reads the next value of d, a *gdwire.Decoder, as a NodePath and appends its
// text to dst, such as "/root/Player:position".
//
// It consumes nothing and returns false if the next value is not a NodePath, if the names
// cannot be found again in the text because one is empty or contains a separator, or if the
// NodePath is not completely in the read buffer yet or has more than 100 bytes of text. Then
// AppendString appends the text of any NodePath, and ReadToken returns its names.
//
// It allocates memory if cap(dst)-len(dst) is less than 208.
var AppendNodePath func(d any, dst []byte) (text []byte, ok bool)
