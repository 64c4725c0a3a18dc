package variant

import (
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/options"
)

// Options configures decoding and encoding. The zero value, like none, selects Godot4 with the
// default limits. Several Options are merged: a non-zero field, also of the options and Limits
// inside, replaces the field of earlier Options.
type Options struct {
	// Decoder configures Unmarshal. UnmarshalDecode, Elements and Entries use the
	// options of their Decoder instead.
	Decoder gdwire.DecoderOptions
	// Encoder configures Marshal. MarshalEncode uses the options of its Encoder
	// instead.
	Encoder gdwire.EncoderOptions
	// MaxMemory is the maximum size in bytes of the decoded values: capacities of slices, text,
	// entries of maps, values in interfaces. In Elements and Entries, the maximum applies to
	// each record. 0 selects 256 MiB, -1 disables the limit.
	MaxMemory int64
	// RejectUnknown makes unknown keys of structs an error, and elements beyond
	// the fields of a positional struct.
	RejectUnknown bool
}

const defaultMemory = 256 << 20

var defaultOptions Options

// optionsOf returns the merged Options of the variadic arguments of a function, or the zero value
// if there are none. The caller must not change the result.
func optionsOf(opts []Options) *Options { return options.Of(opts, &defaultOptions) }

// contentOptions selects a lossless encoding.
var contentOptions = Options{Encoder: gdwire.EncoderOptions{Depth: -1, AllowInvalidUTF8: true, DoubleReals: true}}
