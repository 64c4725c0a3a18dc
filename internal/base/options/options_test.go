package options_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/base/options"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// testFields merges options of which one field at a time is set, for each field of O.
func testFields[O any](t *testing.T) {
	o := new(O)
	fields := leaves(reflect.ValueOf(o).Elem(), nil)
	require.NotEmpty(t, fields)
	with := func(field []int, n int) (o O) {
		set(t, reflect.ValueOf(&o).Elem().FieldByIndex(field), n)
		return o
	}
	for i, field := range fields {
		name := reflect.TypeFor[O]().FieldByIndex(field).Name
		var zero O
		require.Equal(t, with(field, 1), *options.Merge([]O{with(field, 1), zero}), "%s: zero replaces nothing", name)
		require.Equal(t, with(field, 1), *options.Merge([]O{zero, with(field, 1)}), name)
		require.Equal(t, with(field, 2), *options.Merge([]O{with(field, 1), with(field, 2), zero}), "%s: the last counts", name)
		if next := fields[(i+1)%len(fields)]; len(fields) > 1 {
			both := with(field, 1)
			set(t, reflect.ValueOf(&both).Elem().FieldByIndex(next), 2)
			require.Equal(t, both, *options.Merge([]O{with(field, 1), with(next, 2)}), "%s and the field after it", name)
		}
	}
}

// leaves returns the indices of the exported fields in v that are not structs.
func leaves(v reflect.Value, index []int) (all [][]int) {
	for i := range v.NumField() {
		at := append(index[:len(index):len(index)], i)
		switch f := v.Field(i); {
		case !v.Type().Field(i).IsExported(), f.Kind() == reflect.Func: // functions cannot be compared
		case f.Kind() == reflect.Struct:
			all = append(all, leaves(f, at)...)
		default:
			all = append(all, at)
		}
	}
	return all
}

// set sets v to a value for n.
func set(t *testing.T, v reflect.Value, n int) {
	switch {
	case v.CanInt():
		v.SetInt(int64(n))
	case v.CanUint():
		v.SetUint(uint64(n))
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprint(n))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(t, v.Elem(), n)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		set(t, v.Index(0), n)
	case v.Kind() == reflect.Array:
		set(t, v.Index(0), n)
	default:
		t.Fatalf("what is the zero value of %v for?", v.Type())
	}
}

func TestMerge(t *testing.T) {
	t.Run("variant", testFields[variant.Options])
	t.Run("gdjson", testFields[gdjson.Options])
	t.Run("savefile", testFields[savefile.Options])
	t.Run("stream", testFields[stream.Options])
}

// The options of the caller remain as they are.
func TestMergeCopies(t *testing.T) {
	all := []gdjson.Options{{Indent: "\t"}, {Plain: true}}
	require.Equal(t, &gdjson.Options{Indent: "\t", Plain: true}, options.Merge(all))
	require.Equal(t, []gdjson.Options{{Indent: "\t"}, {Plain: true}}, all)
}
