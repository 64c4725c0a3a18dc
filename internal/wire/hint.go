package wire

// Hint returns what the input probably is if it begins with the four bytes of first in place
// of a header, for messages, or "". It needs no other bytes, so that the text of an error does
// not depend on how they arrive.
func Hint(first uint32) string {
	switch string(le.AppendUint32(nil, first)) {
	case "GCPF":
		return "; GCPF: a compressed file, see package fileaccess"
	case "GDEC":
		return "; GDEC: an encrypted file, see package fileaccess"
	case "RSRC":
		return "; RSRC: a resource, not a value"
	case "RSCC":
		return "; RSCC: a compressed resource, not a value"
	}
	isText := true
	for i := range 4 {
		c := byte(first >> (8 * i))
		isText = isText && (c >= ' ' && c <= '~' || c == '\n' || c == '\r' || c == '\t')
	}
	switch {
	case isText:
		return "; the input is text: for JSON, see package gdjson"
	case first <= 1<<24 && first%4 == 0: // as nearly all lengths are
		return "; perhaps the input begins with its length: see package stream"
	}
	return ""
}
