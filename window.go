package gdwire

import "math"

// A window is the buffered part of the input, with its positions, independent of containers and of
// the Reader; input fills the window.
//
//	buf[:r]         consumed; the last bytes are kept for paths
//	buf[r:limit]    read, not consumed
//	buf[limit:end]  read, beyond Limits.Bytes
//	buf[end:]       free
//
// 0 ≤ r ≤ limit ≤ end ≤ len(buf). A position is a number of bytes since the creation of the
// Decoder. Reset and Release do not set it back, so positions never repeat: a stale token or
// loop is found by comparing positions, and nothing need be cleared.
type window struct {
	tokenSource

	// buf[:limit] if the fast path may read values there, or names and packed strings,
	// otherwise nil. At most one of them is set; see fastPath.startFast.
	fastValues, fastNames []byte
	nameNUL               uint32 // the number of NULs written by engines after each of these names

	r, limit, end int

	origin     uint64 // the position of offset 0
	valueStart uint64 // the position of the top-level value
	valueEnd   uint64 // its maximum end, by Limits.Bytes or inputEnd
	inputEnd   uint64 // the position of the end of the input, or MaxUint64 if its length was not given
}

// pos returns the position of the first unconsumed byte.
func (w *window) pos() uint64 { return w.base + uint64(w.r) }

// hasFast reports whether the fast path can read the next value: whether a header and 12 bytes
// after it are buffered. remaining is state.remaining. A condition apart from peekFast is -1.6 % of
// typed reads of known shape against one call returning nil.
func (w *window) hasFast(remaining uint64) bool {
	return w.r&math.MaxInt <= len(w.fastValues)-fastSize && remaining > 0
}

// peekFast returns the first bytes of the next value, after hasFast reported true. The mask
// changes no position, but shows the compiler that r is not negative: -3 % of typed reads of known
// shape, with the one in hasFast.
func (w *window) peekFast() *[fastSize]byte {
	return (*[fastSize]byte)(w.fastValues[w.r&math.MaxInt:])
}

// pass consumes the bytes up to r, a token at pos with a payload.
func (w *window) pass(r int, pos uint64) { w.r, w.mark = r, mark(pos)|payloadBit }

// passEmpty consumes the bytes up to r, a token at pos, without a payload or with one that no
// Token refers to.
func (w *window) passEmpty(r int, pos uint64) { w.r, w.mark = r, mark(pos) }

// setPos consumes the bytes up to r, for a loop with r in a local variable that marks the latest
// token at its end.
func (w *window) setPos(r int) { w.r = r }

// consume consumes n bytes.
func (w *window) consume(n int) { w.r += n }

// endAt sets the position of the end of the input.
func (w *window) endAt(pos uint64) { w.inputEnd = pos }

// startValue makes pos the start of the top-level value, of at most this number of bytes.
func (w *window) startValue(most uint64) {
	w.valueStart = w.pos()
	w.valueEnd = min(w.inputEnd, w.valueStart+most)
	w.limit = w.readable()
}

// readable returns limit: end, or the end of Limits.Bytes. Before the first value, valueEnd is
// less than base; the difference then wraps to a large number, so that end decides.
func (w *window) readable() int { return int(min(uint64(w.end), w.valueEnd-w.base)) }

// setLimit sets limit, and the bytes of the fast path to the same.
func (w *window) setLimit() {
	w.limit = w.readable()
	if w.fastValues != nil {
		w.fastValues = w.buf[:w.limit]
	} else if w.fastNames != nil {
		w.fastNames = w.buf[:w.limit]
	}
}

// stopFast makes the slow path read the next values.
func (w *window) stopFast() { w.fastValues, w.fastNames = nil, nil }

// readValuesFast lets the fast path read values.
func (w *window) readValuesFast() { w.fastValues, w.fastNames = w.buf[:w.limit], nil }

// readValuesTo lets the fast path read values up to buf[end].
func (w *window) readValuesTo(end int) { w.fastValues, w.fastNames = w.buf[:end], nil }

// readNamesFast lets the fast path read names and packed strings.
func (w *window) readNamesFast(nul uint32) {
	w.fastValues, w.fastNames, w.nameNUL = nil, w.buf[:w.limit], nul
}

