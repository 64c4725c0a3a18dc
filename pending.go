package gdwire

import "math"

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
