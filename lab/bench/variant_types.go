package main

//go:generate go tool msgp -io=false -unexported -file variant_types.go -o variant_types_gen.go -tests=false

// A savedWorld is the saved game as structs, the same for all formats.
type savedWorld struct {
	Version int64       `msg:"version" json:"version" msgpack:"version"`
	Player  savedPlayer `msg:"player" json:"player" msgpack:"player"`
	Map     []byte      `msg:"map" json:"map" msgpack:"map"`
	Heights []float32   `msg:"heights" json:"heights" msgpack:"heights"`
	Seed    int64       `msg:"seed" json:"seed" msgpack:"seed"`
}

type savedPlayer struct {
	Name      string      `msg:"name" json:"name" msgpack:"name"`
	Transform [12]float32 `msg:"transform" json:"transform" msgpack:"transform"`
	Inventory []savedItem `msg:"inventory" json:"inventory" msgpack:"inventory"`
}

type savedItem struct {
	ID      int64      `msg:"id" json:"id" msgpack:"id"`
	Name    string     `msg:"name" json:"name" msgpack:"name"`
	Weight  float64    `msg:"weight" json:"weight" msgpack:"weight"`
	Pos     [3]float32 `msg:"pos" json:"pos" msgpack:"pos"`
	Tags    []string   `msg:"tags" json:"tags" msgpack:"tags"`
	Color   [4]float32 `msg:"color" json:"color" msgpack:"color" gd:",type=Color"`
	Enabled bool       `msg:"enabled" json:"enabled" msgpack:"enabled"`
	Parent  string     `msg:"parent" json:"parent" msgpack:"parent" gd:",type=NodePath"`
	Stats   savedStats `msg:"stats" json:"stats" msgpack:"stats"`
}

type savedStats struct {
	HP int64 `msg:"hp" json:"hp" msgpack:"hp"`
	MP int64 `msg:"mp" json:"mp" msgpack:"mp"`
}

// sum tells whether all have read the same.
func (w *savedWorld) sum() int {
	sum := int(w.Version+w.Seed) + len(w.Map) + len(w.Heights)
	for i := range w.Player.Inventory {
		it := &w.Player.Inventory[i]
		sum += int(it.ID+it.Stats.HP) + len(it.Name) + len(it.Tags) + len(it.Parent) + int(it.Pos[0])
	}
	return sum
}
