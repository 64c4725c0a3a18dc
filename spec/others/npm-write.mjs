// The writers of the packages of npm.mjs:
//
//	go run ./spec/conform -encoder -format godot4 -- node spec/others/npm-write.mjs @gd-com/utils
//
// To be fair, @gd-com/utils 5 is told the type of the outermost value, as it allows; in containers it goes by the value.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const load = createRequire(`${process.cwd()}/`)(process.argv[2]);
const ours = { Nil: "NULL", int: "INTEGER", Quaternion: "QUAT", PackedByteArray: "RAW_ARRAY", Transform3D: "TRANSFORM" };
const classes = { Quaternion: "Quat", Transform3D: "Transform" };
const plain = ["Nil", "bool", "int", "float", "String", "Array", "Dictionary"];

// The properties of values of @gd-com/utils.
const named = (names, n) => Object.fromEntries(names.split(" ").map((name, i) => [name, n[i]]));
const shapes = {
	Vector2: (n) => named("x y", n), Vector3: (n) => named("x y z", n), Quaternion: (n) => named("x y z w", n),
	Plane: (n) => named("x y z distance", n), Color: (n) => named("r g b a", n),
	Rect2: (n) => ({ coordinate: shapes.Vector2(n), size: shapes.Vector2(n.slice(2)) }),
	AABB: (n) => ({ coordinate: shapes.Vector3(n), size: shapes.Vector3(n.slice(3)) }),
};

function value(v) {
	switch (v.t) {
		case "Nil": return null;
		case "bool": case "String": return v.v;
		case "int": case "float": return Number(v.v);
		case "Array": return v.v.map(value);
		case "Dictionary": return Object.fromEntries(v.v.map(([k, x]) => [value(k), value(x)]));
		case "PackedByteArray": return Buffer.from(v.v, "hex");
		case "NodePath":
			if (load.misc) return new load.misc.NodePath((v.absolute ? "/" : "") + v.names.join("/") + v.subnames.map((s) => `:${s}`).join(""));
	}
	const make = load.math ? (load.math[classes[v.t] ?? v.t] ?? load.misc[v.t])?.from : load.TYPE && shapes[v.t];
	if (!make) throw new Error(`${v.t} is not supported`);
	return make(v.v.map(Number));
}

async function write(v) {
	if (load.PacketPeer) return load.PacketPeer.put_var(value(v));
	if (!load.TYPE && !plain.includes(v.t)) throw new Error(`${v.t} is not supported`);
	return load.putVar(value(v), load.TYPE?.[ours[v.t] ?? v.t.toUpperCase()]);
}

for await (const line of createInterface({ input: process.stdin })) {
	const answer = await write(JSON.parse(line)).then((p) => p.toString("hex"), (e) => JSON.stringify({ error: e.message }));
	console.log(answer);
}
