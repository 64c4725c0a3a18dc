package conformance

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"hash/maphash"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/calls"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/stream"
	"github.com/gdwire/gdwire/variant"
)

// Memory has one owner: what a function returns, or fills, is the caller's and is never
// written again. These tables list all exported functions that return or fill memory.

// borrowed contains what the caller does not own, and the end of it.
var borrowed = map[string]string{
	"gdwire.Decoder.ReadToken":    "the next read; Token.Clone keeps it",
	"gdwire.Decoder.Tokens":       "the next step of the loop",
	"gdwire.Decoder.Fields":       "the next read in the loop's body",
	"gdwire.Decoder.UnreadBuffer": "the next read",
	"gdwire.Decoder.Payload":      "the next read that is not of the payload",
	"gdwire.Token.Bytes":          "that of the Token",
	"gdwire.Encoder.Bytes":        "the next call",
}

// others have nothing to own: numbers, memory of their arguments, values of the package.
var others = []string{
	"fileaccess.NewReader", "stream.NewReader", "gdwire.Decoder.Elements", "gdwire.Decoder.Pairs",
	"gdwire.Decoder.Options", "gdwire.Encoder.Options", "gdwire.ReadInteger", "stream.Server.Conns", "stream.Room.Members",
	"gdwire.ArrayStart", "gdwire.Bool", "gdwire.DictKey", "gdwire.DictStart", "gdwire.End", "gdwire.Float32", "gdwire.Float64",
	"gdwire.Int32", "gdwire.Int64", "gdwire.Nil", "gdwire.ObjectID", "gdwire.String", "gdwire.StringName", "gdwire.Vector",
	"variant.UnmarshalFirst", // the rest of its argument; the value is that of Unmarshal
}

// kept contains what the caller owns. The test calls each of them.
var kept = []string{
	"gdwire.Decoder.ReadString", "gdwire.Decoder.ReadNodePath", "gdwire.Decoder.ReadSignal", "gdwire.Decoder.AppendString", "gdwire.Decoder.AppendPath",
	"gdwire.AppendPacked", "gdwire.Token.Clone", "gdwire.Token.Text", "gdwire.Token.String", "gdwire.Token.AppendComponents", "gdwire.Token.Elem", "gdwire.Token.KeyElem",
	"gdwire.Encoder.AppendPath", "gdwire.Error.Error", "gdwire.LimitError.Error", "gdwire.Elem.String", "gdwire.Format.MarshalText", "gdwire.Format.String", "gdwire.Kind.String", "gdwire.Type.String",
	"gdwire.Formats", "gdwire.Types",
	"stream.Conn.NextRaw", "stream.Reader.NextRaw", "stream.PacketTooLongError.Error", "stream.PeerError.Error",
	"variant.Marshal", "variant.MarshalAppend", "variant.Dictionary.All", "variant.Dictionary.Get", "variant.Diff", "variant.Elements", "variant.Entries", "variant.Get", "variant.TypeError.Error",
	"variant.Array.MarshalJSON", "variant.Dictionary.MarshalJSON", "variant.Object.MarshalJSON",
	"gdjson.Error.Error",
	"fileaccess.Compress", "fileaccess.Decompress",
	"fileaccess.Container.String", "fileaccess.Error.Error", "fileaccess.Info.String", "fileaccess.Layout.String", "fileaccess.LimitError.Error", "fileaccess.Mode.String",
}

// stringers contains the types of variant with a method String, which is in kept.
var stringers = []fmt.Stringer{
	&variant.Dictionary{}, &variant.Array{}, &variant.Object{}, variant.Raw{}, variant.RID(0), variant.ObjectID(0), variant.Signal{}, variant.Callable{},
	variant.Image{}, variant.InputEvent{}, variant.Vector2{}, variant.Vector2i{}, variant.Vector3{}, variant.Vector3i{}, variant.Vector4{}, variant.Vector4i{},
	variant.Rect2{}, variant.Rect2i{}, variant.Plane{}, variant.Quaternion{}, variant.AABB{}, variant.Transform2D{}, variant.Basis{}, variant.Transform3D{},
	variant.Projection{}, variant.Color{},
}

func init() {
	for _, v := range stringers {
		kept = append(kept, nameOfString(v))
	}
}

// nameOfString returns the name of the method String of v.
func nameOfString(v fmt.Stringer) string { return strings.TrimPrefix(fmt.Sprintf("%T.String", v), "*") }

