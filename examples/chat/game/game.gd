## A square for each player, moved with the arrow keys, and a chat.
extends Node2D

const Messages := preload("res://messages.gd")

var peer := StreamPeerTCP.new()
var packets := PacketPeerStream.new()
var lines := PackedStringArray()
var players := {} # the positions
var me := 0

func _ready() -> void:
	var args := OS.get_cmdline_user_args()
	peer.connect_to_host("127.0.0.1", 7777 if args.is_empty() else int(args[0]))
	packets.stream_peer = peer
	$Chat.text_submitted.connect(say)

func _process(delta: float) -> void:
	peer.poll()
	while peer.get_status() == StreamPeerTCP.STATUS_CONNECTED and packets.get_available_packet_count() > 0:
		var p := Messages.Packet.from_variant(packets.get_var())
		if p:
			receive(p)
	var direction := Input.get_vector("ui_left", "ui_right", "ui_up", "ui_down")
	if direction != Vector2.ZERO and players.has(me):
		go(players[me] + direction * 300 * delta)

func _draw() -> void:
	for id: int in players:
		draw_rect(Rect2(players[id], Vector2(48, 48)), Color.from_hsv(id % 10 / 10.0, 0.7, 0.9))

func receive(p: Messages.Packet) -> void:
	if p.welcome:
		me = p.sender
		go(Vector2(randi() % 600, 100 + randi() % 400))
	elif p.joined:
		print_line("%d is here" % p.sender)
		if players.has(me):
			go(players[me]) # for the new player
	elif p.left:
		print_line("%d is gone" % p.sender)
		players.erase(p.sender)
	elif p.chat:
		print_line("%d: %s" % [p.sender, p.chat.text])
	elif p.move and p.sender != me:
		players[p.sender] = p.move.pos
	queue_redraw()

func go(pos: Vector2) -> void:
	players[me] = pos
	var p := Messages.Packet.new()
	p.move = Messages.Move.new()
	p.move.pos = pos
	packets.put_var(p.to_variant())
	queue_redraw()

func say(text: String) -> void:
	var p := Messages.Packet.new()
	p.chat = Messages.Chat.new()
	p.chat.text = text
	packets.put_var(p.to_variant())
	$Chat.clear()

func print_line(line: String) -> void:
	lines.append(line)
	$Log.text = "\n".join(lines.slice(-10))
