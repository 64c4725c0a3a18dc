package variant

import "github.com/gdwire/gdwire/internal"

// knownKeys contains the first keys of an earlier Dictionary at a depth. As long as the keys of the
// next Dictionary there are the same, each is found by a comparison of words, and needs no search for
// an equal key before it, because all of them differ: -30 % of Unmarshal into any.
type knownKeys struct {
	keys   []knownKey
	misses int // the number of Dictionaries with other keys since these were found
}

// A knownKey is one of knownKeys. It is never found if the key is not a short string.
type knownKey struct {
	key     any // or nil
	encoded internal.Key
}

const (
	maxKnownDepth = 32         // of Dictionaries with knownKeys
	maxKnownKeys  = fewEntries // so that a Dictionary of known keys has no index
	maxMisses     = 4          // then other keys replace knownKeys, which takes as long as they save
)

// learn adds key i of a Dictionary to known, if the keys before it are those in known. It returns nil
// if known contains other keys from there on, for the rest of the Dictionary.
func (known *knownKeys) learn(i int, key any) *knownKeys {
	if known == nil || i >= maxKnownKeys {
		return known
	}
	if i < len(known.keys) {
		if known.misses++; known.misses < maxMisses {
			return nil
		}
	}
	text, _ := key.(string)
	next := knownKey{key, export.NewKey(text)}
	if next.encoded.Len == 0 {
		next.key = nil // which can be long
	}
	known.keys, known.misses = append(known.keys[:i], next), 0
	return known
}

// A keyCache holds recent keys, as strings in interfaces. Neighboring Dictionaries often have the
// same keys, which then are not allocated again. Two neighboring indexes are a set, which holds two
// keys: with sets of one key, the large saved game, in which two keys of each record have the same
// set, takes 4 % longer.
type keyCache [128]any

// intern returns b, which must not be empty, as a string in an interface.
func (k *keyCache) intern(b []byte) any {
	n := uint(len(b))
	if n > 32 {
		return string(b)
	}
	i := (uint(b[0])*31 + uint(b[n/2])*13 + uint(b[n-1])*7 + n*3) % uint(len(k)) &^ 1
	first, second := &k[i], &k[i+1]
	if text, ok := (*first).(string); ok && text == string(b) {
		return *first
	}
	if text, ok := (*second).(string); ok && text == string(b) {
		return *second
	}
	*first, *second = string(b), *first
	return *first
}
