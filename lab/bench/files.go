package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/variant"
	"github.com/klauspost/compress/zstd"
)

// fileGroup copies one huge array from file to file. All contenders use a buffer
// of the same size and no shortcuts of the operating system.
var fileGroup = group{
	name: "1 GiB from file to file",
	setup: func(s *stage) []contender {
		var (
			size     = s.scale(1<<30, 1<<20)
			src, dst = tempFile(s), tempFile(s)
			total    = headSize + size
			d        = gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Limits: gdwire.Limits{PackedBytes: -1}})
			e        = gdwire.NewEncoder(nil, nil)
			buf      = make([]byte, gdwire.DefaultMaxChunk)
			out      = &drain{}
			to       = io.MultiWriter(dst, out) // no shortcut of a file
		)
		e.Reset(src)
		check(e.BeginPacked(gdwire.TypePackedByteArray, int64(size)))
		for left := size; left > 0; left -= len(buf) {
			must(e.Write(buf[:min(left, len(buf))]))
		}
		check(e.End())
		check(e.Close())

		var in io.Reader = struct{ io.Reader }{src}
		contend := func(name string, ours bool, run func()) contender {
			return contender{name: name, ours: ours, bytes: total, want: total, run: func() int {
				must(src.Seek(0, io.SeekStart))
				must(dst.Seek(0, io.SeekStart))
				out.n = 0
				d.Reset(in)
				e.Reset(to)
				run()
				check(e.Flush())
				return out.n
			}}
		}
		return []contender{
			contend("gdwire Payload to Write", true, func() {
				check(e.WriteToken(must(d.ReadToken())))
				must(io.Copy(e, d.Payload()))
				check(e.End())
			}),
			contend("gdwire chunks", true, func() {
				for t := must(d.ReadToken()); ; t = must(d.ReadToken()) {
					check(e.WriteToken(t))
					if t.Kind() == gdwire.KindEnd {
						return
					}
				}
			}),
			contend("gdwire CopyValue", true, func() { check(gdwire.CopyValue(e, d)) }),
			contend("io.CopyBuffer", false, func() { must(io.CopyBuffer(to, in, buf)) }),
		}
	},
}

// saveGroup reads saved games: one of 10 KB into a tree of any, and of one of 1 MB what Open recognizes.
var saveGroup = group{
	name:    "savefile",
	counted: true,
	setup: func(s *stage) []contender {
		contend := func(name string, units int, read func(name string) error) contender {
			f, b := tempFile(s), must(variant.Marshal(saveOf(units)))
			must(f.Write(b))
			return contender{name: name, bytes: len(b), run: func() int {
				check(read(f.Name()))
				return 0
			}}.allocating()
		}
		return []contender{
			contend("gdwire Load", 63, func(name string) error { return savefile.Load(name, new(any)) }),
			contend("gdwire Open, 1 MB", 6100, func(name string) error { return must(savefile.Open(name, nil)).Close() }),
		}
	},
}

// saveOf returns a saved game with a number of units.
func saveOf(units int) any {
	var all []any
	for i := range units {
		all = append(all, map[string]any{"name": fmt.Sprint("unit ", i), "hp": i % 100, "pos": []any{float64(i) / 3, 2.5}, "alive": i%2 == 0, "tools": []any{"axe", "rod"}})
	}
	return map[string]any{"units": all, "gold": 120, "name": "Ada"}
}

// tempFile creates a file in TMPDIR that is removed with the stage.
func tempFile(s *stage) *os.File {
	f := must(os.CreateTemp("", "gdwire-bench"))
	s.cleanup(func() {
		check(f.Close())
		remove(f.Name())
	})
	return f
}

// remove removes a temporary file. If that fails, the system removes it later.
func remove(path string) { _ = os.RemoveAll(path) }

// compressedGroup compares reading a saved game in a compressed file with the zstd
// package on the blocks alone.
var compressedGroup = group{
	name: "compressed file, zstd",
	setup: func(*stage) []contender {
		var (
			content = game().godot
			file    bytes.Buffer
			w       = must(fileaccess.NewCompressedWriter(&file, fileaccess.Zstd, 0))
			buf     = make([]byte, 32<<10)
			d       = must(zstd.NewReader(nil))
		)
		must(w.Write(content))
		check(w.Close())
		blocks := blocksOf(file.Bytes())
		return []contender{
			peer("klauspost/compress DecodeAll", len(content), len(content), func() (n int) {
				for _, block := range blocks {
					n += len(must(d.DecodeAll(block, buf[:0])))
				}
				return n
			}),
			ours("gdwire fileaccess", len(content), len(content), func() int {
				r := must(fileaccess.NewReader(struct{ io.Reader }{bytes.NewReader(file.Bytes())}, nil))
				var to drain
				must(io.CopyBuffer(&to, struct{ io.Reader }{r}, buf))
				return to.n
			}).allocating(),
		}
	},
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
