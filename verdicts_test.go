package gdwire_test

import "testing"

// A verdict is a line of verdicts.jsonl: what an engine did with a packet.
type verdict struct {
	Hex       hexBytes
	Accept    bool
	Size      int64
	Reencoded hexBytes
}

func (e *engine) verdicts(t testing.TB) []verdict {
	return readLines[verdict](t, e.folder, "verdicts.jsonl")
}
