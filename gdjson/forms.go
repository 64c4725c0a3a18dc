package gdjson

import "github.com/gdwire/gdwire"

// A member identifies a member of native objects by its name.
type member uint8

const (
	memberType member = iota
	memberArgs
	memberProps
	memberElemType
	memberKeyType
	memberValueType
	memberID
	memberName
	memberObject
	memberFormat
	memberMipmaps
	memberWidth
	memberHeight
	memberEvent
	memberDevice
	memberData
	numMembers
)

var memberNames = [numMembers]string{
	"type", "args", "props", "elem_type", "key_type", "value_type", "id", "name", "object",
	"format", "mipmaps", "width", "height", "event", "device", "data",
}

func memberOf(name []byte) (member, bool) {
	for i, s := range memberNames {
		if s == string(name) {
			return member(i), true
		}
	}
	return 0, false
}

// members holds the members of an object and the positions of their values.
type members struct {
	set memberSet
	at  [numMembers]cursor
}

func (m *members) has(i member) bool { return m.set&(1<<i) != 0 }

type memberSet uint32

func setOf(all ...member) (s memberSet) {
	for _, m := range all {
		s |= 1 << m
	}
	return s
}

// A form describes the native objects of one type: their members and how they are
// converted.
type form struct {
	name               string
	typ                gdwire.Type
	kind               formKind
	required, optional memberSet // besides "type"
}

// A formKind is a group of types that one method converts.
type formKind uint8

const (
	formNone formKind = iota
	formSerialized
	formMath
	formPacked
	formArray
	formDict
	formID
	formCallable
	formSignal
	formImage
	formInputEvent
)

// forms contains a form for every type that is written as an object, by name.
var forms = func() map[string]form {
	args, data := setOf(memberArgs), setOf(memberData)
	m := map[string]form{
		"Array":      {"Array", gdwire.TypeArray, formArray, args, setOf(memberElemType)},
		"Dictionary": {"Dictionary", gdwire.TypeDictionary, formDict, args, setOf(memberKeyType, memberValueType)},
		"RID":        {"RID", gdwire.TypeRID, formID, 0, setOf(memberID)},
		"ObjectID":   {"ObjectID", gdwire.TypeObject, formID, setOf(memberID), 0},
		"Callable":   {"Callable", gdwire.TypeCallable, formCallable, 0, 0},
		"Signal":     {"Signal", gdwire.TypeSignal, formSignal, 0, setOf(memberName, memberObject)},
		"Image":      {"Image", gdwire.TypeImage, formImage, data | setOf(memberFormat, memberMipmaps, memberWidth, memberHeight), 0},
		"InputEvent": {"InputEvent", gdwire.TypeInputEvent, formInputEvent, data | setOf(memberEvent, memberDevice), 0},
	}
	for i, s := range shapes {
		switch t := gdwire.Type(i); {
		case s.math:
			m[t.String()] = form{t.String(), t, formMath, args, 0}
		case s.unit != unitNone && t != gdwire.TypeImage:
			m[t.String()] = form{t.String(), t, formPacked, args, 0}
		}
	}
	return m
}()

// An object is a native object that is being read.
type object struct {
	members
	form
	offset int // where it begins
}

// first returns the name of the first member in s.
func (s memberSet) first() string {
	for m, name := range memberNames {
		if s&(1<<m) != 0 {
			return name
		}
	}
	return ""
}
