package compare

import (
	"bufio"
	"cmp"
	"hash/maphash"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/base/checked"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/variant"
)

// Large values as trees in which each part of both files is a number: most of two saves is equal.

const (
	// mostOutlined is the maximum number of values of a file with an outline, because a compressed file is read again up
	// to each of them.
	mostOutlined = 16
	// perPart is the memory in bytes for each part, as a part of the limit for values.
	perPart = 256
	// maxTrees is the number of trees built of a value before the tree without numbers in place of parts.
	maxTrees = 4
)

// The minimum sizes in bytes of a value with an outline, and of a part in the outline of a small file. Tests change them.
var minOutlined, minPart int64 = 1 << 20, 128

// A part is a value, other than a key.
type part struct {
	start, end int64 // offsets in the file
	digest     uint64
	memory     int64 // the least memory for the part in a tree, in bytes
}

// An outline contains the large parts of a value, ordered by their start. The first is the value.
type outline []part

// hasOutline reports whether a packet is read as an outline first.
func (f *File) hasOutline(p *save.Packet) bool {
	size := f.Size
	if p.Framed() {
		size = p.Size
	}
	return p.Err == nil && p.Packed == nil && (p.Framed() || p.Index == 0) && size >= max(minOutlined, f.Size/mostOutlined)
}