// filled contains functions that fill memory of the caller, or write to a Writer of the caller.
var filled = []string{
	"gdwire.ReadPacked", "gdwire.ReadComponents", "gdwire.Encoder.Flush",
	"variant.Unmarshal", "variant.UnmarshalDecode", "gdjson.ToJSON", "gdjson.FromJSON", "fileaccess.Reader.Read",
}

// memory matches results in which memory can be.
var memory = regexp.MustCompile(`\bstring\b|\[|\bany\b|\b[TKV]\b|Token|Raw|Dictionary|Options|Elem\b|Reader\b`)

// TestOwnershipTables: each exported function that returns memory is in one of the tables.
func TestOwnershipTables(t *testing.T) {
	all := slices.Concat(others, kept)
	for name := range borrowed {
		all = append(all, name)
	}
	slices.Sort(all)
	require.Equal(t, slices.Compact(slices.Clone(all)), all)
	var found []string
	exported := map[string]bool{}
	for _, dir := range []string{".", "stream", "variant", "gdjson", "fileaccess"} {
		for name, f := range functions(t, dir) {
			exported[name] = true
			if memory.MatchString(strings.Join(fieldTypes(f.Type.Results), ", ")) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	require.Equal(t, found, all)
	for _, name := range filled {
		require.True(t, exported[name], name)
	}
}

// functions returns the exported functions and methods in a directory, by name.
func functions(t *testing.T, dir string) map[string]*ast.FuncDecl {
	all := map[string]*ast.FuncDecl{}
	for _, name := range must(filepath.Glob(filepath.Join("..", "..", "..", dir, "*.go")))(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments))(t)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
				path := file.Name.Name + "."
				if f.Recv != nil {
					receiver := strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
					if !ast.IsExported(receiver) {
						continue
					}
					path += receiver + "."
				}
				all[path+f.Name.Name] = f
			}
		}
	}
	return all
}

// fieldTypes returns the types of parameters or results.
func fieldTypes(list *ast.FieldList) (all []string) {
	if list != nil {
		for _, field := range list.List {
			all = append(all, slices.Repeat([]string{types.ExprString(field.Type)}, max(1, len(field.Names)))...)
		}
	}
	return all
}

// overlaps contains the calls that fill memory of the caller while they read other memory of the
// caller, and the declaration whose doc says that the two must not overlap. Those without one find an overlap, and allocate.
var overlaps = map[string]string{
	"gdwire.AppendPacked":            "gdwire.Decoder.ResetBytes",
	"gdwire.Decoder.AppendPath":      "gdwire.Decoder.ResetBytes",
	"gdwire.Decoder.AppendString":    "gdwire.Decoder.ResetBytes",
	"gdwire.Decoder.ResetBytes":      "gdwire.Decoder.ResetBytes",
	"gdwire.ReadComponents":          "gdwire.Decoder.ResetBytes",
	"gdwire.ReadPacked":              "gdwire.Decoder.ResetBytes",
	"gdwire.Encoder.AppendPath":      "gdwire.Encoder.ResetBytes",
	"gdwire.Encoder.ResetBytes":      "gdwire.Encoder.ResetBytes",
	"gdwire.Encoder.Write":           "gdwire.Encoder.ResetBytes",
	"gdwire.Encoder.WriteInputEvent": "gdwire.Encoder.ResetBytes",
	"gdwire.Encoder.WriteRaw":        "gdwire.Encoder.ResetBytes",
	"gdwire.WriteComponents":         "gdwire.Encoder.ResetBytes",
	"gdwire.WritePacked":             "gdwire.Encoder.ResetBytes",
	"variant.MarshalAppend":          "variant.MarshalAppend",
	"variant.Unmarshal":              "variant.Unmarshal",
	"variant.UnmarshalFirst":         "variant.Unmarshal",
	"fileaccess.Compress":            "",
	"fileaccess.Decompress":          "",
	"savefile.EditPacket":            "",
}

