package variant

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
)

func TestTags(t *testing.T) {
	for _, c := range []struct {
		text string
		want tag
		err  string
	}{
		{text: "", want: tag{}},
		{text: "name", want: tag{name: "name"}},
		{text: ",omitzero", want: tag{omitZero: true}},
		{text: ",required", want: tag{required: true}},
		{text: "n,type=Color,omitzero", want: tag{name: "n", wire: gdwire.TypeColor, omitZero: true}},
		{text: "'a,b',embed", want: tag{name: "a,b", embed: true}},
		{text: "'-'", want: tag{name: "-"}},
		{text: ",array", want: tag{array: true}},
		{text: "''", want: tag{}},
		{text: "'open", err: `tag "'open" has no closing quote`},
		{text: `'a\'"\t\u00e9',embed`, want: tag{name: "a'\"\té", embed: true}},
		{text: `'\q'`, err: `tag has the invalid name '\q'`},
		{text: `'a\'`, err: `tag "'a\\'" has no closing quote`},
		{text: "'a'b", err: `tag has "b" after the name`},
		{text: "a,omitempty", err: `tag has unknown option "omitempty"`},
		{text: "a, omitzero", err: `tag has unknown option " omitzero"`},
		{text: "a,was=b,was=c", want: tag{name: "a", was: []string{"b", "c"}}},
		{text: "a,was=", err: `tag has unknown option "was="`},
		{text: ",max=64", want: tag{max: 64}},
		{text: ",max=0", err: `tag has the invalid option "max=0"`},
		{text: "a,", err: `tag has unknown option ""`},
		{text: ",type=Colour", err: `tag has unknown type "Colour"`},
		{text: ",type=Array[int],omitzero", want: tag{wire: gdwire.TypeArray, elem: gdwire.Elem{Type: gdwire.TypeInt}, omitZero: true}},
		{text: "n,type=Dictionary[StringName, int]", want: tag{name: "n", wire: gdwire.TypeDictionary, key: gdwire.Elem{Type: gdwire.TypeStringName}, elem: gdwire.Elem{Type: gdwire.TypeInt}}},
		{text: ",omitzero,type=Dictionary[Variant,Node2D]", want: tag{wire: gdwire.TypeDictionary, elem: gdwire.Elem{Type: gdwire.TypeObject, Class: "Node2D"}, omitZero: true}},
		{text: `,type=Array["res://a]'\",b.gd"],omitzero`, want: tag{wire: gdwire.TypeArray, elem: gdwire.Elem{Type: gdwire.TypeObject, Script: `res://a]'",b.gd`}, omitZero: true}},
		{text: `,type=Array['res://a.gd']`, want: tag{wire: gdwire.TypeArray, elem: gdwire.Elem{Type: gdwire.TypeObject, Script: "res://a.gd"}}},
		{text: ",type=Array[int", err: `tag has unknown type "Array[int", column 10: want ]`},
		{text: ",type=Array[Variant]", err: `tag has unknown type "Array[Variant]", column 15: without types it is written []`},
		{text: ",type=Dictionary[int]", err: `tag has unknown type "Dictionary[int]", column 15: want the types of keys and values`},
		{text: ",type=Array[int]([])", err: `tag has unknown type "Array[int]([])", column 11: unexpected "([])"`},
		{text: ",type=Array[int],omitempty", err: `tag has unknown option "omitempty"`},
	} {
		t.Run(fmt.Sprintf("%q", c.text), func(t *testing.T) {
			got, err := parseTag(c.text)
			if c.err != "" {
				assert.EqualError(t, err, c.err, c.text)
				return
			}
			require.NoError(t, err, c.text)
			assert.Equal(t, c.want, got, c.text)
		})
	}
}

type (
	inner   struct{ A, B int }
	Outer2  struct{ inner }
	left    struct{ Same int }
	right   struct{ Same int }
	Selfish struct {
		*Selfish
		B int
	}
)

