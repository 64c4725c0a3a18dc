// Package record writes and reads recordings of connections: PREFIX-1-client.bin and
// PREFIX-1-server.bin contain all bytes of the two directions of the first connection, and
// PREFIX.index.jsonl a line of JSON for each forwarded packet:
//
//	{"time":1250000,"connection":1,"direction":"->","offset":0,"length":36}
//
// The time is in nanoseconds since the first packet. -> is from the client. The offset and length are those of the
// packet in the file of its direction, with the length before the packet or the frames of the message.
package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gdwire/gdwire/internal/base/address"
)

// A Direction is one direction of a connection.
type Direction int

// The directions.
const (
	FromClient Direction = iota
	FromServer
)

var (
	names  = [...]string{"client", "server"}
	arrows = [...]string{"->", "<-"}
)

// String returns the arrow of d: -> or <-.
func (d Direction) String() string { return arrows[d] }

// MarshalText returns the arrow of d.
func (d Direction) MarshalText() ([]byte, error) { return []byte(arrows[d]), nil }

// UnmarshalText sets d to the direction of an arrow.
func (d *Direction) UnmarshalText(text []byte) error {
	if *d = Direction(slices.Index(arrows[:], string(text))); *d < 0 {
		return fmt.Errorf("direction %q, not -> or <-", text)
	}
	return nil
}

// IndexName returns the name of the index of a recording.
func IndexName(prefix string) string { return prefix + ".index.jsonl" }

// FileName returns the name of the file with one direction of a connection.
func FileName(prefix string, connection int64, d Direction) string {
	return fmt.Sprintf("%s-%d-%s.bin", prefix, connection, names[d])
}

// A Packet is a line of the index.
type Packet struct {
	Time       time.Duration `json:"time"` // since the first packet
	Connection int64         `json:"connection"`
	Direction  Direction     `json:"direction"`
	Offset     int64         `json:"offset"`
	Length     int64         `json:"length"`
}

// A Recorder writes a recording, up to the first error, and can be used by several goroutines at the same time.
type Recorder struct {
	Failed func(error) // is called with the first error, if not nil

	prefix string

	mu    sync.Mutex
	err   error // the first
	index *os.File
	lines *bufio.Writer
	json  *json.Encoder // to lines
	first time.Time     // of the first packet
}

// Flag defines the flag -record.
func Flag(f *flag.FlagSet, prefix *string) {
	f.StringVar(prefix, "record", "", "keep what is sent in `PREFIX`-1-client.bin, PREFIX-1-server.bin and so on, and when in PREFIX.index.jsonl, for replay")
}

// New returns a Recorder of a new recording, and never overwrites an earlier one.
func New(prefix string) (*Recorder, error) {
	for _, name := range []string{FileName(prefix, 1, FromClient), IndexName(prefix)} {
		if _, err := os.Lstat(name); err == nil {
			return nil, fmt.Errorf("%s is an earlier recording: choose another PREFIX for -record", name)
		}
	}
	f, err := create(IndexName(prefix))
	if err != nil {
		return nil, err
	}
	r := &Recorder{prefix: prefix, index: f, lines: bufio.NewWriter(f)}
	r.json = json.NewEncoder(r.lines)
	r.json.SetEscapeHTML(false)
	return r, nil
}

func create(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// File creates the file of one direction of a connection. The caller closes the file, which is nil after an error of the recording.
func (r *Recorder) File(connection int64, d Direction) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil, nil
	}
	return create(FileName(r.prefix, connection, d))
}

// Write appends bytes to a file of the recording.
func (r *Recorder) Write(f *os.File, b []byte) {
	if f == nil || r.Err() != nil {
		return
	}
	if _, err := f.Write(b); err != nil {
		r.Fail(err)
	}
}

// Add adds a packet received at a time to the index, and sets its Time.
func (r *Recorder) Add(at time.Time, p Packet) { r.Fail(r.add(at, p)) }

func (r *Recorder) add(at time.Time, p Packet) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil
	}
	if r.first.IsZero() {
		r.first = at
	}
	p.Time = max(at.Sub(r.first), 0) // of another direction, it can be a little earlier
	err := r.json.Encode(p)
	if err == nil && r.lines.Available() < 1<<10 {
		err = r.lines.Flush() // at the end of a line: a killed program leaves whole lines
	}
	return err
}

// Fail ends the recording because of an error, if there is one.
func (r *Recorder) Fail(err error) {
	r.mu.Lock()
	first := err != nil && r.err == nil
	if first {
		r.err = err
	}
	r.mu.Unlock()
	if first && r.Failed != nil {
		r.Failed(err)
	}
}

// Err returns the first error.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close writes the rest of the index, and returns the first error of the recording.
func (r *Recorder) Close() error {
	r.mu.Lock()
	err := errors.Join(r.lines.Flush(), r.index.Close())
	r.mu.Unlock()
	r.Fail(err)
	return r.Err()
}

// maxLine is the maximum length of a line of the index.
const maxLine = 4 << 10

// ReadIndex iterates over the packets of an index, in the order of lines, up to the first error, which
// names the line. A last line without its end, of a killed program, is left out.
func ReadIndex(r io.Reader) iter.Seq2[Packet, error] {
	return func(yield func(Packet, error) bool) {
		lines := bufio.NewReaderSize(r, maxLine)
		for n := 1; ; n++ {
			line, err := lines.ReadSlice('\n')
			if err == io.EOF {
				return
			}
			var p Packet
			if err == nil {
				err = json.Unmarshal(line, &p)
			}
			if err == nil && (p.Time < 0 || p.Connection < 1 || p.Offset < 0 || p.Length < 1 || p.Offset > math.MaxInt64-p.Length) {
				err = errors.New("a number is out of range")
			}
			if err != nil {
				yield(Packet{}, fmt.Errorf("line %d of the index: %w", n, err))
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// A Connection contains the recorded packets of a connection in order, by direction.
type Connection struct {
	Number  int64
	Packets [2][]Packet
}

// Connections returns the connections of a recording. timed is false if there is no index: then they have no
// packets. An empty index, of a program still recording, is an error.
func Connections(prefix string) (all []*Connection, timed bool, err error) {
	f, err := os.Open(IndexName(prefix))
	if errors.Is(err, fs.ErrNotExist) {
		for n := int64(1); ; n++ {
			if _, err := os.Stat(FileName(prefix, n, FromClient)); err != nil {
				if n == 1 {
					return nil, false, err
				}
				return all, false, nil
			}
			all = append(all, &Connection{Number: n})
		}
	}
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }()
	byNumber := map[int64]*Connection{}
	for p, err := range ReadIndex(f) {
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", f.Name(), err)
		}
		c := byNumber[p.Connection]
		if c == nil {
			c = &Connection{Number: p.Connection}
			byNumber[p.Connection] = c
			all = append(all, c)
		}
		c.Packets[p.Direction] = append(c.Packets[p.Direction], p)
	}
	if len(all) == 0 {
		return nil, false, fmt.Errorf("%s contains no packets: the last of them are written when recording ends", f.Name())
	}
	return all, true, nil
}

// Listen listens at an address, HOST:PORT or unix:PATH. With a prefix, it returns a Recorder of a new recording.
func Listen(addr, prefix string) (net.Listener, *Recorder, error) {
	ln, err := address.Listen(addr)
	if err != nil || prefix == "" {
		return ln, nil, err
	}
	r, err := New(prefix)
	if err != nil {
		return nil, nil, errors.Join(err, ln.Close())
	}
	return ln, r, nil
}
