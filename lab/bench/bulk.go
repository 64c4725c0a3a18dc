package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"reflect"
	"unsafe"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/variant"
)

// Packed arrays and files.

// bulkSizes are the sizes of packed arrays: an array larger than all caches, the
// same number of bytes in many small arrays, and a few small arrays that stay in
// the caches.
var bulkSizes = []struct {
	name    string
	size    int // of one array's elements
	arrays  int
	counted bool
}{
	{"64 MiB", 64 << 20, 1, false},
	{"4 KiB", 4 << 10, 16 << 10, false},
	{"4 KiB in cache", 4 << 10, 128, true},
}

// bulkGroups compare reading and writing packed arrays with copying memory.
func bulkGroups() []group {
	var all []group
	for _, b := range bulkSizes {
		add := func(name string, contenders func(size, arrays int) []contender) {
			all = append(all, group{name: name + b.name, counted: b.counted, setup: func(s *stage) []contender {
				return contenders(s.scale(b.size, min(b.size, 40<<10)), s.scale(b.arrays, 3))
			}})
		}
		add("ReadPacked, ", bulkReading)
		add("WritePacked, ", bulkWriting)
	}
	return all
}

// An element is an element type of packed arrays.
type element struct {
	name string
	typ  gdwire.Type
	size int
	read func(d *gdwire.Decoder, memory []byte) (int, error)
	// append reads a whole array in one call and returns the number of elements.
	append func(d *gdwire.Decoder, memory []byte) (int, error)
	write  func(e *gdwire.Encoder, memory []byte) error
}

var elements = []element{
	elementOf[float32](gdwire.TypePackedFloat32Array),
	elementOf[int32](gdwire.TypePackedInt32Array),
	elementOf[int64](gdwire.TypePackedInt64Array),
	elementOf[float64](gdwire.TypePackedFloat64Array),
	elementOf[[3]float32](gdwire.TypePackedVector3Array),
}

func elementOf[T gdwire.Packable](typ gdwire.Type) element {
	return element{
		reflect.TypeFor[T]().String(), typ, int(unsafe.Sizeof(*new(T))),
		func(d *gdwire.Decoder, memory []byte) (int, error) { return gdwire.ReadPacked(d, sliceOf[T](memory)) },
		func(d *gdwire.Decoder, memory []byte) (int, error) {
			all, err := gdwire.AppendPacked(d, sliceOf[T](memory)[:0])
			return len(all), err
		},
		func(e *gdwire.Encoder, memory []byte) error { return gdwire.WritePacked(e, sliceOf[T](memory)) },
	}
}

// sliceOf returns memory as a slice of T, so that all contenders use the same
// memory.
func sliceOf[T any](memory []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/int(unsafe.Sizeof(*new(T))))
}

// newMemory returns n bytes of initialized memory, aligned for every type.
func newMemory(n int) []byte {
	words := make([]uint64, (n+7)/8)
	for i := range words {
		words[i] = uint64(i)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))[:n]
}

// headSize is the size of the header and count.
const headSize = 8

// A memoryWriter copies into b.
type memoryWriter struct {
	b []byte
	n int
}

func (w *memoryWriter) Write(p []byte) (int, error) {
	if len(w.b)-w.n < len(p) {
		return 0, io.ErrShortBuffer
	}
	w.n += copy(w.b[w.n:], p)
	return len(p), nil
}

func bulkReading(size, arrays int) []contender {
	var (
		one  = headSize + size
		wire = newMemory(one * arrays)
		dst  = newMemory(one)
		p    = &plain{}
		d    = gdwire.NewDecoder(nil, nil)
		all  []contender
		last = -1 // the index of the element type of the arrays' heads
	)
	for e, el := range elements {
		n := size / el.size
		used := headSize + n*el.size // a whole number of elements
		head := bytesOf(func(e *gdwire.Encoder) {
			check(e.BeginPacked(el.typ, int64(n)))
			check(el.write(e, dst[:n*el.size]))
			check(e.End())
		})[:headSize]
		contend := func(suffix string, run func() (got int)) {
			all = append(all, ours("gdwire "+el.name+suffix, used*arrays, n*arrays, func() int {
				for i := 0; last != e && i < arrays; i++ { // the first run of a slot writes the heads
					copy(wire[i*used:], head)
				}
				last = e
				return run()
			}))
		}
		whole := func() (got int) {
			must(d.ReadToken())
			got = must(el.read(d, dst[:size]))
			must(d.ReadToken()) // End
			return got
		}
		contend("", func() (got int) {
			p.r.Reset(wire[:used*arrays])
			d.Reset(p)
			for range arrays {
				got += whole()
			}
			return got
		})
		contend(", bytes", func() (got int) {
			for i := range arrays {
				d.ResetBytes(wire[i*used:][:used])
				got += whole()
			}
			return got
		})
		contend(", one call", func() (got int) {
			for i := range arrays {
				d.ResetBytes(wire[i*used:][:used])
				got += must(el.append(d, dst[:size]))
			}
			return got
		})
	}
	return append(all, peer("io.ReadFull", len(wire), len(wire), func() int {
		p.r.Reset(wire)
		got := 0
		for range arrays {
			got += must(io.ReadFull(p, dst))
		}
		return got
	}))
}

func bulkWriting(size, arrays int) []contender {
	var (
		one = headSize + size
		src = newMemory(one)
		to  = memoryWriter{b: newMemory(one * arrays)}
		e   = gdwire.NewEncoder(nil, nil)
		all []contender
	)
	for _, el := range elements {
		n := size / el.size
		used := headSize + n*el.size
		all = append(all, ours("gdwire "+el.name, used*arrays, used*arrays, func() int {
			to.n = 0
			e.Reset(&to)
			for range arrays {
				check(e.BeginPacked(el.typ, int64(n)))
				check(el.write(e, src[:n*el.size]))
				check(e.End())
			}
			check(e.Flush())
			return to.n
		}))
	}
	return append(all, peer("Write", len(to.b), len(to.b), func() int {
		to.n = 0
		for range arrays {
			must(to.Write(src))
		}
		return to.n
	}))
}

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
		again := func(work func()) func() int {
			return func() int {
				must(src.Seek(0, io.SeekStart))
				must(dst.Seek(0, io.SeekStart))
				out.n = 0
				d.Reset(in)
				e.Reset(to)
				work()
				check(e.Flush())
				return out.n
			}
		}
		return []contender{
			ours("gdwire CopyValue", total, total, again(func() { check(gdwire.CopyValue(e, d)) })),
			peer("io.CopyBuffer", total, total, again(func() { must(io.CopyBuffer(to, in, buf)) })),
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

// compressedGroup reads a saved game in a compressed file.
var compressedGroup = group{
	name: "compressed file, zstd",
	setup: func(*stage) []contender {
		var (
			content = game().godot
			file    bytes.Buffer
			w       = must(fileaccess.NewCompressedWriter(&file, fileaccess.Zstd, 0))
			buf     = make([]byte, 32<<10)
		)
		must(w.Write(content))
		check(w.Close())
		return []contender{
			ours("gdwire fileaccess", len(content), len(content), func() int {
				r := must(fileaccess.NewReader(struct{ io.Reader }{bytes.NewReader(file.Bytes())}, nil))
				var to drain
				must(io.CopyBuffer(&to, struct{ io.Reader }{r}, buf))
				return to.n
			}).allocating(),
		}
	},
}
