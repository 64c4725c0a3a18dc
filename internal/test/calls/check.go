package calls

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/fuzz"
)

// A chosenCall is a call in a script.
type chosenCall struct {
	*Write
	a arguments
}

// chosenCalls returns the calls of a script.
func chosenCalls(script []byte, f gdwire.Format) (all []chosenCall) {
	for ; len(script) >= 5; script = script[5:] {
		c := chosenCall{&Writes[int(script[0])%len(Writes)], arguments{format: f}}
		copy(c.a.b[:], script[1:])
		all = append(all, c)
	}
	return all
}

// A failingWriter fails once, after left bytes, with an error or with a short count.
type failingWriter struct {
	left  int // negative: never
	short bool
	b     []byte
}

func (w *failingWriter) Write(p []byte) (int, error) {
	n := len(p)
	if w.left < 0 || w.left >= n {
		w.b = append(w.b, p...)
		w.left = max(w.left-n, min(w.left, 0))
		return n, nil
	}
	n, w.left = w.left, -1
	w.b = append(w.b, p[:n]...)
	if w.short {
		return n, nil
	}
	return n, fuzz.ErrTemporary
}

func isTemporary(err error) bool { return err == fuzz.ErrTemporary || err == io.ErrShortWrite }

// A writing contains the results of calls on an Encoder.
type writing struct {
	out   []byte
	notes []string // the error of each call before the Writer failed, and the position of the Encoder after it
	final error    // of the Writer
}

// write makes calls in order and recovers from invalid ones. After an error of the Writer,
// all calls must return that and write nothing.
func write(t testing.TB, calls []chosenCall, s fuzz.Seed, e *gdwire.Encoder, out func() []byte) (all writing) {
	r := &recorder{seed: s, e: e}
	defer e.Close()
	for _, c := range calls {
		offset := e.OutputOffset()
		err := c.call(r, &c.a)
		if all.final != nil {
			if err != all.final && c.name != copying || e.OutputOffset() != offset || e.ClearError() != all.final {
				t.Fatalf("%s returned %v after %v, and is at %d after %d", c.name, err, all.final, e.OutputOffset(), offset)
			}
			continue
		}
		if isTemporary(err) {
			all.final = err
			continue
		}
		if e.OutputOffset() < offset || err != nil && c.name != copying && e.OutputOffset() != offset {
			t.Fatalf("%s moved the Encoder from %d to %d, error %v", c.name, offset, e.OutputOffset(), err)
		}
		if err != nil && c.name != copying && fuzz.ErrorText(e.Err()) != fuzz.ErrorText(err) {
			t.Fatalf("%s returned %v, and Err %v", c.name, err, e.Err())
		}
		all.notes = append(all.notes, fmt.Sprintf("%s %v %d %d %s", c.name, err, e.OutputOffset(), e.Depth(), e.AppendPath(nil)))
		e.ClearError()
	}
	if err := e.Flush(); isTemporary(err) {
		all.final = err
	}
	all.out = out()
	return all
}

// RequireWrites makes the calls of a script in several ways. The output decodes to the events of the calls, and is always
// a prefix of a valid encoding, however the Writer fails. Encoders of other, which can have small buffers, return and
// write the same, and so do those that write to memory.
func RequireWrites(t testing.TB, script []byte, s fuzz.Seed, other func(io.Writer, *gdwire.EncoderOptions) *gdwire.Encoder) {
	calls := chosenCalls(script, s.Format())
	defer func() {
		if r := recover(); r != nil || t.Failed() {
			for _, c := range calls {
				t.Logf("%s %x", c.name, c.a.b)
			}
			if r != nil {
				panic(r)
			}
		}
	}()
	requireEvents(t, calls, s)
	var good bytes.Buffer
	want := write(t, calls, s, gdwire.NewEncoder(&good, options(s)), good.Bytes)
	requirePrefix(t, s, want.out)
	var small writing
	for _, memory := range []bool{true, false} {
		var out bytes.Buffer
		e, read := other(&out, options(s)), out.Bytes
		if memory {
			e.ResetBytes([]byte("head"))
			read = func() []byte { return bytes.Clone(e.Bytes()[len("head"):]) }
		}
		small = write(t, calls, s, e, func() []byte { return read() })
		if memory && strings.Contains(strings.Join(want.notes, ""), "MaxBuffered") {
			continue // there is no limit
		}
		if !slices.Equal(want.notes, small.notes) || !bytes.HasPrefix(small.out, want.out) { // after Fail, the rest of a buffer is lost
			t.Fatalf("memory %v: %q\nwrote\n%x, not\n%x, %q", memory, small.notes, small.out, want.out, want.notes)
		}
	}
	random := rand.New(rand.NewPCG(uint64(s), 1))

	if s.Choose(3) == 0 { // the first error stays
		requireErrorStays(t, calls, s)
		return
	}
	failing := &failingWriter{left: random.IntN(len(small.out) + 1), short: random.IntN(2) == 0}
	at := failing.left
	got := write(t, calls, s, other(failing, options(s)), func() []byte { return failing.b })
	for i := range got.notes {
		if got.notes[i] != small.notes[i] {
			t.Fatalf("before the Writer failed: %s, not %s", got.notes[i], small.notes[i])
		}
	}
	if (got.final == nil) != (at == len(small.out)) || !bytes.Equal(got.out, small.out[:at]) {
		t.Fatalf("Writer failing at %d, %v: wrote\n%x, not\n%x", at, got.final, got.out, small.out)
	}
}

