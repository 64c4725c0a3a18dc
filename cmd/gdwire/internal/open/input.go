package open

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/stream"
	"golang.org/x/term"
)

// An opened input, and its packets.

// An Input is an opened input, and the way to read it.
type Input struct {
	*save.Stack
	Operand    string // the name on the command line
	Recognized bool   // the format or frame was recognized
	Unsure     error  // why a command that writes must not use a damaged file, or nil

	infof func(format string, args ...any)
}

// Packets iterates over the packets in r, followed by a message on how many packets are compressed, if any.
func (in *Input) Packets(r io.Reader) iter.Seq[*save.Packet] {
	return func(yield func(*save.Packet) bool) {
		var all, packed int64
		modes := map[string]int64{}
		for p := range Packets(&in.Reading, r) {
			if all++; p.Packed != nil {
				packed++
				modes[p.Packed.ModeName()]++
			}
			if !yield(p) {
				break
			}
		}
		if packed == 0 {
			return
		}
		var texts []string
		for _, mode := range Modes {
			if n := modes[mode.String()]; n > 0 {
				texts = append(texts, fmt.Sprintf("%s with %v", humanize.Comma(n), mode))
			}
		}
		in.infof("%s: %s of %s packets are compressed as by a script: %s", in.Name, humanize.Comma(packed), humanize.Comma(all), strings.Join(texts, ", "))
	}
}

// zerosError returns an error for a file with zeros in place of the end, or nil.
func zerosError(err error, name string) error {
	if zeros := (*save.ZerosError)(nil); errors.As(err, &zeros) {
		return fmt.Errorf("%s is damaged: %w; gdwire repair keeps the values before the damage; with -format and -frame, the zeros are read as values", name, zeros)
	}
	return err
}

// CheckZeros returns an error if the end of a content became zeros. Recognition reads only the start of the
// content and does not find them.
func (in *Input) CheckZeros(c *save.Content) error {
	if !in.Recognized {
		return nil
	}
	return zerosError(c.CheckZeros(false), in.Name)
}

// Faults returns an error for each wrong checksum of records, and one error for all after the tenth.
func (in *Input) Faults() (errs []error) {
	const most = 10
	for p := range in.Parts {
		if p.Wrong {
			errs = append(errs, fmt.Errorf("%s: %s", in.Name, p.Fault()))
		}
	}
	if more := len(errs) - most; more > 0 {
		errs = append(errs[:most], fmt.Errorf("%s: %d more of these", in.Name, more))
	}
	return errs
}

// CheckEnd returns an error if the end of a file became zeros. A pipe is not checked, because its content can be
// read only once.
func (in *Input) CheckEnd() error {
	if in.Live() {
		return nil
	}
	c, err := in.Content()
	if err != nil {
		return err
	}
	return in.CheckZeros(c)
}

// pipeWait is the time until the message about waiting for the writer of a pipe. Tests change the time.
var pipeWait = time.Second

// noteWaiting says that the command waits for the writer of a pipe, unless stop is called before pipeWait.
func noteWaiting(s *shell.Stdio, name string) (stop func()) {
	info, err := os.Stat(name)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return func() {}
	}
	noted := make(chan struct{})
	wait := time.AfterFunc(pipeWait, func() {
		defer close(noted)
		s.Logf("%s is a pipe; waiting for a program that writes to it", name)
	})
	return func() {
		if !wait.Stop() {
			<-noted
		}
	}
}

// Container returns the options for the container of an input. The content of a regular file is not limited, unless
// held in memory.
func (o *Flags) Container(s *shell.Stdio, in *save.Input) fileaccess.Options {
	fo := fileaccess.Options{AskKey: func(fileaccess.Info) (*fileaccess.Key, error) { return o.Keys.Key(s, in.Name) }}
	if o.raw != nil {
		fo.Raw, fo.Mode = true, *o.raw
	}
	if fo.Limits.Size = o.maxContent; !in.Live() && !o.Held && fo.Limits.Size == 0 {
		fo.Limits.Size = -1
	}
	return fo
}

