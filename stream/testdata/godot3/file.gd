# MODE write: stores all values in FILE. MODE compare: reads them back. BIG_ENDIAN swaps
# the lengths.
extends SceneTree

var values = load("res://values.gd")

func _init():
	var mode = OS.get_environment("MODE")
	var file = File.new()
	if file.open(OS.get_environment("FILE"), File.WRITE if mode == "write" else File.READ) != OK:
		print("FAILED: can't open")
		return quit(1)
	file.endian_swap = OS.get_environment("BIG_ENDIAN") != ""
	var all = values.all() + values.large()
	var failed = 0
	match mode:
		"write":
			for v in all:
				file.store_var(v)
		"compare":
			for v in all:
				var got = file.get_var()
				if not values.same(v, got):
					failed += 1
					print("FAILED: stored %s, got %s" % [var2str(v).left(200), var2str(got).left(200)])
			if file.get_position() != file.get_len():
				failed += 1
				print("FAILED: something follows")
	file.close()
	quit(1 if failed > 0 else 0)
