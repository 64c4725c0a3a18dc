package stream_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// Packets that a script compressed, var_to_bytes(state).compress(FileAccess.COMPRESSION_ZSTD), are read and written. The
// limit on the content is another one than that on the packet, because a short packet can hold much.
func ExampleConn_WriteRaw() {
	const maxContent = 64 << 10
	send := func(c *stream.Conn, v any) error {
		content, err := variant.Marshal(v)
		if err != nil {
			return err
		}
		packet, err := fileaccess.Compress(nil, content, fileaccess.Zstd)
		return errors.Join(err, c.WriteRaw(packet))
	}
	receive := func(c *stream.Conn, v any) error {
		packet, err := c.NextRaw(nil)
		if err != nil {
			return err
		}
		content, err := fileaccess.Decompress(nil, packet, fileaccess.Zstd, maxContent)
		if err != nil {
			return err
		}
		d := gdwire.NewDecoder(nil, nil) // with FastLZ, zeros can follow a short value
		defer d.Release()
		d.ResetBytes(content)
		return variant.UnmarshalDecode(d, v)
	}

	server, client := net.Pipe()
	ctx := context.Background()
	ours, theirs := stream.NewConn(ctx, server, nil), stream.NewConn(ctx, client, nil)
	defer ours.Close()
	defer theirs.Close()
	go func() {
		_ = send(theirs, map[string]int{"hp": 99})
		_ = send(theirs, make([]byte, 1<<20)) // a packet of a few bytes
	}()
	var state map[string]int
	fmt.Println(receive(ours, &state), state)
	fmt.Println("too long:", errors.Is(receive(ours, &state), fileaccess.ErrLimit))
	// Output:
	// <nil> map[hp:99]
	// too long: true
}
