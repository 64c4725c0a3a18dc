package conformance

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/suite"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/stream"
	"github.com/stretchr/testify/require"
)

// streams returns the lines of framing.jsonl.
func (b *suiteBuilder) streams() (all []suite.Stream) {
	for _, s := range []struct {
		kind, rules, frame string
		packets            string // in hex, after their lengths; - is a packet without bytes
		hex                string // if it is not that
		verdict            string
	}{
		{kind: "two packets", rules: "F1", packets: "0200000001000000 00000000"},
		{kind: "big-endian lengths", rules: "F2", frame: "u32be", packets: "0200000001000000 050000000000803f00000040"},
		{kind: "bytes after the value", rules: "F3", packets: "0200000001000000ff 0100000001000000"},
		{kind: "length 0", rules: "F4", packets: "0200000001000000 - 0200000002000000"},
		{kind: "negative length", rules: "F5", packets: "00000000", hex: "0400000000000000 ffffffff 00000000", verdict: suite.Invalid},
		{kind: "length past the end", rules: "F5", packets: "00000000", hex: "0400000000000000 08000000 02000000", verdict: suite.Invalid},
		{kind: "length that ends early", rules: "F5", packets: "00000000", hex: "0400000000000000 0400", verdict: suite.Invalid},
	} {
		line := suite.Stream{
			ID: fmt.Sprintf("f-%04d", len(all)+1), Kind: s.kind, Rules: strings.Fields(s.rules), Formats: []string{"godot4"},
			Frame: "u32", Verdict: suite.Valid, Packets: []suite.Hex{},
		}
		if s.frame != "" {
			line.Frame = s.frame
		}
		if s.verdict != "" {
			line.Verdict = s.verdict
		}
		for _, packet := range strings.Fields(s.packets) {
			p := []byte{}
			if packet != "-" {
				p = model.Build(b.t, gdwire.Godot4, packet)
			}
			line.Packets = append(line.Packets, p)
			if line.Frame == "u32be" {
				line.Hex = append(line.Hex, 0, 0, 0, byte(len(p)))
			} else {
				line.Hex = append(line.Hex, byte(len(p)), 0, 0, 0)
			}
			line.Hex = append(line.Hex, p...)
		}
		if s.hex != "" {
			line.Hex = model.Build(b.t, gdwire.Godot4, s.hex)
		}
		all = append(all, line)
	}
	for _, e := range model.Singles {
		for _, name := range []string{"put_var.bin", "store_var.bin"} {
			data, err := os.ReadFile(model.Testdata(e.Folder, name))
			if err != nil {
				continue
			}
			line := suite.Stream{ID: fmt.Sprintf("f-%04d", len(all)+1), Kind: "written by " + e.Name, Rules: []string{"F1"}, Formats: []string{e.Format.String()},
				Frame: "u32", File: "testdata/" + e.Folder + "/" + name, Verdict: suite.Valid}
			for len(data) > 0 {
				n := le.Uint32(data)
				line.Packets = append(line.Packets, data[4:4+n])
				data = data[4+n:]
			}
			all = append(all, line)
		}
	}
	return all
}

// TestSuiteStreams: a Reader returns the packets of framing.jsonl.
func TestSuiteStreams(t *testing.T) {
	all, err := suite.Streams()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, s := range all {
		t.Run(s.ID, func(t *testing.T) {
			data := []byte(s.Hex)
			if s.File != "" {
				data, err = os.ReadFile(filepath.Join("../../..", s.File))
				require.NoError(t, err)
			}
			r := stream.NewReader(bytes.NewReader(data), &stream.Options{Format: formatNamed(t, s.Formats[0]), BigEndianLength: s.Frame == "u32be"})
			for _, want := range s.Packets {
				got, err := r.NextRaw(nil)
				if len(want) == 0 {
					require.True(t, stream.Skippable(err))
					continue
				}
				require.NoError(t, err)
				require.Equal(t, []byte(want), append([]byte{}, got...))
			}
			_, err = r.NextRaw(nil)
			if s.Verdict == suite.Valid {
				require.Equal(t, io.EOF, err)
			} else {
				require.Error(t, err)
				require.NotEqual(t, io.EOF, err)
			}
		})
	}
}

