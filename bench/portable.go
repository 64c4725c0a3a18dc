package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// portable is the prefix of the names of groups measured without unsafe code.
const portable = "portable "

// portableGroup is measured by this command, built with the tag purego.
var portableGroup = group{
	name:    portable + "ReadPacked, WritePacked",
	measure: measurePortable,
}

func measurePortable(o *options) ([]found, error) {
	dir, err := os.MkdirTemp("", "gdwire-bench")
	if err != nil {
		return nil, err
	}
	defer remove(dir)
	command := filepath.Join(dir, "bench")
	if out, err := exec.Command("go", "build", "-tags", "purego", "-o", command, ".").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	child := exec.Command(command, "-run", "^(Read|Write)Packed, (64 MiB|4 KiB)$", "-json", "-",
		"-rounds", strconv.Itoa(o.rounds), "-slot", o.slot.String())
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return nil, fmt.Errorf("purego: %w", err)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, fmt.Errorf("purego: %w", err)
	}
	for i := range r.Groups {
		r.Groups[i].Name = portable + r.Groups[i].Name
	}
	return r.Groups, nil
}
