extends Node
# Sends values over UDP to the port of the first argument, and counts those that come back the same.

func _ready():
	var peer := PacketPeerUDP.new()
	peer.connect_to_host("127.0.0.1", OS.get_cmdline_user_args()[0].to_int())
	var same := 0
	for v in [5, ["move", Vector2(1, 2)], {"hp": PackedInt32Array([1, 2, 3])}]:
		peer.put_var(v)
		peer.wait()
		if peer.get_var() == v:
			same += 1
	print("same: ", same)
	get_tree().quit()
