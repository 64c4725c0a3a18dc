package text

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/test/testenv"
)

// print prints a line.
func print(p Path, v Value) string { return p.String() + " = " + v.String() }

func TestPathsLines(t *testing.T) {
	for _, line := range []string{
		`$ = null`, `$ = true`, `$ = false`, `$ = -5`, `$ = 9223372036854775807`, `$ = -9223372036854775808`,
		`$ = 1.0`, `$ = -0.0`, `$ = 5e-324`, `$ = 1e+21`, `$ = 0.000001`, `$ = nan`, `$ = inf`, `$ = -inf`,
		`$.player.hp = 10`, `$["metadata/x"] = null`, `$.points[3] = Vector2(0.5, 2.0)`,
		`$*.a[0:3][2:][-2:-1][*] = 10`, `$2.player.hp = 10`, `$["a = \"b\"\n"] = true`, `$.icon = PackedByteArray("89504e47")`,
		`$.grid[Vector2i(1, 2)] = 1`, `$[&"speed"] = 3.5`, `$.d.value(3).x = 5`, `$.d.value().x = 5`, `$2.d[3].value()$12[0].value() = 5`,
		`$.t[7] = 1`, `$[^"/root/A:b"] = &"x"`, `$.typed = Array[int]`,
		`$[null][true][false][-1][1.5][nan][-inf] = ^"."`,
		`$[RID(5)][ObjectID(-5)] = RID(5)`, `$ = RID()`, `$ = ObjectID(0)`, `$ = Callable()`, `$ = Signal("hit", -7)`,
		`$.key(0) = 1`, `$.key(12).key(0)[3] = ""`, `$["key(0)"] = 1`, `$.key = 1`, `$.value.null.inf = 1`,
		`$[""] = ""`, `$["1a"] = "é日本😀"`, `$["\u001b[31m\u007f\u0085\u009b\u202e\u200d\ufeff\udb40\udc01"] = "\xff\xc3\\"`,
		`$.Jurgen["Jürgen"] = "it's"`,
		`$ = []`, `$ = {}`, `$ = Array[int]([])`, `$ = Array[Node]`, `$ = Array["res://a \"b\".gd"]`, `$ = Array[&"int"]([])`, `$ = Array[&"a b"]`, `$ = Array[Object]`,
		`$ = Dictionary[String, int]`, `$ = Dictionary[Variant, int]({})`, `$ = Dictionary[String, Variant]`, `$ = Dictionary[&"Variant", Vector2i]`,
		`$ = PackedInt32Array`, `$ = PackedVector2Array()`, `$ = PackedByteArray("")`, `$ = Object("Node")`, `$ = Object("")`,
		`$ = Object("Node", {})`, `$ = Object("Node", {"name": "a", "metadata/b": [Object("B", {"c": PackedInt32Array([1])})]})`,
		`$ = Image(3, 0, 4294967295, 1, "0102")`, `$ = InputEvent(1, 2, "00ff")`,
		`$ = Transform2D(1.0, 0.0, 0.0, 1.0, nan, -inf)`, `$ = Color(0.1, 0.2, 0.3, 1.0)`, `$ = Rect2i(1, -2, 2147483647, -2147483648)`,
	} {
		t.Run(line, func(t *testing.T) {
			p, v := testenv.Must2(ParseLine(line))(t)
			require.Equal(t, line, print(p, v))
		})
	}
}

