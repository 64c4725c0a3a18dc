package edit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/values/save"
	"github.com/gdwire/gdwire/internal/values/save/explain"
	"github.com/gdwire/gdwire/internal/values/text"
)

// Sizes and checksums among the values. Those that can be computed follow the values that are edited; the others get stale, and are
// named.

// The keys under which games keep a checksum of other values, in small letters and without underscores: those with one of these
// ends. A number under them is a checksum only after the ends in numberEnds, and after what can be hashed.
var (
	checksumEnds = []string{"checksum", "hash", "digest", "sig", "signature", "hmac", "md5", "sha", "sha1", "sha256", "crc", "crc32"}
	numberEnds   = []string{"checksum", "crc", "crc32"}
	hashed       = []string{"", "data", "content", "payload", "body", "save", "file"}
)

// checksumPlaces contains the paths in each value of a file at which a checksum can be alone, or in a header with such keys.
var checksumPlaces = []string{"", "[0]", "[1]", "[0].digest", ".header.digest", ".meta.digest", ".metadata.digest", ".info.digest"}

// A suspect is a value that can be a size or checksum of edited values.
type suspect struct {
	text.Value
	now    text.Value // after the edit
	path   text.Path
	isSize bool   // by its key, or beside a digest
	isHex  bool   // as many hexadecimal digits as a digest has
	isLone bool   // a number in another packet, which only a digest beside it makes a size
	looks  string // like a checksum: "the number 5 at $.hash looks", or ""
}

// A checker finds suspects.
type checker struct {
	text.Walker
	changed  []text.Path
	spans    []text.Path     // of the changed values, and of all values around them
	around   map[string]bool // their paths
	places   map[string]bool // the paths of values that are suspects by their places, and of what contains them
	inBytes  bool            // values in bytes are changed
	in       *text.Node
	inPath   string
	name     string // a key in it
	key      string // the same in normal letters
	path     []byte // of the value with this key
	keyed    *text.Node
	all      []suspect
	isEdited bool // values in the packet are changed
	opener   explain.Opener
}

// check returns a checker with the suspects for values at changed paths: in the containers around these, and at checksumPlaces.
// Those in the first packet and in packets with changed values are before others.
func check(c *save.Content, changed iter.Seq[string]) *checker {
	const (
		few  = 16 // values in a file: one of more is a message, and of another one's checksum says nothing
		role = "suspect"
	)
	var tree, other text.Tree
	add := func(in *text.Tree, at, role string) (p *text.Node, path text.Path) {
		path, err := text.Parse(at)
		if err == nil && !path.Cut && !path.IsSeveral() { // each is changed also
			p, _ = in.Add(path, role)
		}
		return p, path
	}
	k := &checker{around: map[string]bool{}, places: map[string]bool{}}
	edited, near := map[int64]bool{}, map[int64]bool{0: true}
	for at := range changed {
		p, path := add(&tree, at, "")
		edited[path.Packet] = true
		if near[path.Packet] = true; p != nil {
			k.changed = append(k.changed, path)
		}
		if len(k.changed) > maxChanges { // others are in the same Dictionaries
			break
		}
	}
	for _, path := range k.changed {
		for ; !k.around[path.String()]; path = outer(path) {
			k.around[path.String()] = true
			k.spans = append(k.spans, path)
			n := len(path.Steps)
			if n == 0 {
				break
			}
			last := &path.Steps[n-1]
			k.inBytes = k.inBytes || last.Op == text.Inside
			for i := int64(0); i < 4 && last.Op == text.Child && last.Key.Type == gdwire.TypeInt; i++ {
				_, at := add(&tree, outer(path).String()+string(text.AppendIndex(nil, i)), role)
				k.places[at.String()] = true
			}
		}
	}
	k.keyed, _ = add(&other, "keyed", "")
	k.Walker.Key, k.Walker.Value = k.atKey, k.value
	Inside(&k.Walker)
	last, isRow := slices.Max(slices.Collect(maps.Keys(near))), false
	_ = c.Packets(func(i int64) bool { return i <= few || near[i] }, func(p *save.Packet) (bool, error) {
		isRow = isRow || p.Index == few
		for i := 0; i < len(checksumPlaces) && p.Index <= few; i++ {
			_, at := add(&tree, string(text.AppendPacket(nil, p.Index))+checksumPlaces[i], role)
			at.Steps = at.Steps[:min(len(at.Steps), 1)]
			k.places[at.String()] = true
		}
		goOn := p.Index < max(few, last)
		if tree.Root(p.Index) == nil {
			return goOn, nil
		}
		k.Decoder, k.isEdited = p.Decoder, edited[p.Index]
		return goOn, tree.In(p.Index, k.Walk)
	}) // the edits found no error
	var far []suspect
	k.all = slices.DeleteFunc(k.all, func(s suspect) bool {
		isNear := near[s.path.Packet]
		if !isNear && !isRow {
			far = append(far, s)
		}
		return !isNear
	})
	k.all = append(k.all, far...)
	if !slices.ContainsFunc(k.all, func(s suspect) bool { return s.isHex }) {
		k.all = slices.DeleteFunc(k.all, func(s suspect) bool { return s.isLone })
	}
	return k
}

