package gdjson

import (
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
	"github.com/gdwire/gdwire/internal/options"
)

// Options configures [ToJSON] and [FromJSON]. The zero value, like none, selects native JSON,
// written on one line and read exactly. Several are merged: a nonzero field replaces the same field
// of earlier Options.
type Options struct {
	// Plain selects plain JSON instead of native JSON.
	Plain bool
	// Lenient makes FromJSON accept everything accepted by the engine's JSON.to_native. The package
	// documentation lists the differences.
	Lenient bool
	// AllowObjects permits FromJSON to write serialized objects. An engine that reads them creates
	// objects of the classes and scripts they name.
	AllowObjects bool
	// Indent, if not empty, makes ToJSON write each element, pair and property
	// on its own line, indented by one Indent for each level. The numbers of a
	// vector or packed array stay on one line.
	Indent string
	// EscapeForTerminal makes ToJSON write control characters of a terminal as \uXXXX: DEL, the C1
	// controls and the controls of bidirectional text. The C0 controls are always escaped.
	EscapeForTerminal bool
}

// export contains the calls of package gdwire for this module.
var export = gdwire.Internal.Export(&internal.AllowInternalUse)

var defaultOptions Options

// optionsOf returns the merged Options of the variadic arguments of a function, or the zero value
// if there are none. The caller must not change the result.
func optionsOf(opts []Options) *Options { return options.Of(opts, &defaultOptions) }
