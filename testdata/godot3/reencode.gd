# Decodes each packet of the file IN and stores its value in the file OUT.
extends SceneTree

func _init():
	var input = File.new()
	var output = File.new()
	if input.open(OS.get_environment("IN"), File.READ) != OK or output.open(OS.get_environment("OUT"), File.WRITE) != OK:
		print("FAILED: can't open")
		return quit(1)
	while input.get_position() < input.get_len():
		output.store_var(input.get_var())
	quit()
