// A package of npm, measured by the runner conform:
//
//	npm install @gd-com/utils@5.0.0
//	go run ./spec/conform -format godot4 -- node spec/others/npm.mjs godot4 @gd-com/utils
//
// The packages return plain values of JavaScript, which lose types. To be fair, the header tells the type of the outermost value, and
// components of math types count by their order only. In containers a number without a fraction is an int, and every key a String.
// A packet that takes longer than a second is neither read nor refused.
import { createRequire } from "node:module";
import { Script } from "node:vm";
import { answer, float, masks, types } from "../reader.mjs";

const load = createRequire(`${process.cwd()}/`)(process.argv[3]);
const getVar = load.getVar ? async (p) => (await load.getVar(p)).value : (p) => load.PacketPeer.get_var(p);
console.warn = () => {}; // godot-binary-serialization warns of an error and returns null

const names = { Quat: "Quaternion", Aabb: "AABB", Transform: "Transform3D", Long: "int", Buffer: "PackedByteArray", Object: "Dictionary" };

function typeOf(v) {
	if (v === null) return "Nil";
	if (typeof v === "boolean") return "bool";
	if (typeof v === "string") return "String";
	if (typeof v === "number") return Number.isInteger(v) && !Object.is(v, -0) ? "int" : "float";
	const name = v.constructor.name.replace(/^Godot/, "");
	return names[name] ?? name;
}

const numbers = (v) => (typeof v === "number" ? [float(v)] : Object.values(v).flatMap(numbers));

function nodePath(v) {
	if (typeof v === "string") return { absolute: v.startsWith("/"), names: v.split("/").filter((s) => s), subnames: [] };
	return { absolute: v._absolute, names: v._name, subnames: v._subname };
}

function tagged(v, t) {
	switch (t) {
		case "Nil": return { t };
		case "bool": case "String": return { t, v };
		case "int": return { t, v: String(v) };
		case "float": return { t, v: float(v) };
		case "NodePath": return { t, ...nodePath(v) };
		case "Array": return { t, v: v.map((x) => tagged(x, typeOf(x))) };
		case "Dictionary": return { t, v: Object.entries(v).map(([k, x]) => [{ t: "String", v: k }, tagged(x, typeOf(x))]) };
		case "PackedByteArray": return { t, v: Buffer.from(v).toString("hex") };
		case "PackedInt32Array": case "PackedStringArray": return { t, v };
		case "PackedInt64Array": return { t, v: v.map(String) };
		default: return { t, v: numbers(v) };
	}
}

const call = new Script("call()");
await answer(async (p, format) => {
	const t = types[format][p.readUInt32LE(0) & masks[format]];
	globalThis.call = () => getVar(p);
	let v;
	try {
		v = await call.runInThisContext({ timeout: 1000 });
	} catch (e) {
		if (e.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return { t: "nothing after a second" };
		throw e;
	}
	if (v === undefined || (v === null && t !== "Nil")) throw new Error("no value");
	return tagged(v, t);
});
