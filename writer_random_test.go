package gdwire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/testsize"
)

// Random calls are made on an Encoder with a large buffer, where most take the fast path,
// and then on one with a small buffer. Both return the same and write the same. Then the
// Writer fails at a random byte: the calls before return the same, and those after it the
// Writer's error.

// A randomCall makes a call that is determined by its seed.
type randomCall struct {
	kind int // of randomCalls
	seed uint64
}

func (c randomCall) step() step { return randomCalls[c.kind](rand.New(rand.NewPCG(c.seed, 0))) }

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

var randomTexts = []string{"", "a", "aaaa", "bbbb", "aaaaa", "é", "x\x00", "\xff", longText, longText[:50], strings.Repeat("xy", 60), strings.Repeat("yx", 60)}

func randomText(r *rand.Rand) string { return one(r, randomTexts...) }

func randomCount(r *rand.Rand) int { return one(r, 0, 0, 1, 1, 2, 3, 7, Unknown) }

var randomElems = []Elem{{}, {}, {Type: TypeInt}, {Type: TypeString}, {Class: "Node"}, {Script: "res://a.gd"}}

// randomPackets are what copyTokens copies: mid-string and mid-array starts,
// padding that is not zero, elements that are not of the declared type.
var randomPackets = [][]byte{
	integer(7), integer(8), str("aaaa"), str("bbbb"), str(longText), bytesOf(idNil),
	bytesOf(idArray, 2, integer(1), str("two")), bytesOf(idDict, 1, str("k"), idArray, 1, idNil),
	bytesOf(idArray|typedBy*2, 1, []byte("A\xde\xad\xbe"), 0), bytesOf(idArray|typedBy, idInt, 2, str("x"), integer(1)),
	bytesOf(idStrings, 2, "a\x00", "bb\x00"), bytesOf(idBytes, 5, []byte("abcde\x00\x00\x00")), bytesOf(idFloats, 3, reals(3)),
	bytesOf(idVectors2|bit16, 2, 1.0, 2.0, 3.0, 4.0), bytesOf(idPath, newPath(1), 1, 0, "a", "b"),
	bytesOf(idObject, "Node", 1, "name", str("x")), bytesOf(idObject|bit16, uint64(7)), bytesOf(idSignal, "s", uint64(9)),
}

var randomCalls = []func(r *rand.Rand) step{
	func(r *rand.Rand) step {
		d := NewDecoder(plain(one(r, randomPackets...)), &DecoderOptions{MaxChunk: 16, AllowObjects: true})
		for range r.IntN(3) {
			if _, err := d.ReadToken(); err != nil {
				break
			}
		}
		return copyTokens(d)
	},
	func(*rand.Rand) step { return (*Encoder).WriteNil },
	func(r *rand.Rand) step {
		v := one[int64](r, 7, 8, math.MaxInt64)
		return func(e *Encoder) error { return e.WriteInt(v) }
	},
	func(r *rand.Rand) step {
		v := one(r, 0.5, 0.1)
		return func(e *Encoder) error { return e.WriteFloat(v) }
	},
	func(r *rand.Rand) step {
		v := one(r, 1, 1e300)
		return func(e *Encoder) error { return e.WriteReals(TypeVector3, 1, v, 3) }
	},
	func(r *rand.Rand) step {
		v := one(r, 1.5, 2.5)
		return func(e *Encoder) error { return e.WriteReals(TypeBasis, 1, 2, 3, 4, 5, 6, 7, 8, v) }
	},
	func(r *rand.Rand) step {
		v := one[int32](r, 1, 2)
		return func(e *Encoder) error { return e.WriteInts(TypeRect2i, 1, 2, 3, v) }
	},
	func(r *rand.Rand) step { s := randomText(r); return func(e *Encoder) error { return e.WriteString(s) } },
	func(r *rand.Rand) step { s := randomText(r); return func(e *Encoder) error { return e.WriteString(s) } },
	func(r *rand.Rand) step {
		s := randomText(r)
		return func(e *Encoder) error { return e.WriteStringName(s) }
	},
	func(r *rand.Rand) step {
		s := randomText(r)
		return func(e *Encoder) error { return e.WriteProperty(s) }
	},
	func(r *rand.Rand) step {
		s := randomText(r)
		return func(e *Encoder) error { return e.WriteSignal(s, 7) }
	},
	func(r *rand.Rand) step {
		s := one(r, "a/b:c", "", "/", "a::b", "/root/"+text32)
		return func(e *Encoder) error { return e.WriteNodePath(s) }
	},
	func(r *rand.Rand) step { n := randomCount(r); return array(n) },
	func(r *rand.Rand) step { n := randomCount(r); return dict(n) },
	func(r *rand.Rand) step { n, elem := randomCount(r), one(r, randomElems...); return typedArray(n, elem) },
	func(r *rand.Rand) step {
		n, k, v := randomCount(r), one(r, randomElems...), one(r, randomElems...)
		return typedDict(n, k, v)
	},
	func(r *rand.Rand) step {
		n, s := randomCount(r), one(r, "", "A", text32)
		return func(e *Encoder) error { return e.BeginObject(s, n) }
	},
	func(r *rand.Rand) step { n, m := r.IntN(3), r.IntN(3); return path(n, m) },
	func(r *rand.Rand) step {
		n, typ := randomCount(r), one(r, TypeString, TypeStringName)
		return text(typ, int64(n))
	},
	func(r *rand.Rand) step {
		n, typ := randomCount(r), one(r, TypePackedByteArray, TypePackedStringArray, TypePackedFloat32Array, TypePackedVector2Array, TypePackedInt64Array)
		return packedOf(typ, int64(n))
	},
	func(r *rand.Rand) step {
		return writeAll([]byte(one(r, "", "a", "aa", "ab", "\xe2\x82", "\xac", "abcdefgh", longText)))
	},
	func(r *rand.Rand) step {
		v := make([]float32, one(r, 0, 1, 3))
		return func(e *Encoder) error { return WritePacked(e, v) }
	},
	func(r *rand.Rand) step {
		v := []float64{one(r, 1.0, 2, 1e300), 2, 3}
		return func(e *Encoder) error { return WritePacked(e, v) }
	},
	func(r *rand.Rand) step {
		v := make([][2]float64, one(r, 1, 7))
		return func(e *Encoder) error { return WritePacked(e, v) }
	},
	func(r *rand.Rand) step {
		v := []byte("abcdefg")[:one(r, 1, 2, 7)]
		return func(e *Encoder) error { return WritePacked(e, v) }
	},
	func(*rand.Rand) step { return end }, func(*rand.Rand) step { return end }, func(*rand.Rand) step { return end },
	func(*rand.Rand) step { return dictKey },
	func(r *rand.Rand) step {
		t := one(r, Int32(7), Float64(0.5), String("aaaa"), String(longText), ArrayStart(1, Elem{}), End())
		return token(t)
	},
	func(r *rand.Rand) step {
		p := one(r, randomPackets...)
		return func(e *Encoder) error { return e.WriteRaw(p) }
	},
	func(*rand.Rand) step { return (*Encoder).Flush },
	func(*rand.Rand) step { return closing },
}

