package edit

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// The keys under which games keep a checksum of other values, in small letters and without underscores: those with one of these
// ends. A number under them is a checksum only after the ends in numberEnds, and after what can be hashed.
var (
	checksumEnds = []string{"checksum", "hash", "digest", "sig", "signature", "hmac", "md5", "sha", "sha1", "sha256", "crc", "crc32"}
	numberEnds   = []string{"checksum", "crc", "crc32"}
	hashed       = []string{"", "data", "content", "payload", "body", "save", "file"}
)

// checksumPlaces contains the paths in each value of a file at which a checksum can be alone, or in a header with such keys.
var checksumPlaces = []string{"", "[0]", "[1]", "[0].digest", ".header.digest", ".meta.digest", ".metadata.digest", ".info.digest"}

// A checker finds checksums among values.
type checker struct {
	text.Walker
	changed iter.Seq[string] // paths
	key     string           // of the Dictionary
	path    string           // of the value with this key
	keyed   *text.Node
	found   []foundChecksum
}

// A foundChecksum describes a checksum.
type foundChecksum struct {
	packet int64
	what   string // and where: "the number 5 at $.hash looks"
}

// Targets iterates over the paths in a tree.
func Targets(tree *text.Tree) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range tree.Targets {
			if !yield(p.String()) {
				return
			}
		}
	}
}

// Checksum describes a checksum of values at changed paths that is a value itself, or returns "": in the Dictionaries around
// the values, or at checksumPlaces. A checksum that is changed, too, is none.
func Checksum(c *save.Content, changed iter.Seq[string]) string {
	const few = 16 // values in a file: one of more is a message, and of another one's checksum says nothing
	var tree, other text.Tree
	add := func(in *text.Tree, at, role string) (p *text.Node, packet int64) {
		if path, err := text.Parse(at); err == nil && !path.Cut {
			p, _ = in.Add(path, role)
			packet = path.Packet
		}
		return p, packet
	}
	near := []int64{0} // values that are edited, or a header
	for at := range changed {
		_, packet := add(&tree, at, "")
		if near = append(near, packet); len(near) > maxChanges { // others are in the same Dictionaries
			break
		}
	}
	for i := range int64(few + 1) {
		for _, place := range checksumPlaces {
			add(&tree, string(text.AppendPacket(nil, i))+place, "alone")
		}
	}
	k := &checker{changed: changed}
	k.keyed, _ = add(&other, "keyed", "")
	k.Walker.Key, k.Walker.Value = k.atKey, k.value
	_ = Walk(c, &tree, &k.Walker) // the edits found no error
	for _, f := range k.found {
		if tree.Root(few).Hits == 0 || slices.Contains(near, f.packet) {
			return f.what + " like a checksum of what is edited: the game may refuse the edited file"
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

// atKey returns keyed for the key of a checksum.
func (k *checker) atKey(in *text.Node, key *text.Step) *text.Node {
	name := normal(key.Key.Text)
	if !endsIn(name, checksumEnds) {
		return nil
	}
	k.key, k.path = name, string(key.Append([]byte(in.String())))
	return k.keyed
}

// isNumber reports whether a number under the key is a checksum.
func (k *checker) isNumber(v int64) bool {
	const small = 1 << 16
	what := strings.TrimSuffix(strings.TrimSuffix(k.key, "hash"), "digest")
	return (v < -small || v >= small) && (endsIn(k.key, numberEnds) || what != k.key && slices.Contains(hashed, what))
}

// value finds out whether the value at p is a checksum.
func (k *checker) value(p *text.Node) (goOn bool, err error) {
	path := k.path
	if p != k.keyed {
		if path = p.String(); p.Text == "" {
			return true, nil
		}
	}
	t, err := k.PeekType()
	if err != nil || t != gdwire.TypeString && t != gdwire.TypePackedByteArray && (t != gdwire.TypeInt || p != k.keyed) {
		return true, err
	}
	v, err := read(k.Decoder, 0)
	if err != nil {
		return false, err
	}
	n, what := len(v.Text), ""
	switch {
	case v.cut:
	case t == gdwire.TypeInt && k.isNumber(v.Int):
		what = fmt.Sprintf("the number %d at %s looks", v.Int, path)
	case t == gdwire.TypeString && (n == 32 || n == 40 || n == 64) && strings.Trim(v.Text, "0123456789abcdefABCDEF") == "":
		what = fmt.Sprintf("%d hexadecimal digits at %s look", n, path)
	case t == gdwire.TypePackedByteArray && (n == 16 || n == 20 || n == 32) && isRandom([]byte(v.Text)):
		what = fmt.Sprintf("%d bytes at %s look", n, path)
	}
	isIn := func(path, of string) bool {
		rest, ok := strings.CutPrefix(path, of)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	at, err := text.Parse(path)
	if err != nil || what == "" {
		return false, nil
	}
	for c := range k.changed {
		if isIn(path, c) || isIn(c, path) {
			return false, nil
		}
	}
	k.found = append(k.found, foundChecksum{at.Packet, what})
	return false, nil
}

// isRandom reports whether bytes can be a checksum.
func isRandom(b []byte) bool {
	return bytes.Count(b, []byte{0}) <= 2 && bytes.ContainsFunc(b, func(c rune) bool { return c >= 0x80 })
}
