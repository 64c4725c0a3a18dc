package gdwire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The type of DictKey, Property and End is that of their container.
func TestTypesOfMarkers(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(plain(s.packet), s.options(0))
		defer d.Release()
		var open []Type
		for _, tok := range tokens(t, d) {
			switch tok.Kind() {
			case KindArrayStart, KindDictStart, KindObjectStart, KindNodePathStart, KindPackedStart, KindImageStart:
				open = append(open, tok.Type())
			case KindDictKey, KindProperty:
				require.Equal(t, open[len(open)-1], tok.Type())
			case KindEnd:
				require.Equal(t, open[len(open)-1], tok.Type())
				open = open[:len(open)-1]
			}
		}
	})
}
