package gdwire

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// These tests are in this package because they ask the state which call may be next, without
// a call that could allocate itself.

func TestDecodingAllocatesNothing(t *testing.T) {
	var (
		buf     = make([]byte, 0, 4<<10)
		numbers = make([]float64, 0, 64)
		path    = make([]byte, 0, 2*maxPath)
		floats  = make([]float32, 0, 64)
		some    = make([]float32, 4)
		vectors = make([][2]float64, 0, 64)
		bytes   = make([]byte, 0, 64)
		three   = make([]byte, 3)
		out     counter
		sum     float64
	)
	for name, use := range map[string]func(d *Decoder, tok Token){
		"ReadToken": func(*Decoder, Token) {},
		"PeekKind":  func(d *Decoder, _ Token) { d.PeekKind() },
		"the content of a token": func(d *Decoder, tok Token) {
			buf = append(buf[:0], tok.Bytes()...)
			numbers = tok.AppendReals(numbers[:0])
			_, _, _, _ = tok.Kind(), tok.Type(), tok.Last(), tok.Bool()
			sum += tok.Float() + tok.Real(1) + tok.Vector2()[0] + tok.Vector3()[0] + tok.Vector4()[0]
			sum += float64(tok.Int()) + float64(tok.Len()) + float64(tok.ID()) + float64(tok.Width()) + float64(tok.Components())
			tok.NodePath()
			tok.Event()
			tok.Image()
		},
		"where it is": func(d *Decoder, tok Token) {
			path = d.AppendPath(path[:0])
			d.StackIndex(d.Depth())
			d.InputOffset()
			d.UnreadBuffer()
		},
		"SkipValue": func(d *Decoder, _ Token) {
			if d.want() != wantEnd {
				check(d.SkipValue())
			}
		},
		"SkipTo": func(d *Decoder, _ Token) { check(d.SkipTo(d.Depth() - 1)) },
		"AppendString": func(d *Decoder, tok Token) {
			if afterText(tok, d) {
				var err error
				buf, err = d.AppendString(buf[:0])
				check(err)
			}
		},
		"Payload": func(d *Decoder, tok Token) {
			if afterData(tok, d) {
				_, err := d.Payload().Read(three)
				check(err)
				_, err = io.Copy(&out, d.Payload())
				check(err)
			}
		},
		"ReadPacked": func(d *Decoder, tok Token) {
			if tok.Kind() == KindPackedStart && tok.Type() == TypePackedFloat32Array {
				_, err := ReadPacked(d, some)
				check(err)
			}
		},
		"AppendPacked": func(d *Decoder, tok Token) {
			if tok.Kind() != KindPackedStart {
				return
			}
			var err error
			switch tok.Type() {
			case TypePackedFloat32Array:
				floats, err = AppendPacked(d, floats[:0])
			case TypePackedFloat64Array:
				numbers, err = AppendPacked(d, numbers[:0])
			case TypePackedVector2Array:
				vectors, err = AppendPacked(d, vectors[:0])
			case TypePackedByteArray:
				bytes, err = AppendPacked(d, bytes[:0])
			}
			check(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachSample(t, func(t *testing.T, s sample) {
				for _, window := range []int{minWindow, DefaultMaxChunk} {
					d := NewDecoder(nil, s.options(window))
					defer d.Release()
					for name, reset := range readers(s.packet) {
						requireNoAllocs(t, func() {
							reset(d)
							for {
								tok, err := d.ReadToken()
								if err != nil {
									if err != io.EOF {
										panic(name + err.Error())
									}
									return
								}
								use(d, tok)
							}
						})
					}
				}
			})
		})
	}
}

// Names of classes and scripts are returned as strings, which allocates.
func TestNamesAllocate(t *testing.T) {
	packet := bytesOf(idArray|typedBy*2, "Node", 1, idObject, "Sprite2D", 1, "name", idSignal, "pressed", uint64(1))
	d := NewDecoder(nil, &DecoderOptions{AllowObjects: true})
	defer d.Release()
	for _, reset := range readers(packet) {
		requireNoAllocs(t, func() {
			reset(d)
			for range 7 {
				_, err := d.ReadToken()
				check(err)
			}
		})
	}
	reset := readers(packet)["ResetBytes"]
	require.EqualValues(t, 1, testing.AllocsPerRun(20, func() {
		reset(d)
		tok, _ := d.ReadToken()
		tok.Elem()
	}))
	builtin := bytesOf(idDict|typedBy|valuesBy, idInt, idString, 0)
	requireNoAllocs(t, func() {
		d.ResetBytes(builtin)
		tok, _ := d.ReadToken()
		if tok.Elem() != (Elem{Type: TypeString}) || tok.KeyElem() != (Elem{Type: TypeInt}) {
			panic("wrong types")
		}
	})
}

func TestTokensMadeForEncoders(t *testing.T) {
	requireNoAllocs(t, func() {
		for _, tok := range [...]Token{Nil(), Bool(true), Int32(1), Int64(2), Float32(3), Float64(4), ObjectID(5), DictKey(), End()} {
			discard = tok
		}
	})
	for name, make := range map[string]func() Token{
		"String":     func() Token { return String("text") },
		"StringName": func() Token { return StringName("text") },
		"ArrayStart": func() Token { return ArrayStart(1, Elem{Class: "Node"}) },
		"DictStart":  func() Token { return DictStart(1, Elem{Type: TypeInt}, Elem{Script: "res://x"}) },
	} {
		t.Run(name, func(t *testing.T) {
			require.LessOrEqual(t, testing.AllocsPerRun(20, func() { discard = make() }), 4.0)
		})
	}
}

