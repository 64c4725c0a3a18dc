package interop

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"maps"
	"slices"
)

// project and scene make main.gd the script of the only node of a program.
const (
	project = `config_version=5
[application]
run/main_scene="res://main.tscn"
[rendering]
renderer/rendering_method="gl_compatibility"
`
	scene = `[gd_scene load_steps=2 format=3]
[ext_resource type="Script" path="res://main.gd" id="1"]
[node name="Main" type="Node"]
script = ExtResource("1")
`
)

// pack returns a .pck file, the engine's archive format, that contains files.
func pack(files map[string][]byte) []byte {
	const fixed = 4 + 5*4 + 8 + 16*4 + 4 // header and number of files
	names := slices.Sorted(maps.Keys(files))
	padded := func(name string) int { return (len(name) + 3) &^ 3 }
	offset := fixed
	for _, name := range names {
		offset += 4 + padded(name) + 8 + 8 + md5.Size + 4
	}
	le := binary.LittleEndian
	b := []byte("GDPC")
	for _, v := range []uint32{2, 4, 6, 0, 0} { // format, version of the engine, flags
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint64(b, 0) // file base: offsets count from the start
	b = append(b, make([]byte, 16*4)...)
	b = le.AppendUint32(b, uint32(len(names)))
	for _, name := range names {
		b = le.AppendUint32(b, uint32(padded(name)))
		b = append(b, name...)
		b = append(b, make([]byte, padded(name)-len(name))...)
		b = le.AppendUint64(b, uint64(offset))
		b = le.AppendUint64(b, uint64(len(files[name])))
		sum := md5.Sum(files[name])
		b = append(b, sum[:]...)
		b = le.AppendUint32(b, 0) // flags
		offset += len(files[name])
	}
	var content bytes.Buffer
	for _, name := range names {
		content.Write(files[name])
	}
	return append(b, content.Bytes()...)
}