// TestInput reads lines with the meaning of another line, which is printed for them.
func TestInput(t *testing.T) {
	for in, want := range map[string]string{
		`player.hp=10`:                        `$.player.hp = 10`,
		`[3]	=	'a"b'`:                         `$[3] = "a\"b"`,
		`.a = 'it\'s'`:                        `$.a = "it's"`,
		`$['hp'] = 1`:                         `$.hp = 1`,
		`$["hp"] = 1  `:                       `$.hp = 1`,
		`$0 = 1`:                              `$ = 1`,
		`$[Vector2( 1,2.50 )] = Vector2(1,2)`: `$[Vector2(1.0, 2.5)] = Vector2(1.0, 2.0)`,
		`$ = 1E5`:                             `$ = 100000.0`,
		`$ = 1.`:                              `$ = 1.0`,
		`$ = -0`:                              `$ = 0`,
		`$ = "\x41\u0042\U00000043\a\x1b\U000e0001"`: `$ = "ABC\u0007\u001b\udb40\udc01"`,
		`$ = "caf\xc3\xa9"`:                          `$ = "café"`,
		`$["abc…"]… = 1`:                             `$["abc…"]… = 1`,
		`$[ 1 ] = {}`:                                `$[1] = {}`,
		`$ = Dictionary[ String ,int ]({})`:          `$ = Dictionary[String, int]({})`,
		`$ = PackedByteArray('FF')`:                  `$ = PackedByteArray("ff")`,
		"$ = \"\u202e\"":                             `$ = "\u202e"`,
		// As in GDScript and JSON.
		`$ = [1_000, -0xF_f, 0b1_01, 1_0.2_5e1_0]`: `$ = [1000, -255, 5, 102500000000.0]`,
		`$ = "a\/b\b\ud83d\ude00"`:                 `$ = "a/b\u0008😀"`,
		`$ = Color(1, 0, 0.5)`:                     `$ = Color(1.0, 0.0, 0.5, 1.0)`,
		`$ = Color("#f008")`:                       `$ = Color(1.0, 0.0, 0.0, 0.53333336)`,
		`$ = #336699`:                              `$ = Color(0.2, 0.4, 0.6, 1.0)`,
		`$ = Color8(255, 128, 0)`:                  `$ = Color(1.0, 0.5019608, 0.0, 1.0)`, `$ = Color8(0, 1, 0, 1)`: `$ = Color(0.0, 0.003921569, 0.0, 0.003921569)`,
		`$ = [Color.from_rgba8(0, 0, 255), Color.from_hsv(0.1, 0.7, 0.3, 0.5), Color.from_hsv(0.75, 1, 1)]`: `$ = [Color(0.0, 0.0, 1.0, 1.0), Color(0.3, 0.216, 0.09, 0.5), Color(0.5, 0.0, 1.0, 1.0)]`,
		`$ = [Color("Alice Blue"), Color('transparent')]`:                                                   `$ = [Color(0.9411765, 0.972549, 1.0, 1.0), Color(1.0, 1.0, 1.0, 0.0)]`,
		`$ = [Color.RED, Color(Color.red, 0.5), Color("rebecca_purple", 0.5)]`:                              `$ = [Color(1.0, 0.0, 0.0, 1.0), Color(1.0, 0.0, 0.0, 0.5), Color(0.4, 0.2, 0.6, 0.5)]`,
		`$ = [Vector2.UP, Vector3.UP, Vector2i.ONE, Vector4.ZERO]`:                                          `$ = [Vector2(0.0, -1.0), Vector3(0.0, 1.0, 0.0), Vector2i(1, 1), Vector4(0.0, 0.0, 0.0, 0.0)]`,
		`$ = Rect2i(Vector2i(1, 2), Vector2i.ONE)`:                                                          `$ = Rect2i(1, 2, 1, 1)`,
		`$ = Plane(Vector3(1, 2, 3), 4)`:                                                                    `$ = Plane(1.0, 2.0, 3.0, 4.0)`,
		`$ = Transform(Basis(1, 2, 3, 4, 5, 6, 7, 8, 9), Vector3.ONE)`:                                      `$ = Transform3D(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 1.0, 1.0)`,
		`$ = [StringName("a"), NodePath("b//c"), PackedByteArray([1, 255]), PoolIntArray([1])]`:             `$ = [&"a", ^"b/c", PackedByteArray("01ff"), PackedInt32Array([1])]`,
		`$ = [Color(0x00ff00_80), Color.hex(0XFF0000FF), Color.html("f00"), Color(0b1, 0x1, 0)]`:            `$ = [Color(0.0, 1.0, 0.0, 0.5019608), Color(1.0, 0.0, 0.0, 1.0), Color(1.0, 0.0, 0.0, 1.0), Color(1.0, 1.0, 0.0, 1.0)]`,
		`$ = {a = 1, b: {inf: 2, nan = 3}, null: 4, true = 5}`:                                              `$ = {"a": 1, "b": {inf: 2, "nan": 3}, null: 4, "true": 5}`,
		`$.2.x.1_0 = 1`: `$[2].x[10] = 1`, `2 = 1`: `$[2] = 1`,
		// A change of the value itself.
		`$.a["b c"].hp = $.a["b c"].hp * 2`: `$.a["b c"].hp = 2`,
		`hp = hp-0x5`:                       `$.hp = 5`,
		`$[:2][1 : -1][:].a = 5`:            `$[0:2][1:-1][0:].a = 5`,
		`$ = [(5), (7, -.5), ()]`:           `$ = [5, (7, -0.5), ()]`,
	} {
		t.Run(in, func(t *testing.T) {
			p, v := testenv.Must2(ParseLine(in))(t)
			require.Equal(t, want, print(p, v))
		})
	}
	require.Equal(t, "$", testenv.Must(Parse(""))(t).String())
}

