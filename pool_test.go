package gdwire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/bytebufferpool"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// owners contains the buffers in use and their number so far.
type owners struct {
	sync.Mutex
	used map[*byte]bool
	seen map[*byte]bool
}

func (o *owners) take(t *testing.T, b *bytebufferpool.ByteBuffer) (giveBack func()) {
	if b == nil {
		return func() {}
	}
	p := &b.B[0]
	o.Lock()
	defer o.Unlock()
	if o.used[p] {
		t.Error("two owners of one buffer")
	}
	o.used[p], o.seen[p] = true, true
	return func() {
		o.Lock()
		defer o.Unlock()
		delete(o.used, p)
	}
}

// Many goroutines take buffers from the pool and give them back, wherever reading
// and writing were interrupted. No two share a buffer, each gets the results that
// it would get alone, and no goroutine remains.
func TestManyGoroutines(t *testing.T) {
	pool = bytebufferpool.Pool{}
	noneLeft := testenv.NoGoroutines(t)
	o := &owners{used: map[*byte]bool{}, seen: map[*byte]bool{}}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 1000 {
				s := samples[(g+i)%len(samples)]
				at := (g*31 + i*7) % (len(s.packet) + 1)
				d := NewDecoder(&faultyReader{b: s.packet, at: at}, s.options(0))
				var out bytes.Buffer
				e := NewEncoder(&out, &EncoderOptions{Format: s.format})
				var err error
				d.PeekKind()
				giveBack := [2]func(){o.take(t, d.buffer), o.take(t, e.buffer)}
				for err == nil || err == errTemporary && at%2 == 0 { // the others stop
					err = CopyValue(e, d)
				}
				if err == io.EOF && !bytes.Equal(out.Bytes(), s.packet) || !bytes.HasPrefix(s.packet, out.Bytes()) {
					t.Errorf("%s: %x", s.name, out.Bytes())
				}
				giveBack[0]()
				giveBack[1]()
				for range 2 {
					d.Release()
					e.Close()
				}
			}
		})
	}
	all.Wait()
	require.Empty(t, o.used)
	require.NotEmpty(t, o.seen)
	noneLeft()
}

// requireSingleOwners takes n buffers from the pool and expects that no two are
// the same.
func requireSingleOwners(t *testing.T, n int) {
	t.Helper()
	seen := map[*byte]bool{}
	var all []*bytebufferpool.ByteBuffer
	for range n {
		b := getBuffer(1)
		require.False(t, seen[&b.B[0]], "two owners of one buffer")
		seen[&b.B[0]] = true
		all = append(all, b)
	}
	for _, b := range all {
		putBuffer(b)
	}
}

// Repeated calls of Release and Close give the buffer back once.
func TestReleaseGivesBackOnce(t *testing.T) {
	for range 100 {
		d := NewDecoder(plain(str("text")), nil)
		e := NewEncoder(io.Discard, nil)
		readTo(t, d, 1)
		require.NoError(t, e.WriteString("text"))
		for range 5 {
			d.Release()
			e.Close()
		}
		requireSingleOwners(t, 10)
		d.Reset(plain(str("text")))
		e.Reset(io.Discard)
		readTo(t, d, 1)
		require.NotSame(t, &d.buf[0], &e.buf[0])
		d.ResetBytes(str("text")) // keeps its buffer for the next Reset
		d.Release()
		d.ResetBytes(str("text")) // without a buffer to give back
		d.Release()
		e.Close()
		requireSingleOwners(t, 10)
	}
}

// A read buffer that grew for a name goes back to the pool unless it is very
// large. The pool never returns a short buffer.
func TestBuffersInThePool(t *testing.T) {
	pool = bytebufferpool.Pool{} // not calibrated yet
	for _, n := range []int{1, 100, 16 << 10, 64 << 10, 64<<10 + 1, 1 << 20} {
		for range 50 {
			b := getBuffer(n)
			require.GreaterOrEqual(t, len(b.B), n)
			require.Equal(t, cap(b.B), len(b.B))
			putBuffer(b)
		}
	}
	huge := getBuffer(maxPooled + 1)
	putBuffer(huge)
	for range 100 {
		b := getBuffer(1)
		require.NotSame(t, huge, b)
		require.LessOrEqual(t, cap(b.B), maxPooled)
	}
}

