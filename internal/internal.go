// Package internal contains what package gdwire shares with the other packages of this module: the
// argument of gdwire.Internal.Export, which no other module can name, and types of the methods of its
// result.
package internal

import "reflect"

// NotForPublicUse is the type of AllowInternalUse.
type NotForPublicUse struct{ _ byte } // not empty, so that no other variable has its address

// AllowInternalUse is the variable whose address gdwire.Internal.Export takes.
var AllowInternalUse NotForPublicUse

// NodePathText is memory for the text of a NodePath, after which ReadNodePath can write eight bytes more.
type NodePathText [128 + 8]byte

// A Key is a text that plans read and write often, encoded as a String: comparing and copying
// words is -8 % of Marshal and -18 % of Unmarshal into structs.
type Key struct {
	Len, Size         int    // of the text and of its encoding; 0 if it is empty, too long or not ASCII
	Head, First, Last uint64 // the header and length, and the text with zeros after it
	Mask, LastMask    uint64 // the bits of First and Last that are text
}

// MaxKey is the length of the longest text of a Key.
const MaxKey = 16

// A Field is a field of a struct, as package variant encodes it.
type Field struct {
	Key, GoName string // such as max_hp and Player.MaxHP
	As          string // the type= of the tag, or ""
	Type        reflect.Type

	OmitZero, Required, Embed bool
}
