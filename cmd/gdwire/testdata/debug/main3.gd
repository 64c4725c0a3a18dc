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
		yield(get_tree().create_timer(0.3), "timeout")
		get_tree().quit()
func tick(n):
	var twice = n * 2
	return twice # STOP
