extends Node

const Messages := preload("res://messages.gd")

func size(m: Messages.Message) -> int:
	return var_to_bytes(m.to_variant()).size()

func _ready() -> void:
	var b := Messages.Branch.new()
	print("PRINT ", size(b))
	b.left = b
	b.all = [b, b, null, b]
	b.named["b"] = b
	print("PRINT ", size(b) < 10000)
	b.left = null
	b.all = []
	b.named = {}
	print("PRINT ", size(b))
	var u := Messages.Union.new()
	print("PRINT ", [u.read({"tree": {"name": "a"}}), u.read({"base": {"id": 7}}), u.tree.name, u.base.id])
	print("PRINT ", [u.read({"tree": null, "base": null}), u.read({"base": 5}), u.tree, u.base])
	print("PRINT ", Messages.Union.from_variant([1]))
	print("PRINT ", Messages.Union.from_variant({}).to_variant())

func _process(_delta: float) -> void:
	get_tree().quit()
