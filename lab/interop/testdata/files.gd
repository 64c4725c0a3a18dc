# Writes and reads compressed and encrypted files. Of each message, [mode, content, file],
# it writes content in that mode and reads file, and sends back [the file it wrote, the
# content it read]. Modes are those of FileAccess.CompressionMode, "key" and "password".
extends Node

const Link = preload("res://link.gd")

func _ready() -> void:
	var link := Link.new()
	await link.open()
	while true:
		var message = await link.receive()
		if message == null:
			break
		var job: Array = bytes_to_var(message)
		var f := open("user://theirs", FileAccess.WRITE, job[0])
		f.store_buffer(job[1])
		f.close()
		f = FileAccess.open("user://ours", FileAccess.WRITE)
		f.store_buffer(job[2])
		f.close()
		f = open("user://ours", FileAccess.READ, job[0])
		var content := PackedByteArray()
		if f:
			content = f.get_buffer(f.get_length())
			f.close()
		link.send(var_to_bytes([FileAccess.get_file_as_bytes("user://theirs"), content]))
	get_tree().quit()

func open(path: String, flags: int, mode: Variant) -> FileAccess:
	if mode is int:
		return FileAccess.open_compressed(path, flags, mode)
	if mode == "key":
		return FileAccess.open_encrypted(path, flags, PackedByteArray(range(32)))
	return FileAccess.open_encrypted_with_pass(path, flags, mode)