// randomCopy is the place of copyTokens in randomCalls.
const randomCopy = 0

// randomSequence returns calls, most of which succeed, what they return, and the
// bytes that they write.
func randomSequence(t *testing.T, r *rand.Rand, n int) (calls []randomCall, errs []string, want []byte) {
	var b bytes.Buffer
	e := NewEncoder(&b, &EncoderOptions{Depth: 5, MaxBuffered: 500})
	defer e.Release()
	for range n {
		for range 12 {
			c := randomCall{r.IntN(len(randomCalls)), r.Uint64()}
			before := e.OutputOffset()
			err := c.step()(e)
			if err != nil && r.IntN(8) > 0 && e.OutputOffset() == before && c.kind != randomCopy {
				e.ClearError()
				continue // as if it had not been made
			}
			calls, errs = append(calls, c), append(errs, errorKind(err))
			e.ClearError()
			break
		}
	}
	require.NoError(t, e.Flush())
	return calls, errs, b.Bytes()
}

// errorKind describes an error without its offset.
func errorKind(err error) string {
	var located *Error
	if errors.As(err, &located) {
		return located.Err.Error()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestRandomCalls(t *testing.T) {
	sequences := 20_000
	if !testsize.Full() || raceEnabled {
		sequences = 3000
	}
	for s := range uint64(sequences) {
		r := rand.New(rand.NewPCG(s, 1))
		calls, errs, want := randomSequence(t, r, 30)
		size := one(r, 12, 16, 40, 100)
		for _, at := range []int{-1, r.IntN(len(want) + 1)} {
			w := &faultyWriter{at: at, short: r.IntN(2) == 0}
			e := smallEncoder(w, Godot4, size)
			e.options.Depth, e.maxDepth, e.maxKept = 5, 5, 500
			var final error
			for i, c := range calls {
				err := c.step()(e)
				if err == errTemporary || err == io.ErrShortWrite {
					final = err
				}
				if final == nil {
					require.Equal(t, errs[i], errorKind(err), "sequence %d, call %d", s, i)
					e.ClearError()
					continue
				}
				if c.kind != randomCopy { // whose Decoder may have an error, too
					require.Equal(t, final, err, "sequence %d, call %d", s, i)
				}
				require.Equal(t, final, e.ClearError(), "sequence %d, call %d", s, i)
			}
			if final == nil {
				final = e.Flush()
			}
			if at < 0 || at == len(want) {
				require.NoError(t, final, "sequence %d", s)
				require.Equal(t, string(want), string(w.b), "sequence %d", s)
			} else {
				require.Error(t, final, "sequence %d", s)
				require.Equal(t, string(want[:at]), string(w.b), "sequence %d", s)
			}
			e.Release()
		}
	}
}