func TestPathsErrors(t *testing.T) {
	for line, want := range map[string]string{
		``:                                 `"", column 1: want = and a value`,
		`$`:                                `"$", column 2: want = and a value`,
		`$ =`:                              `"$ =", column 4: want a value`,
		`$.99999999999999999999 = 1`:       `want a name; an index is written $[0], and other keys ["…"]`,
		`$.a[1].-2 = 1`:                    `want a name; an index is written $.a[1][0], and other keys ["…"]`,
		`hp * 2`:                           `want = and a value: 'hp *= 2'`,
		`$.a-b = 1`:                        `column 4: want = and a value: '["a-b"] = 1'; keys other than names are written ["…"]`,
		`é = 1`:                            `column 1: want $, a name or [; keys other than names are written ["…"]`,
		`$[1 = 1`:                          `column 5: want ]`,
		`$[Array[int]] = 1`:                `column 3: "Array[int]] = 1" is not a key; .key(n) and .value(n) are the n-th pair`,
		`$[Signal("a", 1)] = 1`:            `is not a key`,
		`$[RID()] = 1`:                     `is not a key`,
		`$.key(x) = 1`:                     `column 7: want the number of a pair`,
		`$.value(1 = 1`:                    `column 10: want )`,
		`$99999999999999999999 = 1`:        `packet 99999999999999999999 is out of range`,
		`$ = "a`:                           `column 5: the string does not end`,
		`$ = "\`:                           `column 6: the string does not end`,
		`$ = "\q"`:                         `want an escape`,
		`$ = "\xf`:                         `want an escape`,
		`$ = "\xzz"`:                       `"xzz" is not a character`,
		`$ = "\ud800"`:                     `"ud800" is not a character`,
		`$ = &x`:                           `column 6: want a string`,
		`$ = 9223372036854775808`:          `9223372036854775808 is out of range`,
		`$ = 1e999`:                        `1e999 is out of range`,
		`$ = 1 2`:                          `column 7: unexpected "2"`,
		`$ = 1e`:                           `unexpected "e"`,
		`$ = -`:                            `want a value and not "-"`,
		`$ = hello`:                        `column 5: want a value and not "hello"`,
		`$ = Vector2`:                      `column 12: want (`,
		`$ = Vector2(1)`:                   `Vector2 has 2 arguments`,
		`$ = Vector2(1, 2, 3)`:             `column 17: want )`,
		`$ = Vector2(1, x)`:                `want a number`,
		`$ = Vector2i(1, 2.0)`:             `2.0 is not an integer`,
		`$ = Vector2i(1, 3e9)`:             `3e9 is not an integer`,
		`$ = Vector2i(1, 99999999999)`:     `99999999999 is out of range`,
		`$ = PackedByteArray("abc")`:       `want bytes as hexadecimal digits`,
		`$ = PackedInt32Array(1)`:          `unexpected "(1)"`,
		`$ = PackedByteArray([256])`:       `want numbers from 0 to 255`,
		`$ = .e5`:                          `want a value and not ".e5"`,
		`$ = 1_`:                           `unexpected "_"`,
		`$ = 1__0`:                         `unexpected "__0"`,
		`$ = 0b2`:                          `unexpected "b2"`,
		`$ = Color("nocolor")`:             `want a color, such as "#ff8000" or "orange", and not "nocolor"`,
		`$ = Color.from_hsv(0, 1)`:         `want the 3 or 4 numbers of a Color`,
		`$ = Color.from_hsl(0, 1, 1)`:      `and not "from_hsl"`,
		`$ = Color.GREEN_`:                 `Color has no constant GREEN_`,
		`$ = Color(0xff8000)`:              `Color has 4 arguments`,
		`hp 5`:                             `want = and a value: 'hp = 5'`,
		`$.hp: "a, b"`:                     `want = and a value: '$.hp = "a, b"'`,
		`my key = 5`:                       `want = and a value: '["my key"] = 5'; keys other than names are written ["…"]`,
		`hp = hp ^ 2`:                      `want a value and not "hp ^ 2"`,
		`hp = hp`:                          `want a value and not "hp"`,
		`$ = #12`:                          `want a color`,
		`$ = Color("red", 1, 2)`:           `want )`,
		`$ = Vector2.FORWARD`:              `Vector2 has no constant FORWARD`,
		`$ = Quaternion.ONE`:               `Quaternion has no constant ONE`,
		`$ = Basis(Vector3(1, 2, 3))`:      `want a number`,
		`$ = Rect2i(Vector2(1, 2), 3, 4)`:  `want a number`,
		`$ = Vector2(Vector2(1, 2))`:       `want a number`,
		`$[1:2:3] = 5`:                     `want ]`,
		`$.grid[-5, x] = 5`:                `column 10: want ]; an element of an element is [-5][x]`,
		`$[1.5:2] = 5`:                     `want ]`,
		`$[(1, 2)] = 5`:                    `nothing tells the type of (1, 2): write it, such as Vector2(1, 2) or Vector2i(1, 2)`,
		`$ = Array`:                        `want [`,
		`$ = [1 2]`:                        `column 8: want , or ]`,
		`$ = {1: 2 3: 4}`:                  `column 11: want , or }`,
		`$ = Array[]`:                      `want a string`,
		`$ = Array[Variant]`:               `without types it is written []`,
		`$ = Dictionary[Variant, Variant]`: `without types it is written {}`,
		`$ = Array[Image]`:                 `nothing is declared to be Image`,
		`$ = Array[""]`:                    `want the name of a class or script`,
		`$ = Dictionary[int]`:              `want the types of keys and values`,
		`$ = Object(Node)`:                 `want a string`,
		`$ = Dictionary`:                   `want [`,
		`$ = Object("Node", 1)`:            `column 20: want { and the properties`,
		`$ = Object("Node", {&"a": 1})`:    `a property has a name, such as "name", and not &"a"`,
		`$[Object("Node", {"a": 1})] = 1`:  `is not a key`,
	} {
		t.Run(line, func(t *testing.T) {
			_, _, err := ParseLine(line)
			require.ErrorContains(t, err, want)
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax)
		})
	}
	_, err := Parse(`$.a = 1`)
	require.ErrorContains(t, err, `column 4: unexpected " = 1"`)
}

