// Package spec contains the specification of the format, SPEC.md, and its vectors, for
// tests of programs in Go. The directory's README describes the fields of the vectors.
//
//	// verify prints the packets of Godot 4 that read accepts, or refuses, and should not.
//	func verify(read func(packet []byte, objects bool) error) error {
//		f, err := spec.Files.Open("vectors/packets.jsonl")
//		if err != nil {
//			return err
//		}
//		defer f.Close()
//		for d := json.NewDecoder(f); d.More(); {
//			var v struct {
//				ID, Verdict, Hex string
//				Formats          []string
//				Objects          bool // serialized objects are allowed
//			}
//			if err := d.Decode(&v); err != nil {
//				return err
//			}
//			packet, err := hex.DecodeString(v.Hex)
//			if err != nil {
//				return err
//			}
//			if !slices.Contains(v.Formats, "godot4") || v.Verdict == "differs" {
//				continue
//			}
//			if err := read(packet, v.Objects); (err == nil) != (v.Verdict == "valid") {
//				fmt.Printf("%s is %s: %v\n", v.ID, v.Verdict, err)
//			}
//		}
//		return nil
//	}
package spec

import "embed"

// Files contains SPEC.md and the files of vectors.
//
//go:embed SPEC.md vectors/*.jsonl
var Files embed.FS
