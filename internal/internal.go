// Package internal contains the types shared by package gdwire and the other packages of this module:
// the argument of gdwire.Internal.Export, out of reach of other modules, and types of the methods of
// the result.
package internal

import "reflect"

// NotForPublicUse is the type of AllowInternalUse.
type NotForPublicUse struct{ _ byte } // not empty, so that no other variable has its address

// AllowInternalUse is passed, by its address, to gdwire.Internal.Export.
var AllowInternalUse NotForPublicUse

// NodePathText is memory for the text of a NodePath, and for eight bytes more from ReadNodePath.
type NodePathText [128 + 8]byte

// A Key is a text often read and written by plans, encoded as a String: comparing and copying
// words is -8 % of Marshal and -18 % of Unmarshal into structs.
type Key struct {
	Len, Size         int    // of the text and of its encoding; 0 for an empty, too long or non-ASCII text
	Head, First, Last uint64 // the header and length, and the text with zeros after it
	Mask, LastMask    uint64 // the bits of the text in First and Last
}

// MaxKey is the length of the longest text of a Key.
const MaxKey = 16

// A Field is a field of a struct, as encoded by package variant.
type Field struct {
	Key, GoName string // such as max_hp and Player.MaxHP
	As          string // the type= of the tag, or ""
	Type        reflect.Type

	OmitZero, Required, Embed bool

	Was []string // old keys
	Max int      // the maximum length, or 0
}
