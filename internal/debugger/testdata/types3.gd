extends Node
# types has a local variable of each type and prints their bytes, once a debugger sets started.
var started = false
func _process(_delta):
	if started:
		types()
		started = false
		yield(get_tree().create_timer(0.2), "timeout") # so that all messages are sent
		get_tree().quit()
func types():
	var v0 = null
	var v1 = true
	var v2 = 5000000000
	var v3 = 0.1
	var v4 = "çabeça\t\"\n"
	var v5 = Vector2(1, 2.5)
	var v6 = Rect2(1, 2, 3, 4.5)
	var v7 = Vector3(1, 2, -3.5)
	var v8 = Transform2D(0.5, Vector2(1, 2))
	var v9 = Plane(1, 2, 3, 4)
	var v10 = Quat(0.1, 0.2, 0.3, 0.4)
	var v11 = AABB(Vector3(1, 2, 3), Vector3(4, 5, 6))
	var v12 = Basis(Vector3(1, 2, 3))
	var v13 = Transform(v12, v7)
	var v14 = Color(0.1, 0.2, 0.3, 0.4)
	var v15 = NodePath("/root/Main:position:x")
	var v16 = get_viewport().get_viewport_rid()
	var v17 = self
	var v18 = {"a": [1, null], 2: v5, v7: {}}
	var v19 = [1, 2.5, "three", [v5]]
	var v20 = PoolByteArray([1, 2, 3, 4, 5])
	var v21 = PoolIntArray([1, -2])
	var v22 = PoolRealArray([1.5, 2.5])
	var v23 = PoolStringArray(["a", "çabeça", ""])
	var v24 = PoolVector2Array([v5])
	var v25 = PoolVector3Array([v7, v7])
	var v26 = PoolColorArray([v14])
	var all = [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17, v18, v19, v20, v21, v22, v23, v24, v25, v26]
	for i in all.size():
		var hex = ""
		for b in var2bytes(all[i]):
			hex += "%02x" % b
		print("v", i, " ", hex)
	print("self ", get_instance_id()) # STOP
