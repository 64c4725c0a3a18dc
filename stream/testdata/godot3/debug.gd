# Run with --remote-debug, its output goes to the debugger as well.
extends SceneTree

func _init():
	for i in range(5):
		print("line %d of the script" % i)
	push_warning("a warning")

func _idle(_delta):
	quit()
	return false
