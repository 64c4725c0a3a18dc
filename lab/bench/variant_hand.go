package main

import "github.com/gdwire/gdwire"

// The functions below are written by hand, as in a program without reflection.

func (w *savedWorld) read(d *gdwire.Decoder) error {
	for key, err := range d.Fields() {
		if err != nil {
			return err
		}
		switch string(key) {
		case "version":
			w.Version, err = d.ReadInt()
		case "player":
			err = w.Player.read(d)
		case "map":
			w.Map, err = gdwire.AppendPacked(d, w.Map[:0])
		case "heights":
			w.Heights, err = gdwire.AppendPacked(d, w.Heights[:0])
		case "seed":
			w.Seed, err = d.ReadInt()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *savedPlayer) read(d *gdwire.Decoder) error {
	for key, err := range d.Fields() {
		if err != nil {
			return err
		}
		switch string(key) {
		case "name":
			p.Name, err = d.ReadString()
		case "transform":
			err = readReals(d, gdwire.TypeTransform3D, p.Transform[:])
		case "inventory":
			p.Inventory, err = readAll(d, p.Inventory[:0], (*savedItem).read)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readAll appends the elements of an Array to all. The memory of elements beyond its length is used
// again.
func readAll[T any](d *gdwire.Decoder, all []T, read func(*T, *gdwire.Decoder) error) ([]T, error) {
	n, err := d.ReadArray()
	if err != nil {
		return all, err
	}
	for range n {
		if len(all) < cap(all) {
			all = all[:len(all)+1]
		} else {
			all = append(all, *new(T))
		}
		if err := read(&all[len(all)-1], d); err != nil {
			return all, err
		}
	}
	return all, d.ReadEnd()
}

func (it *savedItem) read(d *gdwire.Decoder) error {
	for key, err := range d.Fields() {
		if err != nil {
			return err
		}
		switch string(key) {
		case "id":
			it.ID, err = d.ReadInt()
		case "name":
			it.Name, err = d.ReadString()
		case "weight":
			it.Weight, err = d.ReadFloat()
		case "pos":
			err = readReals(d, gdwire.TypeVector3, it.Pos[:])
		case "tags":
			it.Tags, err = readStrings(d, it.Tags[:0])
		case "color":
			err = readReals(d, gdwire.TypeColor, it.Color[:])
		case "enabled":
			it.Enabled, err = d.ReadBool()
		case "parent":
			it.Parent, err = d.ReadNodePath()
		case "stats":
			err = it.Stats.read(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *savedStats) read(d *gdwire.Decoder) error {
	for key, err := range d.Fields() {
		if err != nil {
			return err
		}
		switch string(key) {
		case "hp":
			s.HP, err = d.ReadInt()
		case "mp":
			s.MP, err = d.ReadInt()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readReals(d *gdwire.Decoder, t gdwire.Type, c []float32) error {
	var wide [12]float64
	err := gdwire.ReadComponents(d, t, wide[:len(c)])
	for i := range c {
		c[i] = float32(wide[i])
	}
	return err
}

func readStrings(d *gdwire.Decoder, all []string) ([]string, error) {
	for _, err := range d.Elements() {
		if err != nil {
			return all, err
		}
		s, err := d.ReadString()
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (w *savedWorld) write(e *gdwire.Encoder) {
	e.BeginDict(5)
	e.WriteString("version")
	e.WriteInt(w.Version)
	e.WriteString("player")
	w.Player.write(e)
	e.WriteString("map")
	e.BeginPacked(gdwire.TypePackedByteArray, int64(len(w.Map)))
	gdwire.WritePacked(e, w.Map)
	e.End()
	e.WriteString("heights")
	e.BeginPacked(gdwire.TypePackedFloat32Array, int64(len(w.Heights)))
	gdwire.WritePacked(e, w.Heights)
	e.End()
	e.WriteString("seed")
	e.WriteInt(w.Seed)
	e.End()
}

func (p *savedPlayer) write(e *gdwire.Encoder) {
	e.BeginDict(3)
	e.WriteString("name")
	e.WriteString(p.Name)
	e.WriteString("transform")
	writeReals(e, gdwire.TypeTransform3D, p.Transform[:])
	e.WriteString("inventory")
	e.BeginArray(len(p.Inventory))
	for i := range p.Inventory {
		p.Inventory[i].write(e)
	}
	e.End()
	e.End()
}

func (it *savedItem) write(e *gdwire.Encoder) {
	e.BeginDict(9)
	e.WriteString("id")
	e.WriteInt(it.ID)
	e.WriteString("name")
	e.WriteString(it.Name)
	e.WriteString("weight")
	e.WriteFloat(it.Weight)
	e.WriteString("pos")
	writeReals(e, gdwire.TypeVector3, it.Pos[:])
	e.WriteString("tags")
	e.BeginPacked(gdwire.TypePackedStringArray, int64(len(it.Tags)))
	for _, tag := range it.Tags {
		e.WriteString(tag)
	}
	e.End()
	e.WriteString("color")
	writeReals(e, gdwire.TypeColor, it.Color[:])
	e.WriteString("enabled")
	e.WriteBool(it.Enabled)
	e.WriteString("parent")
	e.WriteNodePath(it.Parent)
	e.WriteString("stats")
	e.BeginDict(2)
	e.WriteString("hp")
	e.WriteInt(it.Stats.HP)
	e.WriteString("mp")
	e.WriteInt(it.Stats.MP)
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
