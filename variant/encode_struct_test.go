package variant

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// changing is a type whose IsZero alternates.
type changing struct {
	calls *int `gd:"-"`
}

func (c changing) IsZero() bool {
	*c.calls++
	return *c.calls%2 == 0
}

type pointerZero struct{ N int }

func (p *pointerZero) IsZero() bool { return p.N == 1 }

func TestOmitZero(t *testing.T) {
	calls := 0
	c := changing{&calls}
	type fields struct {
		A changing     `gd:",omitzero"`
		B changing     `gd:",omitzero"`
		C *changing    `gd:",omitzero"`
		D pointerZero  `gd:",omitzero"`
		E *pointerZero `gd:",omitzero"`
		F time.Time    `gd:",omitzero"`
		G [2]int       `gd:",omitzero"`
		H any          `gd:",omitzero"`
		I *Dictionary  `gd:",embed"`
	}
	b, err := Marshal(&fields{A: c, B: c, D: pointerZero{1}, E: &pointerZero{1}})
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, Unmarshal(b, &got))
	require.Len(t, got, 1)
	require.Contains(t, got, "a")
	require.Equal(t, 2, calls, "each is asked once")

	var many struct {
		A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, E0, E1, E2, E3, E4, E5, E6, E7, E8, E9, F0, F1, F2, F3, F4, F5, F6, F7, F8, F9, G0, G1, G2, G3, G4, G5, G6, G7, G8, G9, H0, H1, H2, H3, H4, H5, H6, H7, H8, H9, I0, I1, I2, I3, I4, I5, I6, I7, I8, I9, J0, J1, J2, J3, J4, J5, J6, J7, J8, J9, K0, K1, K2, K3, K4, K5, K6, K7, K8, K9, L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, M0, M1, M2, M3, M4, M5, M6, M7, M8, M9 int
		Last                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   int `gd:",omitzero"`
	}
	many.A0, many.M9 = 3, 5
	b, err = Marshal(many)
	require.NoError(t, err)
	again := many
	again.A0, again.Last = 1, 1
	list := []any{&again}
	_ = list
	require.NoError(t, Unmarshal(b, &again))
	again.Last = 0
	require.Equal(t, many, again)
}

// A field of an embedded nil pointer is nil in a positional struct.
func TestMarshalEmbeddedNilPointer(t *testing.T) {
	type pointers struct {
		_ struct{} `gd:",array"`
		*Shared
		B int
	}
	require.Equal(t, encoded(t, array(nil, 2), nil), encoded(t, pointers{B: 2}, nil))
}

// Without the struct that collects unknown keys, there are none.
func TestMarshalNilCollector(t *testing.T) {
	type Dict struct {
		Known int
		Rest  *Dictionary `gd:",embed"`
	}
	type Map struct {
		Rest map[string]int `gd:",embed"`
	}
	type ofDict struct {
		*Dict
		N int
	}
	type ofMap struct {
		*Map
		N int
	}
	testGoTypes(t, []goType{
		{name: "nil pointer to *Dictionary", value: ofDict{N: 1}, wire: dict("n", int64(1))},
		{name: "nil *Dictionary", value: ofDict{&Dict{}, 1}, wire: dict("known", int64(0), "n", int64(1))},
		{name: "*Dictionary", value: ofDict{&Dict{1, dict("x", int64(2))}, 3}, wire: dict("known", int64(1), "n", int64(3), "x", int64(2))},
		{name: "nil pointer to map", value: ofMap{N: 1}, wire: dict("n", int64(1))},
		{name: "map", value: ofMap{&Map{map[string]int{"x": 2}}, 3}, wire: dict("n", int64(3), "x", int64(2))},
	})
}
