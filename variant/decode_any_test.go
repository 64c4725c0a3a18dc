package variant

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnmarshalIntoInterface(t *testing.T) {
	kept := &stringer{}
	var v fmt.Stringer = kept
	require.NoError(t, Unmarshal(encoded(t, dict("text", "a"), nil), &v, nil))
	assert.Equal(t, "a", kept.Text)
	require.NoError(t, Unmarshal(encoded(t, nil, nil), &v, nil))
	assert.Nil(t, v)
	var any any = kept
	require.NoError(t, Unmarshal(encoded(t, "b", nil), &any, nil))
	assert.Equal(t, "b", any, "an any is replaced")
	b, err := Marshal(box[fmt.Stringer]{kept}, nil)
	require.NoError(t, err)
	assert.Equal(t, encoded(t, dict("value", dict("text", "a")), nil), b)
}
