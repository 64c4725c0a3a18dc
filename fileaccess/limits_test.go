package fileaccess_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// The messages of limits and FastLZ are tested with their sources.
func TestFileAccessErrors(t *testing.T) {
	read := func(data []byte) error {
		_, _, err := readAll(bytes.NewReader(data), &fileaccess.Options{Key: wrong})
		return err
	}
	compressed := func(mode fileaccess.Mode) error {
		_, err := fileaccess.NewCompressedWriter(io.Discard, mode, 0)
		return err
	}
	encrypted := func(layout fileaccess.Layout) error {
		_, err := fileaccess.NewEncryptedWriter(io.Discard, layout, right)
		return err
	}
	good := file(t, compressedInfo(fileaccess.Gzip), nil, pattern(100))
	end := len(good) - 4
	member := gzipMember(pattern(100))
	for _, c := range []struct {
		name   string
		err    error
		is     error
		offset int64
		text   string
	}{
		{"mode", read(put(good, modeAt, 4)), fileaccess.ErrMode, modeAt, "fileaccess: offset 4: unsupported compression mode: brotli"},
		{"block size", read(put(good, blockSizeAt, 0)), fileaccess.ErrDamaged, blockSizeAt, "fileaccess: offset 8: damaged file: block size 0"},
		{"ratio", read(gcpf(fileaccess.Gzip, 1<<20, 1<<20-1, member[:20])), fileaccess.ErrDamaged, sizesAt + 4, "fileaccess: offset 20: damaged file: block 0: 1048575 bytes cannot be compressed to 20"},
		{"more content", read(gcpf(fileaccess.Gzip, 4096, 99, member)), fileaccess.ErrDamaged, sizesAt + 4, "fileaccess: offset 20: damaged file: block 0: more content than declared"},
		{"less content", read(gcpf(fileaccess.Gzip, 4096, 101, member)), fileaccess.ErrDamaged, sizesAt + 4, "fileaccess: offset 20: damaged file: block 0: less content than declared"},
		{"bytes after the content", read(gcpf(fileaccess.Gzip, 4096, 100, append(member[:len(member):len(member)], 0))), fileaccess.ErrDamaged, sizesAt + 4, "fileaccess: offset 20: damaged file: block 0: bytes after the compressed content"},
		{"end", read(append(good[:end:end], "GCPE"...)), fileaccess.ErrDamaged, int64(end), fmt.Sprintf("fileaccess: offset %d: damaged file: no GCPF after the last block", end)},
		{"truncated", read(good[:10]), io.ErrUnexpectedEOF, 10, "fileaccess: offset 10: unexpected EOF"},
		{"password", read(file(t, encryptedInfo(fileaccess.LayoutGodot4), right, pattern(100))), fileaccess.ErrPassword, 4, "fileaccess: offset 4: wrong password or damaged file"},
		{"writer's mode", compressed(5), fileaccess.ErrMode, 0, "fileaccess: offset 0: unsupported compression mode: mode 5"},
		{"writer's layout", encrypted(2), fileaccess.ErrLayout, 0, "fileaccess: offset 0: unknown layout: 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.EqualError(t, c.err, c.text)
			isAt(t, c.err, c.is, c.offset)
			for _, other := range []error{fileaccess.ErrDamaged, fileaccess.ErrPassword, fileaccess.ErrMode, fileaccess.ErrLayout, fileaccess.ErrLimit} {
				require.Equal(t, other == c.is, errors.Is(c.err, other), other)
			}
		})
	}
}

// Errors that have no position.
func TestErrorsOfCalls(t *testing.T) {
	require.EqualError(t, fileaccess.ErrNoKey, "fileaccess: an encrypted file needs a password or key")
	require.EqualError(t, fileaccess.ErrClosed, "fileaccess: write after Close")
}
