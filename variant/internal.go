package variant

import (
	"reflect"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal"
)

// Internal is for the other packages of this module, and no part of the API: methods can change at any time.
var Internal exporter

type exporter struct{}

// Export returns the calls for package gdscript, and panics as Export of [gdwire.Internal] does.
func (exporter) Export(p *internal.NotForPublicUse) exported {
	_ = gdwire.Internal.Export(p)
	return exported{}
}

type exported struct{}

// Fields returns the fields of a struct type. The field with the option embed is the last.
func (exported) Fields(t reflect.Type) (all []internal.Field, err error) {
	s, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	if s.embed != nil {
		s.all = append(s.all, *s.embed)
	}
	for _, f := range s.all {
		as := ""
		if f.wire != 0 {
			as = f.typeText()
		}
		all = append(all, internal.Field{Key: f.name, GoName: f.goName, As: as, Type: f.typ, OmitZero: f.omitZero, Required: f.required, Embed: f.embed, Was: f.was, Max: f.max})
	}
	return all, nil
}

// SnakeCase returns the key of a field with this name.
func (exported) SnakeCase(name string) string { return snakeCase(name) }
