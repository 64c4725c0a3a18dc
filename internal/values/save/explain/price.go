package explain

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/gdwire/gdwire"
)

// Prices of all parts in bits, and the budget of work that a search may do.

// The work that a search may do at most, in about as many instructions: for all inputs, and for each byte of an input and of the
// contents of streams.
const fixedWork, workPerByte = 15_000_000, 128

// A Budget bounds the work of a search, of all streams in an input and of all layers around its values together.
type Budget struct {
	input, contents int64 // bytes: of the largest input, and of the contents of streams in it
	used, hashed    int64 // work
	ended           *BoundError
}

// Add adds an input, or the content of a container around one that was added: the largest counts.
func (b *Budget) Add(size int) { b.input = max(b.input, int64(size)) }

// all returns the work that all of the search may do, without hashes.
func (b *Budget) all() int64 { return fixedWork + workPerByte*b.size() }

// mostHashed returns the work that all hashes may do, which is less after a long search: without one, a checksum is not found.
func (b *Budget) mostHashed() int64 {
	const fixed, perByte, all, allPerByte = 16e6, 96, 20e6, 144
	return min(fixed+perByte*b.size(), all+allPerByte*b.size()-b.used)
}

// size returns the bytes that count. Streams are expected to be 16 times smaller than their contents, or small.
func (b *Budget) size() int64 {
	const packed, small = 16, 2 << 20
	return b.input + min(b.contents, packed*b.input+small)
}

// left returns the work that is left.
func (b *Budget) left() int64 { return b.all() - b.used }

// take reports whether there was a budget for n more instructions. If not, the search ends.
func (b *Budget) take(n int) bool {
	if b.ended != nil {
		return false
	}
	if b.used += int64(n); b.left() < 0 {
		b.ended = &BoundError{}
	}
	return b.ended == nil
}

// A BoundError reports that a search took too long, and so found nothing: a part of a search would find a part of a file.
type BoundError struct {
	Offset int // from which nothing was searched
}

func (e *BoundError) Error() string {
	return fmt.Sprintf("the search for values between other bytes ended at offset %d, because it took too long; if there are bytes before a value, skip them", e.Offset)
}

// All prices are in bits, and savings are prices of bytes as the game's own less those of their explanation. Payload
// costs the same on both sides, so only what differs is counted.
const (
	zeroWord   = 2  // a word of zeros
	textWord   = 26 // four characters
	randomWord = 33 // four other bytes
	ownByte    = 8.25
	letter     = 6.5 // in a run of at least letterRun
	letterRun  = 3
	hexDigit   = 4.2

	control  = 8  // a control character in a text
	nul      = 32 // a NUL in a text
	odd      = 16 // a float too large or too small for a game
	denormal = 24

	typeCommon, typeRare = 3, 7 // the type in the header of a value
	nullBare             = 6    // a null alone
	cutPrice             = 20   // a value that is not whole
	typeWrong            = 8    // a damaged type
	brokenPrice          = 5    // a value that cannot be read after a length that fits
	edgePrice            = 12   // one after another length at the start, where games write headers
	wrongPrice           = 8    // a length that does not fit its value, and twice the bits of the difference, or at most
	wrongBit, wrongByte  = 5, 10
	wrongTwice           = 20  // a wrong length after another: such numbers are no lengths
	selfPrice            = 5   // a length that counts itself
	beyondPrice          = 8   // a length beyond the end of the file
	beyondBits           = 2   // and for each time that half as many bytes are left
	sameLength           = 0.5 // a length of the same kind as before the previous body
	sameGap              = 1.5 // a gap as large as the previous one
	rowPrice             = 16  // a bare value after another, which no function of engines reads; the first paidRows of these,
	paidRows             = 3   // unless each saves this much:
	strong               = 30
	switchPrice          = 3  // a body of another kind than the previous one, and a bare value after a length
	afterNull            = 8  // one after a null, which can be a number, after another that is no length
	wholeFile            = 12 // saved if one value is all bytes
	afterMagic           = 3  // if one is all but the first four bytes
	wordBare             = 3  // less for a bare value of one word, which saves wordMost at most:
	wordMost             = 1  // a number with the same bytes is as probable

	minBase64   = 12
	base64Price = 4
	fastlzPrice = 4  // saved by a stream of FastLZ, which has no signature, of values alone
	toldPrice   = 16 // saved by one whose size is before it
	untoldPrice = 8  // one that ends anywhere

	fieldPrice   = 2
	decimalPrice = 3    // of decimal digits
	smallPrice   = 17.5 // of a number that is easily equal to a size by chance: up to 150, or of two bytes
	sameSize     = 8    // for one more size of the same bytes, or if it is such a number, of the same body
	inText       = 8    // for a number in text
	misaligned   = 3    // for a number at an odd place of the gap, from both ends
	bigSum       = 2    // for a big-endian checksum of 32 or 64 bits
	atBody       = 2    // saved by a size right before the body
	againBits    = 0.5
	pascalBits   = 6 // a letter of a text after its length
	endPrice     = 3 // a length of text that ends where the letters end
)

