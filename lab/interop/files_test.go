package interop

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/variant"
)

// fileModes are the ways in which the engine writes a file.
func fileModes() map[any]struct {
	info fileaccess.Info
	key  *fileaccess.Key
} {
	key := new(fileaccess.Key)
	for i := range key {
		key[i] = byte(i)
	}
	compressed := func(m fileaccess.Mode) fileaccess.Info {
		return fileaccess.Info{Container: fileaccess.Compressed, Mode: m, BlockSize: 4096}
	}
	encrypted := fileaccess.Info{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot4}
	return map[any]struct {
		info fileaccess.Info
		key  *fileaccess.Key
	}{
		int64(0):  {compressed(fileaccess.FastLZ), nil},
		int64(1):  {compressed(fileaccess.Deflate), nil},
		int64(2):  {compressed(fileaccess.Zstd), nil},
		int64(3):  {compressed(fileaccess.Gzip), nil},
		"key":     {encrypted, key},
		"hunter2": {encrypted, fileaccess.PasswordKey("hunter2")},
	}
}

// fileContents returns contents of lengths just below, at and above multiples of a
// block.
func fileContents(r *rand.Rand) map[string][]byte {
	all := map[string][]byte{"text": []byte(strings.Repeat("the same text, ", 10_000))}
	for _, n := range []int{1, 15, 16, 17, 4095, 4096, 4097, 8192, 100_000} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(16)) // compresses a little
		}
		all[fmt.Sprintf("%d bytes", n)] = b
	}
	return all
}

// TestFiles exchanges files between the engine and fileaccess, in both directions and
// in every mode.
func TestFiles(t *testing.T) {
	t.Logf("-seed %d", *seed)
	contents := fileContents(rand.New(rand.NewPCG(*seed, 1)))
	files := 0
	must(browser.Run(t.Context(), Program{Files: scripts(t, "files.gd"), Socket: func(ctx context.Context, ws *websocket.Conn) error {
		for mode, m := range fileModes() {
			for name, content := range contents {
				files++
				if err := exchangeFile(ctx, ws, mode, m.info, m.key, content); err != nil {
					return fmt.Errorf("mode %v, %s: %w", mode, name, err)
				}
			}
		}
		return nil
	}}))(t)
	t.Log(files, "files each way")
}

// exchangeFile writes a file, lets the engine read it, and reads a file that the engine wrote.
func exchangeFile(ctx context.Context, ws *websocket.Conn, mode any, info fileaccess.Info, key *fileaccess.Key, content []byte) error {
	var file bytes.Buffer
	w, err := fileaccess.NewWriter(&file, info, key)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	message, err := variant.Marshal([]any{mode, content, file.Bytes()})
	if err != nil {
		return err
	}
	if err := ws.Write(ctx, websocket.MessageBinary, message); err != nil {
		return err
	}
	if _, message, err = ws.Read(ctx); err != nil {
		return err
	}
	var answer [][]byte
	if err := variant.Unmarshal(message, &answer); err != nil {
		return err
	}
	if !bytes.Equal(answer[1], content) {
		return fmt.Errorf("the engine read %d bytes, not the %d that were written", len(answer[1]), len(content))
	}
	r, err := fileaccess.NewReader(bytes.NewReader(answer[0]), &fileaccess.Options{Key: key})
	if err != nil {
		return err
	}
	got := r.Info()
	if got.Container != info.Container || got.Mode != info.Mode || got.BlockSize != info.BlockSize || got.Layout != info.Layout {
		return fmt.Errorf("the engine's file is %+v", got)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if !bytes.Equal(b, content) {
		return fmt.Errorf("the engine's file has %d other bytes", len(b))
	}
	return nil
}
