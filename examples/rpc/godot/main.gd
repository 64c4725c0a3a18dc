## A square for each player, moved with the arrow keys, and a chat.
extends Node2D

const Multiplayer := preload("res://gdwire_multiplayer.gd")
const SIZE := Vector2(48, 48)
const SPEED := 300.0

var players := {} # the position of each peer

func _ready() -> void:
	var args := OS.get_cmdline_user_args()
	var url := "ws://127.0.0.1:7778" if args.is_empty() else args[0]
	get_tree().set_multiplayer(Multiplayer.new(get_tree().root, url))
	multiplayer.connected_to_server.connect(func() -> void: _go(Vector2(300 + randi() % 400, 200 + randi() % 200)))
	multiplayer.connection_failed.connect(func() -> void: _show("there is no server; trying again"))
	multiplayer.server_disconnected.connect(_disconnected)
	multiplayer.peer_connected.connect(func(id: int) -> void: if id != 1: _show("%d is here" % id))
	multiplayer.peer_disconnected.connect(_left)
	$Chat.text_submitted.connect(_say)

func _process(delta: float) -> void:
	var direction := Input.get_vector("ui_left", "ui_right", "ui_up", "ui_down")
	if direction != Vector2.ZERO and players.has(multiplayer.get_unique_id()):
		_go(players[multiplayer.get_unique_id()] + direction * SPEED * delta)

func _draw() -> void:
	for id in players:
		draw_rect(Rect2(players[id] - SIZE / 2, SIZE), Color.from_hsv(id % 100 / 100.0, 0.7, 0.9))

func _go(pos: Vector2) -> void:
	players[multiplayer.get_unique_id()] = pos
	queue_redraw()
	move.rpc_id(1, pos)

func _say(text: String) -> void:
	chat.rpc_id(1, text)
	$Chat.clear()

# The game connects again, with another id, and the server sends where the others are.
func _disconnected() -> void:
	players.clear()
	queue_redraw()
	_show("the connection is lost; connecting again")

func _left(id: int) -> void:
	players.erase(id)
	queue_redraw()
	_show("%d has left" % id)

func _show(line: String) -> void:
	$Log.text = "\n".join(($Log.text.split("\n", false) + PackedStringArray([line])).slice(-10))

# The functions of the server. They are declared here so that rpc_id finds them.

@rpc("any_peer") func move(_pos: Vector2) -> void: pass

@rpc("any_peer") func chat(_text: String) -> void: pass

# What the server calls.

@rpc func moved(id: int, pos: Vector2) -> void:
	if id != multiplayer.get_unique_id():
		players[id] = pos
		queue_redraw()

@rpc func said(id: int, text: String) -> void:
	_show("%d: %s" % [id, text])
