# Godot 4: godot --headless -s client4.gd
extends SceneTree

func _init() -> void:
	var tcp := StreamPeerTCP.new()
	tcp.connect_to_host("127.0.0.1", 7777)
	while tcp.get_status() == StreamPeerTCP.STATUS_CONNECTING:
		OS.delay_msec(1)
		tcp.poll()
	tcp.put_var({"name": "Ada", "at": Vector2(1, 2.5)})
	print(tcp.get_var())
	quit()
