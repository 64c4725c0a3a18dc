package shell

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire/internal/address"
)

// Loopback is the host of addresses given as a port only.
const Loopback = "127.0.0.1"

// CompleteAddress adds the host to an address given as a port only. unix:PATH is complete.
func CompleteAddress(addr *string) error {
	if network, path := address.Split(*addr); network == "unix" {
		if path == "" {
			return errors.New("want the path of a socket: unix:PATH")
		}
		return nil
	}
	if !strings.Contains(*addr, ":") {
		*addr = ":" + *addr
	}
	host, port, err := net.SplitHostPort(*addr)
	if err != nil {
		return err
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("%q is no port: want PORT, HOST:PORT or unix:PATH", port)
	}
	*addr = net.JoinHostPort(cmp.Or(host, Loopback), port)
	return nil
}

// OutputFlag defines -o.
func (f *Flags) OutputFlag() {
	f.Func("o", "write to `FILE`, which is replaced after success", func(name string) error {
		if f.Output = name; name == "" {
			return errors.New("want the name of a file")
		}
		return nil
	})
}

// SaveFlag defines -o of a command writing an edited save.
func (f *Flags) SaveFlag() {
	f.OutputFlag()
	f.Lookup("o").Usage += "; it can be the input"
}

// EditFlags defines -o and -i of a command editing saves.
func (f *Flags) EditFlags() {
	f.SaveFlag()
	f.BoolVar(&f.InPlace, "i", false, "replace each FILE, one after the other; in place of -o")
}

// QuietFlag defines -q.
func (f *Flags) QuietFlag() {
	f.BoolVar(&f.Quiet, "q", false, "print no messages about recognized formats or changes")
}

// Size defines a flag with a number, such as a size in bytes.
func (f *Flags) Size(name, text string, set func(int64)) {
	f.Func(name, text, func(s string) error {
		n, err := parseSize(s)
		if err == nil {
			set(n)
		}
		return err
	})
}

// Limit defines a flag for a limit. The help lists these flags after the others.
func (f *Flags) Limit(name, text string, set func(int64)) {
	f.limits[name] = true
	f.Size(name, "at most `N` "+text, set)
}

// units are the suffixes of sizes.
var units = []struct {
	suffix string
	factor int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"", 1},
}

// parseSize parses a size: 5000, 10K, 16MiB, 0 for the default, or none or -1 for no limit.
func parseSize(s string) (int64, error) {
	if s == "none" {
		return -1, nil
	}
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < -1 || n > math.MaxInt64/u.factor || n < 0 && u.factor > 1 {
			break
		}
		return n * u.factor, nil
	}
	return 0, errors.New("want a number such as 5000, 10K or 16MiB, 0 for the default or none")
}

// Choose defines a flag for one of the choices. The first is the default.
func Choose[T any](f *Flags, name, text string, choices []T, dst *T, nameOf func(T) string) {
	var names []string
	for _, c := range choices {
		names = append(names, nameOf(c))
	}
	f.Choices(name, names...)
	list := strings.Join(names, ", ")
	f.Func(name, text+": "+list, func(s string) error {
		i := slices.Index(names, s)
		if i < 0 {
			return fmt.Errorf("want one of %s", list)
		}
		*dst = choices[i]
		return nil
	})
}

// Choices adds values of a flag, for completion.
func (f *Flags) Choices(name string, values ...string) {
	f.choices[name] = append(f.choices[name], values...)
}

// ExtraChoice adds a choice to a flag of Choose, and sets chosen if the choice is made.
func (f *Flags) ExtraChoice(name, choice string, chosen *bool) {
	f.Choices(name, choice)
	one := f.Lookup(name)
	one.Value, one.Usage = extraChoice{one.Value, choice, chosen}, one.Usage+", "+choice
}

// An extraChoice is the value of a flag with an additional choice.
type extraChoice struct {
	flag.Value
	choice string
	chosen *bool
}

func (e extraChoice) Set(s string) error {
	if *e.chosen = s == e.choice; *e.chosen {
		return nil
	}
	return e.Value.Set(s)
}
