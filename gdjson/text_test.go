package gdjson_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

func TestFromJSONReader(t *testing.T) {
	text := `{"args":["s:é","i:1"],"type":"Dictionary"}`
	want := must(fromJSON(text, nil, nil))(t)
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, nil)
	require.NoError(t, gdjson.FromJSON(e, iotest.OneByteReader(strings.NewReader(text))))
	require.Equal(t, want, b.Bytes())
	require.ErrorIs(t, gdjson.FromJSON(e, iotest.ErrReader(errTest)), errTest)
	require.NoError(t, e.Err())
}
