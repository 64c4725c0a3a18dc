extends Node
# Sends values to the Unix socket at the first argument and back to a client of the socket at the second.

var values := [5, ["move", Vector2(1, 2)], {"hp": PackedInt32Array([1, 2, 3])}]

func _ready():
	var args := OS.get_cmdline_user_args()
	var server := UDSServer.new()
	assert(server.listen(args[1]) == OK)
	var peer := StreamPeerUDS.new()
	assert(peer.connect_to_host(args[0]) == OK)
	while peer.get_status() == StreamPeerSocket.STATUS_CONNECTING:
		peer.poll()
	var same := 0
	for v in values:
		peer.put_var(v)
		if peer.get_var() == v:
			same += 1
	while not server.is_connection_available():
		pass
	var client: StreamPeerUDS = server.take_connection()
	for v in values:
		if client.get_var() == v:
			same += 1
		client.put_var(v)
	print("same: ", same)
	get_tree().quit()
