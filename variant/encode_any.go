package variant

import "reflect"

// anyMaps encodes the maps of trees.
var anyMaps *mapEncoder

func init() { // any refers to anyMaps
	anyMaps = newMapEncoder(reflect.TypeFor[map[string]any](), mapKeys{}, &plan[encodeFunc]{do: encodeAny})
}

// encodeAny writes a value of any type.
func encodeAny(s *encoder, x variable) error { return s.any(*pointer[any](x)) }

// any writes a value of any type. The most frequent types in an any need no lookup of a plan.
func (s *encoder) any(v any) error {
	switch v := v.(type) {
	case nil:
		return s.e.WriteNil()
	case bool:
		return s.e.WriteBool(v)
	case int64:
		return s.e.WriteInt(v)
	case int:
		return s.e.WriteInt(int64(v))
	case float64:
		return s.e.WriteFloat(v)
	case string:
		return s.e.WriteString(v)
	}
	return s.planned(v, false)
}

// anyKey writes a key of any type.
func (s *encoder) anyKey(k any) error {
	switch k.(type) {
	case nil, bool, int64, int, float64, string:
		return s.any(k)
	}
	return s.planned(k, true)
}

// planned writes a value or key, directly if it is of a type found in trees, or else with a plan.
func (s *encoder) planned(v any, isKey bool) error {
	if ok, err := s.tree(v); ok {
		return err
	}
	r := reflect.ValueOf(v)
	plan, err := encodePlans.ofKey(planKey{typ: r.Type(), isKey: isKey})
	if err != nil {
		return s.refuse(err)
	}
	return s.encodeIn(plan, v, r)
}

// tree writes v, without a plan or an addressable copy, and returns true if v is of a type found
// in the trees of an any. Otherwise it writes nothing.
func (s *encoder) tree(v any) (ok bool, err error) {
	switch v := normal(v).(type) {
	case nil:
		return true, s.e.WriteNil()
	case *Dictionary:
		return true, s.dictionary(v)
	case *Array:
		return true, s.array(v)
	case *Object:
		return true, s.object(v)
	case map[string]any:
		s.anyMap = v
		return true, anyMaps.encode(s, variableAt(&s.anyMap))
	case []any:
		return true, s.list(v)
	}
	return false, nil
}

// list writes v as an Array.
func (s *encoder) list(v []any) error {
	if err := s.e.BeginArray(len(v)); err != nil {
		return err
	}
	if err := s.enter(reflect.TypeFor[[]any]()); err != nil {
		return err
	}
	for _, x := range v {
		if err := s.any(x); err != nil {
			return err
		}
	}
	return s.leave()
}

func (s *encoder) array(v *Array) error {
	if err := s.enter(reflect.TypeFor[*Array]()); err != nil {
		return err
	}
	if err := s.e.BeginTypedArray(len(v.Values), v.Elem); err != nil {
		return err
	}
	for _, x := range v.Values {
		if err := s.any(x); err != nil {
			return err
		}
	}
	return s.leave()
}

func (s *encoder) dictionary(v *Dictionary) error {
	if err := s.enter(reflect.TypeFor[*Dictionary]()); err != nil {
		return err
	}
	if err := s.e.BeginTypedDict(v.Len(), v.Key, v.Value); err != nil {
		return err
	}
	for k, x := range v.All() {
		if err := s.anyKey(k); err != nil {
			return err
		}
		if err := s.any(x); err != nil {
			return err
		}
	}
	return s.leave()
}

func (s *encoder) object(v *Object) error {
	if err := s.e.BeginObject(v.Class, len(v.Properties)); err != nil {
		return err
	}
	if err := s.enter(reflect.TypeFor[Object]()); err != nil {
		return err
	}
	for i := range v.Properties {
		p := &v.Properties[i]
		if err := s.e.WriteProperty(p.Name); err != nil {
			return err
		}
		if err := s.any(p.Value); err != nil {
			return err
		}
	}
	return s.leave()
}
