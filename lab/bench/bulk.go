package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
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
func bulkGroups() (all []group) {
	for _, b := range bulkSizes {
		add := func(name string, contenders func(b *bulk) []contender) {
			all = append(all, group{name: name + b.name, counted: b.counted, setup: func(s *stage) []contender {
				size, arrays := s.scale(b.size, min(b.size, 40<<10)), s.scale(b.arrays, 3)
				one := headSize + size
				return contenders(&bulk{size: size, arrays: arrays, wire: newMemory(one * arrays), memory: newMemory(one)})
			}})
		}
		add("ReadPacked, ", func(b *bulk) []contender {
			p := &plain{}
			return append(slices.Concat(
				bulkReading[float32](b, gdwire.TypePackedFloat32Array), bulkReading[int32](b, gdwire.TypePackedInt32Array),
				bulkReading[int64](b, gdwire.TypePackedInt64Array), bulkReading[float64](b, gdwire.TypePackedFloat64Array),
				bulkReading[[3]float32](b, gdwire.TypePackedVector3Array),
			), peer("io.ReadFull", len(b.wire), len(b.wire), func() (got int) {
				p.r.Reset(b.wire)
				for range b.arrays {
					got += must(io.ReadFull(p, b.memory))
				}
				return got
			}))
		})
		add("WritePacked, ", func(b *bulk) []contender {
			to := bytes.NewBuffer(b.wire)
			return []contender{
				bulkWriting[float32](b, gdwire.TypePackedFloat32Array), bulkWriting[int32](b, gdwire.TypePackedInt32Array),
				bulkWriting[int64](b, gdwire.TypePackedInt64Array), bulkWriting[float64](b, gdwire.TypePackedFloat64Array),
				bulkWriting[[3]float32](b, gdwire.TypePackedVector3Array),
				peer("Write", len(b.wire), len(b.wire), func() int {
					to.Reset()
					for range b.arrays {
						must(to.Write(b.memory))
					}
					return to.Len()
				}),
			}
		})
	}
	return all
}

// bulk is the memory that all contenders of a group share.
type bulk struct {
	size, arrays int    // of one array's elements in bytes; the number of arrays
	wire         []byte // all arrays, with heads
	memory       []byte // the elements of one array, or also its head
	heads        string // the elements for which heads are written
}

// headSize is the size of the header and count.
const headSize = 8

// newMemory returns n bytes of initialized memory, aligned for every type.
func newMemory(n int) []byte {
	words := make([]uint64, (n+7)/8)
	for i := range words {
		words[i] = uint64(i)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))[:n]
}

// bulkElements returns the memory of b as a slice of T, and the size of an encoded array.
func bulkElements[T any](b *bulk) (all []T, used int) {
	size := int(unsafe.Sizeof(*new(T)))
	n := b.size / size
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b.memory))), n), headSize + n*size
}

func bulkReading[T gdwire.Packable](b *bulk, typ gdwire.Type) (all []contender) {
	name := "gdwire " + reflect.TypeFor[T]().String()
	elements, used := bulkElements[T](b)
	head := bytesOf(func(e *gdwire.Encoder) { writeBulk(e, typ, elements) })[:headSize]
	d, p := gdwire.NewDecoder(nil, nil), &plain{}
	contend := func(suffix string, run func() (got int)) {
		all = append(all, ours(name+suffix, used*b.arrays, len(elements)*b.arrays, func() int {
			for i := 0; b.heads != name && i < b.arrays; i++ { // the first run of a slot writes the heads
				copy(b.wire[i*used:], head)
			}
			b.heads = name
			return run()
		}))
	}
	whole := func() (got int) {
		must(d.ReadToken())
		got = must(gdwire.ReadPacked(d, elements))
		must(d.ReadToken()) // End
		return got
	}
	each := func(read func() int) func() int {
		return func() (got int) {
			for i := range b.arrays {
				d.ResetBytes(b.wire[i*used:][:used])
				got += read()
			}
			return got
		}
	}
	contend("", func() (got int) {
		p.r.Reset(b.wire[:used*b.arrays])
		d.Reset(p)
		for range b.arrays {
			got += whole()
		}
		return got
	})
	contend(", bytes", each(whole))
	contend(", one call", each(func() int { return len(must(gdwire.AppendPacked(d, elements[:0]))) }))
	return all
}

func bulkWriting[T gdwire.Packable](b *bulk, typ gdwire.Type) contender {
	elements, used := bulkElements[T](b)
	to, e := bytes.NewBuffer(b.wire), gdwire.NewEncoder(nil, nil)
	return ours("gdwire "+reflect.TypeFor[T]().String(), used*b.arrays, used*b.arrays, func() int {
		to.Reset()
		e.Reset(to)
		for range b.arrays {
			writeBulk(e, typ, elements)
		}
		check(e.Flush())
		return to.Len()
	})
}

func writeBulk[T gdwire.Packable](e *gdwire.Encoder, typ gdwire.Type, elements []T) {
	check(e.BeginPacked(typ, int64(len(elements))))
	check(gdwire.WritePacked(e, elements))
	check(e.End())
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
		e.Reset(io.MultiWriter(src, dst)) // else the first contender pays for the pages of dst
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
		known := savefile.Options{Decoder: gdwire.DecoderOptions{Format: gdwire.Godot4}, Lengths: savefile.NoLengths}
		return []contender{
			contend("gdwire Load", 63, func(name string) error { return savefile.Load(name, new(any)) }),
			contend("gdwire Load, format and lengths given", 63, func(name string) error { return savefile.Load(name, new(any), known) }),
			contend("os.ReadFile and Unmarshal", 63, func(name string) error { return variant.Unmarshal(must(os.ReadFile(name)), new(any)) }),
			contend("gdwire Open, 1 MB", 6100, func(name string) error { return must(savefile.Open(name, nil)).Close() }),
		}
	},
}

// containerGroup decompresses a saved game of 1 MB with FastLZ.
var containerGroup = group{
	name:    "containers",
	counted: true,
	setup: func(*stage) []contender {
		b := must(variant.Marshal(saveOf(6100)))
		var blocks bytes.Buffer
		w := must(fileaccess.NewWriter(&blocks, fileaccess.Info{Container: fileaccess.Compressed}, nil))
		must(w.Write(b))
		check(w.Close())
		raw := must(fileaccess.Compress(nil, b, fileaccess.FastLZ))
		read := func(name string, in []byte, o *fileaccess.Options) contender {
			return contender{name: name, ours: true, bytes: len(b), want: len(b), run: func() int {
				return int(must(io.Copy(io.Discard, must(fileaccess.NewReader(bytes.NewReader(in), o)))))
			}}.allocating()
		}
		return []contender{
			read("gdwire FastLZ in blocks", blocks.Bytes(), nil),
			read("gdwire raw FastLZ", raw, &fileaccess.Options{Raw: true, Mode: fileaccess.FastLZ}),
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
