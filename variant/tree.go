package variant

// normal returns v in the form in which code that walks trees knows it: an Array, Dictionary or
// Object by value becomes a pointer, and a nil pointer to one becomes nil. Other values remain.
func normal(v any) any {
	switch v := v.(type) {
	case Array:
		return &v
	case Dictionary:
		return &v
	case Object:
		return &v
	case *Array:
		if v == nil {
			return nil
		}
	case *Dictionary:
		if v == nil {
			return nil
		}
	case *Object:
		if v == nil {
			return nil
		}
	}
	return v
}

// isContainer reports whether v, in normal form, contains other values.
func isContainer(v any) bool {
	switch v.(type) {
	case *Array, *Dictionary, *Object:
		return true
	}
	return false
}