// suiteFiles returns the lines of files.jsonl, which describe testdata/containers.
func suiteFiles(t *testing.T) (all []suite.File) {
	for _, engine := range []string{"3.2.3", "4.6"} {
		folder := "testdata/containers/godot" + engine
		files, err := os.ReadDir(filepath.Join("../../..", folder))
		require.NoError(t, err)
		for _, file := range files {
			f := suite.File{ID: fmt.Sprintf("k-%04d", len(all)+1), File: folder + "/" + file.Name(), Engine: engine, Container: "plain"}
			words := strings.Split(file.Name(), "_")
			switch {
			case words[1] == "encrypted":
				f.Container = "GDEC"
				f.Rules = []string{map[string]string{"3.2.3": "K6", "4.6": "K5"}[engine], "K8"}
				switch words[len(words)-1] {
				case "hunter2":
					f.Password = "hunter2"
					f.Rules = append(f.Rules, "K7")
				case "umlaut":
					f.Password = "pässwörd"
					f.Rules = append(f.Rules, "K7")
				default:
					for i := range byte(32) {
						f.Key = append(f.Key, i)
					}
				}
			case words[1] != "plain":
				f.Container, f.Mode, f.Rules = "GCPF", words[1], []string{"K1", "K2"}
				if f.Mode == "fastlz" {
					f.Rules = append(f.Rules, "K3")
				}
			default:
				f.Rules = []string{"F1"}
			}
			content, err := openSuiteFile(t, &f)
			require.NoError(t, err, f.File)
			sum := md5.Sum(content)
			f.Size, f.MD5 = len(content), sum[:]
			if f.Mode == "fastlz" && f.Size%4096 < 16 {
				f.Rules = append(f.Rules, "K4")
			}
			all = append(all, f)
		}
	}
	all = append(all, wrongPasswords(t, all)...)
	written, err := suite.Files()
	require.NoError(t, err)
	for _, f := range written {
		if f.Container == "raw" { // recorded once
			content, err := openSuiteFile(t, &f)
			require.NoError(t, err, f.ID)
			require.True(t, f.Has(content), f.ID)
			all = append(all, f)
		}
	}
	return all
}

// wrongPasswords returns lines with passwords that do not open a file.
func wrongPasswords(t *testing.T, files []suite.File) (all []suite.File) {
	for _, f := range files {
		if filepath.Base(f.File) != "save_encrypted_pass_hunter2" {
			continue
		}
		f.ID, f.Password, f.Verdict = fmt.Sprintf("k-%04d", len(files)+len(all)+1), "hunter3", suite.Invalid
		_, err := openSuiteFile(t, &f)
		require.ErrorIs(t, err, fileaccess.ErrPassword)
		all = append(all, f)
	}
	return all
}

// openSuiteFile returns the content of a file.
func openSuiteFile(t *testing.T, f *suite.File) ([]byte, error) {
	var data []byte
	if f.Container == "raw" { // the only block of a file
		mode := slices.Index([]string{"fastlz", "deflate", "zstd", "gzip"}, f.Mode)
		data = []byte("GCPF")
		for _, n := range []int{mode, 4096, f.Size, len(f.Hex)} {
			data = le.AppendUint32(data, uint32(n))
		}
		data = append(append(data, f.Hex...), "GCPF"...)
	} else {
		var err error
		data, err = os.ReadFile(filepath.Join("../../..", f.File))
		require.NoError(t, err)
	}
	o := fileaccess.Options{}
	switch {
	case f.Password != "":
		o.Key = fileaccess.PasswordKey(f.Password)
	case f.Key != nil:
		key := fileaccess.Key(f.Key)
		o.Key = &key
	}
	r, err := fileaccess.NewReader(bytes.NewReader(data), &o)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
