// Package fileaccess reads and writes the compressed and encrypted files of
// Godot's FileAccess (File in Godot 3), as streams and within limits.
//
//	f, err := os.Open("user/save.dat")
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	r, err := fileaccess.NewReader(f, &fileaccess.Options{Key: fileaccess.PasswordKey("hunter2")})
//	if err != nil {
//		return err // fileaccess: offset 4: wrong password or damaged file
//	}
//	fmt.Println(r.Info().Container, r.Info().Mode) // compressed zstd
//	content, err := io.ReadAll(r)
//
// A [Reader] recognizes the file by its first bytes, and its [Info] is all that
// [NewWriter] needs to make another one like it. The content can be anything.
// Package stream reads the values that store_var wrote;
// ConfigFile.save_encrypted writes text.
//
//	in GDScript                     first bytes   Container    written by
//	FileAccess.open                 any           Plain
//	FileAccess.open_compressed      GCPF          Compressed   NewCompressedWriter
//	FileAccess.open_encrypted       GDEC          Encrypted    NewEncryptedWriter
//	open_encrypted_with_pass        GDEC          Encrypted    NewEncryptedWriter with PasswordKey
//
// Engines do not compress and encrypt the same file, and a Reader opens one
// container only.
//
// # Compressed files
//
// The content is cut into blocks of 4096 bytes, each compressed on its own, by
// FastLZ unless the game chose another [Mode]. Godot 3 and 4 read each other's
// files. They hold less than 4 GiB.
//
// A file begins with the sizes of its blocks. A Reader keeps these, 4 bytes a
// block, and one block; a [CompressedWriter] has to keep the compressed blocks
// until Close.
//
// # Encrypted files
//
// Godot 3 encrypts with AES-256 in ECB mode, Godot 4 in CFB mode, and neither
// opens the other's files: see [Layout]. A [Key] is 32 bytes or made of a password.
//
// A file holds the MD5 of its content, and nothing else tells a wrong key from the
// right one, nor from damage: both are [ErrPassword]. NewReader returns it before
// any byte of the content is read if the content has up to Options.Buffered bytes,
// which it then keeps, or if the input is an io.Seeker, which is then read twice.
// Info().Verified reports this. Longer content from a pipe or connection is
// returned as it comes, and Read returns ErrPassword in place of io.EOF: until then
// it can be anything. A file that is changed between the two readings is noticed
// in the same way. An empty content opens under every key.
//
// The MD5 is no authentication, and the key is in every copy of the game: a content
// that was verified is undamaged, and still input from a stranger.
//
// # Damage, and files made to harm
//
// Any input gives content or an error, never a panic. Every number in a file is
// checked against [Limits] before it is used, memory grows with the bytes that
// arrive, and a block that becomes more or less than it should is an error. By
// default a content has at most 256 MiB and a block 1 MiB. A program that reads its
// own user's files can lift Limits.Size; one that reads uploads should lower it,
// since 4 KiB can hold many MiB of zeros.
//
// An error of the file is an [Error] with the offset at fault:
//
//	io.ErrUnexpectedEOF   the file ends early
//	ErrDamaged            content that no engine wrote
//	ErrPassword           wrong password or damaged file
//	ErrMode               brotli, which no engine writes, or an unknown mode
//	ErrLimit              more than Limits allow; a *LimitError has the numbers
//
// NewReader also returns [ErrNoKey], for an encrypted file without a key. Errors of
// the underlying Reader are returned as they are. All errors stay.
//
// FastLZ and zstd blocks have no checksum: an altered byte there can change the
// content without an error. Like engines, a Reader ignores the padding at the end
// of an encrypted file. Unlike them, it checks the "GCPF" at the end of a
// compressed file, which is missing if the file was cut.
package fileaccess
