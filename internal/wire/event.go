package wire

// EventHead is the number of bytes of an InputEvent before its data: type, device and length.
const EventHead = 12

// eventData contains the number of data bytes of each type of InputEvent: a key (modifiers and
// scancode), mouse button, joystick motion (axis and value), joystick button, touch and action.
var eventData = [...]int{1: 8, 3: 4, joystickMotion: 8, 5: 4, 6: 4, 8: 0}

const joystickMotion = 4

// EventSize returns the number of data bytes of an InputEvent of Godot 2, of the rest bytes after its
// length field. Engines go by the type and ignore further bytes.
func EventSize(event, rest uint32) int {
	switch {
	case event == joystickMotion && rest == 4: // the oldest engines write only the axis
		return 4
	case event < uint32(len(eventData)):
		return eventData[event]
	}
	return 0
}