// Each exported function with two parameters that refer to memory, one a slice, says that they must
// not overlap, or gives the same result if they do.
func TestOverlaps(t *testing.T) {
	refers := regexp.MustCompile(`^(\[\](byte|T|Edit)|any|\*?(gdwire\.)?(Decoder|Encoder|Token|Raw))$`)
	docs, found := map[string]string{}, map[string]bool{}
	for _, dir := range []string{".", "stream", "variant", "gdjson", "fileaccess", "savefile", "gdwiretest"} {
		for name, f := range functions(t, dir) {
			docs[name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
			all := append(fieldTypes(f.Recv), fieldTypes(f.Type.Params)...)
			all = slices.DeleteFunc(all, func(typ string) bool { return !refers.MatchString(typ) })
			found[name] = len(all) > 1 && slices.ContainsFunc(all, func(typ string) bool { return typ[0] == '[' })
		}
	}
	maps.DeleteFunc(found, func(_ string, ok bool) bool { return !ok })
	require.ElementsMatch(t, slices.Collect(maps.Keys(found)), slices.Collect(maps.Keys(overlaps)))
	for name, documented := range overlaps {
		if documented != "" {
			require.Contains(t, docs[documented], "must not overlap", name)
		}
	}

	text := bytes.Repeat([]byte("some text, and again, "), 200)
	for mode := range fileaccess.Brotli {
		packed := must(fileaccess.Compress(nil, text, mode))(t)
		for name, c := range map[string]struct {
			call      func(dst, src []byte) ([]byte, error)
			src, want []byte
		}{
			"Compress":   {func(dst, src []byte) ([]byte, error) { return fileaccess.Compress(dst, src, mode) }, text, packed},
			"Decompress": {func(dst, src []byte) ([]byte, error) { return fileaccess.Decompress(dst, src, mode, 0) }, packed, text},
		} {
			for _, start := range []int{0, 1, 100, 2 * len(text)} {
				for _, end := range []int{0, 1, 50, 100} { // of dst, whose capacity src is in
					buf := make([]byte, 4*len(text))
					src := buf[start : start+copy(buf[start:], c.src)]
					got := must(c.call(buf[:end], src))(t)
					require.True(t, bytes.Equal(c.want, got[end:]), "%s %v at %d after %d", name, mode, start, end)
					require.True(t, bytes.Equal(c.src, src), "%s %v overwrites its input", name, mode)
				}
			}
		}
	}
	packet := gdwiretest.Encode(t, []any{[]byte("abc"), "x"})
	got := must(savefile.EditPacket(packet, []savefile.Edit{savefile.Set("[0]", packet[12:15]), savefile.Set("[1]", "long text")}))(t)
	require.Equal(t, gdwiretest.Encode(t, []any{gdwiretest.Encode(t, []any{[]byte("abc"), "x"})[12:15], "long text"}), got)
}

// TestOwnership keeps what the functions return and fill in random sequences of several
// goroutines, and looks at it again at the end.
func TestOwnership(t *testing.T) {
	steps := testenv.Cases(150, 3000)
	seen := sync.Map{}
	var group sync.WaitGroup
	for i := range uint64(4) {
		group.Go(func() {
			k := &keeper{Rand: rand.New(rand.NewPCG(i, 0)), t: t, seen: &seen}
			for n := 0; n < steps || n < 50*steps && len(unseen(&seen)) > 0; n++ { // a sample may miss a call
				turns[k.IntN(len(turns))](k)
				k.check(k.IntN(len(k.all) + 1))
				if len(k.all) > 2000 { // the oldest have been looked at often
					k.check(len(k.all))
					k.all = slices.Delete(k.all, 0, 1000)
				}
				if t.Failed() {
					return
				}
			}
			k.check(len(k.all))
		})
	}
	group.Wait()
	require.Empty(t, unseen(&seen), "not called")
}

// unseen returns the functions that were not called.
func unseen(seen *sync.Map) (names []string) {
	for _, name := range slices.Concat(kept, filled) {
		if _, ok := seen.Load(name); !ok {
			names = append(names, name)
		}
	}
	return names
}

// A keeper keeps results with their hashes.
type keeper struct {
	*rand.Rand
	t    *testing.T
	all  []result
	seen *sync.Map
}

type result struct {
	name  string
	value any
	hash  uint64
}

func (k *keeper) keep(name string, v any) {
	k.seen.Store(name, true)
	k.all = append(k.all, result{name, v, hashOf(v)})
}

// check checks n random results, or all.
func (k *keeper) check(n int) {
	for range min(n, 20) {
		if n == len(k.all) {
			break
		}
		k.verify(&k.all[k.IntN(len(k.all))])
	}
	if n == len(k.all) {
		for i := range k.all {
			k.verify(&k.all[i])
		}
	}
}

func (k *keeper) verify(r *result) {
	if hashOf(r.value) != r.hash {
		k.t.Errorf("%s: its result has changed", r.name)
	}
}

var hashSeed = maphash.MakeSeed()

func hashOf(v any) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	hashValue(&h, reflect.ValueOf(v))
	return h.Sum64()
}