// Margin is the difference in bits up to which two explanations are rivals, and Doubt that up to which the reading is
// not sure, and a number that stays may be a size. Enough is the saving of values that are a save, and minCut that of a
// value before it ends.
const (
	Margin       = 4
	Doubt        = 8
	Enough       = 24
	enoughBodies = 14 // without the fields
	enoughInside = 4  // in a stream, which is evidence itself
	minCut       = 40
	near         = 40  // rows within these are explained
	doubtfulSize = 13  // Doubt for a size of two bytes or more
	sureSaving   = 100 // a body that saves more is not searched for others
	muchSaving   = 300 // nor in another format
)

// number returns the price of a number: twice its size in bits, and three more.
func number(n uint64) float64 { return 2*log(n) + 3 }

// log returns the logarithm of n+1 to base 2.
func log(n uint64) float64 {
	shift := max(bits.Len64(n)-10, 0) // of numbers that are not in the table, the first bits
	return float64(shift) + logs()[n>>shift]
}

var logs = sync.OnceValue(func() *[1 << 10]float64 {
	table := new([1 << 10]float64)
	for n := range table {
		table[n] = math.Log2(float64(n) + 1)
	}
	return table
})

// plainNumber returns the price of a number of a width as the game's own.
func plainNumber(v uint64, width int) float64 { return min(number(v), 8*float64(width)+1) }

// smallWords are the prices of words that are types.
var smallWords = func() (all [40]float64) {
	for n := range all {
		all[n] = 2*math.Log2(float64(n)+1) + 3
	}
	all[0] = zeroWord
	return all
}()

// word returns the price of the first four bytes of b as the game's own.
func word(b []byte) float64 {
	v := binary.LittleEndian.Uint32(b)
	if v < uint32(len(smallWords)) { // most are
		return smallWords[v]
	}
	const large = 1 << (randomWord - 3) / 2
	least := float64(randomWord)
	if n := min(v, binary.BigEndian.Uint32(b)); n < large {
		least = min(number(uint64(n)), randomWord)
	}
	for _, c := range b[:4] {
		if c < ' ' && c != '\n' || c > '~' {
			return least
		}
	}
	return min(least, textWord)
}

// own returns the price of w bytes of the game's own at p, as one number, letter or byte.
func own(all []byte, p, w int) float64 {
	b := all[p : p+w]
	if w > 1 {
		little, big := Form{Width: w}.read(b), Form{Width: w, Big: true}.read(b)
		return min(float64(8*w)+1, number(min(little, big)))
	}
	first, last := p, p+1
	for first > 0 && last-first < letterRun && isText(all[first-1:first]) {
		first--
	}
	for last < len(all) && last-first < letterRun && isText(all[last:last+1]) {
		last++
	}
	if isText(b) && last-first == letterRun {
		return letter
	}
	return min(ownByte, number(uint64(b[0])))
}

// wrongBits returns the price of a length v of n bytes between packets, where damage is as probable as bytes of the game's own.
func wrongBits(v, n uint64) float64 {
	price := min(2*math.Log2(math.Abs(float64(v)-float64(n))+1), plainNumber(v, 4))
	switch x := v ^ n; {
	case x&(x-1) == 0:
		price = min(price, wrongBit)
	case (63-bits.LeadingZeros64(x))/8 == bits.TrailingZeros64(x)/8:
		price = min(price, wrongByte)
	}
	return wrongPrice + price
}

