package gdjson_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/internal/test/testenv"
	"github.com/gdwire/gdwire/variant"
)

// ToJSON needs no byte after the value, at the top level and in a list.
func TestToJSONDoesNotWait(t *testing.T) {
	values := []any{nil, true, 5, 0.5, "text", variant.StringName("n"), variant.NodePath("/a:b"), variant.RID(1), variant.ObjectID(1), variant.Vector3{}, variant.Color{}, variant.Basis{},
		variant.Signal{Name: "s"}, variant.Callable{}, &variant.Object{Class: "Node"}, []any{}, []any{1, "a"}, map[string]int{}, map[string]any{"a": []any{1}}, []byte{1, 2}, []int32{1}, []float64{1}, []string{"a"}, []variant.Vector2{{}}}
	for _, v := range values {
		packet := gdwiretest.Encode(t, v)
		for _, head := range [][]byte{nil, {28, 0, 0, 0, 2, 0, 0, 0}} {
			for _, plain := range []bool{false, true} {
				for _, step := range []int{1, 1 << 20} {
					p := testenv.NewPeer(append(head[:len(head):len(head)], packet...), step)
					d := gdwire.NewDecoder(p, &gdwire.DecoderOptions{AllowObjects: true})
					if head != nil {
						must(d.ReadArray())(t)
					}
					err := gdjson.ToJSON(io.Discard, d, gdjson.Options{Plain: plain})
					require.False(t, p.Waits() || errors.Is(err, testenv.ErrWaits), "%#v: %v", v, err)
				}
			}
		}
	}
}