// raiseOffsets makes offsets larger by n.
func (w *window) raiseOffsets(n int64) { w.origin -= uint64(n) }

// restart discards all positions. The next input starts with buf[:end].
func (w *window) restart(buf []byte, end int) {
	// An End can have the position after the last byte, so the first new position is larger. Tokens
	// and loops of the previous input then differ from all new ones in their positions.
	w.base += uint64(w.end) + 1
	w.origin = w.base
	w.markEmpty(w.base)
	w.r, w.limit, w.end = 0, end, end
	w.buf = buf
	w.inputEnd = math.MaxUint64
}

// setBuffer replaces the buffer by buf, which starts with the same bytes.
func (w *window) setBuffer(buf []byte) { w.buf = buf }

// shift removes the first bytes of the buffer, up to the history before r.
func (w *window) shift(from int) {
	w.end = copy(w.buf, w.buf[from:w.end])
	w.base += uint64(from)
	w.r = history
}

// fill adds n bytes, already read to the end of the buffer.
func (w *window) fill(n int) { w.end += n }

// bypass empties the buffer, already consumed as a whole, before n bytes read past the buffer.
func (w *window) bypass(n int) {
	w.base += uint64(w.end) + uint64(n)
	w.r, w.end = 0, 0
}

// unread puts back b, the last bytes read past the empty buffer.
func (w *window) unread(b []byte) {
	w.base -= uint64(len(b))
	w.end = copy(w.buf, b)
}

// pending holds the state left by earlier calls on a Decoder to the next call: an error, the rest of a
// payload, or a container of a loop that was left. While there is any of these, the fast path is off, so
// that the next call comes to look.
type pending struct {
	err       error // returned by all later calls, or only by the next call if errOnce is set
	payload   payload
	abandoned int32 // the depth of the outermost container left by a loop, or 0; see mostFrames
	errOnce   bool
	found     bool // since Reset, an error was found: see export.Found
}

// mostFrames is the maximum depth that fits pending.abandoned. So many frames would need 64 GiB.
const mostFrames = math.MaxInt32

// reset clears the state of earlier calls.
func (p *pending) reset() {
	p.setErr(nil, false)
	p.payload.deactivate()
	p.abandoned = 0
}

// any reports whether there is something for look to do before the next token.
func (p *pending) any() bool { return p.err != nil || p.abandoned > 0 || p.payload.active }

// setErr sets the error of all calls, or only of the next call if once is set.
func (p *pending) setErr(err error, once bool) { p.err, p.errOnce = err, once }

// setFound records whether an error was found since Reset.
func (p *pending) setFound(found bool) { p.found = found }

// foundError returns the variable set by setFound.
func (p *pending) foundError() *bool { return &p.found }

// abandon makes look skip the rest of the container at this depth, after its loop was left.
func (p *pending) abandon(depth int) { p.abandoned = int32(depth) }

// payload is the part of the latest token's payload not yet returned by bulk reads.
// AppendString, ReadString, Payload, ReadPacked and AppendPacked are bulk reads.
//
// Decoder.follow sets it for chunks. For other tokens, bulk.start finds it: a Start from the innermost
// container, and the text of a string from the encoded token.
type payload struct {
	token     mark   // of its token
	pos       uint64 // the position of the buffered bytes not yet returned
	remaining int    // the number of these bytes
	kind      Kind   // StringChunk, PackedStart, ImageStart or NodePathStart; 0 for none
	active    bool   // the latest call was a bulk read
	done      bool   // the whole payload was returned
	elem      units  // of a PackedStart
}

// set makes the remaining bytes at pos, and those after them, the payload of a token. kind is 0
// for a token without bulk reads.
func (p *payload) set(token mark, kind Kind, pos uint64, remaining int) {
	*p = payload{token: token, kind: kind, pos: pos, remaining: remaining}
}

// setElements makes the next elements the payload of a loop over a packed array, whatever the
// loop's body called before.
func (p *payload) setElements(token mark, elem units) {
	*p = payload{token: token, kind: KindPackedStart, active: true, elem: elem}
}

// deactivate ends a bulk read. The rest of the payload is then read as tokens.
func (p *payload) deactivate() { p.active = false }
