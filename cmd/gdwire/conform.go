package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/conform"
	"github.com/gdwire/gdwire/internal/tagged"
)

// conformOptions are the flags of conform.
type conformOptions struct {
	encoder, verbose bool
	timeout          time.Duration
}

func conformFlags(fs *flag.FlagSet, o *options) {
	choose(fs, "format", "`FORMAT` of the packets", gdwire.Formats(), &o.Decoder.Format, gdwire.Format.String)
	fs.BoolVar(&o.conform.encoder, "encoder", false, "the program writes packets: it reads JSON and answers hexadecimal")
	fs.BoolVar(&o.conform.verbose, "v", false, "show every wrong answer")
	fs.DurationVar(&o.conform.timeout, "timeout", 10*time.Second, "wait at most `TIME` for each answer of the program, and for its end")
}

// rulesWidth is the width of the column of rules.
const rulesWidth = 24

func conformCheck(o *options) error {
	if len(o.operands) > 0 && o.separator != 0 {
		return errors.New("the program follows --")
	}
	if o.conform.timeout <= 0 {
		return errors.New("-timeout is not more than 0")
	}
	return nil
}

// conformTo runs a program over the vectors of the specification, or gdwire itself if there is none.
func conformTo(s *stdio, o *options) error {
	f := gdwire.Formats()[0]
	if o.given["format"] {
		f = o.Decoder.Format
	}
	exercises := conform.Decoding
	if o.conform.encoder {
		exercises = conform.Encoding
	}
	all, err := exercises(f)
	if err != nil {
		return err
	}
	var faults []conform.Fault
	if len(o.operands) > 0 {
		faults, err = s.judgeProgram(all, o.operands, o.conform.timeout)
	} else {
		faults, err = conform.Judge(all, ownAnswers(all, f, o.conform.encoder))
	}
	if failed := s.showFaults(all, faults, o.conform.verbose); failed != nil || err != nil {
		return cmp.Or(failed, err) // no score: it did not answer all
	}
	if _, err := fmt.Fprintf(s.out, "%s: %d of %d right\n", f, len(all)-len(faults), len(all)); err != nil {
		return err
	}
	if len(faults) > 0 {
		return errBad
	}
	return nil
}

// judgeProgram starts a program, writes it the exercises and judges its answers. It kills a program
// that is late, or that answers more than it was asked.
func (s *stdio) judgeProgram(all []conform.Exercise, args []string, timeout time.Duration) ([]conform.Fault, error) {
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
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(lines.String()), lineWatch{in, late, timeout}, s.errs
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
	<-ended // it writes to s.errs until then
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
func (s *stdio) showFaults(all []conform.Exercise, faults []conform.Fault, verbose bool) error {
	t := newTable(s.out)
	rows := conform.Table(all, faults)
	if len(rows) > 0 {
		fmt.Fprintln(t, "kind\trules\twrong\tfor example")
	}
	for _, row := range rows {
		first := row.Faults[0]
		fmt.Fprintf(t, "%s\t%s\t%d of %d\t%s %s\n", row.Kind, cut(strings.Join(row.Rules, " "), rulesWidth), len(row.Faults), row.Count, first.ID, first.Text)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if verbose {
		for _, fault := range faults {
			fmt.Fprintf(s.out, "%s %s\n  %s\n", fault.ID, fault.Text, fault.Line)
		}
	}
	return nil
}
