// Package guard gives tests input that ends before an unreadable page: reading the byte after the
// input fails. On systems other than Linux, the input is an ordinary copy.
package guard

// A Memory holds one input at a time.
type Memory struct {
	bytes []byte // an input ends with them
	whole []byte // bytes, and after them the memory that cannot be read
}

// Put returns a copy of data in m, which replaces the previous input. The capacity of the result
// exceeds its length: code that trusts the capacity of its input fails, too.
func (m *Memory) Put(data []byte) []byte {
	start := len(m.bytes) - len(data)
	copy(m.bytes[start:], data)
	return m.whole[start:len(m.bytes)]
}
