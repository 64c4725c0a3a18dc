package gdjson

import (
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/checked"
)

// read reads src to the end: one value in no more than most bytes. If unique is set, the members of
// an object must have different names. If lenient is set, the text may deviate from JSON in the
// ways accepted by the engine.
func (t *text) read(src io.Reader, most int64, unique, lenient bool) error {
	t.lenient = lenient
	if err := t.readAll(src, min(most, maxText)); err != nil {
		return err
	}
	// Each node but the innermost ones takes at least three bytes. With one allocation, no
	// old and new array exist at the same time.
	nodes := min(len(t.json)/3+maxDepth, bytes.Count(t.json, []byte("{"))+bytes.Count(t.json, []byte("[")))
	t.nodes = slices.Grow(t.nodes[:0], nodes)
	if !t.scan() {
		return t.syntaxError()
	}
	if unique {
		return t.checkNames()
	}
	return nil
}

func limitError(got, most int64) error {
	return &Error{Offset: most, Err: &gdwire.LimitError{Name: "MaxBuffered", Got: got, Max: most}}
}

// readAll reads src to the end, or returns an error as soon as more than most bytes were read. The
// bytes of a bytes.Buffer are not copied.
func (t *text) readAll(src io.Reader, most int64) error {
	if b, ok := src.(*bytes.Buffer); ok {
		t.json = b.Next(b.Len())
		if int64(len(t.json)) > most {
			return limitError(most+1, most)
		}
		return nil
	}
	b := t.own[:0]
	for {
		b = slices.Grow(b, 512)
		n, err := checked.Read(src, b[len(b):min(int64(cap(b)), most+1)])
		b = b[:len(b)+n]
		t.own, t.json = b, b
		switch {
		case int64(len(b)) > most:
			return limitError(int64(len(b)), most)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// syntaxError returns the error for text not accepted by scan. jsontext finds the error in a copy
// from standardJSON, with the engine's deviations from JSON replaced by as many bytes of JSON.
func (t *text) syntaxError() error {
	d := jsontext.NewDecoder(bytes.NewBuffer(standardJSON(t.json, t.lenient)), jsontext.AllowDuplicateNames(true))
	_, err := d.ReadValue()
	switch err {
	case io.EOF:
		return &Error{Offset: int64(len(t.json)), Err: io.ErrUnexpectedEOF}
	case nil:
		end := d.InputOffset()
		if _, err = d.ReadToken(); err == nil {
			return &Error{Offset: end, Err: errSecondValue}
		}
		if err == io.EOF {
			return &Error{Err: errInvalid}
		}
	}
	var s *jsontext.SyntacticError
	if !errors.As(err, &s) {
		return &Error{Err: err}
	}
	cause := s.Err
	if i := s.ByteOffset; i < int64(len(t.json)) {
		if r, n := utf8.DecodeRune(t.json[i:]); r == utf8.RuneError && n == 1 {
			cause = gdwire.ErrUTF8
		}
	}
	return &Error{Offset: s.ByteOffset, Pointer: t.restoreNames(s.JSONPointer, s.ByteOffset), Err: cause}
}

// restoreNames returns p, from jsontext for an error at offset, with the names of the text, because
// jsontext read a copy with bytes replaced by standardJSON.
func (t *text) restoreNames(p jsontext.Pointer, offset int64) string {
	var scratch, b []byte
	open := t.walk(int(offset), nil, nil)
	for token := range p.Tokens() {
		if len(open) > 0 && open[0].name > 0 {
			b = appendToken(b, t.nameAt(uint32(open[0].name), &scratch))
		} else {
			b = appendToken(b, []byte(token))
		}
		open = open[min(1, len(open)):]
	}
	return string(b)
}

// appendToken appends a token of a JSON pointer.
func appendToken(dst, token []byte) []byte {
	return append(append(dst, '/'), pointerEscapes.Replace(string(token))...)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

var (
	errSecondValue = export.Wrapf(gdwire.ErrCount, "text after the value")
	errInvalid     = errors.New("invalid JSON") // never returned while scan and jsontext agree
)

// A namedMember is a member of an object, for comparing its name with the others.
type namedMember struct {
	hash uint64 // of the name
	name uint32 // offset of the name
}

// checkNames returns an error if two members of an object have the same name. Only the members of
// open objects are held.
func (t *text) checkNames() error {
	var all []namedMember
	var scratch []byte
	seed := maphash.MakeSeed()
	first := uint32(math.MaxUint32)
	t.walk(len(t.json), func(l *level) {
		hash := maphash.Bytes(seed, t.nameAt(uint32(l.name), &scratch))
		all = append(all, namedMember{hash, uint32(l.name)})
	}, func(l *level) {
		if l.object {
			from := len(all) - (l.index + 1)
			first = min(first, t.duplicate(all[from:]))
			all = all[:from]
		}
	})
	if first == math.MaxUint32 {
		return nil
	}
	err := export.Wrapf(jsontext.ErrDuplicateName, "duplicate member %s", quoted(t.nameAt(first, &scratch)))
	return &Error{Offset: int64(first), Pointer: t.pointer(int64(first)), Err: err}
}

// duplicate returns the least offset of a name equal to the name of an earlier member of an object,
// or math.MaxUint32. Sorting the members by hash makes equal names neighbors.
func (t *text) duplicate(members []namedMember) uint32 {
	var scratch [2][]byte
	slices.SortFunc(members, func(x, y namedMember) int {
		if x.hash != y.hash {
			return cmp.Compare(x.hash, y.hash)
		}
		return cmp.Or(bytes.Compare(t.nameAt(x.name, &scratch[0]), t.nameAt(y.name, &scratch[1])), cmp.Compare(x.name, y.name))
	})
	first := uint32(math.MaxUint32)
	for i := 1; i < len(members); i++ {
		x, y := &members[i-1], &members[i]
		if x.hash == y.hash && bytes.Equal(t.nameAt(x.name, &scratch[0]), t.nameAt(y.name, &scratch[1])) {
			first = min(first, y.name)
		}
	}
	return first
}

// nameAt returns the content of the string at offset i, in scratch if escaped.
func (t *text) nameAt(i uint32, scratch *[]byte) []byte {
	end, escaped := stringEnd(t.json, int(i))
	content := t.json[i+1 : end-1]
	if !escaped {
		return content
	}
	*scratch = appendUnquoted((*scratch)[:0], content)
	return *scratch
}

// discard drops the memory of a large text and of a bytes.Buffer, and keeps less memory for the
// next text.
func (t *text) discard() {
	const most = 4 << 20
	t.json = nil
	if cap(t.own) > most {
		t.own = nil
	}
	if cap(t.nodes) > most/16 {
		t.nodes = nil
	}
}

// pointer returns the JSON pointer of the value or name at offset.
func (t *text) pointer(offset int64) string {
	var scratch, b []byte
	for _, l := range t.walk(int(offset), nil, nil) {
		switch {
		case l.name > 0:
			b = appendToken(b, t.nameAt(uint32(l.name), &scratch))
		case l.index >= 0:
			b = strconv.AppendInt(append(b, '/'), int64(l.index), 10)
		}
	}
	return string(b)
}

// A level is an open object or array of walk.
type level struct {
	object   bool
	wantName bool // the next string is a name
	name     int  // offset of the latest name, 0 before the first
	index    int  // of the latest element or member, -1 before the first
}

// walk walks through the names and values that begin up to offset end, and returns the objects and
// arrays that are open at end. Unless nil, named is called at every name, and closed at the end of
// every object and array.
func (t *text) walk(end int, named, closed func(*level)) (open []level) {
	for i := 0; ; {
		if i = skipSpace(t.json, i); i > end || i == len(t.json) {
			return open
		}
		var last *level
		if len(open) > 0 {
			last = &open[len(open)-1]
		}
		switch c := t.json[i]; {
		case c == ',' || c == ':':
			i++
			continue
		case (c == ']' || c == '}') && last != nil:
			if closed != nil {
				closed(last)
			}
			open = open[:len(open)-1]
			i++
			continue
		case c == '"' && last != nil && last.wantName:
			after, ok := scanString(t.json, i)
			if !ok {
				return open
			}
			last.wantName, last.name = false, i
			last.index++
			if named != nil {
				named(last)
			}
			i = after
			continue
		}
		// A value begins.
		if last != nil && last.object {
			last.wantName = true
		} else if last != nil {
			last.index++
		}
		after, ok := i+1, true
		switch c := t.json[i]; c {
		case '{', '[':
			open = append(open, level{object: c == '{', wantName: c == '{', index: -1})
		case '"':
			after, ok = scanString(t.json, i)
		default:
			after = literalEnd(t.json, i)
		}
		if !ok || after == i {
			return open
		}
		i = after
	}
}