// File opens the file of the given name, or standard input. The output of an editing command
// may replace a save.
func File(s *shell.Stdio, name string, saved bool) (*save.Input, error) {
	if save.IsStdin(name) {
		s.InputRead = true
		if f, ok := s.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			s.Logf("reading from the terminal; end with Ctrl-D, or Ctrl-Z and Enter on Windows")
		}
	}
	stop := noteWaiting(s, name)
	in, err := save.OpenInput(name, s.In)
	stop()
	if err != nil {
		return nil, err
	}
	if err := s.ReplacedBy(in.Name, in.Path, in.Info, saved); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// OpenStack opens the input of the given name.
func (o *Flags) OpenStack(s *shell.Stdio, name string) (*save.Stack, error) {
	in, err := File(s, name, true)
	if err != nil {
		return nil, err
	}
	stack, err := in.Open(&save.OpenOptions{
		Container: o.Container(s, in), Skip: o.Skip, Whole: s.Edits, Packets: o.Packets, Keep: o.Keep, Derive: o.Derive,
		Known: o.Known(), Reading: o.Reading,
	})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return stack, nil
}

const (
	lengthSize = 4 // of a length in bytes
	headerSize = 4 // of the shortest value
	bufferSize = 32 << 10
)

// StreamOptions returns the options for length-prefixed packets.
func StreamOptions(o *save.Reading) *stream.Options {
	return &stream.Options{
		MaxPacket: o.MaxPacket, BigEndianLength: o.Frame == save.U32BE,
		Decoder: o.Decoder, Encoder: o.Encoder(),
	}
}

// A framer reads length-prefixed packets.
type framer struct {
	Source
	next    func() (*gdwire.Decoder, error)
	packed  *save.Unpacked // the latest packet if compressed, or nil
	raw     []byte         // the latest packet if next reads whole packets
	skipped []byte         // its start, not read
	offset  func() int64   // the number of bytes read
	gate    *gate          // nil if next reads whole packets
	filled  bool           // bytes after the value of a packet are an error
}

// A Source is a reader of length-prefixed packets, of a *stream.Reader or a *stream.Conn.
type Source interface {
	Next() (*gdwire.Decoder, error)
	NextRaw(dst []byte) ([]byte, error)
	PacketOffset() int64
	PacketSize() int64
}

// newFramer returns a framer that reads packets in parts. Packets may be larger than memory, except those with a
// header that no engine writes, because they can be compressed.
func newFramer(r io.Reader, o *save.Reading) *framer {
	in := bufio.NewReaderSize(r, bufferSize)
	g := &gate{r: in, remaining: math.MaxInt64}
	s := stream.NewReader(g, StreamOptions(o))
	f := &framer{Source: s, offset: s.InputOffset, gate: g, filled: o.Filled}
	d := o.NewDecoder()
	var raw []byte
	f.next = func() (_ *gdwire.Decoder, err error) {
		f.packed = nil
		d.ResetBytes(nil)
		if err := f.Rest(s.PacketOffset() + s.PacketSize()); err != nil {
			return nil, err
		}
		if !f.mayBePacked(in, o) {
			return s.Next()
		}
		if raw, err = s.NextRaw(raw[:0]); err != nil {
			return nil, err
		}
		u := o.Unpack(raw)
		f.use(&u)
		d.ResetBytes(u.Value)
		return d, nil
	}
	return f
}

// mayBePacked reports whether the next packet in the input of the gate can be compressed. The gate ends after the
// packet, so that nothing is read ahead of the next call.
func (f *framer) mayBePacked(in *bufio.Reader, o *save.Reading) bool {
	f.gate.remaining = math.MaxInt64
	head, err := in.Peek(lengthSize)
	if err != nil {
		return false // Next returns this error
	}
	n := int64(o.Frame.Order().Uint32(head))
	f.gate.remaining = lengthSize + n
	if n < headerSize || n > o.UnpackLimit() {
		return false
	}
	head, err = in.Peek(lengthSize + headerSize)
	return err == nil && save.MayBePacked(head[lengthSize:])
}

// use notes the latest packet if compressed.
func (f *framer) use(u *save.Unpacked) {
	if u.Compressed {
		f.packed = u
	}
}

