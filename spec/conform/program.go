package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// maxAnswer is the maximum number of bytes of an answer.
const maxAnswer = 64 << 20

// mostStarts is the maximum number of starts of a program without an answer.
const mostStarts = 5

// A program is run over exercises, and started again after a crash.
type program struct {
	args    []string
	timeout time.Duration
	errs    io.Writer
}

// run writes all exercises to the program and calls answer for each answer, or fault for a missing answer.
// restarts is the number of times the program was started again.
func (p *program) run(all []exercise, answer func(*exercise, []byte), fault func(*exercise, string)) (restarts int, err error) {
	silent := 0
	for next := 0; next < len(all); restarts++ {
		answered, err := p.answers(all[next:], answer)
		if next += answered; next == len(all) {
			if err != nil {
				return restarts, fmt.Errorf("%s, after the last answer: %w", p.args[0], err)
			}
			return restarts, nil
		}
		if err == nil {
			err = errors.New("no answer")
		}
		if next == 0 {
			silent++
		}
		if silent == mostStarts || errors.As(err, new(*exec.Error)) {
			return restarts, fmt.Errorf("%s answers nothing: %w", p.args[0], err)
		}
		if silent > 0 && next == 0 {
			continue // the first line again: the program may only have failed to start
		}
		fault(&all[next], err.Error())
		next++
	}
	return restarts, nil
}

// answers starts the program and writes exercises until the program ends or is late. It returns the
// number of answers, and the error at the end of the program, if any.
func (p *program) answers(all []exercise, answer func(*exercise, []byte)) (answered int, err error) {
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	c := exec.CommandContext(ctx, p.args[0], p.args[1:]...)
	c.WaitDelay = time.Second // a child of the program can keep its output open
	last := &tail{}
	c.Stderr = io.MultiWriter(last, p.errs)
	in, err := c.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	go func() {
		w := bufio.NewWriter(in)
		for i := range all {
			if _, err := w.WriteString(all[i].Line + "\n"); err != nil {
				break // the program ended
			}
		}
		_ = w.Flush()
		_ = in.Close()
	}()
	late := time.AfterFunc(p.timeout, func() {
		kill()
		_ = out.Close()
	})
	defer late.Stop()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		if answered == len(all) {
			kill()
			_ = c.Wait()
			return answered, errors.New("more answers than lines")
		}
		answer(&all[answered], bytes.Clone(lines.Bytes()))
		answered++
		if !late.Reset(p.timeout) { // the answer was late
			late.Stop()
			break
		}
	}
	_ = out.Close() // a program that goes on writing ends
	err = cmp.Or(lines.Err(), c.Wait())
	if !late.Stop() {
		return answered, fmt.Errorf("nothing for %v; -timeout waits longer", p.timeout)
	}
	return answered, last.explain(err)
}

// A tail keeps the first line of the errors printed by a program.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the beginning of the errors.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.text) < 200 {
		t.text = append(t.text, p[:min(len(p), 200)]...)
	}
	return len(p), nil
}

// explain adds the text to an error.
func (t *tail) explain(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	line, _, _ := strings.Cut(string(t.text), "\n")
	if err == nil || line == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, quote([]byte(line)))
}

// abilities asks the program for its abilities besides reading packets. A program without an answer
// reads packets only.
func (p *program) abilities() (can []string) {
	question := []exercise{{Line: "can"}}
	_, _ = p.answers(question, func(_ *exercise, answer []byte) {
		var a struct{ Can []string }
		if json.Unmarshal(answer, &a) == nil {
			can = a.Can
		}
	})
	return can
}
