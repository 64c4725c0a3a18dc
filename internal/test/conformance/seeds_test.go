package conformance

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/stretchr/testify/require"
)

// knownInputs are all packets that the tests know: the engines' vectors and
// verdicts, and the tables of valid and invalid packets of each format.
func knownInputs(t testing.TB) (all []fuzz.Input) {
	add := func(p []byte, format gdwire.Format, double bool) {
		s := fuzz.SeedOf(format, fuzz.Objects)
		if double {
			s |= fuzz.Double
		}
		all = append(all, fuzz.Input{Packet: p, Seed: s}, fuzz.Input{Packet: p, Seed: s | fuzz.Strict | fuzz.Window | 3*fuzz.Rest})
	}
	for i := range model.Engines {
		e := &model.Engines[i]
		for _, v := range e.Vectors(t) {
			add(v.Hex, e.Format, false)
		}
		if e.Double {
			continue
		}
		for _, v := range e.Verdicts(t) {
			add(v.Hex, e.Format, false)
		}
	}
	for i := range validPackets {
		for _, name := range strings.Fields(validPackets[i].formats) {
			format := formatNamed(t, name)
			add(model.Build(t, format, validPackets[i].packet), format, validPackets[i].double)
		}
	}
	for _, r := range invalidPackets {
		for _, name := range strings.Fields(r.formats) {
			format := formatNamed(t, name)
			add(model.Build(t, format, r.packet), format, false)
		}
	}
	return all
}

// A feature of an input is a kind of token in a format, a payload of some
// magnitude after a kind of token, or a validation error.
type feature struct {
	format   gdwire.Format
	kind     gdwire.Kind
	after    gdwire.Kind
	typ      gdwire.Type
	width    int
	log2Size int
	reason   string
}

var numbersInText = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

func features(in fuzz.Input, add func(feature)) {
	o := in.Seed.Options()
	d := gdwire.NewDecoder(nil, &o)
	defer d.Release()
	d.ResetBytes(in.Packet)
	var last gdwire.Kind
	for {
		tok, err := d.ReadToken()
		if e := (*gdwire.Error)(nil); errors.As(err, &e) {
			add(feature{reason: numbersInText.ReplaceAllString(e.Err.Error(), "#"), width: int(in.Seed & fuzz.Strict)})
		}
		if err != nil {
			return
		}
		add(feature{format: o.Format, kind: tok.Kind(), typ: tok.Type(), width: tok.Width()})
		add(feature{kind: tok.Kind(), after: last, log2Size: bits.Len(uint(len(tok.Bytes())))})
		last = tok.Kind()
	}
}

var writeSeeds = flag.Bool("write-seeds", false, "choose the seeds of the fuzz targets anew")

// The seeds of the fuzz targets are those of knownInputs, shortest first, that
// have a feature which is new among them: 504 of 7,276, which reach all but a
// few of the Decoder's statements that all of them reach. A target runs every
// seed before it tries anything new, so more of them only cost time. go test
// -run TestSeeds -write-seeds chooses them anew.
func TestSeeds(t *testing.T) {
	all := knownInputs(t)
	slices.SortStableFunc(all, func(a, b fuzz.Input) int { return cmp.Compare(len(a.Packet), len(b.Packet)) })
	seen := map[feature]bool{}
	var chosen []byte
	for _, in := range all {
		before := len(seen)
		features(in, func(f feature) { seen[f] = true })
		if len(seen) > before {
			chosen = fmt.Appendf(chosen, "%v %#x %x\n", in.Seed.Format(), uint64(in.Seed&^7), in.Packet)
		}
	}
	if *writeSeeds {
		require.NoError(t, os.WriteFile(filepath.Join("..", "fuzz", "seeds.txt"), chosen, 0o666))
		return
	}
	got := map[feature]bool{}
	for _, in := range fuzz.Seeds() {
		features(in, func(f feature) { got[f] = true })
	}
	require.Greater(t, len(got), len(seen)*9/10, "the seeds are out of date: go test -run TestSeeds -write-seeds")
}
