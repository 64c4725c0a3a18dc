# For each line of files.txt opens that file in the way its name begins with,
# compares its content with the file of the same name and ".plain", and writes the
# same content in the same way to the name and ".engine".
extends SceneTree

var password = "pässwörd"
var modes = {
	"fastlz": File.COMPRESSION_FASTLZ, "deflate": File.COMPRESSION_DEFLATE,
	"zstd": File.COMPRESSION_ZSTD, "gzip": File.COMPRESSION_GZIP,
}

func key():
	var k = PoolByteArray()
	for i in range(32):
		k.append(i)
	return k

func open(path, how, flags):
	var f = File.new()
	var err
	if how == "password":
		err = f.open_encrypted_with_pass(path, flags, password)
	elif how == "key":
		err = f.open_encrypted(path, flags, key())
	else:
		err = f.open_compressed(path, flags, modes[how])
	if err != OK:
		print("FAILED: %s: error %d" % [path, err])
		return null
	return f

func plain(path):
	var f = File.new()
	f.open(path + ".plain", File.READ)
	return f.get_buffer(f.get_len())

func _init():
	var list = File.new()
	list.open("res://files.txt", File.READ)
	var compared = 0
	for name in list.get_as_text().split("\n", false):
		var path = "res://" + name
		var how = name.split("_")[0]
		var want = plain(path)
		var f = open(path, how, File.READ)
		if f == null:
			continue
		if f.get_len() != want.size() or f.get_buffer(f.get_len()) != want:
			print("FAILED: %s: other content" % name)
		f.close()
		f = open(path + ".engine", how, File.WRITE)
		if want.size() > 0: # the engine complains about nothing
			f.store_buffer(want)
		f.close()
		compared += 1

	if File.new().open_encrypted_with_pass("res://godot4", File.READ, password) != OK:
		print("godot4 refused")

	var f = open("res://fastlz_save", "fastlz", File.READ)
	print("values: %s %s" % [f.get_var(), f.get_var()])

	# From 64 KiB FastLZ is level 2.
	var level2 = File.new()
	level2.open("res://level2", File.WRITE)
	level2.store_buffer(plain("res://level2").compress(File.COMPRESSION_FASTLZ))
	level2.close()
	print("%d files compared" % compared)
	quit()
