# Godot 3: godot --no-window -s client.gd
extends SceneTree

func _init():
	var tcp = StreamPeerTCP.new()
	tcp.connect_to_host("127.0.0.1", 7777)
	while tcp.get_status() == StreamPeerTCP.STATUS_CONNECTING:
		OS.delay_msec(1)
	tcp.put_var({"name": "Ada", "at": Vector2(1, 2.5)})
	print(tcp.get_var())
	quit()
