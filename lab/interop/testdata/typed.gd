# Reads the packet of the argument, with objects, as classes of elements need, and assigns its values
# to typed variables. Prints the packet that the engine writes of these.
extends Node

const Item = preload("res://item.gd")

func _ready() -> void:
	var save: Dictionary = bytes_to_var_with_objects(OS.get_cmdline_user_args()[0].hex_decode())
	var scores: Array[int] = save.scores
	var speeds: Array[float] = save.speeds
	var names: Array[StringName] = save.names
	var points: Array[Vector2] = save.points
	var records: Array[Dictionary] = save.records
	var nodes: Array[Node2D] = save.nodes
	var items: Array[Item] = save.items
	var ids: Dictionary[StringName, int] = save.ids
	var grid: Dictionary[Vector2i, String] = save.grid
	print(var_to_bytes_with_objects({
		"scores": scores, "speeds": speeds, "names": names, "points": points, "records": records,
		"nodes": nodes, "items": items, "ids": ids, "grid": grid,
	}).hex_encode())
	get_tree().quit()
