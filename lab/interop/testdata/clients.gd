# Clients of a server, all at once: three that exchange values, hostile ones, and one that
# waits for the server to shut down. Arguments: the server's URL, a seed, and the number
# of messages that each of the three sends.
extends Node

const Link = preload("res://link.gd")
const Values = preload("res://random.gd")

var args := OS.get_cmdline_user_args()
var running := 0
var failures := 0

func _ready() -> void:
	var link := Link.new()
	await link.open()
	var waiting: WebSocketPeer = await connected()
	for i in 3:
		exchange(i)
	garbage()
	deep()
	objects()
	closed_with("text", 1003)
	closed_with("large", 1009)
	while running > 0:
		await get_tree().process_frame
	print("exchanged, ", failures, " failures")
	link.send("exchanged".to_utf8_buffer())
	while waiting.get_ready_state() != WebSocketPeer.STATE_CLOSED:
		waiting.poll()
		await get_tree().process_frame
	expect("shutdown", waiting.get_close_code(), 1001)
	get_tree().quit(0 if failures == 0 else 1)

func expect(what: String, got: Variant, want: Variant) -> void:
	if var_to_str(got) != var_to_str(want):
		failures += 1
		print(what, ": ", var_to_str(got), ", not ", var_to_str(want))

func connected() -> WebSocketPeer:
	var peer := WebSocketPeer.new()
	peer.inbound_buffer_size = 1 << 20
	peer.outbound_buffer_size = 1 << 20
	peer.connect_to_url(args[0])
	while peer.get_ready_state() == WebSocketPeer.STATE_CONNECTING:
		peer.poll()
		await get_tree().process_frame
	return peer

# answer returns the next value, null if the connection is closed.
func answer(peer: WebSocketPeer) -> Variant:
	while peer.get_ready_state() == WebSocketPeer.STATE_OPEN:
		peer.poll()
		if peer.get_available_packet_count() > 0:
			return peer.get_var()
		await get_tree().process_frame
	return null

# exchange sends values of all types and finds them in the answers.
func exchange(n: int) -> void:
	running += 1
	var values := Values.new(args[1].to_int() + n)
	var count := args[2].to_int()
	var peer: WebSocketPeer = await connected()
	var shown := []
	var received := 0
	while received < count and peer.get_ready_state() == WebSocketPeer.STATE_OPEN:
		while shown.size() < count and shown.size() - received < 100:
			var value: Variant = values.of_type(shown.size() % TYPE_MAX, 3)
			shown.append(var_to_str(value))
			peer.put_var({"name": str(n), "value": value})
		peer.poll()
		while peer.get_available_packet_count() > 0:
			var got: Variant = peer.get_var()
			if got is Dictionary and got.get("name") == "hello, %d" % n:
				if var_to_str(got.get("value")) != shown[received]:
					expect("value", var_to_str(got.get("value")), shown[received])
			else:
				expect("answer", got, "hello")
			received += 1
		await get_tree().process_frame
	expect("answers", received, count)
	peer.close()
	running -= 1

# still_served checks that the connection goes on after what the client has sent.
func still_served(what: String, peer: WebSocketPeer) -> void:
	peer.put_var({"name": what, "value": 1})
	var got: Variant = await answer(peer)
	expect(what, got, {"name": "hello, " + what, "value": 1})
	peer.close()
	running -= 1

func garbage() -> void:
	running += 1
	var peer: WebSocketPeer = await connected()
	for i in 100:
		peer.send(("garbage %d" % i).to_utf8_buffer())
	peer.send(PackedByteArray())
	still_served("garbage", peer)

func deep() -> void:
	running += 1
	var peer: WebSocketPeer = await connected()
	var value := []
	for i in 200:
		value = [value]
	peer.put_var({"name": "deep", "value": value})
	still_served("deep", peer)

func objects() -> void:
	running += 1
	var peer: WebSocketPeer = await connected()
	peer.put_var({"name": "objects", "value": Resource.new()}, true)
	still_served("objects", peer)

# closed_with expects that the server closes the connection.
func closed_with(what: String, code: int) -> void:
	running += 1
	var peer: WebSocketPeer = await connected()
	if what == "text":
		peer.send_text("text")
	else:
		var large := PackedByteArray()
		large.resize(100_000)
		peer.send(large)
	await answer(peer)
	while peer.get_ready_state() != WebSocketPeer.STATE_CLOSED:
		peer.poll()
		await get_tree().process_frame
	expect(what, peer.get_close_code(), code)
	running -= 1