// outline reads a packet.
func (f *File) outline(p *save.Packet, seed maphash.Seed) (outline, error) {
	r := outliner{Decoder: p.Decoder, base: p.Base, least: minPart, most: math.MaxInt, seed: seed, secrets: [2]uint64{maphash.Comparable(seed, 0), maphash.Comparable(seed, 1)}}
	if limit := f.memory(); limit >= 0 {
		r.most = int(limit / perPart)
	}
	r.payload.SetSeed(seed)
	_, err := r.value(false)
	slices.SortFunc(r.parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	return r.parts, f.wrap(p.Finish(err))
}

// An outliner reads values and computes digests: numbers that, but for a chance of one in 2^64, differ for different
// values. Equal values that are not encoded alike, such as pairs in another order, can have different digests.
type outliner struct {
	*gdwire.Decoder
	base    int64   // the offset of the input in the file
	parts   outline // in the order of their ends
	least   int64   // the size in bytes of the smallest parts
	most    int     // the maximum number of parts
	memory  int64   // the least memory for what was read, in bytes
	seed    maphash.Seed
	secrets [2]uint64
	payload maphash.Hash
}

// value returns the digest of the next value, and adds its parts unless the value is a key.
func (r *outliner) value(isKey bool) (digest uint64, err error) {
	start, memory, depth := r.InputOffset(), r.memory, r.Depth()
	t, err := r.token()
	if err != nil {
		return 0, err
	}
	switch digest = r.digest(t); t.Kind() {
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
		digest, err = r.inside(digest, t.Kind(), t.Len(), isKey)
	case gdwire.KindNil, gdwire.KindBool, gdwire.KindInt32, gdwire.KindInt64, gdwire.KindFloat32, gdwire.KindFloat64:
	default:
		digest, err = r.payloads(digest, t, depth)
	}
	if end := r.InputOffset(); err == nil && !isKey && (end-start >= r.least || depth == 0) {
		r.parts = append(r.parts, part{r.base + start, r.base + end, digest, r.memory - memory})
		for len(r.parts) > max(r.most, 1) {
			r.least *= 2
			r.parts = slices.DeleteFunc(r.parts, func(p part) bool { return p.end-p.start < r.least && p.end != r.base+end })
		}
	}
	return digest, err
}

// token reads a token.
func (r *outliner) token() (gdwire.Token, error) {
	t, err := r.ReadToken()
	if err == nil {
		r.memory += leastMemory(t)
	}
	return t, err
}

// inside reads n elements, pairs or properties of a container, and the End.
func (r *outliner) inside(digest uint64, kind gdwire.Kind, n int64, isKey bool) (uint64, error) {
	add := func(isKey bool) error {
		value, err := r.value(isKey)
		digest = r.mix(digest, value)
		return err
	}
	for range n {
		var err error
		if kind != gdwire.KindArrayStart {
			var name gdwire.Token // or a DictKey
			if name, err = r.token(); err == nil {
				digest = r.mix(digest, r.digest(name))
			}
		}
		if err == nil && kind == gdwire.KindDictStart {
			err = add(true)
		}
		if err == nil {
			err = add(isKey)
		}
		if err != nil {
			return 0, err
		}
	}
	_, err := r.token()
	return digest, err
}

// payloads reads the tokens of a value from t on, up to the last one at a depth, wherever its chunks end.
func (r *outliner) payloads(digest uint64, t gdwire.Token, depth int) (uint64, error) {
	r.payload.Reset()
	text := 0 // bytes of a text so far
	for {
		_, _ = r.payload.Write(t.Bytes())
		if text += len(t.Bytes()); t.Last() {
			digest, text = r.mix(digest, uint64(text)), 0
		}
		if r.Depth() <= depth {
			return r.mix(digest, r.payload.Sum64()), nil
		}
		var err error
		if t, err = r.token(); err != nil {
			return 0, err
		}
	}
}

// digest returns the digest of a token, without the payload of a value.
func (r *outliner) digest(t gdwire.Token) uint64 {
	number := t.ID()
	switch t.Kind() {
	case gdwire.KindBool:
		if t.Bool() {
			number = 1
		}
	case gdwire.KindInt32, gdwire.KindInt64:
		number = uint64(t.Int())
	case gdwire.KindFloat32, gdwire.KindFloat64:
		number = math.Float64bits(t.Float())
	case gdwire.KindNodePathStart:
		names, subnames, absolute := t.NodePath()
		number = r.mix(uint64(names), uint64(subnames))
		if absolute {
			number++
		}
	case gdwire.KindInputEvent:
		event, device := t.Event()
		number = uint64(event)<<32 | uint64(device)
	case gdwire.KindProperty:
		number = maphash.Bytes(r.seed, t.Bytes())
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindObjectStart:
		if number = uint64(t.Len()); len(t.Bytes()) > 0 { // declared types, or the class
			number = r.mix(number, maphash.Comparable(r.seed, [...]gdwire.Elem{t.KeyElem(), t.Elem()})^maphash.Bytes(r.seed, t.Bytes()))
		}
	}
	return r.mix(uint64(t.Type())<<8|uint64(t.Width()), number)
}

// mix returns the digest of two digests or numbers.
func (r *outliner) mix(x, y uint64) uint64 {
	high, low := bits.Mul64(x^r.secrets[0], y^r.secrets[1])
	return high ^ low
}

// sharedBy returns the digests of parts of both values.
func sharedBy(a, b outline) map[uint64]bool {
	shared := make(map[uint64]bool, len(a))
	for i := range a {
		shared[a[i].digest] = false
	}
	for i := range b {
		if _, ok := shared[b[i].digest]; ok {
			shared[b[i].digest] = true
		}
	}
	return shared
}

// keep removes from shared the digests of the parts wanted in a tree, and of the parts inside these.
func (o outline) keep(shared, wanted map[uint64]bool) {
	end := int64(0)
	for i := range o {
		if wanted[o[i].digest] {
			end = max(end, o[i].end)
		}
		if o[i].start < end {
			shared[o[i].digest] = false
		}
	}
}

// A pruner reads a value with an int, the digest, in place of each part with a shared digest.
type pruner struct {
	parts  outline // those not yet read
	shared map[uint64]bool
	in     *bufio.Reader
	at     int64 // offset of in
	end    int64
	format gdwire.Format
	digest []byte // the rest of an int
}

// next returns the next part to replace, or nil.
func (r *pruner) next() *part {
	for ; len(r.parts) > 0; r.parts = r.parts[1:] {
		if p := &r.parts[0]; p.start >= r.at && r.shared[p.digest] {
			return p
		}
	}
	return nil
}

func (r *pruner) Read(b []byte) (n int, err error) {
	if len(r.digest) == 0 {
		p, end := r.next(), r.end
		if p != nil {
			end = p.start
		}
		if r.at < end {
			n, err = r.in.Read(b[:min(int64(len(b)), end-r.at)])
			r.at += int64(n)
			return n, checked.NoEOF(err)
		}
		if p == nil {
			return 0, io.EOF
		}
		if _, err = r.in.Discard(int(p.end - p.start)); err != nil {
			return 0, checked.NoEOF(err)
		}
		r.at = p.end
		if r.digest, err = variant.Marshal(int64(p.digest), variant.Options{Encoder: gdwire.EncoderOptions{Format: r.format}}); err != nil {
			return 0, err
		}
	}
	n = copy(b, r.digest)
	r.digest = r.digest[n:]
	return n, nil
}

// prune returns a value as a tree, with an int in place of each part with a shared digest.
func (f *File) prune(o outline, shared map[uint64]bool) (v any, err error) {
	all := o[0]
	least, c := all.memory, pruner{parts: o, shared: shared}
	for p := c.next(); p != nil; p = c.next() {
		least, c.at = least-p.memory, p.end
	}
	if limit := f.memory(); limit >= 0 && least > limit {
		return nil, &gdwire.LimitError{Name: maxMemory, Max: limit}
	}
	options := f.Reading.Decoder
	options.Strict, options.OneValue = false, true // checked before, with parts in place of ints
	d := gdwire.NewDecoder(&pruner{
		parts: o, shared: shared, at: all.start, end: all.end, format: options.Format,
		in: bufio.NewReaderSize(io.NewSectionReader(f, all.start, all.end-all.start), 64<<10),
	}, &options)
	defer d.Release()
	err = variant.UnmarshalDecode(d, &v, variant.Options{MaxMemory: f.MaxMemory})
	return v, f.wrap(err)
}

// outlined compares two large values. Where a difference contains a part, as one that has moved, the trees are built
// again with this part.
func (c *Comparer) outlined(a, b *File, p, q *save.Packet) ([]variant.Change, error) {
	seed := maphash.MakeSeed()
	x, err := a.outline(p, seed)
	if err != nil {
		return nil, err
	}
	y, err := b.outline(q, seed)
	if err != nil || x[0].digest == y[0].digest {
		return nil, err
	}
	shared := sharedBy(x, y)
	for n := 0; ; n++ {
		if n == maxTrees {
			clear(shared)
		}
		old, err := a.prune(x, shared)
		if err != nil {
			return nil, err
		}
		value, err := b.prune(y, shared)
		if err != nil {
			return nil, err
		}
		changes, wanted := slices.Collect(variant.Diff(old, value)), map[uint64]bool{}
		for i := range changes {
			partsIn(changes[i].Old, shared, wanted)
			partsIn(changes[i].New, shared, wanted)
		}
		if len(wanted) == 0 {
			return changes, nil
		}
		x.keep(shared, wanted)
		y.keep(shared, wanted)
	}
}

// partsIn adds the digests in place of parts in a tree to wanted.
func partsIn(v any, shared, wanted map[uint64]bool) {
	switch v := v.(type) {
	case int64:
		if shared[uint64(v)] {
			wanted[uint64(v)] = true
		}
	case *variant.Array:
		for _, value := range v.Values {
			partsIn(value, shared, wanted)
		}
	case *variant.Dictionary:
		for _, value := range v.All() {
			partsIn(value, shared, wanted)
		}
	case *variant.Object:
		for i := range v.Properties {
			partsIn(v.Properties[i].Value, shared, wanted)
		}
	}
}
