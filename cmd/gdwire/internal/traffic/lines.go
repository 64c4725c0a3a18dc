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
// counts packets that cannot be shown in time.
type lines struct {
	maxBytes   int // bytes that can wait
	flush      func() error
	fail       func(error)                     // called with the first error of the output
	missedLine func(missed, bytes string) line // returns the line that says how much was missed
	done       chan struct{}                   // closed after the last line
	wake       chan struct{}

	mu      sync.Mutex
	waiting []line
	size    int    // of waiting
	missed  int64  // packets since the last note
	bytes   uint64 // of them
	closed  bool
}

// start starts the goroutine.
func (l *lines) start() {
	l.done, l.wake = make(chan struct{}), make(chan struct{}, 1)
	go l.run()
}

// add adds a line about a packet of size bytes.
func (l *lines) add(w io.Writer, text string, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.maxBytes
	if l.missed > 0 {
		most /= 2 // wait for more room, or every second line would say that lines were missed
	}
	if l.size > 0 && l.size+len(text) > most {
		l.count(size)
		return
	}
	l.noteMissed()
	l.push(line{w, text})
}

// miss counts a packet that cannot wait to be shown.
func (l *lines) miss(size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(size)
}

// count counts a packet that is not shown. l is locked.
func (l *lines) count(size int) {
	l.missed++
	l.bytes += uint64(size)
}

// noteMissed adds a line that says how much was missed. l is locked.
func (l *lines) noteMissed() {
	if l.missed > 0 {
		l.push(l.missedLine(humanize.Comma(l.missed), humanize.Bytes(l.bytes)))
		l.missed, l.bytes = 0, 0
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
