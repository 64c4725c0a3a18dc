package testenv

import "errors"

// ErrWaits is the error of a Peer that sends nothing more. A connection would wait.
var ErrWaits = errors.New("the call waits for more than was sent")

// A Peer is a Reader of bytes that were sent, after which it stays testenv.
type Peer struct {
	b     []byte
	step  int
	waits bool
}

// NewPeer returns a Peer that sent b and returns up to step bytes at a time.
func NewPeer(b []byte, step int) *Peer { return &Peer{b: b, step: step} }

func (p *Peer) Read(dst []byte) (int, error) {
	if len(p.b) == 0 {
		p.waits = true
		return 0, ErrWaits
	}
	n := copy(dst, p.b[:min(p.step, len(p.b))])
	p.b = p.b[n:]
	return n, nil
}

// Waits reports whether more bytes were read than the Peer sent.
func (p *Peer) Waits() bool { return p.waits }
