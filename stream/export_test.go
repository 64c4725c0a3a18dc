package stream

// Scribble overwrites buffers of the pools. Nobody refers to them.
func Scribble() {
	large := buffers.Get().(*[bufferSize]byte)
	fill(large[:])
	buffers.Put(large)
	p := packets.Get().(*packet)
	fill(p.buf[:cap(p.buf)])
	packets.Put(p)
}

func fill(b []byte) {
	for i := range b {
		b[i] = 0xAA
	}
}

// Addrs returns the number of addresses that s remembers.
func Addrs(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.addrs)
}

// HoldsBuffer reports whether packets that c holds back have a buffer of the pool.
func HoldsBuffer(c *Conn) bool {
	c.writer.mu.Lock()
	defer c.writer.mu.Unlock()
	return c.writer.held.buf != nil
}

// Pings reports whether s pings WebSockets.
func Pings(s *Server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pings != nil
}
