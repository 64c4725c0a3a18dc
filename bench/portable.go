package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// portable is the prefix of the names of groups measured without unsafe code.
const portable = "portable "

// portableGroup is measured by this command, built with the tag purego.
var portableGroup = group{
	name:    portable + "ReadPacked, WritePacked",
	measure: measurePortable,
}

// build builds the bench module in the folder bench.
func build(bench, command string, args ...string) error {
	cmd := exec.Command("go", slices.Concat([]string{"build", "-buildvcs=false"}, args, []string{"-o", command, "."})...)
	cmd.Dir = bench
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build in %s: %w\n%s", bench, err, out)
	}
	return nil
}

func measurePortable(o *options) ([]found, error) {
	dir, err := os.MkdirTemp("", "gdwire-bench")
	if err != nil {
		return nil, err
	}
	defer remove(dir)
	command := filepath.Join(dir, "bench")
	if err := build(".", command, "-tags=purego"); err != nil {
		return nil, err
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
