package fuzz_test

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
)

// TestMain makes a fuzz worker a third faster. It runs one execution at a time, each in a
// goroutine of its own: with two processors, the runtime would wake a thread for it.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// growStack makes the stack of an execution large enough at once, a tenth of its time. Later,
// the runtime would have more frames to move.
//
//go:noinline
func growStack(p []byte) byte {
	var space [6 << 10]byte
	return space[len(p)%len(space)]
}

// A nesting checks that each token fits those before it.
type nesting struct {
	depth  int
	offset int64
	tokens int // the number of tokens with bytes, all but DictKey and End
}

func (n *nesting) add(t testing.TB, d *gdwire.Decoder, tok gdwire.Token) {
	moved := d.InputOffset() - n.offset
	n.offset += moved
	switch tok.Kind() {
	case gdwire.KindDictKey, gdwire.KindEnd:
		if moved < 0 || moved > 3 { // padding is read with the End after it
			t.Fatalf("%v of %d bytes", tok.Kind(), moved)
		}
	default:
		n.tokens++
		if moved < 0 || moved == 0 && n.tokens > int(n.offset) {
			t.Fatalf("%v of %d bytes", tok.Kind(), moved)
		}
	}
	switch k := tok.Kind(); k {
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart, gdwire.KindNodePathStart, gdwire.KindPackedStart, gdwire.KindImageStart:
		n.depth++
	case gdwire.KindEnd:
		n.depth--
	}
	if depth := d.Depth(); depth != n.depth && (tok.Kind() != gdwire.KindStringChunk || tok.Last() || depth != n.depth+1) {
		t.Fatalf("depth %d after %v, %d are open", depth, tok.Kind(), n.depth)
	}
}

// FuzzDecode reads packets in memory: every token fits those before it, PeekKind
// agrees with it, an error stays, and SkipValue ends where reading does.
func FuzzDecode(f *testing.F) {
	fuzz.AddSeeds(f.Add)
	var want, got []byte // of all executions, to allocate them once
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		growStack(p)
		o := fuzz.Seed(n).Options()
		d := gdwire.NewDecoder(nil, &o)
		defer d.Release()

		d.ResetBytes(p)
		var open nesting
		want = want[:0]
		var fault error
		for {
			tok, err := d.ReadToken()
			if err != nil {
				fault = err
				break
			}
			open.add(t, d, tok)
			want = fuzz.AppendToken(want, tok)
		}
		if open.tokens > len(p) {
			t.Fatalf("%d tokens of %d bytes", open.tokens, len(p))
		}
		end := d.InputOffset()
		requireStays(t, d, fault, len(p))

		d.ResetBytes(p)
		for at := 0; ; {
			kind := d.PeekKind()
			tok, err := d.ReadToken()
			if err != nil {
				requireSameError(t, "after PeekKind", fault, err)
				break
			}
			if kind != tok.Kind() {
				t.Fatalf("PeekKind: %v, ReadToken: %v", kind, tok.Kind())
			}
			got = fuzz.AppendToken(got[:0], tok)
			if !bytes.HasPrefix(want[at:], got) {
				t.Fatalf("after PeekKind: %v", tok)
			}
			at += len(got)
		}

		d.ResetBytes(p)
		err := error(nil)
		for err == nil {
			err = d.SkipValue()
		}
		requireSameError(t, "SkipValue", fault, err)
		if fault == io.EOF && d.InputOffset() != end {
			t.Fatalf("SkipValue ends at %d, reading at %d", d.InputOffset(), end)
		}
	})
}

// requireStays requires an error with an offset in the input that stays.
func requireStays(t testing.TB, d *gdwire.Decoder, fault error, size int) {
	if _, err := d.ReadToken(); err != fault {
		t.Fatalf("%v, and then %v", fault, err)
	}
	if d.PeekKind() != 0 {
		t.Fatalf("a kind after %v", fault)
	}
	if e, ok := fault.(*gdwire.Error); ok && (e.Offset < 0 || e.Offset > int64(size)) {
		t.Fatalf("%v in %d bytes", e, size)
	}
}

func requireSameError(t testing.TB, name string, want, got error) {
	if want == got {
		return
	}
	if a, ok := want.(*gdwire.Error); ok { // without formatting both, which takes a microsecond
		if b, ok := got.(*gdwire.Error); ok && a.Offset == b.Offset && a.Path == b.Path && a.Err.Error() == b.Err.Error() {
			return
		}
	}
	t.Fatalf("%s: %v instead of %v", name, got, want)
}

// FuzzCopy copies packets in memory: the copy consists of the same tokens, and the same bytes if
// the packet was canonical.
func FuzzCopy(f *testing.F) {
	fuzz.AddSeeds(f.Add)
	var out bytes.Buffer
	var wants, gots []byte
	f.Fuzz(func(t *testing.T, p []byte, n uint64) {
		growStack(p)
		o := fuzz.Seed(n).Options()
		out.Reset()
		d := gdwire.NewDecoder(nil, &o)
		defer d.Release()
		d.ResetBytes(p)
		e := gdwire.NewEncoder(&out, &gdwire.EncoderOptions{Format: o.Format, DoubleReals: o.DoubleReals, AllowInvalidUTF8: o.AllowInvalidUTF8, Depth: -1})
		defer e.Close()
		if err := gdwire.CopyValue(e, d); err != nil {
			return
		}
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
		size := d.InputOffset()
		copied := out.Bytes()

		o.Limits.Bytes = -1 // padding that was missing at the end
		d.ResetBytes(p[:size])
		again := gdwire.NewDecoder(nil, &o)
		defer again.Release()
		again.ResetBytes(copied)
		paths := o.Format == gdwire.Godot2 // whose padding is free
		for {
			want, err := d.ReadToken()
			got, err2 := again.ReadToken()
			if err != nil || err2 != nil {
				requireSameError(t, "the copy", err, err2)
				break
			}
			wants, gots = fuzz.AppendToken(wants[:0], want), fuzz.AppendToken(gots[:0], got)
			if !bytes.Equal(wants, gots) {
				t.Fatalf("%v was copied as %v", want, got)
			}
			paths = paths || got.Kind() == gdwire.KindNodePathStart // whose padding can be dirty
		}
		if o.Strict && !paths && !bytes.Equal(p[:size], copied) {
			t.Fatalf("%x was copied as %x", p[:size], copied)
		}
	})
}
