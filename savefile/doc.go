// Package savefile reads, edits and writes files of saved games: in the format of any engine, with
// or without lengths before the values, plain, compressed by FileAccess or a script, or encrypted.
//
//	// heal gives the player of a saved game all of their hp.
//	func heal(name string) error {
//		f, err := savefile.Open(name, nil) // of Godot 4 or 3; plain, compressed or encrypted
//		if err != nil {
//			return err
//		}
//		defer f.Close()
//		var hp int
//		if err := f.Get("player.max_hp", &hp); err != nil {
//			return err
//		}
//		if err := f.Edit(savefile.Set("player.hp", hp)); err != nil {
//			return err
//		}
//		return f.Save(name) // replaces the file after success
//	}
//
// [File.Unmarshal] and the calls of other packages with a whole input (Unmarshal, UnmarshalRead,
// Validate, Receive) return an error if bytes follow the values. Calls with a Decoder read the next
// value.
//
// # Godot 4 to Godot 3
//
// To write a file in another format, set Info.Format. Everything in Godot 3 has a place in Godot 4. In the other
// direction, [File.WriteTo] and [File.Save] return an error with the path of the first value unknown to Godot 3,
// wrapping [gdwire.ErrType], or [gdwire.ErrRange] for reals of 64 bits. If [File.Lossy] is set, they call Lossy for
// each such value and write its counterpart:
//
//	Vector2i, Rect2i, Vector3i    a Vector2, Rect2, Vector3
//	Vector4                       an Array of 4 floats
//	Vector4i                      an Array of 4 ints
//	Projection                    an Array of 16 floats
//	StringName                    a String
//	RID with an id                an RID without it
//	Callable, Signal              null
//	typed Dictionary              an untyped Dictionary
//	typed Array                   an untyped Array
//	PackedInt64Array              an Array of ints
//	PackedFloat64Array            an Array of floats
//	PackedVector4Array            an Array of Arrays of 4 floats
//	reals of 64 bits              reals of 32 bits, if they have to be rounded
//
// No other number is rounded, except integers of more than 24 bits where they become reals. Keys are converted
// as values are; of two keys that become equal, Godot 3 reads the last. Names of classes and properties in serialized
// objects stay.
//
// # Large files
//
// A content of up to 4 MiB is held in memory. A larger content stays in its file, which must not change
// until Close; a compressed or encrypted file is read again from the start if a call needs an earlier
// part. Values, Get and WriteTo use at most 24 MiB for a file of any size, plus the decoded Go values
// and the blocks of a compressed result that is written to no file. A Go type with a method UnmarshalVariant can read a
// value without keeping it in memory, as in the Example of [Load].
//
// # Untrusted files
//
// Options.Decoder.Limits and Options.Container.Limits contain the limits. For an upload, set
// Container.Limits.Size to the size of the largest acceptable content, because a few KiB of a
// compressed file can become hundreds of MiB, and Decoder.Limits.Depth, if the values are stored in
// an any. Serialized objects are refused unless Decoder.AllowObjects is set.
package savefile
