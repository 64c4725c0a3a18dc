// Package savefile reads, edits and writes saved games as they are on disk: in the format of any
// engine, with or without lengths before the values, plain, compressed by FileAccess or a script, or
// encrypted.
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
// [File.Unmarshal] and the calls of other packages that take a whole input (Unmarshal, UnmarshalRead,
// Validate, Receive) return an error if bytes follow its values. A call that takes a Decoder reads the
// next value.
//
// # Large files
//
// A content of up to 4 MiB is held in memory. A larger content stays in its file, which must not change
// until Close; for a compressed or encrypted one, the file is read again from its start if a call needs an
// earlier part. Values, Get and WriteTo use at most 24 MiB for a file of any size, plus the Go values
// that they decode and, for a compressed result, its compressed blocks.
// A Go type with a method UnmarshalVariant needs no memory for a value that it only reads, as in the
// Example of [Load].
//
// # Untrusted files
//
// The limits are those of Options.Decoder.Limits and Options.Container.Limits. For an upload, set
// Container.Limits.Size to the size of the largest content that the program accepts, because a few
// KiB of a compressed file can become hundreds of MiB, and Decoder.Limits.Depth, if the
// values are stored in an any. Serialized objects are refused unless Decoder.AllowObjects is set.
package savefile
