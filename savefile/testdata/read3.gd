# Opens the files of files.txt and prints their first values, encoded by var2bytes. A line of files.txt
# is the name, "plain", "compressed", "raw", "base64" or "encrypted", the mode of compression, "none", "little" or
# "big" lengths, and the size of the content.
extends SceneTree

func _init():
	var list = File.new()
	list.open("res://files.txt", File.READ)
	for line in list.get_as_text().split("\n", false):
		var how = line.split(" ")
		var f = File.new()
		var err
		if how[1] == "compressed":
			err = f.open_compressed("res://" + how[0], File.READ, int(how[2]))
		elif how[1] == "encrypted":
			err = f.open_encrypted_with_pass("res://" + how[0], File.READ, "hunter2")
		else:
			err = f.open("res://" + how[0], File.READ)
		if err != OK:
			print("FAILED: %s: error %d" % [how[0], err])
			continue
		var from = f
		if how[1] == "raw" or how[1] == "base64":
			from = StreamPeerBuffer.new()
			from.data_array = Marshalls.base64_to_raw(f.get_as_text().replace("\r\n", "")) if how[1] == "base64" else f.get_buffer(f.get_len()).decompress(int(how[4]), int(how[2]))
			from.big_endian = how[3] == "big"
		else:
			f.endian_swap = how[3] == "big"
		var v
		if how[3] != "none":
			v = from.get_var()
		elif from != f:
			v = bytes2var(from.data_array)
		else:
			v = bytes2var(f.get_buffer(f.get_len()))
		print("GOT %s %s" % [how[0], var2bytes(v).hex_encode()])
	quit()
