# Sends values to PORT of this machine and expects each of them back.
# MODE is put_var, big_endian, packet_stream or udp; OBJECTS lets objects through in
# full; ROUNDS is how often all is sent.
extends SceneTree

var values = load("res://values.gd")
var failed = 0
var sent = 0
var tcp = StreamPeerTCP.new()
var packets = null

func _init():
	var mode = OS.get_environment("MODE")
	var objects = OS.get_environment("OBJECTS") != ""
	var port = int(OS.get_environment("PORT"))
	if mode == "udp":
		packets = PacketPeerUDP.new()
		packets.set_dest_address("127.0.0.1", port)
	else:
		if tcp.connect_to_host("127.0.0.1", port) != OK:
			return fail("can't connect")
		while tcp.get_status() == StreamPeerTCP.STATUS_CONNECTING:
			OS.delay_msec(1)
		tcp.set_no_delay(true)
		tcp.big_endian = mode == "big_endian"
		if mode == "packet_stream":
			packets = PacketPeerStream.new()
			packets.stream_peer = tcp

	for _i in range(max(1, int(OS.get_environment("ROUNDS")))):
		for v in values.all():
			echo(v)
	if packets == null:
		for v in values.large():
			echo(v)
	elif mode == "packet_stream":
		echo("x".repeat(65520)) # the largest that gets through
	echo_object(objects)

	# The same again, but sent all at once.
	if mode != "udp":
		for v in values.all():
			put(v)
		for v in values.all():
			compare(v, get())
	if mode != "udp":
		tcp.disconnect_from_host()
	print("%d values, %d differ" % [sent, failed])
	quit(1 if failed > 0 else 0)

func echo(v):
	put(v)
	compare(v, get())

func compare(v, got):
	sent += 1
	if not values.same(v, got):
		fail("sent %s, got %s" % [var2str(v), var2str(got)])

func echo_object(full):
	var object = values.object()
	put(object, full)
	var got = get(full)
	sent += 1
	if full:
		if not got is Curve2D or got.bake_interval != 7 or got.get_point_position(0) != Vector2(1, 2):
			fail("not the object: %s" % [got])
	elif not got is EncodedObjectAsID or got.object_id != object.get_instance_id():
		fail("not the object's id: %s" % [got])

func put(v, full = false):
	var err
	if packets != null:
		err = packets.put_var(v, full)
	else:
		err = tcp.put_var(v, full)
	if err != null and err != OK:
		fail("put_var: %d" % err)

func get(full = false):
	if packets == null:
		return tcp.get_var(full)
	for _i in range(10000):
		if packets.get_available_packet_count() > 0:
			return packets.get_var(full)
		OS.delay_msec(1)
	fail("no answer")

func fail(text):
	failed += 1
	if failed < 10:
		print("FAILED: ", text)
	quit(1)
