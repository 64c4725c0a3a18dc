package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire"
)

func checkFlags(fs *flag.FlagSet, o *options) {
	fs.BoolVar(&o.json, "json", false, "a line of JSON for each value or packet")
}

// newCheckView reads packets and says whether they are good: each for a program,
// all together for a person.
func newCheckView(s *screen, o *options) view {
	if o.json {
		e := json.NewEncoder(s.out)
		e.SetEscapeHTML(false)
		return view{show: func(p *packet) error { return showVerdict(e, p) }}
	}
	c := &summary{screen: s, start: time.Now(), noun: "values"}
	if o.framing.framed {
		c.noun = "packets"
	}
	return view{show: c.add, end: c.show}
}

// A verdict is a line of check -json.
type verdict struct {
	Connection int64 `json:"connection,omitempty"`
	Index      int64 `json:"index"`
	Offset     int64 `json:"offset"`
	OK         bool  `json:"ok"`
	Bytes      int64 `json:"bytes"`
	*good
	*fault
}

type good struct {
	Trailing int64 `json:"trailing"`
}

type fault struct {
	Error string `json:"error"`
	At    int64  `json:"at"`
	Path  string `json:"path"`
}

func showVerdict(e *json.Encoder, p *packet) error {
	v := verdict{Connection: p.connection, Index: p.index, Offset: p.offset}
	err := readAll(p, nil)
	if err == nil {
		v.OK, v.Bytes, v.good = true, p.took(), &good{p.trailing()}
		return e.Encode(v)
	}
	f := p.fault(err)
	v.Bytes, v.fault = f.At-p.offset, &f
	if err := e.Encode(v); err != nil {
		return err
	}
	return errBad
}

// readAll reads a packet's value and lets see look at its tokens.
func readAll(p *packet, see func(gdwire.Token)) error {
	for t, err := range p.tokens {
		if err != nil {
			return err
		}
		if see != nil {
			see(t)
		}
	}
	return nil
}

// took is how many bytes a good value took, padding that it lacked included.
func (p *packet) took() int64 { return (p.end - p.offset + 3) &^ 3 }

// fault says where in the packet an error is.
func (p *packet) fault(err error) fault {
	f := fault{Error: err.Error(), At: p.end, Path: "$"}
	if e := (*gdwire.Error)(nil); errors.As(err, &e) {
		f.At, f.Path = e.Offset, e.Path
	}
	return f
}

// A summary is what check says to a person.
type summary struct {
	*screen
	noun            string // what is counted
	start           time.Time
	good, bad       int64
	bytes, trailing int64
	depth           int
	types           [256]int64
	errors          []error // the first
}

// maxErrors is how many errors a summary shows.
const maxErrors = 10

func (c *summary) add(p *packet) error {
	err := readAll(p, func(t gdwire.Token) { c.count(p, t) })
	if err == nil {
		c.good++
		c.bytes += p.took()
		c.trailing += p.trailing()
		return nil
	}
	c.bad++
	c.bytes += p.fault(err).At - p.offset
	if len(c.errors) < maxErrors {
		c.errors = append(c.errors, err)
	}
	return errBad
}

// count counts a token, if a value begins with it.
func (c *summary) count(p *packet, t gdwire.Token) {
	switch t.Kind() {
	case gdwire.KindDictKey, gdwire.KindProperty, gdwire.KindChunk, gdwire.KindEnd:
		return
	case gdwire.KindStringChunk:
		if !t.Last() || textPrefixes[t.Type()] == "" { // or a name, or a packed string
			return
		}
	case gdwire.KindDictStart, gdwire.KindArrayStart, gdwire.KindObjectStart:
		c.depth = max(c.depth, p.Depth())
	}
	c.types[t.Type()]++
}

// show writes the summary.
func (c *summary) show() {
	took := time.Since(c.start)
	bad := c.paint.plain
	if c.bad > 0 {
		bad = c.paint.bad
	}
	c.row(c.noun, c.paint.good.Sprint(humanize.Comma(c.good), " good")+", "+bad.Sprint(humanize.Comma(c.bad), " bad"))
	bytes := humanize.Comma(c.bytes)
	if c.trailing > 0 {
		bytes += ", and " + humanize.Comma(c.trailing) + " behind values"
	}
	c.row("bytes", bytes)
	c.row("nesting", humanize.Comma(int64(c.depth)))
	c.row("speed", humanize.Bytes(uint64(float64(c.bytes)/max(took.Seconds(), 1e-9)))+"/s")
	c.rows("types", c.typeCounts())
	c.rows("errors", c.errorTexts())
}

// typeCounts returns how many values of each type there are, most first.
func (c *summary) typeCounts() (lines []string) {
	var types []gdwire.Type
	for t, n := range c.types {
		if n > 0 {
			types = append(types, gdwire.Type(t))
		}
	}
	slices.SortStableFunc(types, func(a, b gdwire.Type) int { return cmp.Compare(c.types[b], c.types[a]) })
	width := 0
	for _, t := range types {
		n := humanize.Comma(c.types[t])
		width = max(width, len(n)) // the first is the widest
		lines = append(lines, fmt.Sprintf("%*s  %s", width, n, c.paint.open.Sprint(t)))
	}
	return lines
}

func (c *summary) errorTexts() (lines []string) {
	for _, err := range c.errors {
		lines = append(lines, c.paint.bad.Sprint(strings.TrimPrefix(err.Error(), "gdwire: ")))
	}
	if more := c.bad - int64(len(c.errors)); more > 0 {
		lines = append(lines, "and "+humanize.Comma(more)+" more")
	}
	return lines
}

// rows writes lines under a heading of their own.
func (c *summary) rows(name string, lines []string) {
	for i, line := range lines {
		if i == 0 {
			fmt.Fprintln(c.out)
		} else {
			name = ""
		}
		c.row(name, line)
	}
}

func (c *summary) row(name, text string) {
	fmt.Fprintf(c.out, "%s  %s\n", c.paint.dim.Sprintf("%8s", name), text)
}
