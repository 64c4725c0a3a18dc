## Godot's high-level multiplayer with a server in Go: rpc() and rpc_id() call its functions,
## and it calls methods that carry @rpc. In the script of the main scene:
##
##     get_tree().set_multiplayer(GdwireMultiplayer.new(get_tree().root, "ws://127.0.0.1:7778"))
##
## It needs Godot 4.4 or later. Packets are Variants over a WebSocket:
##
##     [version, id]                       the first one from the server: the id of this peer
##     [id, joined]                        another peer has joined or left: an int and a bool
##     [path, method, arguments, peer]     a call. path is relative to root. peer is the target
##                                         if the server receives it, and otherwise the sender
##     []                                  a heartbeat, which the server answers with another
##
## It connects again after the connection failed or was lost, until close is called. The id is
## another one then: connected_to_server is emitted again.
class_name GdwireMultiplayer
extends MultiplayerAPIExtension

const VERSION := 2
const MIN_DELAY := 1.0 # seconds before it connects again,
const MAX_DELAY := 16.0 # doubled each time up to this
const NEVER := INF

var socket := WebSocketPeer.new()
var heartbeat := 10.0 # seconds; a connection without a packet for three of them is lost

var _root: Node
var _url: String
var _id := 0 # that of this peer, 0 until the server has sent it
var _sender := 0 # of the call that runs now
var _peers := PackedInt32Array()
var _open := false # or connecting, or closing
var _delay := 0.0 # before it connects again, in seconds
var _connect_at := 0.0 # times in seconds: when it connects,
var _heard := 0.0 # when the latest packet came,
var _beat := 0.0 # when it sent a heartbeat

func _init(root: Node, url: String) -> void:
	_root = root
	_url = url
	_connect()

## Disconnects for good.
func close() -> void:
	socket.close()
	_connect_at = NEVER

func _connect() -> void:
	_open = true
	_heard = _now()
	if socket.connect_to_url(_url) != OK:
		push_error("GdwireMultiplayer: can't connect to ", _url)

func _now() -> float:
	return Time.get_ticks_msec() / 1000.0

func _get_unique_id() -> int:
	return _id

func _get_peer_ids() -> PackedInt32Array:
	return _peers

func _get_remote_sender_id() -> int:
	return _sender

func _poll() -> Error:
	socket.poll()
	while socket.get_ready_state() == WebSocketPeer.STATE_OPEN and socket.get_available_packet_count() > 0:
		_heard = _now()
		_receive(socket.get_var())
	match socket.get_ready_state():
		WebSocketPeer.STATE_CLOSED when _open:
			_disconnected()
		WebSocketPeer.STATE_CLOSED:
			if _now() >= _connect_at:
				_connect()
		_ when _now() - _heard > 3 * heartbeat:
			socket.close(-1) # without a close frame, which would wait for an answer
		WebSocketPeer.STATE_OPEN when _now() - _beat > heartbeat:
			_beat = _now()
			socket.put_var([])
	return OK

func _disconnected() -> void:
	var joined := _id != 0
	_open = false
	_id = 0
	_peers.clear()
	_delay = MIN_DELAY if joined else clampf(2 * _delay, MIN_DELAY, MAX_DELAY)
	# Clients that were disconnected together do not return together.
	_connect_at = maxf(_connect_at, _now() + _delay * randf_range(1, 2))
	if joined:
		server_disconnected.emit()
	else:
		connection_failed.emit()

## Returns an error as SceneMultiplayer does, and sends nothing then.
func _rpc(peer: int, object: Object, method: StringName, arguments: Array) -> Error:
	var node := object as Node
	if node == null or not (node == _root or _root.is_ancestor_of(node)):
		push_error("GdwireMultiplayer: the object of ", method, " is not in the tree of root")
		return ERR_INVALID_PARAMETER
	if _id == 0 or socket.get_ready_state() != WebSocketPeer.STATE_OPEN:
		push_error("GdwireMultiplayer: not connected")
		return ERR_UNCONFIGURED
	var config := _config(node, method)
	if config.is_empty():
		push_error("GdwireMultiplayer: ", method, " of ", node.get_path(), " does not carry @rpc")
		return ERR_UNCONFIGURED
	if peer == _id and not config.call_local:
		push_error("GdwireMultiplayer: ", method, " can't be called on oneself without call_local")
		return ERR_INVALID_PARAMETER
	if peer != _id:
		socket.put_var([str(_root.get_path_to(node)), str(method), arguments, peer])
	if config.call_local and (peer == 0 or peer == _id or (peer < 0 and peer != -_id)):
		_call(node, method, arguments, _id)
	return OK

func _receive(packet: Variant) -> void:
	var types := []
	if packet is Array:
		types = packet.map(typeof)
	match types:
		[] when packet is Array: # a heartbeat
			pass
		[TYPE_INT, TYPE_INT] when _id == 0 and packet[0] == VERSION and packet[1] > 1:
			_id = packet[1]
			_peers = [1]
			connected_to_server.emit()
			peer_connected.emit(1)
		[TYPE_INT, TYPE_BOOL] when _id != 0 and packet[1] and packet[0] not in _peers:
			_peers.append(packet[0])
			peer_connected.emit(packet[0])
		[TYPE_INT, TYPE_BOOL] when _id != 0 and not packet[1] and packet[0] in _peers:
			_peers.remove_at(_peers.find(packet[0]))
			peer_disconnected.emit(packet[0])
		[TYPE_STRING, TYPE_STRING, TYPE_ARRAY, TYPE_INT] when _id != 0:
			_called(packet[0], packet[1], packet[2], packet[3])
		_:
			push_error("GdwireMultiplayer: the server speaks another version: ", packet)
			socket.close(1002)
			_connect_at = NEVER

## Checks what the server asks for as SceneMultiplayer does, so that a server, too, can call
## nothing but methods that carry @rpc.
func _called(path: String, method: String, arguments: Array, sender: int) -> void:
	var node := _root.get_node_or_null(path)
	if node == null or not (node == _root or _root.is_ancestor_of(node)):
		push_error("GdwireMultiplayer: there is no node ", path)
		return
	var config := _config(node, method)
	var mode: int = config.get("rpc_mode", MultiplayerAPI.RPC_MODE_DISABLED)
	var authority := node.get_multiplayer_authority()
	if mode == MultiplayerAPI.RPC_MODE_ANY_PEER or mode == MultiplayerAPI.RPC_MODE_AUTHORITY and sender == authority:
		_call(node, method, arguments, sender)
	else:
		push_error("GdwireMultiplayer: peer %d may not call %s of %s: its mode is %d, the authority %d" % [sender, method, path, mode, authority])

func _call(node: Node, method: StringName, arguments: Array, sender: int) -> void:
	var before := _sender
	_sender = sender
	node.callv(method, arguments) # prints an error if the arguments do not fit
	_sender = before

## Returns what @rpc or rpc_config say of a method, or {}.
func _config(node: Node, method: StringName) -> Dictionary:
	var configs := []
	if node.has_method("get_node_rpc_config"): # since 4.5
		configs.append(node.call("get_node_rpc_config"))
	if node.get_script() != null:
		configs.append(node.get_script().get_rpc_config())
	for config in configs:
		if config is Dictionary and config.has(method):
			return config[method]
	return {}
