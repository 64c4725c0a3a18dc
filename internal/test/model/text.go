package model

import (
	"encoding/hex"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gdwire/gdwire"
)

// unhex decodes hex digits and ignores white space.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Build replaces headers by their bytes in the format: <int+1.255> sets 1 in bits
// 16 and up and 255 in bits 8 to 15, and <none> is the first id after the last type.
func Build(t testing.TB, f gdwire.Format, text string) []byte {
	return unhex(t, headerPattern.ReplaceAllStringFunc(text, func(s string) string {
		m := headerPattern.FindStringSubmatch(s)
		id := slices.Index(TypeNames[f.String()], m[1])
		if m[1] == "none" {
			id = len(TypeNames[f.String()])
		}
		if id < 0 {
			t.Fatalf("%s in %v", s, f)
		}
		flags, _ := strconv.Atoi(m[2])
		middle, _ := strconv.Atoi(m[3])
		return hex.EncodeToString(le.AppendUint32(nil, uint32(id|middle<<8|flags<<16)))
	}))
}

// F32 returns encoded floats in hex, after a space.
func F32(x ...float64) string {
	var b []byte
	for _, x := range x {
		b = le.AppendUint32(b, math.Float32bits(float32(x)))
	}
	return " " + hex.EncodeToString(b)
}

// F64 returns numbers as floats of 64 bits in hex, after a space.
func F64(x ...float64) string {
	var b []byte
	for _, x := range x {
		b = le.AppendUint64(b, math.Float64bits(x))
	}
	return " " + hex.EncodeToString(b)
}

// U32 returns encoded uint32s in hex, after a space.
func U32(x ...uint32) string {
	var b []byte
	for _, x := range x {
		b = le.AppendUint32(b, x)
	}
	return " " + hex.EncodeToString(b)
}

// Text returns the length, the bytes and the padding of s in hex, after a space.
func Text(s string) string {
	return U32(uint32(len(s))) + hex.EncodeToString([]byte(s)) + strings.Repeat("00", -len(s)&3)
}

var headerPattern = regexp.MustCompile(`<(\w+)(?:\+(\d+)(?:\.(\d+))?)?>`)
