package main

import "github.com/gdwire/gdwire"

// The functions below are written by hand, as in a program without reflection.

func (w *savedWorld) read(d *gdwire.Decoder) {
	for key, err := range d.Fields() {
		check(err)
		switch string(key) {
		case "version":
			w.Version = must(d.ReadInt())
		case "player":
			w.Player.read(d)
		case "map":
			w.Map = must(gdwire.AppendPacked(d, w.Map[:0]))
		case "heights":
			w.Heights = must(gdwire.AppendPacked(d, w.Heights[:0]))
		case "seed":
			w.Seed = must(d.ReadInt())
		}
	}
}

func (p *savedPlayer) read(d *gdwire.Decoder) {
	for key, err := range d.Fields() {
		check(err)
		switch string(key) {
		case "name":
			p.Name = must(d.ReadString())
		case "transform":
			readReals(d, gdwire.TypeTransform3D, p.Transform[:])
		case "inventory":
			p.Inventory = readAll(d, p.Inventory[:0], (*savedItem).read)
		}
	}
}

// readAll appends the elements of an Array to all. The memory of elements beyond its length is used
// again.
func readAll[T any](d *gdwire.Decoder, all []T, read func(*T, *gdwire.Decoder)) []T {
	for range must(d.ReadArray()) {
		if len(all) < cap(all) {
			all = all[:len(all)+1]
		} else {
			all = append(all, *new(T))
		}
		read(&all[len(all)-1], d)
	}
	check(d.ReadEnd())
	return all
}

func (it *savedItem) read(d *gdwire.Decoder) {
	for key, err := range d.Fields() {
		check(err)
		switch string(key) {
		case "id":
			it.ID = must(d.ReadInt())
		case "name":
			it.Name = must(d.ReadString())
		case "weight":
			it.Weight = must(d.ReadFloat())
		case "pos":
			readReals(d, gdwire.TypeVector3, it.Pos[:])
		case "tags":
			it.Tags = it.Tags[:0]
			for _, err := range d.Elements() {
				check(err)
				it.Tags = append(it.Tags, must(d.ReadString()))
			}
		case "color":
			readReals(d, gdwire.TypeColor, it.Color[:])
		case "enabled":
			it.Enabled = must(d.ReadBool())
		case "parent":
			it.Parent = must(d.ReadNodePath())
		case "stats":
			it.Stats.read(d)
		}
	}
}

func (s *savedStats) read(d *gdwire.Decoder) {
	for key, err := range d.Fields() {
		check(err)
		switch string(key) {
		case "hp":
			s.HP = must(d.ReadInt())
		case "mp":
			s.MP = must(d.ReadInt())
		}
	}
}

func readReals(d *gdwire.Decoder, t gdwire.Type, c []float32) {
	var wide [12]float64
	check(gdwire.ReadComponents(d, t, wide[:len(c)]))
	for i := range c {
		c[i] = float32(wide[i])
	}
}

// field writes a key, and returns the Encoder for the value.
func field(e *gdwire.Encoder, key string) *gdwire.Encoder {
	e.WriteString(key)
	return e
}

func (w *savedWorld) write(e *gdwire.Encoder) {
	e.BeginDict(5)
	field(e, "version").WriteInt(w.Version)
	w.Player.write(field(e, "player"))
	field(e, "map").BeginPacked(gdwire.TypePackedByteArray, int64(len(w.Map)))
	gdwire.WritePacked(e, w.Map)
	e.End()
	field(e, "heights").BeginPacked(gdwire.TypePackedFloat32Array, int64(len(w.Heights)))
	gdwire.WritePacked(e, w.Heights)
	e.End()
	field(e, "seed").WriteInt(w.Seed)
	e.End()
}

func (p *savedPlayer) write(e *gdwire.Encoder) {
	e.BeginDict(3)
	field(e, "name").WriteString(p.Name)
	writeReals(field(e, "transform"), gdwire.TypeTransform3D, p.Transform[:])
	field(e, "inventory").BeginArray(len(p.Inventory))
	for i := range p.Inventory {
		p.Inventory[i].write(e)
	}
	e.End()
	e.End()
}

func (it *savedItem) write(e *gdwire.Encoder) {
	e.BeginDict(9)
	field(e, "id").WriteInt(it.ID)
	field(e, "name").WriteString(it.Name)
	field(e, "weight").WriteFloat(it.Weight)
	writeReals(field(e, "pos"), gdwire.TypeVector3, it.Pos[:])
	field(e, "tags").BeginPacked(gdwire.TypePackedStringArray, int64(len(it.Tags)))
	for _, tag := range it.Tags {
		e.WriteString(tag)
	}
	e.End()
	writeReals(field(e, "color"), gdwire.TypeColor, it.Color[:])
	field(e, "enabled").WriteBool(it.Enabled)
	field(e, "parent").WriteNodePath(it.Parent)
	field(e, "stats").BeginDict(2)
	field(e, "hp").WriteInt(it.Stats.HP)
	field(e, "mp").WriteInt(it.Stats.MP)
	e.End()
	e.End()
}

func writeReals(e *gdwire.Encoder, t gdwire.Type, c []float32) {
	var wide [12]float64
	for i, x := range c {
		wide[i] = float64(x)
	}
	gdwire.WriteComponents(e, t, wide[:len(c)])
}
