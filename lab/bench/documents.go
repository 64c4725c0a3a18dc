package main

import (
	"slices"

	"github.com/gdwire/gdwire"
)

// documentGroups compare formats on each document.
var documentGroups = slices.Concat(groupsOf("", game), groupsOf(", dialog", dialog))

// groupsOf returns the groups of a document, with a suffix to their names.
func groupsOf(suffix string, document func() *document) []group {
	return []group{
		counted("tokens"+suffix, func() []contender {
			doc := document()
			return slices.Concat(
				oursReading(doc, "tokens", doc.tokens, readTokens),
				oursReading(doc, "tokens, values taken", doc.sum, readValues),
				msgpReading(doc),
				[]contender{jsonReading(doc)},
			)
		}),
		counted("skip"+suffix, func() []contender {
			doc := document()
			return slices.Concat(
				oursReading(doc, "SkipValue", len(doc.godot), skip),
				oursReading(doc, "tokens", doc.tokens, readTokens),
				[]contender{wellformed(doc)},
				msgpSkipping(doc),
			)
		}),
		{
			name: "build" + suffix,
			setup: func(*stage) []contender {
				doc := document()
				return slices.Concat(
					oursReading(doc, "tokens, values taken", doc.sum, readValues)[:1],
					builders(doc),
				)
			},
		},
		counted("encode"+suffix, func() []contender {
			doc := document()
			return slices.Concat([]contender{ourWriting(doc), msgpWriting(doc)}, writers(doc))
		}),
		counted("copy"+suffix, func() []contender {
			doc := document()
			return slices.Concat(
				oursReading(doc, "CopyValue", len(doc.godot), copier()),
				oursReading(doc, "tokens", doc.tokens, readTokens),
			)
		}),
	}
}

// copier returns a function that copies a value and returns its size.
func copier() func(*gdwire.Decoder) int {
	var to drain
	e := gdwire.NewEncoder(&to, nil)
	return func(d *gdwire.Decoder) int {
		to.n = 0
		e.Reset(&to)
		check(gdwire.CopyValue(e, d))
		return to.n
	}
}