// hashValue adds all that is reachable from v.
func hashValue(h *maphash.Hash, v reflect.Value) {
	word := func(x uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, x)) }
	word(uint64(v.Kind()))
	switch k := v.Kind(); {
	case k == reflect.Bool:
		word(map[bool]uint64{true: 1}[v.Bool()])
	case v.CanInt():
		word(uint64(v.Int()))
	case v.CanUint():
		word(v.Uint())
	case v.CanFloat():
		word(math.Float64bits(v.Float()))
	case k == reflect.String:
		h.WriteString(v.String())
	case k == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		h.Write(v.Bytes())
	case k == reflect.Slice || k == reflect.Array:
		for i := range v.Len() {
			hashValue(h, v.Index(i))
		}
	case k == reflect.Func, k == reflect.Chan:
	case k == reflect.Pointer || k == reflect.Interface:
		if !v.IsNil() {
			hashValue(h, v.Elem())
		}
	case k == reflect.Struct:
		for i := range v.NumField() {
			hashValue(h, v.Field(i))
		}
	case k == reflect.Map:
		sum := uint64(0)
		for pairs := v.MapRange(); pairs.Next(); {
			var pair maphash.Hash
			pair.SetSeed(hashSeed)
			hashValue(&pair, pairs.Key())
			hashValue(&pair, pairs.Value())
			sum += pair.Sum64()
		}
		word(sum)
	}
}

// size returns a random size, mostly small, and seldom one around those at which buffers
// change hands.
func (k *keeper) size() int {
	switch k.IntN(12) {
	case 0:
		return []int{4 << 10, 32 << 10, 64 << 10, 128 << 10}[k.IntN(4)] + k.IntN(200) - 100
	case 1:
		return k.IntN(70_000)
	}
	return k.IntN(40)
}

func (k *keeper) text() string {
	return strings.Repeat(string(rune('a'+k.IntN(26))), k.size())
}

// packet returns an encoded value of any type that the calls below read.
func (k *keeper) value(depth int) any {
	n := k.IntN(14)
	if depth == 0 {
		n = k.IntN(11)
	}
	switch n {
	case 0:
		return k.Int64()
	case 1, 2:
		return k.text()
	case 3:
		return variant.StringName(k.text())
	case 4:
		return variant.NodePath("/" + string(rune('a'+k.IntN(26))) + "/b:" + strings.Repeat("x", k.IntN(100)))
	case 5:
		return variant.Signal{Name: strings.Repeat("s", k.IntN(200)), Object: variant.ObjectID(k.Uint64())}
	case 6:
		return []byte(k.text())
	case 7:
		return slices.Repeat([]int64{k.Int64()}, k.size()/8)
	case 8:
		return slices.Repeat([]variant.Vector3{{X: k.Float64()}}, k.size()/12)
	case 9:
		return slices.Repeat([]string{strings.Repeat("p", k.IntN(50))}, k.IntN(30))
	case 10:
		return variant.Color{R: k.Float32()}
	case 11:
		a := &variant.Array{Elem: gdwire.Elem{}}
		for range k.IntN(5) {
			a.Values = append(a.Values, k.value(depth-1))
		}
		return a
	case 12:
		return &variant.Array{Elem: gdwire.Elem{Type: gdwire.TypeObject, Script: "res://" + strings.Repeat("s", k.IntN(100)) + ".gd"}}
	}
	d := &variant.Dictionary{}
	for i := range k.IntN(6) {
		d.Set([]any{fmt.Sprint("key ", i), int64(i), variant.StringName("name")}[k.IntN(3)], k.value(depth-1))
	}
	return d
}

func (k *keeper) packet() []byte { return gdwiretest.Encode(k.t, k.value(3)) }

// turns contains the steps of the sequences.
var turns = []func(*keeper){
	marshal, marshal, unmarshal, unmarshal, decode, decode, decode, tokens, records, encode, jsons, packets, files, texts, failures,
}