// outer returns the path of the container around the value at a path.
func outer(p text.Path) text.Path {
	p.Steps = p.Steps[:max(len(p.Steps)-1, 0)]
	return p
}

// Checksum describes a checksum of values at changed paths that is a value itself and cannot be computed, or returns "": in the
// Dictionaries around the values, or at checksumPlaces. A checksum that is changed, too, is none.
func Checksum(c *save.Content, changed iter.Seq[string]) string {
	k := check(c, changed)
	k.all = slices.DeleteFunc(k.all, func(s suspect) bool { return s.looks == "" })
	if len(k.all) == 0 {
		return ""
	}
	spans := k.spansOf(c)
	for i := range spans {
		spans[i].now = spans[i].was
	}
	for i := range k.all {
		if _, follows, err := k.all[i].follow(spans); !follows && err == nil {
			return k.all[i].looks + " like a checksum of what is edited: the game may refuse the edited file"
		}
	}
	return ""
}

// normal returns a key in small letters and without underscores.
func normal(key string) string { return strings.ReplaceAll(strings.ToLower(key), "_", "") }

// endsIn reports whether a text has one of the ends.
func endsIn(s string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(s, end) })
}

// isSize reports whether the key is one of a size.
func isSize(key string) bool {
	return strings.Contains(key, "size") || strings.Contains(key, "len") || strings.Contains(key, "bytes")
}

// atKey returns keyed for the key of a suspect.
func (k *checker) atKey(in *text.Node, key *text.Step) *text.Node {
	if k.in != in {
		k.in, k.inPath = in, in.String()
	}
	k.name, k.path = key.Key.Text, key.Append(append(k.path[:0], k.inPath...))
	if k.around[string(k.path)] || k.places[string(k.path)] {
		return nil
	}
	return k.keyed
}

// isNumber reports whether a number under the key is a checksum.
func (k *checker) isNumber(v int64) bool {
	const small = 1 << 16
	what := strings.TrimSuffix(strings.TrimSuffix(k.key, "hash"), "digest")
	return (v < -small || v >= small) && (endsIn(k.key, numberEnds) || what != k.key && slices.Contains(hashed, what))
}

