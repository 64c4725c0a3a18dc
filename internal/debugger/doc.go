// Package debugger talks to a running game over Godot's remote debugger channel: breakpoints,
// stacks with local variables, the tree of nodes, their properties, and the output of the game.
// Copy the package into your program, and change it as the engine changes: the channel is
// private to the engine.
//
// A game started with --remote-debug connects to a listening tool. [Accept] waits for it, and [New]
// wraps a connection. The first packet shows the [Protocol], one of Godot 3, 4.0 and 4.2.
//
//	ln, err := net.Listen("tcp", "127.0.0.1:6007")
//	…
//	s, err := debugger.Accept(ctx, ln, nil) // godot --remote-debug tcp://127.0.0.1:6007 --path game
//	…
//	defer s.Close()
//	tree, err := s.Tree(ctx)
//	…
//	for m, err := range s.Events(ctx) {
//		if err != nil {
//			log.Print(err)
//			continue
//		}
//		switch e := m.Event().(type) {
//		case *debugger.Output:
//			…
//		}
//	}
//
// Requests wait for their reply, for the end of the session or for their context. The game does not
// answer all of them: commands for removed nodes are ignored. Requests about the stack are answered
// while the game is stopped; use [Session.WaitStop] to wait for that.
//
// # Trust
//
// The channel knows neither authentication nor encryption: whoever reaches the port is the game. Values stay
// encoded, as [variant.Raw], until somebody decodes them, and objects are only their ids. A packet is limited
// by stream.Options.MaxPacket and [gdwire.Limits], a message of Godot 3, of several packets, by 64 MiB. Up to
// 16 MiB of messages wait for [Session.Events].
package debugger
