package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/fxamacker/cbor/v2"
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
			out      = &fileWriter{f: dst}
		)
		e.Reset(src)
		check(e.BeginPacked(gdwire.TypePackedByteArray, int64(size)))
		for left := size; left > 0; left -= len(buf) {
			must(e.Write(buf[:min(left, len(buf))]))
		}
		check(e.End())
		check(e.Close())

		contend := func(name string, ours bool, run func(r io.Reader, w io.Writer)) contender {
			var r io.Reader = struct{ io.Reader }{src}
			return contender{
				name: name, ours: ours, bytes: total, want: total,
				run: func() int {
					must(src.Seek(0, io.SeekStart))
					must(dst.Seek(0, io.SeekStart))
					out.n = 0
					run(r, out)
					return out.n
				},
			}
		}
		ours := func(name string, run func()) contender {
			return contend("gdwire "+name, true, func(r io.Reader, w io.Writer) {
				d.Reset(r)
				e.Reset(w)
				run()
				check(e.Flush())
			})
		}
		return []contender{
			ours("Payload to Write", func() {
				check(e.WriteToken(must(d.ReadToken())))
				must(io.Copy(e, d.Payload()))
				check(e.End())
			}),
			ours("chunks", func() {
				for {
					t := must(d.ReadToken())
					check(e.WriteToken(t))
					if t.Kind() == gdwire.KindEnd {
						return
					}
				}
			}),
			ours("CopyValue", func() { check(gdwire.CopyValue(e, d)) }),
			contend("io.CopyBuffer", false, func(r io.Reader, w io.Writer) { must(io.CopyBuffer(w, r, buf)) }),
		}
	},
}

// saveGroup reads saved games: one of 10 KB into a tree of any, and of one of 1 MB what Open recognizes.
var saveGroup = group{
	name:    "savefile",
	counted: true,
	setup: func(s *stage) []contender {
		const units, large = 63, 6100
		contend := func(name string, ours bool, units int, encode func(any) ([]byte, error), read func(name string, v any) error) contender {
			f, b := tempFile(s), must(encode(saveOf(units)))
			must(f.Write(b))
			c := contender{name: name, bytes: len(b), run: func() int {
				var v any
				check(read(f.Name(), &v))
				return 0
			}}
			if ours {
				c = c.allocating()
			}
			return c
		}
		whole := func(decode func([]byte, any) error) func(string, any) error {
			return func(name string, v any) error { return decode(must(os.ReadFile(name)), v) }
		}
		write := func(v any) ([]byte, error) { return variant.Marshal(v) }
		return []contender{
			contend("gdwire Load", true, units, write, func(name string, v any) error { return savefile.Load(name, v) }),
			contend("gdwire Open, 1 MB", true, large, write, func(name string, _ any) error {
				return must(savefile.Open(name, nil)).Close()
			}),
			contend("json Unmarshal", false, units, json.Marshal, whole(json.Unmarshal)),
			contend("cbor Unmarshal", false, units, cbor.Marshal, whole(cborDecoder.Unmarshal)),
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

// A fileWriter exposes only the Write method of a file, and counts bytes.
type fileWriter struct {
	f *os.File
	n int
}

func (w *fileWriter) Write(b []byte) (int, error) {
	n, err := w.f.Write(b)
	w.n += n
	return n, err
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
