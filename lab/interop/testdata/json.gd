# Reads each JSON text of texts.json with JSON.to_native, objects allowed, and prints
# the bytes of the value.
extends Node

func _ready() -> void:
	Engine.print_error_messages = false
	for text: String in JSON.parse_string(FileAccess.get_file_as_string("res://texts.json")):
		var json := JSON.new()
		if json.parse(text) != OK:
			print("no JSON")
			continue
		print(var_to_bytes_with_objects(JSON.to_native(json.data, true)).hex_encode())
	get_tree().quit()
