# A client of Godot 4, on the desktop and in a browser.
extends Node

var socket := WebSocketPeer.new()
var sent := false

func _ready() -> void:
	socket.connect_to_url("ws://127.0.0.1:7778")

func _process(_delta: float) -> void:
	socket.poll()
	match socket.get_ready_state():
		WebSocketPeer.STATE_OPEN:
			if not sent:
				socket.put_var({"name": "Ada", "value": Vector2(1, 2.5)})
				sent = true
			while socket.get_available_packet_count() > 0:
				print(socket.get_var())
		WebSocketPeer.STATE_CLOSED:
			print("closed: ", socket.get_close_code())
			set_process(false)
