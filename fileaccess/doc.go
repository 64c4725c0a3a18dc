// Package fileaccess reads and writes the compressed and encrypted files of Godot's FileAccess
// (File in Godot 3), and results of PackedByteArray.compress, as streams and within limits.
//
//	// read returns the content of a compressed file, or of one that is encrypted with a password.
//	func read(name, password string) ([]byte, error) {
//		f, err := os.Open(name)
//		if err != nil {
//			return nil, err
//		}
//		defer f.Close()
//		r, err := fileaccess.NewReader(f, &fileaccess.Options{Key: fileaccess.PasswordKey(password)})
//		if err != nil {
//			return nil, err // fileaccess: wrong password or damaged file
//		}
//		return io.ReadAll(r)
//	}
//
// A [Reader] recognizes the file by its first bytes. [NewWriter] writes a file of the
// same kind with its [Info]. The content can be any bytes: package stream reads values
// of store_var, and ConfigFile.save_encrypted writes text.
//
//	in GDScript                     first bytes   Container    written by
//	FileAccess.open                 any           Plain
//	FileAccess.open_compressed      GCPF          Compressed   NewCompressedWriter
//	FileAccess.open_encrypted       GDEC          Encrypted    NewEncryptedWriter
//	open_encrypted_with_pass        GDEC          Encrypted    NewEncryptedWriter with PasswordKey
//	PackedByteArray.compress        any           Raw          Compress, NewWriter
//
// Each can also be in base64 text, as of Marshalls.raw_to_base64, and so can values, of variant_to_base64:
// Options.Base64 opens the text, and [Info] describes the lines.
//
// Engines do not compress and encrypt the same file, and a Reader opens only one
// container.
//
// # Compressed files
//
// The content consists of blocks of 4096 bytes. Each is compressed separately, by FastLZ
// unless the game chose another [Mode]. Godot 3 and 4 read each other's files. The
// content is shorter than 4 GiB.
//
// A file begins with the sizes of its blocks. A Reader keeps these, 4 bytes for each
// block, and one block; a [CompressedWriter] must keep the compressed blocks until Close, unless it
// writes to a file that can also be read.
//
// # Streams of PackedByteArray.compress
//
// [Compress] and [Decompress] work like the methods of PackedByteArray, in all four modes; the size of the
// content need not be known. A Reader of such a stream needs Options.Raw and the mode, because nothing in the
// stream identifies either, and takes the same memory for any content. FastLZ fills content of fewer than 16
// bytes up with zeros, and only the user knows where the content ends.
//
// # Encrypted files
//
// Godot 3 encrypts with AES-256 in ECB mode, Godot 4 in CFB mode, and neither
// opens the other's files: see [Layout]. A [Key] is 32 bytes, or is derived from a
// password.
//
// A file contains the MD5 of its content. A wrong key and damage both result in a wrong MD5:
// [ErrPassword]. NewReader verifies the MD5 before returning if the content is up to
// Options.MaxBuffered bytes long and is kept in memory, or if the input is a file or memory, and is read
// twice; Info().Verified is then true. Longer content from a pipe or connection is returned before
// verification, and Read returns ErrPassword instead of io.EOF at the end. Read does the same if a
// file changes between the two readings. Empty content can be opened with any key.
//
// To read what is left of a cut or damaged file, set MaxBuffered to 1 and pass a Reader of another type: the content comes before the
// error. Each block of 16 bytes is decrypted with at most the one before, so damage changes no others.
//
// The MD5 does not authenticate a file, and every copy of the game contains the key:
// verified content is undamaged, but remains untrusted input.
//
// # Damaged and hostile files
//
// Any input gives content or an error, never a panic. Every number in a file is checked against
// [Limits] before use, memory grows with the bytes received, and a block with more or less
// content than declared is an error. What a block contains before a cut is read, and then the error; so is what
// Deflate, Gzip and Zstd give of a damaged block. By default content is at most 256 MiB and a block at most
// 1 MiB long. A program reading files of its own user can raise Limits.Size; a program reading
// uploads should lower it, because 4 KiB of input can become many MiB of zeros.
//
// An invalid file is an [Error] with the offset of the invalid part:
//
//	io.ErrUnexpectedEOF   the file ends early
//	ErrDamaged            content that no engine wrote
//	ErrPassword           wrong password or damaged file
//	ErrMode               brotli, which no engine writes, or an unknown mode
//	ErrLimit              a limit is exceeded; a *LimitError contains the numbers
//
// NewReader also returns [ErrNoKey], for an encrypted file if there is no key. Errors of
// the underlying Reader are returned unchanged. All errors stay.
//
// FastLZ and zstd blocks have no checksum: a changed byte in them can change the content
// without an error. As engines do, a Reader ignores the padding at the end of an encrypted
// file. Unlike engines, it checks the "GCPF" at the end of a compressed file, which is
// missing in a truncated file.
package fileaccess
