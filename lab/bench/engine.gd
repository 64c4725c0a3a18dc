# Godot 3: what bytes2var and var2bytes take for packet.bin, in microseconds.
extends SceneTree

func _init():
	var rounds = int(OS.get_cmdline_args()[-1])
	var file = File.new()
	if file.open("res://packet.bin", File.READ) != OK:
		quit(1)
		return
	var packet = file.get_buffer(file.get_len())
	for i in range(rounds):
		var start = OS.get_ticks_usec()
		var value = bytes2var(packet)
		print("bytes2var ", OS.get_ticks_usec() - start)
		start = OS.get_ticks_usec()
		var again = var2bytes(value)
		print("var2bytes ", OS.get_ticks_usec() - start)
		if again.size() != packet.size():
			quit(1)
			return
	quit()
