package gdwire

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/bytebufferpool"
)

// Readers that are broken for good are hostile ones, which attacks_test.go has.
// These are Writers, and what is left of buffers and goroutines.

var errBroken = errors.New("broken")

// A brokenWriter takes so many bytes and none after that.
type brokenWriter struct {
	b    []byte
	room int
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	w.b = append(w.b, p[:n]...)
	if w.room -= n; n < len(p) {
		return n, errBroken
	}
	return n, nil
}

// A Writer that breaks at any byte gets no byte twice and none that is wrong, and
// its error comes as it is, as often as it is asked for.
func TestBrokenWriters(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		d := NewDecoder(plain(s.packet), s.options(minWindow))
		defer d.Release()
		all := tokens(t, d)
		copied := []step{func(e *Encoder) error {
			if e.OutputOffset() == 0 {
				d.Reset(plain(s.packet))
			}
			for {
				if err := CopyValue(e, d); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
			}
		}}
		for _, way := range []string{"tokens", "unknown counts", "small Writes", "one Write", "CopyValue"} {
			for _, size := range []int{16, 64, 4096} {
				for room := 0; room < len(s.packet); room += stride() {
					w := &brokenWriter{room: room}
					e := smallEncoder(w, s.format, size)
					failed := false
					steps := copied
					if way != "CopyValue" {
						steps = waysToWrite(all)[way] // anew, for they know how far they are
					}
					for _, step := range append(steps, (*Encoder).Close) {
						err := step(e)
						if err == nil {
							continue
						}
						require.Equal(t, errBroken, err, "%s, %d bytes", way, room)
						failed = true
						// There may be room in the buffer now, but not for ever.
						if err = step(e); err != nil {
							require.Equal(t, errBroken, err, "%s, %d bytes", way, room)
							break
						}
					}
					require.True(t, failed, "%s, %d bytes", way, room)
					if e.Depth() > 0 || e.OutputOffset() > int64(room) { // else the call wrote nothing
						require.Error(t, e.Close(), "%s, %d bytes", way, room)
					}
					require.Equal(t, string(s.packet[:room]), string(w.b), "%s, %d bytes", way, room)
					e.Release()
				}
			}
		}
	})
}

// owners are the buffers in use, and how many there have been.
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
// and writing were interrupted, and never is one theirs while it is another's.
// They get what they would get alone, and no goroutine is left.
func TestManyGoroutines(t *testing.T) {
	pool = bytebufferpool.Pool{}
	before := runtime.NumGoroutine()
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
				for err == nil || err == errTemporary && at%2 == 0 { // the others give up
					err = CopyValue(e, d)
				}
				if err == io.EOF && !bytes.Equal(out.Bytes(), s.packet) || !bytes.HasPrefix(s.packet, out.Bytes()) {
					t.Errorf("%s: %x", s.name, out.Bytes())
				}
				giveBack[0]()
				giveBack[1]()
				d.Release()
				e.Release()
				d.Release()
				e.Release()
			}
		})
	}
	all.Wait()
	require.Empty(t, o.used)
	require.NotEmpty(t, o.seen)
	for range 1000 { // what was waited for may still be on its last instruction
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.GC()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}