func marshal(k *keeper) {
	v := k.value(3)
	b, err := variant.Marshal(v)
	require.NoError(k.t, err)
	k.keep("variant.Marshal", b)
	dst := make([]byte, k.IntN(10), 10+k.size())
	b, err = variant.MarshalAppend(dst, v)
	require.NoError(k.t, err)
	k.keep("variant.MarshalAppend", b)
	k.keep("variant.Get", must(variant.Get([]any{v}, "[0]"))(k.t))
	for name, v := range map[string]json.Marshaler{
		"Dictionary": &variant.Dictionary{Key: gdwire.Elem{Script: k.text()}}, "Array": &variant.Array{Values: []any{k.text()}}, "Object": &variant.Object{Class: k.text()},
	} {
		k.keep("variant."+name+".MarshalJSON", must(v.MarshalJSON())(k.t))
	}
	for c := range variant.Diff(v, k.value(3)) {
		k.keep("variant.Diff", c.OldPath+c.NewPath)
	}
	for _, v := range append([]fmt.Stringer{variant.Raw{Data: b}}, stringers...) {
		k.keep(nameOfString(v), v.String())
	}
}

// A record contains fields of the kinds of memory that Unmarshal fills.
type record struct {
	Name   string
	Path   variant.NodePath
	Data   []byte
	Longs  []int64
	Points []variant.Vector3
	Names  []string
	Any    any
	Map    map[string]any
	List   []record
	Raw    variant.Raw
	Next   *record
	Rest   *variant.Dictionary `gd:",embed"`
}

func (k *keeper) record(depth int) *record {
	r := &record{
		Name: k.text(), Path: "a/b", Data: []byte(k.text()), Longs: make([]int64, k.IntN(20)), Points: []variant.Vector3{{X: 1}},
		Names: []string{k.text()}, Any: k.value(1), Map: map[string]any{k.text(): k.value(1)}, Rest: &variant.Dictionary{},
	}
	r.Rest.Set("other", k.value(1))
	if depth > 0 {
		r.Next, r.List = k.record(depth-1), []record{*k.record(depth - 1)}
	}
	return r
}

func unmarshal(k *keeper) {
	b := gdwiretest.Encode(k.t, k.record(k.IntN(2)))
	r := new(record)
	if k.IntN(2) == 0 {
		d := gdwire.NewDecoder(&chunks{b, k.Rand}, nil)
		require.NoError(k.t, variant.UnmarshalDecode(d, r))
		d.Release()
		k.keep("variant.UnmarshalDecode", r)
	} else {
		require.NoError(k.t, variant.Unmarshal(b, r))
		clear(b) // Unmarshal refers to nothing of its input
		k.keep("variant.Unmarshal", r)
	}
	var v any
	require.NoError(k.t, variant.Unmarshal(k.packet(), &v))
	k.keep("variant.Unmarshal", v)
	if d, ok := v.(*variant.Dictionary); ok {
		for key, x := range d.All() {
			k.keep("variant.Dictionary.All", []any{key, x})
			got, _ := d.Get(key)
			k.keep("variant.Dictionary.Get", got)
		}
	}
}

// chunks is a Reader that returns a few bytes at a time, and clears them later.
type chunks struct {
	b []byte
	r *rand.Rand
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+c.r.IntN(5000))], c.b)
	clear(c.b[:n])
	c.b = c.b[n:]
	return n, nil
}

// decoder returns a Decoder of a packet, from memory or from a Reader.
func (k *keeper) decoder(b []byte) *gdwire.Decoder {
	d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{MaxChunk: []int{0, 16, 1000}[k.IntN(3)]})
	if k.IntN(2) == 0 {
		d.ResetBytes(b)
	} else {
		d.Reset(&chunks{b, k.Rand})
	}
	return d
}

// decode reads a packet by all calls in turn.
func decode(k *keeper) {
	b := k.packet()
	d := k.decoder(b)
	c := calls.NewCaller(k.t, d)
	for err := error(nil); err != io.EOF && d.Err() == nil; {
		op := &calls.Reads[k.IntN(len(calls.Reads))]
		for n := k.IntN(30); n > 0 && !op.Fits(d.PeekKind()); n-- {
			op = &calls.Reads[k.IntN(len(calls.Reads))]
		}
		switch name := op.Function(); {
		case name == "gdwire.Decoder.Reset", name == "gdwire.Decoder.Release":
		case k.IntN(3) > 0:
			err = k.token(d)
		default:
			c.Result = nil
			if err = op.Run(c); c.Result != nil && (slices.Contains(kept, name) || slices.Contains(filled, name)) {
				k.keep(name, c.Result)
			}
		}
	}
	k.keep("gdwire.Decoder.AppendPath", d.AppendPath(nil))
	k.keep("gdwire.Error.Error", d.WrapError(gdwire.ErrRange))
	d.Release()
	clear(b)
}

