// Package fileaccess reads and writes the compressed and encrypted files that
// FileAccess of Godot 3 and 4 and their relatives makes: open_compressed,
// open_encrypted and open_encrypted_with_pass. It streams, verifies and limits;
// the content can be anything, usually values that store_var wrote.
package fileaccess
