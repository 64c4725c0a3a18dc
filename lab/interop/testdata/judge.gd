# Judges packets: of each message, packets after their lengths, it sends back how many
# bytes of each the engine consumed, 0 where it refused. With the arguments "values",
# seed and count it first sends random values.
extends Node

const Link = preload("res://link.gd")
const Values = preload("res://random.gd")

func _ready() -> void:
	Engine.print_error_messages = false
	var link := Link.new()
	await link.open()
	var args := OS.get_cmdline_user_args()
	var values := Values.new(args[0].to_int())
	var all := []
	for i in args[1].to_int():
		all.append(var_to_bytes(values.value(3)))
	link.send(var_to_bytes(all))
	while true:
		var batch = await link.receive()
		if batch == null:
			break
		var sizes := PackedInt32Array()
		var offset := 0
		while offset < batch.size():
			var size: int = batch.decode_u32(offset)
			offset += 4
			sizes.append(batch.slice(offset, offset + size).decode_var_size(0))
			offset += size
		link.send(sizes.to_byte_array())
	get_tree().quit()