// TestPairLine reads pairs as people type them: the key is the one typed, or an error.
func TestPairLine(t *testing.T) {
	for typed, want := range map[string]string{
		`title = "Sir"`: `.title = "Sir"`, ` title="Sir"`: `.title = "Sir"`, `title: "Sir"`: `.title = "Sir"`, `a:1`: `.a = 1`,
		`"title" = "Sir"`: `.title = "Sir"`, `"a": 1`: `.a = 1`, `'a' = 1`: `.a = 1`, `"a = b": "c: d"`: `["a = b"] = "c: d"`,
		`lucky number = 3`: `["lucky number"] = 3`, `metadata/x = 3`: `["metadata/x"] = 3`, `größe = 3`: `["größe"] = 3`,
		`9 = true`: `[9] = true`, `-9: true`: `[-9] = true`, `0x1f = true`: `[31] = true`, `1.5 = 2`: `[1.5] = 2`,
		`true = 5`: `[true] = 5`, `null: 5`: `[null] = 5`, `&"sn" = 5`: `[&"sn"] = 5`, `^"a/b:c" = 5`: `[^"a/b:c"] = 5`,
		`Vector2i(1, 2) = 5`: `[Vector2i(1, 2)] = 5`, `{"a": 1}: 5`: `[{"a": 1}] = 5`, `PackedInt32Array([1]) = 5`: `[PackedInt32Array([1])] = 5`,
		`[10] = 5`: `[10] = 5`, `[[10]] = 5`: `[[10]] = 5`, `["a.b"]: 5`: `["a.b"] = 5`, `.a.b = 5`: `.a.b = 5`, `[&"a"].b: 5`: `[&"a"].b = 5`,
		`Array = 5`: `.Array = 5`, `Vector2: 5`: `.Vector2 = 5`, `PackedInt32Array = 5`: `.PackedInt32Array = 5`,
		`a += 5`: `.a += 5`, `9 -= 5`: `[9] -= 5`, `a *= 5`: `.a *= 5`, `a b /= 5`: `["a b"] /= 5`, `1_000 = 5`: `[1000] = 5`, `a = b = 5`: `.a = b = 5`,
	} {
		line, err := PairLine("$.d", typed)
		require.NoError(t, err, typed)
		require.Equal(t, "$.d"+want, line, typed)
	}
	for typed, want := range map[string]string{
		``: "want a value", `= 5`: `want a value and not "= 5"`, `a`: "want = and a value", `9`: "want = and a value", `a b 5`: "want = and a value",
		`. = 5`: "want a key", `[1 = 5`: "want ]", `9 lives = 5`: `want a key and not "9 lives = 5"; text is in quotes`, `1000_ = 5`: "text is in quotes",
		`Color(1, 0) = 5`: "Color has 4 arguments", `"a = 5`: "the string does not end", `it's = 5`: `want a value and not "it's = 5"`,
		`a.b = 5`: "want a value", `$.a = 5`: "want a value", `"a" b = 5`: "want a key", "a\nb = 5": "want a value", `a, b: 5`: "want a value",
	} {
		_, err := PairLine("$.d", typed)
		require.ErrorContains(t, err, want, typed)
	}
}

