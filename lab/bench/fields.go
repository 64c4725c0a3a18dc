package main

import (
	"slices"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/variant"
)

// fieldGroup measures structs by the types of their fields: those that package variant writes without calls,
// and those for which it needs some.
var fieldGroup = counted("fields out", fieldsOut)

type (
	oneInt   struct{ A int64 }
	twoInts  struct{ A, B int64 }
	sixInts  struct{ A, B, C, D, E, F int64 }
	anys     struct{ A, B, C, D, E, F any }
	pointers struct{ A, B, C, D, E, F *int64 }
	byteses  struct{ A, B, C []byte }
	maps12   struct{ A, B map[string]int64 }
	halfAny  struct {
		A int64
		B any
		C string
		D any
		E float64
		F any
	}
	oneAny struct {
		A    int64
		B    string
		C, D float64
		E    any
		F    bool
		G    string
	}
	endAny struct {
		A, B int64
		C, D any
	}
	deepAny struct{ List []anys }
)

// fieldCount is the number of structs of each kind.
const fieldCount = 1000

func fieldsOut() []contender {
	n := int64(7)
	text := any("a text")
	return []contender{
		fieldsOf("1 int", oneInt{1}),
		fieldsOf("2 ints", twoInts{1, 2}),
		fieldsOf("6 ints", sixInts{1, 2, 3, 4, 5, 6}),
		fieldsOf("6 any", anys{n, text, 0.5, n, text, true}),
		fieldsOf("6 pointers", pointers{&n, &n, &n, nil, &n, nil}),
		fieldsOf("3 []byte", byteses{[]byte{1}, []byte("bytes"), nil}),
		fieldsOf("2 maps", maps12{map[string]int64{"a": 1}, nil}),
		fieldsOf("3 of 6 any", halfAny{1, n, "text", text, 0.5, nil}),
		fieldsOf("1 of 7 any", oneAny{1, "text", 0.5, 0.1, n, true, "text"}),
		fieldsOf("2 of 4 any, last", endAny{1, 2, n, text}),
		fieldsOf("lists of any", deepAny{[]anys{{A: n}, {A: text}}}),
	}
}

// fieldsOf returns a contender that writes a list of x.
func fieldsOf[T any](name string, x T) contender {
	all := slices.Repeat([]T{x}, fieldCount)
	size := len(must(variant.Marshal(all)))
	return encoding("variant.MarshalEncode, "+name, size, func(e *gdwire.Encoder) { check(variant.MarshalEncode(e, all)) }).allocating()
}
