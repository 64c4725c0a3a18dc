package spec_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/spec"
)

// verify prints the packets of Godot 4 that read accepts, or refuses, and should not.
func verify(read func(packet []byte, objects bool) error) error {
	f, err := spec.Files.Open("vectors/packets.jsonl")
	if err != nil {
		return err
	}
	defer f.Close()
	for d := json.NewDecoder(f); d.More(); {
		var v struct {
			ID, Verdict, Hex string
			Formats          []string
			Objects          bool // serialized objects are allowed
		}
		if err := d.Decode(&v); err != nil {
			return err
		}
		packet, err := hex.DecodeString(v.Hex)
		if err != nil {
			return err
		}
		if !slices.Contains(v.Formats, "godot4") || v.Verdict == "differs" {
			continue
		}
		if err := read(packet, v.Objects); (err == nil) != (v.Verdict == "valid") {
			fmt.Printf("%s is %s: %v\n", v.ID, v.Verdict, err)
		}
	}
	return nil
}

// The vectors find nothing wrong with gdwire, and the long strings that another Decoder refuses.
func Example() {
	reader := func(limits gdwire.Limits) func([]byte, bool) error {
		return func(packet []byte, objects bool) error {
			d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{AllowObjects: objects, Limits: limits})
			defer d.Release()
			d.ResetBytes(packet)
			return d.SkipValue()
		}
	}
	fmt.Println(verify(reader(gdwire.Limits{})))
	fmt.Println(verify(reader(gdwire.Limits{StringBytes: 200})))
	// Output:
	// <nil>
	// p4-0208 is valid: gdwire: offset 4, $: string of 1000 bytes exceeds limit StringBytes (200)
	// p4-0242 is valid: gdwire: offset 4, $: string of 1000 bytes exceeds limit StringBytes (200)
	// p4-0350 is valid: gdwire: offset 4, $: string of 1000 bytes exceeds limit StringBytes (200)
	// p4-0368 is valid: gdwire: offset 4, $: string of 1000 bytes exceeds limit StringBytes (200)
	// p4-0799 is valid: gdwire: offset 4, $: string of 1000 bytes exceeds limit StringBytes (200)
	// p4-1345 is valid: gdwire: offset 4, $: string of 1000 bytes exceeds limit StringBytes (200)
	// <nil>
}