// The pool calibrates its sizes by the buffers it is given. Buffers of Decoders
// must not look empty, nor oversized beside those of many Encoders.
func TestPoolKeepsBuffersInUse(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector drops pooled buffers")
	}
	const calibration = 42_000 // Puts after which the pool calibrates
	d, e := new(Decoder), new(Encoder)
	r := bytes.NewReader(nil)
	read := func() {
		d.Reset(r)
		d.ReadToken()
		d.Release()
	}
	write := func() {
		e.Reset(io.Discard)
		e.Close()
	}
	for name, share := range map[string]int{"no Decoders": 0, "few Decoders": 1, "as many": 50, "few Encoders": 99, "no Encoders": 100} {
		t.Run(name, func(t *testing.T) {
			pool = bytebufferpool.Pool{}
			for i := range 2*calibration + 10 {
				if i%100 < share {
					read()
				} else {
					write()
				}
			}
			require.Zero(t, testing.AllocsPerRun(100, read), "%s: buffers are dropped")
			require.Zero(t, testing.AllocsPerRun(100, write), "%s: Encoders' buffers are dropped")
		})
	}
}

func TestLargeNamesAreNotPooled(t *testing.T) {
	pool = bytebufferpool.Pool{}
	name := string(bytes.Repeat([]byte{'x'}, 100<<10))
	d := NewDecoder(plain(bytesOf(idSignal, name, uint64(7))), &DecoderOptions{Limits: Limits{NameBytes: -1}})
	require.Equal(t, name, readTo(t, d, 1).Text())
	require.Greater(t, cap(d.buffer.B), maxPooled)
	d.Release()
	for range 20 {
		require.LessOrEqual(t, cap(getBuffer(1).B), maxPooled)
	}
	// The next buffer is of the usual size, and shorter names can be read.
	d.Reset(plain(bytesOf(idSignal, "x", uint64(7))))
	require.Equal(t, "x", readTo(t, d, 1).Text())
	d.Release()

	e := NewEncoder(io.Discard, nil)
	require.NoError(t, e.WriteSignal(name, 7))
	e.Close()
	for range 20 {
		require.LessOrEqual(t, cap(getBuffer(1).B), maxPooled)
	}
}

// Reset clears open containers, buffered output, errors and interrupted calls.
func TestResetClearsState(t *testing.T) {
	d := NewDecoder(nil, nil)
	defer d.Release()
	e := NewEncoder(nil, nil)
	defer e.Close()
	for name, leave := range map[string]func(){
		"inside containers": func() {
			d.Reset(plain(document))
			readTo(t, d, 8)
			check(e.BeginArray(5))
			check(e.BeginArray(5))
		},
		"inside a string": func() {
			d.Reset(plain(str(longText)))
			readTo(t, d, 1)
			check(e.BeginString(TypeString, 10))
			check(write("\xe2")(e))
		},
		"after an unknown count": func() {
			check(e.BeginArray(Unknown))
			check(e.BeginString(TypeString, Unknown))
		},
		"failed": func() {
			d.Reset(plain(bytesOf(99)))
			require.Error(t, d.SkipValue())
			e.Reset(writerFunc(func([]byte) (int, error) { return 0, errors.New("broken") }))
			require.Error(t, e.WriteNil())
		},
		"peeked": func() {
			d.Reset(&faultyReader{b: integer(1), every: true})
			require.Zero(t, d.PeekKind())
		},
		"skipping": func() {
			d.Reset(&faultyReader{b: document, at: 50})
			require.Equal(t, errTemporary, d.SkipValue())
		},
		"copying": func() {
			d.Reset(plain(document))
			e.Reset(&faultyWriter{every: true})
			require.Error(t, CopyValue(smallEncoder(&faultyWriter{at: 20}, Godot4, 12), d))
		},
		"an error with bytes": func() {
			d.Reset(&faultyReader{b: bytesOf(idNil, idNil), at: 8, joined: true})
			readTo(t, d, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			leave()
			var b bytes.Buffer
			d.Reset(plain(bytesOf(idArray, 2, integer(7), str("x"))))
			e.Reset(&b)
			require.Zero(t, d.Depth())
			require.Zero(t, d.InputOffset())
			require.Zero(t, e.Depth())
			require.Zero(t, e.OutputOffset())
			require.NoError(t, CopyValue(e, d))
			require.Equal(t, bytesOf(idArray, 2, integer(7), str("x")), b.Bytes())
			require.Equal(t, io.EOF, errOf(d.ReadToken()))
			e.Reset(&b)
		})
	}
}

// The size of the largest read buffer, doubled, does not fit an int of 32 bits.
func TestLargestBufferGrows(t *testing.T) {
	if math.MaxInt > math.MaxInt32 || testenv.Race {
		t.Skip("takes the memory of 32 bits")
	}
	defer runtime.GC() // or the next collection waits for twice as much
	s := slowPath{input: input{buffer: getBuffer(largestChunk + history + headroom)}}
	s.setBuffer(s.buffer.B)
	n := len(s.buf) + 100
	s.grow(n)
	require.Len(t, s.buf, n)
}
