package gdwire

import "hash/maphash"

// retry is the call that an error of the Writer interrupted. Only the same call
// may follow, and goes on after the bytes that were buffered or written. It is
// recognized by its effect and a hash of all its bytes.
type retry struct {
	err  error // of the Writer; nil: no call is interrupted
	sum  uint64
	done int64 // bytes of the call that were buffered or written
}

var seed = maphash.MakeSeed()

// newSum returns the start of the hash of a call: its effect, and whether it is
// part of a CopyValue, which is repeated as a whole.
func (e *Encoder) newSum(op op) (h maphash.Hash) {
	h.SetSeed(seed)
	h.WriteByte(byte(op))
	if e.copying {
		h.WriteByte(1)
	}
	return h
}

// sumCall returns the hash of a call.
func sumCall[S string | []byte](e *Encoder, op op, head []byte, body S, tail []byte) uint64 {
	h := e.newSum(op)
	h.Write(head)
	switch p := any(body).(type) {
	case string:
		h.WriteString(p)
	case []byte:
		h.Write(p)
	}
	h.Write(tail)
	return h.Sum64()
}

// interrupt notes that err of the Writer interrupted a call.
func (e *Encoder) interrupt(err error, sum uint64) {
	e.retry.err, e.retry.sum = err, sum
	e.setLim()
}

// checkRetry returns an error if the call is another than the interrupted one.
func (e *Encoder) checkRetry(sum uint64) error {
	if sum != e.retry.sum {
		return e.fail(nil)
	}
	return nil
}

// retried notes that a call is complete, which may have been interrupted.
func (e *Encoder) retried() {
	interrupted := e.retry.err != nil
	e.retry = retry{}
	if interrupted {
		e.setLim()
	}
}

// errInterrupted returns the error of a call other than the interrupted one. It
// wraps that of the Writer, so that a program that looks at Close alone finds it.
func (e *Encoder) errInterrupted() error {
	return because(ErrOpen, "another call before the interrupted one was repeated: %w", e.retry.err)
}
