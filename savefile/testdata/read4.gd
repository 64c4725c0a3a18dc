# Opens the files of files.txt in the folder of the first argument, as read3.gd does, and prints their
# first values, encoded by var_to_bytes.
extends Node

func _ready():
	var folder = OS.get_cmdline_user_args()[0]
	for line in FileAccess.get_file_as_string(folder + "/files.txt").split("\n", false):
		var how = line.split(" ")
		var path = folder + "/" + how[0]
		var f
		if how[1] == "compressed":
			f = FileAccess.open_compressed(path, FileAccess.READ, int(how[2]))
		elif how[1] == "encrypted":
			f = FileAccess.open_encrypted_with_pass(path, FileAccess.READ, "hunter2")
		else:
			f = FileAccess.open(path, FileAccess.READ)
		if f == null:
			print("FAILED: %s: error %d" % [how[0], FileAccess.get_open_error()])
			continue
		var from = f
		if how[1] == "raw" or how[1] == "base64":
			from = StreamPeerBuffer.new()
			from.data_array = Marshalls.base64_to_raw(f.get_as_text().replace("\r\n", "")) if how[1] == "base64" else f.get_buffer(f.get_length()).decompress(int(how[4]), int(how[2]))
			from.big_endian = how[3] == "big"
		else:
			f.big_endian = how[3] == "big"
		var v
		if how[3] != "none":
			v = from.get_var()
		elif from != f:
			v = bytes_to_var(from.data_array)
		else:
			v = bytes_to_var(f.get_buffer(f.get_length()))
		print("GOT %s %s" % [how[0], var_to_bytes(v).hex_encode()])
	get_tree().quit()
