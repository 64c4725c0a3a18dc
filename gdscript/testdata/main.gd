# Reads values as objects of messages.gd and writes them again. Arguments: the file with the requests, each a class and
# a packet, and the file for the answers, each what is wrong, or "", and a packet.
extends Node

func _ready() -> void:
	var args := OS.get_cmdline_user_args()
	var script: GDScript = load("res://messages.gd")
	var classes := script.get_script_constant_map()
	var answers := []
	for request: Array in FileAccess.open(args[0], FileAccess.READ).get_var():
		var message: Object = classes[request[0]].new()
		var wrong: String = message.read(bytes_to_var(request[1]))
		answers.append([wrong, var_to_bytes(message.to_variant())])
	FileAccess.open(args[1], FileAccess.WRITE).store_var(answers)

func _process(_delta: float) -> void:
	get_tree().quit() # after an error, too
