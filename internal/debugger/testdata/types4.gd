extends Node
# types has a local variable of each type and prints their bytes, once a debugger sets started.
signal changed(value)
var started := false
func _process(_delta):
	if started:
		types()
		started = false
		await get_tree().create_timer(0.2).timeout # so that all messages are sent
		get_tree().quit()
func types():
	var v0 = null
	var v1 = true
	var v2 = 5000000000
	var v3 = 0.1
	var v4 = "çabeça\t\"\n"
	var v5 = Vector2(1, 2.5)
	var v6 = Vector2i(1, -2)
	var v7 = Rect2(1, 2, 3, 4.5)
	var v8 = Rect2i(1, 2, 3, 4)
	var v9 = Vector3(1, 2, -3.5)
	var v10 = Vector3i(1, 2, -3)
	var v11 = Transform2D(0.5, Vector2(1, 2))
	var v12 = Vector4(1, 2, 3, 4.5)
	var v13 = Vector4i(1, 2, 3, -4)
	var v14 = Plane(1, 2, 3, 4)
	var v15 = Quaternion(0.1, 0.2, 0.3, 0.4)
	var v16 = AABB(Vector3(1, 2, 3), Vector3(4, 5, 6))
	var v17 = Basis(Vector3(1, 0, 0), 0.5)
	var v18 = Transform3D(v17, v9)
	var v19 = Projection(v18)
	var v20 = Color(0.1, 0.2, 0.3, 0.4)
	var v21 = &"name"
	var v22 = ^"/root/Main:position:x"
	var v23 = get_viewport().get_viewport_rid()
	var v24 = RefCounted.new() # the id is above 2^63
	var v25 = types
	var v26 = changed
	var v27: Dictionary[String, Variant] = {"a": [1, null], "b": {2: v5, v9: {}}}
	var v28: Array[int] = [1, 5000000000]
	var v29 = PackedByteArray([1, 2, 3, 4, 5])
	var v30 = PackedInt32Array([1, -2])
	var v31 = PackedInt64Array([1, -5000000000])
	var v32 = PackedFloat32Array([1.5, 2.5])
	var v33 = PackedFloat64Array([0.1, -1e300])
	var v34 = PackedStringArray(["a", "çabeça", ""])
	var v35 = PackedVector2Array([v5])
	var v36 = PackedVector3Array([v9, v9])
	var v37 = PackedColorArray([v20])
	var v38 = PackedVector4Array([v12])
	var all = [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17, v18, v19, v20, v21, v22, v23, v24, v25, v26, v27, v28, v29, v30, v31, v32, v33, v34, v35, v36, v37, v38]
	for i in all.size():
		print("v", i, " ", var_to_bytes(all[i]).hex_encode())
	print("self ", get_instance_id()) # STOP
