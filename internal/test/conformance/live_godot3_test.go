package conformance

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/model"
)

// A randomValue is a value of Godot 3 in bytes, with duplicate keys in its
// dictionaries.
type randomValue struct {
	bytes []byte // with every pair
	// merged is the encoding that Godot 3.2.3 writes after it read bytes, if equal
	// keys are the only difference: the first of them with the last value.
	merged []byte
	// identity is the same for values that are equal as keys.
	identity string
}

// randomValues makes values from few different numbers and texts, so that many
// keys are equal.
type randomValues struct {
	*rand.Rand
	unequal int // values that equal no other one
	dropped int // pairs that merged lacks
}

func (r *randomValues) next(depth int) randomValue {
	switch n := r.IntN(12); {
	case depth == 0 || n < 8:
		return r.leaf()
	case n < 10:
		return r.array(depth - 1)
	default:
		return r.dictionary(depth - 1)
	}
}

func (r *randomValues) leaf() randomValue {
	float := []float64{0, math.Copysign(0, -1), 1, 0.5, 0.1, math.Inf(1), math.NaN()}[r.IntN(7)]
	text := []string{"", "a", "b", "name"}[r.IntN(4)]
	number := int64(r.IntN(4))
	writes := []func(e *gdwire.Encoder){
		func(e *gdwire.Encoder) { e.WriteNil() },
		func(e *gdwire.Encoder) { e.WriteBool(number > 1) },
		func(e *gdwire.Encoder) { e.WriteInt(number << (number * 10)) },
		func(e *gdwire.Encoder) { e.WriteFloat(float) },
		func(e *gdwire.Encoder) { e.WriteString(text) },
		func(e *gdwire.Encoder) {
			gdwire.WriteComponents(e, gdwire.TypeVector2, []float64{float, float64(number)})
		},
		func(e *gdwire.Encoder) {
			gdwire.WriteComponents(e, gdwire.TypeColor, []float64{float, 0, 0, float64(number)})
		},
		func(e *gdwire.Encoder) { e.WriteNodePath("/abc/" + "defg"[:number]) },
		func(e *gdwire.Encoder) {
			e.BeginPacked(gdwire.TypePackedInt32Array, 1)
			gdwire.WritePacked(e, []int32{int32(number)})
			e.End()
		},
		func(e *gdwire.Encoder) { e.WriteRID(0) },
	}
	write := writes[r.IntN(len(writes))]
	b := encodeGodot3(write)
	float += 0 // -0.0 equals 0.0
	return randomValue{bytes: b, merged: b, identity: string(encodeGodot3(write))}
}

// encodeGodot3 returns the packet that write writes.
func encodeGodot3(write func(*gdwire.Encoder)) []byte {
	var b bytes.Buffer
	e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: gdwire.Godot3})
	write(e)
	if err := e.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// unique returns the identity of a value that no other equals.
func (r *randomValues) unique() string {
	r.unequal++
	return "unique " + strconv.Itoa(r.unequal)
}

func (r *randomValues) array(depth int) randomValue {
	n := r.IntN(5)
	head := container(19, n)
	v := randomValue{bytes: head, merged: bytes.Clone(head), identity: string(head)}
	for range n {
		elem := r.next(depth)
		v.bytes = append(v.bytes, elem.bytes...)
		v.merged = append(v.merged, elem.merged...)
		v.identity += elem.identity
	}
	return v
}

func (r *randomValues) dictionary(depth int) randomValue {
	type pair struct{ key, value randomValue }
	var pairs []pair
	places := map[string]int{}
	n := r.IntN(6)
	v := randomValue{bytes: container(18, n), identity: r.unique()} // compared by identity
	for range n {
		p := pair{r.next(depth), r.next(depth)}
		v.bytes = append(append(v.bytes, p.key.bytes...), p.value.bytes...)
		if i, ok := places[p.key.identity]; ok {
			pairs[i].value = p.value
			r.dropped++
			continue
		}
		places[p.key.identity] = len(pairs)
		pairs = append(pairs, p)
	}
	v.merged = container(18, len(pairs))
	for _, p := range pairs {
		v.merged = append(append(v.merged, p.key.merged...), p.value.merged...)
	}
	return v
}

// container returns the header and count of a container.
func container(id, n int) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(id)), uint32(n))
}

// TestGodot3EqualKeys sends 3,000 random values through a running Godot 3.2.3.
// Equal keys are the only difference between the packets it reads and writes.
func TestGodot3EqualKeys(t *testing.T) {
	engine, err := exec.LookPath("godot3-server")
	if err != nil {
		t.Skip("skipped: godot3-server is not installed")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := &randomValues{Rand: rand.New(rand.NewPCG(seed, 0))}
	var values []randomValue
	var packets []byte
	for range 3000 {
		v := random.next(5)
		values = append(values, v)
		packets = binary.LittleEndian.AppendUint32(packets, uint32(len(v.bytes)))
		packets = append(packets, v.bytes...)
	}

	home := t.TempDir()
	in, out := filepath.Join(home, "in"), filepath.Join(home, "out")
	require.NoError(t, os.WriteFile(in, packets, 0o600))
	require.NoError(t, os.CopyFS(home, os.DirFS(model.Testdata("godot3"))))
	c := exec.CommandContext(t.Context(), engine, "--no-window", "--path", home, "-s", "reencode.gd")
	c.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "IN="+in, "OUT="+out)
	printed, err := c.CombinedOutput()
	require.NoError(t, err, "%s", printed)

	written := must(os.ReadFile(out))(t)
	for i, v := range values {
		n := binary.LittleEndian.Uint32(written)
		require.Equal(t, maskedNodePaths(t, v.merged), maskedNodePaths(t, written[4:4+n]), "value %d: %x", i, v.bytes)
		written = written[4+n:]
	}
	require.Empty(t, written)
	require.NotZero(t, random.dropped)
	t.Logf("%d pairs with equal keys merged", random.dropped)
}

// maskedNodePaths encodes a packet again, which clears the padding of NodePath
// names: Godot 3.2.3 leaves memory content there.
func maskedNodePaths(t *testing.T, packet []byte) []byte {
	var b bytes.Buffer
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: gdwire.Godot3})
	d.ResetBytes(packet)
	e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: gdwire.Godot3})
	require.NoError(t, gdwire.CopyValue(e, d))
	require.NoError(t, e.Close())
	return b.Bytes()
}