// Deep paths and values are errors, and exhaust no stack.
func TestDeep(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(8 << 20)) // a recursion without limit ends the program; frames are larger with the race detector
	const n = 200_000
	for name, text := range map[string]string{
		"steps":        strings.Repeat(".a", n),
		"lists":        "$ = " + strings.Repeat("[", n),
		"dictionaries": "$ = " + strings.Repeat("{1:", n),
		"keys":         "$ = " + strings.Repeat("{[", n),
		"parentheses":  "$ = " + strings.Repeat("(", n),
		"components":   "$ = " + strings.Repeat("Rect2(", n),
		"typed":        "$ = " + strings.Repeat("Array[int]([", n),
		"key of path":  strings.Repeat("[", n),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ParseLine(text)
			require.ErrorContains(t, err, "column")
		})
	}
	_, err := Parse(strings.Repeat(".a", maxSteps+1))
	require.ErrorContains(t, err, "at most 32768 steps")
	p := testenv.Must(Parse(strings.Repeat(".a", maxSteps)))(t)
	var tree Tree
	testenv.Must(tree.Add(p, ""))(t)
	require.Len(t, tree.Targets[0].String(), 1+2*maxSteps)
	nested := strings.Repeat("[", MaxNesting) + "PackedInt32Array([1])" + strings.Repeat("]", MaxNesting)
	require.Equal(t, nested, testenv.Must(ParseValue(nested))(t).String())
}

// TestPathsTokens writes values and reads them again.
func TestPathsTokens(t *testing.T) {
	for _, format := range []gdwire.Format{gdwire.Godot4, gdwire.Godot3, gdwire.Godot2} {
		for _, double := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 2))
			for range testenv.Cases(4_000, 20_000) {
				v := randomValue(r)
				if v.Form == Declared {
					continue
				}
				var b bytes.Buffer
				e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: format, DoubleReals: double, AllowInvalidUTF8: true})
				if err := v.Write(e, double && format == gdwire.Godot4); err != nil {
					if format == gdwire.Godot4 {
						require.True(t, errors.Is(err, gdwire.ErrRange) || v.Type >= gdwire.TypeImage, "%v: %v", v, err)
					}
					continue // there is no such value in this format
				}
				d := gdwire.NewDecoder(&b, &gdwire.DecoderOptions{Format: format, AllowInvalidUTF8: true})
				got := FromToken(testenv.Must(d.ReadToken())(t), nil)
				switch v.Type {
				case gdwire.TypeNodePath, gdwire.TypeImage, gdwire.TypeInputEvent:
					continue
				case gdwire.TypePackedByteArray:
					got.Text = v.Text
				case gdwire.TypeRID:
					got.Int, got.NoID = v.Int, v.NoID
				}
				if v.Single = got.Single; v.Single && v.Type != gdwire.TypeFloat {
					if _, integers := v.Type.Components(); !integers {
						for i, x := range v.Numbers {
							v.Numbers[i] = Round32(x)
						}
					}
				}
				require.Equal(t, v.String(), got.String())
				d.Release()
				e.Close()
			}
		}
	}
}

// randomValue returns any value.
func randomValue(r *rand.Rand) Value {
	all := []gdwire.Type{gdwire.TypeNil, gdwire.TypeBool, gdwire.TypeInt, gdwire.TypeFloat, gdwire.TypeString, gdwire.TypeStringName, gdwire.TypeNodePath}
	all = append(all, gdwire.Types()...)
	v := Value{Type: all[r.IntN(len(all))]}
	switch {
	case v.Type == gdwire.TypeBool:
		v.Int = int64(r.IntN(2))
	case v.Type == gdwire.TypeInt:
		v.Int = int64(r.Uint64()) >> r.IntN(64)
	case v.Type == gdwire.TypeFloat:
		v.Numbers = []float64{randomReal(r)}
	case v.Type == gdwire.TypeString, v.Type == gdwire.TypeStringName, v.Type == gdwire.TypeNodePath:
		v.Text = randomText(r)
	case v.Type == gdwire.TypeArray:
		v.Elem = randomElem(r)
		v.Form = randomForm(r, v.Elem != gdwire.Elem{})
	case v.Type == gdwire.TypeDictionary:
		v.Key, v.Elem = randomElem(r), randomElem(r)
		v.Form = randomForm(r, v.Elem != gdwire.Elem{} || v.Key != gdwire.Elem{})
	case v.Type.Element() != 0 && v.Type != gdwire.TypePackedByteArray:
		v.Form = randomForm(r, true)
	case v.Type == gdwire.TypeObject && r.IntN(2) == 0:
		v.Form, v.Text = Declared, randomText(r)
	case v.Type == gdwire.TypeRID && r.IntN(3) == 0:
		v.NoID = true
	default:
		for _, arg := range signatures()[v.Type] {
			switch arg {
			case 'r':
				v.Numbers = append(v.Numbers, randomReal(r))
			case 'i':
				v.Numbers = append(v.Numbers, float64(int32(r.Uint32())>>r.IntN(32)))
			case 'u':
				v.Numbers = append(v.Numbers, float64(r.Uint32()>>r.IntN(32)))
			case 'd':
				v.Int = int64(r.Uint64()) >> r.IntN(64)
			default:
				v.Text = randomText(r)
			}
		}
	}
	return v
}

