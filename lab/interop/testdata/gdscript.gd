# Prints, of each packet in an Array, what is wrong with it as a Packet, or the Packet written again.
extends Node

const Messages := preload("res://messages.gd")

func _ready() -> void:
	for packet: PackedByteArray in bytes_to_var(OS.get_cmdline_user_args()[0].hex_decode()):
		var p := Messages.Packet.new()
		var wrong := p.read(bytes_to_var(packet))
		print(var_to_bytes(p.to_variant()).hex_encode() if wrong == "" else wrong)
	get_tree().quit()
