// Package spec contains the specification of the format, SPEC.md, and its vectors, for
// tests of programs in Go. The directory's README describes the fields of the vectors.
package spec

import "embed"

// Files contains SPEC.md and the files of vectors.
//
//go:embed SPEC.md vectors/*.jsonl
var Files embed.FS