// An invalid type is an error when it is first used, in decoding and in encoding, for any
// input and any value.
func TestTypeMistakes(t *testing.T) {
	type cyclic *cyclic
	for _, c := range []struct {
		value   any
		err     string
		writing bool // only writing fails
	}{
		{value: tagged[int](",what"), err: `variant: struct { A int "gd:\",what\"" }.A: tag has unknown option "what"`},
		{value: struct {
			Hit, HIT int
		}{}, err: `variant: struct { Hit int; HIT int }.HIT: struct.Hit has the same name "hit"`},
		{value: struct {
			left
			right
		}{}, err: `variant: variant.right.Same: left.Same has the same name "same"`},
		{value: struct {
			a int `gd:"a"`
		}{}, err: `variant: struct { a int "gd:\"a\"" }.a: tag on a field that is not exported`},
		{value: struct {
			*inner
		}{}, err: `variant: struct { *variant.inner }.inner: embedded pointer to a struct that is not exported`},
		{value: struct{ Vector3 }{}, err: `variant: struct { variant.Vector3 }.Vector3: embedded variant.Vector3 needs a name in its tag`},
		{value: struct {
			netip.Addr
			netip.Prefix
		}{}, err: `variant: struct { netip.Addr; netip.Prefix }.Addr: embedded netip.Addr needs a name in its tag`},
		{value: struct {
			inner `gd:",omitzero"`
		}{}, err: `variant: struct { variant.inner "gd:\",omitzero\"" }.inner: options on an embedded struct without a name`},
		{value: tagged[int](",embed"), err: `variant: struct { A int "gd:\",embed\"" }.A: embed on int, neither *Dictionary nor a map of string keys`},
		{value: struct {
			A map[utText]int `gd:",embed"`
		}{}, err: `variant: struct { A map[variant.utText]int "gd:\",embed\"" }.A: embed on map[variant.utText]int, neither *Dictionary nor a map of string keys`},
		{value: tagged[int](",omitzero,required"), err: `variant: struct { A int "gd:\",omitzero,required\"" }.A: required together with omitzero`},
		{value: struct {
			inner `gd:",required"`
		}{}, err: `variant: struct { variant.inner "gd:\",required\"" }.inner: options on an embedded struct without a name`},
		{value: tagged[*Dictionary](",embed,required"), err: `variant: struct { A *variant.Dictionary "gd:\",embed,required\"" }.A: embed together with another option`},
		{value: tagged[*Dictionary](",embed,omitzero"), err: `variant: struct { A *variant.Dictionary "gd:\",embed,omitzero\"" }.A: embed together with another option`},
		{value: struct {
			A, B *Dictionary `gd:",embed"`
		}{}, err: `variant: struct { A *variant.Dictionary "gd:\",embed\""; B *variant.Dictionary "gd:\",embed\"" }.B: struct.A has embed, too`},
		{value: struct {
			_ struct{}    `gd:",array"`
			A *Dictionary `gd:",embed"`
		}{}, err: `variant: struct.A: embed in a positional struct`},
		{value: struct {
			A int `gd:",was=b"`
			B int
		}{}, err: `variant: struct.A: was=b is the name of another field`},
		{value: tagged[int](",max=1"), err: `variant: struct { A int "gd:\",max=1\"" }.A: max=1 on int, no string, slice or map without methods`},
		{value: tagged[*Dictionary](",embed,max=1"), err: `variant: struct { A *variant.Dictionary "gd:\",embed,max=1\"" }.A: embed together with another option`},
		{value: tagged[int](",array"), err: `variant: struct { A int "gd:\",array\"" }.A: option array on a field that is not named _`},
		{value: struct {
			_ int `gd:",what"`
		}{}, err: `variant: struct { _ int "gd:\",what\"" }._: tag has unknown option "what"`},

		{value: make(chan int), err: "variant: chan int has no Variant type"},
		{value: struct{ F func() }{}, err: "variant: struct.F: func() has no Variant type"},
		{value: box[[]map[string]complex64]{}, err: "variant: box[[]map[string]complex64].Value: complex64 has no Variant type"},
		{value: map[[2]string]int{}, err: "variant: [2]string cannot be a key"},
		{value: map[inner]int{}, err: "variant: variant.inner cannot be a key"},
		{value: map[fmt.Stringer]int{}, err: "variant: fmt.Stringer cannot be a key"},
		{value: map[*int]int{}, err: "variant: *int cannot be a key"},
		{value: new(cyclic), err: "variant: *variant.cyclic points only to pointers"},
		{value: map[string]any{"a": 1}, err: ""},

		{value: [4]float32{}, err: "variant: [4]float32 can be [Rect2 Vector4 Plane Quaternion Color]: it needs a tag such as type=Rect2", writing: true},
		{value: struct{ A [6]float64 }{}, err: "variant: struct.A: [6]float64 can be [Transform2D AABB]: it needs a tag such as type=Transform2D", writing: true},
		{value: tagged[string](",type=int"), err: "variant: struct.A: type=int does not fit Go string", writing: true},
		{value: tagged[[3]float32](",type=Color"), err: "variant: struct.A: type=Color does not fit Go [3]float32", writing: true},
		{value: tagged[Vector3](",type=Color"), err: "variant: struct.A: type=Color does not fit Go variant.Vector3", writing: true},
		{value: tagged[RID](",type=int"), err: "variant: struct.A: type=int does not fit Go variant.RID", writing: true},
		{value: tagged[[]string](",type=PackedInt32Array"), err: "variant: struct.A: type=PackedInt32Array does not fit Go []string", writing: true},
		{value: tagged[[]int](",type=PackedStringArray"), err: "variant: struct.A: type=PackedStringArray does not fit Go []int", writing: true},
		{value: tagged[mvInt32](",type=int"), err: "variant: struct.A: type=int does not fit Go variant.mvInt32", writing: true},
		{value: tagged[[]uvInt32](",type=PackedInt32Array"), err: "variant: struct.A: type=PackedInt32Array does not fit Go []variant.uvInt32", writing: true},
		{value: tagged[[]mtText](",type=PackedStringArray"), err: "variant: struct.A: type=PackedStringArray does not fit Go []variant.mtText", writing: true},
		{value: tagged[[3]mtFloat32](",type=Vector3"), err: "variant: struct.A: type=Vector3 does not fit Go [3]variant.mtFloat32", writing: true},
		{value: struct {
			A []struct{ HP float64 } `gd:",type=PackedFloat64Array"`
		}{}, err: "variant: struct.A: type=PackedFloat64Array does not fit Go []struct { HP float64 }", writing: true},
		{value: tagged[[2]Vector3](",type=AABB"), err: "variant: struct.A: type=AABB does not fit Go [2]variant.Vector3", writing: true},
		{value: tagged[int](",type=Array"), err: "variant: struct.A: type=Array does not fit Go int", writing: true},
	} {
		t.Run(c.err, func(t *testing.T) {
			for range 2 {
				_, err := Marshal(c.value)
				require.Equal(t, c.err, errorText(err))
				err = Unmarshal([]byte{0, 0, 0, 0}, reflect.New(reflect.TypeOf(c.value)).Interface())
				if c.writing {
					require.NoError(t, err)
				} else {
					require.Equal(t, c.err, errorText(err))
				}
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestQuotedIsCut(t *testing.T) {
	require.Equal(t, `"`+strings.Repeat("x", 64)+`"`, quoted(strings.Repeat("x", 100)))
}

func TestInternalFields(t *testing.T) {
	type player struct {
		MaxHP []int       `gd:",required,type=Array[int]"`
		Name  string      `gd:"n,omitzero,was=m,max=9"`
		Rest  *Dictionary `gd:",embed"`
	}
	fields, isUnion, err := Internal.Export(&internal.AllowInternalUse).Fields(reflect.TypeFor[player]())
	require.NoError(t, err)
	require.False(t, isUnion)
	require.Equal(t, []internal.Field{
		{Key: "max_hp", GoName: "player.MaxHP", As: "Array[int]", Type: reflect.TypeFor[[]int](), Required: true},
		{Key: "n", GoName: "player.Name", Type: reflect.TypeFor[string](), OmitZero: true, Was: []string{"m"}, Max: 9},
		{Key: "rest", GoName: "player.Rest", Type: reflect.TypeFor[*Dictionary](), Embed: true},
	}, fields)
	require.Panics(t, func() { Internal.Export(nil) })
}
