package gdjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
)

func TestError(t *testing.T) {
	_, err := fromJSON(`{"type":"Array","args":[{"type":"Vector2","args":[1,true]}]}`, nil, nil)
	require.EqualError(t, err, `gdjson: offset 52, "/args/0/args/1": arg is not a number`)
	require.ErrorIs(t, err, gdwire.ErrType)
	_, err = fromJSON(`["i:1","sn:x"]`, &gdwire.EncoderOptions{Format: gdwire.Godot3}, nil)
	require.EqualError(t, err, `gdjson: offset 7, "/1": godot3 has no StringName`)
	var fault *gdwire.Error
	require.True(t, errors.As(err, &fault))
	require.Equal(t, "$[1]", fault.Path)
	var located *gdjson.Error
	require.True(t, errors.As(err, &located))
	require.Equal(t, error(fault), located.Unwrap())
	_, err = fromJSON(`["`+strings.Repeat("é", 100)+`"]`, nil, nil)
	require.EqualError(t, err, `gdjson: offset 1, "/0": string "`+strings.Repeat("é", 20)+`…" without a prefix`)
}