// token reads a token and keeps what can be kept of it.
func (k *keeper) token(d *gdwire.Decoder) error {
	t, err := d.ReadToken()
	if err == nil {
		k.keepToken(t)
	}
	return err
}

func (k *keeper) keepToken(t gdwire.Token) {
	clone := t.Clone()
	k.keep("gdwire.Token.Clone", bytes.NewReader(clone.Bytes()))
	k.keep("gdwire.Token.Text", t.Text())
	k.keep("gdwire.Token.String", t.String())
	k.keep("gdwire.Token.AppendComponents", t.AppendComponents(nil))
	k.keep("gdwire.Token.Elem", t.Elem())
	k.keep("gdwire.Token.KeyElem", t.KeyElem())
	k.keep("gdwire.Elem.String", t.Elem().String())
}

func tokens(k *keeper) {
	d := k.decoder(k.packet())
	defer d.Release()
	for t, err := range d.Tokens() {
		require.NoError(k.t, err)
		k.keepToken(t)
	}
}

func records(k *keeper) {
	b := gdwiretest.Encode(k.t, []*record{k.record(0), k.record(0)})
	d := k.decoder(b)
	for r, err := range variant.Elements[record](d) {
		require.NoError(k.t, err)
		k.keep("variant.Elements", r)
	}
	d.Release()
	b = gdwiretest.Encode(k.t, map[string]*record{k.text(): k.record(0), "b": k.record(0)})
	d = k.decoder(b)
	for e, err := range variant.Entries[string, record](d) {
		require.NoError(k.t, err)
		k.keep("variant.Entries", e)
	}
	d.Release()
}

func encode(k *keeper) {
	var out bytes.Buffer
	e := gdwire.NewEncoder(&out, nil)
	require.NoError(k.t, e.BeginArray(2))
	k.keep("gdwire.Encoder.AppendPath", e.AppendPath(nil))
	require.NoError(k.t, variant.MarshalEncode(e, k.value(2)))
	require.NoError(k.t, e.WriteString(k.text()))
	require.NoError(k.t, e.End())
	require.NoError(k.t, e.Close())
	e.Close()
	k.keep("gdwire.Encoder.Flush", out.Bytes())
}

func jsons(k *keeper) {
	d := k.decoder(k.packet())
	var text bytes.Buffer
	require.NoError(k.t, gdjson.ToJSON(&text, d))
	d.Release()
	k.keep("gdjson.ToJSON", text.Bytes())

	var out bytes.Buffer
	e := gdwire.NewEncoder(&out, nil)
	require.NoError(k.t, gdjson.FromJSON(e, bytes.NewReader(text.Bytes())))
	require.NoError(k.t, e.Close())
	k.keep("gdjson.FromJSON", out.Bytes())
	e.Close()
	bad := fmt.Sprintf(`["i:1",{"type":"Dictionary","args":[%q,%q]}]`, "s:"+k.text(), k.text())
	e.Reset(io.Discard)
	err := gdjson.FromJSON(e, strings.NewReader(bad))
	require.Error(k.t, err)
	e.Close()
	k.keep("gdjson.Error.Error", err)
	k.keep("gdjson.Error.Error", err.Error())
}

func packets(k *keeper) {
	one, other := net.Pipe()
	read := stream.NewConn(context.Background(), one, nil)
	written := stream.NewConn(context.Background(), other, nil)
	done := make(chan error)
	go func() {
		done <- errors.Join(written.WriteRaw(k.packetOf(1)), written.WriteRaw(k.packetOf(2)))
	}()
	for range 2 {
		k.keep("stream.Conn.NextRaw", must(read.NextRaw(nil))(k.t))
	}
	require.NoError(k.t, <-done)
	read.Close()
	written.Close()

	var b bytes.Buffer
	w := stream.NewWriter(&b, nil)
	for range 3 {
		require.NoError(k.t, w.WriteRaw(k.packet()))
	}
	r := stream.NewReader(&chunks{b.Bytes(), k.Rand}, nil)
	for {
		raw, err := r.NextRaw(make([]byte, k.IntN(3)))
		if err != nil {
			require.Equal(k.t, io.EOF, err)
			break
		}
		k.keep("stream.Reader.NextRaw", raw)
	}
	r = stream.NewReader(bytes.NewReader([]byte{0, 0, 0, 127}), &stream.Options{MaxPacket: 100})
	_, err := r.NextRaw(nil)
	k.keep("stream.PacketTooLongError.Error", err)
	k.keep("stream.PeerError.Error", (&stream.PeerError{Err: err}).Error())
}

