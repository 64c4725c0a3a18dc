extends Node
# A game that a test of gdwire debug stops, changes and ends.
var hp = 100
var place = Vector2(1, 2.5)
func _ready():
	print("hello from the game")
	push_error("careful")
func _process(_delta):
	tick(hp)
	if hp == 6000:
		hp = 6001
		print("hp was set")
	if looked and hp == 6001:
		looks += 1
	looked = false
	if looks == 2: # the debugger looks again after showing a change
		get_tree().quit()
var looked setget , look # in this frame; only the debugger calls look
var looks = 0
func look():
	looked = true
	return true
func tick(n):
	var twice = n * 2
	return twice # STOP
