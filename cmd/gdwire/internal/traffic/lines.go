package traffic

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

// lines writes lines in a goroutine: a call of add does not wait for a slow output. It
// counts lines that cannot be written in time.
type lines struct {
	maxBytes   int // bytes that can wait
	flush      func() error
	fail       func(error)              // called with the first error of the output
	missedLine func(missed string) line // returns the line that says how many lines were missed
	done       chan struct{}            // closed after the last line
	wake       chan struct{}

	mu      sync.Mutex
	waiting []line
	size    int   // of waiting
	missed  int64 // since the last note
	closed  bool
}

// start starts the goroutine.
func (l *lines) start() {
	l.done, l.wake = make(chan struct{}), make(chan struct{}, 1)
	go l.run()
}

// add adds a line.
func (l *lines) add(w io.Writer, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.maxBytes
	if l.missed > 0 {
		most /= 2 // wait for more room, or every second line would say that lines were missed
	}
	if l.size > 0 && l.size+len(text) > most {
		l.missed++
		return
	}
	l.noteMissed()
	l.push(line{w, text})
}

// miss counts a line for which there is no time, without its text.
func (l *lines) miss() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed++
}

// noteMissed adds a line that says how many lines were missed. l is locked.
func (l *lines) noteMissed() {
	if l.missed > 0 {
		l.push(l.missedLine(humanize.Comma(l.missed)))
		l.missed = 0
	}
}

// push adds a line. l is locked.
func (l *lines) push(one line) {
	l.waiting = append(l.waiting, one)
	l.size += len(one.text)
	l.signal()
}

// signal wakes run.
func (l *lines) signal() {
	select {
	case l.wake <- struct{}{}:
	default: // the previous signal is still pending
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

// run writes lines until close.
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

// write writes lines. A line counts as waiting until it is written.
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