// value finds out whether the value at p is a suspect.
func (k *checker) value(p *text.Node) (goOn bool, err error) {
	isKeyed, isPlain := p == k.keyed, false
	if !isKeyed && p.Text == "" { // a changed value
		return true, nil
	}
	if isKeyed {
		k.key = normal(k.name)
		isPlain = !k.inBytes && !endsIn(k.key, checksumEnds) && !isSize(k.key)
	}
	switch k.PeekKind() {
	case gdwire.KindInt32, gdwire.KindInt64:
		if isPlain && k.isEdited {
			return true, nil
		}
	case gdwire.KindPackedStart:
		if isPlain {
			return true, nil
		}
	case gdwire.KindStringChunk:
	default:
		return true, nil
	}
	path := string(k.path)
	if !isKeyed {
		path = p.String()
	}
	v, err := read(k.Decoder, 0)
	if err != nil || v.cut {
		return false, err
	}
	n, t := len(v.Text), v.Type
	isHex := t == gdwire.TypeString && (n == 32 || n == 40 || n == 64) && strings.Trim(v.Text, "0123456789abcdefABCDEF") == ""
	if isPlain && t != gdwire.TypeInt && !isHex {
		return false, nil
	}
	at, err := text.Parse(path)
	if err != nil || slices.ContainsFunc(k.changed, func(c text.Path) bool { return at.Contains(&c) || c.Contains(&at) }) {
		return false, nil
	}
	isPlace := slices.Contains(checksumPlaces, strings.TrimPrefix(path, string(text.AppendPacket(nil, at.Packet))))
	s := suspect{Value: v.Value, now: v.Value, path: at, isSize: isKeyed && isSize(k.key), isHex: isHex, isLone: isPlain && !isHex}
	switch {
	case t != gdwire.TypeString && t != gdwire.TypePackedByteArray && t != gdwire.TypeInt:
		return false, nil
	case isKeyed && !endsIn(k.key, checksumEnds), !isKeyed && !isPlace:
	case t == gdwire.TypeInt && isKeyed && k.isNumber(v.Int):
		s.looks = fmt.Sprintf("the number %d at %s looks", v.Int, path)
	case isHex:
		s.looks = fmt.Sprintf("%d hexadecimal digits at %s look", n, path)
	case t == gdwire.TypePackedByteArray && (n == 16 || n == 20 || n == 32) && isRandom([]byte(v.Text)):
		s.looks = fmt.Sprintf("%d bytes at %s look", n, path)
	}
	k.all = append(k.all, s)
	return false, nil
}

// isRandom reports whether bytes can be a checksum.
func isRandom(b []byte) bool {
	return bytes.Count(b, []byte{0}) <= 2 && bytes.ContainsFunc(b, func(c rune) bool { return c >= 0x80 })
}

// A span is a changed value, or one around it. Each checksum and size of it is of some of the same bytes before and after the edit.
type span struct {
	path     text.Path
	was, now spanBytes
}

// spanBytes are what a checksum of a value can be of, and what a size of it, the same part of all spans at an index.
type spanBytes struct{ sums, sizes [][]byte }

// bytesOf returns the bytes of a value: encoded, and of a text, of an array of bytes with the contents of streams, and of a packet
// with the streams around it.
func bytesOf(c *save.Content, at text.Path, opener *explain.Opener) (b spanBytes) {
	v, err := find(c, at)
	if err != nil || !v.isEncoded() || v.encoding.size > save.MaxHeld && v.Type != gdwire.TypePackedByteArray {
		return b
	}
	encoded := v.encoding.bytes
	if encoded == nil {
		encoded = make([]byte, v.encoding.size)
		if _, err = c.ReadAt(encoded, v.encoding.from); err != nil {
			return b
		}
	}
	b.sums = [][]byte{encoded}
	if v.Type == gdwire.TypeString && !v.cut {
		b.sums = append(b.sums, []byte(v.Text))
	}
	if len(at.Steps) == 0 {
		b.sizes = append([][]byte{encoded}, c.Streams(at.Packet)...)
	}
	if v.Type == gdwire.TypePackedByteArray {
		levels := [][]byte{encoded[packedHeader:][:v.count]}
		if parse := opener.Open(levels[0], c.Decoder.Format); parse != nil {
			levels = parse.Levels()
		}
		b.sizes = append(b.sizes, levels...)
	}
	b.sums = append(b.sums, b.sizes...)
	return b
}

// spansOf returns the spans with their bytes before the edit, the innermost first. A large content is not read again.
func (k *checker) spansOf(c *save.Content) (all []span) {
	const most = 64
	if c.Size > save.MaxHeld && !k.inBytes {
		return nil
	}
	slices.SortStableFunc(k.spans, func(a, b text.Path) int { return len(a.Steps) - len(b.Steps) })
	for _, at := range slices.Backward(k.spans[:min(len(k.spans), most)]) {
		all = append(all, span{path: at, was: bytesOf(c, at, &k.opener)})
	}
	return all
}

