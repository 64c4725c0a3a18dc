package variantmodel

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// TestSharing decodes values into targets whose slices, and in elements also pointers and maps,
// share memory. Slices can be parts of arrays of the target, and pointers lead to elements of
// slices. The results are those of new targets. Outside elements, Unmarshal follows pointers and
// maps, so two that are equal lead to one variable.
func TestSharing(t *testing.T) {
	types, compared := 500, 0
	if testenv.Full() {
		types = 10_000
	}
	for seed := range uint64(types) {
		r := random{rand.New(rand.NewPCG(seed, 2))}
		typ := r.typ(4)
		if seed%2 == 1 {
			typ = listsOf(r.typ(2))
		}
		name := typ.String()
		if strings.Contains(name, "omitzero") || strings.Contains(name, "Base") || strings.Contains(name, `gd:\"-\"`) {
			continue // old values of fields that are omitted, or are no fields of the encoding, remain
		}
		source := reflect.New(typ)
		r.fill(source.Elem(), 4)
		b, err := variant.Marshal(source.Interface())
		if err != nil {
			continue
		}
		want := reflect.New(typ)
		if variant.Unmarshal(b, want.Interface()) != nil {
			continue
		}
		for range 10 {
			s := sharer{r, map[reflect.Type][]reflect.Value{}, map[reflect.Type][]reflect.Value{}}
			got := reflect.New(typ)
			s.shape(got.Elem(), want.Elem())
			before := fmt.Sprintf("%+v", got.Elem())
			require.NoError(t, variant.Unmarshal(b, got.Interface()))
			require.True(t, reflect.DeepEqual(want.Elem().Interface(), got.Elem().Interface()), "seed %d: into %v %s:\n%s, not\n%s",
				seed, typ, before, show(got.Elem().Interface()), show(want.Elem().Interface()))
			compared++
		}
	}
	require.Greater(t, compared, types)
}

// listsOf returns a struct whose fields can refer to the same elements of type t.
func listsOf(t reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for i, of := range []reflect.Type{reflect.PointerTo(t), reflect.ArrayOf(3, t), reflect.SliceOf(t), reflect.PointerTo(t), reflect.SliceOf(t)} {
		fields = append(fields, reflect.StructField{Name: string(rune('A' + i)), Type: of})
	}
	return reflect.StructOf(fields)
}

// A sharer makes values that share memory.
type sharer struct {
	random
	made   map[reflect.Type][]reflect.Value // slices, pointers and maps
	arrays map[reflect.Type][]reflect.Value // slices of arrays outside elements, by their types
}

// shape makes v a value of the shape of like: it consists of the variables that a decoder of like
// uses again. Elements of lists have any values.
func (s *sharer) shape(v, like reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if all := s.arrays[v.Type()]; len(all) > 0 && s.IntN(3) == 0 {
			v.Set(all[s.IntN(len(all))])
			return
		}
		s.share(v, 3)
	case reflect.Array:
		s.shareAll(v, 3)
		t := reflect.SliceOf(v.Type().Elem())
		s.arrays[t] = append(s.arrays[t], v.Slice(0, v.Len()))
	case reflect.Pointer:
		if like.IsNil() {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		if all := s.made[reflect.SliceOf(v.Type().Elem())]; len(all) > 0 && s.IntN(2) == 0 {
			if of := all[s.IntN(len(all))]; of.Cap() > 0 {
				v.Set(of.Slice(0, of.Cap()).Index(s.IntN(of.Cap())).Addr())
			}
		}
		s.shape(v.Elem(), like.Elem())
	case reflect.Map:
		if !like.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
			for _, key := range like.MapKeys() {
				x := reflect.New(v.Type().Elem()).Elem()
				s.shape(x, like.MapIndex(key))
				v.SetMapIndex(key, x)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				s.shape(v.Field(i), like.Field(i))
			}
		}
	}
}

// share sets v to a random value, which often shares memory with earlier values.
func (s *sharer) share(v reflect.Value, depth int) {
	t := v.Type()
	switch k := t.Kind(); k {
	case reflect.Slice, reflect.Pointer, reflect.Map:
		if all := s.made[t]; len(all) > 0 && s.IntN(3) > 0 {
			v.Set(all[s.IntN(len(all))])
			if k == reflect.Slice {
				from := s.IntN(v.Cap() + 1)
				v.Set(v.Slice(from, from+s.IntN(v.Cap()-from+1)))
			}
			return
		}
		switch {
		case depth == 0:
			return
		case k == reflect.Map:
			s.fill(v, depth)
		case k == reflect.Pointer:
			v.Set(reflect.New(t.Elem()))
			s.share(v.Elem(), depth-1)
		default:
			v.Set(reflect.MakeSlice(t, s.IntN(6), 6))
			s.shareAll(v.Slice(0, 6), depth)
		}
		made := reflect.New(t).Elem() // v can change
		made.Set(v)
		s.made[t] = append(s.made[t], made)
	case reflect.Array:
		s.shareAll(v, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if t.Field(i).IsExported() {
				s.share(v.Field(i), depth)
			}
		}
	default:
		s.fill(v, depth)
	}
}

func (s *sharer) shareAll(v reflect.Value, depth int) {
	for i := range v.Len() {
		s.share(v.Index(i), depth-1)
	}
}
