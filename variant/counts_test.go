package variant_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// TestVariantLargestCounts decodes values that declare up to 2^32-1 elements, which an int of 32 bits
// cannot hold, and end early. No limit applies.
func TestVariantLargestCounts(t *testing.T) {
	none := gdwire.DecoderOptions{Limits: gdwire.NoLimits}
	for typ := range gdwire.TypePackedVector4Array {
		for _, n := range []uint32{math.MaxInt32, math.MaxInt32 + 2, math.MaxUint32} {
			b := binary.LittleEndian.AppendUint32(nil, uint32(typ))
			b = append(binary.LittleEndian.AppendUint32(b, n), make([]byte, 4096)...)
			for _, v := range []any{
				new(any), new(variant.Raw), new(string), new([]byte), &[]int8{1}, new([]int16), &[]int64{1},
				new([][3]float32), &[]string{"a"}, &[]variant.StringName{"a"}, &[]any{1}, new(map[int8]any),
			} {
				// A Reader, because the Decoder compares counts with the length of bytes.
				d := gdwire.NewDecoder(struct{ io.Reader }{bytes.NewReader(b)}, &none)
				err := variant.UnmarshalDecode(d, v, variant.Options{MaxMemory: -1})
				d.Release()
				assert.NotErrorIs(t, err, gdwire.ErrCount, fmt.Sprintf("%v of %d into %T", typ, n, v))
			}
		}
	}
}
