package calls

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// TestEncoderCalls makes random calls.
func TestEncoderCalls(t *testing.T) {
	n := testenv.Cases(min(*sequences, 3_000), *sequences)
	random := rand.New(rand.NewPCG(9, 10))
	for i := range n {
		s := fuzz.Seed(random.Uint64())
		script := make([]byte, 5*(1+random.IntN(40)))
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		if !t.Run(fmt.Sprint(i), func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil || t.Failed() {
					t.Logf("seed %#x, script %x", uint64(s), script)
					if r != nil {
						panic(r)
					}
				}
			}()
			RequireWrites(t, script, s, gdwire.NewEncoder)
		}) {
			break
		}
	}
}

// FuzzEncoderCalls makes the calls that the input chooses.
func FuzzEncoderCalls(f *testing.F) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		script := make([]byte, 5*(1+random.IntN(20)))
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		f.Add(script, random.Uint64())
	}
	f.Fuzz(func(t *testing.T, script []byte, n uint64) {
		if len(script) > 300 {
			return
		}
		RequireWrites(t, script, fuzz.Seed(n), gdwire.NewEncoder)
	})
}
