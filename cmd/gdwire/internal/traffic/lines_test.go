package traffic

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
)

// TestCommandLines counts the lines that cannot be shown in time, and shows all others in their
// order.
func TestCommandLines(t *testing.T) {
	var out bytes.Buffer
	r, w := io.Pipe()
	l := &lines{maxBytes: 60, flush: func() error { return nil }, fail: func(err error) { require.NoError(t, err) }}
	l.missedLine = func(missed, bytes string) line { return line{w, "missed " + missed + ", " + bytes + "\n"} }
	l.start()
	for i := range 1000 { // nobody reads
		l.add(w, "line "+strings.Repeat("x", i%3)+"\n", 10)
	}
	l.miss(70)
	l.close()
	testenv.Must(io.CopyN(&out, r, 6))(t)
	go func() {
		<-l.done
		w.Close()
	}()
	_, err := io.Copy(&out, r)
	require.NoError(t, err)
	shown := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Equal(t, []string{"line ", "line x", "line xx", "line ", "line x", "line xx", "line ", "line x", "missed 993, 10 kB"}, shown)
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(b []byte) (int, error) { return w(b) }

// TestLinesFail reports the first error of the output, once, and shows other output.
func TestLinesFail(t *testing.T) {
	var errs bytes.Buffer
	bad := writerFunc(func([]byte) (int, error) { return 0, errors.New("disk full") })
	var failed []error
	l := &lines{maxBytes: 60, flush: func() error { return nil }, fail: func(err error) { failed = append(failed, err) }}
	l.start()
	l.add(bad, "a", 0)
	l.add(&errs, "b", 0)
	l.add(bad, "c", 0)
	l.close()
	<-l.done
	require.Len(t, failed, 1)
	require.Equal(t, "b", errs.String())
}
