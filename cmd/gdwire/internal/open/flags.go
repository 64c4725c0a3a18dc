// Package open opens inputs as the user names them, recognizes their formats, and prints their values.
package open

import (
	"bufio"
	"cmp"
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
	"github.com/gdwire/gdwire/internal/base/wire"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/stream"
	"golang.org/x/term"
)

// Inputs as the user names them, and the flags that say how to read them.

// Modes contains the choices of -compressed: the modes written by engines.
var Modes = []fileaccess.Mode{fileaccess.FastLZ, fileaccess.Deflate, fileaccess.Zstd, fileaccess.Gzip}

// Frames contains the choices of -frame.
var Frames = []save.Frame{save.Bare, save.U32, save.U32BE}

// Values are the flags about values.
type Values struct {
	Decoder gdwire.DecoderOptions // without limits; Format is 0 unless -format is given
	Frame   save.Frame

	flags *shell.Flags
}

// ValueFlags defines the flags about values. objects is the default of -objects.
func (v *Values) ValueFlags(f *shell.Flags, objects bool) {
	v.flags = f
	d := &v.Decoder
	shell.Choose(f, "format", "`FORMAT` of the values", gdwire.Formats(), &d.Format, gdwire.Format.String)
	shell.Choose(f, "frame", "`LENGTH` that precedes each packet", Frames, &v.Frame, save.Frame.String)
	f.BoolVar(&d.AllowObjects, "objects", objects, "allow serialized objects")
	f.BoolVar(&d.AllowInvalidUTF8, "any-utf8", false, "accept text that is not UTF-8")
	f.BoolVar(&d.DoubleReals, "double", false, "read math types of 64 bits in the manuals' formats")
}

// StrictFlag defines the flag about values to be read.
func (v *Values) StrictFlag(f *shell.Flags) {
	f.BoolVar(&v.Decoder.Strict, "strict", false, "refuse input that engines accept but never write")
}

// Known tells which of format and frame are chosen.
func (v *Values) Known() save.Known {
	if v.flags == nil {
		return save.Known{}
	}
	return save.Known{Format: v.flags.Given("format"), Frame: v.flags.Given("frame")}
}

// Limits are the flags for limits.
type Limits struct {
	values     gdwire.Limits
	maxPacket  int64
	maxContent int64
	flags      *shell.Flags
}

// A limit is a flag for one of the limits.
type limit struct {
	name, limit, text string
	file              int64 // the limit for a regular file, whose size bounds memory; or 0 for the same
	set               func(*Limits, int64)
}

// limits contains a flag for each limit except for the content of containers.
var limits = []limit{
	{"max-depth", "Depth", "containers around a value [1024]", 0, func(l *Limits, n int64) { l.values.Depth = int(min(n, math.MaxInt)) }},
	{"max-elements", "Elements", "elements, pairs or properties of a container [1 Mi]", math.MaxInt64, func(l *Limits, n int64) { l.values.Elements = n }},
	{"max-values", "Values", "values in a top-level value [16 Mi]", math.MaxInt64, func(l *Limits, n int64) { l.values.Values = n }},
	{"max-string", "StringBytes", "bytes of a string [16 MiB]", math.MaxInt64, func(l *Limits, n int64) { l.values.StringBytes = n }},
	{"max-name", "NameBytes", "bytes of the name of a class, property or signal [1 KiB]", 0, func(l *Limits, n int64) { l.values.NameBytes = n }},
	{"max-packed", "PackedBytes", "bytes of a packed array or image [256 MiB]", math.MaxInt64, func(l *Limits, n int64) { l.values.PackedBytes = n }},
	{"max-bytes", "Bytes", "bytes of a top-level value [no limit]", 0, func(l *Limits, n int64) { l.values.Bytes = n }},
	{"max-packet", "MaxPacket", "bytes of a packet, and of its value if it is compressed [8 MiB]", math.MaxUint32, func(l *Limits, n int64) { l.maxPacket = n }},
}

// contentLimit is the flag for the limit of the content of containers.
var contentLimit = limit{"max-content", "Size", "bytes of the content of a compressed or encrypted file [256 MiB]", 0, func(l *Limits, n int64) { l.maxContent = n }}

// LimitFlags defines the flags for limits of values and packets.
func (l *Limits) LimitFlags(f *shell.Flags) {
	for _, one := range limits {
		l.define(f, one)
	}
}

func (l *Limits) define(f *shell.Flags, one limit) {
	l.flags = f
	f.Limit(one.name, one.text, func(n int64) { one.set(l, n) })
}

