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

func TestContainerErrors(t *testing.T) {
	strict := DecoderOptions{Strict: true, AllowObjects: true}
	testInputErrors(t, []inputError{
		{name: "unknown type of elements", packet: bytesOf(idArray|typedBy, 77, 0), is: ErrType,
			text: "offset 4, $: elements of unknown godot4 type id 77"},
		{name: "shared bit", packet: bytesOf(idArray, shared(1), idNil), options: strict, is: ErrStrict,
			text: "offset 4, $: not canonical: shared bit of a count"},
		{name: "type id 0", packet: bytesOf(idArray|typedBy, 0, 0), options: strict, is: ErrStrict,
			text: "offset 4, $: not canonical: elements of type id 0"},
		{name: "no name of a class", packet: bytesOf(idArray|typedBy*2, "", 0), options: strict, is: ErrStrict,
			text: "offset 4, $: not canonical: elements of a class without a name"},
		{name: "no class", packet: bytesOf(idObject, ""), options: strict, is: ErrStrict,
			text: "offset 0, $: not canonical: object without a class"},
		{name: "negative count", packet: bytesOf(idObject, "A", shared(0)), options: strict, is: ErrStrict,
			text: "offset 12, $: not canonical: negative count"},
	})
}
