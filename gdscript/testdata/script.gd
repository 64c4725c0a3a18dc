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
	print("PRINT ", b.to_variant())
	var other := Messages.Branch.new()
	print("PRINT ", size(other))
	var thread := Thread.new()
	thread.start(func() -> void: for i in 100: b.to_variant())
	var wrong := 0
	while thread.is_alive():
		wrong += int(size(other) != 72)
	thread.wait_to_finish()
	print("PRINT ", wrong)
	b.left = null
	b.all = []
	b.named = {}
	var u := Messages.Union.new()
	print("PRINT ", [u.read({"tree": {"name": "a"}}), u.read({"base": {"id": 7}}), u.tree.name, u.base.id])
	print("PRINT ", [u.read({"tree": null, "base": null}), u.read({"base": 5}), u.tree, u.base])
	print("PRINT ", Messages.Union.from_variant([1]))
	print("PRINT ", Messages.Union.from_variant({}).to_variant())
	var m := Messages.Move.new()
	var base := Messages.Base.new()
	base.id = 1
	m.any = [[base], [base]]
	m.pair = null
	print("PRINT ", [m.to_variant()["any"], m.to_variant()["pair"][0]])
	m.any = {"a": [Node.new()]}
	print("PRINT ", m.to_variant())
	m.any["a"][0].free()
	print("PRINT ", base)

func _process(_delta: float) -> void:
	get_tree().quit()
