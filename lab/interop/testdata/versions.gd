# Reads each message as an old and as a new game, and answers with what is wrong and with the message written again, of both.
extends Node

const Messages := preload("res://messages.gd")

func _ready() -> void:
	var link: Variant = preload("res://link.gd").new()
	await link.open()
	while true:
		var message: Variant = await link.receive()
		if message == null:
			break
		var answers := []
		for p: Messages.Message in [Messages.OldPacket.new(), Messages.NewPacket.new()]:
			var wrong := p.read(bytes_to_var(message))
			answers.append([wrong, var_to_bytes(p.to_variant())])
		link.send(var_to_bytes(answers))
	get_tree().quit()