// gaps returns a function that returns the price of n bytes between bodies.
func gaps() func(n int) float64 {
	const most = 400
	logs := logs()
	return func(n int) float64 {
		switch {
		case n == 0:
			return 0.5
		case n < smallGap:
			return 2 + 1.25*logs[n]
		}
		return 2 + 1.25*log(uint64(n)) + float64(min((n-smallGap)/64, most))
	}
}

const smallGap = 256 // bytes

// A lengthForm is a kind of length before a value, or of a size, with the price of each.
type lengthForm struct {
	Form
	bits, size float64
}

// lengths are the kinds of lengths before values, with their prices, and those of other sizes.
var lengths = []lengthForm{{Form{Width: 4}, 2, 0}, {Form{Width: 4, Big: true}, 4, 2}, {Form{Width: 8}, 4, 1}, {Form{Width: 2}, 5, 2}, {Form{Width: 2, Big: true}, 7, 4}, {Form{Width: 8, Big: true}, 7, 3}, {Form{Width: 1}, 6, 6}}

// typePrice returns the price of a type.
func typePrice(t gdwire.Type) float64 {
	switch t {
	case gdwire.TypeInt, gdwire.TypeFloat, gdwire.TypeString, gdwire.TypeBool, gdwire.TypeNil, gdwire.TypeArray, gdwire.TypeDictionary:
		return typeCommon
	}
	return typeRare
}

// A reader reads values of a format.
type reader struct {
	d      *gdwire.Decoder
	types  [40][16]gdwire.Type // by the header, and 1, as far as they are known
	budget *Budget
	last   weighed
}

// A weighed is the weight of a value.
type weighed struct {
	size     int
	saving   float64
	read     int  // bytes of whole tokens
	cut      bool // the value is not whole
	bytes    bool // it contains a PackedByteArray, or base64 text
	text     bool // it contains a text
	inText   bool
	isKey    bool
	nullKeys int
	nullKey  int // the offset of the first
}

func newReader(format gdwire.Format, budget *Budget) *reader {
	return &reader{budget: budget, d: gdwire.NewDecoder(nil, &gdwire.DecoderOptions{Format: format, Strict: true, AllowObjects: true, Limits: gdwire.NoLimits})}
}

// isHeader reports whether b can begin with the header of a value.
func isHeader(b []byte) bool { return len(b) >= 4 && b[0] < 40 && b[1] == 0 && b[2] < 16 && b[3] == 0 }

// typeOf returns the type in the header at the start of b, or 0.
func (r *reader) typeOf(b []byte) gdwire.Type {
	known := &r.types[b[0]][b[2]]
	if *known == 0 {
		r.d.ResetBytes(b)
		t, _ := r.d.PeekType()
		*known = t + 1
	}
	return *known - 1
}

// isAlmostHeader reports whether b begins with the header of a value with one wrong byte, or with bytes that are 255.
func isAlmostHeader(b []byte) bool {
	wrong, lost := 0, 0
	for i, most := range [...]byte{39, 0, 15, 0} {
		switch {
		case b[i] == math.MaxUint8:
			lost = 1
		case b[i] > most:
			wrong++
		}
	}
	return wrong+lost < 2
}

// value returns the weight of the value at the start of b. Its size is 0 if b does not begin like a value.
func (r *reader) value(b []byte) weighed { return r.start(b, len(b)) }

// start is value for the tokens up to an offset.
func (r *reader) start(b []byte, end int) weighed {
	w := &r.last
	*w = weighed{}
	if !isHeader(b) {
		return *w
	}
	const perValue, perToken, perByte, perError = 700, 420, 4, 2000 // instructions
	const textChunk = 4 << 10                                       // bytes
	d, tokens := r.d, 0
	d.ResetBytes(b)
	defer func() { r.budget.take(perValue + perToken*tokens + perByte*int(d.InputOffset())) }()
	for at := 0; ; at, tokens = w.size, tokens+1 {
		if perToken*int64(tokens) > r.budget.left() {
			return weighed{}
		}
		if w.read = at; at >= end && at < len(b) {
			w.cut = true
			break
		}
		t, err := d.ReadToken()
		if err != nil {
			work := perError
			if at < len(b) && b[at] == byte(gdwire.TypeString) { // which is checked before it is refused
				work += min(len(b)-at, textChunk)
			}
			r.budget.take(work)
			if w.cut = true; errors.Is(err, io.ErrUnexpectedEOF) {
				if few := 16; !w.inText && len(b)-at < few && isHeader(b[at:]) { // of an Array without its first element
					w.saving += word(b[at:]) - typeRare
				}
				w.size = len(b)
			}
			return *w
		}
		w.size = int(d.InputOffset())
		w.token(b, at, t)
		if w.nullKeys > 1 { // zeros in place of the end
			w.cut, w.size = true, at
			break
		}
		if d.Depth() == 0 && !w.inText {
			if w.read = w.size; w.nullKeys > 0 && len(b) >= w.size+2*nullSize && isZero(b[w.size:w.size+2*nullSize]) {
				w.cut, w.size, w.read = true, w.nullKey, w.nullKey
			}
			break
		}
	}
	return *w
}

