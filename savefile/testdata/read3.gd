# Opens the files of files.txt and prints their first values, encoded by var2bytes. A line of files.txt
# is the name, "plain", "compressed" or "encrypted", the mode of compression, and "none", "little" or
# "big" lengths.
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
		f.endian_swap = how[3] == "big"
		var v = bytes2var(f.get_buffer(f.get_len())) if how[3] == "none" else f.get_var()
		print("GOT %s %s" % [how[0], var2bytes(v).hex_encode()])
	quit()
