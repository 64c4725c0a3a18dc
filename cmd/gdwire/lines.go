package main

import (
	"cmp"
	"io"
	"sync"

	"github.com/dustin/go-humanize"
)

// A line is a piece of output.
type line struct {
	w    io.Writer
	text string
}

// lines shows lines, so that nobody who adds one waits for the output. It counts lines that
// cannot be shown in time.
type lines struct {
	most  int // bytes that can wait
	flush func() error
	fail  func(error)              // is called with the first error of the output
	note  func(missed string) line // tells how many lines were missed
	done  chan struct{}            // closed after the last line
	wake  chan struct{}

	mu      sync.Mutex
	waiting []line
	size    int   // of waiting
	missed  int64 // since the last note
	closed  bool
}

// start starts to show lines.
func (l *lines) start() {
	l.done, l.wake = make(chan struct{}), make(chan struct{}, 1)
	go l.run()
}

// add adds a line.
func (l *lines) add(w io.Writer, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.most
	if l.missed > 0 {
		most /= 2 // few notes
	}
	if l.size > 0 && l.size+len(text) > most {
		l.missed++
		return
	}
	l.noteMissed()
	l.push(line{w, text})
}

// miss counts a line that there is no time to make.
func (l *lines) miss() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed++
}

func (l *lines) noteMissed() {
	if l.missed > 0 {
		l.push(l.note(humanize.Comma(l.missed)))
		l.missed = 0
	}
}

func (l *lines) push(one line) {
	l.waiting = append(l.waiting, one)
	l.size += len(one.text)
	l.signal()
}

// signal wakes run.
func (l *lines) signal() {
	select {
	case l.wake <- struct{}{}:
	default: // it will not wait
	}
}

// close ends the output after all lines.
func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteMissed()
	l.closed = true
	l.signal()
}

// run shows lines until close.
func (l *lines) run() {
	defer close(l.done)
	failed := false
	for range l.wake {
		l.mu.Lock()
		all, closed := l.waiting, l.closed
		l.waiting = nil
		l.mu.Unlock()
		if err := l.write(all); err != nil && !failed {
			failed = true
			l.fail(err)
		}
		if closed {
			return
		}
	}
}

// write writes lines, which wait until they are written.
func (l *lines) write(all []line) (err error) {
	for _, one := range all {
		_, failed := io.WriteString(one.w, one.text)
		err = cmp.Or(err, failed)
		l.mu.Lock()
		l.size -= len(one.text)
		l.mu.Unlock()
	}
	return cmp.Or(err, l.flush())
}
