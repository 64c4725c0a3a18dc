# For each line of values.txt in the folder of the first argument, a packet and the four streams of it that others
# compressed, in base64, checks that decompress returns the packet, and writes its own four streams.
extends Node

func _ready():
	var folder = OS.get_cmdline_user_args()[0]
	var out = FileAccess.open(folder + "/engine.txt", FileAccess.WRITE)
	for line in FileAccess.get_file_as_string(folder + "/values.txt").split("\n", false):
		var words = line.split(" ")
		var packet = Marshalls.base64_to_raw(words[0])
		var own = []
		for mode in 4:
			var stream = Marshalls.base64_to_raw(words[mode + 1])
			var back = stream.decompress(packet.size(), mode)
			if back != packet or var_to_bytes(bytes_to_var(back)) != packet:
				print("FAILED: mode %d of %s" % [mode, words[0].left(100)])
			if (mode == 1 or mode == 3) and stream.decompress_dynamic(-1, mode) != packet:
				print("FAILED: dynamic, mode %d of %s" % [mode, words[0].left(100)])
			own.append(Marshalls.raw_to_base64(packet.compress(mode)))
		out.store_line(" ".join(own))
	out.close()
	print("DONE")
	get_tree().quit()