const nullSize = 4

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// token adds the weight of a token at an offset of b.
func (w *weighed) token(b []byte, at int, t gdwire.Token) {
	wasKey, first := w.isKey, !w.inText
	k := t.Kind()
	w.isKey = k == gdwire.KindDictKey
	switch k {
	case gdwire.KindDictKey, gdwire.KindEnd, gdwire.KindChunk, gdwire.KindProperty, gdwire.KindSignal:
	case gdwire.KindStringChunk:
		w.inText = !t.Last()
		if first && (t.Type() == gdwire.TypeString || t.Type() == gdwire.TypeStringName) {
			w.saving += word(b[at:]) - typePrice(t.Type())
		}
	default:
		w.saving += word(b[at:]) - typePrice(t.Type())
	}
	switch k {
	case gdwire.KindNil:
		if wasKey {
			if w.nullKeys++; w.nullKeys == 1 {
				w.nullKey = at
			}
		}
	case gdwire.KindStringChunk, gdwire.KindProperty:
		s := t.Bytes()
		bits := text(s)
		w.saving += bits
		w.bytes = w.bytes || len(s) >= 2*minBase64 && isBase64(s)
		w.text = w.text || len(s) >= letterRun && bits == 0
		switch padding := t.Len() & 3; {
		case !t.Last():
		case padding != 0:
			w.saving += word(b[w.size-4:]) - letter*float64(padding)
		case bits == 0 && len(s) >= letterRun && (w.size == len(b) || !isText(b[w.size:w.size+1])):
			w.saving += number(uint64(t.Len())) - endPrice
		}
	case gdwire.KindFloat32, gdwire.KindFloat64:
		w.saving -= float(t.Float(), t.Width())
	case gdwire.KindArrayStart, gdwire.KindDictStart, gdwire.KindPackedStart:
		w.saving++
		w.bytes = w.bytes || t.Type() == gdwire.TypePackedByteArray
	case gdwire.KindChunk:
		w.saving -= reals(t)
	default:
		if t.Components() > 0 {
			w.saving -= reals(t)
		}
	}
}

// text returns what a text saves, which is negative for control characters.
func text(b []byte) (bits float64) {
	for _, c := range b {
		switch {
		case c == 0:
			return bits - nul
		case c < ' ' && c != '\n' && c != '\r' && c != '\t', c == 0x7f:
			bits -= control
		}
	}
	return bits
}

// float returns the price of an improbable number.
func float(x float64, width int) float64 {
	a := math.Abs(x)
	smallest := 0x1p-126
	if width == 64 {
		smallest = 0x1p-1022
	}
	switch {
	case a > 0 && a < smallest:
		return denormal
	case a < 1e-12 && a > 0 || a > 1e15 && !math.IsInf(a, 1):
		return odd
	}
	return 0
}

