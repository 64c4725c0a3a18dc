package interop

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/gdscript"
	"github.com/gdwire/gdwire/variant"
)

// Two versions of messages, with changes of the table in package gdscript's doc.
type (
	oldPacket struct {
		Item *oldItem `gd:",omitzero"`
		Quit *quit    `gd:",omitzero"`
	}
	oldItem struct {
		Name  string
		Pos   []float32
		Count int
		Gone  bool
		Price *int
		Tags  []string
		By    map[string]quit
	}
	newPacket struct {
		Item *newItem `gd:",omitzero"`
		Jump *quit    `gd:",omitzero"`
		Quit *quit    `gd:",omitzero"`
	}
	newItem struct {
		Title string    `gd:",was=name,max=6"`
		Pos   []float64 `gd:",type=Array[float],max=2"`
		Count float64
		Price int
		Tags  []string `gd:",type=Array[StringName]"`
		By    map[string]*quit
		More  variant.Vector2 `gd:",omitzero"`
	}
	quit struct{ Code int8 }
)

// randomMessage returns a message of one of the versions.
func randomMessage(r *rand.Rand) any {
	n := r.IntN(5)
	name, tags, by := []string{"", "I", "Iñ", "Iñt"}[r.IntN(4)], make([]string, n), map[string]quit{}
	for i := range n {
		tags[i], by[fmt.Sprint(i)] = name, quit{int8(i)}
	}
	switch r.IntN(6) {
	case 0:
		return newPacket{Jump: &quit{int8(n)}}
	case 1:
		return oldPacket{Quit: &quit{int8(n)}}
	case 2:
		return newPacket{Item: &newItem{Title: name, Pos: make([]float64, r.IntN(4)), Count: float64(n) / 2, Price: n, Tags: tags, By: map[string]*quit{name: nil}, More: variant.Vector2{X: 1}}}
	case 3:
		return newPacket{Item: &newItem{Count: float64(n), Price: n}}
	}
	return oldPacket{Item: &oldItem{Name: name + name + name, Pos: make([]float32, r.IntN(4)), Count: n, Gone: n > 2, Price: &n, Tags: tags, By: by}}
}

// TestGDScriptVersions plays with an old and a new game at a server with both versions: the games accept what Unmarshal accepts as
// their version, and write the same.
func TestGDScriptVersions(t *testing.T) {
	var script bytes.Buffer
	require.NoError(t, gdscript.Write(&script, oldPacket{}, newPacket{}))
	files := scripts(t, "versions.gd")
	files["messages.gd"], files[classCache] = script.String(), noClasses
	r := rand.New(rand.NewPCG(*seed, 0))
	outcomes := map[bool]int{}
	out := must(browser.Run(t.Context(), Program{Files: files, Socket: func(ctx context.Context, ws *websocket.Conn) error {
		for range 500 {
			packet := must(variant.Marshal(randomMessage(r)))(t)
			if err := ws.Write(ctx, websocket.MessageBinary, packet); err != nil {
				return err
			}
			_, b, err := ws.Read(ctx)
			if err != nil {
				return err
			}
			var answers [2]struct {
				_      struct{} `gd:",array"`
				Wrong  string
				Packet []byte
			}
			if err := variant.Unmarshal(b, &answers); err != nil {
				return err
			}
			for i, typ := range []reflect.Type{reflect.TypeFor[oldPacket](), reflect.TypeFor[newPacket]()} {
				want, got := reflect.New(typ), reflect.New(typ)
				err := variant.Unmarshal(packet, want.Interface())
				outcomes[err == nil]++
				if (err == nil) != (answers[i].Wrong == "") {
					return fmt.Errorf("%v: %x: Unmarshal: %w; script: %s", typ, packet, err, answers[i].Wrong)
				}
				if err != nil {
					continue
				}
				if err = variant.Unmarshal(answers[i].Packet, got.Interface()); err != nil {
					return err
				}
				if a, b := must(variant.Marshal(want.Interface()))(t), must(variant.Marshal(got.Interface()))(t); !bytes.Equal(a, b) {
					return fmt.Errorf("%v: %x: %x, not %x", typ, packet, b, a)
				}
			}
		}
		return ws.Close(websocket.StatusNormalClosure, "")
	}}))(t)
	require.Empty(t, out.Errors)
	require.Greater(t, min(outcomes[true], outcomes[false]), 100)
	t.Log(outcomes)
}
