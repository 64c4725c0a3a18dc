package structs

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/open"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/variant"
)

// New defines the flags of struct.
func New(f *shell.Flags) shell.Action {
	p := &typeMaker{open: open.Flags{NonEmpty: true}}
	p.open.ReadFlags(f, true)
	f.OutputFlag()
	f.StringVar(&p.goPackage, "package", "main", "`NAME` of the package")
	f.StringVar(&p.goType, "type", "Save", "`NAME` of the type")
	f.BoolVar(&p.required, "required", false, "require keys that all files have: decoding another save without one is an error")
	return shell.Action{Check: p.check, Run: func(s *shell.Stdio) error { return p.run(s, f.Operands) }}
}

// A typeMaker prints Go types for saves.
type typeMaker struct {
	open              open.Flags
	goPackage, goType string
	required          bool // -required
}

func (p *typeMaker) check() error {
	if !token.IsIdentifier(p.goPackage) || !token.IsExported(p.goType) || !token.IsIdentifier(p.goType) {
		return errors.New("-package and -type take names of Go, and a type begins with a capital letter")
	}
	return nil
}

// run prints Go types for saves, proved by decoding every save into the types and encoding the values again.
func (p *typeMaker) run(s *shell.Stdio, names []string) error {
	var all saves
	var provers []*prover
	for _, name := range names {
		in, err := p.open.Open(s, name)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		if err := in.CheckEnd(); err != nil {
			return err
		}
		c, err := in.Content()
		if err != nil {
			return shell.Prefixed(in.Name, err)
		}
		first := len(all.values)
		n, err := all.add(in, in.Reader())
		if err != nil {
			return err
		}
		if all.count > 1 && n != first {
			return fmt.Errorf("%s and %s contain %d and %d values: print types for saves with the same number of values",
				names[0], name, first, n)
		}
		provers = append(provers, &prover{in: in, content: io.NewSectionReader(c, 0, c.Size)})
	}
	var types []*goType
	for _, v := range all.values {
		types = append(types, newGoType(v, p.required))
	}
	if !slices.ContainsFunc(types, func(g *goType) bool { return g.fields != nil || g.elem != nil || g.typ == goDictionary }) {
		return errors.New("the saves contain no Dictionary, which could be a struct")
	}
	for _, one := range provers {
		if err := one.prove(types); err != nil {
			return err
		}
		if one.hasOther {
			s.Infof("%s contains bytes that no Go value keeps, such as a key twice; its values are kept", one.in.Name)
		}
	}
	return p.print(s.Out, len(names), types)
}