func randomForm(r *rand.Rand, declared bool) Form {
	if declared && r.IntN(2) == 0 {
		return Declared
	}
	return Empty
}

func randomElem(r *rand.Rand) gdwire.Elem {
	switch r.IntN(4) {
	case 0:
		return gdwire.Elem{Type: gdwire.TypeBool + gdwire.Type(r.IntN(int(gdwire.TypePackedVector4Array-gdwire.TypeNil)))}
	case 1:
		return gdwire.Elem{Type: gdwire.TypeObject, Class: "C" + randomText(r)}
	case 2:
		return gdwire.Elem{Type: gdwire.TypeObject, Script: "res://" + randomText(r)}
	}
	return gdwire.Elem{}
}

func randomReal(r *rand.Rand) float64 {
	switch r.IntN(5) {
	case 0:
		return []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, math.MaxFloat32}[r.IntN(7)]
	case 1:
		return float64(r.IntN(2000)-1000) / 8
	case 2:
		return float64(math.Float32frombits(r.Uint32()))
	}
	return math.Float64frombits(r.Uint64())
}

// randomText returns a name, or any bytes.
func randomText(r *rand.Rand) string {
	var b []byte
	name := r.IntN(2) == 0
	for range r.IntN(10) {
		switch {
		case name:
			b = append(b, "abzAZ_019"[r.IntN(9)])
		case r.IntN(4) == 0:
			b = append(b, byte(r.Uint32()))
		case r.IntN(3) == 0:
			b = append(b, " \"'\\\n\r\t=$.[](),&^…"[r.IntN(19)])
		default:
			b = utf8.AppendRune(b, rune(r.Uint32()>>(11+r.IntN(16))))
		}
	}
	return string(b)
}

func randomPath(r *rand.Rand) Path {
	var p Path
	if r.IntN(3) == 0 {
		p.Packet = int64(r.Uint64()>>1) >> r.IntN(63)
	}
	for range r.IntN(6) {
		s := Step{Op: Op(r.IntN(3))}
		if s.Op != Child {
			s.Index = int64(r.Uint64()>>1) >> r.IntN(63)
		} else if s.Key = randomValue(r); !s.Key.IsKey() {
			s.Key = Value{Type: gdwire.TypeString, Text: randomText(r)}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// checkLine prints a line, parses it and prints it again.
func checkLine(t *testing.T, p Path, v Value) {
	line := print(p, v)
	for _, c := range line {
		if !strconv.IsPrint(c) {
			t.Fatalf("%q has a character that is not printable", line)
		}
	}
	if p2, v2, err := ParseLine(line); err != nil || line != print(p2, v2) {
		t.Fatalf("%s became %s, %v", line, print(p2, v2), err)
	}
}

// FuzzRandomLines prints fifty random lines for each seed and parses them
// to the same paths and values.
func FuzzRandomLines(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		for range 50 {
			p, v := randomPath(r), randomValue(r)
			checkLine(t, p, v)
			p2, v2, _ := ParseLine(print(p, v))
			same := p.Packet == p2.Packet && len(p.Steps) == len(p2.Steps) && equal(v, v2)
			for i := range p.Steps {
				same = same && p.Steps[i].Op == p2.Steps[i].Op && p.Steps[i].Index == p2.Steps[i].Index && equal(p.Steps[i].Key, p2.Steps[i].Key)
			}
			if !same {
				t.Fatalf("%#v %#v became %#v %#v", p, v, p2, v2)
			}
		}
	})
}

// equal compares values bit by bit, but for NaN.
func equal(a, b Value) bool {
	same := slices.EqualFunc(a.Numbers, b.Numbers, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	})
	return same && a.Type == b.Type && a.Form == b.Form && a.Int == b.Int && a.NoID == b.NoID &&
		a.Text == b.Text && a.Key == b.Key && a.Elem == b.Elem
}

