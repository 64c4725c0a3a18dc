extends Node
# The game in examples/debugger/terminal.svg.
var players := {"Ada": 3, "Bo": 0}
func _ready():
	for path in ["Player", "Player/Sword", "Enemies", "Enemies/Slime"]:
		var node := Node2D.new()
		node.name = path.get_file()
		get_node("./" + path.get_base_dir()).add_child(node)
	get_node("Player").position = Vector2(10, 2.5)
	print("hello from the game")
	get_tree().create_timer(1).timeout.connect(lose.bind("Ada"))
func lose(player):
	players[player] -= 1
	var left = players.values()
	print(player, " has ", players[player], " lives")
	if left.min() == 0:
		push_error("Bo has lost")
	get_tree().create_timer(1).timeout.connect(get_tree().quit)
