package gdwire

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal"
)

// Messages are tested with the source that makes them.
func TestError(t *testing.T) {
	err := error(&Error{Offset: 34, Path: "$.player[3]", Err: wrapf(ErrRange, "int %d does not fit", 300)})
	require.EqualError(t, err, "gdwire: offset 34, $.player[3]: int 300 does not fit")
	require.ErrorIs(t, err, ErrRange)
	require.NotErrorIs(t, err, ErrType)
	require.Equal(t, err.(*Error).Err, errors.Unwrap(err))
}

func TestCauses(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		text string
	}{
		{"ErrLimit", ErrLimit, "limit exceeded"},
		{"ErrType", ErrType, "wrong type"},
		{"ErrFlags", ErrFlags, "header has flags"},
		{"ErrObject", ErrObject, "serialized objects are not allowed"},
		{"ErrUTF8", ErrUTF8, "invalid UTF-8"},
		{"ErrRange", ErrRange, "out of range"},
		{"ErrStrict", ErrStrict, "not canonical"},
		{"ErrCount", ErrCount, "wrong count"},
		{"ErrMisplacedKey", ErrMisplacedKey, "misplaced key"},
		{"ErrIncomplete", ErrIncomplete, "unfinished value"},
		{"ErrClosed", ErrClosed, "gdwire: used after Close or Release"},
		{"errNotReset", errNotReset, "gdwire: used before Reset"},
	} {
		t.Run(c.name, func(t *testing.T) { require.EqualError(t, c.err, c.text) })
	}
}

// Only the packages of this module name AllowInternalUse. Others can call Export with nil alone.
func TestInternal(t *testing.T) {
	require.NotPanics(t, func() { Internal.Export(&internal.AllowInternalUse) })
	require.Panics(t, func() { Internal.Export(nil) })
	require.Panics(t, func() { Internal.Export(new(internal.NotForPublicUse)) })
}
