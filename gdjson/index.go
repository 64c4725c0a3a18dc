package gdjson

import "math"

// A text is the JSON of one value and an index of its objects and arrays. The index holds the
// counts that the Encoder needs before the content, and lets the reader skip a member in constant
// time, because "type" may follow "args". Conversion therefore takes time proportional to the text
// for any nesting and any order of members.
type text struct {
	json    []byte
	own     []byte // memory of json, unless the source is a bytes.Buffer
	lenient bool   // accept the engine's deviations from JSON
	nodes   []node
}

// A node is an object or array. Nodes are in the order of their starts.
type node struct {
	end   uint32 // offset after its last byte; of an open node, the offset of the start
	next  uint32 // index of the first node after its end; of an open node, of the parent
	count uint32 // elements or members
}

const (
	// maxText is the greatest length of a text, because nodes hold offsets of 32
	// bits.
	maxText = math.MaxUint32 - 1
	// noNode is the parent of the top-level value.
	noNode = math.MaxUint32
	// maxDepth is the greatest number of open nodes, as in jsontext.
	maxDepth = 10_000
)

// A cursor is a position in a text: the offset of a value and the index of the
// first node at or after this offset.
type cursor struct {
	pos, node int
}