// raised returns the limits for a file. What a length or count says beyond its end is damage, which no flag helps to read.
func (l Limits) raised() Limits {
	for _, one := range limits {
		if one.file > 0 && (l.flags == nil || !l.flags.Given(one.name)) {
			one.set(&l, one.file)
		}
	}
	return l
}

// words replaces words in messages of packages with words of the command.
var words = strings.NewReplacer(
	"for JSON, see package gdjson", "gdwire encode makes values of JSON",
	": see packages savefile and stream", ": see -frame",
	"in the other byte order,", "in the other byte order (see -frame),",
	"a compressed file, see package savefile", "a compressed file",
	"an encrypted file, see package savefile", "an encrypted file",
	"Limits.Size to be disabled", "-max-content none", "a larger Limits.Size", "a larger -max-content")

// ErrorText returns the text of an error with a hint at the flag that helps.
func ErrorText(err error) string { return shell.Printable(words.Replace(err.Error())) + hint(err) }

func hint(err error) string {
	switch {
	case errors.Is(err, gdwire.ErrObject):
		return "; allow them with -objects"
	case errors.Is(err, gdwire.ErrUTF8):
		return "; accept it with -any-utf8"
	case errors.As(err, new(*save.LossError)):
		return "; -lossy writes that"
	}
	name := ""
	var limit *gdwire.LimitError
	var file *fileaccess.LimitError
	var packet *stream.PacketTooLongError
	switch {
	case errors.As(err, &limit):
		name = limit.Name
	case errors.As(err, &file):
		name = file.Name
	case errors.As(err, &packet) && wire.LengthHint(packet.Size, packet.Max) == "":
		name = "MaxPacket"
	}
	for _, l := range append(limits[:len(limits):len(limits)], contentLimit) {
		if l.limit == name {
			return "; raise it with -" + l.name
		}
	}
	return ""
}

// Flags are the flags and requirements of a command that opens files.
type Flags struct {
	Values
	Limits
	Keys shell.Keys
	Skip int64 // bytes

	Keep, Derive []int64 // offsets of numbers around the values

	raw        *fileaccess.Mode // the choice of -compressed, or nil
	packetSkip int64            // -skip of packets

	Writes   bool // the command writes values, so the input must not be damaged
	Packets  bool // packets compressed by a script are opened, to edit their values
	NonEmpty bool // the command returns an error for an input without values
	Held     bool // the command holds the content of a container in memory
	Filled   bool // bytes after the value of a packet are always an error
}

// Reading returns the Reading of a file of the given size, or of another input if size is negative.
func (o *Flags) Reading(size int64) save.Reading {
	limits := o.Limits
	if size >= 0 {
		limits = limits.raised()
	}
	r := save.Reading{Decoder: o.Decoder, Frame: o.Frame, MaxPacket: limits.maxPacket, MaxUnpacked: o.maxPacket, Skip: o.packetSkip}
	r.Decoder.Limits = limits.values
	return r
}

// FileFlags defines the flags about containers of files.
func (o *Flags) FileFlags(f *shell.Flags) {
	o.Keys.Flags(f)
	var modes []*fileaccess.Mode
	for i := range Modes {
		modes = append(modes, &Modes[i])
	}
	shell.Choose(f, "compressed", "the input is compressed by a script in `MODE` (needed only for fastlz that is not recognized: in a pipe, or around anything but values)", modes, &o.raw, (*fileaccess.Mode).String)
	o.define(f, contentLimit)
}

// SkipFlag defines -skip.
func (o *Flags) SkipFlag(f *shell.Flags) {
	f.Size("skip", "skip `N` bytes, such as a saved game's own header, in the file or what it contains compressed or encrypted", func(n int64) { o.Skip = max(n, 0) })
}

// PacketFlags defines the flags of a command reading packets of connections.
func (o *Flags) PacketFlags(f *shell.Flags, objects bool) {
	o.ValueFlags(f, objects)
	o.StrictFlag(f)
	o.LimitFlags(f)
	f.Size("skip", "skip `N` bytes at the start of each packet, such as a type byte of the game's own", func(n int64) { o.packetSkip = max(n, 0) })
}

// WriteFlags defines the flags of a command writing new files.
func (o *Flags) WriteFlags(f *shell.Flags, objects bool) {
	o.ValueFlags(f, objects)
	o.FileFlags(f)
	f.QuietFlag()
	o.LimitFlags(f)
}

// EditFlags defines the flags of a command editing files.
func (o *Flags) EditFlags(f *shell.Flags, objects bool) {
	o.WriteFlags(f, objects)
	o.StrictFlag(f)
	o.HeaderFlags(f)
}

