package gdwiretest_test

import (
	"fmt"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/variant"
)

// A test reads a value of every type. FuzzMessage in this package uses Seeds in the same way.
func ExamplePackets() {
	packets := 0
	for packet := range gdwiretest.Packets(gdwire.Godot4) {
		var v any
		if err := variant.Unmarshal(packet, &v); err != nil {
			fmt.Println(err)
		}
		packets++
	}
	fmt.Println(packets > len(gdwire.Types())/2)
	// Output: true
}