// print prints the types of the values. For several values, the names of the types end in the
// number of the value, and a comment shows how to read them.
func (p *typeMaker) print(w io.Writer, saves int, all []*goType) error {
	t := &structPrinter{used: map[string]bool{}}
	names := []string{p.goType}
	if len(all) > 1 {
		names = nil
		for i := range all {
			names = append(names, p.goType+strconv.Itoa(i+1))
		}
	}
	for _, name := range names {
		t.used[name] = true
	}
	var body, use bytes.Buffer
	var pointers []string
	for i, one := range all {
		text := t.rootName(&body, names[i], one)
		fmt.Fprintf(&use, "//\tvar v%d %s\n", i+1, text)
		pointers = append(pointers, fmt.Sprint("&v", i+1))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Made by gdwire struct. Unmarshal and Marshal gave back %d of %[1]d saves byte by byte.\n", saves)
	if len(all) > 1 || all[0].elem != nil {
		fmt.Fprintf(&b, "//\n// To read a save, a File of package savefile:\n//\n%s//\terr := file.Unmarshal(%s)\n", &use, strings.Join(pointers, ", "))
	}
	fmt.Fprintf(&b, "\npackage %s\n\nimport \"github.com/gdwire/gdwire/variant\"\n", p.goPackage)
	b.Write(body.Bytes())
	source, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(source)
	return err
}

// A prover decodes the values of a save into Go types, and encodes them again: each element of a slice of structs alone,
// and then the value around the slice, without the elements.
type prover struct {
	*gdwire.Decoder // of the packet

	in       *open.Input
	content  *io.SectionReader
	hasOther bool   // the save contains bytes lost in a tree
	again    []byte // a value encoded again
}

// lossless selects a lossless encoding of trees.
var lossless = variant.Options{
	Decoder: gdwire.DecoderOptions{AllowObjects: true, AllowInvalidUTF8: true},
	Encoder: gdwire.EncoderOptions{AllowInvalidUTF8: true, DoubleReals: true, Depth: -1},
}

// prove returns an error unless the types of all values give back the same bytes.
func (p *prover) prove(types []*goType) error {
	for one := range open.Packets(&p.in.Reading, p.content) {
		err := one.Err
		if err == nil {
			p.Decoder = one.Decoder
			err = one.Finish(p.next(types[one.Index]))
		}
		if err != nil {
			return shell.Prefixed(p.in.Name, err)
		}
	}
	return nil
}

// next proves the type of the next value.
func (p *prover) next(g *goType) (err error) {
	var v any
	if g.hasSlice {
		v, err = p.tree(g)
	} else {
		var raw variant.Raw
		var o variant.Options
		if raw, o, err = p.raw(); err == nil && p.givesBack(g, raw.Data, o) {
			return nil
		} else if err == nil {
			v, err = p.treeOf(raw, o)
		}
	}
	if err != nil {
		return err
	}
	data, err := variant.Marshal(v, lossless)
	if err == nil && !p.givesBack(g, data, lossless) {
		err = errors.New("no type encodes the same bytes")
	}
	return err
}

// givesBack reports whether a value is the same after decoding and encoding.
func (p *prover) givesBack(g *goType, data []byte, o variant.Options) bool {
	v := reflect.New(g.typ).Interface()
	err := variant.Unmarshal(data, v, o)
	if err == nil {
		p.again, err = variant.MarshalAppend(p.again[:0], v, o)
	}
	return err == nil && bytes.Equal(p.again, data)
}

// raw returns the next value, and the options of its encoding.
func (p *prover) raw() (raw variant.Raw, o variant.Options, err error) {
	if err = variant.UnmarshalDecode(p.Decoder, &raw); err == nil {
		o.Decoder, o.Encoder = p.in.Decoder, lossless.Encoder
		o.Decoder.Format, o.Encoder.Format, o.Encoder.DoubleReals = raw.Format, raw.Format, raw.DoubleReals()
	}
	return raw, o, err
}

// treeOf returns a value as a tree.
func (p *prover) treeOf(raw variant.Raw, o variant.Options) (v any, err error) {
	if err = variant.Unmarshal(raw.Data, &v, o); err == nil {
		data, err := variant.Marshal(v, o)
		p.hasOther = p.hasOther || err != nil || !bytes.Equal(data, raw.Data)
	}
	return v, err
}

// tree returns the next value as a tree, but proves the elements of slices of structs and leaves them out.
func (p *prover) tree(g *goType) (any, error) {
	kind, depth := p.PeekKind(), p.Depth()
	isArray := g.elem != nil && kind == gdwire.KindArrayStart
	if isDict := g.fields != nil && kind == gdwire.KindDictStart; !isArray && !isDict {
		raw, o, err := p.raw()
		if err != nil {
			return nil, err
		}
		return p.treeOf(raw, o)
	}
	t, err := p.ReadToken()
	p.hasOther = p.hasOther || strings.HasSuffix(t.String(), " shared") // of Godot 2, lost in a tree
	d := &variant.Dictionary{}
	for n := t.Len(); n > 0 && err == nil; n-- {
		if isArray {
			err = p.next(g.elem)
		} else {
			err = p.pair(g, d)
		}
	}
	if err != nil {
		return nil, err
	}
	if isArray {
		return &variant.Array{}, p.SkipTo(depth)
	}
	p.hasOther = p.hasOther || int64(d.Len()) < t.Len() // a key twice
	return d, p.SkipTo(depth)
}

// pair adds the next pair to a Dictionary.
func (p *prover) pair(g *goType, d *variant.Dictionary) error {
	if _, err := p.ReadToken(); err != nil { // DictKey
		return err
	}
	key, err := p.tree(anyType(""))
	if err != nil {
		return err
	}
	name, _ := key.(string)
	v, err := p.tree(g.field(name))
	d.Set(key, v)
	return err
}
