// Package options merges the options of calls with a last parameter ...Options. Constructors take
// *Options instead.
package options

import "reflect"

// Of returns the options of a call, all merged, or none if there are none. The caller must not
// change the result. Without several to merge, Of allocates nothing.
func Of[O any](all []O, none *O) *O {
	switch len(all) {
	case 0:
		return none
	case 1:
		return &all[0]
	}
	return Merge(all)
}

// Merge returns the merged options: in each field, also of nested structs, the last nonzero
// value. O is a struct.
func Merge[O any](all []O) *O {
	var merged O
	for _, o := range all { // a copy, so that the caller's slice is not allocated
		merge(reflect.ValueOf(&merged).Elem(), reflect.ValueOf(&o).Elem())
	}
	return &merged
}

// merge sets the fields of to that are not zero in from.
func merge(to, from reflect.Value) {
	for i := range from.NumField() {
		switch t, f := to.Field(i), from.Field(i); {
		case !t.CanSet() || f.IsZero(): // programs cannot set unexported fields
		case f.Kind() == reflect.Struct:
			merge(t, f)
		default:
			t.Set(f)
		}
	}
}
