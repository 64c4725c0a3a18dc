package model

import (
	"reflect"
	"strings"

	"github.com/gdwire/gdwire/internal/tagged"
)

// typeRules contains for each type the rule of spec/SPEC.md that describes its bytes.
var typeRules = func() map[string]string {
	m := map[string]string{}
	for rule, types := range map[string]string{
		"S1": "Nil", "S2": "bool", "S4": "int", "S7": "float", "T1": "String", "T9": "StringName",
		"M1": "Vector2 Rect2 Vector3 Vector4 Plane Quaternion AABB Transform2D", "M3": "Color", "M4": "Vector2i Rect2i Vector3i Vector4i",
		"M6": "Basis Transform3D Projection", "N1": "NodePath", "R1": "RID", "R2": "Callable", "R3": "Signal",
		"C1": "Array", "C2": "Dictionary", "P1": "PackedByteArray",
		"P3": "PackedInt32Array PackedInt64Array PackedFloat32Array PackedFloat64Array PackedVector2Array PackedVector3Array PackedVector4Array PackedColorArray",
		"P4": "PackedStringArray", "G5": "Image", "G6": "InputEvent",
	} {
		for _, typ := range strings.Fields(types) {
			m[typ] = rule
		}
	}
	return m
}()

// flagsOf contains the flags that a header of a type can have in Godot 4.
func flagsOf(typ string) uint32 {
	switch {
	case typ == "int", typ == "float", typ == "Object", RealComponents[typ] > 0 && !strings.Contains(typ, "Color"):
		return 1
	case typ == "Array":
		return 3
	case typ == "Dictionary":
		return 15
	}
	return 0
}

// showsHeader notes the rules on the parts of a header that are not the type.
func (r *Reference) showsHeader(typ string, header uint32) {
	known := flagsOf(typ)
	if !r.is("godot4") && typ != "int" && typ != "float" && typ != "Object" {
		known = 0
	}
	flags := header >> 16
	r.shows(r.is("godot4", "godot3", "manual4") && flags&^known != 0, "B3")
	r.shows(r.is("godot4", "godot3") && header>>8&0xFF != 0, "B1")
	r.shows(r.is("godot2"), "G1")
	r.shows(r.is("manual4"), "A1")
	r.shows(r.is("manual3"), "A2")
	r.shows(r.is("manual30"), "A3")
	r.shows(r.is("manual4", "manual3", "manual30") && (typ == "Basis" || typ == "Transform3D"), "A5")
}

// equalKeys reports whether two keys of a Dictionary are the same.
func equalKeys(v *tagged.Value) bool {
	for i := 0; i < len(v.Items); i += 2 {
		for j := range i / 2 {
			if reflect.DeepEqual(v.Items[i], v.Items[2*j]) {
				return true
			}
		}
	}
	return false
}
