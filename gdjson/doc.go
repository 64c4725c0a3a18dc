// Package gdjson converts Variants to JSON and back: the native JSON of Godot's
// JSON.from_native, and plain JSON for people.
package gdjson
