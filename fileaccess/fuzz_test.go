package fileaccess_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/fileaccess"
)

// small contains limits so that no input takes long.
var small = fileaccess.Limits{Size: 1 << 20, BlockSize: 1 << 16, Blocks: 1 << 12}

// mostBlocks is the maximum number of blocks to write, because some encoders take long for
// each.
const mostBlocks = 50

// Any compressed file is an Error with an offset inside it, or has content of the declared
// length, which can be written to a file with the same content.
func FuzzCompressed(f *testing.F) {
	for _, v := range vectors(f) {
		if v.info.Container == fileaccess.Compressed {
			f.Add(v.data[4:])
		}
	}
	f.Add(gcpf(fileaccess.FastLZ, 1<<16, 70_000, encodeLevel2(make([]byte, 1<<16), nil), encodeLevel2(pattern(70_000-1<<16), nil))[4:])
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append([]byte("GCPF"), data...)
		checkFile(t, data, &fileaccess.Options{Limits: small})
	})
}

// Any encrypted file is an Error with an offset inside it, or has content of the declared
// length and MD5, which can be written to a file with the same content.
func FuzzEncrypted(f *testing.F) {
	for _, v := range vectors(f) {
		if v.info.Container == fileaccess.Encrypted {
			f.Add(v.data[4:], v.key[:], int64(0))
		}
	}
	for _, layout := range bothLayouts {
		f.Add(file(f, encryptedInfo(layout), right, pattern(1000))[4:], right[:], int64(100))
	}
	f.Fuzz(func(t *testing.T, data, key []byte, buffered int64) {
		data = append([]byte("GDEC"), data...)
		o := &fileaccess.Options{Key: new(fileaccess.Key), Limits: small, MaxBuffered: buffered}
		copy(o.Key[:], key)
		checkFile(t, data, o)
	})
}

// checkFile reads data in several ways, which must have the same result.
func checkFile(t *testing.T, data []byte, o *fileaccess.Options) {
	content, info, err := readAll(bytes.NewReader(data), o)
	stream, streamed, streamErr := readAll(deliveries["single byte"](data), o)
	if err != nil {
		var e *fileaccess.Error
		require.True(t, errors.As(err, &e), "%v", err)
		require.GreaterOrEqual(t, e.Offset, int64(4))
		require.LessOrEqual(t, e.Offset, int64(len(data)))
		if bytes.HasPrefix(data, []byte("GDEC")) {
			require.Empty(t, content)
			return // an MD5 like Godot 3's version is read otherwise without seeking
		}
		require.Equal(t, err, streamErr)
		return
	}
	if !bytes.HasPrefix(data, []byte("GDEC\x01\x00\x00\x00")) {
		require.NoError(t, streamErr)
		require.Equal(t, content, stream)
		streamed.Verified = info.Verified
		require.Equal(t, info, streamed)
	}
	require.Equal(t, info.Size, int64(len(content)))
	if info.Container == fileaccess.Compressed && len(content)/info.BlockSize > mostBlocks {
		return
	}

	again, info2 := must2(readAll(bytes.NewReader(file(t, info, o.Key, content)), o))(t)
	require.Equal(t, content, again)
	require.Equal(t, info, info2)
}

// Any content is encoded at levels 1 and 2 and decoded again. Any input is decoded within
// its bounds or is an error.
func FuzzFastLZ(f *testing.F) {
	for _, content := range contents() {
		f.Add(content, uint64(1))
	}
	for _, v := range vectors(f) {
		if v.info.Container == fileaccess.Compressed && v.info.Mode == fileaccess.FastLZ {
			f.Add(v.data[20:], uint64(2))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		dst := make([]byte, 1<<16)
		n, err := fileaccess.FastLZDecode(dst, b)
		if err == nil && n > len(b)*fileaccess.FastLZRatio {
			t.Fatalf("%d bytes of %d", n, len(b))
		}
		if len(b) == 0 {
			return
		}
		checkFastLZ(t, encodeLevel2(b, rand.New(rand.NewPCG(seed, 0))), b)
		if len(b) >= 16 {
			checkFastLZ(t, fileaccess.FastLZEncode(b), b)
		}
	})
}

// The reader returns the bytes that a writer was given in any pieces.
func FuzzWriter(f *testing.F) {
	for i := range byte(6) {
		f.Add(pattern(10_000), uint16(100), uint16(33), i)
	}
	f.Fuzz(func(t *testing.T, content []byte, blockSize, piece uint16, kind byte) {
		info := compressedInfo(modes[kind%4])
		info.BlockSize = max(int(blockSize), len(content)/mostBlocks)
		if kind%6 > 3 {
			info = encryptedInfo(bothLayouts[kind%2])
		}
		var b bytes.Buffer
		w := must(fileaccess.NewWriter(&b, info, right))(t)
		for left := content; len(left) > 0; {
			n := min(len(left), 1+int(piece))
			must(w.Write(left[:n]))(t)
			left = left[n:]
		}
		require.NoError(t, w.Close())
		got, _ := must2(readAll(io.Reader(&b), &fileaccess.Options{Key: right}))(t)
		require.True(t, bytes.Equal(content, got))
	})
}

// Any stream of any mode is an Error with an offset inside it, or has content within the limit, which can be
// compressed again.
func FuzzDecompress(f *testing.F) {
	for _, v := range compressedVectors(f) {
		if v.Size < 4000 {
			f.Add(v.Compressed, byte(modeNamed(f, v.Mode)), int32(0))
		}
	}
	f.Add(encodeLevel2(make([]byte, 1<<16), nil), byte(fileaccess.FastLZ), int32(1<<16-1))
	f.Fuzz(func(t *testing.T, data []byte, m byte, most int32) {
		mode := modes[m%4]
		limit := int64(uint32(most)%(1<<21)) + 1
		content, err := fileaccess.Decompress(nil, data, mode, limit)
		o := raw(mode)
		o.Limits.Size = limit
		streamed, _, streamErr := readAll(deliveries["single byte"](data), o)
		if err != nil {
			var e *fileaccess.Error
			require.True(t, errors.As(err, &e), "%v", err)
			require.GreaterOrEqual(t, e.Offset, int64(0))
			require.LessOrEqual(t, e.Offset, int64(len(data)))
			require.Error(t, streamErr)
			require.Empty(t, content)
			return
		}
		require.NoError(t, streamErr)
		require.True(t, bytes.Equal(content, streamed))
		require.LessOrEqual(t, int64(len(content)), limit)
		packed := must(fileaccess.Compress(nil, content, mode))(t)
		if len(content) > 0 {
			require.True(t, isFilled(mode, content, must(fileaccess.Decompress(nil, packed, mode, max(limit, 16)))(t)))
		}
	})
}
