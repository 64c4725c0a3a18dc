package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/conform"
	"github.com/gdwire/gdwire/internal/tagged"
)

// conformOptions are the flags of conform.
type conformOptions struct {
	encoder, verbose bool
}

func conformFlags(fs *flag.FlagSet, o *options) {
	choose(fs, "format", "`FORMAT` of the packets", gdwire.Formats(), &o.Decoder.Format, gdwire.Format.String)
	fs.BoolVar(&o.conform.encoder, "encoder", false, "the program writes packets: it reads JSON and answers hexadecimal")
	fs.BoolVar(&o.conform.verbose, "v", false, "show every wrong answer")
}

// rulesWidth is the width of the column of rules.
const rulesWidth = 24

func conformCheck(o *options) error {
	if len(o.operands) > 0 && o.separator != 0 {
		return errors.New("the program follows --")
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
		faults, err = s.judgeProgram(all, o.operands)
	} else {
		faults, err = conform.Judge(all, ownAnswers(all, f, o.conform.encoder))
	}
	if failed := s.showConformance(f, all, faults, o.conform.verbose); failed != nil {
		return failed
	}
	if err == nil && len(faults) > 0 {
		err = errBad
	}
	return err
}

// judgeProgram starts a program, writes it the exercises and judges its answers.
func (s *stdio) judgeProgram(all []conform.Exercise, args []string) ([]conform.Fault, error) {
	c := exec.Command(args[0], args[1:]...)
	var lines strings.Builder
	for _, e := range all {
		lines.WriteString(e.Line + "\n")
	}
	c.Stdin, c.Stderr = strings.NewReader(lines.String()), s.errs
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	faults, err := conform.Judge(all, out)
	if err != nil {
		_ = c.Process.Kill() // it answers no more, or not as it must
		_ = c.Wait()         // err says more
		return faults, fmt.Errorf("%s: %w", args[0], err)
	}
	if err := c.Wait(); err != nil {
		return faults, fmt.Errorf("%s: %w", args[0], err)
	}
	return faults, nil
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

// showConformance shows a table of the faults, by kind.
func (s *stdio) showConformance(f gdwire.Format, all []conform.Exercise, faults []conform.Fault, verbose bool) error {
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
	_, err := fmt.Fprintf(s.out, "%s: %d of %d right\n", f, len(all)-len(faults), len(all))
	return err
}