// packetOf returns a packet that does not depend on the keeper, for another goroutine.
func (*keeper) packetOf(n int) []byte {
	b, err := variant.Marshal(strings.Repeat("x", 10_000*n))
	if err != nil {
		panic(err)
	}
	return b
}

func files(k *keeper) {
	data := []byte(k.text() + k.text())
	var file bytes.Buffer
	w := must(fileaccess.NewCompressedWriter(&file, fileaccess.Zstd, 4096))(k.t)
	_, err := w.Write(data)
	require.NoError(k.t, errors.Join(err, w.Close()))
	r := must(fileaccess.NewReader(iotest.HalfReader(bytes.NewReader(file.Bytes())), nil))(k.t)
	got := make([]byte, len(data))
	must(io.ReadFull(r, got))(k.t)
	require.True(k.t, bytes.Equal(data, got))
	k.keep("fileaccess.Reader.Read", got)
	cut := file.Bytes()[:file.Len()-1-k.IntN(file.Len()/2)]
	if r, err = fileaccess.NewReader(bytes.NewReader(cut), nil); err == nil {
		_, err = io.ReadAll(r)
	}
	require.Error(k.t, err)
	k.keep("fileaccess.Error.Error", err)
	k.keep("fileaccess.Error.Error", err.Error())
	mode := fileaccess.Mode(k.IntN(4))
	packed := must(fileaccess.Compress(nil, data, mode))(k.t)
	k.keep("fileaccess.Compress", packed)
	if len(data) > 0 { // no bytes are compressed to none, which are no stream
		k.keep("fileaccess.Decompress", must(fileaccess.Decompress(nil, packed, mode, 0))(k.t))
	}
}

// texts calls what returns texts and lists of the package.
func texts(k *keeper) {
	k.keep("gdwire.Formats", gdwire.Formats())
	k.keep("gdwire.Types", gdwire.Types())
	text, _ := gdwire.Formats()[k.IntN(3)].MarshalText()
	k.keep("gdwire.Format.MarshalText", text)
	k.keep("gdwire.Format.String", gdwire.Formats()[k.IntN(3)].String())
	k.keep("gdwire.Kind.String", gdwire.Kind(k.IntN(100)).String())
	k.keep("gdwire.Type.String", gdwire.Type(k.IntN(100)).String())
	k.keep("fileaccess.Container.String", fileaccess.Container(k.IntN(5)).String())
	k.keep("fileaccess.Info.String", fileaccess.Info{Container: fileaccess.Container(k.IntN(5))}.String())
	k.keep("fileaccess.Layout.String", fileaccess.Layout(k.IntN(5)).String())
	k.keep("fileaccess.Mode.String", fileaccess.Mode(k.IntN(5)).String())
	k.keep("fileaccess.LimitError.Error", (&fileaccess.LimitError{}).Error())
	all := gdwire.Types()
	clear(all) // is the caller's
	require.NotZero(k.t, gdwire.Types()[0])
}

// failures keeps errors, which have paths.
func failures(k *keeper) {
	b := gdwiretest.Encode(k.t, map[string]any{"names": []any{"a", k.text(), k.Int64()}})
	var v struct{ Names []string }
	err := variant.Unmarshal(b, &v)
	require.Error(k.t, err)
	clear(b)
	var typeError *variant.TypeError
	require.ErrorAs(k.t, err, &typeError)
	k.keep("variant.TypeError.Error", typeError.Error())
	var at *gdwire.Error
	require.ErrorAs(k.t, err, &at)
	k.keep("gdwire.Error.Error", at.Path)
	d := gdwire.NewDecoder(bytes.NewReader([]byte{4, 0, 0, 0, 255, 255, 255, 127}), nil)
	_, err = d.ReadToken()
	var limit *gdwire.LimitError
	require.ErrorAs(k.t, err, &limit)
	d.Release()
	k.keep("gdwire.LimitError.Error", limit)
	k.keep("gdwire.LimitError.Error", limit.Error())
}
