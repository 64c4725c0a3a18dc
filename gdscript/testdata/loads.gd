# Loads all other scripts, reads an empty value of each class, and reports names that are none.
extends Node

func _ready() -> void:
	for file: String in DirAccess.get_files_at("res://"):
		if not file.ends_with(".gd") or file == "main.gd": continue
		var script: GDScript = load("res://" + file)
		if script == null or not script.can_instantiate():
			print("FAILS ", file)
			continue
		var all: Dictionary = script.get_script_constant_map()
		for key: String in all:
			if all[key] is GDScript and (all[key] as GDScript).new().to_variant() == null: continue
		print("LOADS ", file)
	for line: String in FileAccess.get_file_as_string("res://names.txt").split("\n"):
		if not line.is_valid_unicode_identifier(): print("FAILS ", line)
	var classes: PackedStringArray = FileAccess.get_file_as_string("res://engine.txt").get_slice("\n", 0).split(" ")
	for line: String in ClassDB.get_class_list():
		if not line in classes and not line.begins_with("Editor"): print("FAILS ", line)

func _process(_delta: float) -> void:
	get_tree().quit()
