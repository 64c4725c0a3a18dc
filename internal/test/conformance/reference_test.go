package conformance

import (
	"math/rand/v2"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
	"github.com/stretchr/testify/require"
)

// requireReference compares the Decoder with the reference on a packet.
func requireReference(t testing.TB, p []byte, o gdwire.DecoderOptions) bool {
	t.Helper()
	accepted, err := model.Compare(p, o)
	require.NoError(t, err)
	return accepted
}

func TestReferenceReadsVectors(t *testing.T) {
	forVectors(t, func(t *testing.T, e *model.Engine, v *model.Vector) {
		got, size, err := model.DecodeReference(v.Hex, e.Format.String(), v.FullObjects, false)
		require.NoError(t, err)
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

// Every format reads slightly damaged vectors of every engine.
func TestReferenceOnMutations(t *testing.T) {
	require.NoError(t, model.Complete())
	random := rand.New(rand.NewPCG(1, 2))
	accepted := map[gdwire.Format]int{}
	for i := range model.Engines {
		for _, v := range model.Engines[i].Vectors(t) {
			for range 8 {
				p := mutated(random, v.Hex)
				f := model.Engines[i].Format
				if random.IntN(3) == 0 {
					all := gdwire.Formats()
					f = all[random.IntN(len(all))]
				}
				o := gdwire.DecoderOptions{Format: f, AllowObjects: random.IntN(4) > 0, DoubleReals: random.IntN(4) == 0}
				if requireReference(t, p, o) {
					accepted[f]++
				}
				requireTypedReference(t, p, o, random.Uint64())
			}
		}
	}
	for _, f := range gdwire.Formats() {
		require.NotZero(t, accepted[f], f)
	}
}

// interesting contains words at the edges of ranges.
var interesting = []uint32{0, 1, 2, 3, 4, 0xFF, 0x100, 0x10000, 0x50000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF}

// mutated returns p with one to three things changed.
func mutated(random *rand.Rand, p []byte) []byte {
	p = append([]byte(nil), p...)
	for range 1 + random.IntN(3) {
		word := 0
		if len(p) >= 4 {
			word = random.IntN(len(p)/4) * 4
		}
		switch random.IntN(6) {
		case 0: // truncated
			p = p[:random.IntN(len(p)+1)]
		case 1: // one bit
			if len(p) > 0 {
				p[random.IntN(len(p))] ^= 1 << random.IntN(8)
			}
		case 2: // one byte
			if len(p) > 0 {
				p[random.IntN(len(p))] = byte(random.Uint32())
			}
		case 3: // one word
			if len(p) >= 4 {
				le.PutUint32(p[word:], interesting[random.IntN(len(interesting))])
			}
		case 4: // a header
			if len(p) >= 4 {
				le.PutUint32(p[word:], uint32(random.IntN(41))|uint32(random.IntN(16))<<16)
			}
		case 5: // more of it
			p = append(p, p[word:]...)
		}
	}
	return p
}