// follow returns the value that follows from the spans after the edit, and reports whether there is one.
func (s *suspect) follow(spans []span) (v text.Value, follows bool, err error) {
	const leastSize, leastSum = 32, 1 << 16 // of a packet: small values have the size of something else by chance
	v = s.Value
	for i := range spans {
		sp := &spans[i]
		isPacket, in := len(sp.path.Steps) == 0, outer(s.path)
		isBeside := !isPacket && in.String() == outer(sp.path).String()
		switch v.Type {
		case gdwire.TypeInt:
			at := slices.IndexFunc(sp.was.sizes, func(b []byte) bool { return int64(len(b)) == v.Int })
			if at >= 0 && at < len(sp.now.sizes) && (isBeside || isPacket && s.isSize && s.path.Packet != sp.path.Packet && v.Int >= leastSize) {
				if v.Int = int64(len(sp.now.sizes[at])); v.Int != s.Int && !s.isSize {
					return v, true, fmt.Errorf("the number %d at %v is the size of the bytes at %v, or something else: edit it, too", s.Int, s.path, sp.path)
				}
				return v, true, nil
			}
			if v.Int > -leastSum && v.Int < leastSum {
				continue
			}
			if sum := explain.Rehash(binary.LittleEndian.AppendUint64(nil, uint64(v.Int)), sp.was.sums, sp.now.sums); sum != nil {
				v.Int = int64(binary.LittleEndian.Uint64(sum))
				return v, true, nil
			}
		default:
			if sum := explain.Rehash([]byte(v.Text), sp.was.sums, sp.now.sums); sum != nil {
				v.Text = string(sum)
				return v, true, nil
			}
		}
	}
	return v, false, nil
}

// confirm makes sizes of numbers beside a digest of the spans, and drops the others.
func (k *checker) confirm(spans []span) {
	beside := map[string]bool{}
	for i := range k.all {
		if s := &k.all[i]; s.isHex {
			if _, follows, err := s.follow(spans); follows && err == nil {
				beside[outer(s.path).String()] = true
			}
		}
	}
	k.all = slices.DeleteFunc(k.all, func(s suspect) bool { return s.isLone && !beside[outer(s.path).String()] })
	for i := range k.all {
		k.all[i].isSize = k.all[i].isSize || k.all[i].isLone
	}
}

// settle writes the sizes and checksums among the values anew that follow from the changes, until none changes any more: one can be
// of bytes with another.
func (p *Plan) settle(c, edited *save.Content) (*save.Content, error) {
	const most = 8
	if len(p.Changes) == 0 {
		return edited, nil
	}
	k := check(c, func(yield func(string) bool) {
		for i := range p.Changes {
			if !yield(p.Changes[i].Path) {
				return
			}
		}
	})
	if p.Suspects = len(k.all) > 0 || p.More > 0; !p.Suspects {
		return edited, nil
	}
	spans := k.spansOf(c)
	for i := range spans {
		spans[i].now = spans[i].was
	}
	k.confirm(spans)
	for range most {
		for i := range spans {
			spans[i].now = bytesOf(edited, spans[i].path, &k.opener)
		}
		var tree text.Tree
		var values []text.Value
		for i := range k.all {
			s := &k.all[i]
			v, _, err := s.follow(spans)
			if err == nil && (v.Int != s.now.Int || v.Text != s.now.Text) {
				_, err = tree.Add(s.path, "")
				values, s.now = append(values, v), v
			}
			if err != nil {
				return nil, err
			}
		}
		if len(values) == 0 {
			for i := range k.all {
				if s := &k.all[i]; s.now.Int != s.Int || s.now.Text != s.Text {
					p.add(Change{s.path.String(), s.now.String(), s.String()})
				}
			}
			return edited, nil
		}
		e := &editor{content: edited, op: Set, exact: true, source: func(_ *editor, at *text.Node) (operand, error) {
			return operand{oldValue: oldValue{Value: values[at.Number()]}}, nil
		}}
		var err error
		if edited, err = e.edits(new(Plan), e.run(&tree)); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the checksums among the values contain each other")
}
