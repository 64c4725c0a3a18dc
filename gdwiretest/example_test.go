package gdwiretest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// A mover is a handler that moves players.
func mover(_ context.Context, c *stream.Conn) error {
	for {
		var p struct {
			Name string
			Pos  variant.Vector2
		}
		err := variant.Receive(c, &p)
		if err == nil {
			p.Pos.X++
			err = variant.Send(c, p)
		}
		if err != nil && !stream.Skippable(err) {
			return err
		}
	}
}

func TestMover(t *testing.T) {
	c := gdwiretest.Pipe(t, mover) // a client of the handler, in memory
	err := c.WriteRaw(gdwiretest.Encode(t, map[string]any{"name": "Ada", "pos": variant.Vector2{X: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := variant.Receive(c, &got); err != nil {
		t.Fatal(err)
	}
	gdwiretest.Equal(t, got, map[string]any{"name": "Ada", "pos": variant.Vector2{X: 2}})
}

// Testing a handler with a client in memory, and the difference between values by their paths.
func ExamplePipe() {
	t := &tb{} // of the test
	defer t.end()
	c := gdwiretest.Pipe(t, mover)
	for object := range gdwiretest.Objects(gdwire.Godot4) {
		_ = c.WriteRaw(object) // is refused, and the handler goes on
	}
	_ = c.WriteRaw(gdwiretest.Encode(t, map[string]any{"name": "Ada", "pos": variant.Vector2{X: 1}}))
	var got any
	_ = variant.Receive(c, &got)
	gdwiretest.Equal(t, got, map[string]any{"name": "Ada", "pos": variant.Vector2{X: 2}})
	gdwiretest.Equal(t, got, map[string]any{"name": "Bob", "pos": variant.Vector2{X: 2}, "hp": 7})
	// Output:
	// gdwiretest: values differ:
	// 	$.hp: want 7, which is missing
	// 	$.name: got "Ada", want "Bob"
}

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