// requireErrorStays makes calls until the first error, which every later call
// returns without writing anything.
func requireErrorStays(t testing.TB, calls []chosenCall, s fuzz.Seed) {
	var out bytes.Buffer
	r := newRecorder(&out, s)
	e := r.e
	var stays error
	var offset int64
	for _, c := range calls {
		err := c.call(r, &c.a)
		if c.name == copying && err != nil && e.Err() == nil {
			continue // an error of the Decoder
		}
		if stays == nil {
			if stays, offset = err, e.OutputOffset(); fuzz.ErrorText(e.Err()) != fuzz.ErrorText(err) {
				t.Fatalf("%s returned %v, and Err %v", c.name, err, e.Err())
			}
			continue
		}
		if c.name == "Fail" { // it may replace an error that could be recovered
			stays = e.Err()
			continue
		}
		if fuzz.ErrorText(err) != fuzz.ErrorText(stays) && c.name != copying || e.OutputOffset() != offset {
			t.Fatalf("%s returned %v after %v, and is at %d after %d", c.name, err, stays, e.OutputOffset(), offset)
		}
	}
	if err := e.Close(); stays != nil && fuzz.ErrorText(err) != fuzz.ErrorText(stays) || e.Close() != nil || e.Err() != gdwire.ErrClosed {
		t.Fatalf("Close returned %v after %v, and then Err %v", err, stays, e.Err())
	}
	requirePrefix(t, s, out.Bytes())
	out.Reset()
	e.Reset(&out)
	if err := e.WriteNil(); err != nil || e.Close() != nil {
		t.Fatalf("after Reset: %v", err)
	}
}

// requirePrefix requires whole values, of which the last can be incomplete.
func requirePrefix(t testing.TB, s fuzz.Seed, p []byte) {
	if _, err := decodedEvents(s, plain(p)); err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("wrote %x: %v", p, err)
	}
}

// requireEvents completes what the calls have left open: the output decodes to their events.
func requireEvents(t testing.TB, calls []chosenCall, s fuzz.Seed) {
	var out bytes.Buffer
	r := newRecorder(&out, s)
	r.keeps = true
	for _, c := range calls {
		if !c.silent {
			c.call(r, &c.a)
			r.e.ClearError()
		}
	}
	r.finish()
	open := r.e.Depth() > 0
	if err := r.e.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := r.e.Close(); errors.Is(err, gdwire.ErrIncomplete) != open {
		t.Fatalf("Close returned %v, open %v", err, open)
	}
	got, err := decodedEvents(s, plain(out.Bytes()))
	if open && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF || !open && (err != io.EOF || len(got) != len(r.events)) {
		t.Fatalf("wrote %x: %v, open %v\n%q, not\n%q", out.Bytes(), err, open, got, r.events)
	}
	for i := range got {
		if i >= len(r.events) || got[i] != r.events[i] {
			t.Fatalf("wrote %x: event %d is %q: %q, not\n%q", out.Bytes(), i, got[i], got, r.events)
		}
	}
}

// finish tries to complete all open containers.
func (r *recorder) finish() {
	for range 300 {
		if len(r.open) == 0 {
			break
		}
		r.e.ClearError()
		before := len(r.events)
		for _, try := range []func() error{
			func() error { return r.ended(r.e.End()) },
			func() error { return r.tookToken(r.e.WriteNil(), gdwire.Nil()) },
			func() error { return r.tookToken(r.e.WriteInt(1), gdwire.Int64(1)) },
			func() error { return r.tookToken(r.e.WriteString("z"), gdwire.String("z")) },
			func() error { return r.took(r.e.WriteProperty("z"), "Property %q", "z") },
			func() error { return r.write([]byte("z")) },
			func() error { return r.write([]byte("\x98")) }, // this may be inside a rune
		} {
			if len(r.events) > before || try() == nil {
				break
			}
			r.e.ClearError()
		}
	}
	r.e.ClearError()
}
