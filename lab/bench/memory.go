package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/stream"
)

// A peak is the peak memory of a run of the command.
type peak struct {
	Name string  `json:"name"`
	MiB  float64 `json:"mib"`
}

// A stress is an input of more than 4 GiB for `gdwire check`.
type stress struct {
	name string
	args []string
	feed func(w io.Writer, size int64) error
}

var stresses = []stress{
	{"4 GiB of packets", []string{"-frame", "u32"}, feedPackets},
	{"a value of 4 GiB", []string{"-max-packed", "-1"}, feedValue},
}

// peaks runs the command on each stress. It must be called first: on Linux a
// process starts with the peak of its parent, so this process must be small, and
// all commands are started before their input is made.
func peaks(size int64) (all []peak, err error) {
	dir, err := os.MkdirTemp("", "gdwire-bench")
	if err != nil {
		return nil, err
	}
	defer remove(dir)
	command := filepath.Join(dir, "gdwire")
	build := exec.Command("go", "build", "-o", command, "./cmd/gdwire")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	var (
		children []*exec.Cmd
		pipes    []io.WriteCloser
		outs     []*bytes.Buffer
	)
	for _, s := range stresses {
		out := &bytes.Buffer{}
		child := exec.Command(command, append([]string{"check"}, s.args...)...)
		child.Stdout, child.Stderr = out, out
		in, err := child.StdinPipe()
		if err != nil {
			return nil, err
		}
		if err := child.Start(); err != nil {
			return nil, err
		}
		children, pipes, outs = append(children, child), append(pipes, in), append(outs, out)
	}
	for i, s := range stresses {
		fed := s.feed(pipes[i], size)
		if err := errors.Join(fed, pipes[i].Close(), children[i].Wait()); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", s.name, err, outs[i])
		}
		if n, ok := maxRSS(children[i].ProcessState); ok {
			all = append(all, peak{s.name, float64(n) / (1 << 20)})
		}
	}
	return all, nil
}

// feedPackets writes length-prefixed packets: thousands of small ones, and several
// MiB each of an array of bytes, an array of floats, a string and a tree.
func feedPackets(w io.Writer, size int64) error {
	var b bytes.Buffer
	packets := stream.NewWriter(&b, nil)
	write := func(f func(e *gdwire.Encoder)) {
		check(packets.WritePacket(func(e *gdwire.Encoder) error {
			f(e)
			return nil
		}))
	}
	small := smallPacket()
	doc := game()
	for range 5000 {
		write(small.writeGodot)
	}
	write(func(e *gdwire.Encoder) {
		check(e.BeginPacked(gdwire.TypePackedByteArray, 7<<20))
		must(e.Write(make([]byte, 7<<20)))
		check(e.End())
	})
	write(func(e *gdwire.Encoder) {
		check(e.BeginPacked(gdwire.TypePackedFloat32Array, 1<<20))
		check(gdwire.WritePacked(e, make([]float32, 1<<20)))
		check(e.End())
	})
	write(func(e *gdwire.Encoder) {
		check(e.WriteString(string(bytes.Repeat([]byte("text "), 1<<20))))
	})
	write(func(e *gdwire.Encoder) { doc.writeTimes(e, 3) })
	for ; size > 0; size -= int64(b.Len()) {
		if _, err := w.Write(b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// feedValue writes one value: an array of three packed arrays, because the count
// of one array cannot be that large.
func feedValue(w io.Writer, size int64) error {
	le := binary.LittleEndian
	n := size/3 + 4
	head := elements[0].head(int(n / 4))
	array := le.AppendUint32(nil, 28) // Array
	array = le.AppendUint32(array, 3)
	if _, err := w.Write(array); err != nil {
		return err
	}
	block := make([]byte, 64<<10)
	for range 3 {
		if _, err := w.Write(head); err != nil {
			return err
		}
		for left := n / 4 * 4; left > 0; left -= int64(len(block)) {
			if _, err := w.Write(block[:min(left, int64(len(block)))]); err != nil {
				return err
			}
		}
	}
	return nil
}
