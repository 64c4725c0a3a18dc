package gdjson

// Options say how JSON is written and read. The zero value, and nil, is native
// JSON on one line, read exactly.
type Options struct {
	// Plain chooses plain JSON instead of native JSON.
	Plain bool
	// Lenient makes FromJSON read what the engine's JSON.to_native reads, where
	// it would otherwise return an error. The package documentation lists it.
	Lenient bool
	// AllowObjects lets FromJSON write serialized objects. They name classes and
	// scripts that an engine creates when it reads them.
	AllowObjects bool
	// Indent, if not empty, makes ToJSON put each element, pair and property on
	// a line of its own, after one Indent for each level. The numbers of a vector
	// or packed array stay on one line.
	Indent string
	// EscapeForTerminal makes ToJSON write as \uXXXX the characters that a
	// terminal would obey: DEL, the C1 controls, and the controls of
	// bidirectional text.
	EscapeForTerminal bool
}
