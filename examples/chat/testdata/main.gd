# Plays the game with another that does the same: both say what they see, and end when both have said goodbye.
extends Node

var game: Node2D = load("res://game.tscn").instantiate()
var said := 0

func _ready() -> void:
	add_child(game)

func _process(_delta: float) -> void:
	var text: String = game.get_node("Log").text
	if said == 0 and game.players.size() == 2:
		said = 1
		game.say("hello")
	if said == 1 and text.count(": hello") == 2:
		said = 2
		print("PLAYERS ", game.players[1], game.players[2])
		game.say("bye")
	if text.count(": bye") == 2:
		get_tree().quit()
