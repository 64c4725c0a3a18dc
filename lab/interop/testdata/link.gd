# A WebSocket to the test that runs this program.

var _peer := WebSocketPeer.new()

# open connects; it has to be awaited.
func open() -> void:
	_peer.inbound_buffer_size = 1 << 22
	_peer.outbound_buffer_size = 1 << 22
	_peer.max_queued_packets = 1 << 10
	_peer.connect_to_url("ws://%s/socket" % JavaScriptBridge.eval("location.host + location.pathname.slice(0, -1)"))
	while _peer.get_ready_state() == WebSocketPeer.STATE_CONNECTING:
		_peer.poll()
		await Engine.get_main_loop().process_frame

func send(message: PackedByteArray) -> void:
	_peer.send(message)
	_peer.poll()

# receive returns the next message, null after the last. It has to be awaited.
func receive() -> Variant:
	while true:
		_peer.poll()
		if _peer.get_available_packet_count() > 0:
			return _peer.get_packet()
		if _peer.get_ready_state() != WebSocketPeer.STATE_OPEN:
			return null
		await Engine.get_main_loop().process_frame
	return null
