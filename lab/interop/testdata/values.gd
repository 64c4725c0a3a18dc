# Sends random values in batches and compares what comes back: bytes, or native JSON.
# Arguments: seed, count and whether native JSON has to hold them.
extends Node

const Link = preload("res://link.gd")
const Values = preload("res://random.gd")
const BATCH = 100

var differ := 0

func _ready() -> void:
	var link := Link.new()
	await link.open()
	var args := OS.get_cmdline_user_args()
	var count := args[1].to_int()
	var json := args[2] == "json"
	var values := Values.new(args[0].to_int(), json)
	var types := {}
	for first in range(0, count, BATCH):
		var shown := []
		var sent := []
		for i in mini(BATCH, count - first):
			var value: Variant = values.value(4)
			types[typeof(value)] = true
			shown.append(var_to_str(value))
			sent.append({"bytes": var_to_bytes(value)})
			if json:
				sent[-1].json = JSON.stringify(JSON.from_native(value), "", true, true)
		link.send(var_to_bytes(sent))
		var message = await link.receive()
		if message == null: # the test found an error
			break
		var answers: Array = bytes_to_var(message)
		var read := []
		for i in answers.size():
			for way: String in answers[i]:
				if way == "json": # the test compares it: the engine rounds numbers
					read.append(var_to_bytes(JSON.to_native(JSON.parse_string(answers[i].json))))
				else:
					compare(way, first + i, shown[i], bytes_to_var(answers[i][way]))
		link.send(var_to_bytes(read))
	print(types.size(), " types, ", differ, " differ")
	get_tree().quit(0 if differ == 0 else 1)

func compare(way: String, i: int, want: String, value: Variant) -> void:
	var got := var_to_str(value)
	if got == want:
		return
	differ += 1
	if differ < 10:
		print(way, " of value ", i, "\n  sent ", want, "\n  got  ", got)
