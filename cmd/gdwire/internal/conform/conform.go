// Package conform contains the command that measures programs by the specification.
package conform

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/internal/conform"
	"github.com/gdwire/gdwire/internal/tagged"
)

// New defines the flags of conform.
func New(f *shell.Flags) shell.Action {
	c := &conforming{format: gdwire.Formats()[0]}
	shell.Choose(f, "format", "`FORMAT` of the packets", gdwire.Formats(), &c.format, gdwire.Format.String)
	f.BoolVar(&c.encoder, "encoder", false, "the program writes packets: it reads JSON and answers hexadecimal")
	f.BoolVar(&c.verbose, "v", false, "show every wrong answer")
	f.DurationVar(&c.timeout, "timeout", 10*time.Second, "wait at most `TIME` for each answer of the program, and for its end")
	return shell.Action{
		Check: func() error { return c.check(f) },
		Run:   func(s *shell.Stdio) error { return c.run(s, f.Operands) },
	}
}

// A conforming is a run of conform.
type conforming struct {
	format           gdwire.Format
	encoder, verbose bool
	timeout          time.Duration
}

// rulesWidth is the width of the column of rules.
const rulesWidth = 24

func (c *conforming) check(f *shell.Flags) error {
	if len(f.Operands) > 0 && f.Separator != 0 {
		return errors.New("the program follows --")
	}
	if c.timeout <= 0 {
		return errors.New("-timeout is not more than 0")
	}
	return nil
}

// run runs a program over the vectors of the specification, or gdwire itself if there is none.
func (c *conforming) run(s *shell.Stdio, program []string) error {
	exercises := conform.Decoding
	if c.encoder {
		exercises = conform.Encoding
	}
	all, err := exercises(c.format)
	if err != nil {
		return err
	}
	var faults []conform.Fault
	if len(program) > 0 {
		faults, err = judgeProgram(s, all, program, c.timeout)
	} else {
		faults, err = conform.Judge(all, ownAnswers(all, c.format, c.encoder))
	}
	if failed := showFaults(s, all, faults, c.verbose); failed != nil || err != nil {
		return cmp.Or(failed, err) // no score: it did not answer all
	}
	if _, err := fmt.Fprintf(s.Out, "%s: %d of %d right\n", c.format, len(all)-len(faults), len(all)); err != nil {
		return err
	}
	if len(faults) > 0 {
		return shell.ErrBad
	}
	return nil
}

// judgeProgram starts a program, writes it the exercises and judges its answers. It kills a program
// that is late, or that answers more than it was asked.
func judgeProgram(s *shell.Stdio, all []conform.Exercise, args []string, timeout time.Duration) ([]conform.Fault, error) {
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.WaitDelay = time.Second // a child of the program can keep its output open
	var lines strings.Builder
	for _, e := range all {
		lines.WriteString(e.Line + "\n")
	}
	out, in := io.Pipe()
	late := time.AfterFunc(math.MaxInt64, func() { // reset once the program runs
		_ = in.CloseWithError(fmt.Errorf("nothing for %v; -timeout waits longer", timeout))
		kill()
	})
	defer late.Stop()
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(lines.String()), lineWatch{in, late, timeout}, s.Errs
	if err := c.Start(); err != nil {
		return nil, err
	}
	late.Reset(timeout)
	ended := make(chan struct{})
	go func() {
		_ = in.CloseWithError(c.Wait()) // nil is io.EOF
		close(ended)
	}()
	faults, err := conform.Judge(all, out)
	_ = out.Close()
	kill()
	<-ended // it writes to s.Errs until then
	if err != nil {
		err = fmt.Errorf("%s: %w", args[0], err)
	}
	return faults, err
}

// A lineWatch restarts a timer at each write that ends a line.
type lineWatch struct {
	io.Writer
	timer   *time.Timer
	timeout time.Duration
}

func (w lineWatch) Write(p []byte) (int, error) {
	if bytes.IndexByte(p, '\n') >= 0 {
		w.timer.Reset(w.timeout)
	}
	return w.Writer.Write(p)
}

// ownAnswers returns the answers of this command.
func ownAnswers(all []conform.Exercise, f gdwire.Format, encoder bool) io.Reader {
	var out bytes.Buffer
	for _, e := range all {
		var answer []byte
		var err error
		if encoder {
			answer, err = tagged.Encode([]byte(e.Line), &gdwire.EncoderOptions{Format: f})
			answer = hex.AppendEncode(nil, answer)
		} else {
			digits, objects, _ := strings.Cut(e.Line, " ")
			p, _ := hex.DecodeString(digits) // the line is of a vector
			answer, err = conform.Decode(p, f, objects != "")
		}
		if err != nil {
			answer, _ = json.Marshal(map[string]string{"error": err.Error()}) // strings are never an error
		}
		out.Write(append(answer, '\n'))
	}
	return &out
}

// showFaults shows a table of the faults, by kind.
func showFaults(s *shell.Stdio, all []conform.Exercise, faults []conform.Fault, verbose bool) error {
	t := shell.NewTable(s.Out)
	rows := conform.Table(all, faults)
	if len(rows) > 0 {
		fmt.Fprintln(t, "kind\trules\twrong\tfor example")
	}
	for _, row := range rows {
		first := row.Faults[0]
		fmt.Fprintf(t, "%s\t%s\t%d of %d\t%s %s\n", row.Kind, shell.Cut(strings.Join(row.Rules, " "), rulesWidth), len(row.Faults), row.Count, first.ID, first.Text)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if verbose {
		for _, fault := range faults {
			fmt.Fprintf(s.Out, "%s %s\n  %s\n", fault.ID, fault.Text, fault.Line)
		}
	}
	return nil
}
