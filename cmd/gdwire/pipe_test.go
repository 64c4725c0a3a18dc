package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/fileaccess"
)

// eachWrapped calls f with a sample of the vectors, as a bare value and as two packets, in
// no container, compressed and encrypted.
func eachWrapped(t *testing.T, key *fileaccess.Key, f func(name string, content []byte)) {
	infos := []fileaccess.Info{
		{Container: fileaccess.Compressed, Mode: fileaccess.Zstd},
		{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot4},
		{Container: fileaccess.Encrypted, Layout: fileaccess.LayoutGodot3},
	}
	step := 9
	if !full() {
		step = 60
	}
	for folder := range engines {
		for i, v := range vectors(t, folder) {
			if i%step > 0 {
				continue
			}
			b := []byte(v.Hex)
			for frame, content := range map[string][]byte{"none": b, "u32": framed(b, b), "u32be": framedBig(b, b)} {
				name := strings.Join([]string{folder, v.Name, frame}, " ")
				f(name, content)
				for _, info := range infos {
					var w bytes.Buffer
					c := must(fileaccess.NewWriter(&w, info, key))(t)
					_, err := c.Write(content)
					require.NoError(t, err)
					require.NoError(t, c.Close())
					f(name+open.ContainerText(&info), w.Bytes())
				}
			}
		}
	}
}

// TestPipes: of a pipe that delivers single bytes, commands print what they print of the
// file. A bare value that begins like a packet can be recognized as one, because a pipe is
// recognized after its first packet; then they say that this is only probable.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	file, password := filepath.Join(dir, "file"), filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(password, []byte("hunter2"), 0o600))
	runs, unsure := 0, 0
	eachWrapped(t, fileaccess.PasswordKey("hunter2"), func(name string, content []byte) {
		require.NoError(t, os.WriteFile(file, content, 0o600))
		for _, command := range []string{"json", "tokens", "flat", "check -json"} {
			args := append(strings.Fields(command), "-password-file", password)
			var want, wantErrs, got, gotErrs bytes.Buffer
			wantStatus := run(append(args, file), nil, &want, &wantErrs)
			gotStatus := run(args, iotest.OneByteReader(bytes.NewReader(content)), &got, &gotErrs)
			if runs++; got.String() == want.String() && gotStatus == wantStatus {
				continue
			}
			require.Regexp(t, "standard input is probably", gotErrs.String(), "%s of %s: status %d, not %d\n%s", command, name, gotStatus, wantStatus, wantErrs.String())
			t.Logf("%s of %s: %s", command, name, gotErrs.String())
			unsure++
		}
	})
	t.Log(runs, "runs,", unsure, "different but not sure")
	require.LessOrEqual(t, unsure, runs/200)
}
