package fileaccess_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

// Each limit accepts a value equal to it and refuses a greater one.
func TestFileAccessLimits(t *testing.T) {
	data := file(t, compressedInfo(fileaccess.Zstd), nil, pattern(10_000))
	for _, tt := range []struct {
		name       string
		at, beyond fileaccess.Limits
		want       string
	}{
		{
			"Size", fileaccess.Limits{Size: 10_000}, fileaccess.Limits{Size: 9999},
			"fileaccess: offset 12: content of 10000 bytes exceeds limit Size (9999)",
		},
		{
			"BlockSize", fileaccess.Limits{BlockSize: 4096}, fileaccess.Limits{BlockSize: 4095},
			"fileaccess: offset 8: block of 4096 bytes exceeds limit BlockSize (4095)",
		},
		{
			"Blocks", fileaccess.Limits{Blocks: 3}, fileaccess.Limits{Blocks: 2},
			"fileaccess: offset 12: file of 3 blocks exceeds limit Blocks (2)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must2(readAll(bytes.NewReader(data), &fileaccess.Options{Limits: tt.at}))(t)
			_, _, err := readAll(bytes.NewReader(data), &fileaccess.Options{Limits: tt.beyond})
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, fileaccess.ErrLimit)
			require.NotErrorIs(t, err, fileaccess.ErrDamaged)
		})
	}
	// The largest file of an engine, in blocks of 4096 bytes, is within Blocks.
	_, err := fileaccess.NewReader(bytes.NewReader(put(data, totalAt, 1<<32-1)), &fileaccess.Options{Limits: fileaccess.Limits{Size: -1}})
	require.NotErrorIs(t, err, fileaccess.ErrLimit)
	require.Equal(t, "7 exceeds limit Other (3)", (&fileaccess.LimitError{Name: "Other", Got: 7, Max: 3}).Error())
}
