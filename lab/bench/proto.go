package main

// The generated code comes from protoc, in Debian's package protobuf-compiler. "go install tool" builds
// its plugins, in the versions of go.mod; protoc finds them in PATH.
//
//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-vtproto_out=. --go-vtproto_opt=paths=source_relative,features=marshal+unmarshal+size structs.proto

import "google.golang.org/protobuf/proto"

// A message is a structure for protobuf, with the methods that vtprotobuf generates.
type message interface {
	proto.Message
	MarshalVT() ([]byte, error)
	UnmarshalVT(b []byte) error
	sum() int // of the same fields as the structure's
}

func (w *savedWorld) message() message {
	m := &WorldMessage{Version: w.Version, Map: w.Map, Heights: w.Heights, Seed: w.Seed}
	m.Player = &PlayerMessage{Name: w.Player.Name, Transform: w.Player.Transform[:]}
	for i := range w.Player.Inventory {
		it := &w.Player.Inventory[i]
		m.Player.Inventory = append(m.Player.Inventory, &ItemMessage{
			Id: it.ID, Name: it.Name, Weight: it.Weight, Pos: it.Pos[:], Tags: it.Tags, Color: it.Color[:],
			Enabled: it.Enabled, Parent: it.Parent, Stats: &StatsMessage{Hp: it.Stats.HP, Mp: it.Stats.MP},
		})
	}
	return m
}

func (m *WorldMessage) sum() int {
	sum := int(m.Version+m.Seed) + len(m.Map) + len(m.Heights)
	for _, it := range m.Player.Inventory {
		sum += int(it.Id+it.Stats.Hp) + len(it.Name) + len(it.Tags) + len(it.Parent) + int(it.Pos[0])
	}
	return sum
}

func (l *dialogLine) message() message { return l.line() }

func (l *dialogLine) line() *LineMessage {
	m := &LineMessage{Id: l.ID, Who: l.Who, Say: l.Say, Mood: l.Mood, Once: l.Once, Cost: l.Cost}
	for i := range l.Next {
		m.Next = append(m.Next, l.Next[i].line())
	}
	return m
}

func (m *LineMessage) sum() int {
	sum := len(m.Id) + len(m.Who) + len(m.Say) + len(m.Mood) + sumOfBool(m.Once) + int(m.Cost)
	for _, next := range m.Next {
		sum += next.sum()
	}
	return sum
}