// reals returns the price of improbable numbers in a math type, or the first of a packed array.
func reals(t gdwire.Token) (bits float64) {
	switch _, ints := t.Type().Components(); {
	case ints, t.Type() == gdwire.TypePackedByteArray, t.Type() == gdwire.TypePackedInt32Array, t.Type() == gdwire.TypePackedInt64Array, t.Type() == gdwire.TypeImage:
		return 0
	}
	const most = 64
	b, w := t.Bytes(), t.Width()/8
	for n := 0; len(b) >= w && w >= 4 && n < most; b, n = b[w:], n+1 {
		x := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		if w == 8 {
			x = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
		bits += float(x, t.Width())
	}
	return bits
}

// Price returns the price of a token, to compare readings of the same bytes.
func Price(t gdwire.Token) (bits float64) {
	if t.IsValue() {
		bits = typePrice(t.Type())
	}
	b, width := t.Bytes(), t.Width()/8
	_, ints := t.Type().Components()
	ints = ints || t.Type().Element() == gdwire.TypeInt
	switch t.Kind() {
	case gdwire.KindInt32, gdwire.KindInt64:
		bits += number(uint64(t.Int() ^ t.Int()>>63))
	case gdwire.KindFloat32, gdwire.KindFloat64:
		bits += realPrice(t.Float(), width)
	case gdwire.KindStringChunk, gdwire.KindProperty:
		bits += number(uint64(len(b))) + letter*float64(len(b)) - text(b)
	case gdwire.KindRID, gdwire.KindObjectID, gdwire.KindCallable, gdwire.KindSignal, gdwire.KindInputEvent, gdwire.KindImageStart: // in no save
		bits += odd + number(t.ID()) + ownByte*float64(len(b))
	default:
		if t.IsValue() {
			bits += number(uint64(t.Len()))
		}
		for ; width > 0 && len(b) >= width; b = b[width:] {
			switch v := (Form{Width: width}).read(b); {
			case ints:
				bits += plainNumber(v, width)
			case width == 4:
				bits += realPrice(float64(math.Float32frombits(uint32(v))), width)
			default:
				bits += realPrice(math.Float64frombits(v), width)
			}
		}
	}
	return bits
}

// realPrice returns the price of a float of a width: its exponent, and its mantissa up to the last bit.
func realPrice(x float64, width int) float64 {
	_, exp := math.Frexp(x)
	mantissa := 52 - min(bits.TrailingZeros64(math.Float64bits(x)), 52)
	return number(uint64(max(exp, -exp))) + float64(mantissa) + float(x, 8*width)
}

// isText reports whether all bytes are characters of texts.
func isText(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c > '~' })
}

// isWritten reports whether all bytes are characters of texts, or between their lines.
func isWritten(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return (c < ' ' || c > '~') && c != '\t' && c != '\n' && c != '\r' })
}

// isMagic reports whether bytes are upper-case letters and digits, with which many files begin.
func isMagic(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return (c < 'A' || c > 'Z') && (c < '0' || c > '9') })
}

// isUTF8 reports whether b is text in UTF-8.
func isUTF8(b []byte) bool {
	return utf8.Valid(b) && !bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' })
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// plain returns the price of a checksum as bytes of the game's own: of digest, in a form.
func (s *sum) plain(form Form, digest []byte) float64 {
	switch {
	case s == plainSum:
		return 3 + math.Log2(1+float64(binary.BigEndian.Uint32(digest)))
	case form.Text != 0:
		return hexDigit * float64(form.Width)
	case form.Width > s.size:
		return ownByte*float64(s.size) + zeroWord
	}
	return ownByte * float64(form.Width)
}

// isDigit reports whether c is a digit of base64 or base64url.
func isDigit(c byte) bool { return digits[c] }

var digits = func() (is [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		is[c] = true
	}
	return is
}()

func isBase64(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return !isDigit(c) && c != '=' })
}

// First returns the first value with text and other values in it at the start of b, or the start of a value of more than half
// of b unless b is whole: its offset and type, and its size or 0. The type is 0 if there is none.
func First(b []byte, whole bool) (at, size int, t gdwire.Type) {
	const header, enough = 256, 40 // bytes before it, and what it saves
	at = header
	for _, format := range []gdwire.Format{gdwire.Godot4, gdwire.Godot3} {
		r := newReader(format, &Budget{input: int64(len(b))})
		for n := 0; n < at && n < len(b); n++ {
			w := r.value(b[n:])
			isLong := w.cut && !whole && n+w.size == len(b) && w.size > len(b)/2
			if w.text && w.saving >= enough && !w.cut || isLong {
				r.d.ResetBytes(b[n:])
				t, _ = r.d.PeekType()
				if at, size = n, w.size; isLong {
					size = 0
				}
			}
		}
		r.d.Release()
	}
	return at, size, t
}
