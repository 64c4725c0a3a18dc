package debugger

import (
	"bytes"
	"context"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// must returns a function that returns v, or ends the test if err is an error.
func must[V any](v V, err error) func(t testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

// The package is copied by others, so it imports only what they can import.
func TestImports(t *testing.T) {
	for _, name := range must(filepath.Glob("*.go"))(t) {
		for _, spec := range must(parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly))(t).Imports {
			path := must(strconv.Unquote(spec.Path.Value))(t)
			_, inModule := strings.CutPrefix(path, "github.com/gdwire/gdwire")
			require.NotContains(t, path, "internal", name)
			require.True(t, inModule || !strings.Contains(path, ".") || strings.HasSuffix(name, "_test.go"), "%s imports %s", name, path)
		}
	}
}

// playing is the connection to a game that sends recorded bytes. It keeps what is sent to it.
type playing struct {
	net.Conn
	game  io.Reader
	tool  bytes.Buffer
	wrote chan struct{} // gets an element for each packet to the game, if it is not nil
}

func (p *playing) Read(b []byte) (int, error) { return p.game.Read(b) }

func (p *playing) Write(b []byte) (int, error) {
	if p.wrote != nil {
		p.wrote <- struct{}{}
	}
	return p.tool.Write(b)
}

func (p *playing) Close() error                     { return nil }
func (p *playing) SetReadDeadline(time.Time) error  { return nil }
func (p *playing) SetWriteDeadline(time.Time) error { return nil }
func (p *playing) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// play returns a reader of the messages in b.
func play(t testing.TB, b []byte) *messageReader {
	conn := stream.NewConn(t.Context(), &playing{game: bytes.NewReader(b)}, nil)
	t.Cleanup(func() { conn.Close() })
	return &messageReader{conn: conn, invalid: func(err error) { t.Log(err) }}
}

func recorded(t testing.TB, name string) []byte {
	return must(os.ReadFile(filepath.Join("testdata", name)))(t)
}

// messages returns the messages of a recording by name. Of several it is the last.
func messages(t *testing.T, version string) map[string]*Message {
	all := map[string]*Message{}
	r := play(t, recorded(t, version+"/game.bin"))
	for {
		m, err := r.read()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all[m.Name] = m
	}
}

func text(t *testing.T, r variant.Raw) (s string) {
	require.NoError(t, r.Unmarshal(&s))
	return s
}

func TestRecordedGodot3(t *testing.T) {
	all := messages(t, "3.2.3")
	require.Equal(t, &Output{Lines: []Line{{Text: "çabeça 260[1.5, 2.5]"}}}, all["output"].Event())
	require.Equal(t, &Stop{Thread: 1, Reason: "Breakpoint", CanContinue: true}, all["debug_enter"].Event())
	require.Equal(t, &Continued{Thread: 1}, all["debug_exit"].Event())
	stack := must(all["stack_dump"].stack())(t)
	require.Equal(t, []Frame{{"res://main.gd", "tick", 17}, {"res://main.gd", "_process", 11}}, stack)
	require.Equal(t, &Error{
		Time: 164*time.Millisecond + time.Second, Function: "draw_viewports", File: "servers/visual/visual_server_viewport.cpp", Line: 294,
		Text: `Condition "!vp->render_target.is_valid()" is true. Continuing.`, Stack: stack,
	}, all["error"].Event())

	variables := must(all["stack_frame_vars"].variables())(t)
	var names []string
	for _, v := range variables {
		names = append(names, v.Scope.String()+" "+v.Name)
	}
	require.Equal(t, []string{"local n", "local text", "local arr", "member self", "member items", "member hp"}, names)
	require.Equal(t, "çabeça 260", text(t, variables[1].Value))

	require.Equal(t, &Node{Name: "root", Class: "Viewport", ID: 1280}, must(all["message:scene_tree"].tree())(t))
	m := all["performance"].Event().(*Monitors)
	require.Equal(t, "fps", m.Name(0))
	require.Equal(t, 56.0, m.Values[0])
	require.Equal(t, "memory", m.Name(3))
	require.Equal(t, 21208848.0, m.Values[3])
	require.Empty(t, m.Name(len(m.Values)))
}

func TestRecordedGodot4(t *testing.T) {
	all := messages(t, "4.7-dev")
	require.Equal(t, &Output{Lines: []Line{{Text: "hp 6001"}}}, all["output"].Event())
	require.Equal(t, &Stop{Thread: 1, Reason: "Breakpoint", CanContinue: true}, all["debug_enter"].Event())
	stack := must(all["stack_dump"].stack())(t)
	require.Equal(t, []Frame{{"res://main.gd", "tick", 19}, {"res://main.gd", "_process", 14}}, stack)
	require.Equal(t, &Error{
		Time: 319 * time.Millisecond, Function: "push_warning", File: "./core/variant/variant_utility.cpp", Line: 1034,
		Text: "careful", Warning: true, Stack: []Frame{{"res://main.gd", "_ready", 10}},
	}, all["error"].Event())
	v := must(all["stack_frame_var"].variable())(t)
	require.Equal(t, "items", v.Name)
	require.Equal(t, Member, v.Scope)

	tree := must(all["scene:scene_tree"].tree())(t)
	main := tree.Find("Main")
	require.Equal(t, main, tree.Find("/root/Main"))
	require.Equal(t, tree, main.Find("/root"))
	require.Equal(t, "/root/Main", main.Path())
	require.Equal(t, "res://main.tscn", main.Scene)
	for _, missing := range []string{"main", "/Main", "Main/Main", "/root/Main/x", "/root//"} {
		require.Nil(t, tree.Find(missing), missing)
	}
	for _, name := range []string{"scene:inspect_object", inspectObjects} {
		o := must(all[name].object(Godot42))(t)
		require.Equal(t, main.ID, o.ID)
		require.Equal(t, "Node", o.Class)
		hp := 0
		require.NoError(t, o.Property("hp").Value.Unmarshal(&hp))
		require.Equal(t, 150, hp)
		require.Equal(t, o.Property("hp"), o.Property("Members/hp"))
		require.Nil(t, o.Property("Node"), "a heading")
	}
	require.Nil(t, all["mine:hello"].Event())
	var number int
	var word string
	var v2 variant.Vector2
	require.NoError(t, all["mine:hello"].Scan(&number, &word, &v2))
	require.Equal(t, variant.Vector2{X: 3, Y: 4}, v2)
	require.ErrorContains(t, all["mine:hello"].Scan(&number, &number), `message "mine:hello", value 1: gdwire: offset 0, $: String into Go int`)
	require.ErrorContains(t, all["debug_exit"].Scan(&number), `"debug_exit" ends after 0 values`)
}

// The commands are those that were recorded, byte by byte.
func TestCommands(t *testing.T) {
	const id = int64(18572379134)
	for _, c := range []struct {
		version  string
		protocol Protocol
		commands [][]any
	}{
		{"3.2.3", Godot3, [][]any{
			{"breakpoint", "res://main.gd", 17, true}, {"request_scene_tree"}, {"get_stack_dump"}, {"get_stack_frame_vars", 0}, {"continue"},
		}},
		{"4.7-dev", Godot42, [][]any{
			{"breakpoint", "res://main.gd", 19, true}, {"scene:request_scene_tree"}, {"get_stack_dump"}, {"get_stack_frame_vars", 0},
			{"evaluate", "hp * 2 + n", 0}, {"breakpoint", "res://main.gd", 19, false}, {"continue"}, {"scene:request_scene_tree"},
			{inspectObjects, []any{id}, false}, {"scene:inspect_object", id}, {"scene:set_object_property", id, "hp", 6000},
		}},
	} {
		var got bytes.Buffer
		w := stream.NewWriter(&got, nil)
		for _, command := range c.commands {
			require.NoError(t, w.WriteRaw(must(c.protocol.encode(command[0].(string), mainThread, command[1:]))(t)))
		}
		require.Equal(t, recorded(t, c.version+"/tool.bin"), got.Bytes(), c.version)
	}
}

// A game is the other end of a Session.
type game struct {
	t        *testing.T
	protocol Protocol
	conn     *stream.Conn
}

// start returns a Session with a game.
func start(t *testing.T, p Protocol) (*Session, *game) {
	tool, other := net.Pipe()
	s := New(stream.NewConn(t.Context(), tool, nil))
	t.Cleanup(func() { s.Close() })
	return s, &game{t, p, stream.NewConn(t.Context(), other, nil)}
}

// send sends a message, in a goroutine of its own as the game would.
func (g *game) send(name string, data ...any) {
	w := func(v any, o ...variant.Options) {
		b := gdwiretest.Encode(g.t, v, o...)
		require.NoError(g.t, g.conn.WriteRaw(b))
	}
	switch g.protocol {
	case Godot42:
		w([]any{name, 1, array(data)})
	case Godot40:
		w([]any{name, array(data)})
	case Godot3:
		for _, v := range append([]any{name, len(data)}, data...) {
			w(v, variant.Options{Encoder: gdwire.EncoderOptions{Format: gdwire.Godot3}})
		}
	}
}

// receive returns the next command and its arguments.
func (g *game) receive() (command string, args []any) {
	b := must(g.conn.NextRaw(nil))(g.t)
	if g.protocol == Godot3 {
		var v []any
		require.NoError(g.t, godot3Value(b).Unmarshal(&v))
		return v[0].(string), v[1:]
	}
	var v []any
	require.NoError(g.t, variant.Unmarshal(b, &v))
	return v[0].(string), v[len(v)-1].(*variant.Array).Values
}

func TestRequests(t *testing.T) {
	for _, p := range []Protocol{Godot3, Godot40, Godot42} {
		t.Run(p.String(), func(t *testing.T) {
			s, g := start(t, p)
			var tree *Node
			var err error
			done := make(chan struct{})
			go func() {
				defer close(done)
				tree, err = s.Tree(t.Context())
			}()
			g.send("output") // shows the protocol
			command, args := g.receive()
			require.Equal(t, requestTree.of(p), command)
			require.Empty(t, args)
			row := []any{0, "root", "Window", -1}
			if p != Godot3 {
				row = append(row, "", 0)
			}
			g.send(sceneTree.of(p), row...)
			<-done
			require.NoError(t, err)
			require.Equal(t, &Node{Name: "root", Class: "Window", ID: 1<<64 - 1}, tree)
			require.Equal(t, p, must(s.Protocol(t.Context()))(t))
		})
	}
}

// While the game runs there is no stack. A reply that came too late is not that of the next request.
func TestStackRequests(t *testing.T) {
	s, g := start(t, Godot42)
	_, err := s.Stack(t.Context())
	require.ErrorIs(t, err, ErrRunning)
	g.send("debug_enter", true, "Breakpoint", true)
	require.Equal(t, "Breakpoint", must(s.WaitStop(t.Context()))(t).Reason)

	late, cancel := context.WithCancelCause(t.Context())
	impatient := errors.New("impatient")
	failed := make(chan error, 1)
	go func() {
		_, err := s.Variables(late, 1)
		failed <- err
	}()
	g.receive()
	cancel(impatient)
	require.ErrorIs(t, <-failed, impatient)
	got := make(chan []Variable, 1)
	go func() {
		v, err := s.Variables(t.Context(), 0)
		failed <- err
		got <- v
	}()
	_, args := g.receive()
	require.Equal(t, []any{int64(0)}, args)
	for _, name := range []string{"old", "new"} {
		g.send("stack_frame_vars", 1)
		g.send("stack_frame_var", name, 0, 2, 5)
	}
	require.NoError(t, <-failed)
	v := <-got
	require.Len(t, v, 1)
	require.Equal(t, "new", v[0].Name)

	go func() {
		_, err := s.Stack(t.Context())
		failed <- err
	}()
	g.receive()
	g.send("debug_exit")
	require.ErrorIs(t, <-failed, ErrRunning)
	require.Nil(t, s.Stopped())
}

// Commands concern the thread that is stopped, of several the first one.
func TestThreads(t *testing.T) {
	s, g := start(t, Godot42)
	for _, thread := range []int{7, 9} {
		require.NoError(t, variant.Send(g.conn, []any{"debug_enter", thread, []any{true, "Breakpoint", true, thread}}))
	}
	must(s.WaitStop(t.Context()))(t)
	done := make(chan error)
	go func() { done <- s.Continue(t.Context()) }()
	require.Equal(t, gdwiretest.Encode(t, []any{"continue", 7, []any{}}), must(g.conn.NextRaw(nil))(t))
	require.NoError(t, variant.Send(g.conn, []any{"debug_exit", 7, []any{}}))
	require.NoError(t, <-done)
	require.Equal(t, int64(9), s.Stopped().Thread)
}

// Events yields all messages, and errors of single packets between them. Messages that come faster
// than they are read are counted.
func TestEvents(t *testing.T) {
	s, g := start(t, Godot42)
	g.send("mine:first", 1)
	require.NoError(t, g.conn.WriteRaw([]byte{99, 0, 0, 0}))
	require.NoError(t, variant.Send(g.conn, []any{1}))
	big := make([]byte, 7<<20)
	for range 4 {
		g.send("mine:big", big)
	}
	g.send("mine:last")
	require.NoError(t, g.conn.Close())
	<-s.Done()
	require.NoError(t, s.Err())
	var got []string
	for m, err := range s.Events(t.Context()) {
		if err != nil {
			got = append(got, err.Error())
		} else {
			got = append(got, m.Name)
		}
	}
	require.Equal(t, []string{
		"mine:first", "gdwire: offset 0, $: unknown godot4 type id 99", "gdwire: offset 0, $: session: an Array of 1 values is no message",
		"mine:big", "mine:big", "session: 2 messages came faster than they were read, and are missing here", "mine:last",
	}, got)
	_, err := s.Tree(t.Context())
	require.ErrorIs(t, err, ErrEnded)
}

func TestInvalidStreams(t *testing.T) {
	name := gdwiretest.Encode(t, "x")
	for title, c := range map[string]struct {
		packets [][]byte
		err     string
	}{
		"no number":     {[][]byte{name, {1, 0, 0, 0, 1, 0, 0, 0}}, "not messages of a debugger"},
		"invalid name":  {[][]byte{{4, 0, 0, 0}}, "not messages of a debugger"},
		"empty value":   {[][]byte{name, {2, 0, 0, 0, 1, 0, 0, 0}, {}}, "not messages of a debugger"},
		"ends too soon": {[][]byte{name}, "EOF"},
	} {
		t.Run(title, func(t *testing.T) {
			var b []byte
			for _, p := range c.packets {
				b = append(append(b, byte(len(p)), 0, 0, 0), p...)
			}
			s := New(stream.NewConn(t.Context(), &playing{game: bytes.NewReader(b)}, nil))
			_, err := s.Protocol(t.Context())
			require.ErrorIs(t, err, ErrEnded)
			require.ErrorContains(t, err, c.err)
			require.ErrorContains(t, s.Err(), c.err)
		})
	}
}

func TestUnsupported(t *testing.T) {
	s, g := start(t, Godot3)
	g.send("debug_enter", true, "Breakpoint")
	_, err := s.Evaluate(t.Context(), "1", 0)
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorIs(t, s.Out(t.Context()), ErrUnsupported)
	require.NoError(t, s.Monitor(t.Context(), true))
}

func TestAccept(t *testing.T) {
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer ln.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Accept(ctx, ln, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// A game that ends without reading the latest command resets the connection, which is no error.
func TestReset(t *testing.T) {
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer ln.Close()
	conn := must(net.Dial("tcp", ln.Addr().String()))(t)
	s := must(Accept(t.Context(), ln, nil))(t)
	require.NoError(t, conn.(*net.TCPConn).SetLinger(0))
	require.NoError(t, conn.Close())
	<-s.Done()
	require.NoError(t, s.Err())
}

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