var discard Token

// encode makes every typed call.
func encode(e *Encoder, c *encodeData) {
	check(e.BeginArray(27))
	check(e.WriteNil())
	check(e.WriteBool(true))
	check(e.WriteInt(1 << 40))
	check(e.WriteToken(Int32(7)))
	check(e.WriteToken(Int64(7)))
	check(e.WriteFloat(0.1))
	check(e.WriteToken(Float32(0.1)))
	check(e.WriteToken(Float64(0.1)))
	check(e.WriteRID(5))
	check(e.WriteObjectID(5))
	check(e.WriteCallable())
	check(e.WriteString(c.text))
	check(e.WriteStringName(c.text))
	check(e.WriteSignal(c.text, 7))
	check(e.WriteNodePath(c.path))
	check(e.WriteReals(TypeVector3, 1, 2, 3))
	check(e.WriteReals(TypeProjection, c.reals...))
	check(e.WriteInts(TypeRect2i, 1, 2, 3, 4))
	check(e.WriteRaw(c.raw))

	check(e.BeginTypedDict(1, Elem{Type: TypeString}, Elem{Class: c.name}))
	check(e.WriteToken(DictKey()))
	check(e.WriteString(c.text))
	check(e.BeginObject(c.name, 1))
	check(e.WriteProperty(c.name))
	check(e.BeginTypedArray(c.count, Elem{Script: c.path}))
	check(e.End())
	check(e.End())
	check(e.End())

	check(e.BeginNodePath(1, 1, true))
	check(e.WriteString(c.text))
	check(e.BeginString(TypeString, int64(c.count)))
	_, err := e.Write(c.bytes[:0])
	check(err)
	check(e.End())
	check(e.End())

	check(e.BeginString(TypeString, int64(c.length)))
	_, err = e.Write(c.bytes)
	check(err)
	check(e.End())

	check(e.BeginPacked(TypePackedFloat32Array, int64(c.length)))
	check(WritePacked(e, c.floats))
	check(e.End())
	check(e.BeginPacked(TypePackedFloat32Array, int64(c.length)))
	check(WritePacked(e, c.doubles))
	check(e.End())
	check(e.BeginPacked(TypePackedVector3Array, int64(c.length)))
	check(WritePacked(e, c.vectors))
	check(e.End())
	check(e.BeginPacked(TypePackedByteArray, int64(c.length)))
	check(WritePacked(e, c.bytes))
	check(e.End())
	check(e.BeginPacked(TypePackedStringArray, 2))
	check(e.WriteString(c.text))
	check(e.WriteString(""))
	check(e.End())
	check(e.End())
}

type encodeData struct {
	text, path, name string
	raw, bytes       []byte
	reals, doubles   []float64
	floats           []float32
	vectors          [][3]float64
	count, length    int
}

func TestEncodingAllocatesNothing(t *testing.T) {
	known := &encodeData{
		text: strings.Repeat(longText, 3), path: "/root/Player:position:x", name: "Node3D",
		raw: bytesOf(idDict, 1, str("k"), nested(3)), bytes: []byte("0123456789"), length: 10,
		reals: make([]float64, 16), doubles: make([]float64, 10), floats: make([]float32, 10), vectors: make([][3]float64, 10),
	}
	unknown := *known
	unknown.count, unknown.length = Unknown, Unknown
	for _, c := range []*encodeData{known, &unknown} {
		for _, size := range []int{64, bufferSize} {
			e := NewEncoder(io.Discard, nil)
			e.buf = e.buf[:size:size]
			e.setLimit()
			requireNoAllocs(t, func() {
				e.Reset(io.Discard)
				encode(e, c)
				check(e.Close())
			})
			e.Release()
		}
	}
}

func TestCopyingAllocatesNothing(t *testing.T) {
	eachSample(t, func(t *testing.T, s sample) {
		for _, window := range []int{minWindow, DefaultMaxChunk} {
			d := NewDecoder(nil, s.options(window))
			defer d.Release()
			e := NewEncoder(io.Discard, &EncoderOptions{Format: s.format})
			defer e.Release()
			for _, reset := range readers(s.packet) {
				requireNoAllocs(t, func() {
					reset(d)
					e.Reset(io.Discard)
					for {
						err := CopyValue(e, d)
						if check(err); err == io.EOF {
							return
						}
					}
				})
				requireNoAllocs(t, func() {
					reset(d)
					e.Reset(io.Discard)
					for {
						tok, err := d.ReadToken()
						if check(err); err == io.EOF {
							return
						}
						check(e.WriteToken(tok))
					}
				})
			}
		}
	})
}

// A saved game has keys, paths and every kind of container.
func TestSavedGameAllocatesNothing(t *testing.T) {
	packet, err := os.ReadFile("testdata/godot4.7-dev/save_game_large.bin")
	require.NoError(t, err)
	d := NewDecoder(nil, nil)
	defer d.Release()
	e := NewEncoder(io.Discard, nil)
	defer e.Release()
	for name, reset := range readers(packet) {
		reset(d)
		check(d.SkipValue()) // the stack reaches its final depth
		require.Zero(t, testing.AllocsPerRun(5, func() {
			reset(d)
			e.Reset(io.Discard)
			check(CopyValue(e, d))
			reset(d)
			check(d.SkipValue())
		}), name)
	}
}