// newWholeFramer returns a framer that returns packets after receiving them completely. The first
// packet readable in only one of the candidate formats decides the format.
func newWholeFramer(s Source, o *save.Reading) *framer {
	d, format := o.NewDecoder(), o.Decoder.Format
	f := &framer{Source: s, filled: o.Filled}
	f.offset = func() int64 { return s.PacketOffset() + int64(len(f.raw)) }
	f.next = func() (_ *gdwire.Decoder, err error) {
		f.packed = nil
		d.ResetBytes(nil) // s may drop the memory of the packet
		f.raw, err = s.NextRaw(f.raw[:0])
		f.skipped = o.Skipped(f.raw)
		u := save.Unpacked{Value: f.raw[len(f.skipped):]}
		switch {
		case err != nil:
		case save.MayBePacked(u.Value):
			u = o.Unpack(f.raw)
			f.use(&u)
		case o.Candidates != nil:
			o.DecideFormat(u.Value)
		}
		if format != o.Decoder.Format {
			d, format = o.NewDecoder(), o.Decoder.Format
		}
		d.ResetBytes(u.Value)
		return d, err
	}
	return f
}

// packets iterates over the packets.
func (f *framer) packets(yield func(*save.Packet) bool) {
	none := gdwire.NewDecoder(nil, nil)
	last := int64(-1)
	for i := int64(0); ; i++ {
		d, err := f.next()
		at := f.PacketOffset()
		if err == io.EOF || err == io.ErrUnexpectedEOF && at == last {
			return // the previous packet was truncated, as already reported
		}
		if err != nil {
			d = none
		}
		last = at
		at += int64(len(f.skipped))
		p := &save.Packet{Decoder: d, Index: i, Offset: at, Base: at, End: at, Frames: f, Size: last + f.PacketSize() - at, Packed: f.packed, Raw: f.raw, Skipped: f.skipped}
		switch {
		case p.Packed == nil:
		case p.Packed.Err != nil:
			err = p.Packed.Err
		default:
			p.Base = 0
		}
		p.SetError(err)
		if !yield(p) || p.Err != nil && !stream.Skippable(p.Err) {
			return
		}
	}
}

// Rest reads the rest of the packet up to offset end, without waiting for the next packet. The
// packet's Decoder is invalid afterwards.
func (f *framer) Rest(end int64) error {
	if f.gate == nil || f.InputOffset() >= end {
		return nil
	}
	f.gate.remaining = end - f.InputOffset()
	_, err := f.Next() // skips the rest, then fails at the gate or at the end of the input
	f.gate.remaining = math.MaxInt64
	if err == errClosed || err == io.EOF {
		return nil
	}
	return err
}

// InputOffset returns the number of bytes read.
func (f *framer) InputOffset() int64 { return f.offset() }

// Skippable reports whether packets follow after an error.
func (f *framer) Skippable(err error) bool { return stream.Skippable(err) }

// Filled reports whether bytes after the value of a packet are an error.
func (f *framer) Filled() bool { return f.filled }

// A gate is a Reader of the next remaining bytes of r.
type gate struct {
	r         io.Reader
	remaining int64
}

var errClosed = errors.New("no more for now")

func (g *gate) Read(p []byte) (int, error) {
	if g.remaining == 0 {
		return 0, errClosed
	}
	n, err := g.r.Read(p[:min(int64(len(p)), g.remaining)])
	g.remaining -= int64(n)
	return n, err
}

// Packets iterates over the packets in r.
func Packets(o *save.Reading, r io.Reader) iter.Seq[*save.Packet] {
	switch {
	case o.Candidates != nil:
		return WholePackets(o, stream.NewReader(r, StreamOptions(o)))
	case o.Framed():
		return newFramer(r, o).packets
	}
	return save.Values(r, &o.Decoder)
}

// WholePackets iterates over the length-prefixed packets read by s, each after being received
// completely. The first packet readable in only one of the Candidates decides the format.
func WholePackets(o *save.Reading, s Source) iter.Seq[*save.Packet] {
	return newWholeFramer(s, o).packets
}