// TestPrinter prints values as they were parsed, on one line.
func TestPrinter(t *testing.T) {
	nested := strings.Repeat("[", MaxNesting) + "PackedInt32Array([1])" + strings.Repeat("]", MaxNesting)
	for _, text := range []string{
		`[]`, `{}`, `[{}, []]`, `{1: [2, 3.0], &"a": {^"b:c": true}, "d\n": null}`, `Dictionary[String, int]({"a": 1})`,
		`Array[&"int"]([ObjectID(5), null])`, `Object("Node", {})`, `[Object("Node", {"name": "a", "b": Object("B", {"c": 1})}), 2]`,
		`PackedInt32Array()`, `[PackedInt32Array([1, -2]), PackedStringArray(["a", "b\"c"]), PackedByteArray("00ff"), PackedByteArray("")]`,
		`PackedVector2Array([Vector2(0.1, 2.0), Vector2(nan, -inf)])`, `[PackedFloat64Array([0.1]), PackedFloat32Array([0.1])]`,
		`[Vector2(0.1, 2.0), Rect2i(1, 2, 3, 4), Color(0.1, 1.0, 0.0, 1.0), RID(5), Callable(), Signal("a", 7), 0.1]`, nested,
	} {
		v := testenv.Must(ParseValue(text))(t)
		require.Equal(t, text, v.String())
		for _, o := range []gdwire.EncoderOptions{{Depth: -1}, {Depth: -1, DoubleReals: true}} {
			e := gdwire.NewEncoder(nil, &o)
			e.ResetBytes(nil)
			require.NoError(t, v.Write(e, o.DoubleReals))
			d := gdwire.NewDecoder(nil, &gdwire.DecoderOptions{AllowObjects: true, Limits: gdwire.Limits{Depth: -1}})
			d.ResetBytes(e.Bytes())
			p := Printer{Decoder: d}
			require.NoError(t, p.Next(0))
			require.Equal(t, text, string(p.Buf))
			if text == nested {
				p.Buf = nil
				d.ResetBytes(e.Bytes())
				require.NoError(t, p.Next(1))
				require.Equal(t, strings.Repeat("[", MaxNesting-1)+"…"+strings.Repeat("]", MaxNesting-1), string(p.Buf))
			}
		}
	}
}

// FuzzLines parses any text: it is an error, or a line that prints and parses
// to itself.
func FuzzLines(f *testing.F) {
	for _, line := range []string{
		`$2.a["b\n"][Vector2i(1, 2)].key(3).value(4)[&'x'] = Array[int]([])`, `$ = Dictionary[&"a b", "res://x"]`, `a = "\x41\u0042…"…`,
		`$ = [1, {"a": [], 0x10: NAN}]`, `$ = Array[int]([1])`, `$ = PackedInt32Array([1, -0x2])`, `$ = s:it "is"`, `$ = np:"a"`, `$.a[+] = f:2`,
		`$[^"a"][1.5e3][-inf] = Color(1, nan, -0.0, 3)`, `[RID(3)] = PackedByteArray("00ff")`, `$ = Image(1, 2, 3, 4, "")`, `$… = Signal("a", 5)`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		p, v, err := ParseLine(line)
		if err != nil {
			require.True(t, strings.Contains(err.Error(), "column"))
			return
		}
		checkLine(t, p, v)
	})
}

// Paths and conversions know each math type: a Basis by its columns, which is not a table's matter.
func TestEveryMathType(t *testing.T) {
	for _, typ := range gdwire.Types() {
		n, integers := typ.Components()
		if n == 0 {
			continue
		}
		require.True(t, components[typ] != nil || typ == gdwire.TypeBasis, "no components of %v in parts.go", typ)
		if !integers {
			continue
		}
		require.Len(t, conversions()[typ], 2, "no counterpart of %v in fit.go", typ)
		real := conversions()[typ][0]
		require.Equal(t, []gdwire.Type{typ, gdwire.TypeArray}, conversions()[real])
		m, integers := real.Components()
		require.Equal(t, n, m)
		require.False(t, integers)
	}
}

// TestManyContainers: containers after each other are not in each other.
func TestManyContainers(t *testing.T) {
	text := "[" + strings.Repeat("[], {}, ", MaxNesting) + "1]"
	require.Len(t, testenv.Must(ParseValue(text))(t).Items, 2*MaxNesting+1)
}

// TestResult: a change of an int that does not fit is an error.
func TestResult(t *testing.T) {
	for _, c := range []struct {
		old, by int64
		change  string
		want    int64
		fits    bool
	}{
		{5, 3, "+", 8, true}, {5, 3, "-", 2, true}, {5, 0, "+", 5, true}, {5, 0, "-", 5, true}, {5, -3, "-", 8, true},
		{math.MaxInt64, 1, "+", 0, false}, {math.MinInt64, -1, "+", 0, false},
		{math.MinInt64, 1, "-", 0, false}, {math.MaxInt64, -1, "-", 0, false}, {0, math.MinInt64, "-", 0, false},
		{-1, math.MinInt64, "-", math.MaxInt64, true}, {math.MaxInt64, math.MinInt64, "+", -1, true},
	} {
		v := &Value{Type: gdwire.TypeInt, Int: c.by, Change: c.change}
		got, err := v.Result(&Value{Type: gdwire.TypeInt, Int: c.old})
		if !c.fits {
			require.ErrorContains(t, err, "out of range", "%v", c)
			continue
		}
		require.NoError(t, err, "%v", c)
		require.Equal(t, c.want, got.Int, "%v", c)
	}
}

