package savefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/edit"
	"github.com/gdwire/gdwire/internal/values/save/outfile"
	"github.com/gdwire/gdwire/internal/values/text"
	"github.com/gdwire/gdwire/variant"
)

// A DamageError reports that a file cannot be read from Offset on. Info.Damage contains it after a
// repair.
type DamageError struct {
	// Offset is a number of bytes in the content; if Err wraps a [*fileaccess.Error], in the file.
	Offset int64
	// Err is the cause, such as a [*gdwire.Error] with the path of the damaged value, or
	// io.ErrUnexpectedEOF.
	Err error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("savefile: damaged at offset %d: %v", e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *DamageError) Unwrap() error { return e.Err }

// Errors of Open and Save. Test for them with errors.Is.
var (
	// ErrUnknown is returned for a file that is not recognized, or could be read in several ways. With
	// Lengths and Decoder.Format in the Options, nothing needs to be recognized.
	ErrUnknown = errors.New("not recognized")
	// ErrChecksum is returned by WriteTo and Save if a value looks like a checksum of edited values, cannot be computed and was not edited: 32, 40
	// or 64 hexadecimal digits, bytes or a number, under a key such as checksum, hash or sig. Options.IgnoreChecksums writes
	// such a file.
	ErrChecksum = errors.New("perhaps a wrong checksum")
	// ErrChanged is returned by Save if another program changed the file.
	ErrChanged = outfile.ErrChanged
)

// A notFoundError is the error for a path that leads to nothing.
type notFoundError struct{ error }

func (e *notFoundError) Unwrap() error { return variant.ErrNotFound }

// notFound returns err with the name of this package, wrapping variant.ErrNotFound if err reports that
// there is no value at a path.
func notFound(err error) error {
	named := fmt.Errorf("savefile: %w", err)
	if errors.As(err, new(*text.NotFoundError)) {
		return &notFoundError{named}
	}
	return named
}

// damaged returns err, or a DamageError if err reports a damaged content or container.
func damaged(err error) error {
	if err == nil {
		return nil
	}
	var zeros *save.ZerosError
	var at *gdwire.Error
	var in *fileaccess.Error
	var part save.Damage
	switch {
	case errors.As(err, new(*DamageError)):
	case errors.As(err, &zeros):
		return &DamageError{zeros.From, err}
	case errors.Is(err, gdwire.ErrLimit), errors.Is(err, gdwire.ErrObject), errors.Is(err, gdwire.ErrCall):
	case errors.Is(err, fileaccess.ErrPassword), errors.Is(err, fileaccess.ErrMode):
	case errors.As(err, new(*edit.RefusedError)): // the edit is wrong, not the file
	case errors.As(err, new(*save.ConvertError)), errors.As(err, new(*variant.TypeError)): // the value is valid and the variable of another type
	case errors.As(err, &at):
		return &DamageError{at.Offset, err}
	case errors.As(err, &in):
		return &DamageError{in.Offset, err}
	case errors.As(err, &part):
		return &DamageError{int64(part.At()), err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &DamageError{0, err}
	}
	return err
}

// named returns an error with the name of its file.
func named(err error, name string) error {
	if errors.As(err, new(*os.PathError)) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Info describes a file, or how to write one.
type Info struct {
	// Format is the format of the values. For New, 0 selects Godot4.
	Format gdwire.Format
	// Lengths says whether a length precedes each value. For New, 0 selects LittleEndian.
	Lengths Lengths
	// DoubleReals reports whether math types have components of 64 bits, as engines of double
	// precision write them; a Color and integers always have 32. Open finds the first such value in
	// the first 4 MiB of the content. WriteTo does not change the components, and Edit writes
	// components of the same size as the values around.
	DoubleReals bool
	// Container is the container: plain, compressed by FileAccess or a script, or encrypted.
	Container fileaccess.Info
	// Key is the key of an encrypted file.
	Key *fileaccess.Key `json:"-"`
	// Sure reports whether no other reading fits. Nothing depends on Sure: see File.Edit. Writers
	// ignore Sure.
	Sure bool
	// Around lists the parts that the game itself wrote around the values, in the order of offsets: a header, a
	// trailer, or records, and the numbers and checksums in these for Save to rewrite; of records, the parts of the
	// first, and wrong parts. Writers ignore Around.
	Around []Part
	// Damage describes the part removed or corrected by Options.Repair, or the first value that no engine writes so in a
	// damaged file that can be read, or is nil. Writers ignore Damage.
	Damage *DamageError
}

// A Part is a part of the bytes that a game wrote around the values.
type Part struct {
	// Offset and Size are in bytes of the content of the container.
	Offset, Size int64
	// What is "header", "trailer", "records", or the kind of a number or checksum: "size", "size of the content",
	// "number of records", "CRC-32", "Adler-32", "MD5", "SHA-1" or "SHA-256". For records, What describes the part in
	// the first record. A "checksum with a secret" is a guess: 16 bytes or more that look like a checksum and cannot be
	// computed, so the game perhaps refuses the file with other values.
	What string
	// Derived reports whether Save rewrites the part if the values are others.
	Derived bool
	// Doubtful reports whether the part can be something else than What. A part that is also Derived can be a version:
	// then Save returns an error instead of changing the part, unless Options.Keep or Derive contains its Offset.
	Doubtful bool
	// Wrong reports whether the part does not match its values, although in other records it does. Save keeps a wrong
	// part unless its values are changed.
	Wrong bool
}

// String returns a description such as "godot4, lengths, zstd", without the key.
func (i Info) String() string {
	text := i.Format.String() + ", " + i.Lengths.String()
	if c := i.Container.String(); c != fileaccess.Plain.String() {
		text += ", " + c
	}
	return text
}

// withDefaults returns i with values for the fields that can be 0.
func (i Info) withDefaults() Info {
	i.Format = cmp.Or(i.Format, gdwire.Godot4)
	i.Lengths = cmp.Or(i.Lengths, LittleEndian)
	return i
}

// Lengths says whether a length precedes each value.
type Lengths uint8

// The kinds of lengths. Options.Lengths can be 0: recognize.
const (
	NoLengths    Lengths = iota + 1 // var_to_bytes
	LittleEndian                    // store_var
	BigEndian                       // store_var with big_endian
)

var lengthsNames = [...]string{NoLengths: "no lengths", LittleEndian: "lengths", BigEndian: "big-endian lengths"}

// frame returns the frame of valid Lengths. Both are in the same order.
func (l Lengths) frame() save.Frame { return save.Frame(l - 1) }

// lengthsOf returns the Lengths of a frame.
func lengthsOf(f save.Frame) Lengths { return Lengths(f) + 1 }

// valid reports whether l is one of the constants.
func (l Lengths) valid() bool { return l > 0 && int(l) < len(lengthsNames) }

// String returns "no lengths", "lengths" or "big-endian lengths".
func (l Lengths) String() string {
	if !l.valid() {
		return fmt.Sprintf("Lengths(%d)", uint8(l))
	}
	return lengthsNames[l]
}

// Options configures [Open], [Read] and [Load]. The zero value, like nil, recognizes everything. Load merges
// several: a nonzero field replaces the same field of earlier Options.
type Options struct {
	// Decoder configures reading. If Decoder.Format is 0, the format is recognized.
	Decoder gdwire.DecoderOptions
	// Lengths says whether a length precedes each value. 0 means to recognize this.
	Lengths Lengths
	// Container contains the key or password of an encrypted file, and limits. Content compressed by a script
	// is recognized. A file that fits a known Format and Lengths is not taken for FastLZ, unless Raw and Mode
	// select FastLZ.
	Container fileaccess.Options
	// Skip is the size in bytes of a header that the game wrote before the values: in a compressed or encrypted file in
	// its content. The header is written again unchanged.
	Skip int64
	// Keep and Derive contain the offsets of doubtful numbers in Info.Around: Save leaves the numbers in Keep unchanged
	// and rewrites the numbers in Derive. An offset at which there is no such number is an error.
	Keep, Derive []int64
	// IgnoreChecksums makes WriteTo and Save write edited values also beside a value that looks like their checksum: see
	// ErrChecksum.
	IgnoreChecksums bool
	// Repair opens a damaged file up to its damage: complete values, and of the damaged value the
	// longest valid start, closed properly. A number of 64 bits, or a null, is also missing if the
	// zeros of a zeroed end begin inside, because a part of the number can be lost. Open and Read then
	// read all of the file. Info.Damage describes the missing part, with the path of the first lost
	// value. If the values take at most 4 MiB, and can all be read then, one type, count or length is corrected instead, or bytes of
	// text that are no UTF-8 become question marks. Info.Damage names other corrections that explain the file about as well.
	Repair bool
}

// A File is a saved game: one or several values. A File must not be used by several goroutines at
// the same time.
type File struct {
	// Info describes the file. WriteTo and Save write a file of this kind: to convert the file,
	// change Info. Reading does not depend on Info.
	Info Info
	// Lossy is called by WriteTo and Save for each value unknown to Info.Format, in the order of the file, when its
	// counterpart is written; see the section "Godot 4 to Godot 3". If Lossy is nil, such a value is an error.
	Lossy func(Loss)

	opened   Info // describes content
	options  Options
	paths    map[string]bool // of edits
	suspects bool            // some values can be checksums of edited ones
	content  *save.Content
	stack    *save.Stack // around content
	name     string      // of the opened file, or ""
	stat     os.FileInfo // of this file when opened
	file     *os.File    // nil if the content is held in memory
}

// A Loss is a value that another format cannot contain.
type Loss struct {
	// Path is the location of the value, such as $.player.class.
	Path string
	// Offset is the offset of the value in the content of the read file, in bytes. In a packed array, Offset can be
	// the offset of a later element.
	Offset int64
	// Value names the type missing in the format, such as "StringName".
	Value string
	// Becomes names the replacement written to the file, such as "a String" or "null".
	Becomes string
}

// String returns a sentence, such as "$.player.class: StringName becomes a String".
func (l Loss) String() string { return l.Path + ": " + l.Value + " becomes " + l.Becomes }

// Close closes the file. f cannot be read afterwards. A File of [Read] or [New] need not be closed.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Values iterates over the values. The Decoder is valid until the next iteration. The next iteration skips the unread
// rest of the value. Errors contain the offset in the content, and the path $2 in value 2; an error ends the iteration.
func (f *File) Values() iter.Seq2[*gdwire.Decoder, error] {
	return func(yield func(*gdwire.Decoder, error) bool) {
		err := f.content.Packets(save.Every, func(p *save.Packet) (bool, error) {
			if !yield(p.Decoder, nil) {
				return false, nil
			}
			return true, p.Finish(nil)
		})
		if err != nil {
			yield(nil, damaged(err))
		}
	}
}

// Unmarshal decodes the values of f, one into each of vs. More or fewer values in f are an error.
// After an error, the variables contain the values and parts decoded before the error.
func (f *File) Unmarshal(vs ...any) error {
	n := 0
	for d, err := range f.Values() {
		if err == nil && n == len(vs) {
			err = cmp.Or(d.SkipValue(), fmt.Errorf("savefile: more than %d %s", n, plural(n, "value")))
		} else if err == nil {
			err = variant.UnmarshalDecode(d, vs[n])
		}
		if err != nil {
			return damaged(err)
		}
		n++
	}
	if n < len(vs) {
		return fmt.Errorf("savefile: %d %s instead of %d", n, plural(n, "value"), len(vs))
	}
	return nil
}

// plural returns a noun, with an s unless n is 1.
func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Get decodes the value at a path into the variable that v points to, and skips everything before the
// value. The path is as in [variant.Get], $2.player.hp in value 2. The error wraps
// [variant.ErrNotFound] if there is no such value.
func (f *File) Get(path string, v any) error { return f.GetAll(map[string]any{path: v}) }

// GetAll decodes the values at several paths into the variables that vs point to, as [File.Get] does,
// reading f once for all values, up to the last:
//
//	err := f.GetAll(map[string]any{"player.hp": &hp, "player.name": &name})
//
// A path to a value containing the value of another path is read by itself, and so is another path to
// the same element, such as [-1] beside [2]. If a value is missing or does not fit its variable, GetAll
// returns the error, and other variables may have been set.
func (f *File) GetAll(vs map[string]any) error {
	var tree text.Tree
	values := map[*text.Node]any{}                      // the variables of the targets not found yet, but for those to be read by themselves
	for _, path := range slices.Sorted(maps.Keys(vs)) { // the error is then always the same
		p, err := parsePath(path)
		if err != nil {
			return err
		}
		target, err := tree.Add(p, path)
		if err != nil {
			return fmt.Errorf("savefile: %w", err)
		}
		values[target] = vs[path]
	}
	maps.DeleteFunc(values, func(p *text.Node, _ any) bool { return p.HasInner() })
	near, err := f.getFirst(&tree, values)
	if err != nil {
		return err
	}
	for _, p := range tree.Targets {
		_, missing := values[p]
		switch {
		case missing && len(tree.Targets) == 1:
			return notFound(near.NotFound(p))
		case missing || p.HasInner():
			if err := f.Get(p.Text, vs[p.Text]); err != nil {
				return err
			}
		}
	}
	return nil
}

// getFirst decodes the first value at each target into its variable, and removes the variable, until none is left.
func (f *File) getFirst(tree *text.Tree, values map[*text.Node]any) (near *text.Nearest, err error) {
	near = new(text.Nearest)
	if len(values) == 0 {
		return near, nil
	}
	take := func(p *text.Node, read func(v any) error) error {
		v, first := values[p]
		if !first { // of equal keys
			return nil
		}
		delete(values, p)
		err := read(v)
		if err == nil && len(values) == 0 {
			err = text.ErrFound
		}
		return err
	}
	edit.ResolveReals(f.content, tree)
	w := &text.Walker{Key: near.Key}
	w.Value = func(p *text.Node) (goOn bool, err error) {
		_, first := values[p]
		return !first, take(p, func(v any) error { return variant.UnmarshalDecode(w.Decoder, v) })
	}
	w.Part = func(p *text.Node, part text.Part) error {
		return take(p, func(v any) error { return f.unmarshalPart(&part, v) })
	}
	if err = edit.Walk(f.content, tree, w); err == text.ErrFound {
		err = nil
	}
	return near, damaged(err)
}

// parsePath parses a path. A path that was cut, or that can mean two keys, is an error.
func parsePath(path string) (text.Path, error) {
	p, err := text.Parse(path)
	switch {
	case err != nil:
	case p.Cut:
		err = fmt.Errorf("%s is only the start of a path", path)
	case p.Bare:
		err = fmt.Errorf("%s: an index or int key is in brackets", path)
	}
	if err != nil {
		err = fmt.Errorf("savefile: %w", err)
	}
	return p, err
}

// unmarshalPart decodes an element of a packed array or a component.
func (f *File) unmarshalPart(part *text.Part, v any) error {
	double := part.Bits == 64
	e := gdwire.NewEncoder(nil, &gdwire.EncoderOptions{DoubleReals: double, AllowInvalidUTF8: true})
	defer func() { _ = e.Close() }()
	e.ResetBytes(nil)
	if err := part.Value.Write(e, double); err != nil {
		return err
	}
	return variant.Unmarshal(e.Bytes(), v, variant.Options{Decoder: gdwire.DecoderOptions{AllowInvalidUTF8: true}})
}

// New returns a File in memory with the encodings of values, to be written as info says.
// Of info, Format and Lengths can be zero: Godot4, and lengths as store_var writes them.
func New(info Info, values ...any) (*File, error) {
	info = info.withDefaults()
	if !info.Lengths.valid() {
		return nil, fmt.Errorf("savefile: unknown %v", info.Lengths)
	}
	info.Sure, info.Damage = true, nil
	c := &save.Content{
		Frame:   info.Lengths.frame(),
		Decoder: gdwire.DecoderOptions{Format: info.Format, AllowObjects: true, DoubleReals: info.DoubleReals},
		Encoder: gdwire.EncoderOptions{Format: info.Format, DoubleReals: info.DoubleReals, Depth: -1},
	}
	var all []byte
	for i, v := range values {
		b, err := variant.Marshal(v, variant.Options{Encoder: c.Encoder})
		if err != nil {
			return nil, fmt.Errorf("savefile: value %d: %w", i, err)
		}
		if c.Frame != save.Bare {
			if all, err = appendLength(all, c.Frame, int64(len(b))); err != nil {
				return nil, err
			}
		}
		all = append(all, b...)
	}
	c.ReaderAt, c.Size = save.Block(all), int64(len(all))
	return &File{Info: info, opened: info, content: c, stack: new(save.Stack), paths: map[string]bool{}, options: Options{IgnoreChecksums: true}}, nil
}

// appendLength appends the length of a value.
func appendLength(dst []byte, frame save.Frame, n int64) ([]byte, error) {
	if n > math.MaxUint32 {
		return nil, fmt.Errorf("savefile: a value of %d bytes is too long for a length of 32 bits", n)
	}
	return frame.Order().AppendUint32(dst, uint32(n)), nil
}
