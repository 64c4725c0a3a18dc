// Command attacks decodes the inputs of internal/test/attacks and prints the
// table of the README with their costs. Each attack, with and without limits, runs in its own
// process, so that a crash or the memory limit ends only that attack.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/attacks"
)

const (
	memoryLimit = 8 << 30
	timeLimit   = time.Minute
)

// read reads r to its end and returns the error.
func read(a *attacks.Attack, r io.Reader, limits gdwire.Limits) error {
	o := &gdwire.DecoderOptions{AllowObjects: a.Objects, Limits: limits}
	if a.Format != "" {
		if err := o.Format.UnmarshalText([]byte(a.Format)); err != nil {
			return err
		}
	}
	d := gdwire.NewDecoder(r, o)
	defer d.Release()
	for {
		if _, err := d.ReadToken(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// An outcome is the result of an attack.
type outcome struct {
	Error     string
	Allocated uint64 // bytes in all
	PerByte   float64
	Died      string
}

func main() {
	log.SetFlags(0)
	all := flag.Bool("all", false, "run all attacks, not only the rows of the README")
	without := flag.Bool("unlimited", false, "decode without limits in this process")
	name := flag.String("attack", "", "the `attack` to run in this process")
	flag.Parse()
	if *name != "" {
		limits := gdwire.Limits{}
		if *without {
			limits = gdwire.NoLimits
		}
		for _, a := range attacks.All() {
			if a.Name == *name {
				must(json.NewEncoder(os.Stdout).Encode(measure(&a, limits)))
			}
		}
		return
	}
	fmt.Println("| input | bytes | result | allocated | ns a byte | without limits | others |")
	fmt.Println("|---|--:|---|--:|--:|--:|---|")
	for _, a := range attacks.All() {
		if a.Row == "" {
			if a.Row = a.Name; !*all {
				continue
			}
		}
		limited, unlimited := attack(&a, false), attack(&a, true)
		if !strings.Contains(limited.Error, a.Limited) || !strings.Contains(unlimited.Error, a.Unlimited) {
			log.Fatalf("%s: %q, without limits %q", a.Name, limited.Error, unlimited.Error)
		}
		fmt.Println(a.Cells(), limited.allocated(), "|", round(limited.PerByte), "|", unlimited.allocated(), "|", a.Others, "|")
	}
}

// attack runs an attack in its own process.
func attack(a *attacks.Attack, unlimited bool) (o outcome) {
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	self, err := os.Executable()
	must(err)
	c := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -v %d && exec "$0" "$@"`, memoryLimit>>10),
		self, fmt.Sprintf("-unlimited=%t", unlimited), "-attack", a.Name)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	switch {
	case ctx.Err() != nil:
		o.Died = fmt.Sprintf("no end in %v", timeLimit)
	case strings.Contains(said.String(), "out of memory"), strings.Contains(said.String(), "cannot allocate"):
		o.Died = "out of memory"
	case err != nil:
		o.Died = err.Error()
	default:
		must(json.Unmarshal(out, &o))
	}
	return o
}

// measure reads the attack often enough to measure its time.
func measure(a *attacks.Attack, limits gdwire.Limits) (o outcome) {
	o.PerByte, o.Allocated = math.Inf(1), math.MaxUint64
	start := time.Now()
	for round := 0; round < 3 || round < 1000 && time.Since(start) < time.Second; round++ {
		if round < 3 { // pools are still empty
			runtime.GC()
			runtime.GC()
		}
		r := &counter{r: a.Reader()}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		err := read(a, r, limits)
		took := time.Since(begin)
		runtime.ReadMemStats(&after)
		if round < 3 {
			o.Allocated = min(o.Allocated, after.TotalAlloc-before.TotalAlloc)
		}
		o.PerByte = min(o.PerByte, float64(took.Nanoseconds())/float64(max(r.n, 1)))
		if err != nil {
			o.Error = err.Error()
		}
	}
	return o
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// allocated formats a number of bytes with two digits, or returns the reason that
// it is unknown.
func (o *outcome) allocated() string {
	if o.Died != "" {
		return o.Died
	}
	n, unit := float64(o.Allocated), 0
	for ; n >= 999.5 && unit < 3; unit++ {
		n /= 1000
	}
	digits := 0
	if n < 9.95 {
		digits = 1
	}
	return fmt.Sprintf("%.*f %s", digits, n, [...]string{"B", "KB", "MB", "GB"}[unit])
}

// round keeps one digit, because runs differ in more.
func round(x float64) string {
	if x < 1 {
		return "< 1"
	}
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	return fmt.Sprintf("%.0f", math.Round(x/unit)*unit)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
