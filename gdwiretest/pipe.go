package gdwiretest

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"github.com/gdwire/gdwire/stream"
)

// Pipe calls handler, the Handler of a [stream.Server], in a goroutine, and returns a client of it. Both are connected
// through memory without a buffer: a writing call waits until the other side reads. When the test ends, the client is
// closed and Pipe waits until handler returns. A panic of handler fails the test.
//
// All options are the defaults. For other [stream.Options], set those of a Server and call its ServeConn.
func Pipe(t testing.TB, handler func(ctx context.Context, c *stream.Conn) error) *stream.Conn {
	ours, theirs := net.Pipe()
	s := &stream.Server{
		Handler: handler,
		Logger:  slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.ServeConn(stream.NewConn(context.Background(), ours, nil))
	}()
	client := stream.NewConn(context.Background(), theirs, nil)
	t.Cleanup(func() {
		_ = client.Close()
		<-served
		if s.Stats().Panics > 0 {
			t.Error("gdwiretest: the handler panicked")
		}
	})
	return client
}
