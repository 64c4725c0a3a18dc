# A game whose methods a Go server calls, and that calls the server's. Arguments: the URL, a
# seed and the number of calls each way.
extends Node

const Multiplayer = preload("res://gdwire_multiplayer.gd")
const Values = preload("res://random.gd")

var args := OS.get_cmdline_user_args()
var log: Array[String] = []
var echoed := 0
var expected := {}
var values = Values.new(args[1].to_int())
var count := args[2].to_int()
var failures := 0

func _ready() -> void:
	var api = Multiplayer.new(get_tree().root, args[0])
	api.socket.inbound_buffer_size = 1 << 22
	api.socket.outbound_buffer_size = 1 << 22
	api.socket.max_queued_packets = 1 << 12
	get_tree().set_multiplayer(api)
	multiplayer.connected_to_server.connect(func() -> void: log.append("connected"))
	multiplayer.peer_connected.connect(func(id: int) -> void: log.append("peer %s" % ("1" if id == 1 else "joined")))
	multiplayer.peer_disconnected.connect(func(_id: int) -> void: log.append("left"))
	await multiplayer.connected_to_server
	expect("is_server", multiplayer.is_server(), false)
	# Errors that send nothing.
	expect("no @rpc", rpc_id(1, "private"), ERR_UNCONFIGURED)
	expect("self", rpc_id(multiplayer.get_unique_id(), "echo", 0, 0), ERR_INVALID_PARAMETER)
	# call_local and its sender.
	local.rpc_id(multiplayer.get_unique_id(), 5)
	for i in count:
		while i - echoed > 50:
			await get_tree().process_frame
		var value: Variant = values.of_type(i % TYPE_MAX, 3)
		if value is Object:
			value = null
		expected[i] = var_to_str(value)
		echo.rpc_id(1, i, value)
	while echoed < count:
		await get_tree().process_frame
	log.append("echoed")
	# A server that is not there.
	var nobody = Multiplayer.new(get_tree().root, "ws://127.0.0.1:1")
	var failed := [false]
	nobody.connection_failed.connect(func() -> void: failed[0] = true)
	while not failed[0]:
		nobody.poll()
		await get_tree().process_frame
	ready_for_calls.rpc_id(1)
	await multiplayer.server_disconnected
	log.append("disconnected")
	for line in log:
		print(line)
	print("failures ", failures)
	get_tree().quit(0 if failures == 0 else 1)

func expect(what: String, got: Variant, want: Variant) -> void:
	if var_to_str(got) != var_to_str(want):
		failures += 1
		print(what, ": ", var_to_str(got), ", not ", var_to_str(want))

func private() -> void:
	failures += 1
	print("private was called")

@rpc("any_peer") func echo(_i: int, _value: Variant) -> void: pass

@rpc("any_peer") func ready_for_calls() -> void: pass

@rpc("any_peer") func answer(_i: int, _value: Variant) -> void: pass

@rpc("any_peer", "call_local") func local(n: int) -> void:
	expect("local", n, 5)
	expect("own sender", multiplayer.get_remote_sender_id(), multiplayer.get_unique_id())
	log.append("local")

@rpc func echoed_back(i: int, value: Variant) -> void:
	expect("sender", multiplayer.get_remote_sender_id(), 1)
	expect("value", var_to_str(value), expected[i])
	expected.erase(i)
	echoed += 1

@rpc func ask(i: int, value: Variant) -> void:
	answer.rpc_id(1, i, value)

# Another client calls this through the server's relay: it is refused, since the mode is authority.
@rpc func authority_only() -> void:
	failures += 1
	print("authority_only was called")

@rpc("any_peer") func anyone(text: String) -> void:
	log.append("anyone %s" % text)
