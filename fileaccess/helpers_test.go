package fileaccess_test

import (
	"encoding/binary"

	"github.com/gdwire/gdwire/fileaccess"
)

// gcpf returns a compressed file of blocks that are compressed already, whatever
// they hold.
func gcpf(mode fileaccess.Mode, blockSize, total uint32, blocks ...[]byte) []byte {
	b := []byte("GCPF")
	for _, v := range []uint32{uint32(mode), blockSize, total} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for _, block := range blocks {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(block)))
	}
	for _, block := range blocks {
		b = append(b, block...)
	}
	return append(b, "GCPF"...)
}
