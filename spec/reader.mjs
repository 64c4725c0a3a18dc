// SPDX-License-Identifier: MIT-0
// A reader of the Variant format, written from SPEC.md, and a measure of readers by the vectors:
//
//	node reader.mjs godot4 vectors                       measures this reader
//	conform -format godot4 -- node reader.mjs godot4     the same by the runner
//
// To measure another reader, import this file and call measure with a function.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const godot4 = `Nil bool int float String Vector2 Vector2i Rect2 Rect2i Vector3 Vector3i Transform2D Vector4 Vector4i Plane
	Quaternion AABB Basis Transform3D Projection Color StringName NodePath RID Object Callable Signal Dictionary Array
	PackedByteArray PackedInt32Array PackedInt64Array PackedFloat32Array PackedFloat64Array PackedStringArray
	PackedVector2Array PackedVector3Array PackedColorArray PackedVector4Array`.split(/\s+/);
const fresh = "Vector2i Rect2i Vector3i Vector4 Vector4i Projection StringName Callable Signal PackedVector4Array".split(" ");
const manual4 = godot4.filter((t) => !fresh.includes(t));
const godot3 = manual4.filter((t) => !t.includes("64"));
const godot2 = godot3.slice();
godot2.splice(18, 0, "InputEvent");
godot2.splice(15, 0, "Image");
export const types = { godot4, godot3, godot2, manual4, manual3: godot3, manual30: godot3 };
export const masks = { godot4: 0xff, godot3: 0xff, manual4: 0xffff };
const components = { Vector2: 2, Rect2: 4, Vector3: 3, Transform2D: 6, Vector4: 4, Plane: 4, Quaternion: 4, AABB: 6, Basis: 9,
	Transform3D: 12, Projection: 16, Color: 4, Vector2i: 2, Rect2i: 4, Vector3i: 3, Vector4i: 4 };
const elements = { PackedInt32Array: [1, "i32"], PackedInt64Array: [1, "i64"], PackedFloat32Array: [1, "f32"], PackedFloat64Array: [1, "f64"],
	PackedVector2Array: [2, "f32"], PackedVector3Array: [3, "f32"], PackedVector4Array: [4, "f32"], PackedColorArray: [4, "f32"] };
const eventData = { 1: 8, 3: 4, 4: 8, 5: 4, 6: 4 };
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// JSON.stringify writes -0 as 0.
export const float = (x) => (Object.is(x, -0) ? "-0.0" : Number.isFinite(x) ? x : String(x));
const present = (members) => Object.fromEntries(Object.entries(members).filter(([, m]) => m));
const fail = (text) => { throw new Error(text); };

class Reader {
	constructor(bytes, format, objects) {
		Object.assign(this, { bytes, format, objects, at: 0, types: types[format], engine: format.startsWith("godot") });
		this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
	}
	take(n) {
		if (n > this.bytes.length - this.at) fail(`offset ${this.at}: ${n} bytes needed`);
		this.at += n;
		return this.bytes.subarray(this.at - n, this.at);
	}
	u32 = () => this.view.getUint32(this.take(4) && this.at - 4, true);
	i32 = () => this.u32() | 0;
	i64 = () => this.view.getBigInt64(this.take(8) && this.at - 8, true).toString();
	f32 = () => float(this.view.getFloat32(this.take(4) && this.at - 4, true));
	f64 = () => float(this.view.getFloat64(this.take(8) && this.at - 8, true));
	list = (n, f) => {
		const all = [];
		for (let i = 0; i < n; i++) all.push(f());
		return all;
	};
	padded(n, mayMiss) {
		const v = this.take(n);
		this.take(mayMiss ? Math.min(-n & 3, this.bytes.length - this.at) : -n & 3);
		return v;
	}
	text = (mayMiss) => utf8.decode(this.padded(this.u32(), mayMiss));
	hex = (mayMiss) => Buffer.from(this.padded(this.u32(), mayMiss)).toString("hex");
	declared(kind) {
		if (kind === 0 || this.format !== "godot4") return null;
		if (kind === 1) {
			const id = this.u32();
			return id ? { builtin: this.types[id] ?? fail("unknown declared type") } : null;
		}
		const name = this.text();
		return name ? { [kind === 2 ? "class" : "script"]: name } : { builtin: "Object" };
	}
	value(level = 0) {
		if (level > 1024) fail("too many levels");
		const header = this.u32();
		const mask = masks[this.format] ?? 0xffffffff;
		const t = this.types[(header & mask) >>> 0] ?? fail("unknown type");
		return { t, ...this.content(t, mask < 1 << 16 ? header >>> 16 : 0, level) };
	}
	content(t, flags, level) {
		const wide = flags & 1 && (this.format === "godot4" || ["int", "float", "Object"].includes(t));
		if (t in components) {
			const read = t.endsWith("i") ? this.i32 : wide && t !== "Color" ? this.f64 : this.f32;
			return { v: this.list(components[t], read) };
		}
		if (t in elements) {
			const [size, code] = elements[t];
			const n = this.u32() * size;
			if (n * 4 > this.bytes.length) fail("count past the end");
			return { v: this.list(n, this[t.includes("Vector") && wide ? "f64" : code]) };
		}
		return this[t]?.(wide, flags, level);
	}
	bool = () => ({ v: this.u32() !== 0 });
	int = (wide) => ({ v: wide || this.format === "manual3" ? this.i64() : String(this.i32()) });
	float = (wide) => ({ v: wide ? this.f64() : this.f32() });
	String = () => ({ v: this.text(this.format === "godot2") });
	StringName = () => ({ v: this.text() });
	RID = () => ({ v: this.format === "godot4" ? this.i64() : "0" });
	Signal = () => ({ name: this.text(), object: this.i64() });
	PackedByteArray = () => ({ v: this.hex(this.engine) });
	Image = () => ({ format: this.u32(), mipmaps: this.u32(), width: this.u32(), height: this.u32(), v: this.hex(true) });
	Array = (_, flags, level) => ({ ...present({ type: this.declared(flags & 3) }), v: this.list(this.u32() & 0x7fffffff, () => this.value(level + 1)) });
	Dictionary = (_, flags, level) => {
		const head = present({ key_type: this.declared(flags & 3), value_type: this.declared((flags >> 2) & 3) });
		return { ...head, v: this.list(this.u32() & 0x7fffffff, () => [this.value(level + 1), this.value(level + 1)]) };
	};
	count = () => [this.u32()].map((n) => (this.engine && n >>> 31 ? 0 : n))[0];
	PackedStringArray = () => ({ v: this.list(this.count(), () => (this.engine ? this.text().replace(/\0$/, "") : this.text())) });
	Object = (wide, _, level) => {
		if (["godot2", "manual3", "manual30"].includes(this.format)) return { t: "ObjectID", v: "0" };
		if (wide) return { t: "ObjectID", v: this.i64() };
		const name = this.text();
		if (!this.objects && (name || this.format !== "manual4")) fail("serialized objects are not allowed");
		return { class: name, properties: this.list(name ? this.count() : 0, () => [this.text(), this.value(level + 1)]) };
	};
	NodePath = () => {
		let names = this.u32();
		if (names < 2 ** 31) {
			if (this.format === "godot4" || this.format === "godot3") fail("NodePath in its old form");
			return { absolute: false, names: [utf8.decode(this.padded(names))], subnames: [] };
		}
		names -= 2 ** 31;
		let [subnames, flags] = [this.u32(), this.u32()];
		if (this.engine) {
			const total = (names + subnames + ((flags >> 1) & 1)) % 2 ** 32;
			names = Math.min(names, total);
			subnames = total - names;
		}
		return { absolute: (flags & 1) === 1, names: this.list(names, () => this.text()), subnames: this.list(subnames, () => this.text()) };
	};
	InputEvent = () => {
		const [event, device, length] = [this.u32(), this.u32(), this.u32()];
		if (length < 12) fail("InputEvent that is too short");
		const data = this.take(length - 12);
		const need = event === 4 && data.length === 4 ? 4 : eventData[event] ?? 0;
		if (data.length < need) fail("InputEvent that is too short");
		return { event, device, v: Buffer.from(data.subarray(0, need)).toString("hex") };
	};
}

// answer writes a line for each line of standard input, with the value that read returns.
export async function answer(read) {
	for await (const line of createInterface({ input: process.stdin })) {
		const [hex = "", objects] = line.split(" ");
		const value = (async () => read(Buffer.from(hex, "hex"), process.argv[2], objects === "objects"))();
		console.log(JSON.stringify(await value.catch((e) => ({ error: e.message }))));
	}
}

const engineText = (s) => s.split("\0")[0].replace(/^\ufeff/, "");

// plain returns what equal keys have in common. A key to which no other is equal contains a number of its own.
let keys = 0;
function plain(key, apart) {
	if (Array.isArray(key)) return key.map((v) => plain(v, apart));
	if (key && typeof key === "object") {
		const t = key.t === "StringName" ? "String" : key.t;
		return apart.includes(t) ? ++keys : Object.entries(key).sort().map(([name, v]) => [name, name === "t" ? t : plain(v, apart)]);
	}
	return key === "-0.0" ? 0 : typeof key === "string" ? engineText(key) : key;
}

// merged returns pairs with equal keys as engines keep them.
function merged(pairs, apart) {
	const all = new Map();
	for (const [key, value] of pairs) {
		const text = JSON.stringify(plain(key, apart));
		all.set(text, [all.get(text)?.[0] ?? key, value]);
	}
	return [...all.values()];
}

// same reports whether an answer is the value of a vector: section 18 of SPEC.md.
export function same(want, got) {
	if (Array.isArray(want)) return Array.isArray(got) && want.length === got.length && want.every((v, i) => same(v, got[i]));
	if (want && got && typeof want === "object" && typeof got === "object") {
		const { t } = want;
		const isNull = (t === "Object" && !want.class) || (t === "ObjectID" && (want.v ?? "0") === "0");
		if (isNull && got.t === "Nil") return true;
		if (t === undefined && got.class === "EncodedObjectAsID" && (want.builtin ?? "Object") === "Object") return true;
		const missing = t === "RID" || t === "ObjectID" ? "0" : null;
		const names = Object.keys({ ...want, ...got }).filter((n) => n !== "v" || t !== "Dictionary");
		if (!names.every((n) => same(want[n] ?? (n === "v" ? missing : null), got[n] ?? (n === "v" ? missing : null)))) return false;
		if (t !== "Dictionary" || want.v.length === got.v?.length) return t !== "Dictionary" || same(want.v, got.v);
		const apart = [["Object", "ObjectID"], ["Object", "ObjectID", "Dictionary", "RID"]]; // Godot 4, Godot 3
		return apart.some((a) => same(merged(want.v, a), got.v));
	}
	if (typeof want === "number" || want === "-0.0") return (typeof got === "number" || got === "-0.0") && Object.is(Number(want), Number(got));
	return want === got || (typeof want === "string" && engineText(want) === got);
}

// expand joins hex or value of long.jsonl.
const expand = (parts, number) => parts.map((p) => (typeof p === "string" ? p
	: p.text.includes("{i}") ? Array.from({ length: p.repeat }, (_, i) => p.text.replaceAll("{i}", number(i))).join("") : p.text.repeat(p.repeat))).join("");

const u32Hex = (i) => {
	const b = Buffer.alloc(4);
	b.writeUInt32LE(i);
	return b.toString("hex");
};

// measure prints how many vectors a function reads as it must, which it does not, and on which engines differ or whose
// width the format does not tell. It returns whether all are right.
export function measure(read, format, folder) {
	const right = { true: 0, false: 0 };
	const wrong = [], unjudged = [];
	for (const file of ["values", "packets", "long"]) {
		for (const line of readFileSync(`${folder}/${file}.jsonl`, "utf8").split("\n").filter(Boolean)) {
			const v = JSON.parse(line);
			const valid = (v.verdict ?? "valid") === "valid";
			if (!v.formats.includes(format)) continue;
			if (v.verdict === "differs" || (v.double && format !== "godot4")) {
				unjudged.push(v.id);
				continue;
			}
			if (file === "long") {
				v.hex = expand(v.hex, u32Hex);
				v.value = v.value && valid ? JSON.parse(expand(v.value, String)) : undefined;
			}
			let ok = !valid;
			try {
				const got = read(new Uint8Array(Buffer.from(v.hex, "hex")), format, v.objects ?? false);
				// The text first: same calls itself, too often for 1024 levels.
				ok = valid && (v.value === undefined || JSON.stringify(v.value) === JSON.stringify(got) || same(v.value, got));
			} catch {}
			right[valid] += ok;
			if (!ok) wrong.push(v.id);
		}
	}
	console.log(`${format}: ${right.true} valid and ${right.false} invalid right, ${wrong.length} wrong`, ...wrong.slice(0, 20));
	console.log(`${format}: ${unjudged.length} not judged`, ...unjudged);
	return wrong.length === 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const read = (bytes, format, objects) => new Reader(bytes, format, objects).value();
	if (process.argv.length > 3) process.exitCode = measure(read, process.argv[2], process.argv[3]) ? 0 : 1;
	else await answer((bytes, ...args) => read(new Uint8Array(bytes), ...args));
}