// TestImageText: an Image and an InputEvent are written as they were read.
func TestImageText(t *testing.T) {
	for text, format := range map[string]gdwire.Format{
		`Image(1, 2, 3, 4, "0102")`: gdwire.Godot2, `InputEvent(3, 4, "09000000")`: gdwire.Godot2,
	} {
		v := testenv.Must(ParseValue(text))(t)
		var b bytes.Buffer
		e := gdwire.NewEncoder(&b, &gdwire.EncoderOptions{Format: format})
		require.NoError(t, v.Write(e, false), text)
		require.NoError(t, e.Close())
		d := gdwire.NewDecoder(&b, &gdwire.DecoderOptions{Format: format, AllowObjects: true})
		again := testenv.Must(Read(d))(t)
		require.Equal(t, text, again.String())
		d.Release()
	}
}

// TestReadChunks: text in several chunks is read whole.
func TestReadChunks(t *testing.T) {
	long := strings.Repeat("name", 20)
	for _, text := range []string{`"` + long + `"`, `&"` + long + `"`, `^"/root/` + long + `/b:c"`, `PackedStringArray(["a", "` + long + `"])`, `PackedByteArray("` + strings.Repeat("0f", 50) + `")`} {
		v := testenv.Must(ParseValue(text))(t)
		var b bytes.Buffer
		e := gdwire.NewEncoder(&b, nil)
		require.NoError(t, v.Write(e, false))
		require.NoError(t, e.Close())
		d := gdwire.NewDecoder(&b, &gdwire.DecoderOptions{MaxChunk: 16})
		again := testenv.Must(Read(d))(t)
		require.Equal(t, text, again.String())
		d.Release()
	}
}

// TestPathsOfJQ: paths as jq has them.
func TestPathsOfJQ(t *testing.T) {
	for path, want := range map[string]string{
		".": "$", ".a.b": "$.a.b", ".[0].a": "$[0].a", ".[]": "$[*]", "[].id": "$[*].id", ".a[].b": "$.a[*].b", ".a.[1]": "$.a[1]", `.["x y"]`: `$["x y"]`, "$.[2]": "$[2]",
	} {
		p, err := Parse(path)
		require.NoError(t, err, path)
		require.Equal(t, want, p.String())
		p, err = Parse(want)
		require.NoError(t, err, path)
		require.Equal(t, want, p.String())
	}
	p, v := testenv.Must2(ParseLine(". = 5"))(t)
	require.Equal(t, "$ = 5", p.String()+" = "+v.String())
	for _, path := range []string{"..", "..a", "$.", ".a.", ".[", ".a|.b"} {
		_, err := Parse(path)
		require.Error(t, err, path)
	}
}

// TestPrinterLines: a value in several lines is the same value, and parts of long containers are flushed.
func TestPrinterLines(t *testing.T) {
	const lines = `{
  "a": [1, 2],
  "b": [
    [],
    {
      "c": Vector2(1.0, 2.0),
      "d": {}
    }
  ],
  "e": Object("Node", {
    "name": PackedStringArray(["x", "y"])
  })
}`
	v := testenv.Must(ParseValue(lines))(t)
	require.Equal(t, `{"a": [1, 2], "b": [[], {"c": Vector2(1.0, 2.0), "d": {}}], "e": Object("Node", {"name": PackedStringArray(["x", "y"])})}`, v.String())
	print := func(v *Value, p *Printer) {
		var b bytes.Buffer
		e := gdwire.NewEncoder(&b, nil)
		require.NoError(t, v.Write(e, false))
		require.NoError(t, e.Close())
		p.Decoder = gdwire.NewDecoder(&b, &gdwire.DecoderOptions{AllowObjects: true})
		require.NoError(t, p.Next(0))
		p.Release()
	}
	p := Printer{Indent: "  "}
	print(&v, &p)
	require.Equal(t, lines, string(p.Buf))

	for _, text := range []string{"[" + strings.Repeat("1, ", 5000) + "1]", "PackedInt32Array([" + strings.Repeat("1, ", 5000) + "1])", "PackedStringArray([" + strings.Repeat(`"a", `, 5000) + `"a"])`} {
		v := testenv.Must(ParseValue(text))(t)
		var whole []byte
		p := Printer{}
		most := 0
		p.Flush = func() error {
			most = max(most, len(p.Buf))
			whole, p.Buf = append(whole, p.Buf...), p.Buf[:0]
			return nil
		}
		print(&v, &p)
		require.Equal(t, text, string(append(whole, p.Buf...)))
		require.Less(t, most, 3*longBuf) // a chunk of a packed array is text at once
	}
}
