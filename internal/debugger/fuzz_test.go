package debugger

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gdwire/gdwire/stream"
)

// FuzzGame lets a hostile game answer all requests at once. Each of them ends, at the latest when
// the game does, and each message can be looked at.
func FuzzGame(f *testing.F) {
	for _, name := range must(filepath.Glob("testdata/*/game.bin"))(f) {
		b := must(os.ReadFile(name))(f)
		for p := Godot3; p <= Godot42; p++ {
			f.Add(b, uint8(p))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, protocol uint8) {
		r := play(t, b)
		r.invalid = func(error) {}
		for m, err := r.read(); err == nil; m, err = r.read() {
			look(m)
		}
		answer(t, b, Godot3+Protocol(protocol)%3)
	})
}

// look decodes a message as all that it can be.
func look(m *Message) {
	m.Event()
	_, _ = m.stack()
	_, _ = m.variables()
	_, _ = m.variable()
	_, _ = m.object(m.Protocol)
	if root, err := m.tree(); err == nil {
		for n := root; len(n.Children) > 0; n = n.Children[0] {
			n.Path()
		}
	}
}

// answer makes all requests of a protocol, and lets a game answer by b.
func answer(t *testing.T, b []byte, p Protocol) {
	asked := make(chan struct{})
	game := &playing{game: io.MultiReader(waiting(asked), bytes.NewReader(b)), wrote: make(chan struct{}, 16)}
	s := New(stream.NewConn(t.Context(), game, nil))
	s.mu.Lock()
	s.stops = append(s.stops, &Stop{Thread: mainThread})
	s.protocol = p
	close(s.known)
	s.mu.Unlock()
	var requests sync.WaitGroup
	ctx := t.Context()
	commands := map[bool]int{true: 7, false: 5}[p == Godot42]
	for _, request := range []func(){
		func() { _, _ = s.Tree(ctx) },
		func() { _, _ = s.Stack(ctx) },
		func() { _, _ = s.Variables(ctx, 0) },
		func() { _, _ = s.Evaluate(ctx, "hp", 0) },
		func() { _, _ = s.Inspect(ctx, 18572379134) },
		func() { _ = s.Step(ctx) },
	} {
		requests.Go(request)
	}
	for range commands {
		<-game.wrote
	}
	close(asked)
	requests.Wait()
	for range s.Events(ctx) {
	}
}

// waiting is an io.Reader that ends when the channel is closed.
type waiting <-chan struct{}

func (w waiting) Read([]byte) (int, error) {
	<-w
	return 0, io.EOF
}
