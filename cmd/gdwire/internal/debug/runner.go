package debug

import (
	"bufio"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/debugger"
)

// A runner shows the messages of a game, and runs commands.
type runner struct {
	*shell.Stdio
	lines   bool                  // -json
	decoder gdwire.DecoderOptions // of values
	session *debugger.Session

	mu         sync.Mutex    // held while something is shown
	results    *bufio.Writer // of commands
	events     *bufio.Writer // of messages of the game
	monitoring bool          // measurements are shown
	table      int           // lines of the table of measurements that was shown last, and is refreshed
	alone      bool          // nobody gives commands, and a game that stops is continued
}

// printf shows the result of a command, unless -json is given.
func (d *runner) printf(format string, args ...any) error {
	return d.fprintf(d.results, format, args...)
}

// eventf shows a message of the game, unless -json is given.
func (d *runner) eventf(format string, args ...any) { _ = d.fprintf(d.events, format, args...) }

func (d *runner) fprintf(w *bufio.Writer, format string, args ...any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lines {
		return nil
	}
	d.table = 0
	fmt.Fprintf(w, format, args...)
	return w.Flush()
}

// untilEnd waits for the end of the game.
func (d *runner) untilEnd(ctx context.Context) error {
	select {
	case <-d.session.Done():
		return d.session.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answerTime is the time for the game to answer.
const answerTime = 10 * time.Second

// errNoAnswer reports a game that did not answer in time.
var errNoAnswer = fmt.Errorf("the game did not answer within %v", answerTime)

// ask calls f with a context for one answer of the game.
func ask[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, errNoAnswer)
	defer cancel()
	return f(ctx)
}
