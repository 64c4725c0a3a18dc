package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	child := options{rounds: o.rounds, slot: o.slot, run: regexp.MustCompile("^(Read|Write)Packed, (64 MiB|4 KiB)$")}
	r, err := child.measureBy(command, ".", os.Stderr)
	if err != nil {
		return nil, fmt.Errorf("purego: %w", err)
	}
	for i := range r.Groups {
		r.Groups[i].Name = portable + r.Groups[i].Name
	}
	return r.Groups, nil
}
