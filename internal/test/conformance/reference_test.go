package conformance

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/gdwire/gdwire/variant"
)

// requireReference compares the Decoder with the reference on a packet.
func requireReference(t testing.TB, p []byte, o gdwire.DecoderOptions) bool {
	t.Helper()
	return must(model.Compare(p, o))(t)
}

func TestReferenceReadsVectors(t *testing.T) {
	forVectors(t, func(t *testing.T, e *model.Engine, v *model.Vector) {
		got, size := must2(model.DecodeReference(v.Hex, e.Format.String(), v.FullObjects, false))(t)
		require.Equal(t, len(v.Hex), size)
		require.Equal(t, v.Value.Plain().AnyNaN(), got.Plain().AnyNaN())
	})
}

func TestReferenceOnVerdicts(t *testing.T) {
	require.NoError(t, model.Complete())
	accepted, rejected := 0, 0
	for i := range model.Singles {
		for _, v := range model.Singles[i].Verdicts(t) {
			for _, objects := range []bool{false, true} {
				if requireReference(t, v.Hex, gdwire.DecoderOptions{Format: model.Singles[i].Format, AllowObjects: objects}) {
					accepted++
				} else {
					rejected++
				}
			}
		}
	}
	require.NotZero(t, accepted)
	require.NotZero(t, rejected)
}

// All packages write the same text of a NodePath. Those that promise to find its names again return
// an error exactly if other names would be found.
func TestNodePathText(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 53))
	some := func(n int) (all []string) {
		for range random.IntN(n) {
			all = append(all, []string{"a", "root", "", "b/c", "d:e", "é", strings.Repeat("long", 30)}[random.IntN(7)])
		}
		return all
	}
	for range 2000 {
		names, subnames, absolute := some(4), some(3), random.IntN(2) == 0
		e := gdwire.NewEncoder(nil, nil)
		e.ResetBytes(nil)
		require.NoError(t, e.BeginNodePath(len(names), len(subnames), absolute))
		for _, name := range append(names, subnames...) {
			require.NoError(t, e.WriteString(name))
		}
		require.NoError(t, e.End())
		b := bytes.Clone(e.Bytes())
		require.NoError(t, e.Close())

		for _, maxChunk := range []int{0, 16} {
			d := gdwire.NewDecoder(bytes.NewReader(b), &gdwire.DecoderOptions{MaxChunk: maxChunk})
			text := must(d.ReadNodePath())(t)
			require.Equal(t, `^"`+text+`"`, variant.Raw{Data: b}.String())

			back, err := variant.Marshal(variant.NodePath(text))
			found := err == nil && bytes.Equal(back, b)
			o := variant.Options{Decoder: d.Options()}
			var path variant.NodePath
			err = variant.Unmarshal(b, &path, o)
			require.Equal(t, found, err == nil, "%q: %v", text, err)
			require.Equal(t, found, variant.Validate(b, o) == nil, "%q", text)
			var json bytes.Buffer
			d.Reset(bytes.NewReader(b))
			jsonErr := gdjson.ToJSON(&json, d)
			require.Equal(t, found, jsonErr == nil, "%q: %v", text, jsonErr)
			if found {
				require.Equal(t, variant.NodePath(text), path)
				require.Equal(t, `"np:`+text+`"`, json.String())
			} else {
				require.ErrorIs(t, err, gdwire.ErrRange)
				require.ErrorIs(t, jsonErr, gdwire.ErrRange)
			}
			d.Release()
		}
	}
}

// CleanNodePath returns the text that is read after a text was written.
func TestCleanNodePath(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 53))
	for range 5000 {
		var text strings.Builder
		for range random.IntN(8) {
			text.WriteString([]string{"a", "bc", "/", "/", ":", "é"}[random.IntN(6)])
		}
		b, err := variant.Marshal(variant.NodePath(text.String()))
		if errors.Is(err, gdwire.ErrRange) {
			continue // two colons in a row
		}
		require.NoError(t, err)
		var path variant.NodePath
		require.NoError(t, variant.Unmarshal(b, &path), "%q", text.String())
		require.Equal(t, string(path), wire.CleanNodePath(text.String()))
	}
}

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
