package gdwire

import (
	"errors"
	"hash/maphash"
)

// retry describes a call that an error of the Writer has interrupted. Only the same call
// may follow; it continues after the bytes that were buffered or written. It is recognized
// by its op and a hash of all its bytes.
type retry struct {
	err  error // of the Writer; nil if no call is interrupted
	sum  uint64
	done int64 // bytes of the call that were buffered or written
}

var seed = maphash.MakeSeed()

// newSum starts the hash of a call with its op, and with whether it is part of a CopyValue,
// which is repeated as a whole.
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

// interrupt sets retry after err of the Writer has interrupted a call.
func (e *Encoder) interrupt(err error, sum uint64) {
	e.retry.err, e.retry.sum = err, sum
	e.setLim()
}

// checkRetry returns an error if a call with hash sum is not the interrupted call.
func (e *Encoder) checkRetry(sum uint64) error {
	if sum != e.retry.sum {
		return e.fail(nil)
	}
	return nil
}

// retried clears retry after a call is complete.
func (e *Encoder) retried() {
	interrupted := e.retry.err != nil
	e.retry = retry{}
	if interrupted {
		e.setLim()
	}
}

// errInterrupted returns the error of a call other than the interrupted one. It wraps the
// error of the Writer, so that a program that checks only Close finds it.
func (e *Encoder) errInterrupted() error {
	return wrapf(errors.Join(ErrIncomplete, e.retry.err), "another call before the interrupted one was repeated: %v", e.retry.err)
}
