extends Node

const Link = preload("res://link.gd")

func _ready() -> void:
	print("Godot ", Engine.get_version_info().string)
	print(OS.get_cmdline_user_args())
	push_error("an error")
	if OS.get_cmdline_user_args()[0] == "quit":
		get_tree().quit(3)
		return
	var link := Link.new()
	await link.open()
	while true:
		var message = await link.receive()
		if message == null:
			break
		link.send(message)
	get_tree().quit()