// HeaderFlags defines the flags about the bytes around values, of a command writing them again.
func (o *Flags) HeaderFlags(f *shell.Flags) {
	o.SkipFlag(f)
	f.Size("keep", "keep the number at offset `N` of the game's own header, which can be a size or something else", func(n int64) { o.Keep = append(o.Keep, n) })
	f.Size("derive", "write the number at offset `N` of the game's own header anew, as a size", func(n int64) { o.Derive = append(o.Derive, n) })
}

// ReadFlags defines the flags of a command reading files.
func (o *Flags) ReadFlags(f *shell.Flags, objects bool) {
	o.WriteFlags(f, objects)
	o.StrictFlag(f)
	o.SkipFlag(f)
}

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

// Explain returns an error about the values with what to do.
func (in *Input) Explain(err error) error {
	if zeros := (*save.ZerosError)(nil); errors.As(err, &zeros) {
		return fmt.Errorf("%s is damaged: %w; gdwire repair keeps the values before the damage; with -format and -frame, the zeros are read as values", in.Name, zeros)
	}
	return err
}

// CheckZeros returns an error if the end of a content became zeros. Recognition reads only the start of the
// content and does not find them.
func (in *Input) CheckZeros(c *save.Content) error {
	if !in.Recognized {
		return nil
	}
	return in.Explain(c.CheckZeros(false))
}

// Faults returns an error for each wrong checksum of records, and one error for all after the tenth.
func (in *Input) Faults() (errs []error) {
	const most = 10
	for p := range in.Explained().Regions {
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
		Known: o.Known(), Reading: o.Reading(in.Size),
	})
	if err == nil && s.Edits && stack.Values.Unknown() == nil {
		err = stack.Explained().CheckNumbers(o.Keep, o.Derive)
	}
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
		if err := f.rest(s.PacketOffset() + s.PacketSize()); err != nil {
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
		value := f.raw[len(f.skipped):]
		switch {
		case err != nil:
		case save.MayBePacked(value):
			u := o.Unpack(f.raw)
			f.use(&u)
			value = u.Value
		case o.Candidates != nil:
			o.DecideFormat(value)
		}
		if format != o.Decoder.Format {
			d, format = o.NewDecoder(), o.Decoder.Format
		}
		d.ResetBytes(value)
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
		f.setError(p, err)
		if !yield(p) || p.Err != nil && !stream.Skippable(p.Err) {
			return
		}
	}
}

// rest reads the rest of the packet up to offset end, without waiting for the next packet. The
// packet's Decoder is invalid afterwards.
func (f *framer) rest(end int64) error {
	if f.gate == nil || f.offset() >= end {
		return nil
	}
	f.gate.remaining = end - f.offset()
	_, err := f.Next() // skips the rest, then fails at the gate or at the end of the input
	f.gate.remaining = math.MaxInt64
	if err == errClosed || err == io.EOF {
		return nil
	}
	return err
}

// Finish reads the rest of the packet after its value was read up to err, and returns the packet's error. A truncated packet
// is invalid even if its value is complete.
func (f *framer) Finish(p *save.Packet, err error) error {
	if err == nil { // with -strict, bytes after the value are an error
		if _, err = p.ReadToken(); err == io.EOF {
			err = nil
		}
	}
	end := p.ReadOffset()
	if err == nil || stream.Skippable(err) {
		err = cmp.Or(f.rest(p.Offset+p.Size), err)
	}
	switch {
	case p.Packed != nil:
		p.End = p.Offset + p.Size
	case err == nil || stream.Skippable(err):
		p.End = end
	}
	if n := p.Trailing(); err == nil && n > 0 && f.filled {
		err = &gdwire.Error{Offset: end - p.Base, Path: "$", Err: fmt.Errorf("%d bytes follow the value in its packet", n)}
	}
	f.setError(p, err)
	return p.Err
}

// setError sets the error of a packet.
func (f *framer) setError(p *save.Packet, err error) {
	if err == io.ErrUnexpectedEOF { // not wrapped: the input ends inside the packet
		at := f.offset()
		if missing := p.Offset + p.Size - at; p.Size > 0 && missing > 0 {
			err = fmt.Errorf("the packet is cut: %d of its %d bytes are missing: %w%s", missing, p.Size, err, wire.LengthHint(p.Size, at-p.Offset))
		}
		p.Err = &gdwire.Error{Offset: at, Path: "$", Err: err}
		return
	}
	p.Err = p.FromStart(err)
}

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
	return save.Values(gdwire.NewDecoder(r, &o.Decoder))
}

// WholePackets iterates over the length-prefixed packets read by s, each after being received
// completely. The first packet readable in only one of the Candidates decides the format.
func WholePackets(o *save.Reading, s Source) iter.Seq[*save.Packet] {
	return newWholeFramer(s, o).packets
}
