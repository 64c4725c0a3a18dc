package variant

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Results of String.to_snake_case of Godot 4.6.
func TestSnakeCase(t *testing.T) {
	for name, want := range map[string]string{
		"HP":         "hp",
		"MaxHP":      "max_hp",
		"HTTPServer": "http_server",
		"Slot1":      "slot_1",
		"Slot9":      "slot_9",
		"Vector2i":   "vector_2i",
		"V2Pos":      "v_2_pos",
		"is3D":       "is_3d",
		"ItemUIDs":   "item_ui_ds",
		"A1B2":       "a_1b_2",
		"X":          "x",
		"already_ok": "already_ok",
		"Ärger2":     "ärger_2",
		"X名1":        "x名1", // only upper and lower case begin words
		"A٣":         "a٣",  // only 0 to 9 are digits
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, want, snakeCase(name))
		})
	}
}
