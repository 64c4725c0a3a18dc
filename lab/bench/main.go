// Command bench measures gdwire and its peers and prints whether
// each goal was met or missed. It is run in its own folder:
//
//	go run .                                  everything, as Markdown
//	go run . -run 'tokens|skip' -quick        some groups, imprecisely
//	go run . -json run.json -plot decode.svg  Markdown, JSON and a plot
//	go run . -layouts 3                       in three layouts
//	go run . count                            compare instructions with a commit's
//	go run . time                             compare times of some groups with a commit's
//	go run . publish                          measure what the documents show, and write it there
//	go run . graphs FILE.svg                  draw the graphs of examples/server, from a load of 500 bots
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// groups contains the groups in the order of the report.
var groups = slices.Concat(
	documentGroups,
	variantGroups,
	recordGroups,
	mapGroups,
	[]group{fieldGroup},
	textGroups,
	valueGrowthGroups(),
	[]group{typedGroup, smallGroup, growthGroup},
	packetGroups,
	serverGroups,
	clientGroups,
	bulkGroups(),
	[]group{portableGroup, fileGroup, arraysGroup, saveGroup, compressedGroup, engineGroup},
	sizeGroups(),
	gdjsonGroups,
)

// options are the values of the flags.
type options struct {
	rounds     int
	slot       time.Duration
	layouts    int
	run        *regexp.Regexp
	published  bool // measure only the contenders of publishedTimes
	json, plot string
}

// errUsage is returned for invalid flags after their error was printed.
var errUsage = errors.New("usage")

func main() {
	switch err := command(os.Args[1:]); {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// command runs the command that args name.
func command(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "count":
			o, err := parseCount(args[1:])
			if err != nil {
				return err
			}
			return o.count(os.Stdout, os.Stderr)
		case "time":
			o, err := parseTime(args[1:])
			if err != nil {
				return err
			}
			return o.compare(os.Stdout, os.Stderr)
		case "publish":
			o, err := parsePublish(args[1:])
			if err != nil {
				return err
			}
			return o.publish(os.Stdout, os.Stderr)
		case countingCommand:
			return counting(args[1:], os.Stdout)
		case graphsCommand:
			return graphs(args[1:])
		case clientsCommand:
			runClients(args[1:], os.Stdin, os.Stdout)
			return nil
		}
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	return o.bench(os.Stdout, os.Stderr)
}

func parse(args []string) (*options, error) {
	o := &options{run: regexp.MustCompile("")}
	quick := false
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.IntVar(&o.rounds, "rounds", 15, "rounds of each contender, at least 9")
	fs.DurationVar(&o.slot, "slot", 50*time.Millisecond, "time of each contender in a round")
	fs.IntVar(&o.layouts, "layouts", 0, "measure in `n` builds with random layouts, one after the other, and combine their rounds")
	fs.Func("run", "measure only groups whose name matches `regexp`; peak memory is \"memory\"", func(s string) (err error) {
		o.run, err = regexp.Compile(s)
		return err
	})
	fs.BoolVar(&o.published, "published", false, "measure only what bench publish does")
	fs.StringVar(&o.json, "json", "", "also write JSON to `file`; - writes it to standard output in place of the Markdown")
	fs.StringVar(&o.plot, "plot", "", "draw the time by packet size to `file.svg`")
	fs.BoolVar(&quick, "quick", false, "slots of 10 ms: imprecise")
	if err := fs.Parse(args); err != nil {
		return nil, errors.Join(errUsage, err) // which Parse printed
	}
	if quick {
		o.slot = 10 * time.Millisecond
	}
	if o.rounds < 9 || o.layouts < 0 || fs.NArg() > 0 {
		fmt.Fprintln(fs.Output(), "bench: at least 9 rounds, no negative number of layouts, and no arguments")
		fs.Usage()
		return nil, errUsage
	}
	return o, nil
}

// bench measures the chosen groups and writes the report.
func (o *options) bench(out, progress io.Writer) error {
	measure := o.measure
	if o.layouts > 0 {
		measure = o.measureLayouts
	}
	r, failed := measure(progress)
	if r == nil {
		return failed
	}
	r.Verdicts = judge(r, allGoals())
	return errors.Join(failed, o.write(r, out))
}

// measure measures the chosen groups in this process. The report contains the groups that could
// be measured, the error is about the others.
func (o *options) measure(progress io.Writer) (*report, error) {
	r := newReport()
	var failed error
	if o.run.MatchString("memory") {
		fmt.Fprintln(progress, "memory")
		var err error
		r.Peaks, err = peaks(4 << 30)
		failed = errors.Join(failed, err)
	}
	for _, g := range groups {
		if !o.run.MatchString(g.name) {
			continue
		}
		fmt.Fprintln(progress, g.name)
		if g.measure == nil {
			r.Groups = append(r.Groups, measure(g, o))
			continue
		}
		f, err := g.measure(o)
		failed = errors.Join(failed, err)
		r.Groups = append(r.Groups, f...)
	}
	return r, failed
}

// measureLayouts builds this command several times, each time with the functions in
// another random order, runs it and puts the rounds of the reports together.
func (o *options) measureLayouts(progress io.Writer) (*report, error) {
	dir, err := os.MkdirTemp("", "gdwire-bench")
	if err != nil {
		return nil, err
	}
	defer remove(dir)
	command := filepath.Join(dir, "bench")
	var all *report
	for i := 1; i <= o.layouts; i++ {
		fmt.Fprintf(progress, "layout %d of %d\n", i, o.layouts)
		if err := buildLayout(".", command, i); err != nil {
			return nil, err
		}
		r, err := o.measureBy(command, ".", progress)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = r
		} else if err := all.add(r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// buildLayout builds the bench module in the folder bench, with the functions in a random order
// that is the same for the same number.
func buildLayout(bench, command string, layout int) error {
	return build(bench, command, fmt.Sprintf("-ldflags=-randlayout=%d", layout))
}

// measureBy measures the chosen groups by a build of this command, in the folder bench.
func (o *options) measureBy(command, bench string, progress io.Writer) (*report, error) {
	args := []string{"-json", "-", "-run", o.run.String(), "-slot", o.slot.String(), "-rounds", strconv.Itoa(o.rounds)}
	if o.published {
		args = append(args, "-published")
	}
	cmd := exec.Command(command, args...)
	cmd.Dir, cmd.Stderr = bench, progress
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	r := new(report)
	if err := json.Unmarshal(out, r); err != nil {
		return nil, err
	}
	return r, nil
}

// write writes a report to all chosen outputs.
func (o *options) write(r *report, out io.Writer) error {
	if o.plot != "" {
		svg, err := r.draw()
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.plot, svg, 0o666); err != nil {
			return err
		}
	}
	switch o.json {
	case "":
	case "-":
		return r.json(out)
	default:
		f, err := os.Create(o.json)
		if err != nil {
			return err
		}
		if err := errors.Join(r.json(f), f.Close()); err != nil {
			return err
		}
	}
	return r.markdown(out)
}
