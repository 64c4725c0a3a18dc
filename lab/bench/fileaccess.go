package main

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/klauspost/compress/zstd"
)

// compressedGroup compares reading a saved game in a compressed file with the zstd
// package on the blocks alone.
var compressedGroup = group{
	name: "compressed file, zstd",
	setup: func(*stage) []contender {
		var (
			doc    = game()
			file   = compress(doc.godot)
			blocks = blocksOf(file)
			buf    = make([]byte, 32<<10)
			d      = must(zstd.NewReader(nil))
		)
		return []contender{
			peer("klauspost/compress DecodeAll", len(doc.godot), len(doc.godot), func() (n int) {
				for _, block := range blocks {
					n += len(must(d.DecodeAll(block, buf[:0])))
				}
				return n
			}),
			ours("gdwire fileaccess", len(doc.godot), len(doc.godot), func() (n int) {
				r := must(fileaccess.NewReader(struct{ io.Reader }{bytes.NewReader(file)}, nil))
				for {
					m, err := r.Read(buf)
					n += m
					if err == io.EOF {
						return n
					}
					check(err)
				}
			}).allocating(),
		}
	},
}

// compress returns a compressed file.
func compress(content []byte) []byte {
	var b bytes.Buffer
	w := must(fileaccess.NewCompressedWriter(&b, fileaccess.Zstd, 0))
	must(w.Write(content))
	check(w.Close())
	return b.Bytes()
}

// blocksOf returns the compressed blocks of a file.
func blocksOf(file []byte) (blocks [][]byte) {
	n := int(binary.LittleEndian.Uint32(file[12:])/binary.LittleEndian.Uint32(file[8:])) + 1
	sizes, data := file[16:], file[16+4*n:]
	for ; n > 0; n-- {
		size := binary.LittleEndian.Uint32(sizes)
		blocks = append(blocks, data[:size])
		sizes, data = sizes[4:], data[size:]
	}
	return blocks
}
