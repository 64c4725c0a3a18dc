package fileaccess_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// read returns the content of a compressed file, or of one that is encrypted with a password.
func read(name, password string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := fileaccess.NewReader(f, &fileaccess.Options{Key: fileaccess.PasswordKey(password)})
	if err != nil {
		return nil, err // fileaccess: wrong password or damaged file
	}
	return io.ReadAll(r)
}

// The content of a file is read, whatever its container.
func Example() {
	save, err := read("../testdata/containers/godot4.6/save_zstd", "")
	fmt.Println(len(save), err)
	text, err := read("../testdata/containers/godot4.6/text_encrypted_pass_umlaut", "pässwörd")
	fmt.Println(len(text), err)
	_, err = read("../testdata/containers/godot4.6/text_encrypted_pass_umlaut", "password")
	fmt.Println(err)
	// Output:
	// 316 <nil>
	// 16 <nil>
	// fileaccess: wrong password or damaged file
}

// A saved game is read from a compressed file that store_var wrote.
func ExampleNewReader() {
	f, err := os.Open("../testdata/containers/godot4.6/save_zstd")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	r, err := fileaccess.NewReader(f, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Info().Container, r.Info().Mode, r.Info().Size)

	d, err := stream.NewReader(r, nil).Next() // the first value
	if err != nil {
		log.Fatal(err)
	}
	var save struct {
		Name string
		HP   int `gd:"hp"`
	}
	if err := variant.UnmarshalDecode(d, &save); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", save)
	// Output:
	// compressed zstd 316
	// {Name:Ada HP:100}
}

// A file of open_encrypted_with_pass is read, with all possible errors.
func Example_encrypted() {
	open := func(password string) (string, error) {
		f, err := os.Open("../testdata/containers/godot4.6/text_encrypted_pass_umlaut")
		if err != nil {
			return "", err
		}
		defer f.Close()
		o := &fileaccess.Options{}
		if password != "" {
			o.Key = fileaccess.PasswordKey(password)
		}
		r, err := fileaccess.NewReader(f, o)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(r)
		return string(text), err
	}

	for _, password := range []string{"pässwörd", "password", ""} {
		text, err := open(password)
		var limit *fileaccess.LimitError
		switch {
		case errors.Is(err, fileaccess.ErrNoKey):
			fmt.Println("which password?")
		case errors.Is(err, fileaccess.ErrPassword):
			fmt.Println("another password, or the file is damaged")
		case errors.Is(err, io.ErrUnexpectedEOF):
			fmt.Println("the file was cut")
		case errors.As(err, &limit):
			fmt.Println("more than wanted:", limit.Got)
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Println(text)
		}
	}
	// Output:
	// exactly16bytes..
	// another password, or the file is damaged
	// which password?
}

// The content of a file is changed, and its container, mode or layout, and key are kept.
func ExampleNewWriter() {
	key := fileaccess.PasswordKey("pässwörd")
	old, err := os.ReadFile("../testdata/containers/godot3.2.3/text_encrypted_pass_umlaut")
	if err != nil {
		log.Fatal(err)
	}
	r, err := fileaccess.NewReader(bytes.NewReader(old), &fileaccess.Options{Key: key})
	if err != nil {
		log.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		log.Fatal(err)
	}

	var changed bytes.Buffer
	w, err := fileaccess.NewWriter(&changed, r.Info(), key)
	if err != nil {
		log.Fatal(err)
	}
	_, err = w.Write(bytes.ToUpper(text))
	if err := errors.Join(err, w.Close()); err != nil { // Close completes the file
		log.Fatal(err)
	}

	r, err = fileaccess.NewReader(&changed, &fileaccess.Options{Key: key})
	if err != nil {
		log.Fatal(err)
	}
	text, err = io.ReadAll(r)
	fmt.Printf("%v %v: %s, %v\n", r.Info().Container, r.Info().Layout, text, err)
	// Output: encrypted godot3: EXACTLY16BYTES.., <nil>
}

// A file is written for FileAccess.open_compressed.
func ExampleNewCompressedWriter() {
	var file bytes.Buffer
	w, err := fileaccess.NewCompressedWriter(&file, fileaccess.Zstd, 0)
	if err != nil {
		log.Fatal(err)
	}
	_, err = io.Copy(w, strings.NewReader(strings.Repeat("to be or not to be, ", 1000)))
	if err := errors.Join(err, w.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, 20000 bytes in less than 400: %t\n", file.Bytes()[:4], file.Len() < 400)
	// Output: GCPF, 20000 bytes in less than 400: true
}

// A file is written for FileAccess.open_encrypted_with_pass of Godot 4. Writing to a file
// needs constant memory for any size.
func ExampleNewEncryptedWriter() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "save.dat"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	w, err := fileaccess.NewEncryptedWriter(f, fileaccess.LayoutGodot4, fileaccess.PasswordKey("hunter2"))
	if err != nil {
		log.Fatal(err)
	}
	for range 1000 {
		if _, err := io.WriteString(w, "all work and no play\n"); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Size()) // 44 bytes of header, and full blocks of 16
	// Output: 21052
}

// Files of unknown origin are read with small limits.
func ExampleLimits() {
	// 20 bytes that declare 4 GiB.
	file := "GCPF\x02\x00\x00\x00\x00\x10\x00\x00\xff\xff\xff\xff\x09\x00\x00\x00"
	_, err := fileaccess.NewReader(strings.NewReader(file), &fileaccess.Options{Limits: fileaccess.Limits{Size: 1 << 20}})
	fmt.Println(err)
	// Output: fileaccess: offset 12: content of 4294967295 bytes exceeds limit Size (1048576)
}

// A state that a script compressed, var_to_bytes(state).compress(), is decompressed within a limit, and another is
// compressed for the script.
func ExampleDecompress() {
	var state struct {
		HP int `gd:"hp"`
	}
	read := func(stream []byte) error {
		content, err := fileaccess.Decompress(nil, stream, fileaccess.FastLZ, 1<<20)
		if err != nil {
			return err
		}
		d := gdwire.NewDecoder(bytes.NewReader(content), nil) // zeros can follow the value, if it is short
		defer d.Release()
		return variant.UnmarshalDecode(d, &state)
	}
	stream := []byte("\x1b\x1b\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00hp\x00\x00\x02\x00\x00\x00\x64\x00\x00\x00")
	fmt.Println(read(stream), state.HP)
	fmt.Println(read([]byte("\x00\x00\xff\xff\xff")))

	state.HP--
	content, err := variant.Marshal(state)
	if err != nil {
		log.Fatal(err)
	}
	stream, err = fileaccess.Compress(nil, content, fileaccess.FastLZ)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(read(stream), state.HP)
	// Output:
	// <nil> 100
	// fileaccess: offset 5: damaged file: fastlz: match before the start
	// <nil> 99
}
